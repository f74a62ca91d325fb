//! Mistakes that users make, and what they are told.

mod definitions;
mod elsewhere;

use garblet_circuit::diagnostic::Diagnostic;

use crate::reference::compile;
use definitions::DEFINITIONS;
use elsewhere::ELSEWHERE;

/// Sources, and what is said of each: `MESSAGE @ LINE:COLUMN` and a hint behind `?`.
const MISTAKES: &[(&str, &[&str])] = &[
    ("pub fn main(a: u8, b: u8) -> u8 {\n    let x = a + b\n    x\n}", &["expected `;`, got `x` @ 2:17"]),
    (
        "pub fn main(a: u8, b: u8) -> u8 {\n    while a < b { a }\n}",
        &["expected an expression, got `while` @ 2:5 ? there are only `for` loops, with a known number of iterations"],
    ),
    (
        "pub fn main(a: u8, b: u8) -> u8 {\n    return a;\n}",
        &["expected an expression, got `return` @ 2:5 ? the last expression of a function is its result"],
    ),
    (
        "pub fn main(a: u8, b: u8) -> u8 {\n    if a = b { a } else { b }\n}",
        &["expected `{`, got `=` @ 2:10 ? use `==` to compare"],
    ),
    (
        "pub fn main(a: u8, b: u8) -> u8 {\n    x = a + b;\n    x\n}",
        &[
            "there is no variable, constant or function `x` @ 2:5",
            "there is no variable, constant or function `x` @ 3:5",
        ],
    ),
    (
        "pub fn main(a: u8, b: u8) -> u8 {\n    let x = a;\n    x = b;\n    x\n}",
        &["`x` cannot be changed @ 3:5 ? declare it as `let mut x`"],
    ),
    (
        "pub fn main(a: u8, b: u16) -> u16 {\n    a + b\n}",
        &["incompatible types: u8 and u16 @ 2:5 ? convert one of them with `as`"],
    ),
    (
        "pub fn main(a: u8, b: u8) -> u8 {\n    a + 300\n}",
        &["literal out of range for u8: expected 0 to 255, got 300 @ 2:9"],
    ),
    (
        "pub fn main(a: u8, b: u8) -> u16 {\n    a + b\n}",
        &["expected u16, got u8 @ 2:5 ? convert one of them with `as`"],
    ),
    (
        "pub fn main(a: u8, b: u8) {\n    a + b\n}",
        &["expected `->`, got `{` @ 1:27 ? a function must have a result: `fn main(..) -> u8 { .. }`"],
    ),
    (
        "pub fn main(a: u8, b: u8) -> u8 {\n    let count = a;\n    cuont + b\n}",
        &["there is no variable, constant or function `cuont` @ 3:5 ? did you mean `count`?"],
    ),
    (
        "pub fn main(a: [u8; 4], b: u8) -> u8 {\n    a.len()\n}",
        &["expected u8, got usize @ 2:5 ? convert one of them with `as`"],
    ),
    (
        "pub fn main(a: [u8; 4], b: u8) -> u8 {\n    a.swap(0, 1)\n}",
        &[
            "there is no method `swap` @ 2:7 ? arrays and lists have len, lists push, and numbers abs, abs_diff, copysign, cos, count_ones, count_zeros, exp, is_finite, is_infinite, is_nan, is_sign_negative, is_sign_positive, isqrt, leading_zeros, ln, max, min, mul_add, pow, rotate_left, rotate_right, saturating_add, saturating_sub, sin, sqrt, to_bits, trailing_zeros, unsigned_abs, wrapping_add, wrapping_mul, wrapping_neg, wrapping_sub; else call a function, `f(x)`",
        ],
    ),
    (
        "pub fn main(a: [u8; ..4], b: u8) -> u8 {\n    let x = a.push(b);\n    b\n}",
        &["`push` has no value @ 2:13 ? it is a statement: `list.push(x);`"],
    ),
    (
        "pub fn main(a: [u8; ..4], b: u8) -> u8 {\n    a.push(b);\n    b\n}",
        &["`a` cannot be changed @ 2:5 ? declare it as `let mut a`"],
    ),
    (
        "pub fn main(mut a: [u8; 4], b: u8) -> u8 {\n    a.push(b);\n    b\n}",
        &["expected a list such as `[u8; ..8]`, got [u8; 4] @ 2:5"],
    ),
    (
        "pub fn main(mut a: [u8; ..4], b: u16) -> u16 {\n    a.push(b);\n    b\n}",
        &["expected u8, got u16 @ 2:12 ? convert one of them with `as`"],
    ),
    (
        "pub fn main(a: [u8; ..4], b: u8) -> [u8; ..4] {\n    [b, 1, 2, 3, 4]\n}",
        &["expected at most 4 elements, got 5 @ 2:5"],
    ),
    (
        "pub fn main(a: [u8; ..4], b: u8) -> u8 {\n    let x = [];\n    b\n}",
        &[
            "the type of the elements of this empty array is not known @ 2:13 ? state it: `let x: [u8; 0] = [];`, or `let mut list: [u8; ..8] = [];`",
        ],
    ),
    (
        "pub fn main(a: [u8; ..0], b: u8) -> u8 {\n    b\n}",
        &[
            "expected a list with room for at least one element, got room for 0 @ 1:1 ? remove it: a list without room is always empty",
        ],
    ),
    (
        "pub fn main(a: [u8; ..4], b: [u8; 4]) -> bool {\n    a == b\n}",
        &["incompatible types: [u8; ..4] and [u8; 4] @ 2:5 ? arrays of different sizes have different types"],
    ),
    (
        "pub fn main(a: [u8; ..4], b: u8) -> u8 {\n    match a { x => b }\n}",
        &["a value of type [u8; ..4] cannot be matched @ 2:5 ? match its elements, one by one or in a tuple"],
    ),
    (
        "pub fn main(a: [(u8, u8); ..4], b: [(u8, u8); 4]) -> u8 {\n    for (x, y) in join_iter(a, b) { }\n    1\n}",
        &["expected an array, got [(u8, u8); ..4] @ 2:29"],
    ),
    (
        "pub fn main(a: u8, b: u8) -> u8 {\n    let mut l: [u8; ..2] = [a, b];\n    l.push(a);\n    b\n}",
        &["this always panics: no room in a list @ 3:5"],
    ),
    (
        "pub fn main(a: [u8; ..], b: u8) -> u8 {\n    b\n}",
        &[
            "expected a size, got `]` @ 1:23 ? a size is a number, a `const` of type usize, or computed from them, as in `N + 1`",
        ],
    ),
    (
        "pub fn main(a: [u8; 4], b: u8) -> u8 {\n    let mut s = 0u8;\n    for k in 0..b { s += a[k]; }\n    s\n}",
        &[
            "`b` is not a constant @ 3:17 ? the length of a loop must be known: loop up to the largest possible value, with an `if` inside",
        ],
    ),
    (
        "pub fn main(a: [u8; 4], b: u8) -> u8 {\n    a[b]\n}",
        &["expected usize, got u8 @ 2:7 ? convert one of them with `as`"],
    ),
    (
        "pub fn main(a: [u8; 4], b: u8) -> u8 {\n    a[1..3][0]\n}",
        &[
            "expected one index, got a range @ 2:7 ? there are no slices: take the elements one by one, for instance in a loop",
        ],
    ),
    (
        "pub fn main(a: [u8; 4], b: u8) -> u8 {\n    let mut c = a;\n    c[1..3] = [b, b];\n    c[0]\n}",
        &[
            "expected one index, got a range @ 3:7 ? there are no slices: take the elements one by one, for instance in a loop",
        ],
    ),
    ("pub fn main(a: u8, b: u8) -> u8 {\n    sort(a)\n}", &["expected an array, got u8 @ 2:10"]),
    (
        "struct Row { key: u8 }\npub fn main(a: [Row; 4], b: u8) -> [Row; 4] {\n    sort(a)\n}",
        &[
            "expected rows that are numbers or tuples, got Row @ 3:10 ? put the sort key first, as in `(row.price, row)`",
        ],
    ),
    (
        "pub fn main(a: [([u8; ..2], u8); 4], b: u8) -> u8 {\n    sort(a)[0].1\n}",
        &[
            "expected a sort key that has an order, got one with a list, an enum with fields or a floating-point number @ 2:5 ? put an integer or a fixed-point number first, as in `(row.price, row)`",
        ],
    ),
    ("pub fn main(a: [u8; 4], b: u8) -> [u8; 4] {\n    sort(a, b)\n}", &["expected 1 argument, got 2 @ 2:5"]),
    ("pub fn main(a: [u8; 4], b: u8) -> u8 {\n    sort(a)[4]\n}", &["this always panics: index out of bounds @ 2:5"]),
    (
        "pub fn main(a: [(u8, u8); 4], b: u8) -> [u8; ..4] {\n    keep(a)\n}",
        &[
            "expected tuples that begin with a bool, got (u8, u8) @ 2:10 ? the first field says which rows to keep, as in `(x > 5, x)`",
        ],
    ),
    (
        "pub fn main(a: [(bool, u8); 4], b: u8) -> [u8; 4] {\n    keep(a)\n}",
        &["expected [u8; 4], got [u8; ..4] @ 2:5 ? arrays of different sizes have different types"],
    ),
    (
        "pub fn main(a: Vec<u8>, b: u8) -> u8 {\n    b\n}",
        &[
            "expected the end of the type, got `<` @ 1:19 ? use an array `[T; N]`, or a list of at most N values, `[T; ..N]`",
        ],
    ),
    (
        "pub fn main(a: &[u8], b: u8) -> u8 {\n    b\n}",
        &["expected a type, got `&` @ 1:16 ? values are copied, there are no references"],
    ),
    ("pub fn main(a: f128, b: u8) -> u8 {\n    b\n}", &["there is no type `f128` @ 1:16 ? use f64"]),
    (
        "pub fn main(a: u8, b: u8) -> u8 {\n    println!(\"{}\", a);\n    b\n}",
        &[
            "expected a name, a number or a symbol, got `\"` @ 2:14 ? there are no strings, characters or macros; text is an array of u8",
        ],
    ),
    (
        "pub fn main(a: u8, b: u8) -> u8 {\n    println!(a);\n    b\n}",
        &["expected `;`, got `!` @ 2:12 ? there are no macros"],
    ),
    (
        "enum E { A, B(u8) }\npub fn main(a: E, b: u8) -> u8 {\n    match a { E::A => b }\n}",
        &["this `match` does not cover `E::B(_)` @ 3:5 ? add the missing patterns, or `_ => ...`"],
    ),
    (
        "enum E { A, B(u8) }\npub fn main(a: E, b: u8) -> u8 {\n    match a { E::A => b, E::B => 1u8 }\n}",
        &["this variant has fields @ 3:26 ? write them in brackets after it"],
    ),
    (
        "enum E { A, B(u8) }\npub fn main(a: E, b: u8) -> u8 {\n    match a { E::A => b, E::C => 1u8 }\n}",
        &["the enum `E` has no variant `C` @ 3:26 ? it has: A, B(..)"],
    ),
    (
        "struct S { x: u8, y: u8 }\npub fn main(a: S, b: u8) -> u8 {\n    a.z\n}",
        &["the struct `S` has no field `z` @ 3:5 ? it has: x, y"],
    ),
    (
        "struct S { x: u8, y: u8 }\npub fn main(a: u8, b: u8) -> S {\n    S { x: a }\n}",
        &["the field `y` of `S` is missing @ 3:5 ? in a pattern, `..` stands for all others"],
    ),
    (
        "enum E { A { x: u8, y: u8 }, B(u8) }\npub fn main(a: E, b: u8) -> u8 {\n    match a { E::A { x, .. } => x, E::A { y: 1, x } => x }\n}",
        &["this `match` does not cover `E::B(_)` @ 3:5 ? add the missing patterns, or `_ => ...`"],
    ),
    (
        "enum E { A { x: u8, y: u8 }, B(u8) }\npub fn main(a: E, b: u8) -> u8 {\n    match a { E::A { x: 1, .. } => b, E::B(_) => b }\n}",
        &[
            "this `match` does not cover `E::A { x: 0u8, .. }`, `E::A { x: 2u8..=255u8, .. }` @ 3:5 ? add the missing patterns, or `_ => ...`",
        ],
    ),
    (
        "enum E { A { x: u8, y: u8 }, B(u8) }\npub fn main(a: E, b: u8) -> u8 {\n    match a { E::A { x } => x, E::B(_) => b }\n}",
        &["the field `y` of `E::A` is missing @ 3:15 ? in a pattern, `..` stands for all others"],
    ),
    (
        "enum E { A { x: u8, y: u8 }, B(u8) }\npub fn main(a: u8, b: u8) -> E {\n    E::A { x: a, z: b }\n}",
        &[
            "`E::A` has no field `z` @ 3:5 ? it has: x, y",
            "the field `y` of `E::A` is missing @ 3:5 ? in a pattern, `..` stands for all others",
        ],
    ),
    (
        "enum E { A { x: u8, y: u8 }, B(u8) }\npub fn main(a: u8, b: u8) -> E {\n    if a == b { E::A(a, b) } else { E::B { x: a } }\n}",
        &[
            "the fields of this variant have names @ 3:17 ? write E::A { x, y }",
            "the fields of this variant have no names @ 3:37 ? write E::B(..)",
        ],
    ),
    (
        "enum E { A { }, B(u8) }\npub fn main(a: u8, b: u8) -> E {\n    E::B(a)\n}",
        &["the variant `A` has no fields @ 1:10 ? leave out the braces after it"],
    ),
    (
        "enum E { A { x: u8, x: u8 }, B(u8) }\npub fn main(a: u8, b: u8) -> E {\n    E::B(a)\n}",
        &["`x` appears twice @ 1:21 ? rename or remove one of them"],
    ),
    (
        "pub fn main(a: u128, b: u8) -> u128 {\n    a + 340282366920938463463374607431768211456\n}",
        &[
            "literal out of range for u128: expected 0 to 340282366920938463463374607431768211455, got 340282366920938463463374607431768211456 @ 2:9",
        ],
    ),
    (
        "pub fn main(a: i128, b: u8) -> i128 {\n    a + 170141183460469231731687303715884105728 + (b as u128)\n}",
        &["incompatible types: i128 and u128 @ 2:5 ? convert one of them with `as`"],
    ),
    ("pub fn main(a: u8, b: u8) -> u8 {\n    f(a, b)\n}", &["there is no variable, constant or function `f` @ 2:5"]),
    (
        "fn f(a: u8) -> u8 { a }\npub fn main(a: u8, b: u8) -> u8 {\n    f(a, b)\n}",
        &["expected 1 argument, got 2 @ 3:5"],
    ),
    // That a function is never called is what follows from a call that is wrong.
    (
        "fn total(a: u8) -> u8 { let totl = a; totl }\npub fn main(a: u8, b: u8) -> u8 {\n    totl(a) + b\n}",
        &["there is no variable, constant or function `totl` @ 3:5 ? did you mean `total`?"],
    ),
    (
        "fn helper(a: u8) -> u8 { a }\npub fn main(a: u8, b: u8) -> u8 {\n    helpr(a) + b\n}",
        &["there is no variable, constant or function `helpr` @ 3:5 ? did you mean `helper`?"],
    ),
    ("fn main(a: u8, b: u8) -> u8 {\n    a\n}", &["`main` is not public @ 1:1 ? write `pub fn main(..)`"]),
    (
        "pub fn main(a: u8, b: u8) -> u8 {\n    if a { b } else { a }\n}",
        &["expected bool, got u8 @ 2:8 ? compare it, as in `x != 0u8`"],
    ),
    (
        "pub fn main(a: u8, b: u8) -> u8 {\n    if a < b { b }\n}",
        &["incompatible types: u8 and () @ 2:5 ? the value is the last expression; an `if` without `else` has none"],
    ),
    (
        "pub fn main(a: u8, b: u8) -> u8 {\n    a < b < 3\n}",
        &["comparisons cannot be chained @ 2:11 ? write `a < b && b < c`, or `(a < b) == c`"],
    ),
    ("pub fn main(a: u8, b: u8) -> u8 {\n    let x = (a + b;\n    x\n}", &["expected `,` or `)`, got `;` @ 2:19"]),
    (
        "pub fn main(a: u8, b: u8) -> u8 {\n    let x = a + b;\n    x\n",
        &["this `{` is never closed @ 1:33 ? end the block with `}`"],
    ),
    (
        "pub fn main(a: u8, b: u8) -> u8 {\n    let x: [u8; 3] = [1, 2];\n    x[0]\n}",
        &["expected [u8; 3], got [integer; 2] @ 2:22 ? arrays of different sizes have different types"],
    ),
    (
        "const N: usize = 4;\npub fn main(a: [u8; N], b: u8) -> u8 {\n    let x: [u8; 3] = a;\n    x[0]\n}",
        &["expected [u8; 3], got [u8; 4] @ 3:22 ? arrays of different sizes have different types"],
    ),
    (
        "pub fn main(a: [u8; n], b: u8) -> u8 {\n    a[0]\n}",
        &["a size must be constant, and `n` is not @ 1:21 ? declare it: `const n: usize = ...;`"],
    ),
    (
        "pub fn main(a: u8, b: u8) -> u8 {\n    let n = 3usize;\n    let x = [0u8; n];\n    x[0]\n}",
        &["a size must be constant, and `n` is not @ 3:19 ? declare it: `const n: usize = ...;`"],
    ),
    (
        "pub fn main(a: u8, b: u8) -> u8 {\n    a + 1.5\n}",
        &[
            "incompatible types: u8 and a decimal number @ 2:5 ? write the number without a point, or convert the integer, as in `x as f64`",
        ],
    ),
    (
        "pub fn main(a: fixed<8, 8>, b: u8) -> fixed<8, 8> {\n    a * 2\n}",
        &["incompatible types: fixed<8, 8> and an integer @ 2:5 ? write the number with a decimal point, as in `2.0`"],
    ),
    (
        "pub fn main(a: fixed<8, 8>, b: fixed<16, 16>) -> fixed<8, 8> {\n    a * b\n}",
        &["incompatible types: fixed<8, 8> and fixed<16, 16> @ 2:5 ? convert one of them with `as`"],
    ),
    (
        "pub fn main(a: fixed<8, 8>, b: u8) -> fixed<8, 8> {\n    a + 128.0\n}",
        &["128.0 is out of range for fixed<8, 8>: expected -32768 / 2^8 to 32767 / 2^8 @ 2:9"],
    ),
    (
        "pub fn main(a: f64, b: u8) -> f64 {\n    a % 1.5\n}",
        &["f64 has no `%` @ 2:5 ? convert to integers first, as in `(x as i64) % (y as i64)`"],
    ),
    (
        "pub fn main(a: fixed<8, 8>, b: u8) -> fixed<8, 8> {\n    (a << b) & a\n}",
        &["expected an integer, got fixed<8, 8> @ 2:6"],
    ),
    (
        "pub fn main(a: fixed<8, 8>, b: u8) -> fixed<8, 8> {\n    !a\n}",
        &["expected a bool or an integer, got fixed<8, 8> @ 2:6"],
    ),
    (
        "pub fn main(a: fixed<8, 8>, b: u8) -> u8 {\n    match a { x => b }\n}",
        &["a value of type fixed<8, 8> cannot be matched @ 2:5 ? compare it with `if`"],
    ),
    (
        "pub fn main(a: (fixed<8, 8>, u8), b: u8) -> u8 {\n    match a { (1.5, _) => b, (_, y) => y }\n}",
        &["expected a pattern, got the number 1.5 @ 2:16 ? compare decimal numbers with `if`"],
    ),
    (
        "pub fn main(a: fixed<8>, b: u8) -> u8 {\n    b\n}",
        &[
            "expected `,`, got `>` @ 1:23 ? `fixed<16, 16>` has 16 bits before the point, including the sign, and 16 after it",
        ],
    ),
    (
        "pub fn main(a: fixed<0, 8>, b: fixed<100, 29>) -> u8 {\n    b\n}",
        &[
            "expected at least 1 bit before the point, for the sign, got 0 @ 1:16 ? `fixed<16, 16>` has 16 bits before the point, including the sign, and 16 after it",
        ],
    ),
    (
        "pub fn main(a: fixed<100, 29>, b: u8) -> u8 {\n    b\n}",
        &[
            "this type is too wide: expected at most 128 bits, got 129 @ 1:16 ? `fixed<16, 16>` has 16 bits before the point, including the sign, and 16 after it",
        ],
    ),
    (
        "pub fn main(a: i32, b: u8) -> i32 {\n    sqrt(a)\n}",
        &["expected an unsigned or fixed-point number, got i32 @ 2:5 ? convert it first, as in `sqrt(x as u32)`"],
    ),
    (
        "pub fn main(a: i32, b: u8) -> i32 {\n    min(a) + max(a, b)\n}",
        &["expected 2 arguments, got 1 @ 2:5", "incompatible types: i32 and u8 @ 2:14 ? convert one of them with `as`"],
    ),
    (
        "pub fn main(a: f64, b: f64) -> f64 {\n    if a { b } else { 1.0 }\n}",
        &["expected bool, got f64 @ 2:8 ? compare it, as in `x != 0.0`"],
    ),
    (
        "pub fn main(a: f64, b: f64) -> f64 {\n    f64::PI\n}",
        &[
            "there is no enum `f64` @ 2:5 ? its constants are MAX, MIN, MIN_POSITIVE, EPSILON, INFINITY, NEG_INFINITY and NAN",
        ],
    ),
    (
        "pub fn main(a: f64, b: f64) -> bool {\n    a as bool\n}",
        &["f64 cannot be converted to bool @ 2:5 ? compare it: `x != 0.0`"],
    ),
    (
        "pub fn main(a: u8, b: u8) -> u8 {\n    1.5u8 + a\n}",
        &[
            "expected f16, bf16, f32 or f64 as the suffix of a decimal number, got `u8` @ 2:5 ? write `1.5`, and convert it with `as` where you need another type",
        ],
    ),
    (
        "pub fn main(a: u8, b: u8) -> i8 {\n    -a\n}",
        &["expected a signed number, got u8 @ 2:6 ? convert it first, as in `-(x as i32)`"],
    ),
    (
        "pub fn main(a: u8, b: u8) -> u8 {\n    let x = b as u0;\n    x\n}",
        &["there is no type `u0` @ 2:18 ? integer types are usize, u1 to u4096 and i1 to i4096, as in `u8` or `i256`"],
    ),
    (
        "pub fn main(a: u5000, b: i07) -> u8 {\n    0\n}",
        &[
            "there is no type `u5000` @ 1:16 ? integer types are usize, u1 to u4096 and i1 to i4096, as in `u8` or `i256`",
            "there is no type `i07` @ 1:26 ? integer types are usize, u1 to u4096 and i1 to i4096, as in `u8` or `i256`",
        ],
    ),
    (
        "pub fn main(a: u256, b: u8) -> u256 {\n    a + 1u07\n}",
        &[
            "expected an integer type as the number's suffix, got `u07` @ 2:9 ? integer types are usize, u1 to u4096 and i1 to i4096, as in `u8` or `i256`",
        ],
    ),
    (
        "pub fn main(a: u256, b: u8) -> i256 {\n    -0x8000000000000000000000000000000000000000000000000000000000000001\n}",
        &[
            "literal out of range for i256: expected -2^255 to 2^255 - 1, got -578960446186580977117854925043439539... @ 2:5",
        ],
    ),
    (
        "pub fn main(a: u256, b: u8) -> u8 {\n    match a {\n        0..=7 => b,\n    }\n}",
        &["this `match` does not cover `8u256..=u256::MAX` @ 2:5 ? add the missing patterns, or `_ => ...`"],
    ),
    (
        "struct u9 { x: u8 }\npub fn main(a: u8, b: u8) -> u8 {\n    a\n}",
        &[
            "expected a new name, got the built-in type `u9` @ 1:8 ? choose another name: structs and enums begin with a capital letter",
        ],
    ),
    ("pub fn main(a: u8, b: u8) -> u8 {\n    a << (b == 1)\n}", &["expected a number, got bool @ 2:10"]),
    (
        "pub fn main(a: u8, b: u8) -> u8 {\n    let 1u8 = a;\n    b\n}",
        &["this pattern does not match every value @ 2:9 ? use a `match`"],
    ),
    (
        "pub fn main(a: u8, b: u8) -> u8 {\n    match a { 300 => 1u8, _ => b }\n}",
        &["literal out of range for u8: expected 0 to 255, got 300 @ 2:15"],
    ),
    (
        "pub fn main(a: u8, b: u8) -> u8 {\n    match a { 3u16 => 1u8, _ => b }\n}",
        &["expected u8, got u16 @ 2:15 ? convert one of them with `as`"],
    ),
    (
        "pub fn main(a: i8, b: u8) -> u8 {\n    match a { -128..=-3 => 1u8, 0..=127 => b }\n}",
        &["this `match` does not cover `-2i8..=-1i8` @ 2:5 ? add the missing patterns, or `_ => ...`"],
    ),
    (
        "pub fn main(a: u8, b: u8) -> u8 {\n    match (a, b) { (0..=9, 1) => 1u8, (3, _) => b }\n}",
        &[
            "this `match` does not cover `(0u8..=2u8, 0u8)`, `(0u8..=2u8, 2u8..=255u8)`, `(4u8..=9u8, 0u8)` and 2 more @ 2:5 ? add the missing patterns, or `_ => ...`",
        ],
    ),
    (
        "pub fn main(a: (u8, u8), b: u8) -> u8 {\n    a.2\n}",
        &["there is no field 2: the tuple has 2 fields @ 2:5 ? the first one is `.0`"],
    ),
    ("pub fn main(a: u8, a: u8) -> u8 {\n    a\n}", &["`a` appears twice @ 1:20 ? rename or remove one of them"]),
    ("fn main(a: u8, b: u8) -> u8 {\n    a\n}", &["`main` is not public @ 1:1 ? write `pub fn main(..)`"]),
    (
        "use std::io;\npub fn main(a: u8, b: u8) -> u8 {\n    a\n}",
        &["expected a definition, got `use` @ 1:1 ? a source is a single file"],
    ),
    (
        "pub fn main(a: u8, b: u8) -> u8 {\n    let mut i = 0;\n    i = i + a;\n    let j: u16 = i;\n    i\n}",
        &["expected u16, got u8 @ 4:18 ? convert one of them with `as`"],
    ),
    (
        "pub fn main(a: u8, b: u8) -> bool {\n    let k = 3000000000;\n    k > 1\n}",
        &[
            "literal out of range for i32: expected -2147483648 to 2147483647, got 3000000000 @ 2:13 ? an integer is i32 by default: give it a type suffix, as in `3000000000u64`",
        ],
    ),
    ("pub fn main(a: u8, b: u8) -> u8 {\n    a + b;\n}", &["expected u8, got () @ 2:5 ? remove this semicolon"]),
    (
        "pub fn main(a: u8, b: u8) -> u8 {\n    let mut s = a;\n    s += b;\n}",
        &["expected u8, got () @ 3:5 ? this has no value: write the value after it, without a semicolon"],
    ),
    (
        "pub fn main(a: u8, b: u8) -> u8 {\n    if a > b { a; } else { b; }\n}",
        &["expected u8, got () @ 2:16 ? remove this semicolon"],
    ),
    (
        "pub fn main(a: u8, b: u8) -> u8 {\n    if a > b { a } else { b }\n    1\n}",
        &["expected (), got u8 @ 2:5 ? this value is not used: add a semicolon after it"],
    ),
    (
        "pub fn main(a: u8, b: u8) -> u8 {\n    let x: u8 = (a,);\n    b\n}",
        &["expected u8, got (u8,) @ 2:17 ? a type in parentheses is the type itself; a one-element tuple is `(u8,)`"],
    ),
    (
        "const N: u8 = 3;\npub fn main(a: u8, b: u8) -> u8 {\n    let N = a;\n    b\n}",
        &["`N` is a constant, declared in line 1: no variable can have its name @ 3:9 ? rename the variable"],
    ),
    (
        "pub fn main(a: u8, b: u8) -> u8 {\n    a + true\n}",
        &["incompatible types: u8 and bool @ 2:5 ? convert it with `as`"],
    ),
    (
        "pub fn main(a: u8, b: bool) -> bool {\n    a && b\n}",
        &["expected bool, got u8 @ 2:5 ? compare it, as in `x != 0u8`"],
    ),
    (
        "struct S { s: S }\npub fn main(a: u8, b: u8) -> u8 { a }",
        &["the type `S` contains itself @ 1:1 ? a value has a fixed size: use an array"],
    ),
    (
        "fn f(a: u8) -> u8 { g(a) }\nfn g(a: u8) -> u8 { f(a) }\npub fn main(a: u8) -> u8 { f(a) }",
        &[
            "the function `f` is recursive: it calls itself, directly or through others @ 2:21 ? use a loop over a known range",
        ],
    ),
    ("pub fn main(a: u8, b: u8) -> u8 {\n    0u8 - 1u8\n}", &["this always panics: arithmetic overflow @ 2:5"]),
    ("pub fn main(a: [u8; 3], b: usize) -> u8 {\n    a[3]\n}", &["this always panics: index out of bounds @ 2:5"]),
    (
        "pub fn main(a: u8, b: u8) -> (u8, u8) {\n    let (x, y, z) = (a, b);\n    (x, y)\n}",
        &["expected 2 fields, got 3 @ 2:9"],
    ),
    (
        "pub fn main(a: u8, b: u8) -> u8 {\n    let f = |x| x;\n    a\n}",
        &["expected an expression, got `|` @ 2:13 ? there are no closures"],
    ),
    ("pub fn main(a: [u8; 4], b: u8) -> u8 {\n    a[0\n}", &["expected `]`, got `}` @ 2:7"]),
    ("pub fn main(a: u8, b: u8) -> u8 {\n    a)\n}", &["expected `;`, got `)` @ 2:6"]),
    (
        "pub fn main(a: u8, b: u8) -> u8 {\n    a\n}}",
        &["expected a definition, got `}` @ 3:2 ? is there an extra `}` before it?"],
    ),
    (
        "pub fn main(a: u8, b: u8) -> u8 {\n    let x;\n    a\n}",
        &["expected `=`, got `;` @ 2:10 ? a variable has a value from the beginning"],
    ),
    (
        "pub fn main(a: u8, b: u8) -> u8 {\n    a + b = 3;\n    a\n}",
        &[
            "cannot assign to the expression before this sign @ 2:11 ? assign to a variable, or to an element `a[k]` or a field `s.x` of one; use `==` to compare",
        ],
    ),
    (
        "pub fn main(a: u8, b: u8) -> u8 {\n    match a { 0 | 1 => b, _ => a }\n}",
        &["expected the end of the pattern, got `|` @ 2:17 ? write an arm for each pattern"],
    ),
    (
        "pub fn main(a: u8, b: u8) -> u8 {\n    match a { x if x > 3 => b, _ => a }\n}",
        &["expected `=>`, got `if` @ 2:17 ? arms have no conditions: use an `if` inside the arm"],
    ),
];

fn line(d: &Diagnostic) -> String {
    let place = d.place.as_ref().map_or(String::new(), |p| format!(" @ {}:{}", p.line, p.column));
    let hint = d.hint.as_ref().map_or(String::new(), |hint| format!(" ? {hint}"));
    format!("{}{place}{hint}", d.message)
}

#[test]
fn mistakes_are_explained() {
    let mut wrong = String::new();
    for (text, expected) in MISTAKES.iter().chain(DEFINITIONS).chain(ELSEWHERE) {
        let told: Vec<String> = match compile(text, &[], true) {
            Ok(_) => Vec::new(),
            Err(error) => error.iter().map(line).collect(),
        };
        if told != *expected {
            wrong += &format!("{text}\n  expected {expected:#?}\n  got {told:#?}\n");
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
}

/// It is none of the program, but not wrong either.
#[test]
fn functions_that_are_never_called_are_warnings() {
    let main = "pub fn main(a: u8, b: u8) -> u8 {\n    a ^ b\n}";
    let unused = ["fn f(a: u8) -> u8 { g(a) }\nfn g(a: u8) -> u8 { a }\n", main].concat();
    let program = compile(&unused, &[], true).expect("a program");
    let told: Vec<String> = program.notes().warnings.iter().map(line).collect();
    assert_eq!(
        told,
        [
            "the function `f` is never called @ 1:1 ? call `f`, make it `pub`, or remove it",
            "the function `g` is never called @ 2:1 ? call `g`, make it `pub`, or remove it",
        ]
    );
    let without = compile(main, &[], true).expect("a program");
    assert_eq!(program.digest(), without.digest());
    assert!(without.notes().warnings.is_empty());
}
