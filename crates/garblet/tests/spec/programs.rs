//! Files 5, 6 and 11: digests of programs, and of the order of their gates.

use garblet::{
    GarblingConfig, Program,
    circuit::{Schedule, Step},
    formats::front_end::FrontEnds,
    library,
};
use garblet_garble::Schedules;
use serde_json::{Value, json};

use super::{hex, hold};

/// The example of the text: constants in a link, negations, an instance that reads another.
const TWO: &str = r#"{"components": {"cmp": {"inputs": {"a": "u2", "b": "u2"}, "outputs": {"o": "bool"}, "gates": ["w4 = !a[1]", "w5 = b[1] & w4", "w6 = w5 ^ a[0]", "o = w6"]}}, "inputs": {"x": {"owner": 0, "type": "u2"}, "y": {"owner": 1, "type": "u2"}}, "instances": {"at0": {"of": "cmp", "in": {"a": "x", "b": [{"bits": "0"}, {"bits": "1"}]}}, "at1": {"of": "cmp", "in": {"a": "y", "b": ["at0.o", true]}}}, "outputs": {"z": {"type": "bool", "from": "at1.o", "to": "all"}}}"#;
/// All rules of folding, types, recipients, and an output that is a constant, an input and a negation.
const FOLDED: &str = r#"{"components": {"f": {"inputs": {"a": "[bits2; 2]", "b": "{k: i3, l: bool}"}, "outputs": {"o": "bits9"}, "gates": ["t = a[0] & 1", "u = t ^ a[0]", "v = a[1] & a[1]", "w = v & !a[1]", "x = a[2] & b[0]", "y = !x ^ a[3]", "z = y & !x", "p = 0 ^ z", "q = p ^ !z", "d = x & y", "o[0] = u", "o[1] = v", "o[2] = w", "o[3] = !z", "o[4] = q", "o[5] = a[3]", "o[6] = y ^ b[1]", "o[7] = o[6] & b[2]", "o[8] = b[3]"]}}, "inputs": {"a": {"owner": 1, "type": "[bits2; 2]"}, "b": {"owner": 0, "type": "{k: i3, l: bool}"}}, "instances": {"i": {"of": "f", "in": {"a": "a", "b": "b"}}}, "outputs": {"o": {"type": "bits8", "from": "i.o[1..9]", "to": [1]}, "n": {"type": "bits1", "from": "i.o[0]", "to": []}}}"#;

/// A component that is garbled as a table.
const TABLE: &str = r#"{"components": {"t": {"inputs": {"a": "u4"}, "outputs": {"o": "u2"}, "gates": ["t0 = a[0] & a[1]", "u0 = t0 ^ !a[2]", "t1 = u0 & a[2]", "u1 = t1 ^ !a[3]", "t2 = u1 & a[3]", "u2 = t2 ^ !a[0]", "t3 = u2 & a[0]", "u3 = t3 ^ !a[1]", "t4 = u3 & a[1]", "u4 = t4 ^ !a[2]", "t5 = u4 & a[2]", "u5 = t5 ^ !a[3]", "t6 = u5 & a[3]", "u6 = t6 ^ !a[0]", "t7 = u6 & a[0]", "u7 = t7 ^ !a[1]", "t8 = u7 & a[1]", "u8 = t8 ^ !a[2]", "t9 = u8 & a[2]", "u9 = t9 ^ !a[3]", "o[0] = u9", "o[1] = u8"]}}, "inputs": {"x": {"owner": 0, "type": "u4"}, "y": {"owner": 1, "type": "u4"}}, "instances": {"i": {"of": "t", "in": {"a": "x"}}, "j": {"of": "t", "in": {"a": ["y[0..2]", "i.o"]}}}, "outputs": {"z": {"type": "u2", "from": "j.o", "to": "all"}}}"#;

/// A type of each format of floating-point numbers.
const FLOATS: &str = r#"{"components": {"c": {"inputs": {"h": "f16", "b": "bf16"}, "outputs": {"o": "bool"}, "gates": ["o = h[15] & b[15]"]}}, "inputs": {"h": {"owner": 0, "type": "f16"}, "b": {"owner": 1, "type": "bf16"}, "s": {"owner": 0, "type": "f32"}, "d": {"owner": 1, "type": "[f64; 1]"}}, "instances": {"i": {"of": "c", "in": {"h": "h", "b": "b"}}}, "outputs": {"o": {"type": "bool", "from": "i.o", "to": "all"}, "b": {"type": "bf16", "from": "b", "to": [0]}, "s": {"type": "f32", "from": "s", "to": [1]}}}"#;

/// Programs of files, by name with the text, and of the library.
fn programs() -> Vec<(String, Option<&'static str>, Program)> {
    let read = |name: &str, text: &'static str| {
        let program =
            FrontEnds::standard().read(&format!("{name}.json"), &mut text.as_bytes()).expect("a program file");
        (name.to_string(), Some(text), program)
    };
    let found = |name: &str| (name.to_string(), None, library::find(name).expect("a circuit of the library"));
    // The last but one takes the narrow window, `aes128` has more gates than that.
    let library = ["lib:add(16)", "lib:mul(16)", "lib:mul(80)", "lib:aes128"].map(found);
    [read("two", TWO), read("folded", FOLDED), read("table", TABLE), read("floats", FLOATS)]
        .into_iter()
        .chain(library)
        .collect()
}

#[test]
fn digests_of_programs_are_held() {
    let all = programs().into_iter().map(|(name, text, program)| {
        let mut value = json!({ "digest": hex(program.digest()) });
        if let Some(text) = text {
            value["file"] = json!(text);
        }
        (name, value)
    });
    hold("programs.json", &all.collect::<serde_json::Map<String, Value>>().into());
}

fn steps(schedule: &Schedule) -> Value {
    let steps = schedule.steps();
    let pairs: Vec<[u32; 2]> = steps.iter().take(40).map(|Step { xors, ands }| [*xors, *ands]).collect();
    let operands: Vec<[String; 2]> = schedule.ands().iter().take(40).map(|and| [and.a, and.b].map(operand)).collect();
    json!({
        "slots": schedule.slot_count(),
        "ands": schedule.and_count(),
        "steps": steps.len(),
        "first_steps_xors_ands": pairs,
        "first_ands_negated_operands": operands,
        "digest": hex(schedule.digest().as_bytes()),
    })
}

/// `!` for an operand that is negated.
fn operand(operand: garblet::circuit::Operand) -> String {
    if operand.inverted() { "!".into() } else { String::new() }
}

#[test]
fn orders_of_gates_are_held() {
    let all = programs().into_iter().map(|(name, _, program)| {
        let components: Vec<Value> =
            program.components().iter().map(|component| steps(&Schedule::new(component.circuit()))).collect();
        let flat = program.flatten().expect("small");
        let schedules = Schedules::new(&program);
        let tabled = schedules.with_tables(&program, GarblingConfig::default()).expect("in memory");
        let tables = (0..program.components().len()).filter(|&component| tabled.is_table(component));
        let value = json!({
            "schedule": schedules.digest().to_string(),
            "tables": tables.collect::<Vec<usize>>(),
            "schedule_with_tables": tabled.digest().to_string(),
            "components": components,
            "gmw_schedule": Schedule::by_depth(flat.circuit()).digest().to_string(),
            "gmw": steps(&Schedule::by_depth(flat.circuit())),
        });
        (name, value)
    });
    hold("gate-orders.json", &all.collect::<serde_json::Map<String, Value>>().into());
}
