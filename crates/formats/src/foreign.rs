//! Circuits and programs of other tools, which are not supported: the kind of a file, and the remedy.

use std::path::Path;

use garblet_circuit::diagnostic::Diagnostic;

/// A kind of file: its name, the extension of its files, and the beginning of their first line, if that identifies it.
struct Kind {
    name: &'static str,
    ending: &'static str,
    begins: &'static [&'static str],
}

const KINDS: [Kind; 5] = [
    Kind { name: "AIGER (text)", ending: "aag", begins: &["aag "] },
    Kind { name: "AIGER (binary)", ending: "aig", begins: &["aig "] },
    Kind { name: "BLIF", ending: "blif", begins: &[".model", ".inputs"] },
    Kind { name: "a circuit of ABY", ending: "aby", begins: &["#XOR count", "S 0"] },
    Kind { name: "a netlist of ISCAS (bench)", ending: "bench", begins: &["INPUT(", "OUTPUT("] },
];

const VERILOG: [&str; 3] = ["v", "sv", "vh"];

/// The refusal of a file of an unsupported kind.
pub(crate) fn refusal(file: &str, beginning: &[u8], known: &str) -> Diagnostic {
    let ending =
        Path::new(file).extension().and_then(|ending| ending.to_str()).unwrap_or_default().to_ascii_lowercase();
    let text = String::from_utf8_lossy(beginning);
    let first = text.trim_start();
    let is = |kind: &&Kind| kind.ending == ending || kind.begins.iter().any(|begin| first.starts_with(begin));
    let refused = |name: &str| Diagnostic::new(file, format!("is {name}, which is not supported"));
    if VERILOG.contains(&&ending[..]) || first.starts_with("module ") {
        return Diagnostic::new(file, "is Verilog: convert it to a netlist first").hint(
            "Yosys makes one: yosys -p \'read_verilog FILE.v; synth -flatten; abc -g AND,XOR; write_blif FILE.blif\'; then convert it to Bristol Fashion, the supported form of netlists",
        );
    }
    if let Some(kind) = KINDS.iter().find(is) {
        return refused(kind.name).hint("convert it to Bristol Fashion, the supported form of netlists");
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
    fn files_of_other_tools_are_refused_by_name() {
        for (file, text, message) in [
            ("and.aag", "aag 3 2 0 1 1\n2\n4\n6\n6 2 4\n", "is AIGER (text), which is not supported"),
            ("and", "aig 3 2 0 1 1\n6\n\u{2}\u{2}", "is AIGER (binary), which is not supported"),
            ("and.txt", ".model and2\n.inputs a b\n", "is BLIF, which is not supported"),
            ("and.aby", "#XOR count: 0\nS 0\nC 1\n", "is a circuit of ABY, which is not supported"),
            ("and", "#XOR count: 0\nS 0\nC 1\n", "is a circuit of ABY, which is not supported"),
            ("and.bench", "INPUT(a)\nINPUT(b)\n", "is a netlist of ISCAS (bench), which is not supported"),
        ] {
            let (got, hint) = refused(file, text);
            assert_eq!(got, message, "{file}");
            assert!(hint.contains("Bristol Fashion"), "{hint}");
        }
        let verilog = "module and2(a,b,y); input a,b; output y; assign y = a & b; endmodule\n";
        for file in ["and.v", "and"] {
            let (message, hint) = refused(file, verilog);
            assert_eq!(message, "is Verilog: convert it to a netlist first");
            assert!(hint.contains("yosys -p \'read_verilog"), "{hint}");
        }
        let (_, hint) = refused("churn.rs", "pub fn main(a: u8, b: u8) -> u8 { a }");
        assert_eq!(hint, "name it NAME.garble.rs if it is one");
    }

    #[test]
    fn json_of_other_tools_is_refused_by_its_keys() {
        let yosys = r#"{"creator": "Yosys 0.40", "modules": {"and2": {}}}"#;
        assert_eq!(refused("a.json", yosys).0, "is a netlist of Yosys (JSON), which is not supported");
        let gates = r#"{"name": "and", "wires": [0, 1], "gates": [], "alice": [0], "bob": [1], "out": [2]}"#;
        let (message, hint) = refused("a.json", gates);
        assert_eq!(message, "is JSON, but not a program file: it has the keys name, wires, gates, alice, bob, out");
        assert!(hint.contains("components, inputs, instances and outputs"), "{hint}");
        // For a program file with a mistake in it, the mistake is reported.
        assert!(refused("a.json", r#"{"inputs": {}, "wires": {}}"#).0.contains("wires"));
    }
}
