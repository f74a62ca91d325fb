//! Turns text into tokens.

use garblet_circuit::{
    Float,
    diagnostic::{clip, controls_terminal},
};

use super::ast::Int;
use crate::{number::Number, source_error::SourceError, tree::Span};

/// Symbols of more than one character, the longest first.
const LONG_SYMBOLS: &[&str] = &[
    "..=", "<<=", ">>=", "..", "::", "->", "=>", "==", "!=", "<=", ">=", "&&", "||", "<<", ">>", "+=", "-=", "*=",
    "/=", "%=", "^=", "&=", "|=",
];
const SYMBOLS: &[&str] = &[
    "#", "(", ")", "{", "}", "[", "]", ",", ";", ".", "^", "&", "|", "!", "=", ":", ">", "<", "%", "*", "+", "/", "-",
];

/// A token and its place.
#[derive(Clone, Copy, Debug)]
pub(super) struct Token<'t> {
    pub(super) kind: Kind<'t>,
    pub(super) span: Span,
}

/// The kind of a token.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind<'t> {
    /// A name or a keyword.
    Word(&'t str),
    Number(Unsigned),
    /// A number with a point, an exponent or the suffix of a floating-point type, as it is written, and that suffix.
    Decimal(&'t str, Option<Float>),
    Symbol(&'static str),
    End,
}

/// A number without a sign, and its type suffix.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Unsigned {
    pub(super) value: Number,
    pub(super) suffix: Option<Int>,
}

/// The tokens of a text; the last one is its end. Comments and white space are left out.
///
/// *Errors*: a character that cannot begin a token, a comment that does not end, and a number that is too large or has a wrong suffix.
pub(super) fn scan(text: &str) -> Result<Vec<Token<'_>>, SourceError> {
    let mut scanner = Scanner { rest: text, line: 1, column: 1 };
    let mut tokens = Vec::new();
    loop {
        scanner.skip_blanks()?;
        let token = scanner.token()?;
        tokens.push(token);
        if token.kind == Kind::End {
            return Ok(tokens);
        }
    }
}

struct Scanner<'t> {
    rest: &'t str,
    line: u32,
    column: u32,
}

impl<'t> Scanner<'t> {
    /// Takes bytes, which must end at the end of a character.
    fn take(&mut self, bytes: usize) -> &'t str {
        let (taken, rest) = self.rest.split_at(bytes);
        self.rest = rest;
        for c in taken.chars() {
            self.column += 1;
            if c == '\n' {
                (self.line, self.column) = (self.line + 1, 1);
            }
        }
        taken
    }

    /// Takes characters as long as `wanted` holds.
    fn take_while(&mut self, wanted: impl Fn(char) -> bool) -> &'t str {
        self.take(self.rest.find(|c| !wanted(c)).unwrap_or(self.rest.len()))
    }

    fn skip_blanks(&mut self) -> Result<(), SourceError> {
        loop {
            self.take_while(char::is_whitespace);
            if self.rest.starts_with("//") {
                self.take_while(|c| c != '\n');
            } else if self.rest.starts_with("/*") {
                self.skip_comment()?;
            } else {
                return Ok(());
            }
        }
    }

    /// Skips a comment, which may contain others.
    fn skip_comment(&mut self) -> Result<(), SourceError> {
        let begin = self.span_of(2);
        let mut open = 0;
        loop {
            match self.rest.find(['/', '*']) {
                Some(at) => self.take(at),
                None => return Err(SourceError::new(begin, "this comment does not end").hint("end it with `*/`")),
            };
            open += match self.rest.get(..2) {
                Some("/*") => 1,
                Some("*/") => -1,
                _ => 0,
            };
            let width = if matches!(self.rest.get(..2), Some("/*" | "*/")) { 2 } else { 1 };
            self.take(width);
            if open == 0 {
                return Ok(());
            }
        }
    }

    /// The place of the next characters of this line.
    fn span_of(&self, width: u32) -> Span {
        Span { line: self.line, column: self.column, end_line: self.line, end_column: self.column + width }
    }

    fn token(&mut self) -> Result<Token<'t>, SourceError> {
        let (line, column) = (self.line, self.column);
        let kind = match self.rest.chars().next() {
            None => Kind::End,
            Some(c) if c.is_ascii_digit() => self.number()?,
            Some(c) if is_name(c) => Kind::Word(self.take_while(is_name)),
            Some(c) => self.symbol(c)?,
        };
        Ok(Token { kind, span: Span { line, column, end_line: self.line, end_column: self.column } })
    }

    fn symbol(&mut self, c: char) -> Result<Kind<'t>, SourceError> {
        let symbol = LONG_SYMBOLS.iter().chain(SYMBOLS).find(|symbol| self.rest.starts_with(**symbol));
        if let Some(symbol) = symbol {
            self.take(symbol.len());
            return Ok(Kind::Symbol(symbol));
        }
        let shown = if controls_terminal(c) { c.escape_debug().to_string() } else { c.into() };
        let message = format!("expected a name, a number or a symbol, got `{shown}`");
        let fault = SourceError::new(self.span_of(1), message);
        Err(match c {
            '"' | '\'' => fault.hint("there are no strings, characters or macros; text is an array of u8"),
            '?' => fault.hint("there are no errors to propagate: use a `match`"),
            _ => fault,
        })
    }

    fn number(&mut self) -> Result<Kind<'t>, SourceError> {
        let (line, column) = (self.line, self.column);
        let radix = match self.rest.get(..2) {
            Some("0x") => 16,
            Some("0o") => 8,
            Some("0b") => 2,
            _ => 10,
        };
        let whole = self.rest;
        if radix != 10 {
            self.take(2);
        }
        let digits = self.take_while(|c| c.is_digit(radix) || c == '_').replace('_', "");
        if radix == 10 && self.rest.starts_with('.') && self.rest[1..].starts_with(|c: char| c.is_ascii_digit()) {
            self.take(1);
            self.take_while(|c| c.is_ascii_digit() || c == '_');
            self.exponent();
            return self.decimal(whole, (line, column));
        }
        let suffix = self.rest.trim_start_matches('_');
        if radix == 10 && (self.exponent() || suffix.starts_with('f') || suffix.starts_with("bf")) {
            return self.decimal(whole, (line, column));
        }
        let suffix = self.take_while(is_name);
        let span = Span { line, column, end_line: self.line, end_column: self.column };
        if digits.is_empty() {
            return Err(self.without_digits(radix, suffix, span));
        }
        let suffix = match (suffix, Int::named(suffix)) {
            ("", _) => None,
            (_, Some(ty)) => Some(ty),
            (other, None) => {
                let message = format!("expected an integer type as the number's suffix, got `{}`", clip(other));
                return Err(SourceError::new(span, message).hint(Int::FORM));
            }
        };
        match number(&digits, radix) {
            Some(value) => Ok(Kind::Number(Unsigned { value, suffix })),
            None => {
                let got = clip(&whole[..whole.len() - self.rest.len()]);
                let message = format!("this number is too large: expected at most {} bits, got {got}", Int::MAX_BITS);
                Err(SourceError::new(span, message).hint("no integer type is wider"))
            }
        }
    }

    /// Takes an exponent, if there is one.
    fn exponent(&mut self) -> bool {
        let Some(rest) = self.rest.strip_prefix(['e', 'E']) else { return false };
        let digits = rest.strip_prefix(['-', '+']).unwrap_or(rest);
        let exists = digits.trim_start_matches('_').starts_with(|c: char| c.is_ascii_digit());
        if exists {
            self.take(1 + rest.len() - digits.len());
            self.take_while(|c| c.is_ascii_digit() || c == '_');
        }
        exists
    }

    /// A number with a point or an exponent, up to here, and its suffix.
    fn decimal(&mut self, whole: &'t str, (line, column): (u32, u32)) -> Result<Kind<'t>, SourceError> {
        let text = &whole[..whole.len() - self.rest.len()];
        let suffix = self.take_while(is_name);
        let span = Span { line, column, end_line: self.line, end_column: self.column };
        match (suffix, Float::named(suffix.trim_start_matches('_'))) {
            ("", _) => Ok(Kind::Decimal(text, None)),
            (_, Some(format)) => Ok(Kind::Decimal(text, Some(format))),
            _ => {
                let message =
                    format!("expected {} as the suffix of a decimal number, got `{}`", Float::NAMES, clip(suffix));
                Err(SourceError::new(span, message)
                    .hint(format!("write `{}`, and convert it with `as` where you need another type", clip(text))))
            }
        }
    }

    /// The fault for a number without digits, which ends after its base or continues with `other`.
    fn without_digits(&self, radix: u32, other: &str, span: Span) -> SourceError {
        let got = match (other, self.rest.chars().next()) {
            ("", None) => "the end of the file".into(),
            ("", Some(c)) if c.is_whitespace() => "a blank".into(),
            ("", Some(c)) if controls_terminal(c) => format!("`{}`", c.escape_debug()),
            ("", Some(c)) => format!("`{c}`"),
            (other, _) => format!("`{}`", clip(other)),
        };
        let (digits, example) = match radix {
            16 => ("0 to 9 or a to f", "0xff"),
            8 => ("0 to 7", "0o17"),
            _ => ("0 or 1", "0b101"),
        };
        SourceError::new(span, format!("expected a digit, {digits}, got {got}")).hint(format!("as in `{example}`"))
    }
}

/// The number of these digits, if an integer type may have it.
fn number(digits: &str, radix: u32) -> Option<Number> {
    let zeros = digits.len() - digits.trim_start_matches('0').len();
    let significant = &digits[zeros.min(digits.len() - 1)..];
    // No base takes more digits than the bits are.
    let value = (significant.len() <= Int::MAX_BITS.into()).then(|| Number::parse(significant, radix)).flatten();
    value.filter(|value| value.digits() <= Int::MAX_BITS)
}

fn is_name(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '_'
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::number::mask;

    fn kinds(text: &str) -> Vec<Kind<'_>> {
        scan(text).unwrap().into_iter().map(|token| token.kind).collect()
    }

    #[test]
    fn comments_and_blanks_are_left_out() {
        let expected = [Kind::Word("a"), Kind::Word("b"), Kind::End];
        for text in ["a // x\nb", "a /* x\n y */ b", "a/* /* */ * / */b", "a//\tb\nb", "\ta\r\n  b // é", "a /***/ b"]
        {
            assert_eq!(kinds(text), expected, "{text}");
        }
        assert_eq!(kinds("a */ b")[1], Kind::Symbol("*"));
    }

    #[test]
    fn tokens_know_their_place() {
        let places: Vec<(u32, u32, u32)> =
            scan("ab +\n\t<<= 12u8").unwrap().iter().map(|t| (t.span.line, t.span.column, t.span.end_column)).collect();
        assert_eq!(places, [(1, 1, 3), (1, 4, 5), (2, 2, 5), (2, 6, 10), (2, 10, 10)]);
    }

    #[test]
    fn numbers_have_bases_gaps_and_types() {
        let number = |text: &str| match kinds(text)[0] {
            Kind::Number(number) => (number.value, number.suffix),
            other => panic!("{other:?}"),
        };
        assert_eq!(number("18446744073709551615"), (u64::MAX.into(), None));
        assert_eq!(number("1_000u16"), (1000u16.into(), Some(Int::Unsigned(16))));
        assert_eq!(number("0xff_u8"), (255u8.into(), Some(Int::Unsigned(8))));
        assert_eq!(number("0b101"), (5u8.into(), None));
        assert_eq!(number("000u1"), (0u8.into(), Some(Int::Unsigned(1))));
        assert_eq!(number(&format!("0x{}i4096", "f".repeat(1024))), (mask(4096), Some(Int::Signed(4096))));
        assert_eq!(number(&format!("0b{}_1", "0".repeat(5000))), (1u8.into(), None));
        // The range is checked later: there may be a minus before it.
        assert_eq!(number("128i8"), (128u8.into(), Some(Int::Signed(8))));
        assert_eq!(kinds("1..2")[1], Kind::Symbol(".."));
        assert_eq!(kinds("1_0.2_5.x")[..2], [Kind::Decimal("1_0.2_5", None), Kind::Symbol(".")]);
    }

    #[test]
    fn what_is_no_token_is_refused_with_its_place() {
        for (text, message) in [
            ("a\n /* b /* */", "this comment does not end"),
            ("a\n \"b\"", "expected a name, a number or a symbol, got `\"`"),
            ("\n é", "expected a name, a number or a symbol, got `é`"),
            (
                &format!("\n 0x1{}", "0".repeat(1024)),
                "this number is too large: expected at most 4096 bits, got 0x10000000000000000000000000000000000...",
            ),
            ("\n 1.5f128", "expected f16, bf16, f32 or f64 as the suffix of a decimal number, got `f128`"),
            ("\n 1e3u8", "expected f16, bf16, f32 or f64 as the suffix of a decimal number, got `u8`"),
            ("\n 15g32", "expected an integer type as the number's suffix, got `g32`"),
            ("\n 0x", "expected a digit, 0 to 9 or a to f, got the end of the file"),
            ("\n 0x;", "expected a digit, 0 to 9 or a to f, got `;`"),
            ("\n 0x 1", "expected a digit, 0 to 9 or a to f, got a blank"),
            ("\n 0o_", "expected a digit, 0 to 7, got the end of the file"),
            ("\n 0b2", "expected a digit, 0 or 1, got `2`"),
        ] {
            let fault = scan(text).unwrap_err();
            assert_eq!((fault.message.as_str(), fault.span.unwrap().line), (message, 2), "{text}");
        }
    }
}
