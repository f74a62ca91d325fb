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
            "expected `=>`, got `(` @ 2:25 ? only enums of the source have variants: declare one, as in `enum Maybe { Nothing, Just(u8) }`, and write `Maybe::Just(x)`",
        ],
    ),
    (
        "fn f(a: Option<u8>) -> u8 { 1 }\npub fn main(a: u8, b: u8) -> u8 {\n    a + b\n}",
        &[
            "expected the end of the type, got `<` @ 1:15 ? only enums of the source have variants: declare one, as in `enum Maybe { Nothing, Just(u8) }`, and write `Maybe::Just(x)`",
        ],
    ),
    (
        "pub fn main(a: u8, b: u8) -> u8 {\n    let v = None;\n    a + b\n}",
        &[
            "there is no variable, constant or function `None` @ 2:13 ? only enums of the source have variants: declare one, as in `enum Maybe { Nothing, Just(u8) }`, and write `Maybe::Just(x)`",
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
        "enum Answer { Ok(u8), Err(u8) }\npub fn main(a: Answer, b: u8) -> u8 {\n    let v = Ok(b);\n    b\n}",
        &["there is no variable, constant or function `Ok` @ 3:13 ? write `Answer::Ok`"],
    ),
    (
        "struct Box { x: u8 }\npub fn main(a: Box<u8>, b: u8) -> u8 {\n    b\n}",
        &["expected the end of the type, got `<` @ 2:19 ? there are no generics; an array is `[u8; 4]`"],
    ),
    (
        "pub fn main(a: [u8; 4], b: u8) -> u8 {\n    let mut s = b;\n    for i in (0..4).rev() { s += a[i]; }\n    s\n}",
        &["there is no method `rev` @ 3:21 ? count down with an index, as in `for i in 0..N { .. a[N - 1 - i] .. }`"],
    ),
    (
        "#[depth]\nconst fn f() -> u8 { 1 }\npub fn main(a: [u8; 4], b: u8) -> u8 {\n    a[0] + b\n}",
        &[
            "expected the name of a constant, got `fn` @ 2:7 ? leave out `const`: every call is computed where it stands, and constants call only `min` and `max`",
        ],
    ),
    (
        "const fn f() -> u8 { 1 }\npub fn main(a: [u8; 4], b: u8) -> u8 {\n    a[0] + b\n}",
        &[
            "expected the name of a constant, got `fn` @ 1:7 ? leave out `const`: every call is computed where it stands, and constants call only `min` and `max`",
        ],
    ),
];
