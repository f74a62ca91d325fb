//! The same source by us and by `garble_lang`, on the same random inputs.

use std::collections::HashMap;

use garble_lang::{
    CompileOptions, GarbleProgram,
    ast::{ConstExpr, ConstExprEnum, Type, Variant},
    circuit_type::CircuitType,
    literal::Literal,
    token::{SignedNumType, UnsignedNumType},
};
use garblet_circuit::{Bits, Program, diagnostic::Diagnostics, evaluate_many, notes::Panics};
use garblet_formats::front_end::FrontEnds;
use garblet_lang::{Constants, Language, Options};
use proptest::test_runner::TestRng;
use rand_core::Rng;

/// The outcome of a run: the bits of the result, each scalar with its least significant bit first, or the place and
/// reason of a panic.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Outcome {
    Value(Vec<bool>),
    /// Line, column, and why.
    Panic(u64, u64, &'static str),
}

impl Outcome {
    /// The outcome without the column of a panic: here, as in Rust, a place has its parentheses.
    pub(crate) fn by_line(&self) -> Self {
        match self {
            Outcome::Panic(line, _, reason) => Outcome::Panic(*line, 0, reason),
            value => value.clone(),
        }
    }
}

/// A source, compiled by both.
pub(crate) struct Both {
    pub(crate) ours: Program,
    theirs: GarbleProgram,
    /// Random numbers are below, 0 for all that a type has.
    pub(crate) numbers_end: u64,
}

/// Compiles by us.
pub(crate) fn compile(text: &str, constants: &[(&str, &str)], panics: bool) -> Result<Program, Diagnostics> {
    let mut given = Constants::default();
    for (name, value) in constants {
        given.set(name, value).expect("a constant");
    }
    let options = Options { constants: given, panics, ..Options::default() };
    FrontEnds::standard().with(Language { options }).read("main.garble.rs", &mut text.as_bytes())
}

impl Both {
    pub(crate) fn new(text: &str, constants: &[(&str, &str, Literal)]) -> Self {
        let own: Vec<(String, String)> =
            constants.iter().map(|(party, name, value)| (format!("{party}::{name}"), plain(value))).collect();
        let own: Vec<(&str, &str)> = own.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
        let ours = compile(text, &own, true).unwrap_or_else(|e| panic!("{}\n{text}", e.render()));
        let mut consts: HashMap<String, HashMap<String, Literal>> = HashMap::new();
        for (party, name, value) in constants {
            consts.entry(party.to_string()).or_default().insert(name.to_string(), value.clone());
        }
        // Gates that are made twice are two wires, so that checks on them are not mistaken for one another.
        let options = CompileOptions { consts, optimize_duplicate_gates: false, ..CompileOptions::default() };
        let theirs = garble_lang::compile_with_options(text, options);
        let theirs = theirs.unwrap_or_else(|e| panic!("{}\n{text}", e.prettify(text)));
        Both { ours, theirs, numbers_end: 0 }
    }

    /// The AND gates of `garble_lang`'s circuit.
    pub(crate) fn their_ands(&self) -> usize {
        match &self.theirs.circuit {
            CircuitType::Ssa(circuit) => circuit.and_gates(),
            CircuitType::Register(_) => 0,
        }
    }

    /// Runs both on so many random inputs: our outcomes and theirs.
    pub(crate) fn run(&self, count: usize, rng: &mut TestRng) -> Vec<(Outcome, Outcome)> {
        self.run_with_inputs(count, rng).into_iter().map(|(_, ours, theirs)| (ours, theirs)).collect()
    }

    /// As [`Both::run`], and the inputs' bits.
    pub(crate) fn run_with_inputs(&self, count: usize, rng: &mut TestRng) -> Vec<(Vec<Vec<bool>>, Outcome, Outcome)> {
        let inputs: Vec<_> = (0..count).map(|_| self.inputs(rng)).collect();
        let own: Vec<&[Bits]> = inputs.iter().map(|(ours, _)| &ours[..]).collect();
        let outcomes = evaluate_many(&self.ours, &own).into_iter().zip(&inputs);
        let joined = outcomes.map(|(outputs, (ours, theirs))| {
            let bits = ours.iter().map(|input| input.iter().collect()).collect();
            (bits, outcome(&self.ours, &outputs), self.their_outcome(theirs))
        });
        joined.collect()
    }

    fn inputs(&self, rng: &mut TestRng) -> (Vec<Bits>, Vec<Vec<bool>>) {
        let (mut ours, mut theirs) = (Vec::new(), Vec::new());
        let mut add = |ty: &Type| {
            let mut value = Value { both: self, ours: Vec::new(), theirs: Vec::new() };
            value.random(ty, rng);
            ours.push(value.ours.into_iter().collect());
            theirs.push(value.theirs);
        };
        match &self.theirs.main.params[..] {
            [param] => match self.array(&param.ty) {
                Some((element, count)) => (0..count).for_each(|_| add(element)),
                None => add(&param.ty),
            },
            params => params.iter().for_each(|param| add(&param.ty)),
        }
        (ours, theirs)
    }

    fn array<'t>(&self, ty: &'t Type) -> Option<(&'t Type, usize)> {
        match ty {
            Type::Array(element, count) => Some((element, *count)),
            Type::ArrayConst(element, name) => Some((element, self.theirs.const_sizes[name])),
            Type::ArrayConstExpr(element, expr) => Some((element, self.size(expr))),
            _ => None,
        }
    }

    fn size(&self, ConstExpr(expr, _): &ConstExpr) -> usize {
        match expr {
            ConstExprEnum::NumUnsigned(value, _) => *value as usize,
            ConstExprEnum::ConstExprIdent(name) => self.theirs.const_sizes[name],
            ConstExprEnum::Add(a, b) => self.size(a) + self.size(b),
            ConstExprEnum::Sub(a, b) => self.size(a) - self.size(b),
            other => panic!("size {other}"),
        }
    }

    fn their_outcome(&self, inputs: &[Vec<bool>]) -> Outcome {
        let CircuitType::Ssa(circuit) = &self.theirs.circuit else { panic!("an SSA circuit") };
        let bits = circuit.eval(inputs);
        let number = |at: usize| bits[1 + 32 * at..33 + 32 * at].iter().fold(0u64, |n, &b| n << 1 | u64::from(b));
        if bits[0] {
            let reason = ["", "arithmetic overflow", "division by zero", "index out of bounds"][number(0) as usize];
            // Its scanner counts the columns of the first line from one less.
            let column = number(2) + if number(1) == 0 { 2 } else { 1 };
            return Outcome::Panic(number(1) + 1, column, reason);
        }
        let mut value = Value { both: self, ours: Vec::new(), theirs: bits[161..].to_vec() };
        let at = value.turn(&self.theirs.main.ty, 0);
        assert_eq!(at + 161, bits.len());
        Outcome::Value(value.ours)
    }
}

/// The outcomes of a program of ours for inputs' bits.
pub(crate) fn outcomes<'a>(program: &Program, inputs: impl Iterator<Item = &'a [Vec<bool>]>) -> Vec<Outcome> {
    let inputs: Vec<Vec<Bits>> =
        inputs.map(|inputs| inputs.iter().map(|bits| bits.iter().copied().collect()).collect()).collect();
    let inputs: Vec<&[Bits]> = inputs.iter().map(Vec::as_slice).collect();
    evaluate_many(program, &inputs).iter().map(|outputs| outcome(program, outputs)).collect()
}

fn outcome(program: &Program, outputs: &[Bits]) -> Outcome {
    let mut end = outputs.len();
    if let Some(panics @ Panics::On { output: Some(at), .. }) = &program.notes().panics {
        end = *at;
        let code = outputs[*at].to_u128().unwrap();
        if code != 0 {
            return place(panics.reason(code).expect("a place"));
        }
    }
    Outcome::Value(outputs[..end].iter().flat_map(|bits| bits.iter().collect::<Vec<_>>()).collect())
}

/// The place and reason of `file:line:column: reason`.
pub(crate) fn place(text: &str) -> Outcome {
    let parts: Vec<&str> = text.splitn(4, ':').collect();
    let reason = ["arithmetic overflow", "division by zero", "index out of bounds"];
    let reason = reason.into_iter().find(|r| parts[3].trim() == *r).expect("a reason");
    Outcome::Panic(parts[1].parse().unwrap(), parts[2].parse().unwrap(), reason)
}

fn plain(value: &Literal) -> String {
    match value {
        Literal::NumUnsigned(value, _) => value.to_string(),
        Literal::NumSigned(value, _) => value.to_string(),
        other => other.to_string(),
    }
}

/// A value in our order of bits and in theirs, where the most significant bit is first.
struct Value<'a> {
    both: &'a Both,
    ours: Vec<bool>,
    theirs: Vec<bool>,
}

impl Value<'_> {
    fn random(&mut self, ty: &Type, rng: &mut TestRng) {
        match scalar_bits(ty) {
            Some(bits) => match self.both.numbers_end {
                0 => self.push(interesting(bits, rng), bits),
                end => self.push(rng.next_u64() % end, bits),
            },
            None => match ty {
                Type::Tuple(fields) => fields.iter().for_each(|ty| self.random(ty, rng)),
                Type::Struct(name) => {
                    let fields = &self.both.theirs.program.struct_defs[name].fields;
                    fields.iter().for_each(|(_, ty)| self.random(ty, rng));
                }
                Type::Enum(name) => {
                    let variants = &self.both.theirs.program.enum_defs[name].variants;
                    let (tag, whole) = self.enum_bits(name);
                    let chosen = rng.next_u32() as usize % variants.len();
                    let end = self.ours.len() + whole;
                    self.push(chosen as u64, tag);
                    fields(&variants[chosen]).iter().for_each(|ty| self.random(ty, rng));
                    self.ours.resize(end, false);
                    self.theirs.resize(end, false);
                }
                array => {
                    let (element, count) = self.both.array(array).expect("an array");
                    (0..count).for_each(|_| self.random(element, rng));
                }
            },
        }
    }

    fn push(&mut self, value: u64, bits: usize) {
        self.ours.extend((0..bits).map(|i| value >> i & 1 == 1));
        self.theirs.extend((0..bits).rev().map(|i| value >> i & 1 == 1));
    }

    /// Appends to ours the value that is in theirs from `at` on, and says where it ends.
    fn turn(&mut self, ty: &Type, at: usize) -> usize {
        if let Some(bits) = scalar_bits(ty) {
            let own: Vec<bool> = self.theirs[at..at + bits].iter().rev().copied().collect();
            self.ours.extend(own);
            return at + bits;
        }
        match ty {
            Type::Tuple(fields) => fields.iter().fold(at, |at, ty| self.turn(ty, at)),
            Type::Struct(name) => {
                let fields = &self.both.theirs.program.struct_defs[name].fields;
                fields.iter().fold(at, |at, (_, ty)| self.turn(ty, at))
            }
            Type::Enum(name) => {
                let variants = &self.both.theirs.program.enum_defs[name].variants;
                let (tag, whole) = self.enum_bits(name);
                let number = self.theirs[at..at + tag].iter().fold(0, |n, &b| n << 1 | usize::from(b));
                let end = self.ours.len() + whole;
                self.ours.extend((0..tag).map(|i| number >> i & 1 == 1));
                fields(&variants[number]).iter().fold(at + tag, |at, ty| self.turn(ty, at));
                self.ours.resize(end, false);
                at + whole
            }
            array => {
                let (element, count) = self.both.array(array).expect("an array");
                (0..count).fold(at, |at, _| self.turn(element, at))
            }
        }
    }

    /// The bits of an enum's tag, and of the whole enum.
    fn enum_bits(&self, name: &str) -> (usize, usize) {
        let variants = &self.both.theirs.program.enum_defs[name].variants;
        let tag = variants.len().next_power_of_two().trailing_zeros() as usize;
        let most = variants.iter().map(|v| fields(v).iter().map(|ty| self.bits(ty)).sum::<usize>()).max();
        (tag, tag + most.unwrap_or(0))
    }

    fn bits(&self, ty: &Type) -> usize {
        scalar_bits(ty).unwrap_or_else(|| match ty {
            Type::Tuple(fields) => fields.iter().map(|ty| self.bits(ty)).sum(),
            Type::Struct(name) => {
                self.both.theirs.program.struct_defs[name].fields.iter().map(|(_, ty)| self.bits(ty)).sum()
            }
            Type::Enum(name) => self.enum_bits(name).1,
            array => self.both.array(array).map(|(element, count)| count * self.bits(element)).expect("an array"),
        })
    }
}

fn fields(variant: &Variant) -> &[Type] {
    match variant {
        Variant::Unit(_) => &[],
        Variant::Tuple(_, fields) => fields,
    }
}

/// A number: small, near the ends, or any.
fn interesting(bits: usize, rng: &mut TestRng) -> u64 {
    match rng.next_u32() % 4 {
        0 => u64::from(rng.next_u32() % 8),
        1 => u64::MAX - u64::from(rng.next_u32() % 4),
        2 => (1u64 << (bits - 1)).wrapping_sub(u64::from(rng.next_u32() % 3)),
        _ => rng.next_u64(),
    }
}

fn scalar_bits(ty: &Type) -> Option<usize> {
    Some(match ty {
        Type::Bool => 1,
        Type::Unsigned(UnsignedNumType::U8) | Type::Signed(SignedNumType::I8) => 8,
        Type::Unsigned(UnsignedNumType::U16) | Type::Signed(SignedNumType::I16) => 16,
        Type::Unsigned(UnsignedNumType::U64) | Type::Signed(SignedNumType::I64) => 64,
        Type::Unsigned(_) | Type::Signed(_) => 32,
        _ => return None,
    })
}
