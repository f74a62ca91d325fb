//! Integers of any size, for every computation on values of the language.

use std::{
    cell::{Cell, RefCell},
    cmp::Ordering,
    collections::HashMap,
    rc::Rc,
};

use garblet_circuit::Float;
use garblet_formats::value::{bits_of_float, is_exact_float};
use num_bigint::{BigInt, Sign};

/// An integer of any size, which is copied as those of the machine are.
///
/// One that is beyond 128 bits stands in a table of the thread. Equal numbers have one entry there, so comparing two for equality reads
/// neither. The entries live until the compiler [clears](clear) the table.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct Number(Form);

#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Form {
    /// Every number that fits.
    Small(i128),
    /// The number of the entry, and what is asked most: the sign, and the wires beside that of the sign.
    Large { negative: bool, digits: u16, entry: u32 },
}

/// The large numbers of a thread.
#[derive(Default)]
struct Table {
    entries: Vec<Rc<BigInt>>,
    known: HashMap<Rc<BigInt>, u32>,
    /// Powers of two, and the numbers before them, by exponent: the ends of types.
    powers: [Vec<Option<Number>>; 2],
}

/// The memory of an entry beside its digits.
const ENTRY_BYTES: u64 = 96;

thread_local! {
    static TABLE: RefCell<Table> = RefCell::default();
    /// The units of work that large numbers have cost, and the bytes that their entries have taken, since they were last asked for, which is often.
    static SPENT: Cell<[u64; 2]> = const { Cell::new([0; 2]) };
}

/// Forgets all large numbers of this thread. None may be used afterwards.
pub(crate) fn clear() {
    TABLE.take();
    SPENT.take();
}

/// The units of work that large numbers have cost since the last call, and the bytes that they have taken.
pub(crate) fn spent() -> [u64; 2] {
    SPENT.take()
}

fn spend(work: u64, bytes: u64) {
    let [before, taken] = SPENT.get();
    SPENT.set([before.saturating_add(work), taken.saturating_add(bytes)]);
}

pub(crate) const ZERO: Number = number(0);
pub(crate) const ONE: Number = number(1);

/// The number.
pub(crate) const fn number(value: i128) -> Number {
    Number(Form::Small(value))
}

/// 2 to that power.
pub(crate) fn power(exponent: u16) -> Number {
    limit(exponent, 0)
}

/// The greatest number of that many binary digits.
pub(crate) fn mask(digits: u16) -> Number {
    limit(digits, 1)
}

/// 2 to a power, less 0 or 1.
fn limit(exponent: u16, less: u8) -> Number {
    if exponent < 127 {
        return number((1 << exponent) - i128::from(less));
    }
    let (at, kind) = (usize::from(exponent), usize::from(less));
    if let Some(known) = TABLE.with_borrow(|table| *table.powers[kind].get(at)?) {
        return known;
    }
    let value = Number::of((BigInt::from(1) << exponent) - less);
    TABLE.with_borrow_mut(|table| {
        let powers = &mut table.powers[kind];
        powers.resize(powers.len().max(at + 1), None);
        powers[at] = Some(value);
    });
    value
}

impl Number {
    fn of(value: BigInt) -> Self {
        if let Ok(small) = i128::try_from(&value) {
            return number(small);
        }
        let negative = value.sign() == Sign::Minus;
        let digits = if negative { (&value + 1u8).bits() } else { value.bits() } as u16;
        TABLE.with_borrow_mut(|table| {
            if let Some(&entry) = table.known.get(&value) {
                return Number(Form::Large { negative, digits, entry });
            }
            let entry = table.entries.len() as u32;
            spend(0, ENTRY_BYTES + u64::from(digits) / 8);
            let value = Rc::new(value);
            table.entries.push(value.clone());
            table.known.insert(value, entry);
            Number(Form::Large { negative, digits, entry })
        })
    }

    fn with<T>(self, f: impl FnOnce(&BigInt) -> T) -> T {
        match self.0 {
            Form::Small(value) => f(&value.into()),
            Form::Large { entry, .. } => f(&TABLE.with_borrow(|table| table.entries[entry as usize].clone())),
        }
    }

    fn large(self, other: Self, f: impl FnOnce(&BigInt, &BigInt) -> BigInt) -> Self {
        // A product or a quotient of two of 4096 bits takes 13 us, which is 500 units.
        let [words, others] = [self, other].map(|number| u64::from(number.digits()).div_ceil(64));
        spend(1 + words * others / 8, 0);
        Number::of(self.with(|a| other.with(|b| f(a, b))))
    }

    /// The number of digits of a base below 37, with nothing else around them.
    pub(crate) fn parse(digits: &str, radix: u32) -> Option<Self> {
        match i128::from_str_radix(digits, radix) {
            Ok(small) => Some(number(small)),
            Err(_) => BigInt::parse_bytes(digits.as_bytes(), radix).map(Number::of),
        }
    }

    pub(crate) fn is_negative(self) -> bool {
        match self.0 {
            Form::Small(value) => value < 0,
            Form::Large { negative, .. } => negative,
        }
    }

    pub(crate) fn abs(self) -> Self {
        if self.is_negative() { -self } else { self }
    }

    /// The wires that it needs beside that of a sign.
    pub(crate) fn digits(self) -> u16 {
        match self.0 {
            Form::Small(value) => (128 - (value ^ value >> 127).leading_zeros()) as u16,
            Form::Large { digits, .. } => digits,
        }
    }

    /// The bit of that place, of two's complement.
    pub(crate) fn bit(self, place: u16) -> bool {
        match self.0 {
            Form::Small(value) => value >> place.min(127) & 1 == 1,
            Form::Large { .. } => self.with(|value| value.bit(place.into())),
        }
    }

    /// 128 bits from that place on, of two's complement.
    pub(crate) fn bits_from(self, place: u16) -> u128 {
        match self.0 {
            Form::Small(value) => (value >> place.min(127)).cast_unsigned(),
            Form::Large { negative, .. } => self.with(|value| {
                let moved = value >> place;
                let low = moved.iter_u64_digits().take(2).zip([0, 64]);
                let magnitude = low.map(|(digit, at)| u128::from(digit) << at).sum::<u128>();
                if negative { magnitude.wrapping_neg() } else { magnitude }
            }),
        }
    }

    /// The number without its sign, if it has 128 bits at most.
    pub(crate) fn magnitude(self) -> Option<u128> {
        match self.0 {
            Form::Small(value) => Some(value.unsigned_abs()),
            Form::Large { .. } => self.with(|value| value.magnitude().try_into().ok()),
        }
    }

    /// The exponent of a power of two, or of the negative of one.
    pub(crate) fn exponent(self) -> Option<u16> {
        match self.0 {
            Form::Small(value) => value.unsigned_abs().is_power_of_two().then(|| value.trailing_zeros() as u16),
            Form::Large { .. } => self.with(|value| {
                let zeros = value.trailing_zeros()?;
                (zeros + 1 == value.bits()).then_some(zeros as u16)
            }),
        }
    }

    /// The quotient, rounded down.
    pub(crate) fn div_floor(self, other: Self) -> Self {
        let (quotient, rest) = (self / other, self % other);
        if rest != ZERO && rest.is_negative() != other.is_negative() { quotient - ONE } else { quotient }
    }

    /// The square root, rounded down; 0 for a negative number.
    pub(crate) fn root(self) -> Self {
        match self.0 {
            _ if self.is_negative() => ZERO,
            Form::Small(value) => number(value.isqrt()),
            Form::Large { .. } => Number::of(self.with(BigInt::sqrt)),
        }
    }

    /// The low bits.
    pub(crate) fn as_usize(self) -> usize {
        self.bits_from(0) as usize
    }

    /// The low bits.
    pub(crate) fn as_u64(self) -> u64 {
        self.bits_from(0) as u64
    }

    /// The low bits.
    pub(crate) fn as_u32(self) -> u32 {
        self.bits_from(0) as u32
    }

    /// The low bits.
    pub(crate) fn as_u16(self) -> u16 {
        self.bits_from(0) as u16
    }

    /// The words of two's complement, the lowest first, as few as show its sign.
    pub(crate) fn words(self) -> Vec<u32> {
        let mut bytes = self.with(BigInt::to_signed_bytes_le);
        bytes.resize(bytes.len().next_multiple_of(4), if self.is_negative() { 0xff } else { 0 });
        bytes.chunks_exact(4).map(|word| u32::from_le_bytes([word[0], word[1], word[2], word[3]])).collect()
    }

    /// The number with these [words](Number::words).
    pub(crate) fn of_words(words: &[u32]) -> Self {
        let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
        Number::of(BigInt::from_signed_bytes_le(&bytes))
    }
}

impl Ord for Number {
    fn cmp(&self, other: &Self) -> Ordering {
        match (self.0, other.0) {
            (Form::Small(a), Form::Small(b)) => a.cmp(&b),
            _ if self == other => Ordering::Equal,
            _ if self.is_negative() != other.is_negative() => other.is_negative().cmp(&self.is_negative()),
            // A negative number of more digits is the lesser.
            _ if self.digits() != other.digits() => match self.is_negative() {
                false => self.digits().cmp(&other.digits()),
                true => other.digits().cmp(&self.digits()),
            },
            _ => self.with(|a| other.with(|b| a.cmp(b))),
        }
    }
}

impl PartialOrd for Number {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

/// Operations of two numbers: what the machine has, unless it overflows.
macro_rules! operations {
    ($($trait:ident $name:ident $checked:expr;)*) => {$(
        impl std::ops::$trait for Number {
            type Output = Number;

            fn $name(self, other: Number) -> Number {
                const CHECKED: fn(i128, i128) -> Option<i128> = $checked;
                if let (Form::Small(a), Form::Small(b)) = (self.0, other.0)
                    && let Some(value) = CHECKED(a, b)
                {
                    return number(value);
                }
                self.large(other, |a, b| std::ops::$trait::$name(a, b))
            }
        }
    )*};
}

operations! {
    Add add i128::checked_add;
    Sub sub i128::checked_sub;
    Mul mul i128::checked_mul;
    Div div i128::checked_div;
    Rem rem i128::checked_rem;
    BitAnd bitand |a, b| Some(a & b);
    BitOr bitor |a, b| Some(a | b);
    BitXor bitxor |a, b| Some(a ^ b);
}

impl std::ops::Neg for Number {
    type Output = Number;

    fn neg(self) -> Number {
        ZERO - self
    }
}

impl std::ops::Not for Number {
    type Output = Number;

    fn not(self) -> Number {
        -ONE - self
    }
}

impl std::ops::Shl<u16> for Number {
    type Output = Number;

    fn shl(self, places: u16) -> Number {
        match self.0 {
            Form::Small(value) if self.digits().saturating_add(places) < 128 => number(value << places),
            _ => Number::of(self.with(|value| value << places)),
        }
    }
}

impl std::ops::Shr<u16> for Number {
    type Output = Number;

    fn shr(self, places: u16) -> Number {
        match self.0 {
            Form::Small(value) => number(value >> places.min(127)),
            Form::Large { .. } => Number::of(self.with(|value| value >> places)),
        }
    }
}

macro_rules! from {
    ($($from:ty)*) => {$(
        impl From<$from> for Number {
            fn from(value: $from) -> Self {
                number(value.into())
            }
        }
    )*};
}

from! { bool u8 u16 u32 u64 i64 }

impl From<usize> for Number {
    fn from(value: usize) -> Self {
        number(value as i128)
    }
}

macro_rules! try_from {
    ($($to:ty)*) => {$(
        impl TryFrom<Number> for $to {
            type Error = ();

            fn try_from(value: Number) -> Result<Self, ()> {
                if let Form::Small(small) = value.0 { small.try_into().map_err(|_| ()) } else { Err(()) }
            }
        }
    )*};
}

try_from! { u8 u32 u64 usize }

impl std::fmt::Display for Number {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.0 {
            Form::Small(value) => value.fmt(f),
            Form::Large { .. } => self.with(|value| value.fmt(f)),
        }
    }
}

impl std::fmt::Debug for Number {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        std::fmt::Display::fmt(self, f)
    }
}

/// A decimal number as it is written: sign, digits with or without a point, and an exponent; or `NaN`, `inf`, `-inf`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Decimal {
    text: String,
    /// The type suffix.
    pub(crate) suffix: Option<Float>,
}

impl Decimal {
    /// The most digits of an exact number.
    pub(crate) const MAX_DIGITS: usize = 38;
    /// The most digits of an integer: those of the widest type's.
    const MAX_INTEGER_DIGITS: usize = 1234;

    /// Parses a number such as `-12`, `3.25` or `1e-9`.
    pub(crate) fn of(text: &str) -> Option<Self> {
        let (sign, digits) = if text.starts_with('-') { text.split_at(1) } else { ("", text) };
        let (number, exponent) = digits.split_once(['e', 'E']).map_or((digits, None), |(n, e)| (n, Some(e)));
        let (whole, behind) = number.split_once('.').map_or((number, None), |(whole, behind)| (whole, Some(behind)));
        let is_number = |part: &str| !part.is_empty() && part.bytes().all(|b| b.is_ascii_digit());
        let unsigned = exponent.map(|exponent| exponent.strip_prefix(['-', '+']).unwrap_or(exponent));
        let is_decimal = is_number(whole) && behind.is_none_or(is_number) && unsigned.is_none_or(is_number);
        if !is_decimal && !matches!(text, "NaN" | "inf" | "-inf") {
            return None;
        }
        let zeros = if is_decimal { whole.len() - whole.trim_start_matches('0').len().max(1) } else { 0 };
        Some(Decimal { text: [sign, &digits[zeros..]].concat(), suffix: None })
    }

    /// The number that a Boolean is.
    pub(crate) fn of_bool(value: bool) -> Self {
        Decimal { text: u8::from(value).to_string(), suffix: None }
    }

    /// Returns whether it is an integer.
    pub(crate) fn is_integer(&self) -> bool {
        !self.text.contains(['.', 'e', 'E', 'N', 'f'])
    }

    /// An integer, and the number of digits behind the point; `None` with more digits than `most`, or an exponent.
    fn exact(&self, most: usize) -> Option<(Number, u8)> {
        let (negative, text) = self.text.strip_prefix('-').map_or((false, &self.text[..]), |rest| (true, rest));
        let (whole, behind) = text.split_once('.').unwrap_or((text, ""));
        let digits = [whole, behind].concat();
        if digits.len() > most || !digits.bytes().all(|b| b.is_ascii_digit()) {
            return None;
        }
        let digits = Number::parse(&digits, 10)?;
        Some((if negative { -digits } else { digits }, behind.len() as u8))
    }

    /// The integer that it is, if it is one that a type may have.
    pub(crate) fn integer(&self) -> Option<Number> {
        self.exact(Decimal::MAX_INTEGER_DIGITS).filter(|_| self.is_integer()).map(|(digits, _)| digits)
    }

    /// Returns whether it is an integer of more digits than those of any type have.
    pub(crate) fn is_too_long(&self) -> bool {
        self.is_integer() && self.text.trim_start_matches('-').len() > Decimal::MAX_INTEGER_DIGITS
    }

    /// The number times 2^fraction, rounded to the nearest integer, ties to even; `None` with too many digits, or an exponent.
    pub(crate) fn scaled(&self, fraction: u16) -> Option<Number> {
        let (digits, places) = self.exact(Decimal::MAX_DIGITS + 1)?;
        let divisor = number(10i128.checked_pow(places.into())?);
        let scaled = digits << fraction;
        let down = scaled.div_floor(divisor);
        let rest = scaled - down * divisor;
        let is_up = match (rest + rest).cmp(&divisor) {
            Ordering::Less => false,
            Ordering::Equal => down.bit(0),
            Ordering::Greater => true,
        };
        Some(if is_up { down + ONE } else { down })
    }

    /// The bits of the nearest number of a format, unless it is out of range.
    pub(crate) fn bits(&self, format: Float) -> Option<Number> {
        bits_of_float(format, &self.text).map(Number::from)
    }

    /// Returns whether a number of the format is exactly this one, if it is an integer; others are meant to be rounded.
    pub(crate) fn is_kept_by(&self, format: Float) -> bool {
        let bits = || bits_of_float(format, &self.text);
        !self.is_integer() || bits().is_some_and(|bits| is_exact_float(format, bits, &self.text))
    }
}

impl std::fmt::Display for Decimal {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.text)?;
        self.suffix.map_or(Ok(()), |format| format.fmt(f))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn decimal_numbers_are_rounded_to_the_nearest_and_even() {
        for (text, fraction, expected) in [
            ("1.5", 8, 384),
            ("-1.5", 8, -384),
            ("0.1", 16, 6554),
            ("2.5", 0, 2),
            ("3.5", 0, 4),
            ("-2.5", 0, -2),
            ("-3.5", 0, -4),
            ("2.500000000000000000000000000000000001", 0, 3),
            ("7", 3, 56),
        ] {
            let decimal = Decimal::of(text).unwrap();
            assert_eq!(decimal.scaled(fraction), Some(number(expected)), "{text}");
            assert_eq!(decimal.to_string(), text);
        }
        for text in ["", "-", ".5", "1.", "1.5.2", "0x1", "1e", "1e+", "e3", "nan", "+1"] {
            assert_eq!(Decimal::of(text), None, "{text}");
        }
        for text in ["1e3", "NaN", "-inf", "123456789012345678901234567890123456789.5"] {
            assert_eq!(Decimal::of(text).unwrap().scaled(8), None, "{text}");
        }
        assert_eq!(Decimal::of("-007.50").unwrap().to_string(), "-7.50");
    }

    #[test]
    fn roots_are_rounded_down() {
        for value in [0, 1, 2, 3, 4, 8, 9, 15, 16, 1 << 62, (1 << 62) - 1, i128::MAX] {
            assert_eq!(number(value).root(), number(value.isqrt()), "{value}");
        }
        assert_eq!((power(252) + power(126)).root(), power(126));
        assert_eq!(number(-4).root(), ZERO);
    }

    #[test]
    fn quotients_are_rounded_down() {
        for (a, b, expected) in [(7, 2, 3), (-7, 2, -4), (7, -2, -4), (-7, -2, 3), (6, -2, -3), (0, -2, 0)] {
            assert_eq!(number(a).div_floor(number(b)), number(expected));
        }
    }
}
