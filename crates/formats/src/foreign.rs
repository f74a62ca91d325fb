//! Files that are not programs: their kind, and the remedy.

use std::path::Path;

use garblet_circuit::diagnostic::Diagnostic;

/// The hint for Verilog and for cells that are not gates.
pub(crate) const NETLIST: &str =
    "Yosys makes one of gates: yosys -p \'read_verilog FILE.v; synth -flatten; abc -g AND,XOR; write_json FILE.json\'";

const VERILOG: [&str; 3] = ["v", "sv", "vh"];

/// The refusal of a file of no known kind.
pub(crate) fn refusal(file: &str, beginning: &[u8], known: &str) -> Diagnostic {
    let ending =
        Path::new(file).extension().and_then(|ending| ending.to_str()).unwrap_or_default().to_ascii_lowercase();
    let text = String::from_utf8_lossy(beginning);
    let first = text.trim_start();
    if VERILOG.contains(&&ending[..]) || first.starts_with("module ") {
        return Diagnostic::new(file, "is Verilog: make a netlist of it first").hint(NETLIST);
    }
    if ending == "rs" {
        return Diagnostic::new(file, "is Rust, going by its extension, and not a source of the function language")
            .hint("name it NAME.garble.rs if it is one");
    }
    let message = "is of no known kind, going by its extension and its first line";
    Diagnostic::new(file, message).hint(format!("known kinds: {known}"))
}

#[cfg(test)]
mod tests {
    use crate::front_end::FrontEnds;

    fn refused(file: &str, text: &str) -> (String, String) {
        let error = FrontEnds::standard().read(file, &mut text.as_bytes()).unwrap_err();
        let error = error.iter().next().unwrap().clone();
        (error.message, error.hint.unwrap_or_default())
    }

    #[test]
    fn verilog_and_rust_are_refused_by_name() {
        let verilog = "module and2(a,b,y); input a,b; output y; assign y = a & b; endmodule\n";
        for file in ["and.v", "and.SV", "and"] {
            let (message, hint) = refused(file, verilog);
            assert_eq!(message, "is Verilog: make a netlist of it first");
            assert!(hint.contains("yosys -p \'read_verilog"), "{hint}");
        }
        let (_, hint) = refused("churn.rs", "pub fn main(a: u8, b: u8) -> u8 { a }");
        assert_eq!(hint, "name it NAME.garble.rs if it is one");
    }

    #[test]
    fn json_of_other_tools_is_refused_by_its_keys() {
        let gates = r#"{"name": "and", "wires": [0, 1], "gates": [], "alice": [0], "bob": [1], "out": [2]}"#;
        let (message, hint) = refused("a.json", gates);
        assert_eq!(message, "is JSON, but not a program file: it has the keys name, wires, gates, alice, bob, out");
        assert!(hint.contains("components, inputs, instances and outputs"), "{hint}");
        // For a program file with a mistake in it, the mistake is reported.
        assert!(refused("a.json", r#"{"inputs": {}, "wires": {}}"#).0.contains("wires"));
    }
}
