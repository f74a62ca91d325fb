//! Mistakes in ranges, numbers, definitions and names, as in the list of all others.

pub(super) const DEFINITIONS: &[(&str, &[&str])] = &[
    (
        "pub fn main(a: u8, b: u8) -> u8 {\n    match a { 9..=3 => b, _ => a }\n}",
        &["this range is empty: 9..=3 @ 2:15 ? put the lower end first"],
    ),
    (
        "pub fn main(a: u8, b: u8) -> u8 {\n    for k in 0..=5000000000u64 { }\n    a\n}",
        &["the range 0..=5000000000 is too long: expected at most 4294967295 numbers, got 5000000001 @ 2:14"],
    ),
    (
        "pub fn main(a: fixed<8, 8>, b: u8) -> bool {\n    a < 128.0\n}",
        &["128.0 is out of range for fixed<8, 8>: expected -32768 / 2^8 to 32767 / 2^8 @ 2:9"],
    ),
    (
        "const N: i16 = 1;\nconst K: i16 = -(N as i16);\npub fn main(a: i16, b: u8) -> i16 {\n    a ^ K\n}",
        &[
            "expected `)`, got `as` @ 2:20 ? a constant is made of numbers, names, PARTY_0::NAME, min(..), max(..), +, -, *, /, % and !",
        ],
    ),
    (
        "pub fn main(a: u8, b: u8) -> u8 {\n    for k in -3..3u8 { }\n    a\n}",
        &["a number of type u8 cannot be negative, got -3 @ 2:14 ? use a signed type, such as i32"],
    ),
    (
        "pub fn main(a: u8, b: u8) -> u8 {\n    if let 3u8 = a { a } else { b }\n}",
        &["expected a condition, got `let` @ 2:8 ? use a `match`"],
    ),
    (
        "fn f<T>(a: T) -> T { a }\npub fn main(a: u8, b: u8) -> u8 { a }",
        &[
            "expected `const`, got `T` @ 1:6 ? only sizes can be left open: `fn sum<const N: usize>(data: [u16; N]) -> u32 { .. }`",
        ],
    ),
    (
        "struct P(u8, u8);\npub fn main(a: u8, b: u8) -> u8 { a }",
        &["expected `{`, got `(` @ 1:9 ? the fields of a struct have names: `struct S { x: u8 }`"],
    ),
    (
        "struct P { x: u8, x: u8 }\npub fn main(a: u8, b: u8) -> u8 { a }",
        &["`x` appears twice @ 1:19 ? rename or remove one of them"],
    ),
    (
        "struct P { x: u8 }\nstruct P { y: u8 }\npub fn main(a: u8, b: u8) -> u8 { a }",
        &["`P` is defined twice @ 2:8 ? rename one of them"],
    ),
    (
        "enum E { A, A(u8) }\npub fn main(a: u8, b: u8) -> u8 { a }",
        &["`A` appears twice @ 1:13 ? rename or remove one of them"],
    ),
    (
        "const N: u8 = 3 << 4;\npub fn main(a: u8, b: u8) -> u8 { a }",
        &[
            "expected `;`, got `<<` @ 1:17 ? a constant is made of numbers, names, PARTY_0::NAME, min(..), max(..), +, -, *, /, % and !",
        ],
    ),
    (
        "const N: u8 = 300;\npub fn main(a: u8, b: u8) -> u8 { a }",
        &["literal out of range for u8: expected 0 to 255, got 300 @ 1:15"],
    ),
    (
        "const N: u8 = M;\npub fn main(a: u8, b: u8) -> u8 { a }",
        &["there is no variable, constant or function `M` @ 1:15"],
    ),
    ("pub fn main(a: [u8; 2 << 2], b: u8) -> u8 { a[0] }", &["expected `]`, got `<<` @ 1:23"]),
    (
        "impl S { }\npub fn main(a: u8, b: u8) -> u8 { a }",
        &["expected a definition, got `impl` @ 1:1 ? there are no methods of your own: write functions"],
    ),
    (
        "type T = u8;\npub fn main(a: u8, b: u8) -> u8 { a }",
        &[
            "expected a definition, got `type` @ 1:1 ? there are no names for types: write the type wherever it is meant",
        ],
    ),
    (
        "pub fn main(a: u8, b: u8) -> u8 {\n    let struct = a;\n    a\n}",
        &["expected a pattern, got `struct` @ 2:9 ? `struct` is reserved: choose another name"],
    ),
    ("pub fn main(a: u8, b: u8) -> u8 {\n    let x = a +;\n    a\n}", &["expected an expression, got `;` @ 2:16"]),
    (
        "pub fn main(a: u8, b: u8) -> u8 {\n    a +\n}\npub fn other(a: u8) -> u8 {\n    a b\n}",
        &["expected an expression, got `}` @ 3:1", "expected `;`, got `b` @ 5:7"],
    ),
    (
        "pub fn main(a: u8, b: u8) -> u8 {\n    a ^ 0x;\n    b\n}",
        &["expected a digit, 0 to 9 or a to f, got `;` @ 2:9 ? as in `0xff`"],
    ),
    (
        "pub fn main(a: u8, b: u8) -> u8 {\n    a ^ 0b12\n}",
        &[
            "expected an integer type as the number's suffix, got `2` @ 2:9 ? integer types are usize, u1 to u4096 and i1 to i4096, as in `u8` or `i256`",
        ],
    ),
    (
        "enum E { }\npub fn main(a: u8, b: u8) -> u8 { a }",
        &[
            "the enum `E` has no values: expected at least 1 variant, got 0 @ 1:6 ? name its variants: `enum E { A, B }`",
        ],
    ),
    (
        "struct u8 { x: bool }\npub fn main(a: bool, b: bool) -> bool { a }",
        &[
            "expected a new name, got the built-in type `u8` @ 1:8 ? choose another name: structs and enums begin with a capital letter",
        ],
    ),
    (
        "pub fn main(a: (u8, u8), b: u8) -> u8 {\n    a.99999999999999999999\n}",
        &["there is no field `99999999999999999999` @ 2:7 ? the first field of a tuple is `.0`"],
    ),
    (
        "pub fn main(a: [(u8, u8); 2], b: u8) -> u8 {\n    join_iter(a, a)[0].0.0\n}",
        &[
            "`join_iter` is not a value: only a `for` loop can iterate over it @ 2:5 ? write `for (x, y) in join_iter(a, b) { .. }`, or `join(a, b)` for an array",
        ],
    ),
    (
        "pub fn main(a: u8, b: u8) -> u8 {\n    match a { 0..=u8::MOST => b, _ => a }\n}",
        &[
            "expected a number, got `u8::MOST` @ 2:19 ? end a range with a number, a constant, or a bound such as `u8::MAX`",
        ],
    ),
    ("const N: u8 = min();\npub fn main(a: u8, b: u8) -> u8 { a }", &["expected at least 1 argument, got 0 @ 1:15"]),
    (
        "fn f(x: u8) -> u8 { x }\nconst N: u8 = sqrt(4);\npub fn main(a: u8, b: u8) -> u8 { a }",
        &[
            "expected `min` or `max`, got `sqrt` @ 2:15 ? a constant is made of numbers, names, PARTY_0::NAME, min(..), max(..), +, -, *, /, % and !",
        ],
    ),
    (
        "pub fn main(a: u32, b: u32) -> u32 {\n    sqr(a)\n}",
        &["there is no variable, constant or function `sqr` @ 2:5 ? did you mean `sqrt`?"],
    ),
    (
        "fn f<const N: u8>(a: u8) -> u8 { a }\npub fn main(a: u8, b: u8) -> u8 { a }",
        &[
            "expected `usize`, got `u8` @ 1:15 ? only sizes can be left open: `fn sum<const N: usize>(data: [u16; N]) -> u32 { .. }`",
        ],
    ),
    (
        "fn f<const N: usize, const N: usize>(a: [u8; N]) -> u8 { a[0] }\npub fn main(a: u8, b: u8) -> u8 { a }",
        &["`N` appears twice @ 1:28 ? rename or remove one of them"],
    ),
    (
        "fn f<const N: usize, const M: usize>(a: [u8; N]) -> u8 { a[0] }\npub fn main(a: [u8; 3], b: u8) -> u8 {\n    f(a)\n}",
        &["the size `M` of `f` does not follow from the arguments @ 3:5 ? state it, as in `f::<3, 8>(..)`"],
    ),
    (
        "fn f<const N: usize>(a: [u8; N]) -> u8 { a[0] }\npub fn main(a: [u8; 3], b: u8) -> u8 {\n    f::<2, 3>(a)\n}",
        &["expected sizes for N, got 2 sizes @ 3:5 ? `_` stands for a size that is inferred"],
    ),
    (
        "fn f<const N: usize>(a: [u8; N]) -> u8 { a[0] }\npub fn main(a: [u8; 3], b: u8) -> u8 {\n    f::<&3>(a)\n}",
        &["expected a size, got `&` @ 3:9 ? state it as in `f::<4>(x)` or `f::<{ N + 1 }>(x)`"],
    ),
    (
        "fn f<const N: usize>(a: [u8; N], b: [u8; N]) -> u8 { a[0] }\npub fn main(a: [u8; 3], b: [u8; 2]) -> u8 {\n    f(a, b)\n}",
        &["expected [u8; 3], got [u8; 2] @ 3:10 ? arrays of different sizes have different types"],
    ),
    (
        "fn f(a: u8) -> u8 { a }\npub fn main(a: u8, b: u8) -> u8 {\n    f::<3>(a) ^ min::<3>(a, b)\n}",
        &[
            "the function `f` is not over sizes @ 3:5 ? leave out `::<..>`",
            "the function `min` is not over sizes @ 3:17 ? leave out `::<..>`",
        ],
    ),
    (
        "fn f<const N: usize>(a: [u8; N]) -> [u8; N] {\n    let mut s = a;\n    s[0] = N;\n    [0; 3]\n}\npub fn main(a: [u8; 2], b: [u8; 4]) -> u8 { f(a)[0] ^ f(b)[0] }",
        &["`f::<2>`: expected u8, got usize @ 3:12 ? convert one of them with `as`"],
    ),
    (
        "fn f<const N: usize>(a: [u8; N], b: [u8; N - 2]) -> u8 { a[0] }\npub fn main(a: [u8; 1], b: u8) -> u8 { f(a, []) }",
        &["`f::<1>`: `N - 2` is out of range for usize: expected 0 to 4294967295, got -1 @ 1:42"],
    ),
    (
        "fn f<const N: usize>(a: [u8; N]) -> u8 { let mut s = 0; for i in 0..N - 2 { s ^= a[i]; } s }\npub fn main(a: [u8; 1], b: u8) -> u8 { f(a) }",
        &["`f::<1>`: `N - 2` is out of range for usize: expected 0 to 4294967295, got -1 @ 1:69"],
    ),
    (
        "pub fn main<const N: usize>(a: [u8; N], b: u8) -> u8 { b }",
        &["the size `N` of `main` is not known @ 1:19 ? make it a constant of a party: `const N: usize = PARTY_0::N;`"],
    ),
    (
        "const N: usize = 3 / (2 - 2);\nconst M: usize = 4 % 0;\npub fn main(a: u8, b: u8) -> u8 { a }",
        &["`3 / (2 - 2)` divides by zero @ 1:18", "`4 % 0` divides by zero @ 2:18"],
    ),
    (
        "const N: fixed<8, 8> = 1.5 * 2.0;\npub fn main(a: u8, b: u8) -> u8 { a }",
        &["expected a constant integer, got fixed<8, 8> @ 1:24"],
    ),
    (
        "#[inline]\nfn f(a: u8) -> u8 { a }\npub fn main(a: u8, b: u8) -> u8 { f(a) }",
        &[
            "expected `#[hex]` or `#[depth]`, got `inline` @ 1:3 ? the only attributes are `#[hex]` and `#[depth]` before a function, for its arrays of u8 in hex and for few layers of AND gates, and `#[derive(..)]`",
        ],
    ),
    (
        "#[hex]\nstruct S { x: [u8; 4] }\npub fn main(a: u8, b: u8) -> u8 { a }",
        &[
            "expected a function, got `struct` @ 2:1 ? the only attributes are `#[hex]` and `#[depth]` before a function, for its arrays of u8 in hex and for few layers of AND gates, and `#[derive(..)]`",
        ],
    ),
    (
        "#hex]\npub fn main(a: u8, b: u8) -> u8 { a }",
        &[
            "expected `[`, got `hex` @ 1:2 ? the only attributes are `#[hex]` and `#[depth]` before a function, for its arrays of u8 in hex and for few layers of AND gates, and `#[derive(..)]`",
        ],
    ),
    (
        "#[depth]\n#[hex]\n#[depth]\npub fn main(a: u8, b: u8) -> u8 { a }",
        &[
            "expected an attribute once, got `depth` @ 3:3 ? the only attributes are `#[hex]` and `#[depth]` before a function, for its arrays of u8 in hex and for few layers of AND gates, and `#[derive(..)]`",
        ],
    ),
];
