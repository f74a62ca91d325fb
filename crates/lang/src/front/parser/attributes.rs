//! Attributes of definitions.

use super::{Parsed, Parser};
use crate::{front::scanner::Kind, tree::Attributes};

impl Parser<'_> {
    /// `#[derive(NAME, ..)]` before structs and enums. Values are copied and compared without it, but rustc wants it.
    pub(super) fn derives(&mut self) -> Parsed<()> {
        let derive = [Kind::Symbol("#"), Kind::Symbol("["), Kind::Word("derive")];
        let mut is_any = false;
        while (0..).zip(derive).all(|(at, kind)| self.ahead(at).kind == kind) {
            self.at += derive.len();
            self.expect("(")?;
            self.list(")", |parser| parser.name("the name of a trait"))?;
            self.expect("]")?;
            is_any = true;
        }
        let is_public = usize::from(self.is_word("pub"));
        match !is_any || matches!(self.ahead(is_public).kind, Kind::Word("struct" | "enum")) {
            true => Ok(()),
            false => {
                Err(self.unexpected("a struct or an enum").hint("`#[derive(..)]` is for these, and changes nothing"))
            }
        }
    }

    /// `#[hex]` and `#[depth]` before a function, each at most once, or nothing.
    pub(super) fn attributes(&mut self) -> Parsed<Attributes> {
        const FORM: &str = "the only attributes are `#[hex]` and `#[depth]` before a function, for its arrays of u8 in hex and for few layers of AND gates, and `#[derive(..)]`";
        let mut attributes = Attributes::default();
        while self.eat("#").is_some() {
            if self.eat("[").is_none() {
                return Err(self.unexpected("`[`").hint(FORM));
            }
            let Attributes { hex, depth } = &mut attributes;
            let is_set = match self.peek() {
                Kind::Word("hex") => hex,
                Kind::Word("depth") => depth,
                _ => return Err(self.unexpected("`#[hex]` or `#[depth]`").hint(FORM)),
            };
            if std::mem::replace(is_set, true) {
                return Err(self.unexpected("an attribute once").hint(FORM));
            }
            self.next();
            self.expect("]")?;
        }
        let Attributes { hex, depth } = attributes;
        let is_public = usize::from(self.is_word("pub"));
        let is_function = match self.ahead(is_public).kind {
            Kind::Word("fn") => true,
            // It is refused for itself.
            Kind::Word("const") => self.ahead(is_public + 1).kind == Kind::Word("fn"),
            _ => false,
        };
        match is_function || !hex && !depth {
            true => Ok(attributes),
            false => Err(self.unexpected("a function").hint(FORM)),
        }
    }
}
