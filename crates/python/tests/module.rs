//! The module as cargo has built it beside this test: what it is linked with, and what it computes where there is a Python.

use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
};

/// The module.
fn module() -> PathBuf {
    let test = std::env::current_exe().unwrap();
    let name = format!("{}_garblet{}", std::env::consts::DLL_PREFIX, std::env::consts::DLL_SUFFIX);
    test.with_file_name(name)
}

fn contains(bytes: &[u8], text: &str) -> bool {
    bytes.windows(text.len()).any(|window| window == text.as_bytes())
}

#[test]
fn the_module_is_linked_with_no_interpreter() {
    let module = fs::read(module()).unwrap();
    assert!(contains(&module, "PyInit__garblet"));
    assert!(!contains(&module, "libpython3"));
}

/// A package of the files in `python/garblet` and the module.
fn package(folder: &Path) {
    let written = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../python/garblet");
    let package = folder.join("garblet");
    fs::create_dir(&package).unwrap();
    for file in fs::read_dir(written).unwrap() {
        let path = file.unwrap().path();
        if path.extension().is_some_and(|extension| extension == "py") {
            fs::copy(&path, package.join(path.file_name().unwrap())).unwrap();
        }
    }
    fs::copy(module(), package.join("_garblet.abi3.so")).unwrap();
}

/// Looks whether `python3` is of a version that the package is for.
fn is_there() -> bool {
    let new_enough = "import sys; sys.exit(sys.version_info < (3, 11))";
    Command::new("python3").args(["-c", new_enough]).status().is_ok_and(|status| status.success())
}

#[test]
fn a_package_of_the_module_alone_runs_two_parties() {
    if !is_there() {
        eprintln!("there is no Python 3.11 or later: the module was not imported");
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    package(folder.path());
    let program = "import garblet\n\
        richer = garblet.compile('pub fn main(a: u32, b: u32) -> bool { a > b }')\n\
        print([report['out0'] for report in garblet.run_local(richer, [{'a': 5}, {'b': 3}])])\n";
    let mut python = Command::new("python3");
    python.args(["-B", "-c", program]).env("PYTHONPATH", folder.path());
    let output = python.output().unwrap();
    let [said, wrong] = [output.stdout, output.stderr].map(|bytes| String::from_utf8(bytes).unwrap());
    assert_eq!((said.as_str(), wrong.as_str()), ("[True, True]\n", ""));
}
