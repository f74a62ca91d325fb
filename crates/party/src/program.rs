//! Programs.

use std::{collections::BTreeMap, sync::Arc};

use garblet::{
    circuit::{Port, Recipients},
    lang::{Constants, Options},
    results,
    run_report::digest_text,
    tell_panics,
};
use serde_json::{Map, Value, json};
use wasm_bindgen::prelude::wasm_bindgen;

use crate::error::{Thrown, diagnosed, failed, unloaded};

/// A program: the function, the owner of each input and the recipients of each output.
#[wasm_bindgen]
pub struct Program(pub(crate) Arc<garblet::Program>);

#[wasm_bindgen]
impl Program {
    /// Compiles a source of the function language; `constants` is a JSON object, of numbers and Boolean values by name. It may use
    /// `effort` units of work. The function is `main` unless another one is named.
    pub fn compile(
        name: &str,
        source: &str,
        constants: &str,
        panics: bool,
        effort: Option<f64>,
        function: Option<String>,
    ) -> Result<Program, Thrown> {
        let effort = effort.map_or(Options::EFFORT, |units| units as u64);
        let function = function.unwrap_or_else(|| Options::FUNCTION.into());
        let options = Options { constants: read(constants)?, function, panics, effort };
        let mut program = garblet::compile(name, source, options).map_err(|wrong| diagnosed(&wrong))?;
        tell_panics(&mut program);
        Ok(Program(Arc::new(program)))
    }

    /// A program of the library, `lib:NAME`.
    pub fn library(name: &str) -> Result<Program, Thrown> {
        if !name.starts_with("lib:") {
            return Err(failed(
                &format!("`{name}` is not a program of the library"),
                "for instance lib:millionaires(32)",
            ));
        }
        garblet::load(name, Options::default())
            .map(|program| Program(Arc::new(program)))
            .map_err(|error| unloaded(&error))
    }

    /// A description of the program, as a JSON object.
    pub fn describe(&self) -> String {
        self.described().to_string()
    }
}

impl Program {
    /// The description.
    pub(crate) fn described(&self) -> Value {
        described(&self.0)
    }
}

/// The description of a program, as a JSON object.
pub(crate) fn described(program: &garblet::Program) -> Value {
    let counts = program.stats();
    let port = |port: &Port, more: (&str, Value)| {
        let mut said = Map::new();
        said.insert("name".into(), port.name.clone().into());
        said.insert("type".into(), port.ty.to_string().into());
        said.insert("width".into(), port.ty.width().into());
        said.insert(more.0.into(), more.1);
        Value::Object(said)
    };
    let learns = |recipients: &Recipients| match recipients {
        Recipients::All => Value::Null,
        Recipients::Only(parties) => parties.iter().map(|party| party.0).collect(),
    };
    let inputs = program.inputs().iter().map(|input| port(&input.port, ("owner", input.owner.0.into())));
    let outputs = results(program).map(|(_, output)| port(&output.port, ("recipients", learns(&output.recipients))));
    json!({
        "name": program.name(),
        "digest": digest_text(program),
        "inputs": inputs.collect::<Vec<_>>(),
        "outputs": outputs.collect::<Vec<_>>(),
        "andGates": counts.and,
        "andDepth": counts.and_depth,
    })
}

/// The constants of a JSON object.
fn read(constants: &str) -> Result<Constants, Thrown> {
    const HINT: &str = "give an object such as { ROWS: 100 }";
    let given: BTreeMap<String, Value> =
        serde_json::from_str(constants).map_err(|error| failed(&format!("constants: {error}"), HINT))?;
    let mut read = Constants::default();
    for (name, value) in given {
        let text = value.as_str().map_or_else(|| value.to_string(), String::from);
        read.set(&name, &text).map_err(|error| failed(&error, HINT))?;
    }
    Ok(read)
}
