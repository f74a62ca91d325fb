use garblet_circuit::{Bits, evaluate_many};

use super::*;
use crate::front_end::FrontEnds;

#[test]
fn extensions_and_names_choose_the_format() {
    let of = |path: &str| Format::of_path(Path::new(path));
    assert_eq!(of("a/b.json"), Some(Format::Program));
    assert_eq!(of("a.gbc"), Some(Format::Binary));
    assert_eq!(of("a.TXT"), Some(Format::BristolFashion));
    assert_eq!(of("a.bristol"), Some(Format::BristolFashion));
    assert_eq!((of("a"), of("a.rs"), of(".json")), (None, None, None));
    for (name, format) in [
        ("bristol", Format::Bristol),
        ("bristol-fashion", Format::BristolFashion),
        ("json", Format::Program),
        ("gbc", Format::Binary),
    ] {
        assert_eq!(name.parse(), Ok(format));
    }
    assert_eq!("verilog".parse::<Format>(), Err(UnknownFormat("verilog".into())));
}

/// An 8-bit adder in every format, as our own writers made it.
const ADDERS: [(&str, Format, &str); 3] = [
    ("old.txt", Format::Bristol, include_str!("../../../vectors/circuits/add8.bristol-old.txt")),
    ("new.txt", Format::BristolFashion, include_str!("../../../vectors/circuits/add8.bristol-fashion.txt")),
    ("add.json", Format::Program, include_str!("../../../vectors/circuits/add8.json")),
];

#[test]
fn the_adder_of_every_format_adds_and_is_still_written_so() {
    let library = garblet_synthesis::library::find("add(8)").unwrap();
    let instances: Vec<[Bits; 2]> =
        (0..1 << 16).map(|k| [Bits::from_u128(k & 255, 8), Bits::from_u128(k >> 8, 8)]).collect();
    for (file, format, text) in ADDERS {
        let program = FrontEnds::standard().read(file, &mut text.as_bytes()).unwrap();
        for (k, outputs) in evaluate_many(&program, &instances).iter().enumerate() {
            assert_eq!(outputs[0].to_u128(), Some(((k & 255) + (k >> 8)) as u128 & 255), "{file} {k}");
        }
        let mut written = Vec::new();
        format.write(&library, &mut written).unwrap();
        assert_eq!(String::from_utf8(written).unwrap(), text, "{file}");
    }
}
