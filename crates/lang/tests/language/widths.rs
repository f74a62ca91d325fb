//! Integers of any width: random programs, whose oracle is Python, and what the widths of Rust have to compare with.

use std::{
    fmt::Write,
    io::Write as _,
    process::{Command, Stdio},
};

use garblet_circuit::{Bits, Program, evaluate, notes::Panics};
use garblet_formats::value::{read_value, to_json};
use num_bigint::BigInt;
use proptest::test_runner::{RngAlgorithm, TestRng};
use rand_core::Rng;

use crate::reference::compile;

/// The bits, and whether the type is signed.
type Ty = (u16, bool);

const WIDTHS: [u16; 24] =
    [1, 2, 3, 7, 8, 13, 31, 32, 33, 63, 64, 65, 96, 100, 126, 127, 128, 129, 130, 160, 192, 255, 256, 300];
/// Runs of each program.
const RUNS: usize = 12;

fn programs() -> usize {
    if std::env::var_os("GARBLET_TEST_FULL").is_some() { 4000 } else { 100 }
}

/// The operations, for Python: whole numbers that must fit a type after every step.
const ORACLE: &str = r#"
import math, sys
sys.set_int_max_str_digits(0)
class Panic(Exception): pass
def ends(t): return (-(1 << t[0] - 1), (1 << t[0] - 1) - 1) if t[1] else (0, (1 << t[0]) - 1)
def fit(t, v):
    low, high = ends(t)
    if not low <= v <= high: raise Panic("arithmetic overflow")
    return v
def wrap(t, v):
    v &= (1 << t[0]) - 1
    return v - (1 << t[0]) if t[1] and v >> t[0] - 1 else v
def div(t, a, b):
    if b == 0: raise Panic("division by zero")
    q = abs(a) // abs(b)
    return fit(t, -q if (a < 0) != (b < 0) else q)
def rem(t, a, b): return a - b * div(t, a, b)
def shl(t, a, n):
    if not 0 <= n < t[0]: raise Panic("arithmetic overflow")
    return wrap(t, a << n)
def shr(t, a, n):
    if not 0 <= n < t[0]: raise Panic("arithmetic overflow")
    return a >> n
def inv(t, a): return ~a if t[1] else (1 << t[0]) - 1 - a
def bits(t, a): return a & (1 << t[0]) - 1
def rotate(t, a, n):
    n %= t[0]
    return wrap(t, bits(t, a) << n | bits(t, a) >> t[0] - n)
def saturate(t, v):
    low, high = ends(t)
    return min(max(v, low), high)
def leading(t, a): return t[0] - bits(t, a).bit_length()
def trailing(t, a): return (a & -a).bit_length() - 1 if a else t[0]
def pick(list, k):
    if k >= len(list): raise Panic("index out of bounds")
    return list[k]
def run(f, *values):
    try: print(f(*values))
    except Panic as panic: print("panic", panic)
"#;

fn name((bits, signed): Ty) -> String {
    format!("{}{bits}", if signed { 'i' } else { 'u' })
}

fn python((bits, signed): Ty) -> String {
    format!("({bits},{})", u8::from(signed))
}

struct Generator<'a> {
    rng: &'a mut TestRng,
    /// Percents of numbers that have a suffix.
    suffixed: usize,
    scope: Vec<(String, Ty)>,
    types: Vec<Ty>,
}

/// An expression in the language, and in Python; and whether it has a type of its own.
struct Both {
    ours: String,
    theirs: String,
    typed: bool,
}

impl Both {
    fn new(ours: String, theirs: String, typed: bool) -> Self {
        Both { ours, theirs, typed }
    }
}

impl Generator<'_> {
    fn below(&mut self, end: usize) -> usize {
        self.rng.next_u32() as usize % end
    }

    fn chance(&mut self, percent: usize) -> bool {
        self.below(100) < percent
    }

    fn width(&mut self) -> u16 {
        let at = self.below(WIDTHS.len());
        WIDTHS[at]
    }

    fn ty(&mut self) -> Ty {
        let at = self.below(self.types.len());
        self.types[at]
    }

    /// A value of a type; ends come often.
    fn value(&mut self, (bits, signed): Ty) -> BigInt {
        let half: BigInt = BigInt::from(1) << (bits - u16::from(signed));
        let least: BigInt = if signed { -half.clone() } else { BigInt::from(0) };
        let any = (0..10).fold(BigInt::from(0), |sum, _| (sum << 32) + self.rng.next_u32());
        let value: BigInt = match self.below(8) {
            0 => half.clone() - 1 - (any >> 318),
            1 => least.clone() + (any >> 318),
            2 => any >> 317,
            3 => BigInt::from(0) - (any >> 318),
            4 => BigInt::from(1) << self.below(bits.into()),
            5 => any >> (320 - u32::from(bits) / 2),
            _ => any >> (320 - u32::from(bits) + u32::from(signed)),
        };
        value.clamp(least, half - 1)
    }

    fn literal(&mut self, ty: Ty, typed: bool) -> Both {
        let value = self.value(ty);
        let typed = typed || self.chance(self.suffixed);
        let text = match self.below(4) {
            0 if value >= BigInt::from(0) => format!("{value:#x}"),
            _ => value.to_string(),
        };
        let suffix = if typed { name(ty) } else { String::new() };
        Both::new(format!("({text}{suffix})"), format!("({value})"), typed)
    }

    /// A variable of the type, or one that is converted to it.
    fn variable(&mut self, ty: Ty) -> Both {
        let own: Vec<String> = self.scope.iter().filter(|own| own.1 == ty).map(|own| own.0.clone()).collect();
        if !own.is_empty() {
            let name = &own[self.below(own.len())];
            return Both::new(name.clone(), name.clone(), true);
        }
        let at = self.below(self.scope.len());
        let (variable, _) = self.scope[at].clone();
        Both::new(format!("({variable} as {})", name(ty)), format!("wrap({}, {variable})", python(ty)), true)
    }

    /// An expression with a type of its own.
    fn certain(&mut self, ty: Ty, depth: usize) -> Both {
        let own = self.expr(ty, depth);
        if own.typed { own } else { self.variable(ty) }
    }

    fn expr(&mut self, ty: Ty, depth: usize) -> Both {
        if depth == 0 {
            return if self.chance(60) { self.variable(ty) } else { self.literal(ty, false) };
        }
        let depth = depth - 1;
        let (_, signed) = ty;
        let t = python(ty);
        match self.below(17) {
            0 => self.variable(ty),
            1 => {
                let from = self.ty();
                let x = self.certain(from, depth);
                Both::new(format!("({} as {})", x.ours, name(ty)), format!("wrap({t}, {})", x.theirs), true)
            }
            2 => {
                let x = self.expr(ty, depth);
                Both::new(format!("(!{})", x.ours), format!("inv({t}, {})", x.theirs), x.typed)
            }
            3 if signed => {
                // The negative of a literal is one.
                let x = self.variable(ty);
                Both::new(format!("(-{})", x.ours), format!("fit({t}, -{})", x.theirs), true)
            }
            4 => {
                let c = self.condition(depth);
                let (x, y) = (self.expr(ty, depth), self.expr(ty, depth));
                let ours = format!("(if {} {{ {} }} else {{ {} }})", c.ours, x.ours, y.ours);
                Both::new(ours, format!("({} if {} else {})", x.theirs, c.theirs, y.theirs), x.typed || y.typed)
            }
            5 => {
                let which = ["min", "max"][self.below(2)];
                let (x, y) = (self.expr(ty, depth), self.expr(ty, depth));
                let text = |x: &str, y: &str| format!("{which}({x}, {y})");
                Both::new(text(&x.ours, &y.ours), text(&x.theirs, &y.theirs), x.typed || y.typed)
            }
            6 if !signed => {
                let x = self.certain(ty, depth);
                Both::new(format!("sqrt({})", x.ours), format!("math.isqrt({})", x.theirs), true)
            }
            7 => {
                let (x, y) = (self.certain(ty, depth), self.expr(ty, depth));
                let k = self.certain((3, false), depth);
                // The only numbers of i1 are 0 and -1.
                let one = if ty == (1, true) { "0" } else { "1" };
                let ours = format!("[{}, {}, {one}][{} as usize]", x.ours, y.ours, k.ours);
                Both::new(ours, format!("pick([{}, {}, {one}], {})", x.theirs, y.theirs, k.theirs), true)
            }
            8 | 9 => self.shift(ty, depth),
            10..=12 => self.method(ty, depth),
            _ => self.binary(ty, depth),
        }
    }

    fn shift(&mut self, ty: Ty, depth: usize) -> Both {
        let (op, function) = [("<<", "shl"), (">>", "shr")][self.below(2)];
        let x = self.expr(ty, depth);
        let amount = match self.below(3) {
            // It is an i32.
            0 => {
                let amount = self.below(usize::from(ty.0) + 2);
                Both::new(amount.to_string(), amount.to_string(), false)
            }
            1 => {
                let own = self.ty();
                self.certain(own, depth)
            }
            _ => self.certain((7, false), 0),
        };
        let theirs = format!("{function}({}, {}, {})", python(ty), x.theirs, amount.theirs);
        Both::new(format!("({} {op} {})", x.ours, amount.ours), theirs, x.typed)
    }

    fn method(&mut self, ty: Ty, depth: usize) -> Both {
        let (bits, signed) = ty;
        let t = python(ty);
        let x = self.certain(ty, depth);
        let with = |method: String, theirs: String| Both::new(format!("{}.{method}", x.ours), theirs, true);
        match self.below(9) {
            0..=2 => {
                let y = self.expr(ty, depth);
                let (name, function, op) = [
                    ("wrapping_add", "wrap", "+"),
                    ("wrapping_sub", "wrap", "-"),
                    ("wrapping_mul", "wrap", "*"),
                    ("saturating_add", "saturate", "+"),
                    ("saturating_sub", "saturate", "-"),
                ][self.below(5)];
                with(format!("{name}({})", y.ours), format!("{function}({t}, {} {op} {})", x.theirs, y.theirs))
            }
            3 => {
                let by = self.certain((32, false), 0);
                let (name, sign) = [("left", ""), ("right", "-")][self.below(2)];
                with(format!("rotate_{name}({})", by.ours), format!("rotate({t}, {}, {sign}{})", x.theirs, by.theirs))
            }
            4 => with("wrapping_neg()".into(), format!("wrap({t}, -{})", x.theirs)),
            5 if signed => with("abs()".into(), format!("fit({t}, abs({}))", x.theirs)),
            5 => with("isqrt()".into(), format!("math.isqrt({})", x.theirs)),
            6 => {
                let exponent = self.below(5);
                with(format!("pow({exponent})"), format!("fit({t}, {} ** {exponent})", x.theirs))
            }
            7 if !signed => {
                let other = (bits, self.chance(50));
                let (x, y) = (self.certain(other, depth), self.expr(other, depth));
                let theirs = format!("abs({} - {})", x.theirs, y.theirs);
                Both::new(format!("{}.abs_diff({})", x.ours, y.ours), theirs, true)
            }
            7 => {
                let method = ["min", "max"][self.below(2)];
                let y = self.expr(ty, depth);
                with(format!("{method}({})", y.ours), format!("{method}({}, {})", x.theirs, y.theirs))
            }
            _ => {
                let of = self.ty();
                let x = self.certain(of, depth);
                let o = python(of);
                let (name, theirs) = [
                    ("count_ones", format!("bits({o}, {}).bit_count()", x.theirs)),
                    ("count_zeros", format!("({} - bits({o}, {}).bit_count())", of.0, x.theirs)),
                    ("leading_zeros", format!("leading({o}, {})", x.theirs)),
                    ("trailing_zeros", format!("trailing({o}, {})", x.theirs)),
                ][self.below(4)]
                .clone();
                let ours = format!("({}.{name}() as {})", x.ours, self::name(ty));
                Both::new(ours, format!("wrap({t}, {theirs})"), true)
            }
        }
    }

    fn binary(&mut self, ty: Ty, depth: usize) -> Both {
        let op = ["+", "-", "*", "/", "%", "&", "|", "^"][self.below(8)];
        let (x, y) = (self.expr(ty, depth), self.expr(ty, depth));
        let t = python(ty);
        let theirs = match op {
            "/" => format!("div({t}, {}, {})", x.theirs, y.theirs),
            "%" => format!("rem({t}, {}, {})", x.theirs, y.theirs),
            "+" | "-" | "*" => format!("fit({t}, {} {op} {})", x.theirs, y.theirs),
            _ => format!("({} {op} {})", x.theirs, y.theirs),
        };
        Both::new(format!("({} {op} {})", x.ours, y.ours), theirs, x.typed || y.typed)
    }

    fn condition(&mut self, depth: usize) -> Both {
        let ty = self.ty();
        if self.chance(30) {
            // A pattern has the type of what it is compared with.
            let x = self.certain(ty, depth);
            let mut ends = [self.value(ty), self.value(ty)];
            ends.sort();
            let suffix = if self.chance(self.suffixed) { name(ty) } else { String::new() };
            let [lo, hi] = ends;
            let ours = format!("(match {} {{ {lo}{suffix}..={hi}{suffix} => true, _ => false }})", x.ours);
            return Both::new(ours, format!("({lo} <= {} <= {hi})", x.theirs), true);
        }
        let op = ["<", ">", "<=", ">=", "==", "!="][self.below(6)];
        let (x, y) = (self.certain(ty, depth), self.expr(ty, depth));
        let (x, y) = if self.chance(50) { (x, y) } else { (y, x) };
        let text = |x: &str, y: &str| format!("({x} {op} {y})");
        Both::new(text(&x.ours, &y.ours), text(&x.theirs, &y.theirs), true)
    }

    /// A program, in both, and the types of its parameters and its result.
    fn program(&mut self, number: usize) -> (String, String, [Ty; 3]) {
        let [a, b, result, constant] = [(); 4].map(|()| self.ty());
        let value = self.value(constant);
        let mut ours = format!("const K: {} = {value};\n", name(constant));
        let mut theirs = format!("def f{number}(a, b):\n K = {value}\n");
        self.scope = vec![("a".into(), a), ("b".into(), b), ("K".into(), constant)];
        writeln!(ours, "pub fn main(a: {}, b: {}) -> {} {{", name(a), name(b), name(result)).unwrap();
        for k in 0..1 + self.below(3) {
            let ty = self.ty();
            let variable = format!("v{k}");
            if self.chance(30) {
                // Only its use says of which type it is.
                let (x, y) = (self.literal(ty, false), self.variable(ty));
                write!(ours, "    let {variable} = {};\n    let w{k} = {variable} ^ {};\n", x.ours, y.ours).unwrap();
                write!(theirs, " {variable} = {}\n w{k} = {variable} ^ {}\n", x.theirs, y.theirs).unwrap();
                self.scope.push((format!("w{k}"), ty));
            } else {
                let is_stated = self.chance(50);
                let x = if is_stated { self.expr(ty, 3) } else { self.certain(ty, 3) };
                let stated = if is_stated { format!(": {}", name(ty)) } else { String::new() };
                writeln!(ours, "    let {variable}{stated} = {};", x.ours).unwrap();
                writeln!(theirs, " {variable} = {}", x.theirs).unwrap();
            }
            self.scope.push((variable, ty));
        }
        let x = self.expr(result, 3);
        write!(ours, "    {}\n}}\n", x.ours).unwrap();
        writeln!(theirs, " return {}", x.theirs).unwrap();
        (ours, theirs, [a, b, result])
    }
}

/// The answers of Python to a script, a line each; none without Python.
fn answers(script: &str) -> Option<Vec<String>> {
    let mut python = Command::new("python3").arg("-").stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().ok()?;
    python.stdin.take().expect("a pipe").write_all(script.as_bytes()).expect("a script");
    let output = python.wait_with_output().expect("an end");
    assert!(output.status.success(), "Python fails");
    Some(String::from_utf8(output.stdout).expect("text").lines().map(String::from).collect())
}

/// The result as a number, or the reason of the panic.
fn run(program: &Program, inputs: &[Bits]) -> String {
    let outputs = evaluate(program, inputs);
    if let Some(Panics::On { output: Some(at), places }) = &program.notes().panics {
        let code = outputs[*at].to_u128().expect("a code");
        if code > 0 {
            let place = &places[code as usize - 1];
            return format!("panic {}", place.rsplit(": ").next().expect("a reason"));
        }
    }
    shown(program, &outputs)
}

fn shown(program: &Program, outputs: &[Bits]) -> String {
    to_json(&program.outputs()[0].port.ty, &outputs[0]).to_string().trim_matches('"').into()
}

fn inputs(program: &Program, values: &[String]) -> Vec<Bits> {
    let ports = program.inputs().iter().zip(values);
    ports.map(|(input, value)| read_value("i", &format!("\"{value}\""), &input.port.ty).expect("a value")).collect()
}

#[test]
fn random_programs_compute_what_python_computes() {
    let mut rng = TestRng::deterministic_rng(RngAlgorithm::ChaCha);
    let mut script = String::from(ORACLE);
    let mut all = Vec::new();
    for number in 0..programs() {
        let mut generator = Generator { rng: &mut rng, suffixed: 0, scope: Vec::new(), types: Vec::new() };
        generator.suffixed = [0, 0, 20, 50, 90][generator.below(5)];
        generator.types = (0..3).map(|_| (generator.width(), generator.below(2) == 0)).collect();
        let (ours, theirs, [a, b, _]) = generator.program(number);
        script += &theirs;
        let mut runs = Vec::new();
        for _ in 0..RUNS {
            let values = [generator.value(a).to_string(), generator.value(b).to_string()];
            writeln!(script, "run(f{number}, {})", values.join(", ")).unwrap();
            runs.push(values);
        }
        all.push((ours, runs));
    }
    let Some(answers) = answers(&script) else {
        return eprintln!("left out: there is no python3");
    };
    let (mut panics, mut certain, mut values) = (0, 0, 0);
    for (number, ((text, runs), expected)) in all.into_iter().zip(answers.chunks(RUNS)).enumerate() {
        let program = match compile(&text, &[], true) {
            Ok(program) => program,
            Err(error) => {
                assert!(error.to_string().contains("this always panics"), "{number}: {}\n{text}", error.render());
                assert!(expected.iter().all(|answer| answer.starts_with("panic")), "{number} is refused\n{text}");
                certain += 1;
                continue;
            }
        };
        let unchecked = compile(&text, &[], false).expect("a program");
        for (own, expected) in runs.iter().zip(expected) {
            let bits = inputs(&program, own);
            assert_eq!(&run(&program, &bits), expected, "program {number} of {own:?}\n{text}");
            if expected.starts_with("panic") {
                panics += 1;
                continue;
            }
            values += 1;
            // What does not panic computes the same without checks.
            assert_eq!(&shown(&unchecked, &evaluate(&unchecked, &bits)), expected, "{number} without checks\n{text}");
        }
    }
    println!("{values} values, {panics} panics; {certain} programs panic for certain");
    assert!(values > panics / 3 && panics > values / 20, "{values} values, {panics} panics");
}

#[test]
fn all_values_of_narrow_types() {
    type Operation = (&'static str, fn(i64, i64) -> Option<i64>);
    let operations: [Operation; 8] = [
        ("a + b", i64::checked_add),
        ("a - b", i64::checked_sub),
        ("a * b", i64::checked_mul),
        ("a / b", i64::checked_div),
        ("a % b", i64::checked_rem),
        ("a << b", |a, b| Some(a << b)),
        ("a >> b", |a, b| Some(a >> b)),
        ("min(a, b) ^ max(a, b)", |a, b| Some(a.min(b) ^ a.max(b))),
    ];
    for ty @ (bits, signed) in (1..=3).flat_map(|bits| [(bits, false), (bits, true)]) {
        let (low, high) = if signed { (-(1 << (bits - 1)), (1 << (bits - 1)) - 1) } else { (0, (1 << bits) - 1) };
        let wrap = |value: i64| {
            let low = value & ((1 << bits) - 1);
            if low > high { low - (1 << bits) } else { low }
        };
        for (text, of) in operations {
            let source = format!("pub fn main(a: {0}, b: {0}) -> {0} {{ {text} }}", name(ty));
            let program = compile(&source, &[], true).unwrap_or_else(|e| panic!("{source}: {}", e.render()));
            for (a, b) in (low..=high).flat_map(|a| (low..=high).map(move |b| (a, b))) {
                let is_shift = text.contains("<<") || text.contains(">>");
                let exact = if is_shift && !(0..i64::from(bits)).contains(&b) { None } else { of(a, b) };
                let fits = |value: i64| is_shift || (low..=high).contains(&value);
                // The remainder of the least number by -1 overflows with the quotient.
                let is_least = text == "a % b" && signed && a == low && b == -1;
                let got = run(&program, &inputs(&program, &[a.to_string(), b.to_string()]));
                match exact.filter(|value| fits(*value) && !is_least) {
                    Some(value) => assert_eq!(got, wrap(value).to_string(), "{text} of {a} and {b}, {}", name(ty)),
                    None => assert!(got.starts_with("panic"), "{text} of {a} and {b}, {}: {got}", name(ty)),
                }
            }
        }
    }
}

#[test]
fn structs_arrays_constants_and_json_have_any_width() {
    let text = "struct S { x: u256, y: [i300; 2] }
        const N: u4096 = PARTY_0::N;
        const M: i300 = -0x1_0000_0000_0000_0000_0000_0000_0000_0000_0000_0000_0000_0000;
        #[hex]
        pub fn main(s: S, key: [u8; 2]) -> (u256, i300, u4096, [u8; 2], u1) {
            let kind = match s.x {
                0 => 1,
                1..=115792089237316195423570985008687907853269984665640564039457584007913129639934 => 0,
                u256::MAX => 1,
            };
            (s.x + 1u256 - 1, s.y[kind as usize] + M, N, key, kind)
        }";
    let n: BigInt = (BigInt::from(1) << 4096) - 1;
    let program = compile(text, &[("PARTY_0::N", &n.to_string())], true).unwrap_or_else(|e| panic!("{}", e.render()));
    let x = "0x8000000000000000000000000000000000000000000000000000000000000000";
    let s = read_value("i", &format!("{{\"x\": \"{x}\", \"y\": [5, -7]}}"), &program.inputs()[0].port.ty).unwrap();
    let key = read_value("i", "{\"hex\": \"01ff\"}", &program.inputs()[1].port.ty).unwrap();
    let outputs = evaluate(&program, &[s, key]);
    let (m, half): (BigInt, BigInt) = (BigInt::from(-1) << 192, BigInt::from(1) << 255);
    for (at, expected) in
        [format!("\"{half}\""), format!("\"{}\"", m + 5), format!("\"{n}\""), "{\"hex\":\"01ff\"}".into(), "0".into()]
            .into_iter()
            .enumerate()
    {
        assert_eq!(to_json(&program.outputs()[at].port.ty, &outputs[at]).to_string(), expected, "{at}");
    }
}
