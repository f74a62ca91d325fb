//! Parts of Rust that the language lacks, as in the list of all others.

pub(super) const ELSEWHERE: &[(&str, &[&str])] = &[
    (
        "pub fn main(a: [u8; 4], b: u8) -> u8 {\n    a.sum()\n}",
        &[
            "there is no method `sum` @ 2:7 ? there are no iterators: write a loop, as in `for x in a { .. }` or `for i in 0..N { .. a[i] .. }`",
        ],
    ),
    (
        "pub fn main(a: u8, b: u8) -> u8 {\n    match Some(a) { Some(x) => x + b, None => b }\n}",
        &[
            "expected `=>`, got `(` @ 2:25 ? there is no `Option` or `Result`: declare an enum of your own, as in `enum Maybe { Nothing, Just(u8) }`, and `match` it",
        ],
    ),
    (
        "fn f(a: Option<u8>) -> u8 { 1 }\npub fn main(a: u8, b: u8) -> u8 {\n    a + b\n}",
        &[
            "expected the end of the type, got `<` @ 1:15 ? there is no `Option` or `Result`: declare an enum of your own, as in `enum Maybe { Nothing, Just(u8) }`, and `match` it",
        ],
    ),
    (
        "pub fn main(a: u8, b: u8) -> u8 {\n    let v = None;\n    a + b\n}",
        &[
            "there is no variable, constant or function `None` @ 2:13 ? there is no `Option` or `Result`: declare an enum of your own, as in `enum Maybe { Nothing, Just(u8) }`, and `match` it",
        ],
    ),
    (
        "pub fn main(a: [u8; 4], b: u8) -> u8 {\n    let v: Vec<u8> = a;\n    v[0] + b\n}",
        &[
            "expected the end of the type, got `<` @ 2:15 ? use an array `[T; N]`, or a list of at most N values, `[T; ..N]`",
        ],
    ),
    (
        "pub fn main(a: [u8; 4], b: u8) -> u8 {\n    let v = a.to_vec();\n    v[0] + b\n}",
        &["there is no method `to_vec` @ 2:15 ? values are copied wherever they stand: leave it out"],
    ),
    (
        "const fn f() -> u8 { 1 }\npub fn main(a: [u8; 4], b: u8) -> u8 {\n    a[0] + b\n}",
        &[
            "expected the name of a constant, got `fn` @ 1:7 ? leave out `const`: every call is computed where it stands, and constants call only `min` and `max`",
        ],
    ),
];
