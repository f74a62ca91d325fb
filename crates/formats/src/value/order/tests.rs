use std::collections::BTreeMap;

use garblet_circuit::{Party, Port, notes::Notes};
use garblet_synthesis::library;
use proptest::prelude::*;

use super::*;
use crate::value::{read_value, to_json};

/// A program with one list of at most eight rows, which is to be in that order.
fn program(element: Type, key_bits: u32, order: Order) -> Program {
    let mut program = Program::new("sorted");
    program.add_input(Port::new("a", Type::List(Box::new(element), 8)), Party(0)).unwrap();
    let ordered = vec![Ordered { input: "a".into(), key_bits, order }];
    program.set_notes(Notes { ordered, ..Notes::default() });
    program
}

fn pair(value: Type) -> Type {
    Type::Record(vec![("key".into(), Type::Unsigned(8)), ("value".into(), value)])
}

/// The list in JSON, arranged.
fn arranged(program: &Program, text: &str, how: Arrange) -> Result<(String, Vec<Arranged>), String> {
    let ty = &program.inputs()[0].port.ty;
    let mut inputs = [(InputId(0), read_value("a.json", text, ty).unwrap())];
    let told = arrange(program, &mut inputs, how).map_err(|unfit| unfit.to_string())?;
    Ok((to_json(ty, &inputs[0].1).to_string(), told))
}

fn json(program: &Program, text: &str, how: Arrange) -> String {
    arranged(program, text, how).map_or_else(|wrong| wrong, |(text, _)| text)
}

#[test]
fn a_list_that_is_not_in_order_is_refused_and_says_nothing_of_its_values() {
    use Order::{Ascending, Descending, Strict};
    let once = "expected ascending order, each key once, got";
    for (order, text, expected) in [
        (Strict, "[1, 2, 9]", "[1,2,9]".into()),
        (Strict, "[]", "[]".into()),
        (Strict, "[1, 9, 9]", format!("input `a`, row 3: {once} the key of the previous row again")),
        (Strict, "[77, 9]", format!("input `a`, row 2: {once} a lesser key than in the previous row")),
        (Ascending, "[1, 9, 9]", "[1,9,9]".into()),
        (
            Ascending,
            "[1, 9, 8]",
            "input `a`, row 3: expected ascending order, got a lesser key than in the previous row".into(),
        ),
        (Descending, "[9, 9, 1]", "[9,9,1]".into()),
        (
            Descending,
            "[9, 1, 2]",
            "input `a`, row 3: expected descending order, got a greater key than in the previous row".into(),
        ),
    ] {
        let program = program(Type::Unsigned(8), 8, order);
        assert_eq!(json(&program, text, Arrange::Check), expected, "{order:?} {text}");
    }
}

#[test]
fn rows_of_keys_alone_that_the_program_counts_are_never_left_out() {
    let single = Type::Record(vec![("key".into(), Type::Unsigned(8))]);
    let said = "input `a`, row 3: the rows cannot be added up by key: this has the key of row 1 and no value, and the program counts both";
    for (element, text) in [(Type::Unsigned(8), "[5, 7, 5]"), (single, r#"[{"key": 5}, {"key": 7}, {"key": 5}]"#)] {
        let program = program(element, 8, Order::Ascending);
        assert_eq!(json(&program, text, Arrange::SumByKey), said);
        assert!(!json(&program, text, Arrange::Sort).contains("row"));
    }
    for name in ["lib:quantile(4,4,8,500)", "lib:join(4,4,8,8)"] {
        let program = library::find(name).unwrap();
        let ty = &program.inputs()[0].port.ty;
        let mut inputs = [(InputId(0), read_value("a.json", "[1, 1, 2]", ty).unwrap())];
        let unfit = arrange(&program, &mut inputs, Arrange::SumByKey).unwrap_err();
        assert_eq!((unfit.row, unfit.wrong), (2, Misfit::NoValue { first: 1 }), "{name}");
    }
}

#[test]
fn who_means_it_has_a_list_taken_for_empty_and_hears_so() {
    let program = program(Type::Unsigned(8), 8, Order::Strict);
    let (text, told) = arranged(&program, "[3, 2]", Arrange::AsEmpty).unwrap();
    assert_eq!(text, "[3,2]");
    assert!(matches!(&told[..], [Arranged::Empty(Unfit { row: 2, .. })]), "{told:?}");
    assert_eq!(arranged(&program, "[2, 3]", Arrange::AsEmpty).unwrap().1, []);
}

#[test]
fn rows_are_sorted_and_those_of_one_key_added_up() {
    let program = program(pair(Type::Unsigned(8)), 8, Order::Strict);
    let text = r#"[{"key": 200, "value": 5}, {"key": 3, "value": 9}, {"key": 40, "value": 0}]"#;
    let sorted = r#"[{"key":3,"value":9},{"key":40,"value":0},{"key":200,"value":5}]"#;
    assert_eq!(json(&program, text, Arrange::Sort), sorted);
    assert_eq!(json(&program, text, Arrange::SumByKey), sorted);
    let text = r#"[{"key": 7, "value": 250}, {"key": 3, "value": 9}, {"key": 7, "value": 5}]"#;
    assert_eq!(
        json(&program, text, Arrange::Sort),
        "input `a`, row 3: expected each key once, got the key of row 1 again"
    );
    let (sums, told) = arranged(&program, text, Arrange::SumByKey).unwrap();
    assert_eq!(sums, r#"[{"key":3,"value":9},{"key":7,"value":255}]"#);
    assert_eq!(told, [Arranged::Summed { input: "a".into(), rows: 3, keys: 2 }]);
    let text = r#"[{"key": 7, "value": 250}, {"key": 3, "value": 9}, {"key": 7, "value": 6}]"#;
    assert_eq!(
        json(&program, text, Arrange::SumByKey),
        "input `a`, row 3: the sum of `value` over the rows up to this one with its key does not fit u8"
    );
}

#[test]
fn rows_that_are_keys_alone_are_merged_and_what_is_no_number_is_refused() {
    let keys = program(Type::Unsigned(8), 8, Order::Strict);
    let left_out = Arranged::LeftOut { input: "a".into(), rows: 4, keys: 2 };
    assert_eq!(arranged(&keys, "[9, 1, 9, 1]", Arrange::SumByKey), Ok(("[1,9]".into(), vec![left_out])));
    let flags = program(pair(Type::Bool), 8, Order::Strict);
    let text = r#"[{"key": 7, "value": true}, {"key": 7, "value": false}]"#;
    assert_eq!(json(&flags, text, Arrange::SumByKey), "input `a`, row 2: `value` cannot be added up: it is bool");
    let greatest = program(Type::Unsigned(8), 8, Order::Descending);
    assert_eq!(json(&greatest, "[1, 9, 9]", Arrange::Sort), "[9,9,1]");
    assert_eq!(
        json(&greatest, "[1, 9]", Arrange::SumByKey),
        "input `a`, row 2: the rows cannot be added up by key: they are in descending order"
    );
}

#[test]
fn sums_of_signed_numbers_overflow_on_both_sides() {
    let program = program(pair(Type::Signed(8)), 8, Order::Strict);
    let sum = |a: i32, b: i32| {
        let text = format!(r#"[{{"key": 1, "value": {a}}}, {{"key": 1, "value": {b}}}]"#);
        json(&program, &text, Arrange::SumByKey)
    };
    for a in [-128, -1, 0, 1, 127] {
        for b in [-128, -127, -1, 0, 1, 127] {
            let expected = match i8::try_from(a + b) {
                Ok(sum) => format!(r#"[{{"key":1,"value":{sum}}}]"#),
                Err(_) => {
                    "input `a`, row 2: the sum of `value` over the rows up to this one with its key does not fit i8"
                        .into()
                }
            };
            assert_eq!(sum(a, b), expected, "{a} {b}");
        }
    }
}

#[test]
fn numbers_that_mean_nothing_to_the_program_are_refused() {
    let sums = library::find("lib:group-sum(5, 3, 16)").unwrap();
    let read = |text: &str| [(InputId(0), read_value("a", text, &sums.inputs()[0].port.ty).unwrap())];
    let told = |text: &str, how| arrange(&sums, &mut read(text), how).map_err(|unfit| unfit.to_string());
    assert_eq!(told("[0, 2, 1]", Arrange::Check), Ok(vec![]));
    let refusal = "input `groups`, row 2: expected at most 2 for `groups`, got more".to_string();
    assert_eq!(told("[0, 3, 1]", Arrange::Check), Err(refusal));
    assert!(matches!(&told("[0, 3, 1]", Arrange::AsEmpty).unwrap()[..], [Arranged::Empty(_)]));
    let tree = library::find("lib:decision-tree(2, 1, 5, 8, 2)").unwrap();
    let node = |feature: u32| format!(r#"[{{"feature": {feature}, "threshold": 200}}]"#);
    for (feature, is_fit) in [(0, true), (4, true), (5, false), (7, false)] {
        let value = read_value("a", &node(feature), &tree.inputs()[0].port.ty).unwrap();
        assert_eq!(arrange(&tree, &mut [(InputId(0), value)], Arrange::Check).is_ok(), is_fit, "{feature}");
    }
    assert!(has_use(Arrange::AsEmpty, &sums, [InputId(0)]) && !has_use(Arrange::Sort, &sums, [InputId(0)]));
    assert!(!has_use(Arrange::AsEmpty, &sums, [InputId(1)]));
}

#[test]
fn every_run_of_a_batch_is_looked_at() {
    let program = program(Type::Unsigned(8), 8, Order::Strict);
    let ty = &program.inputs()[0].port.ty;
    let mut all = read_value("a", "[1, 2]", ty).unwrap();
    all.append(&read_value("a", "[4, 3]", ty).unwrap());
    let unfit = arrange(&program, &mut [(InputId(0), all.clone())], Arrange::Check).unwrap_err();
    assert_eq!((unfit.run, unfit.row), (Some(2), 2));
    assert!(unfit.to_string().starts_with("input `a` of run 2, row 2: "));
    let batch = program.batch(2).unwrap();
    let of_batch = arrange(&batch, &mut [(InputId(0), all.clone())], Arrange::Check).unwrap_err();
    assert_eq!(of_batch, unfit);
    let mut inputs = [(InputId(0), all)];
    arrange(&program, &mut inputs, Arrange::Sort).unwrap();
    assert_eq!(inputs[0].1.slice(ty.width() as usize, ty.width() as usize), read_value("a", "[3, 4]", ty).unwrap());
}

proptest! {
    #[test]
    fn what_was_arranged_is_in_order_and_has_the_same_sums(rows in prop::collection::vec((0u8..4, 0u32..1000), 0..8)) {
        let text: Vec<String> = rows.iter().map(|(k, v)| format!(r#"{{"key": {k}, "value": {v}}}"#)).collect();
        let text = format!("[{}]", text.join(", "));
        for order in [Order::Strict, Order::Ascending] {
            let program = program(pair(Type::Unsigned(32)), 8, order);
            let mut sums: BTreeMap<u8, u32> = BTreeMap::new();
            rows.iter().for_each(|(key, value)| *sums.entry(*key).or_default() += value);
            let expected: Vec<String> = sums.iter().map(|(k, v)| format!(r#"{{"key":{k},"value":{v}}}"#)).collect();
            prop_assert_eq!(json(&program, &text, Arrange::SumByKey), format!("[{}]", expected.join(",")));
            let sorted = json(&program, &text, Arrange::Sort);
            let is_fit = sums.len() == rows.len() || order == Order::Ascending;
            prop_assert_eq!(is_fit, sorted.starts_with('['), "{}", sorted);
            if is_fit {
                prop_assert_eq!(json(&program, &sorted, Arrange::Check), sorted.clone());
                prop_assert_eq!(json(&program, &sorted, Arrange::SumByKey), format!("[{}]", expected.join(",")));
            }
        }
    }
}
