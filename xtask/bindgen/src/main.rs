//! Makes JavaScript and types for a WebAssembly module: `garblet-bindgen MODULE.wasm NAME FOLDER`.
//!
//! The command `wasm-bindgen` does the same with more options, and takes minutes to build.

use std::{path::Path, process::ExitCode};

use wasm_bindgen_cli_support::Bindgen;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [module, name, folder] = &arguments[..] else {
        eprintln!("usage: garblet-bindgen MODULE.wasm NAME FOLDER");
        return ExitCode::from(2);
    };
    let mut bindgen = Bindgen::new();
    bindgen.input_path(module).out_name(name).typescript(true).omit_default_module_path(false);
    let made = bindgen.web(true);
    match made.and_then(|bindgen| bindgen.generate(Path::new(folder))) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{module}: {error:#}");
            ExitCode::FAILURE
        }
    }
}
