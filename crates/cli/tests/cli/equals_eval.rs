//! Two processes compute what the plain evaluator computes: every library circuit, and random circuits under every
//! garbling scheme and hash.

use garblet::{
    Bits, HashKind, Party, Program, SchemeKind,
    circuit::{InputId, random},
    formats::{Format, value},
    library,
};
use rand::{SeedableRng, rngs::StdRng};

use crate::invocation::{Folder, garblet};

/// Writes each party's inputs and returns their options.
fn input_options(folder: &Folder, program: &Program, inputs: &[Bits]) -> Vec<String> {
    let of_party = |party: u16| {
        let own = program.inputs().iter().zip(inputs).filter(|(input, _)| input.owner == Party(party));
        let members = own.map(|(input, bits)| (input.port.name.clone(), value::to_json(&input.port.ty, bits)));
        serde_json::Value::Object(members.collect())
    };
    let file = |party: u16| folder.file(&format!("party{party}.json"), &of_party(party).to_string());
    (0..2).flat_map(|party| ["--input".into(), format!("{party}={}", file(party))]).collect()
}

fn outputs(command: &str, program: &str, options: &[String], more: &[&str]) -> serde_json::Value {
    let options: Vec<&str> = options.iter().map(String::as_str).collect();
    garblet(&[&[command, program], &options[..], more, &["--json"]].concat()).json()["outputs"].take()
}

/// In the short form, one of the formats of floating-point numbers, and no inverses in fields.
#[test]
fn every_library_circuit() {
    let mut rng = StdRng::seed_from_u64(1);
    let full = std::env::var_os("GARBLET_TEST_FULL").is_some();
    let is_long = |name: &str| {
        name.ends_with("-field-inv") || ["f16-", "bf16-", "f32-"].iter().any(|format| name.starts_with(format))
    };
    let left_out = |name: &str| !full && is_long(name);
    for member in library::list().filter(|member| !left_out(member.name)) {
        let name = format!("lib:{}", member.name);
        let program = library::find(&name).expect("the library lists it");
        let folder = Folder::new(&format!("library-{}", member.name));
        let mut options = input_options(&folder, &program, &random::inputs(&mut rng, &program));
        // Lists of random rows are not in order.
        if value::has_use(value::Arrange::AsEmpty, &program, (0..program.inputs().len() as u32).map(InputId)) {
            options.push("--as-empty".into());
        }
        let expected = outputs("eval", &name, &options, &[]);
        assert_eq!(outputs("local", &name, &options, &[]), expected, "{name}");
    }
}

/// 200 circuits in the full form, three in the short one.
#[test]
fn random_circuits_under_every_scheme_and_hash() {
    let circuits = if std::env::var_os("GARBLET_TEST_FULL").is_some() { 200 } else { 3 };
    let mut rng = StdRng::seed_from_u64(2);
    for case in 0..circuits {
        let folder = Folder::new(&format!("random-{case}"));
        let drawn = random::single(&mut rng, 5_000, 2);
        for scheme in SchemeKind::ALL {
            let mut program = drawn.clone();
            if scheme.is_privacy_free() {
                // The evaluator sees every value, so all inputs must be its own.
                let inputs = 0..program.inputs().len() as u32;
                inputs.for_each(|k| program.set_owner(InputId(k), Party(1)));
            }
            let mut text = Vec::new();
            Format::Program.write(&program, &mut text).expect("memory holds it");
            let path = folder.file("program.json", &String::from_utf8(text).expect("JSON is text"));
            let options = input_options(&folder, &program, &random::inputs(&mut rng, &program));
            let expected = outputs("eval", &path, &options, &[]);
            for hash in HashKind::ALL {
                let more = ["--param", &format!("scheme={scheme}"), "--param", &format!("hash={hash}")];
                assert_eq!(outputs("local", &path, &options, &more), expected, "circuit {case}, {scheme}, {hash}");
            }
        }
    }
}
