//! Sources with inputs, and what a run gives: the scalars of its result, or line and reason of its panic.

/// Inputs of a run, and what it gives.
type Run = (&'static str, &'static str);

pub(super) const VALUES: &[(&str, &[Run])] = &[
    // `[]` takes the type of its elements from wherever it is said.
    ("fn f(x: ([u8; 0], u8)) -> u8 { x.1 }\npub fn main(a: u8, b: u8) -> u8 { f(([], a)) ^ b }", &[("5, 3", "6")]),
    (
        "struct S { x: ([u8; 0], [[u8; 0]; 2]), y: u8 }\npub fn main(a: u8, b: u8) -> u8 { let s = S { x: ([], [[], []]), y: a }; s.y ^ b }",
        &[("5, 3", "6")],
    ),
    (
        "fn f(a: u8) -> ([u16; 0], u8) { ([], a) }\npub fn main(a: u8, b: u8) -> u8 { let (e, x) = f(a); let mut s = x; for y in e { s = y as u8; } s ^ b }",
        &[("5, 3", "6")],
    ),
    ("pub fn main(a: u8, b: u8) -> u8 { let t = ([], a); let u: ([u8; 0], u8) = t; u.1 ^ b }", &[("5, 3", "6")]),
    (
        "pub fn main(a: u8, b: u8) -> u8 { let e = if a > b { ([], a) } else { ([1u8; 0], b) }; let k: [u8; 0] = e.0; e.1 }",
        &[("5, 3", "5"), ("3, 5", "5")],
    ),
    (
        "enum E { A([(u8, bool); 0], u8), B }\npub fn main(a: u8, b: u8) -> u8 { match E::A([], a) { E::A(e, x) => x ^ b, E::B => 1 } }",
        &[("5, 3", "6")],
    ),
    (
        "pub fn main(a: u8, b: u8) -> u8 { let e = []; let f: [(u8, u8); 0] = e; let mut s = a; for (x, y) in e { s = s ^ x ^ y; } s ^ b }",
        &[("5, 3", "6")],
    ),
    (
        "pub fn main(a: u8, b: u8) -> u8 { let x: [u8; 0] = match a { 0 => [], _ => [] }; let y: [[(u8, [u8; 0]); 0]; 3] = [[], [], []]; a ^ b }",
        &[("5, 3", "6")],
    ),
    // Constants of any type.
    (
        "const NEXT: [[u8; 3]; 2] = [[1, 0, 1], [0, 1, N]];\nconst N: u8 = 7;\npub fn main(a: u8, b: u8) -> u8 { NEXT[(a % 2) as usize][(b % 3) as usize] }",
        &[("1, 2", "7"), ("0, 2", "1"), ("3, 3", "0")],
    ),
    (
        "struct P { x: u8, y: (u16, bool) }\nconst ORIGIN: P = P { y: (300, true), x: 2 };\npub fn main(a: u8, b: u8) -> u16 { let mut p = ORIGIN; p.x = a; if ORIGIN.y.1 { (p.x as u16) + ORIGIN.y.0 + (ORIGIN.x as u16) } else { b as u16 } }",
        &[("5, 3", "307")],
    ),
    (
        "enum E { A, B(u8) }\nconst ALL: [E; 2] = [E::B(4), E::A];\npub fn main(a: u8, b: u8) -> u8 { let mut s = b; for e in ALL { s = match e { E::A => s ^ 1, E::B(x) => s + x }; } s ^ a }",
        &[("0, 3", "6")],
    ),
    (
        "const A: [u8; 4] = [1; 4];\nconst B: ([u8; 4], u8) = (A, A[2] + (A.len() as u8));\npub fn main(a: u8, b: u8) -> u8 { let mut s = B.1; for x in B.0 { s += x; } s ^ a ^ b }",
        &[("0, 0", "9")],
    ),
    (
        "const N: usize = 3;\nconst T: [usize; N] = [N, N - 1, 7 << 2];\nfn f<const N: usize>(x: [u8; N]) -> usize { T[0] * 100 + T[1] * 10 + N }\npub fn main(a: [u8; 2], b: u8) -> usize { f(a) + T[2] }",
        &[("[1, 2], 3", "350")],
    ),
    (
        "const E: [u8; 0] = [];\nconst UNIT: () = ();\npub fn main(a: u8, b: u8) -> u8 { let x = UNIT; let mut s = a; for y in E { s += y; } s ^ b }",
        &[("5, 3", "6")],
    ),
    (
        "fn f<const T: usize>(x: [u8; T]) -> u8 { (T as u8) + x[0] }\nconst T: [u8; 2] = [50, 60];\npub fn main(a: [u8; 3], b: u8) -> u8 { f(a) + T[1] }",
        &[("[1, 2, 3], 0", "64")],
    ),
    (
        "struct S { t: u8 }\nconst K: S = S { t: 9 };\nfn g(s: S) -> u8 { s.t }\npub fn main(a: u8, b: u8) -> u8 { if g(K) == K.t { g(S { t: a }) } else { b } }",
        &[("5, 3", "5")],
    ),
    // A function of the source takes the place of a built-in one, and a variable that of a function.
    ("fn min(a: u8, b: u8) -> u8 { a ^ b }\npub fn main(a: u8, b: u8) -> u8 { min(a, b) }", &[("5, 3", "6")]),
    (
        "fn join(a: [u8; 2], b: [u8; 2]) -> [u8; 2] { b }\npub fn main(a: [u8; 2], b: [u8; 2]) -> u8 { join(a, b)[1] }",
        &[("[1, 2], [3, 4]", "4")],
    ),
    (
        "fn join_iter(a: [u8; 2], b: [u8; 2]) -> [u8; 2] { b }\npub fn main(a: [u8; 2], b: [u8; 2]) -> u8 { let mut s = 0; for x in join_iter(a, b) { s = s ^ x; } s }",
        &[("[1, 2], [3, 4]", "7")],
    ),
    (
        "fn min(a: u8, b: u8) -> u8 { a ^ b }\npub fn main(a: u8, b: u8) -> u8 { let x = { let min = a; min }; min(x, b) }",
        &[("5, 3", "6")],
    ),
    // An array whose length is asked for is evaluated.
    (
        "pub fn main(a: u8, b: u8) -> usize { [a + b, 1].len() }",
        &[("200, 100", "1: arithmetic overflow"), ("1, 2", "2")],
    ),
    (
        "pub fn main(a: u8, b: u8) -> usize { let mut s = a; let n = ({ s = b; [s, s, s] }).len(); n + (s as usize) }",
        &[("5, 3", "6")],
    ),
    (
        "pub fn main(a: [[u8; 2]; 2], b: usize) -> usize { a[b].len() }",
        &[("[[1, 2], [3, 4]], 1", "2"), ("[[1, 2], [3, 4]], 2", "1: index out of bounds")],
    ),
    // Literals take their type from wherever it is said.
    (
        "pub fn main(amount: u64, other: u64) -> bool { let limit = 5000000000; amount + other > limit }",
        &[("1000000000, 1", "false"), ("5000000000, 1", "true")],
    ),
    (
        "pub fn main(a: u64, b: u64) -> u64 { let k = 5000000000; let y: u64 = k; (a & b) ^ y }",
        &[("1, 2", "5000000000")],
    ),
    (
        "fn f(x: u64) -> u64 { x ^ 1u64 }\npub fn main(a: u64, b: u64) -> u64 { let k = 5000000000; f(k) ^ a ^ b }",
        &[("1, 2", "5000000002")],
    ),
    (
        "pub fn main(a: u64, b: u64) -> u64 { let t = [5000000000, 6000000000]; t[0] ^ a ^ b }",
        &[("1, 2", "5000000003")],
    ),
    (
        "pub fn main(a: u64, b: u64) -> u64 { let mask = !0; (a & mask) ^ b }",
        &[("9223372036854775813, 1099511627776", "9223373136366403589")],
    ),
    (
        "pub fn main(a: u64, b: u64) -> u64 { let k = 1 << 31; let m = k << 1; (a & m) ^ b }",
        &[("8589934591, 0", "4294967296")],
    ),
    (
        "pub fn main(a: u16, b: u16) -> u16 { let k = 60000; let m = k + 10000; (a & m) ^ b }",
        &[("65535, 3", "1: arithmetic overflow")],
    ),
    (
        "pub fn main(a: u8, b: u8) -> u8 { let k = if a > b { 200 } else { 100 }; let m = k + 100; m ^ b }",
        &[("9, 3", "1: arithmetic overflow"), ("3, 9", "193")],
    ),
    ("pub fn main(a: u8, b: u8) -> u16 { let mut k = 1; k = 300; k ^ (a as u16) }", &[("0, 0", "300")]),
    ("pub fn main(a: u8, b: u8) -> (u8, i32) { let k = 7; let m = 70000; (k ^ a, m) }", &[("1, 0", "6 70000")]),
    // Through tuples, structs, enums and patterns.
    (
        "pub fn main(a: u64, b: u8) -> u64 { let t = (5000000000, 3); t.0 ^ a ^ ((t.1 ^ b) as u64) }",
        &[("1, 2", "5000000000")],
    ),
    (
        "struct S { x: u64, y: u8 }\npub fn main(a: u64, b: u8) -> u64 { let k = 5000000000; let s = S { x: k, y: 3 }; s.x ^ a }",
        &[("1, 2", "5000000001")],
    ),
    (
        "enum E { A(u64), B }\npub fn main(a: u64, b: u8) -> u64 { let k = 5000000000; match E::A(k) { E::A(x) => x ^ a, E::B => 1 } }",
        &[("1, 2", "5000000001")],
    ),
    (
        "enum E { A { x: u64 }, B }\npub fn main(a: u64, b: u8) -> u64 { let k = 5000000000; match (E::A { x: k }) { E::A { x } => x ^ a, E::B => 1 } }",
        &[("1, 2", "5000000001")],
    ),
    (
        "pub fn main(a: u64, b: u8) -> u64 { let (x, y) = (5000000000, 1); x ^ a ^ ((b ^ y) as u64) }",
        &[("1, 2", "5000000002")],
    ),
    (
        "pub fn main(a: u64, b: u8) -> u64 { let k = 5000000001; match k { 5000000001 => a, x => x } }",
        &[("18446744073709551615, 2", "18446744073709551615")],
    ),
    (
        "pub fn main(a: u64, b: u8) -> u64 { let k = match b { 0 => 5000000000, _ => 6000000000 }; k ^ a }",
        &[("1, 0", "5000000001"), ("1, 1", "6000000001")],
    ),
    ("pub fn main(a: u64, b: u8) -> u64 { let k = { 5000000000 }; k ^ a }", &[("1, 2", "5000000001")]),
    (
        "pub fn main(a: u64, b: u8) -> u64 { let mut k = [0; 3]; k[1] = a; k[1] ^ k[2] }",
        &[("5000000001, 2", "5000000001")],
    ),
    (
        "pub fn main(a: u64, b: u8) -> u64 { let mut s = 0; for x in [a, 5000000000] { s += x; } s }",
        &[("1, 2", "5000000001")],
    ),
    ("pub fn main(a: u64, b: u8) -> u64 { let mut s = 0; s += 5000000000; s ^= a; s }", &[("1, 2", "5000000001")]),
    (
        "pub fn main(a: u8, b: u8) -> u64 { let k = 5000000000; let m = k; let n = m; let r: u64 = n; r }",
        &[("1, 2", "5000000000")],
    ),
    (
        "fn f(x: u8) -> (u8, u64) { let k = 5000000000; (x, k) }\npub fn main(a: u8, b: u8) -> u64 { f(a).1 }",
        &[("1, 2", "5000000000")],
    ),
    ("pub fn main(a: u8, b: u8) -> bool { let k = 5000000000; k == 705032704u64 }", &[("1, 2", "false")]),
    ("pub fn main(a: u8, b: u8) -> bool { let t = (1, 300); t == (a, 44u16) }", &[("1, 2", "false")]),
    ("pub fn main(a: u8, b: u8) -> u8 { let k = 255; let m = k; m ^ a }", &[("1, 2", "254")]),
    ("pub fn main(a: i8, b: i8) -> i8 { let k = -128; k ^ a }", &[("1, 2", "-127")]),
    ("pub fn main(a: i8, b: i8) -> i8 { let k = -(128); k ^ a }", &[("1, 2", "-127")]),
    ("pub fn main(a: i8, b: i8) -> (i8, i8) { (-128i8 ^ a, - 5 + b) }", &[("0, 2", "-128 -3")]),
    ("pub fn main(a: i8, b: i8) -> i8 { let k = 128; let m = -k; 1 }", &[("1, 2", "1")]),
    ("pub fn main(a: i64, b: i8) -> i64 { let k = 1; let m = -k; m ^ a }", &[("0, 2", "-1")]),
    (
        "pub fn main(a: i8, b: i8) -> i8 { let k = -100; k - a }",
        &[("29, 2", "1: arithmetic overflow"), ("28, 0", "-128")],
    ),
    (
        "pub fn main(a: u8, b: u8) -> (u128, i128) { (340282366920938463463374607431768211455, -170141183460469231731687303715884105728) }",
        &[("1, 2", "340282366920938463463374607431768211455 -170141183460469231731687303715884105728")],
    ),
    ("pub fn main(a: u8, b: u8) -> u8 { u8::MAX ^ a }", &[("1, 2", "254")]),
    ("pub fn main(a: i8, b: u8) -> i8 { i8::MIN ^ a }", &[("1, 2", "-127")]),
    // Nothing says: i32.
    (
        "pub fn main(a: u8, b: u8) -> bool { let k = 2000000000; let m = 2000000000; k + m > 0 }",
        &[("1, 2", "1: arithmetic overflow")],
    ),
    ("pub fn main(a: u8, b: u8) -> bool { 3 - 5 < 0 }", &[("1, 2", "true")]),
    ("pub fn main(a: u8, b: u8) -> u64 { let k = !0; k as u64 }", &[("1, 2", "18446744073709551615")]),
    ("pub fn main(a: u8, b: u8) -> u64 { (0 - 1) as u64 }", &[("1, 2", "18446744073709551615")]),
    ("pub fn main(a: u8, b: u8) -> u8 { let k = 300; k as u8 }", &[("1, 2", "44")]),
    ("pub fn main(a: u8, b: u8) -> u8 { (if a > b { 300 } else { 1 }) as u8 }", &[("3, 2", "44"), ("1, 2", "1")]),
    ("pub fn main(a: u8, b: u8) -> u8 { (256 + 1) as u8 }", &[("1, 2", "1")]),
    ("pub fn main(a: u8, b: u8) -> i32 { let mut s = 0; for k in 0..5 { s += k; } s }", &[("1, 2", "10")]),
    (
        "pub fn main(a: u8, b: u8) -> i64 { let mut s = 0i64; for k in -2..3 { s = s * 10 + k; } s }",
        &[("1, 2", "-20988")],
    ),
    // Casts: a literal is one of the type, what is computed is not.
    ("pub fn main(a: u8, b: u8) -> u64 { 5000000000 as u64 }", &[("1, 2", "5000000000")]),
    ("pub fn main(a: u8, b: u8) -> u64 { (5000000000) as u64 }", &[("1, 2", "5000000000")]),
    ("pub fn main(a: u8, b: u8) -> u64 { ({ 5000000000 }) as u64 }", &[("1, 2", "5000000000")]),
    ("pub fn main(a: u8, b: u8) -> (u64, u8) { (!0 as u64, !0 as u8) }", &[("1, 2", "18446744073709551615 255")]),
    ("pub fn main(a: u8, b: u8) -> (i64, i8) { (-1 as i64, -128 as i8) }", &[("1, 2", "-1 -128")]),
    (
        "pub fn main(a: u8, b: u8) -> (u8, i8, u16) { (300i32 as u8, 200u8 as i8, -1i8 as u16) }",
        &[("1, 2", "44 -56 65535")],
    ),
    ("pub fn main(a: u8, b: u8) -> u64 { let x = a as u64; x + 5000000000 }", &[("1, 2", "5000000001")]),
    ("pub fn main(a: bool, b: u8) -> u16 { (a as u16) + 300 }", &[("true, 2", "301")]),
    // Shifts: both sides are on their own.
    ("pub fn main(a: u64, b: u64) -> u64 { a << 40 }", &[("1, 2", "1099511627776")]),
    (
        "pub fn main(a: u64, b: u64) -> u64 { a << b }",
        &[("1, 63", "9223372036854775808"), ("1, 64", "1: arithmetic overflow")],
    ),
    (
        "pub fn main(a: u8, b: i32) -> u8 { a << b }",
        &[("1, 7", "128"), ("1, 8", "1: arithmetic overflow"), ("1, -1", "1: arithmetic overflow")],
    ),
    (
        "pub fn main(a: i8, b: i64) -> i8 { a >> b }",
        &[("-128, 7", "-1"), ("1, -9", "1: arithmetic overflow"), ("1, 4294967296", "1: arithmetic overflow")],
    ),
    ("pub fn main(a: u8, b: u8) -> u8 { 1 << a }", &[("7, 2", "128"), ("8, 2", "1: arithmetic overflow")]),
    ("pub fn main(a: u8, b: u8) -> u64 { let k = 1 << a; k }", &[("40, 2", "1099511627776")]),
    (
        "pub fn main(a: u8, b: u16) -> u8 { let mut x = a; x <<= b; x >>= 1; x }",
        &[("3, 2", "6"), ("3, 256", "1: arithmetic overflow")],
    ),
    ("pub fn main(a: u8, b: u8) -> u8 { a << -1 }", &[("1, 2", "1: arithmetic overflow")]),
    // Indices are usize.
    ("pub fn main(a: [u8; 4], b: u8) -> u8 { let k = 3; a[k] }", &[("[1, 2, 3, 4], 0", "4")]),
    (
        "pub fn main(a: [u8; 4], b: u8) -> u8 { let mut s = 0; for k in 0..4 { s += a[k]; } s }",
        &[("[1, 2, 3, 4], 0", "10")],
    ),
    (
        "pub fn main(a: [u8; 4], b: usize) -> u8 { let k = 1; a[k + b] }",
        &[("[1, 2, 3, 4], 2", "4"), ("[1, 2, 3, 4], 3", "1: index out of bounds")],
    ),
    ("pub fn main(a: [u8; 4], b: u8) -> usize { let n = a.len(); n + 1 }", &[("[1, 2, 3, 4], 2", "5")]),
    ("pub fn main(a: [u8; 4], b: u8) -> usize { let k = 2; let x = a[k]; k }", &[("[1, 2, 3, 4], 2", "2")]),
    // Ranges.
    ("pub fn main(a: u8, b: u8) -> u8 { let mut s = b; for k in 0..3 { s += k; } s }", &[("1, 2", "5")]),
    ("pub fn main(a: u8, b: u8) -> u8 { let mut s = b; for k in 3..3 { s += 100; } s }", &[("1, 200", "200")]),
    ("pub fn main(a: u8, b: u8) -> u8 { let mut s = b; for k in 5..3 { s += 100; } s }", &[("1, 200", "200")]),
    (
        "const N: usize = 0;\npub fn main(a: u8, b: u8) -> u8 { let mut s = b; for k in 0..N { s += 100; } s }",
        &[("1, 200", "200")],
    ),
    (
        "const N: u8 = 255;\npub fn main(a: u8, b: u8) -> (u8, u16) { let mut n = 0; let mut last = 0; for k in 250..=N { n += 1; last = k; } (last, n) }",
        &[("1, 200", "255 6")],
    ),
    (
        "const N: usize = 5;\npub fn main(a: u8, b: u8) -> usize { let mut s = 0; for k in 1..N - 1 { s += k; } s }",
        &[("1, 2", "6")],
    ),
    ("pub fn main(a: u8, b: u8) -> u8 { let mut n = 0u8; for k in 0..=255u8 { n = k; } n }", &[("1, 2", "255")]),
    // Constants.
    (
        "const LIMIT: u8 = 5u8;\npub fn main(a: u8, b: u8) -> u8 { match a { LIMIT => 1u8, _ => b } }",
        &[("0, 99", "99"), ("5, 99", "1")],
    ),
    (
        "const A: u8 = 3;\nconst B: u8 = 7;\npub fn main(a: u8, b: u8) -> u8 { match (a, b) { (A, B) => 1, (A, _) => 2, (x, B) => x, (_, y) => y } }",
        &[("3, 7", "1"), ("3, 8", "2"), ("4, 7", "4"), ("4, 9", "9")],
    ),
    (
        "const A: u8 = 3;\nconst B: u8 = 7;\npub fn main(a: u8, b: u8) -> u8 { match a { A..=B => 1, 0..A => 2, u8::MAX => 3, _ => b } }",
        &[("3, 9", "1"), ("7, 9", "1"), ("2, 9", "2"), ("255, 9", "3"), ("8, 9", "9")],
    ),
    (
        "const A: u8 = 3;\nstruct S { x: u8, y: u8 }\npub fn main(a: u8, b: u8) -> u8 { match (S { x: a, y: b }) { S { x: A, y } => y, S { x, .. } => x } }",
        &[("3, 9", "9"), ("4, 9", "4")],
    ),
    (
        "const A: u8 = 3;\nenum E { P(u8), Q }\npub fn main(a: u8, b: u8) -> u8 { let e = if b > 0 { E::P(a) } else { E::Q }; match e { E::P(A) => 1, E::P(x) => x, E::Q => 0 } }",
        &[("3, 9", "1"), ("4, 9", "4"), ("4, 0", "0")],
    ),
    (
        "const T: bool = true;\npub fn main(a: bool, b: u8) -> u8 { match a { T => 1, false => b } }",
        &[("true, 9", "1"), ("false, 9", "9")],
    ),
    (
        "const N: i8 = -5;\npub fn main(a: i8, b: u8) -> u8 { match a { N => 1, -4..=5 => 2, _ => b } }",
        &[("-5, 9", "1"), ("-4, 9", "2"), ("6, 9", "9")],
    ),
    (
        "const A: i32 = --5;\nconst B: i32 = -(A + 1) - -(2 - A);\nconst C: u8 = !1 - !(254);\nconst D: i8 = !-(128);\nconst E: bool = !!!false;\npub fn main(a: u8, b: u8) -> (i32, i32, u8, i8, bool) { (A, B, C, D, E) }",
        &[("1, 2", "5 -9 253 127 true")],
    ),
    (
        "const A: i128 = !170141183460469231731687303715884105727;\nconst B: u128 = !0;\npub fn main(a: i128, b: u128) -> (bool, bool) { (a == A, b == B) }",
        &[
            ("-170141183460469231731687303715884105728, 340282366920938463463374607431768211455", "true true"),
            ("1, 2", "false false"),
        ],
    ),
    (
        "const N: i32 = 2;\nconst M: u8 = 252;\npub fn main(a: u8, b: i32) -> (i32, u8) { let mut s = b; let mut t = a; for k in -N..-(1) + N { s = s * 3 + k; } for k in !M..=!250u8 { t += k; } for k in !1i32..-1 { s += k; } (s, t) }",
        &[("1, 2", "31 13")],
    ),
    (
        "const N: i32 = -2;\npub fn main(a: [u8; const { !(!0 - 3) + 1 }], b: i32) -> (u8, i32) { (a[3], match b { N => 1, -1..=5 => 2, _ => 3 }) }",
        &[("[1, 2, 3, 4], -2", "4 1"), ("[1, 2, 3, 4], -1", "4 2")],
    ),
    (
        "const N: u8 = 200 + 55;\nconst M: u8 = N - 250;\npub fn main(a: u8, b: u8) -> (u8, u8) { (N, M) }",
        &[("1, 2", "255 5")],
    ),
    (
        "const N: usize = 3;\nconst M: usize = N + 1;\npub fn main(a: u8, b: u8) -> [u8; M] { let x: [u8; 4] = [a; M]; let y = [a; const { N + 1 }]; if x == y { y } else { [0; M] } }",
        &[("1, 2", "1 1 1 1")],
    ),
    // The order of evaluation.
    (
        "pub fn main(x: u8, y: u8) -> [u8; 3] { let mut a = [0u8; 3]; let mut i = 0usize; a[i] = { i = 2usize; x }; a[1] = y; a }",
        &[("7, 1", "0 1 7")],
    ),
    ("pub fn main(x: u8, y: u8) -> u8 { let mut v = x; v += { v = 100u8; y }; v }", &[("1, 2", "102")]),
    (
        "struct S { b: u8, a: u8 }\npub fn main(x: u8, y: u8) -> (u8, u8) { let mut c = x; let s = S { b: { c += 1u8; c }, a: { c *= 2u8; c } }; (s.a, s.b + (y & 0u8)) }",
        &[("3, 0", "8 4")],
    ),
    (
        "enum E { A { b: u8, a: u8 } }\npub fn main(x: u8, y: u8) -> (u8, u8) { let mut c = x; let E::A { a, b } = E::A { b: { c += 1; c }, a: { c *= 2; c } }; (a, b) }",
        &[("3, 0", "8 4")],
    ),
    ("pub fn main(x: u8, y: u8) -> u8 { let mut c = x; c + { c = 100; y } }", &[("1, 2", "3")]),
    ("pub fn main(x: u8, y: u8) -> u8 { let mut c = x; let r = { c = 100; y } + c; r }", &[("1, 2", "102")]),
    (
        "pub fn main(x: u8, y: u8) -> bool { let mut c = x; c < { c = 100; y } && c == 100 }",
        &[("1, 2", "true"), ("3, 2", "false")],
    ),
    (
        "pub fn main(x: u8, y: u8) -> (u8, u8) { let mut c = x; let b = c > 5 && { c = 9; true }; (c, b as u8) }",
        &[("1, 2", "1 0"), ("6, 2", "9 1")],
    ),
    (
        "pub fn main(x: u8, y: u8) -> (u8, u8) { let mut c = x; let b = c > 5 || { c = 9; false }; (c, b as u8) }",
        &[("1, 2", "9 0"), ("6, 2", "6 1")],
    ),
    ("pub fn main(x: u8, y: u8) -> (u8, u8, u8) { let mut c = x; (c, { c = 9; c }, c) }", &[("1, 2", "1 9 9")]),
    ("pub fn main(x: u8, y: u8) -> [u8; 3] { let mut c = x; [c, { c = 9; c }, c] }", &[("1, 2", "1 9 9")]),
    (
        "fn f(a: u8, b: u8, c: u8) -> [u8; 3] { [a, b, c] }\npub fn main(x: u8, y: u8) -> [u8; 3] { let mut c = x; f(c, { c = 9; c }, c) }",
        &[("1, 2", "1 9 9")],
    ),
    ("pub fn main(x: u8, y: u8) -> ([u8; 2], u8) { let mut c = x; ([{ c += 1; c }; 2], c) }", &[("1, 2", "2 2 2")]),
    (
        "pub fn main(x: u8, y: u8) -> (u8, u8) { let mut c = x; let r = match { c += 1; c } { 2 => { c = 50; c } z => { c = 60; z } }; (r, c) }",
        &[("1, 2", "50 50"), ("2, 2", "3 60")],
    ),
    ("pub fn main(x: u8, y: u8) -> u8 { let mut c = x; match c { z => { c = 50; z } } }", &[("1, 2", "1")]),
    (
        "pub fn main(x: u8, y: u8) -> (u16, u8) { let mut c = x; let r = ({ c += 1; c } as u16) + (c as u16); (r, c) }",
        &[("1, 2", "4 2")],
    ),
    (
        "fn f(x: u8) -> usize { x as usize }\npub fn main(x: u8, y: u8) -> [[u8; 2]; 2] { let mut a = [[0; 2]; 2]; let mut k = x; a[{ k += 1; f(k) }][{ k -= 1; f(k) }] = { k = y; k + 1 }; a }",
        &[("0, 0", "0 0 1 0")],
    ),
    (
        "pub fn main(x: u8, y: u8) -> [u8; 3] { let mut a = [1, 2, 3]; let mut i = 0; a[{ i += 1; i }] += { i += 1; x }; a }",
        &[("5, 0", "1 2 8")],
    ),
    (
        "pub fn main(x: u8, y: u8) -> [u8; 4] { let mut a = [1, 2, 3, 4]; let mut i = 0; a[i] *= { i = 3; x }; a }",
        &[("5, 0", "1 2 3 20")],
    ),
    (
        "pub fn main(x: u8, y: u8) -> (u8, [u8; 2]) { let mut a = [1, 2]; let mut i = 0; let r = a[i] + { i = 1; a[i] }; (r, a) }",
        &[("5, 0", "3 1 2")],
    ),
    (
        "pub fn main(x: u8, y: u8) -> u8 { let a = [[1, 2], [3, 4]]; let mut i = 0; a[i][{ i = 1; 0 }] + (i as u8) }",
        &[("5, 0", "2")],
    ),
    ("pub fn main(x: u8, y: u8) -> [u8; 2] { let mut a = [x, y]; a[{ a[1] = 9; 0 }] = a[1]; a }", &[("5, 6", "6 9")]),
    ("pub fn main(x: u8, y: u8) -> (u8, u8) { let mut a = (x, y); a = (a.1, a.0); a }", &[("5, 6", "6 5")]),
    (
        "pub fn main(x: u8, y: u8) -> u8 { let mut s = 0; let mut a = [x, y]; for z in a { a[1] = 100; s += z; } s }",
        &[("5, 6", "11")],
    ),
    (
        "pub fn main(x: u8, y: u8) -> u8 { let mut c = x; if { c += 1; c > 5 } { c } else { c + y } }",
        &[("5, 1", "6"), ("3, 1", "5")],
    ),
    ("pub fn main(x: u8, y: u8) -> u8 { let mut c = x; c = { c += 1; c * 2 } - { c }; c }", &[("5, 1", "6")]),
    (
        "enum E { B { y: i128, x: u8 }, C }\npub fn main(x: u8, y: u8) -> (i128, u8) { let e = if x > y { E::B { y: 5000000000, x: 7 } } else { E::B { x, y: -1 } }; match e { E::B { y, x } => (y, x), E::C => (0, 0) } }",
        &[("3, 0", "5000000000 7"), ("3, 9", "-1 3")],
    ),
    // Which panic is first.
    (
        "pub fn main(x: u8, y: u8) -> u8 {\n    let mut a = [1, 2];\n    a[\n        (x as usize)\n    ] = 255\n        + y;\n    a[0]\n}",
        &[("5, 1", "5: arithmetic overflow"), ("5, 0", "3: index out of bounds")],
    ),
    (
        "pub fn main(x: u8, y: u8) -> u8 {\n    let mut a = [1, 2];\n    a[x as usize] +=\n        1 / y;\n    a[0]\n}",
        &[("5, 0", "4: division by zero"), ("5, 1", "3: index out of bounds")],
    ),
    (
        "pub fn main(x: u8, y: u8) -> u8 {\n    let mut a = [255, 2];\n    a[x as usize] += y;\n    a[0]\n}",
        &[("0, 1", "3: arithmetic overflow"), ("2, 1", "3: index out of bounds")],
    ),
    (
        "struct S { b: u8, a: u8 }\npub fn main(x: u8, y: u8) -> u8 {\n    let s = S {\n        b: 1 / y,\n        a: 255 + x,\n    };\n    s.a ^ s.b\n}",
        &[("1, 0", "4: division by zero"), ("1, 1", "5: arithmetic overflow")],
    ),
    (
        "pub fn main(x: u8, y: u8) -> u8 {\n    let a = [1, 2];\n    a[\n        (x as usize)\n    ] + (\n        1 / y\n    )\n}",
        &[("5, 0", "3: index out of bounds"), ("1, 0", "5: division by zero")],
    ),
    (
        "pub fn main(x: i8, y: i8) -> i8 { x / y }",
        &[("-128, -1", "1: arithmetic overflow"), ("5, 0", "1: division by zero")],
    ),
    ("pub fn main(x: u8, y: u8) -> u8 { if x > 0 && 10 / x > y { 1 } else { 2 } }", &[("0, 0", "2"), ("1, 3", "1")]),
    // Semicolons.
    (
        "fn f(x: u8) -> () { x + 1; }\npub fn main(x: u8, y: u8) -> u8 { f(x); { x; } y }",
        &[("1, 2", "2"), ("255, 2", "1: arithmetic overflow")],
    ),
    ("pub fn main(x: u8, y: u8) -> u8 { let mut c = x; if x > y { c = y } c }", &[("3, 2", "2"), ("1, 2", "1")]),
    (
        "pub fn main(x: u8, y: u8) -> u8 { let mut c = x; match x { 0 => c = y, _ => { c += 1; } } c }",
        &[("0, 2", "2"), ("1, 2", "2")],
    ),
    ("pub fn main(x: i8, y: i8) -> i8 { if x > y { } -1 }", &[("0, 2", "-1")]),
    ("pub fn main(x: i8, y: i8) -> i8 { if x > y { } -x }", &[("4, 2", "-4")]),
    ("pub fn main(x: u8, y: u8) -> u8 { if x > y { x; } else { y; }; x }", &[("4, 2", "4")]),
    ("pub fn main(x: u8, y: u8) -> u8 { let z = if x > y { 1 } else { 2 } + 3; z }", &[("4, 2", "4"), ("1, 2", "5")]),
    // Comparisons and precedence.
    ("pub fn main(x: u8, y: u8) -> bool { (x < 5) == (y < 5) }", &[("4, 2", "true"), ("4, 9", "false")]),
    ("pub fn main(x: u8, y: u8) -> bool { x & 1 == y & 1 }", &[("4, 2", "true"), ("4, 9", "false")]),
    ("pub fn main(x: u8, y: u8) -> u8 { x | y ^ 3 & x << 1 + 1 }", &[("1, 2", "3"), ("4, 8", "12")]),
    ("pub fn main(x: i8, y: i8) -> i16 { -x as i16 - -1 }", &[("-127, 2", "128")]),
    // Tuples of one.
    ("pub fn main(x: u8, y: u8) -> u8 { let a: (u8,) = (x,); let b: (u8) = (y); a.0 ^ b }", &[("1, 2", "3")]),
    // Functions over sizes: each call has those of its arguments, or those that it states.
    (
        "fn sum<const N: usize>(data: [u16; N]) -> u32 { let mut s = 0u32; for x in data { s += x as u32; } s }\npub fn main(a: [u16; 4], b: [u16; 2]) -> u32 { sum(a) + sum(b) }",
        &[("[1, 2, 3, 65535], [5, 6]", "65552")],
    ),
    (
        "fn last<const N: usize>(a: [u8; N]) -> u8 { a[N - 1] }\npub fn main(a: [u8; 3], b: [u8; 1]) -> u8 { last(a) ^ last(b) }",
        &[("[1, 2, 3], [4]", "7")],
    ),
    (
        "fn mix<const N: usize, const M: usize>(a: [[u8; N]; M], b: [u8; M]) -> [u8; N] { let mut r = [0; N]; for i in 0..M { for j in 0..N { r[j] ^= a[i][j] & b[i]; } } r }\npub fn main(a: [[u8; 2]; 3], b: [u8; 3]) -> [u8; 2] { mix(a, b) }",
        &[("[[1, 2], [4, 8], [16, 32]], [255, 0, 255]", "17 34")],
    ),
    (
        "fn zeros<const N: usize>() -> [u8; N] { [0; N] }\npub fn main(a: u8, b: u8) -> u8 { let z = zeros::<2>(); let y = zeros::<{ 1 + 2 }>(); z[1] ^ y[2] ^ a ^ b }",
        &[("5, 3", "6")],
    ),
    (
        "fn f<const N: usize>(a: [u8; N]) -> u8 { a[0] ^ N as u8 }\npub fn main(a: u8, b: u8) -> u8 { f([a, b, 1]) ^ f::<_>([b, 1]) }",
        &[("5, 3", "7")],
    ),
    (
        "const N: usize = 5;\nfn f<const N: usize>(a: [u8; N]) -> usize { N }\npub fn main(a: [u8; 2], b: u8) -> usize { f(a) + N }",
        &[("[1, 2], 3", "7")],
    ),
    (
        "fn g<const N: usize>(a: [u8; N]) -> usize { N * 2 }\nfn f<const M: usize>(a: [u8; M], b: [u8; M]) -> usize { g(a) + g([1; 3]) }\npub fn main(a: [u8; 2], b: [u8; 2]) -> usize { f(a, b) }",
        &[("[1, 2], [3, 4]", "10")],
    ),
    (
        "fn at<const N: usize>(a: [u8; N], k: usize) -> u8 { a[k] }\npub fn main(a: [u8; 3], b: usize) -> u8 { at(a, b) ^ at([1, 2], b) }",
        &[("[1, 2, 3], 1", "0"), ("[1, 2, 3], 2", "1: index out of bounds")],
    ),
    (
        "fn f<const N: usize>(a: [u8; N], t: ([u16; N], u8)) -> (u8,) { let b: [u8; N] = a; let u = t.0; (b[N - 1] ^ t.1 ^ u[0] as u8,) }\npub fn main(a: [u8; 2], b: u8) -> u8 { let (x,) = f(a, ([7; 2], b)); x }",
        &[("[1, 2], 3", "6")],
    ),
    (
        "fn min<const N: usize>(a: [u8; N], b: u8) -> u8 { a[0] ^ b }\npub fn main(a: u8, b: u8) -> u8 { min([a], b) }",
        &[("5, 3", "6")],
    ),
    // Ends of loops, and sizes, are computed from constants and sizes.
    (
        "fn f<const N: usize>(a: [u8; N]) -> u8 { let mut s = 0; for i in 0..N - 1 { s ^= a[i + 1] - a[i]; } for i in 0..N / 2 { s ^= a[N - 1 - i]; } for i in 1..=2 * N % 5 { s ^= i as u8; } s }\npub fn main(a: [u8; 4], b: u8) -> u8 { f(a) ^ b }",
        &[("[1, 3, 6, 10], 0", "9"), ("[3, 1, 6, 10], 0", "1: arithmetic overflow")],
    ),
    (
        "const K: usize = 7 * 3 / 2 % 6;\nconst L: i32 = (2 - 9) / 2 * -3 + -7 % 4;\npub fn main(a: [u8; K], b: i32) -> (usize, i32) { (a.len(), b - L) }",
        &[("[1, 2, 3, 4], 10", "4 4")],
    ),
    (
        "const N: usize = 2;\npub fn main(a: [u8; 2 * N - 1], b: u8) -> u8 { let x = [b; N + 1]; let y: [u8; (N + 1) * 1] = x; y[N] ^ a[2] }",
        &[("[1, 2, 3], 4", "7")],
    ),
    // The beginning of a range may be computed, too.
    (
        "const N: i8 = -3;\npub fn main(a: i32, b: i32) -> i32 { let mut s = a; for i in N - 5..=N * 2 { s = s * 3 + i as i32; } for i in 2 * -N - 1..7 { s = s * 3 + i as i32; } for i in (N + 1) / 2..N % 2 + 4 { s = s * 3 + i as i32; } for i in !N - 1..!N + 1 { s = s * 3 - i as i32; } s ^ b }",
        &[("1, 2", "-457288"), ("0, 0", "-634433")],
    ),
    // A type in parentheses is the type.
    (
        "fn f(x: (u8)) -> (u8) { x }\npub fn main(a: (u8), b: u8) -> (u8) { let x: (u8) = (a); f(x) ^ b }",
        &[("5, 3", "6")],
    ),
];
