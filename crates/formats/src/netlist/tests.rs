mod cases;
mod faults;
mod random;
mod writers;

use garblet_circuit::Program;

use crate::front_end::FrontEnds;

fn read(file: &str, text: impl AsRef<[u8]>) -> Result<Program, String> {
    FrontEnds::standard().read(file, &mut text.as_ref()).map_err(|e| e.to_string())
}

/// The hint of a refusal.
fn hint(file: &str, text: impl AsRef<[u8]>) -> String {
    let errors = FrontEnds::standard().read(file, &mut text.as_ref()).expect_err(file);
    errors.iter().next().and_then(|error| error.hint.clone()).unwrap_or_default()
}

/// The ports as `name: type`, first the inputs.
fn ports(program: &Program) -> [Vec<String>; 2] {
    let shown = |port: &garblet_circuit::Port| format!("{}: {}", port.name, port.ty);
    [
        program.inputs().iter().map(|input| shown(&input.port)).collect(),
        program.outputs().iter().map(|output| shown(&output.port)).collect(),
    ]
}
