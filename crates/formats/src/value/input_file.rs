//! A party's input file: `{"port": value, ..}`.

use garblet_circuit::{
    Bits, Input, InputId, Party, Program,
    diagnostic::{Diagnostic, Diagnostics, Place, clip},
};
use jsonc_parser::{ast::Value, common::Ranged};

use super::parse::Reader;
use crate::json::JsonText;

/// Reads the values of all inputs that belong to `party` from a JSON text `{"port": value, ..}`.
///
/// *Shape*: the party's inputs in the program's order.
///
/// *Errors*: all faults together: inputs that are missing, unknown, another party's, or whose value is not
/// of the port's type.
pub fn read_inputs(
    program: &Program,
    party: Party,
    file: &str,
    text: &str,
) -> Result<Vec<(InputId, Bits)>, Diagnostics> {
    let json = JsonText { file, text };
    let root = json.parse()?;
    let members = json.members(&root, "inputs")?;
    let own = || program.inputs().iter().filter(|i| i.owner == party);
    let mut wrong: Vec<Diagnostic> = Vec::new();
    for (key, property) in &members {
        let message = match program.inputs().iter().find(|i| i.port.name == *key) {
            Some(input) if input.owner == party => continue,
            Some(input) => format!("input `{key}` belongs to party {}, this file is party {party}'s", input.owner),
            None => format!("the program has no input `{}`", clip(key)),
        };
        let missing = |name: &&str| !members.iter().any(|(key, _)| key == name);
        let known = own().map(|i| i.port.name.as_str()).filter(missing);
        wrong.push(json.error_at(&property.name, message).suggest(key, known));
    }
    let mut values = Vec::new();
    for (k, Input { port, .. }) in program.inputs().iter().enumerate().filter(|(_, i)| i.owner == party) {
        let Some((_, property)) = members.iter().find(|(key, _)| *key == port.name) else {
            let message = format!("input `{}` ({}) is missing", port.name, port.ty);
            wrong.push(json.error_at(&root, message).hint(format!("add \"{}\": ..", port.name)));
            continue;
        };
        match (Reader { json }).value(&format!("input `{}`", port.name), &property.value, &port.ty) {
            Ok(bits) => values.push((InputId(k as u32), bits)),
            Err(error) => wrong.push(error),
        }
    }
    Diagnostics::check(wrong)?;
    Ok(values)
}

/// The line of a row of an input, in a text that was read.
pub fn line_of_row(text: &str, input: &str, row: usize) -> Option<u64> {
    let json = JsonText { file: "", text };
    let root = json.parse().ok()?;
    let members = json.members(&root, "inputs").ok()?;
    let (_, property) = members.iter().find(|(key, _)| *key == input)?;
    let Value::Array(rows) = &property.value else { return None };
    let start = rows.elements.get(row.checked_sub(1)?)?.range().start;
    Some(Place::in_text(text, start..start).line)
}

#[cfg(test)]
mod tests {
    use garblet_circuit::{Port, Type};

    use super::*;

    fn program() -> Program {
        let mut program = Program::new("auction");
        for (name, ty, owner) in
            [("bid", Type::Unsigned(8), 0), ("limit", Type::Signed(8), 1), ("name", Type::Bytes(2), 0)]
        {
            program.add_input(Port::new(name, ty), Party(owner)).unwrap();
        }
        program
    }

    fn read(party: u16, text: &str) -> Result<Vec<(u32, String)>, String> {
        let values = read_inputs(&program(), Party(party), "bob.json", text).map_err(|e| e.to_string())?;
        Ok(values.into_iter().map(|(id, bits)| (id.0, bits.to_string())).collect())
    }

    #[test]
    fn a_party_gives_its_own_inputs_in_any_order() {
        let values = read(0, r#"{"name": {"text": "ab"}, "bid": 3}"#).unwrap();
        assert_eq!(values, [(0, "11000000".into()), (2, "1000011001000110".into())]);
        assert_eq!(read(1, r#"{"limit": -1}"#).unwrap(), [(1, "11111111".into())]);
        assert_eq!(read(2, "{}").unwrap(), []);
    }

    #[test]
    fn everything_wrong_is_said_at_once_with_its_place() {
        let error = read(0, "{\n  \"bids\": 3,\n  \"limit\": 1,\n  \"name\": 70000\n}").unwrap_err();
        let lines: Vec<&str> = error.lines().collect();
        assert_eq!(
            lines,
            [
                "bob.json:2:3: the program has no input `bids`",
                "bob.json:3:3: input `limit` belongs to party 1, this file is party 0's",
                "bob.json:1:1: input `bid` (u8) is missing",
                "bob.json:4:11: input `name`: expected bytes2, got a number",
            ]
        );
    }

    #[test]
    fn a_row_of_a_list_has_a_line() {
        let text = "{\n  \"b\": [1],\n  \"a\": [1,\n    2,\n 3]}";
        let lines: Vec<Option<u64>> = (0..5).map(|row| line_of_row(text, "a", row)).collect();
        assert_eq!(lines, [None, Some(3), Some(4), Some(5), None]);
        assert_eq!(line_of_row(text, "c", 1), None);
        assert_eq!(line_of_row("{\"a\": \"\"}", "a", 1), None);
    }

    #[test]
    fn near_names_are_suggested() {
        let errors = read_inputs(&program(), Party(1), "bob.json", r#"{"limits": 3}"#).unwrap_err();
        assert_eq!(errors.iter().next().unwrap().hint.as_deref(), Some("did you mean `limit`?"));
    }

    #[test]
    fn only_missing_inputs_are_suggested() {
        let errors = read_inputs(&program(), Party(0), "bob.json", r#"{"bid": 3, "bids": 4, "nam": "x"}"#).unwrap_err();
        let hints: Vec<_> = errors.iter().map(|error| error.hint.as_deref()).collect();
        assert_eq!(hints[1], Some("did you mean `name`?"));
        assert_ne!(hints[0], Some("did you mean `bid`?"));
    }

    #[test]
    fn files_that_are_not_objects_are_refused() {
        assert_eq!(read(0, "[1]").unwrap_err(), "bob.json:1:1: inputs: expected an object, got an array");
        assert_eq!(read(0, "").unwrap_err(), "bob.json:1:1: the file is empty, expected JSON");
        assert!(read(0, r#"{"bid": 1, "bid": 2}"#).unwrap_err().contains("`bid` appears twice"));
    }
}
