//! Sources that `rustc` refuses: what is in our message, and what is in its.

pub(super) const REFUSED: &[(&str, &str, &str)] = &[
    // `[]` without a type, or of two.
    (
        "pub fn main(a: u8, b: u8) -> u8 { let x = ([], a); x.1 ^ b }",
        "the type of the elements of this empty array is not known",
        "type annotations needed",
    ),
    (
        "pub fn main(a: u8, b: u8) -> u8 { let e = []; let f: [u8; 0] = e; let g: [u16; 0] = e; a ^ b }",
        "expected [u16; 0], got [u8; 0]",
        "mismatched types",
    ),
    (
        "pub fn main(a: u8, b: u8) -> u8 { let x = []; let y = [x; 0]; let z = [x, y]; a ^ b }",
        "expected [something; 0], got [[something; 0]; 0]",
        "overflow evaluating the requirement",
    ),
    // Variables and constants hide functions.
    (
        "pub fn main(a: u8, b: u8) -> u8 { let max = a; max(a, b) }",
        "expected a function, got the variable `max`",
        "expected function, found `u8`",
    ),
    (
        "fn f(a: u8) -> u8 { a }\npub fn main(a: u8, b: u8) -> u8 { let x = { let f = a; f }; let f = b; f(x) }",
        "expected a function, got the variable `f`",
        "expected function, found `u8`",
    ),
    (
        "const max: u8 = 3;\npub fn main(a: u8, b: u8) -> u8 { max(a, b) }",
        "expected a function, got the constant `max`",
        "expected function, found `u8`",
    ),
    (
        "fn max(a: usize, b: usize) -> usize { a }\nconst N: usize = max(1, 2);\npub fn main(a: [u8; N], b: u8) -> u8 { a[0] ^ b }",
        "expected a constant, got a call of the function `max`",
        "cannot call non-const function",
    ),
    // Constants of any type.
    (
        "const T: [u8; 2] = [1, 2];\npub fn main(a: u8, b: u8) -> u8 { T(a) ^ b }",
        "expected a function, got the constant `T`",
        "expected function, found `[u8; 2]`",
    ),
    (
        "const T: [u8; 3] = [1, 2];\npub fn main(a: u8, b: u8) -> u8 { a ^ b }",
        "expected [u8; 3], got [integer; 2]",
        "mismatched types",
    ),
    (
        "const T: [u8; 2] = [1, 300];\npub fn main(a: u8, b: u8) -> u8 { T[0] ^ a ^ b }",
        "literal out of range for u8: expected 0 to 255, got 300",
        "literal out of range for `u8`",
    ),
    (
        "const T: [u8; 2] = [1, N + 1];\nconst N: u8 = 255;\npub fn main(a: u8, b: u8) -> u8 { T[0] ^ a ^ b }",
        "this always panics: arithmetic overflow",
        "attempt to compute `u8::MAX + 1_u8`, which would overflow",
    ),
    (
        "const T: [u8; 2] = [1, N + 1];\nconst N: u8 = 255;\npub fn main(a: u8, b: u8) -> u8 { a ^ b }",
        "this always panics: arithmetic overflow",
        "attempt to compute `u8::MAX + 1_u8`, which would overflow",
    ),
    (
        "const A: [u8; 1] = B;\nconst B: [u8; 1] = [A[0]];\npub fn main(a: u8, b: u8) -> u8 { A[0] ^ a ^ b }",
        "the constant `A` contains itself",
        "cycle detected when",
    ),
    (
        "const T: [u8; 2] = [1, a];\npub fn main(a: u8, b: u8) -> u8 { T[0] ^ a ^ b }",
        "there is no variable, constant or function `a`",
        "cannot find value `a`",
    ),
    (
        "const T: [u8; 2] = [1, 2];\nconst T: u8 = 1;\npub fn main(a: u8, b: u8) -> u8 { T ^ b }",
        "`T` is defined twice",
        "the name `T` is defined multiple times",
    ),
    (
        "const T: [u8; 2] = [1, 2];\npub fn main(a: u8, b: u8) -> u8 { let T = a; T ^ b }",
        "expected a pattern, got the constant `T`",
        "mismatched types",
    ),
    // Literals that do not fit.
    (
        "pub fn main(a: u8, b: u8) -> (bool, u8, u16) { let k = 300; let y: u8 = k; (y > 255u8, y ^ a, (y as u16) ^ (b as u16)) }",
        "literal out of range for u8: expected 0 to 255, got 300",
        "literal out of range for `u8`",
    ),
    (
        "pub fn main(a: u8, b: u8) -> bool { 5000000000 > 3000000000 }",
        "literal out of range for i32",
        "literal out of range for `i32`",
    ),
    (
        "pub fn main(a: u8, b: u8) -> u64 { (5000000000 | 1) as u64 }",
        "literal out of range for i32",
        "literal out of range for `i32`",
    ),
    ("pub fn main(a: u8, b: u8) -> u8 { 300 as u8 }", "literal out of range for u8", "literal out of range for `u8`"),
    (
        "pub fn main(a: u8, b: u8) -> u8 { -1 as u8 }",
        "a number of type u8 cannot be negative, got -1",
        "cannot apply unary operator `-` to type `u8`",
    ),
    (
        "pub fn main(a: u8, b: u8) -> u64 { (if a > b { 5000000000 } else { 1 }) as u64 }",
        "literal out of range for i32",
        "literal out of range for `i32`",
    ),
    ("pub fn main(a: u8, b: u8) -> u8 { a + 300 }", "literal out of range for u8", "literal out of range for `u8`"),
    ("pub fn main(a: u8, b: u8) -> u8 { a + 256u8 }", "literal out of range for u8", "literal out of range for `u8`"),
    ("pub fn main(a: i8, b: u8) -> i8 { a + 128 }", "literal out of range for i8", "literal out of range for `i8`"),
    ("pub fn main(a: i8, b: u8) -> i8 { a + 128i8 }", "literal out of range for i8", "literal out of range for `i8`"),
    ("pub fn main(a: i8, b: u8) -> i8 { -129 + a }", "literal out of range for i8", "literal out of range for `i8`"),
    (
        "pub fn main(a: i8, b: u8) -> i8 { -{ 128 } + a }",
        "literal out of range for i8",
        "literal out of range for `i8`",
    ),
    (
        "pub fn main(a: u8, b: u8) -> u8 { let k = -1; k + a }",
        "a number of type u8 cannot be negative",
        "the trait bound `u8: Neg` is not satisfied",
    ),
    (
        "pub fn main(a: u8, b: u8) -> u8 { let k = 1; let m = -k; m + a }",
        "expected a signed number, got u8",
        "the trait bound `u8: Neg` is not satisfied",
    ),
    (
        "pub fn main(a: u8, b: u8) -> u8 { -a }",
        "expected a signed number, got u8",
        "cannot apply unary operator `-` to type `u8`",
    ),
    ("pub fn main(a: u8, b: u8) -> u8 { -0 + a }", "a number of type u8 cannot be negative", "is not satisfied"),
    (
        "pub fn main(a: u8, b: u8) -> bool { let k = 3000000000; k > 0 }",
        "literal out of range for i32",
        "literal out of range for `i32`",
    ),
    (
        "pub fn main(a: u8, b: u8) -> u8 { match a { 300 => 1, _ => b } }",
        "literal out of range for u8",
        "literal out of range for `u8`",
    ),
    (
        "pub fn main(a: u8, b: u8) -> u8 { match a { 0..=300 => 1, _ => b } }",
        "literal out of range for u8",
        "literal out of range for `u8`",
    ),
    (
        "pub fn main(a: u8, b: u8) -> u8 { match a { -1 => 1, _ => b } }",
        "a number of type u8 cannot be negative",
        "the trait bound `u8: Neg` is not satisfied",
    ),
    (
        "pub fn main(a: u8, b: u8) -> u8 { match (a, b) { (1, 256) => 1, _ => b } }",
        "literal out of range for u8",
        "literal out of range for `u8`",
    ),
    (
        "pub fn main(a: u8, b: u8) -> u8 { let t = [1, 256]; t[0] ^ a }",
        "literal out of range for u8",
        "literal out of range for `u8`",
    ),
    (
        "pub fn main(a: u8, b: u8) -> u8 { let t = (1, 256); t.1 ^ a }",
        "literal out of range for u8",
        "literal out of range for `u8`",
    ),
    (
        "pub fn main(a: u8, b: u8) -> u8 { let mut s = 0; for k in 0..300 { s = a ^ k; } s }",
        "literal out of range for u8",
        "out of range for `u8`",
    ),
    (
        "struct S { x: u8 }\npub fn main(a: u8, b: u8) -> u8 { let k = 256; S { x: k }.x ^ a }",
        "literal out of range for u8",
        "literal out of range for `u8`",
    ),
    (
        "enum E { A(u8) }\npub fn main(a: u8, b: u8) -> u8 { let k = 256; match E::A(k) { E::A(x) => x } }",
        "literal out of range for u8",
        "literal out of range for `u8`",
    ),
    (
        "fn f(x: u8) -> u8 { x }\npub fn main(a: u8, b: u8) -> u8 { let k = 256; f(k) }",
        "literal out of range for u8",
        "literal out of range for `u8`",
    ),
    (
        "fn f(x: u8) -> u8 { let k = 256; k }\npub fn main(a: u8, b: u8) -> u8 { f(a) }",
        "literal out of range for u8",
        "literal out of range for `u8`",
    ),
    (
        "pub fn main(a: u8, b: u8) -> u8 { let mut k = 256; k = a; k }",
        "literal out of range for u8",
        "literal out of range for `u8`",
    ),
    (
        "pub fn main(a: u8, b: u8) -> u8 { let k = if a > b { 256 } else { a }; k }",
        "literal out of range for u8",
        "literal out of range for `u8`",
    ),
    (
        "pub fn main(a: u8, b: u8) -> u8 { let k = match a { 0 => 256, _ => a }; k }",
        "literal out of range for u8",
        "literal out of range for `u8`",
    ),
    // Two types for one literal.
    (
        "pub fn main(a: u8, b: u16) -> u16 { let k = 5; let x = a + k; b + k }",
        "incompatible types: u16 and u8",
        "mismatched types",
    ),
    (
        "pub fn main(a: [u8; 4], b: u8) -> u8 { let k = 1; let x = a[k]; b + k }",
        "incompatible types: u8 and usize",
        "mismatched types",
    ),
    (
        "pub fn main(a: u8, b: bool) -> bool { let k = 1; b == k }",
        "incompatible types: bool and an integer",
        "mismatched types",
    ),
    (
        "pub fn main(a: u8, b: u8) -> u8 { let k = 1; if k { a } else { b } }",
        "expected bool, got an integer",
        "mismatched types",
    ),
    ("pub fn main(a: u16, b: u8) -> u8 { match b { 1u16 => 1, _ => b } }", "expected u8, got u16", "mismatched types"),
    ("pub fn main(a: u16, b: u8) -> u8 { match b { true => 1, _ => b } }", "expected bool, got u8", "mismatched types"),
    ("pub fn main(a: u8, b: u16) -> u8 { let mut x = a; x += b; x }", "expected u8, got u16", "mismatched types"),
    (
        "pub fn main(a: u8, b: bool) -> u8 { a << b }",
        "expected a number, got bool",
        "no implementation for `u8 << bool`",
    ),
    // Constants.
    (
        "const N: u8 = 200u8 + 100u8;\npub fn main(a: u32, b: u32) -> u8 { N }",
        "the constant `N`: `200u8 + 100u8` is out of range for u8: expected 0 to 255, got 300",
        "attempt to compute `200_u8 + 100_u8`, which would overflow",
    ),
    (
        "const N: u8 = 200 + 100 - 100;\npub fn main(a: u32, b: u32) -> u8 { N }",
        "`200 + 100` is out of range for u8",
        "which would overflow",
    ),
    (
        "const N: u32 = 0;\nconst M: u32 = N - 1;\npub fn main(a: u32, b: u32) -> u32 { M }",
        "the constant `M`: `N - 1` is out of range for u32: expected 0 to 4294967295, got -1",
        "which would overflow",
    ),
    (
        "const N: u8 = 300;\npub fn main(a: u8, b: u8) -> u8 { a }",
        "literal out of range for u8",
        "literal out of range for `u8`",
    ),
    (
        "const N: u8 = -1;\npub fn main(a: u8, b: u8) -> u8 { a }",
        "a number of type u8 cannot be negative",
        "cannot apply unary operator `-` to type `u8`",
    ),
    (
        "const N: i32 = --2147483648;\npub fn main(a: u8, b: u8) -> i32 { N }",
        "the constant `N`: `--2147483648` is out of range for i32: expected -2147483648 to 2147483647, got 2147483648",
        "attempt to negate `i32::MIN`, which would overflow",
    ),
    (
        "const L: i8 = -128;\nconst N: i8 = -L;\npub fn main(a: u8, b: u8) -> i8 { N }",
        "the constant `N`: `-L` is out of range for i8: expected -128 to 127, got 128",
        "attempt to negate `i8::MIN`, which would overflow",
    ),
    (
        "const L: i8 = 127;\nconst N: i8 = -(-L - 2 + 2);\npub fn main(a: u8, b: u8) -> i8 { N }",
        "the constant `N`: `-L - 2` is out of range for i8: expected -128 to 127, got -129",
        "which would overflow",
    ),
    (
        "const L: u8 = 0;\nconst N: u8 = -L;\npub fn main(a: u8, b: u8) -> u8 { N }",
        "expected a signed number, got u8",
        "cannot apply unary operator `-` to type `u8`",
    ),
    (
        "const N: bool = -true;\npub fn main(a: u8, b: u8) -> bool { N }",
        "expected a signed number, got bool",
        "cannot apply unary operator `-` to type `bool`",
    ),
    ("const N: u8 = !true;\npub fn main(a: u8, b: u8) -> u8 { N }", "expected u8, got bool", "mismatched types"),
    (
        "const N: usize = 3;\npub fn main(a: [u8; const { -N }], b: u8) -> u8 { b }",
        "expected a signed number, got usize",
        "cannot apply unary operator `-` to type `usize`",
    ),
    (
        "const N: u8 = 3;\npub fn main(a: u8, b: u8) -> u8 { let mut s = b; for k in 0..-N { s = k; } s }",
        "expected a signed number, got u8",
        "cannot apply unary operator `-` to type `u8`",
    ),
    // Conversions to Booleans.
    // A round of a loop has no value.
    ("pub fn main(a: u8, b: u8) -> u8 { for _ in 0..2 { a } b }", "expected (), got u8", "expected `()`, found `u8`"),
    (
        "pub fn main(a: u8, b: u8) -> u8 { for _ in 2..2 { for x in [a, b] { x > 1 } } b }",
        "expected (), got bool",
        "expected `()`, found `bool`",
    ),
    ("pub fn main(a: u8, b: u8) -> bool { a as bool }", "u8 cannot be converted to bool", "cannot cast `u8` as `bool`"),
    (
        "pub fn main(a: u8, b: u8) -> bool { 1 as bool }",
        "an integer cannot be converted to bool",
        "cannot cast `i32` as `bool`",
    ),
    (
        "pub fn main(a: u8, b: u8) -> bool { (a as i64 + 1) as bool }",
        "i64 cannot be converted to bool",
        "cannot cast `i64` as `bool`",
    ),
    ("const N: u8 = 1u16;\npub fn main(a: u8, b: u8) -> u8 { a }", "expected u8, got u16", "mismatched types"),
    (
        "const N: u8 = 1;\nconst M: u16 = N;\npub fn main(a: u8, b: u8) -> u8 { a }",
        "expected u16, got u8",
        "mismatched types",
    ),
    (
        "const N: u8 = 1;\npub fn main(a: [u8; N], b: u8) -> u8 { b }",
        "expected usize, got u8",
        "expected `usize`, found `u8`",
    ),
    (
        "const N: usize = 3;\npub fn main(a: u8, b: u8) -> u8 { let N = 5usize; let mut s = b; for i in 0usize..N { s = s + a; } s }",
        "`N` is a constant, declared in line 1: no variable can have its name",
        "refutable pattern in local binding",
    ),
    (
        "const N: usize = 3;\npub fn main(a: u8, b: u8) -> u8 { let mut N = a; N = b; N }",
        "`N` is a constant, declared in line 1",
        "cannot shadow constants",
    ),
    (
        "const N: u8 = 3;\npub fn main(a: u8, N: u8) -> u8 { N }",
        "`N` is a constant, declared in line 1",
        "refutable pattern in function argument",
    ),
    (
        "const N: u8 = 3;\npub fn main(a: u8, b: u8) -> u8 { let mut s = b; for N in 0..3 { s = a; } s }",
        "`N` is a constant, declared in line 1",
        "refutable pattern in `for` loop binding",
    ),
    (
        "const N: u8 = 3;\npub fn main(a: u8, b: u8) -> u8 { let (N, x) = (a, b); x }",
        "`N` is a constant, declared in line 1",
        "refutable pattern in local binding",
    ),
    (
        "const N: u8 = 3;\nstruct S { x: u8 }\npub fn main(a: u8, b: u8) -> u8 { let S { x: N } = S { x: a }; b }",
        "`N` is a constant, declared in line 1",
        "refutable pattern in local binding",
    ),
    (
        "const N: u8 = 3;\nfn N(a: u8) -> u8 { a }\npub fn main(a: u8, b: u8) -> u8 { a }",
        "`N` is defined twice",
        "the name `N` is defined multiple times",
    ),
    (
        "const N: u8 = 3;\npub fn main(a: u8, b: u8) -> u8 { match a { N => 1, 0..=2 => 2 } }",
        "this `match` does not cover `4u8..=255u8`",
        "non-exhaustive patterns",
    ),
    (
        "const N: u16 = 3;\npub fn main(a: u8, b: u8) -> u8 { match a { N => 1, _ => 2 } }",
        "expected u8, got u16",
        "mismatched types",
    ),
    (
        "const N: u8 = 3;\npub fn main(a: u8, b: u8) -> u8 { match a { 5..=N => 1, _ => 2 } }",
        "this range is empty",
        "lower bound for range pattern must be less than or equal to upper",
    ),
    (
        "const N: usize = 0;\npub fn main(a: u8, b: u8) -> u8 { let mut s = b; for i in 0..N { s = true; } s }",
        "expected u8, got bool",
        "mismatched types",
    ),
    // Comparisons.
    (
        "pub fn main(a: u8, b: bool) -> bool { a < 5u8 == b }",
        "comparisons cannot be chained",
        "comparison operators cannot be chained",
    ),
    (
        "pub fn main(a: u8, b: u8) -> bool { a < b < 3 }",
        "comparisons cannot be chained",
        "comparison operators cannot be chained",
    ),
    (
        "pub fn main(a: bool, b: bool) -> bool { a == b == true }",
        "comparisons cannot be chained",
        "comparison operators cannot be chained",
    ),
    (
        "pub fn main(a: u8, b: bool) -> bool { b == a < 5 }",
        "comparisons cannot be chained",
        "comparison operators cannot be chained",
    ),
    (
        "pub fn main(a: u8, b: bool) -> bool { b != a >= 5 }",
        "comparisons cannot be chained",
        "comparison operators cannot be chained",
    ),
    // Sizes.
    (
        "const N: usize = 3;\npub fn main(a: [u8; N], b: u8) -> u8 { let x: [u8; 4] = a; b }",
        "expected [u8; 4], got [u8; 3]",
        "expected an array with a size of 4, found one with a size of 3",
    ),
    // Semicolons.
    ("pub fn main(a: u8, b: u8) -> u8 { a + b; }", "expected u8, got ()", "remove this semicolon"),
    ("pub fn main(a: u8, b: u8) -> u8 { { a + b; } }", "expected u8, got ()", "mismatched types"),
    ("pub fn main(a: u8, b: u8) -> u8 { if a > b { a; } else { b; } }", "expected u8, got ()", "mismatched types"),
    (
        "pub fn main(a: u8, b: u8) -> u8 { if a > b { a } else { b; } }",
        "incompatible types: u8 and ()",
        "mismatched types",
    ),
    ("pub fn main(a: u8, b: u8) -> u8 { let mut s = a; s += b; }", "expected u8, got ()", "mismatched types"),
    ("pub fn main(a: u8, b: u8) -> u8 { let mut s = a; { s += b; } }", "expected u8, got ()", "mismatched types"),
    ("pub fn main(a: u8, b: u8) -> u8 { let x = { a; }; x }", "expected u8, got ()", "mismatched types"),
    (
        "pub fn main(a: u8, b: u8) -> u8 { match a { 0 => 1, _ => { b; } } }",
        "expected an integer, got ()",
        "mismatched types",
    ),
    ("pub fn main(a: u8, b: u8) -> u8 { if a > b { a } else { b } 1 }", "expected (), got u8", "mismatched types"),
    ("pub fn main(a: u8, b: u8) -> u8 { { a } b }", "expected (), got u8", "mismatched types"),
    (
        "pub fn main(a: u8, b: u8) -> u8 { match a { 0 => 1, _ => 2 } b }",
        "expected (), got an integer",
        "mismatched types",
    ),
    (
        "pub fn main(a: u8, b: u8) -> u8 { if a > b { a } }",
        "incompatible types: u8 and ()",
        "`if` may be missing an `else` clause",
    ),
    (
        "pub fn main(a: u8, b: u8) -> u8 { if a > b { a } else { b } + 1 }",
        "expected an expression, got `+`",
        "leading `+` is not supported",
    ),
    ("pub fn main(a: u8, b: u8) -> () { a }", "expected (), got u8", "mismatched types"),
    // Tuples of one.
    (
        "pub fn main(a: u8, b: u8) -> u8 {\n    let x: u8 = (a,);\n    b\n}",
        "expected u8, got (u8,)",
        "mismatched types",
    ),
    ("pub fn main(a: u8, b: u8) -> u8 { let x: (u8,) = (a); b }", "expected (u8,), got u8", "mismatched types"),
    // Functions over sizes.
    (
        "fn f<const N: usize>(a: u8) -> u8 { a }\npub fn main(a: u8, b: u8) -> u8 { f(a) }",
        "the size `N` of `f` does not follow from the arguments",
        "type annotations needed",
    ),
    (
        "fn f<const N: usize>(a: [u8; N], b: [u8; N]) -> u8 { a[0] }\npub fn main(a: [u8; 2], b: [u8; 3]) -> u8 { f(a, b) }",
        "expected [u8; 2], got [u8; 3]",
        "mismatched types",
    ),
    (
        "fn f(a: u8) -> u8 { a }\npub fn main(a: u8, b: u8) -> u8 { f::<3>(a) }",
        "the function `f` is not over sizes",
        "takes 0 generic arguments but 1 generic argument was supplied",
    ),
    (
        "fn f<const N: usize>(a: [u8; N]) -> u8 { a[0] }\npub fn main(a: [u8; 2], b: u8) -> u8 { f::<2, 3>(a) }",
        "expected sizes for N, got 2 sizes",
        "takes 1 generic argument but 2 generic arguments were supplied",
    ),
    (
        "fn f<const N: usize>(a: [u8; N]) -> u8 { a[0] }\npub fn main(a: [u8; 2], b: u8) -> u8 { f::<3>(a) }",
        "expected [u8; 3], got [u8; 2]",
        "mismatched types",
    ),
    (
        "fn f<const N: usize>(a: [u8; N], k: usize) -> u8 { match k { N => 1, _ => 2 } }\npub fn main(a: [u8; 2], b: usize) -> u8 { f(a, b) }",
        "expected a pattern, got the size `N`",
        "in patterns",
    ),
    (
        "fn f<const N: usize>(a: [u8; N]) -> u8 { let N = 3; a[0] }\npub fn main(a: [u8; 2], b: u8) -> u8 { f(a) }",
        "`N` is a constant, declared in line 1",
        "constant parameters cannot be referenced in patterns",
    ),
    (
        "fn f<const N: usize>(a: [u8; N]) -> [u8; N] { [0; 3] }\npub fn main(a: [u8; 2], b: u8) -> u8 { f(a)[0] ^ b }",
        "`f::<2>`: expected [u8; 2], got [integer; 3]",
        "mismatched types",
    ),
    // Constants.
    ("const K: u8 = 5 / 0;\npub fn main(a: u8, b: u8) -> u8 { a ^ b ^ K }", "`5 / 0` divides by zero", "by zero"),
    (
        "const K: i8 = -128 % -1;\npub fn main(a: i8, b: i8) -> i8 { a ^ b ^ K }",
        "is out of range for i8",
        "which would overflow",
    ),
    (
        "const K: u8 = 20 * 20;\npub fn main(a: u8, b: u8) -> u8 { a ^ b ^ K }",
        "`20 * 20` is out of range for u8",
        "which would overflow",
    ),
];
