//! Any text as a party's input file or table, for a program with an input of every type.

use garblet_circuit::{
    Bits, InputId, Party, Port, Program, Type,
    notes::{Notes, Order, Ordered},
};
use garblet_formats::value::{self, Arrange, KeyForm, KeyHash};

fn program() -> Program {
    let mut program = Program::new("inputs");
    let record = Type::Record(vec![("age".into(), Type::Unsigned(7)), ("name".into(), Type::Bytes(3))]);
    let pass_or_bid = Type::Enum(vec![("Pass".into(), vec![]), ("Bid".into(), vec![Type::Unsigned(9), Type::Bool])]);
    let types = [
        pass_or_bid,
        Type::Bits(5),
        Type::Bool,
        Type::Unsigned(200),
        Type::Signed(33),
        Type::Bytes(4),
        Type::Fixed(20, 13),
        Type::List(Box::new(Type::Unsigned(8)), 5),
        Type::Array(Box::new(record), 2),
    ];
    for (k, ty) in types.into_iter().enumerate() {
        program.add_input(Port::new(format!("in{k}"), ty), Party(k as u16 % 2)).expect("names are numbered");
    }
    let ordered = vec![Ordered { input: format!("in{LIST}"), key_bits: 8, order: Order::Strict }];
    program.set_notes(Notes { ordered, ..Notes::default() });
    program
}

/// The place of the list that is to be in order.
const LIST: u32 = 7;

/// Brings a list into order, which it then is.
fn arrange(program: &Program, list: Bits) {
    for how in [Arrange::Check, Arrange::AsEmpty, Arrange::Sort, Arrange::SumByKey] {
        let mut inputs = [(InputId(LIST), list.clone())];
        if value::arrange(program, &mut inputs, how).is_ok() && how != Arrange::AsEmpty {
            assert!(value::arrange(program, &mut inputs, Arrange::Check).is_ok());
        }
    }
}

pub fn run(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    let program = program();
    for (k, input) in program.inputs().iter().enumerate() {
        let Ok(bits) = value::read_value("value.json", text, &input.port.ty) else { continue };
        assert_eq!(bits.len(), input.port.width() as usize, "input {k}");
        // What a value is written as reads back as the same bits.
        let again = value::to_json(&input.port.ty, &bits).to_string();
        assert!(value::read_value("value.json", &again, &input.port.ty).is_ok_and(|b| b == bits));
    }
    for input in program.inputs() {
        for (format, _) in value::TableFormat::ALL {
            let table = value::Table { file: "rows", format: *format, bytes: text.as_bytes(), renamed: &[] };
            if let Ok(read) = table.port(&input.port) {
                assert_eq!(read.values.len(), input.port.width() as usize);
                if input.port.name == program.inputs()[LIST as usize].port.name {
                    arrange(&program, read.values);
                }
            }
        }
    }
    let hash = KeyHash::new(KeyForm::Email, &[0; 32]);
    let texts = hash.texts(&program).expect("a list has keys");
    if let Ok(mut inputs) = value::read_inputs(&texts, Party(LIST as u16 % 2), "inputs.json", text) {
        let _ = hash.hash(&program, &mut inputs);
    }
    let _ = value::read_inputs(&program, Party(0), "inputs.json", text);
}
