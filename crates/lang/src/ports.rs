//! Ports: the inputs of parties as words, and the result's words as wires.

use garblet_circuit::{InputId, Type};

use crate::{
    assemble::InputWires,
    control::push_wires,
    machine::{Machine, Slot},
    source_error::SourceError,
    trace::{INPUTS, Read},
    tree::{EnumTy, Scalar, Span, Ty, count_scalar},
    word::{Node, Word},
};

/// The memory of wires that an output reads, and of their link.
const OUTPUT_BYTES: u64 = 64;

/// The type of a port.
pub(crate) fn port_type(ty: &Ty) -> Type {
    match ty {
        Ty::Scalar(Scalar { boolean: true, .. }) => Type::Bool,
        Ty::Scalar(Scalar { fraction: Some(fraction), bits, .. }) => {
            Type::Fixed((bits - fraction).into(), (*fraction).into())
        }
        Ty::Scalar(Scalar { float: Some(format), .. }) => Type::Float(*format),
        Ty::Scalar(Scalar { signed: true, bits, .. }) => Type::Signed((*bits).into()),
        Ty::Scalar(Scalar { bits, .. }) => Type::Unsigned((*bits).into()),
        Ty::Array(element, count) => Type::Array(Box::new(port_type(element)), *count),
        Ty::List(element, most) => Type::List(Box::new(port_type(element)), *most),
        Ty::Record(fields) => Type::Record(fields.iter().map(|(name, ty)| (name.clone(), port_type(ty))).collect()),
        Ty::Enum(e) => Type::Enum(
            e.variants.iter().map(|(name, fields)| (name.clone(), fields.iter().map(port_type).collect())).collect(),
        ),
    }
}

/// The type with byte strings in the place of arrays of u8, on the same wires.
pub(crate) fn with_bytes(ty: Type) -> Type {
    let fields = |fields: Vec<Type>| fields.into_iter().map(with_bytes).collect();
    match ty {
        Type::Array(element, count) if *element == Type::Unsigned(8) => Type::Bytes(count),
        Type::Array(element, count) => Type::Array(Box::new(with_bytes(*element)), count),
        Type::List(element, most) => Type::List(Box::new(with_bytes(*element)), most),
        Type::Record(fields) => Type::Record(fields.into_iter().map(|(name, ty)| (name, with_bytes(ty))).collect()),
        Type::Enum(variants) => Type::Enum(variants.into_iter().map(|(name, types)| (name, fields(types))).collect()),
        other => other,
    }
}

/// Makes words of inputs.
pub(crate) struct InputReader<'a> {
    pub(crate) input: InputId,
    pub(crate) wires: &'a mut InputWires,
}

impl InputReader<'_> {
    /// Appends the words of a value whose wires begin at `start`.
    pub(crate) fn words(&mut self, ty: &Ty, start: u32, into: &mut Vec<Word>) {
        match ty {
            Ty::Scalar(scalar) => into.push(self.word(*scalar, start)),
            Ty::Array(element, _) if element.words() == 0 => {}
            Ty::Array(element, count) => {
                let width = element.width() as u32;
                (0..*count).for_each(|k| self.words(element, start + k * width, into));
            }
            Ty::List(element, most) => {
                let count = count_scalar(*most);
                into.push(self.word(count, start));
                let (first, width) = (start + u32::from(count.bits), element.width() as u32);
                (0..*most).for_each(|k| self.words(element, first + k * width, into));
            }
            Ty::Record(fields) => self.fields(fields.iter().map(|(_, ty)| ty), start, into),
            Ty::Enum(e) => {
                into.push(self.word(e.tag(), start));
                for (_, fields) in &e.variants {
                    self.fields(fields.iter(), start + u32::from(e.tag().bits), into);
                }
            }
        }
    }

    fn fields<'t>(&mut self, fields: impl Iterator<Item = &'t Ty>, mut start: u32, into: &mut Vec<Word>) {
        for ty in fields {
            self.words(ty, start, into);
            start += ty.width() as u32;
        }
    }

    fn word(&mut self, ty: Scalar, start: u32) -> Word {
        let node = Node { region: INPUTS, index: self.wires.len() as u32 };
        self.wires.push((self.input, start));
        Word::of_node(node, 0, (ty.min(), ty.max()))
    }
}

impl Machine<'_> {
    /// Appends the wires of the value at `slot`, and gives the slot after it.
    ///
    /// *Errors*: a source that costs more than it may.
    pub(crate) fn wires_of(
        &mut self,
        ty: &Ty,
        slot: Slot,
        span: Span,
        into: &mut Vec<Read>,
    ) -> Result<Slot, SourceError> {
        let bits = if let Ty::List(..) | Ty::Enum(_) = ty { ty.width() as usize } else { 0 };
        // A word for each bit, and those that they are made of.
        self.hold_words(bits.saturating_mul(3), span)?;
        let before = into.len();
        let end = match ty {
            Ty::Scalar(scalar) => {
                push_wires(self.stack[slot], *scalar, into);
                slot + 1
            }
            Ty::Array(element, _) if element.words() == 0 => slot,
            Ty::Array(element, count) => {
                return (0..*count).try_fold(slot, |slot, _| self.wires_of(element, slot, span, into));
            }
            Ty::List(_, most) => {
                let wires = self.list_wires(ty, slot, span);
                push_wires(self.stack[slot], count_scalar(*most), into);
                wires.into_iter().for_each(|wire| push_wires(wire, Scalar::BOOL, into));
                slot + ty.words()
            }
            Ty::Record(fields) => {
                return fields.iter().try_fold(slot, |slot, (_, ty)| self.wires_of(ty, slot, span, into));
            }
            Ty::Enum(e) => {
                let wires = self.enum_wires(e, slot, span);
                push_wires(self.stack[slot], e.tag(), into);
                wires.into_iter().for_each(|wire| push_wires(wire, Scalar::BOOL, into));
                slot + ty.words()
            }
        };
        self.drop_words(bits.saturating_mul(3), span);
        let reads = into.len() - before;
        self.trace.budget.hold(OUTPUT_BYTES * reads as u64);
        self.work(bits.saturating_add(1 + 2 * reads))?;
        Ok(end)
    }

    /// The wires of an enum's fields: those of its actual variant, and zeros; nothing of the other variants.
    fn enum_wires(&mut self, e: &EnumTy, slot: Slot, span: Span) -> Vec<Word> {
        let mut merged = vec![Word::FALSE; e.payload() as usize];
        let tag = self.stack[slot];
        for (variant, (_, fields)) in e.variants.iter().enumerate() {
            let is_it = self.is_variant(tag, variant, span);
            let mut own = Vec::new();
            let mut at = slot + e.offset(variant);
            for ty in fields {
                at = self.bits_of(ty, at, span, &mut own);
            }
            for (merged, wire) in merged.iter_mut().zip(own) {
                let wire = self.and(is_it, wire, span);
                *merged = self.xor(*merged, wire, span);
            }
        }
        merged
    }

    /// Appends the bits of the value at `slot`, and gives the slot after it.
    pub(crate) fn bits_of(&mut self, ty: &Ty, slot: Slot, span: Span, into: &mut Vec<Word>) -> Slot {
        match ty {
            Ty::Scalar(scalar) => {
                let word = self.cast(self.stack[slot], Scalar::unsigned(scalar.bits), span);
                into.extend((0..scalar.bits).map(|k| crate::arithmetic::bit(word, k)));
                slot + 1
            }
            Ty::Array(element, _) if element.words() == 0 => slot,
            Ty::Array(element, count) => (0..*count).fold(slot, |slot, _| self.bits_of(element, slot, span, into)),
            Ty::List(_, most) => {
                let wires = self.list_wires(ty, slot, span);
                let count = self.stack[slot];
                into.extend((0..count_scalar(*most).bits).map(|k| crate::arithmetic::bit(count, k)));
                into.extend(wires);
                slot + ty.words()
            }
            Ty::Record(fields) => fields.iter().fold(slot, |slot, (_, ty)| self.bits_of(ty, slot, span, into)),
            Ty::Enum(e) => {
                let wires = self.enum_wires(e, slot, span);
                let tag = self.stack[slot];
                into.extend((0..e.tag().bits).map(|k| crate::arithmetic::bit(tag, k)));
                into.extend(wires);
                slot + ty.words()
            }
        }
    }
}
