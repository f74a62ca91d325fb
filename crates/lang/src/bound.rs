//! Circuits that replace functions of a source.

use std::sync::Arc;

use garblet_circuit::{Component, Program, diagnostic::nearest};

use crate::{
    ports::port_type,
    source_error::SourceError,
    tree::{FnId, Function, Tree},
};

/// A circuit that replaces a function.
pub(crate) struct Bound {
    pub(crate) function: FnId,
    pub(crate) component: Arc<Component>,
    /// The first wire and the width of each word of the result.
    pub(crate) words: Vec<(u32, u16)>,
}

/// Finds the function of each circuit, and compares their ports.
///
/// *Errors*: circuits for functions that do not exist or that have other ports.
pub(crate) fn check(tree: &Tree, circuits: &[(String, Program)]) -> Result<Vec<Bound>, Vec<SourceError>> {
    let mut bound = Vec::new();
    let mut faults = Vec::new();
    // The last function is the one that is compiled, which no circuit replaces.
    let (main, callable) = match tree.functions.split_last() {
        Some((main, callable)) => (main.name.as_str(), callable),
        None => return Ok(bound),
    };
    for (name, circuit) in circuits {
        match callable.iter().position(|function| function.name == *name && !function.is_constant) {
            None => faults.push(unknown(name, main, callable)),
            Some(at) => match bind(at as FnId, &callable[at], circuit) {
                Ok(one) => bound.push(one),
                Err(fault) => faults.push(fault),
            },
        }
    }
    if faults.is_empty() { Ok(bound) } else { Err(faults) }
}

fn unknown(name: &str, main: &str, callable: &[Function]) -> SourceError {
    let fault = SourceError::general(format!("externs: there is no function `{name}` that `{main}` calls"));
    let names: Vec<&str> = callable.iter().filter(|f| !f.is_constant).map(|f| f.name.as_str()).collect();
    match nearest(name, &names) {
        Some(near) => fault.hint(format!("did you mean `{near}`?")),
        None if names.is_empty() => fault,
        None => fault.hint(format!("available: {}", names.join(", "))),
    }
}

fn bind(number: FnId, function: &Function, circuit: &Program) -> Result<Bound, SourceError> {
    let wrong = |what: String| {
        SourceError::new(
            function.span,
            format!("the circuit `{}` cannot replace `{}`: {what}", circuit.name(), function.name),
        )
    };
    let params: Vec<u64> = function.params.iter().map(|p| p.ty.width()).collect();
    let inputs: Vec<u64> = circuit.inputs().iter().map(|i| i.port.ty.width()).collect();
    if !whole_ports(&params, &inputs) {
        let signature: Vec<String> =
            function.params.iter().map(|p| format!("{}: {}", p.name, port_type(&p.ty))).collect();
        let ports: Vec<String> = circuit.inputs().iter().map(|i| format!("{}: {}", i.port.name, i.port.ty)).collect();
        return Err(wrong(format!("expected inputs ({}), got ({})", signature.join(", "), ports.join(", "))));
    }
    let outputs: u64 = circuit.outputs().iter().map(|o| o.port.ty.width()).sum();
    if outputs != function.result.width() {
        let ports: Vec<String> = circuit.outputs().iter().map(|o| format!("{}: {}", o.port.name, o.port.ty)).collect();
        return Err(wrong(format!("expected a result {}, got ({})", port_type(&function.result), ports.join(", "))));
    }
    if !function.result.is_flat() || function.params.iter().any(|p| !p.ty.is_flat()) {
        let fault = wrong("expected numbers, arrays, tuples and structs, got a list or an enum with fields".into());
        return Err(fault.hint("bind a function that takes and returns fixed parts of them"));
    }
    let component = circuit.flatten().map_err(|error| wrong(error.to_string()))?;
    let mut scalars = Vec::new();
    function.result.scalars(&mut scalars);
    let mut start = 0;
    let word = |ty: crate::tree::Scalar| {
        start += u32::from(ty.bits);
        (start - u32::from(ty.bits), ty.bits)
    };
    Ok(Bound { function: number, component: Arc::new(component), words: scalars.into_iter().map(word).collect() })
}

/// Returns whether each parameter covers whole ports, or several parameters share one, with the same total width.
fn whole_ports(params: &[u64], ports: &[u64]) -> bool {
    let ends = |widths: &[u64]| {
        let mut end = 0;
        widths
            .iter()
            .map(|width| {
                end += width;
                end
            })
            .collect::<Vec<u64>>()
    };
    let (params, ports) = (ends(params), ends(ports));
    let (fewer, more) = if params.len() < ports.len() { (&params, &ports) } else { (&ports, &params) };
    fewer.iter().all(|end| more.contains(end)) && params.last() == ports.last()
}

#[cfg(test)]
mod tests {
    use super::whole_ports;

    #[test]
    fn parameters_and_ports_have_common_ends() {
        assert!(whole_ports(&[128, 128], &[128, 128]));
        assert!(whole_ports(&[64], &[32, 32]));
        assert!(whole_ports(&[32, 32, 8], &[64, 8]));
        assert!(!whole_ports(&[32, 32], &[16, 48]));
        assert!(!whole_ports(&[32], &[16]));
    }
}
