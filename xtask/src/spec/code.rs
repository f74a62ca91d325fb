//! Contexts, messages and constants in the sources of all crates, without those of tests.

use std::{collections::BTreeMap, path::Path};

use syn::{BinOp, Expr, ImplItem, Item, Lit, Type, visit, visit::Visit};

/// The beginning of contexts. A literal with another is a context if it is a constant of that name, or if a hash is keyed with it.
const BEGINNING: &str = "garblet 2026 ";
/// The functions that take a context.
const KEYED: [&str; 2] = ["derive_key", "new_derive_key"];
/// The most constants that refer to one another.
const DEPTH_MAX: usize = 16;

/// Parts of the code that the specification repeats.
#[derive(Default)]
pub(super) struct Code {
    /// Each context, with a file that has it.
    pub(super) contexts: BTreeMap<String, String>,
    constants: Vec<Constant>,
    /// The implementations of `Message`, each with its file and constants.
    messages: Vec<(String, Vec<Constant>)>,
    /// The file that is being read.
    file: String,
}

struct Constant {
    file: String,
    /// The type, of an associated constant.
    of: Option<String>,
    name: String,
    text: Option<String>,
    number: Option<Number>,
}

/// An expression for a number.
enum Number {
    Is(u128),
    /// The value of the constant of this path.
    Named(Vec<String>),
    Sum(Box<[Number; 2]>),
    Difference(Box<[Number; 2]>),
    Product(Box<[Number; 2]>),
    Quotient(Box<[Number; 2]>),
    Shifted(Box<[Number; 2]>),
}

/// A kind of message.
pub(super) struct Message {
    pub(super) file: String,
    pub(super) name: String,
    pub(super) kind: Option<u128>,
    pub(super) limit: Option<u128>,
}

impl Code {
    /// Reads the sources of all crates.
    pub(super) fn read(root: &Path) -> Result<Self, String> {
        let mut code = Code::default();
        for folder in crate::layers::sources(root).iter().filter(|folder| !folder.ends_with("xtask/src")) {
            for path in crate::tidy::files(folder) {
                let file = path.strip_prefix(root).unwrap_or(&path).display().to_string();
                let of_tests = ["tests", "tests.rs"].iter().any(|name| file.split('/').any(|part| part == *name));
                if of_tests || !file.ends_with(".rs") {
                    continue;
                }
                let text = std::fs::read_to_string(&path).map_err(|error| format!("{file}: {error}"))?;
                code.read_file(&file, &text)?;
            }
        }
        Ok(code)
    }

    /// Reads one file.
    pub(super) fn read_file(&mut self, file: &str, text: &str) -> Result<(), String> {
        let parsed = syn::parse_file(text).map_err(|error| format!("{file}: {error}"))?;
        self.file = file.to_string();
        self.visit_file(&parsed);
        Ok(())
    }

    /// All kinds of messages.
    pub(super) fn messages(&self) -> Vec<Message> {
        let message = |(file, constants): &(String, Vec<Constant>)| {
            let of = |name| constants.iter().find(|constant| constant.name == name);
            let value = |name| of(name).and_then(|constant| self.value(constant, 0));
            Message {
                file: file.clone(),
                name: of("NAME").and_then(|name| name.text.clone()).unwrap_or_default(),
                kind: value("KIND"),
                limit: value("MAX_BYTES"),
            }
        };
        self.messages.iter().map(message).collect()
    }

    /// The constants of a file that say how much of something there can be.
    pub(super) fn limits(&self, file: &str) -> impl Iterator<Item = &str> {
        let limits = self.constants.iter().filter(move |constant| constant.file == file);
        limits.map(|constant| &constant.name[..]).filter(|name| name.ends_with("_MAX") || name.starts_with("MAX_"))
    }

    /// The value of a constant of a file, if it is a number.
    pub(super) fn value_of(&self, file: &str, name: &str) -> Option<u128> {
        let constant = self.constants.iter().find(|constant| constant.file == file && constant.name == name)?;
        self.value(constant, 0)
    }

    fn value(&self, constant: &Constant, depth: usize) -> Option<u128> {
        self.number(constant.number.as_ref()?, constant, depth)
    }

    /// The value of a number in the expression of a constant.
    fn number(&self, number: &Number, within: &Constant, depth: usize) -> Option<u128> {
        let both =
            |[left, right]: &[Number; 2]| Some((self.number(left, within, depth)?, self.number(right, within, depth)?));
        match number {
            Number::Is(value) => Some(*value),
            Number::Named(path) if depth < DEPTH_MAX => self.value(self.named(path, within)?, depth + 1),
            Number::Named(_) => None,
            Number::Sum(of) => both(of).and_then(|(left, right)| left.checked_add(right)),
            Number::Difference(of) => both(of).and_then(|(left, right)| left.checked_sub(right)),
            Number::Product(of) => both(of).and_then(|(left, right)| left.checked_mul(right)),
            Number::Quotient(of) => both(of).and_then(|(left, right)| left.checked_div(right)),
            Number::Shifted(of) => both(of).and_then(|(left, right)| left.checked_shl(right.try_into().ok()?)),
        }
    }

    /// The constant that a path names: of the same file, otherwise of the same crate, otherwise of any.
    fn named(&self, path: &[String], within: &Constant) -> Option<&Constant> {
        let (name, before) = path.split_last()?;
        let of = before.last().filter(|of| of.starts_with(|first: char| first.is_uppercase()));
        let source = |file: &str| file.split_once("/src/").map_or(String::new(), |(source, _)| source.to_string());
        let named = || self.constants.iter().filter(|constant| constant.name == *name && constant.of.as_ref() == of);
        let in_file = named().find(|constant| constant.file == within.file);
        let in_crate = || named().find(|constant| source(&constant.file) == source(&within.file));
        in_file.or_else(in_crate).or_else(|| named().next())
    }

    fn constant(&self, of: Option<String>, name: &syn::Ident, value: &Expr) -> Constant {
        Constant { file: self.file.clone(), of, name: name.to_string(), text: text(value), number: number(value) }
    }

    fn context(&mut self, context: String) {
        self.contexts.entry(context).or_insert_with(|| self.file.clone());
    }
}

impl<'ast> Visit<'ast> for Code {
    fn visit_item(&mut self, item: &'ast Item) {
        if !crate::modules::is_test(crate::modules::attributes(item)) {
            visit::visit_item(self, item);
        }
    }

    fn visit_item_const(&mut self, item: &'ast syn::ItemConst) {
        let constant = self.constant(None, &item.ident, &item.expr);
        if let Some(context) = text(&item.expr).filter(|_| constant.name.ends_with("CONTEXT")) {
            self.context(context);
        }
        self.constants.push(constant);
        visit::visit_item_const(self, item);
    }

    fn visit_item_impl(&mut self, item: &'ast syn::ItemImpl) {
        let of = match &*item.self_ty {
            Type::Path(path) => path.path.segments.last().map(|part| part.ident.to_string()),
            _ => None,
        };
        let constants = item.items.iter().filter_map(|inner| match inner {
            ImplItem::Const(inner) => Some(self.constant(of.clone(), &inner.ident, &inner.expr)),
            _ => None,
        });
        let constants: Vec<Constant> = constants.collect();
        match &item.trait_ {
            None => self.constants.extend(constants),
            Some((_, name, _)) if name.segments.last().is_some_and(|part| part.ident == "Message") => {
                self.messages.push((self.file.clone(), constants));
            }
            Some(_) => (),
        }
        visit::visit_item_impl(self, item);
    }

    fn visit_expr_call(&mut self, call: &'ast syn::ExprCall) {
        let function = match &*call.func {
            Expr::Path(path) => path.path.segments.last().map(|part| part.ident.to_string()),
            _ => None,
        };
        let keyed = function.is_some_and(|function| KEYED.contains(&&function[..]));
        if let Some(context) = call.args.first().and_then(text).filter(|_| keyed) {
            self.context(context);
        }
        visit::visit_expr_call(self, call);
    }

    fn visit_lit_str(&mut self, literal: &'ast syn::LitStr) {
        if literal.value().starts_with(BEGINNING) {
            self.context(literal.value());
        }
    }
}

/// The text of a literal.
fn text(expression: &Expr) -> Option<String> {
    match expression {
        Expr::Lit(syn::ExprLit { lit: Lit::Str(text), .. }) => Some(text.value()),
        _ => None,
    }
}

fn number(expression: &Expr) -> Option<Number> {
    match expression {
        Expr::Lit(syn::ExprLit { lit: Lit::Int(value), .. }) => value.base10_parse().ok().map(Number::Is),
        Expr::Paren(inner) => number(&inner.expr),
        Expr::Cast(cast) => number(&cast.expr),
        Expr::Binary(binary) => {
            let both = Box::new([number(&binary.left)?, number(&binary.right)?]);
            match binary.op {
                BinOp::Add(_) => Some(Number::Sum(both)),
                BinOp::Sub(_) => Some(Number::Difference(both)),
                BinOp::Mul(_) => Some(Number::Product(both)),
                BinOp::Div(_) => Some(Number::Quotient(both)),
                BinOp::Shl(_) => Some(Number::Shifted(both)),
                _ => None,
            }
        }
        // Tests of a crate have smaller limits than others.
        Expr::If(choice) if is_of_tests(&choice.cond) => number(&choice.else_branch.as_ref()?.1),
        Expr::Block(block) => match &block.block.stmts[..] {
            [syn::Stmt::Expr(last, None)] => number(last),
            _ => None,
        },
        Expr::Path(path) => {
            let path: Vec<String> = path.path.segments.iter().map(|part| part.ident.to_string()).collect();
            Some(if path == ["u16", "MAX"] { Number::Is(u16::MAX.into()) } else { Number::Named(path) })
        }
        _ => None,
    }
}

/// Distinguishes the condition `cfg!(test)`.
fn is_of_tests(condition: &Expr) -> bool {
    let Expr::Macro(called) = condition else { return false };
    called.mac.path.is_ident("cfg") && called.mac.tokens.to_string() == "test"
}
