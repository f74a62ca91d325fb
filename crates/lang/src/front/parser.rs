//! Turns tokens into the syntax tree.
//!
//! The grammar extends that of the crate `garble_lang` with more of Rust: `a -1`, `(T)` as a type, numbers to other bases, and
//! constants as the ends of ranges.
//!
//! **Invariant**: every function takes a token or returns, and every recursive function counts its depth.

mod attributes;
mod expressions;
mod literals;
pub(super) mod names;
mod patterns;
mod statements;
#[cfg(test)]
mod tests;
mod types;

use std::collections::{HashMap, HashSet};

use garblet_circuit::diagnostic::clip;

use super::{
    ast::{ConstDef, EnumDef, Fields, FnDef, Param, Program, SizeParam, Stmt, StmtKind, StructDef, Type},
    scanner::{Kind, Token},
    types::scalar,
};
use crate::{source_error::SourceError, tree::Span};

/// The depth to which brackets, blocks and signs may be nested.
const MAX_NESTING: u32 = 128;
/// The most operators inside one another, as in a sum.
const MAX_OPERATORS: u32 = 4096;
/// Advice on expressions that are nested too deep.
const USE_LET: &str = "use `let` for parts of it";
/// Words that cannot be names.
pub(super) const KEYWORDS: &[&str] =
    &["const", "struct", "enum", "fn", "let", "if", "else", "mut", "match", "as", "pub", "for", "in"];

/// A construct, or its fault.
type Parsed<T> = Result<T, SourceError>;

/// The meaning of a type in parentheses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Lone {
    /// As in Rust, `(T)` is T.
    Itself,
    /// As in `garble_lang`, `(T)` is a tuple of one.
    Tuple,
}

/// Parses tokens into a program.
///
/// *Errors*: the first thing wrong with each definition.
pub(super) fn parse(tokens: Vec<Token<'_>>, lone: Lone) -> Result<Program, Vec<SourceError>> {
    let mut parser = Parser::new(tokens, lone);
    parser.look_ahead();
    parser.program()
}

/// A constant or a size: where it is declared, and whether it is a number or a bool.
#[derive(Clone, Copy)]
struct Declared {
    at: Span,
    is_scalar: bool,
}

struct Parser<'t> {
    tokens: Vec<Token<'t>>,
    at: usize,
    depth: u32,
    /// An upper bound of the number of operators inside one another, up to here.
    operators: u32,
    /// Set if `NAME {` begins a struct, as everywhere except in conditions.
    structs_allowed: bool,
    /// Set while the parser only collects definitions.
    looking_ahead: bool,
    lone: Lone,
    /// The types in parentheses so far.
    lone_types: Vec<Span>,
    names: names::Names,
    /// The fields of all structs, and of the variants with named fields, as `ENUM::VARIANT`.
    fields: HashMap<String, Vec<String>>,
    /// All constants, and the sizes of the function at hand.
    constants: HashMap<String, Declared>,
    /// The names of all functions.
    functions: HashSet<String>,
    /// The names of all structs and enums, which may be those of floating-point types, as in Rust.
    types: HashSet<String>,
}

// Tokens.
impl<'t> Parser<'t> {
    fn new(tokens: Vec<Token<'t>>, lone: Lone) -> Self {
        Parser {
            tokens,
            at: 0,
            depth: 0,
            operators: 0,
            structs_allowed: true,
            looking_ahead: false,
            lone,
            lone_types: Vec::new(),
            names: names::Names::default(),
            fields: HashMap::new(),
            constants: HashMap::new(),
            functions: HashSet::new(),
            types: HashSet::new(),
        }
    }

    /// The token after `skip` others; the last token is the end.
    fn ahead(&self, skip: usize) -> Token<'t> {
        let last = self.tokens.len() - 1;
        self.tokens[(self.at + skip).min(last)]
    }

    fn peek(&self) -> Kind<'t> {
        self.ahead(0).kind
    }

    fn is(&self, symbol: &'static str) -> bool {
        self.peek() == Kind::Symbol(symbol)
    }

    fn is_word(&self, word: &str) -> bool {
        self.peek() == Kind::Word(word)
    }

    fn next(&mut self) -> Token<'t> {
        let token = self.ahead(0);
        self.at += 1;
        token
    }

    /// Takes the symbol if it is next.
    fn eat(&mut self, symbol: &'static str) -> Option<Span> {
        self.is(symbol).then(|| self.next().span)
    }

    fn eat_word(&mut self, word: &str) -> Option<Span> {
        self.is_word(word).then(|| self.next().span)
    }

    /// Takes the symbol, which must be next.
    fn expect(&mut self, symbol: &'static str) -> Parsed<Span> {
        self.eat(symbol).ok_or_else(|| self.missing(&format!("`{symbol}`")))
    }

    /// Takes a name.
    fn name(&mut self, what: &str) -> Parsed<(String, Span)> {
        match self.peek() {
            Kind::Word(word) if KEYWORDS.contains(&word) => {
                Err(self.unexpected(what).hint(format!("`{word}` is reserved: choose another name")))
            }
            Kind::Word(word) => Ok((word.into(), self.next().span)),
            _ => Err(self.unexpected(what)),
        }
    }

    /// The fault for a next token that was not expected.
    fn unexpected(&self, expected: &str) -> SourceError {
        let token = self.ahead(0);
        let got = match token.kind {
            Kind::Word(word) => format!("`{}`", clip(word)),
            Kind::Number(number) => format!("the number {}", clip(&number.value.to_string())),
            Kind::Decimal(text, _) => format!("the number {}", clip(text)),
            Kind::Symbol(symbol) => format!("`{symbol}`"),
            Kind::End => "the end of the file".into(),
        };
        SourceError::new(token.span, format!("expected {expected}, got {got}"))
    }

    /// Like [`Parser::unexpected`], for a token that should end something: the fault points at the end of its line, not at the
    /// beginning of a later one.
    fn missing(&self, expected: &str) -> SourceError {
        let mut fault = self.unexpected(expected);
        let before = self.tokens[..self.at.min(self.tokens.len())].last().map(|token| token.span);
        if let Some(before) = before.filter(|before| before.end_line < self.ahead(0).span.line) {
            fault.span = Some(Span { line: before.end_line, column: before.end_column.max(2) - 1, ..before });
        }
        fault
    }

    /// Parses a part one level deeper; `advice` says how to nest less.
    fn nested<T>(&mut self, advice: &str, part: impl FnOnce(&mut Self) -> Parsed<T>) -> Parsed<T> {
        if self.depth >= MAX_NESTING {
            let message = format!("this is nested too deep: expected at most {MAX_NESTING} levels, got more");
            return Err(SourceError::new(self.ahead(0).span, message).hint(advice));
        }
        self.depth += 1;
        let parsed = part(self);
        self.depth -= 1;
        parsed
    }

    /// Counts an operator.
    fn operator(&mut self) -> Parsed<()> {
        self.operators += 1;
        match self.operators > MAX_OPERATORS {
            true => {
                let message =
                    format!("this is nested too deep: expected at most {MAX_OPERATORS} nested operators, got more");
                Err(SourceError::new(self.ahead(0).span, message).hint(USE_LET))
            }
            false => Ok(()),
        }
    }

    /// Parses parts side by side, as long as there is another.
    fn side_by_side<T>(&mut self, mut part: impl FnMut(&mut Self) -> Parsed<Option<T>>) -> Parsed<Vec<T>> {
        let before = self.operators;
        let mut most = before;
        let mut parts = Vec::new();
        while let Some(parsed) = part(self)? {
            parts.push(parsed);
            most = most.max(std::mem::replace(&mut self.operators, before));
        }
        self.operators = most.max(self.operators);
        Ok(parts)
    }

    /// Parses parts up to the symbol `end`, with commas between them and optionally after the last, and takes the end.
    fn list<T>(&mut self, end: &'static str, mut part: impl FnMut(&mut Self) -> Parsed<T>) -> Parsed<(Vec<T>, Span)> {
        let outer = std::mem::replace(&mut self.structs_allowed, true);
        let parts = self.side_by_side(|parser| {
            if parser.is(end) {
                return Ok(None);
            }
            let parsed = part(parser)?;
            match parser.is(end) || parser.eat(",").is_some() {
                true => Ok(Some(parsed)),
                false => Err(parser.missing(&format!("`,` or `{end}`"))),
            }
        })?;
        self.structs_allowed = outer;
        Ok((parts, self.expect(end)?))
    }
}

// Definitions.
impl Parser<'_> {
    /// Collects the fields of structs and the names of constants and functions, which other definitions need. Errors are found later.
    fn look_ahead(&mut self) {
        self.looking_ahead = true;
        while self.peek() != Kind::End {
            let token = self.next();
            if let (Kind::Word("struct" | "enum"), Kind::Word(name)) = (token.kind, self.peek()) {
                self.types.insert(name.into());
            }
            if token.kind == Kind::Word("enum")
                && let Ok((name, definition)) = self.enum_definition(token.span)
            {
                let named = definition.variants.into_iter().filter_map(|(variant, fields)| match fields {
                    Fields::Named(fields) => Some((format!("{name}::{variant}"), fields)),
                    _ => None,
                });
                self.fields
                    .extend(named.map(|(name, fields)| (name, fields.into_iter().map(|field| field.0).collect())));
            } else if token.kind == Kind::Word("struct")
                && let Ok((name, definition)) = self.struct_definition(token.span)
            {
                self.fields.insert(name, definition.fields.into_iter().map(|(field, _)| field).collect());
            } else if token.kind == Kind::Word("const")
                && let Ok((name, ty)) = self.constant_head()
            {
                let (at, is_scalar) = (token.span.to(self.tokens[self.at - 1].span), scalar(&ty).is_some());
                self.constants.insert(name, Declared { at, is_scalar });
            } else if token.kind == Kind::Word("fn")
                && let Kind::Word(name) = self.peek()
            {
                self.functions.insert(name.into());
            }
        }
        self.at = 0;
        self.operators = 0;
        self.lone_types.clear();
        self.structs_allowed = true;
        self.looking_ahead = false;
    }

    fn program(&mut self) -> Result<Program, Vec<SourceError>> {
        let mut program = Program::default();
        let mut faults = Vec::new();
        while self.peek() != Kind::End {
            if let Err(fault) = self.definition(&mut program) {
                faults.push(fault);
                self.structs_allowed = true;
                self.skip_definition();
            }
            self.operators = 0;
        }
        program.lone = std::mem::take(&mut self.lone_types);
        if faults.is_empty() { Ok(program) } else { Err(faults) }
    }

    /// Skips to the next line that begins like a definition.
    fn skip_definition(&mut self) {
        while self.peek() != Kind::End {
            let begins_line = self.at > 0 && self.tokens[self.at - 1].span.end_line < self.ahead(0).span.line;
            if begins_line && matches!(self.peek(), Kind::Word("pub" | "fn" | "struct" | "enum" | "const")) {
                return;
            }
            self.next();
        }
    }

    fn definition(&mut self, program: &mut Program) -> Parsed<()> {
        self.derives()?;
        let attributes = self.attributes()?;
        let public = self.eat_word("pub");
        let token = self.ahead(0);
        let begin = public.unwrap_or(token.span);
        let at = self.ahead(1).span;
        self.next();
        match token.kind {
            Kind::Word("const") if self.is_word("fn") => {
                let fault = self.unexpected("the name of a constant");
                self.next();
                Err(fault.hint("leave out `const`: every call is computed where it stands, and constants call only `min` and `max`"))
            }
            Kind::Word("const") => {
                let (name, ty) = self.constant_head()?;
                if program.functions.contains_key(&name) || program.constants.contains_key(&name) {
                    return Err(defined_twice(&name, at));
                }
                match scalar(&ty) {
                    Some(_) => drop(program.constants.insert(name, self.constant(ty, begin)?)),
                    None => drop(program.functions.insert(name.clone(), self.whole_constant(name, ty, begin)?)),
                }
                Ok(())
            }
            Kind::Word("struct") => {
                let (name, definition) = self.struct_definition(begin)?;
                new_type(&name, at)?;
                match program.enums.contains_key(&name) {
                    true => Err(defined_twice(&name, at)),
                    false => put(&mut program.structs, name, definition, at),
                }
            }
            Kind::Word("enum") => {
                let (name, definition) = self.enum_definition(begin)?;
                new_type(&name, at)?;
                match program.structs.contains_key(&name) {
                    true => Err(defined_twice(&name, at)),
                    false => put(&mut program.enums, name, definition, at),
                }
            }
            Kind::Word("fn") => {
                let definition = FnDef { attributes, ..self.function(public.is_some(), begin)? };
                if program.constants.contains_key(&definition.name) {
                    return Err(defined_twice(&definition.name, at));
                }
                put(&mut program.functions, definition.name.clone(), definition, at)
            }
            _ => {
                self.at -= 1;
                let fault = self.unexpected("a definition");
                // Take a token, so that the same error is not found again.
                self.next();
                Err(fault.hint(match token.kind {
                    Kind::Word("use" | "mod") => "a source is a single file",
                    Kind::Word("type") => "there are no names for types: write the type wherever it is meant",
                    Kind::Word("impl" | "trait") => "there are no methods of your own: write functions",
                    Kind::Word("static" | "let") => "outside of functions, declare constants: `const NAME: u8 = 1u8;`",
                    Kind::Symbol("}") => "is there an extra `}` before it?",
                    _ => "definitions begin with `fn`, `struct`, `enum` or `const`",
                }))
            }
        }
    }

    /// `const NAME: TYPE =`, after its first word.
    fn constant_head(&mut self) -> Parsed<(String, Type)> {
        let (name, _) = self.name("the name of a constant")?;
        if !self.is(":") {
            return Err(self.unexpected("`:`").hint(format!("a constant has a type: `const {name}: usize = ...;`")));
        }
        self.expect(":")?;
        let (ty, _) = self.ty()?;
        self.expect("=")?;
        Ok((name, ty))
    }

    /// `VALUE;` of a constant that is a number or a bool.
    fn constant(&mut self, ty: Type, begin: Span) -> Parsed<ConstDef> {
        let value = self.constant_expression()?;
        if !self.is(";") {
            return Err(self.missing("`;`").hint(types::CONSTANTS));
        }
        let end = self.expect(";")?;
        Ok(ConstDef { ty, value, span: begin.to(end) })
    }

    /// `VALUE;` of another constant: a function without parameters, which is computed once.
    fn whole_constant(&mut self, name: String, ty: Type, begin: Span) -> Parsed<FnDef> {
        let first = self.at;
        self.names = names::Names::default();
        let value = self.expression()?;
        let span = begin.to(self.expect(";")?);
        let body = vec![Stmt { span: value.span, kind: StmtKind::Expr(value) }];
        Ok(FnDef { body, is_constant: true, tokens: self.at - first, span, ..FnDef::empty(name, ty) })
    }

    /// A new name for a variable.
    ///
    /// *Errors*: the name of a constant.
    fn variable_name(&mut self, name: &str, at: Span) -> Parsed<String> {
        match self.constants.get(name) {
            Some(declared) => Err(names::of_constant(name, declared.at.line, at)),
            None => Ok(self.names.new_name(name)),
        }
    }

    /// `struct NAME { FIELD: TYPE, .. }`, after its first word.
    fn struct_definition(&mut self, begin: Span) -> Parsed<(String, StructDef)> {
        let (name, _) = self.name("the name of a struct")?;
        if self.is("(") || self.is(";") {
            return Err(self.unexpected("`{`").hint("the fields of a struct have names: `struct S { x: u8 }`"));
        }
        let (fields, end) = self.named_fields()?;
        Ok((name, StructDef { fields, span: begin.to(end) }))
    }

    /// `{ FIELD: TYPE, .. }`: fields in the order of their names, and the end.
    fn named_fields(&mut self) -> Parsed<(Vec<(String, Type)>, Span)> {
        self.expect("{")?;
        let mut names = HashSet::new();
        let (mut fields, end) = self.list("}", |parser| {
            if parser.is_word("pub") {
                return Err(parser.unexpected("the name of a field").hint("all fields are visible: leave out `pub`"));
            }
            let (field, at) = parser.name("the name of a field")?;
            parser.expect(":")?;
            let (ty, _) = parser.ty()?;
            only_once(&mut names, &field, at)?;
            Ok((field, ty))
        })?;
        fields.sort_by(|a, b| a.0.cmp(&b.0));
        Ok((fields, end))
    }

    /// `enum NAME { VARIANT, VARIANT(TYPE, ..), VARIANT { FIELD: TYPE, .. }, .. }`, after its first word.
    fn enum_definition(&mut self, begin: Span) -> Parsed<(String, EnumDef)> {
        let (name, at) = self.name("the name of an enum")?;
        self.expect("{")?;
        let mut names = HashSet::new();
        let (variants, end) = self.list("}", |parser| {
            let (variant, at) = parser.name("the name of a variant")?;
            only_once(&mut names, &variant, at)?;
            if parser.is("{") {
                let (fields, _) = parser.named_fields()?;
                return match fields.is_empty() {
                    true => Err(SourceError::new(at, format!("the variant `{variant}` has no fields"))
                        .hint("leave out the braces after it")),
                    false => Ok((variant, Fields::Named(fields))),
                };
            }
            match parser.eat("(") {
                Some(_) => {
                    let (fields, _) = parser.list(")", |parser| parser.ty().map(|(ty, _)| ty))?;
                    Ok((variant, Fields::Tuple(fields)))
                }
                None => Ok((variant, Fields::Unit)),
            }
        })?;
        match variants.is_empty() {
            true => Err(SourceError::new(
                at,
                format!("the enum `{name}` has no values: expected at least 1 variant, got 0"),
            )
            .hint(format!("name its variants: `enum {name} {{ A, B }}`"))),
            false => Ok((name, EnumDef::new(variants, begin.to(end)))),
        }
    }

    /// `fn NAME<const SIZE: usize, ..>(PARAM: TYPE, ..) -> TYPE { .. }`, after its first word.
    fn function(&mut self, is_pub: bool, begin: Span) -> Parsed<FnDef> {
        let first = self.at;
        let (name, _) = self.name("the name of a function")?;
        let sizes = self.size_params()?;
        // As in Rust, they hide constants of the same names.
        let hide = |own: &SizeParam| {
            let size = Declared { at: own.span, is_scalar: true };
            (own.name.clone(), self.constants.insert(own.name.clone(), size))
        };
        let hidden: Vec<(String, Option<Declared>)> = sizes.iter().map(hide).collect();
        let parsed = self.signature_and_body(name);
        for (name, before) in hidden {
            match before {
                Some(constant) => self.constants.insert(name, constant),
                None => self.constants.remove(&name),
            };
        }
        let (function, end) = parsed?;
        Ok(FnDef { is_pub, sizes, tokens: self.at - first, span: begin.to(end), ..function })
    }

    /// `<const SIZE: usize, ..>`, or nothing.
    fn size_params(&mut self) -> Parsed<Vec<SizeParam>> {
        const FORM: &str = "only sizes can be left open: `fn sum<const N: usize>(data: [u16; N]) -> u32 { .. }`";
        if self.eat("<").is_none() {
            return Ok(Vec::new());
        }
        let mut names = HashSet::new();
        let (sizes, _) = self.list(">", |parser| {
            if parser.eat_word("const").is_none() {
                return Err(parser.unexpected("`const`").hint(FORM));
            }
            let (name, span) = parser.name("the name of a size")?;
            only_once(&mut names, &name, span)?;
            parser.expect(":")?;
            match parser.eat_word("usize") {
                Some(_) => Ok(SizeParam { name, span, value: None }),
                None => Err(parser.unexpected("`usize`").hint(FORM)),
            }
        })?;
        Ok(sizes)
    }

    /// `(PARAM: TYPE, ..) -> TYPE { .. }` of a function, and its end.
    fn signature_and_body(&mut self, name: String) -> Parsed<(FnDef, Span)> {
        self.expect("(")?;
        self.names = names::Names::default();
        let mut names = HashSet::new();
        let (params, _) = self.list(")", |parser| {
            let mutable = parser.eat_word("mut").is_some();
            if parser.is("&") || parser.is_word("self") {
                return Err(parser
                    .unexpected("the name of a parameter")
                    .hint("values are copied, there are no references"));
            }
            let (name, at) = parser.name("the name of a parameter")?;
            only_once(&mut names, &name, at)?;
            parser.expect(":")?;
            let (ty, _) = parser.ty()?;
            let name = parser.variable_name(&name, at)?;
            Ok(Param { mutable, name, ty })
        })?;
        if !self.is("->") {
            return Err(self
                .unexpected("`->`")
                .hint(format!("a function must have a result: `fn {name}(..) -> u8 {{ .. }}`")));
        }
        self.expect("->")?;
        let (result, _) = self.ty()?;
        self.names.declare();
        let (body, end) = self.block()?;
        Ok((FnDef { params, body, ..FnDef::empty(name, result) }, end))
    }
}

/// Adds a definition.
fn put<T>(definitions: &mut HashMap<String, T>, name: String, definition: T, at: Span) -> Parsed<()> {
    match definitions.contains_key(&name) {
        true => Err(defined_twice(&name, at)),
        false => {
            definitions.insert(name, definition);
            Ok(())
        }
    }
}

fn defined_twice(name: &str, at: Span) -> SourceError {
    SourceError::new(at, format!("`{name}` is defined twice")).hint("rename one of them")
}

/// Refuses a struct or an enum with the name of a built-in type.
fn new_type(name: &str, at: Span) -> Parsed<()> {
    match types::is_built_in(name) {
        true => Err(SourceError::new(at, format!("expected a new name, got the built-in type `{name}`"))
            .hint("choose another name: structs and enums begin with a capital letter")),
        false => Ok(()),
    }
}

/// Refuses a name that exists already.
fn only_once(names: &mut HashSet<String>, name: &str, at: Span) -> Parsed<()> {
    match names.insert(name.into()) {
        true => Ok(()),
        false => Err(SourceError::new(at, format!("`{name}` appears twice")).hint("rename or remove one of them")),
    }
}
