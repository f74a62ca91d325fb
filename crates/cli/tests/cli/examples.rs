//! Every example, in the clear and by parties.

use garblet::{
    HashKind, SchemeKind,
    formats::{Format, front_end::FrontEnds},
    lang::Options,
};

use crate::invocation::{garblet, root};

/// An example's program and inputs, and its expected outputs.
const EXAMPLES: &[(&[&str], &str)] = &[
    (
        &[
            "lib:millionaires(32)",
            "--input",
            "0=examples/millionaires/alice.json",
            "--input",
            "1=examples/millionaires/bob.json",
        ],
        "alice_richer = true\n",
    ),
    (
        &[
            "examples/verilog/auction.blif",
            "--input",
            "0=examples/verilog/bid.json",
            "--input",
            "1=examples/verilog/reserve.json",
        ],
        "sold = 1\nabove = 20\n",
    ),
    (
        &["lib:aes128", "--input", "0=examples/aes/key.json", "--input", "1=examples/aes/block.json"],
        "ciphertext = 69c4e0d86a7b0430d8cdb78070b4c55a\n",
    ),
    (
        &["lib:sha256-message(56)", "--input", "0=examples/sha256/message.json", "--to", "digest=1"],
        "digest = 248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1\n",
    ),
    (
        &[
            "lib:levenshtein(333,333,2)",
            "--input",
            "0=examples/edit-distance/human.fasta",
            "--input",
            "1=examples/edit-distance/mouse.fasta",
        ],
        "distance = 56\n",
    ),
    (
        &[
            "examples/auction/auction.json",
            "--input",
            "0=examples/auction/house0.json",
            "--input",
            "1=examples/auction/house1.json",
        ],
        "house1_wins = true\nprice = 455\n",
    ),
    (
        &[
            "examples/aes-cbc/aes-cbc.json",
            "--input",
            "0=examples/aes-cbc/key.json",
            "--input",
            "1=examples/aes-cbc/message.json",
        ],
        "ciphertext = 7649abac8119b246cee98e9b12e9197d5086cb9b507219ee95db113a917678b2\
         73bed6b8e3c1743b7116e69e222295163ff1caa1681fac09120eca307586e1a7\n",
    ),
    (
        &[
            "examples/blind-mac/blind-mac.json",
            "--input",
            "0=examples/blind-mac/key.json",
            "--input",
            "1=examples/blind-mac/message.json",
        ],
        "tag = a7356e1207bb406639e5e5ceb9a9ed93\n",
    ),
    (
        &[
            "examples/encrypted-sum/encrypted-sum.json",
            "--input",
            "0=examples/encrypted-sum/key.json",
            "--input",
            "1=examples/encrypted-sum/numbers.json",
        ],
        "sum = 7e3ef8cb75d5d9a1b418cb997b09a185\n",
    ),
    (
        &[
            "lib:intersection(8,8,16,4,16)",
            "--input",
            "0=examples/customers/shown.csv",
            "--input",
            "1=examples/customers/bought.csv",
        ],
        "rows = [{\"key\":1012,\"a\":1,\"b\":1999},{\"key\":1020,\"a\":2,\"b\":450},{\"key\":1033,\"a\":3,\"b\":12000}]\nin_order = true\n",
    ),
    (
        &[
            "lib:intersection-sum(8,8,16,16)",
            "--input",
            "0=examples/customers/ids.json",
            "--input",
            "1=examples/customers/bought.csv",
        ],
        "size = 3\nsum = 14449\nin_order = true\n",
    ),
    (
        &[
            "lib:group-sum-by-key(8,8,6,16,16)",
            "--input",
            "0=examples/customers/shown.csv",
            "--input",
            "1=examples/customers/bought.csv",
        ],
        "rows = [{\"key\":1003,\"sum\":800},{\"key\":1007,\"sum\":3},{\"key\":1012,\"sum\":2000},{\"key\":1020,\"sum\":452},{\"key\":1033,\"sum\":12003}]\nmore = false\nin_order = true\n",
    ),
    (
        &[
            "lib:top-k(3,16,16)",
            "--input",
            "0=examples/customers/best0.csv",
            "--input",
            "1=examples/customers/best1.csv",
        ],
        "rows = [{\"value\":12000,\"payload\":1033},{\"value\":7300,\"payload\":1101},{\"value\":1999,\"payload\":1012}]\nin_order = true\n",
    ),
    (
        &[
            "lib:linear-model(2,3,8,8)",
            "--input",
            "0=examples/models/weights.json",
            "--input",
            "1=examples/models/rows.json",
        ],
        "scores = [\"2.875\",\"-0.375\"]\n",
    ),
    (
        &[
            "lib:decision-tree(2,2,3,8,4)",
            "--input",
            "0=examples/models/tree.json",
            "--input",
            "1=examples/models/people.json",
        ],
        "class = [3,0]\n",
    ),
];

/// Sources under `examples`, and program files that bind circuits to their functions, with both parties' input files and the expected outputs.
const SOURCES: &[(&str, [&str; 2], &str)] = &[
    (
        "orders/orders.garble.rs",
        ["ours.csv", "theirs.csv"],
        "best = [[900,12],[350,21],[300,3]]\ncustomers = [[3,300],[7,150],[9,100],[12,900],[21,350]]\nmedian = 40\n",
    ),
    ("millionaires/millionaires.garble.rs", ["alice.json", "bob.json"], "out0 = true\n"),
    ("vickrey/vickrey.garble.rs", ["first.csv", "second.csv"], "price = 462\nwinner = 202\n"),
    ("intersection/intersection.garble.rs", ["ours.csv", "theirs.json"], "out0 = 3\n"),
    ("edit-distance/edit-distance.garble.rs", ["first.json", "second.json"], "out0 = 5\n"),
    ("nearest-neighbours/nearest-neighbours.garble.rs", ["samples.csv", "point.json"], "out0 = Malignant\n"),
    ("regression/regression.garble.rs", ["x.json", "y.json"], "intercept = 74198\nslope = 186772\n"),
    ("decision-tree/decision-tree.garble.rs", ["tree.json", "features.json"], "out0 = 6\n"),
    (
        "sha256/sha256.garble.rs",
        ["secret.json", "salt.json"],
        "out0 = ceb3acfec5533eee18d535c7b2e21f52efc77313585254c6f7f781f95d54de3b\n",
    ),
    ("aes/aes.garble.rs", ["key.json", "block.json"], "out0 = 69c4e0d86a7b0430d8cdb78070b4c55a\n"),
    ("sort/sort.garble.rs", ["a.csv", "b.csv"], "out0 = [0,1,2,7,24,31,45,45,66,75,90,99,170,802,500000,4294967295]\n"),
    ("aes/aes-bound.json", ["key.json", "block.json"], "out0 = 69c4e0d86a7b0430d8cdb78070b4c55a\n"),
    (
        "sort/sort-bound.json",
        ["a.csv", "b.csv"],
        "out0 = [0,1,2,7,24,31,45,45,66,75,90,99,170,802,500000,4294967295]\n",
    ),
];

/// In the clear, by two parties, by two servers that run another program on their client's shares, and by three parties of which any two may be malicious.
const WAYS: &[&[&str]] = &[
    &["eval"],
    &["local"],
    &["local", "--protocol", "outsourced", "--param", "base=yao"],
    &["local", "--protocol", "authenticated-bmr", "--parties", "3"],
];

#[test]
fn every_protocol_gives_the_known_answer() {
    for (arguments, expected) in EXAMPLES {
        for way in WAYS {
            let ran = garblet(&[way, *arguments].concat());
            assert_eq!(ran.stdout, *expected, "{way:?} {arguments:?}: {}", ran.stderr);
            assert_eq!(ran.status, Some(0), "{way:?} {arguments:?}");
        }
    }
}

#[test]
fn sources_give_the_known_answer_with_every_protocol() {
    for (name, files, expected) in SOURCES {
        let source = format!("examples/{name}");
        let folder = name.split_once('/').map_or("", |(folder, _)| folder);
        let inputs = [0, 1].map(|k| format!("{k}=examples/{folder}/{}", files[k]));
        for way in WAYS {
            let arguments = [&source, "--input", &inputs[0], "--input", &inputs[1]];
            let ran = garblet(&[way, &arguments[..]].concat());
            assert_eq!(ran.stdout, *expected, "{way:?} {source}: {}", ran.stderr);
            assert_eq!(ran.status, Some(0), "{way:?} {source}");
        }
    }
}

/// Parties may hold a program in different forms: they compare digests.
#[test]
fn every_example_is_the_same_program_in_the_binary_form() {
    let sources = SOURCES.iter().map(|(name, ..)| format!("{}/examples/{name}", root().display()));
    let others = EXAMPLES.iter().map(|(arguments, _)| match arguments[0].starts_with("lib:") {
        true => arguments[0].to_string(),
        false => format!("{}/{}", root().display(), arguments[0]),
    });
    for name in sources.chain(others) {
        let program = garblet::load(&name, Options::default()).unwrap_or_else(|error| panic!("{error}"));
        let mut bytes = Vec::new();
        Format::Binary.write(&program, &mut bytes).expect("memory holds it");
        let back =
            FrontEnds::standard().read("back", &mut &bytes[..]).unwrap_or_else(|error| panic!("{name}: {error}"));
        assert_eq!(back.digest(), program.digest(), "{name}");
        assert_eq!(back.notes().panics, program.notes().panics, "{name}");
    }
}

#[test]
fn sources_become_small_circuits() {
    for (name, most) in [
        ("sha256/sha256.garble.rs", 24_000),
        ("aes/aes.garble.rs", 40_000),
        ("aes/aes-bound.json", 6_400),
        ("edit-distance/edit-distance.garble.rs", 81 * 45),
        ("sort/sort-bound.json", 60 * 64),
    ] {
        let source = format!("examples/{name}");
        let inspection = garblet(&["inspect", &source, "--json"]).json();
        let and = inspection["program"]["and"].as_u64();
        assert!(and.is_some_and(|and| and <= most), "{source}: {and:?} AND gates");
    }
}

#[test]
fn lines_of_a_source_are_shown_with_their_cost() {
    // All AND gates of AES are in the S-box.
    let ran = garblet(&["inspect", "examples/aes/aes.garble.rs", "--lines"]);
    assert_eq!(ran.stdout, "      AND   share   line\n   16,400  100.0%     22  table[x as usize]\n", "{}", ran.stderr);
}

#[test]
fn every_scheme_and_hash_gives_the_same() {
    // All combinations take a while in a debug build; by default each scheme and each hash appears once.
    let full = std::env::var_os("GARBLET_TEST_FULL").is_some();
    let schemes: Vec<_> = SchemeKind::ALL.iter().filter(|scheme| !scheme.is_privacy_free()).collect();
    for (s, scheme) in schemes.iter().enumerate() {
        for (h, hash) in HashKind::ALL.iter().enumerate().filter(|(h, _)| full || h % schemes.len() == s) {
            for (arguments, expected) in EXAMPLES.iter().take(if full { EXAMPLES.len() } else { 2 }) {
                let parameters = [format!("scheme={scheme}"), format!("hash={hash}")];
                let build = ["build=stream", "build=ahead"][(s + h) % 2];
                let more = ["--param", &parameters[0], "--param", &parameters[1], "--param", build];
                let ran = garblet(&[&["local"], *arguments, &more].concat());
                assert_eq!(ran.stdout, *expected, "{parameters:?} {arguments:?}: {}", ran.stderr);
            }
        }
    }
}

/// The output of an example in Rust.
fn rust_example(name: &str) -> String {
    // Cargo builds examples with the tests, next to the command's folder.
    let folder = std::path::Path::new(env!("CARGO_BIN_EXE_garblet")).parent().expect("a folder");
    let output = std::process::Command::new(folder.join("examples").join(name))
        .output()
        .expect("the example, which `cargo test` builds unless told which tests to build");
    assert!(output.status.success(), "{name}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8_lossy(&output.stdout).into()
}

#[test]
fn the_rust_example_agrees_with_the_evaluator() {
    let text = rust_example("intersection");
    assert!(text.starts_with("the lists share 3 entries"), "{text}");
}

#[test]
fn a_client_finds_the_records_of_its_keywords() {
    assert_eq!(rust_example("keyword_search"), "elm: Ulmus\noak: Quercus\npalm: no such record\n");
}

#[test]
fn a_one_time_program_runs_once() {
    let expected = "69c4e0d86a7b0430d8cdb78070b4c55a\na second time: the memory has been read\n";
    assert_eq!(rust_example("one_time_program"), expected);
}

#[test]
fn the_demonstration_succeeds() {
    let ran = garblet(&["demo"]);
    assert_eq!(ran.status, Some(0), "{}", ran.stderr);
    assert!(ran.stdout.contains("distance = 56"), "{}", ran.stdout);
    assert!(ran.stdout.contains("ciphertext = 69c4e0d86a7b0430d8cdb78070b4c55a"), "{}", ran.stdout);
    let json = garblet(&["demo", "--json"]).json();
    assert_eq!(json["demo"].as_array().map(Vec::len), Some(2));
}
