//! The text of a program.

use std::fmt::Write;

use crate::tree::{Block, Expr, Fields, Input, Item, Pattern, Program, Stmt, Ty};

/// Binary operators, the loosest first.
const LEVELS: [&[&str]; 9] = [
    &["||"],
    &["&&"],
    &["==", "!=", "<", ">", "<=", ">="],
    &["|"],
    &["^"],
    &["&"],
    &["<<", ">>"],
    &["+", "-"],
    &["*", "/", "%"],
];
/// Text that rustc needs before an array that becomes a list; the function language does without.
pub(crate) const LIST: &str = "List::of(";
const COMPARISON: usize = 2;
const CAST: usize = 9;
const SIGN: usize = 10;
const PRIMARY: usize = 11;

impl Program {
    /// The source in the function language.
    pub(crate) fn text(&self) -> String {
        self.marked().replace(LIST, "(")
    }

    /// The source, in which lists are marked.
    pub(crate) fn marked(&self) -> String {
        let mut text = String::new();
        self.items.iter().for_each(|item| self::item(item, &mut text));
        text
    }

    /// The constants of parties that the source names, with their values.
    pub(crate) fn given(&self) -> Vec<(String, String)> {
        let mut given = Vec::new();
        crate::tree::expressions(&mut self.clone(), &mut |expr| {
            if let Expr::Given(name, value) = expr {
                given.push((name.clone(), value.clone()));
            }
        });
        given
    }
}

fn item(item: &Item, text: &mut String) {
    match item {
        Item::Const(name, ty, value) => writeln!(text, "const {name}: {} = {};", self::ty(ty), expr(value, 0)).unwrap(),
        Item::Struct(name, fields) => writeln!(text, "struct {name} {}", named(fields)).unwrap(),
        Item::Enum(name, variants) => {
            let variants: Vec<String> = variants
                .iter()
                .map(|(name, fields)| match fields {
                    Fields::Unit => name.clone(),
                    Fields::Tuple(types) => {
                        format!("{name}({})", types.iter().map(ty).collect::<Vec<_>>().join(", "))
                    }
                    Fields::Named(fields) => format!("{name} {}", named(fields)),
                })
                .collect();
            writeln!(text, "enum {name} {{ {} }}", variants.join(", ")).unwrap();
        }
        Item::Fn { name, sizes, params, result, body } => {
            let public = if name == "main" { "pub " } else { "" };
            let params: Vec<String> =
                params.iter().map(|(name, ty)| format!("{}: {}", pattern(name), self::ty(ty))).collect();
            let sizes: Vec<String> = sizes.iter().map(|size| format!("const {size}: usize")).collect();
            let sizes = if sizes.is_empty() { String::new() } else { format!("<{}>", sizes.join(", ")) };
            let (params, result) = (params.join(", "), ty(result));
            writeln!(text, "{public}fn {name}{sizes}({params}) -> {result} {}", block(body, 0)).unwrap();
        }
    }
}

fn named(fields: &[(String, Ty)]) -> String {
    let fields: Vec<String> = fields.iter().map(|(name, ty)| format!("{name}: {}", self::ty(ty))).collect();
    format!("{{ {} }}", fields.join(", "))
}

pub(crate) fn ty(ty: &Ty) -> String {
    match ty {
        Ty::Bool => "bool".into(),
        Ty::Int(int) => int.name.into(),
        Ty::Float(bits) => format!("f{bits}"),
        Ty::Tuple(parts) => tuple(parts.iter().map(self::ty).collect()),
        Ty::Array(element, size) => format!("[{}; {}]", self::ty(element), size.text),
        Ty::List(element, most) => format!("[{}; ..{most}]", self::ty(element)),
        Ty::Named(name) => name.clone(),
    }
}

fn tuple(mut parts: Vec<String>) -> String {
    match parts.len() {
        1 => format!("({},)", parts.remove(0)),
        _ => format!("({})", parts.join(", ")),
    }
}

fn block(block: &Block, depth: usize) -> String {
    if block.body.is_empty() && block.value.is_none() {
        return "{}".into();
    }
    let indent = "    ".repeat(depth + 1);
    let mut text = String::from("{\n");
    for stmt in &block.body {
        writeln!(text, "{indent}{}", self::stmt(stmt, depth + 1)).unwrap();
    }
    if let Some(value) = &block.value {
        writeln!(text, "{indent}{}", expr(value, depth + 1)).unwrap();
    }
    text + &"    ".repeat(depth) + "}"
}

fn stmt(stmt: &Stmt, depth: usize) -> String {
    match stmt {
        Stmt::Let(name, Some(ty), value) => {
            format!("let {}: {} = {};", pattern(name), self::ty(ty), expr(value, depth))
        }
        Stmt::Let(name, None, value) => format!("let {} = {};", pattern(name), expr(value, depth)),
        Stmt::Assign(place, op, value) => format!("{} {op} {};", expr(place, depth), expr(value, depth)),
        Stmt::Expr(value, semicolon) => {
            let value = expr(value, depth);
            if *semicolon { format!("{value};") } else { value }
        }
        Stmt::Push(place, value) => format!("{}.push({});", whole(place, depth), expr(value, depth)),
        Stmt::For(name, over, body) => {
            format!("for {} in {} {}", pattern(name), head(over, depth), block(body, depth))
        }
    }
}

/// An expression before a block.
fn head(over: &Expr, depth: usize) -> String {
    let text = expr(over, depth);
    // `NAME {` would begin the block.
    if has_struct(over) { format!("({text})") } else { text }
}

fn has_struct(expr: &Expr) -> bool {
    let mut copy = expr.clone();
    matches!(copy, Expr::Struct(..)) || copy.parts().into_iter().any(|part| has_struct(part))
}

/// An expression, in brackets if it binds looser than `least`.
fn expr(expr: &Expr, depth: usize) -> String {
    at_least(expr, 0, depth)
}

fn at_least(value: &Expr, least: usize, depth: usize) -> String {
    let (text, level) = bare(value, depth);
    if level < least && !matches!(value, Expr::Bare(_)) { format!("({text})") } else { text }
}

/// The text and how tight it binds.
fn bare(value: &Expr, depth: usize) -> (String, usize) {
    let list = |parts: &[Expr]| parts.iter().map(|part| expr(part, depth)).collect::<Vec<_>>();
    let text = match value {
        Expr::Literal(text) | Expr::Name(text) => text.clone(),
        Expr::Given(name, _) => name.clone(),
        Expr::Bare(inner) => return bare(inner, depth),
        Expr::Binary(op, a, b) => {
            let level = LEVELS.iter().position(|level| level.contains(op)).unwrap();
            let left = at_least(a, if level == COMPARISON { level + 1 } else { level }, depth);
            // What ends in `}` would end a statement, and `as u8 <` begins something else.
            let ends = matches!(**a, Expr::If(..) | Expr::Match(..) | Expr::Block(_));
            let opens = op.starts_with('<') && !matches!(**a, Expr::Bare(_)) && ends_in_cast(a);
            let left = if ends || opens { format!("({left})") } else { left };
            let right = at_least(b, level + 1, depth);
            // A line for each operand of some, so that places are told apart.
            let gap = if level % 3 == 1 { format!("\n{}", "    ".repeat(depth + 2)) } else { " ".into() };
            return (format!("{left}{gap}{op} {right}"), level);
        }
        Expr::Unary(op, a) => return (format!("{op}{}", at_least(a, SIGN, depth)), SIGN),
        Expr::Cast(a, to) => {
            let text = at_least(a, CAST, depth);
            let ends = matches!(**a, Expr::If(..) | Expr::Match(..) | Expr::Block(_));
            let text = if ends { format!("({text})") } else { text };
            return (format!("{text} as {}", ty(to)), CAST);
        }
        Expr::Call(name, arguments) => {
            let gap = if arguments.len() > 1 { format!(",\n{}", "    ".repeat(depth + 2)) } else { ", ".into() };
            format!("{name}({})", list(arguments).join(&gap))
        }
        Expr::Method(name, parts) => {
            let (first, rest) = parts.split_first().expect("a value");
            format!("{}.{name}({})", whole(first, depth), list(rest).join(", "))
        }
        Expr::Len(a) => format!("{}.len()", whole(a, depth)),
        Expr::Index(a, index) => format!("{}[{}]", whole(a, depth), expr(index, depth)),
        Expr::Field(a, field) => format!("{}.{field}", whole(a, depth)),
        Expr::Tuple(parts) => tuple(list(parts)),
        Expr::Array(parts) => format!("[{}]", list(parts).join(", ")),
        Expr::List(parts) => format!("{LIST}[{}])", list(parts).join(", ")),
        Expr::Repeat(value, size) => format!("[{}; {}]", expr(value, depth), size.text),
        Expr::Struct(name, fields) => {
            let field = |(name, value): &(String, Expr)| match value {
                Expr::Name(own) if own == name => name.clone(),
                _ => format!("{name}: {}", expr(value, depth)),
            };
            let fields: Vec<String> = fields.iter().map(field).collect();
            format!("{name} {{ {} }}", fields.join(", "))
        }
        Expr::Block(inner) => block(inner, depth),
        Expr::If(condition, then, other) => {
            let other = other.as_ref().map(|other| format!(" else {}", expr(other, depth)));
            format!("if {} {}{}", head(condition, depth), block(then, depth), other.unwrap_or_default())
        }
        Expr::Match(value, arms) => {
            let indent = "    ".repeat(depth + 1);
            let arm =
                |(name, value): &(Pattern, Expr)| format!("{indent}{} => {},\n", pattern(name), expr(value, depth + 1));
            let arms: String = arms.iter().map(arm).collect();
            format!("match {} {{\n{arms}{}}}", head(value, depth), "    ".repeat(depth))
        }
        Expr::Range(a, dots, b) => return (format!("{}{dots}{}", at_least(a, 1, depth), at_least(b, 1, depth)), 0),
    };
    (text, PRIMARY)
}

/// The value that a field or an element is taken of.
fn whole(value: &Expr, depth: usize) -> String {
    match value {
        Expr::Literal(_) | Expr::If(..) | Expr::Match(..) | Expr::Block(_) => format!("({})", expr(value, depth)),
        // `a.0.1`
        _ => at_least(value, PRIMARY, depth),
    }
}

fn ends_in_cast(value: &Expr) -> bool {
    match value {
        Expr::Cast(..) => true,
        Expr::Binary(_, _, b) | Expr::Unary(_, b) | Expr::Bare(b) => ends_in_cast(b),
        _ => false,
    }
}

fn pattern(value: &Pattern) -> String {
    let list = |parts: &[Pattern]| parts.iter().map(pattern).collect::<Vec<_>>();
    match value {
        Pattern::Name(name, false) | Pattern::Literal(name) => name.clone(),
        Pattern::Name(name, true) => format!("mut {name}"),
        Pattern::Any => "_".into(),
        Pattern::Range(lo, dots, hi) => format!("{lo}{dots}{hi}"),
        Pattern::Tuple(parts) => tuple(list(parts)),
        Pattern::Struct(name, fields, rest) => {
            let field = |(name, part): &(String, Pattern)| match part {
                Pattern::Name(own, false) if own == name => name.clone(),
                _ => format!("{name}: {}", pattern(part)),
            };
            let mut fields: Vec<String> = fields.iter().map(field).collect();
            fields.extend(rest.then(|| "..".to_string()));
            format!("{name} {{ {} }}", fields.join(", "))
        }
        Pattern::Variant(name, parts) if parts.is_empty() => name.clone(),
        Pattern::Variant(name, parts) => format!("{name}({})", list(parts).join(", ")),
    }
}

/// The value as rustc reads it.
pub(crate) fn input(value: &Input) -> String {
    let list = |parts: &[Input]| parts.iter().map(input).collect::<Vec<_>>();
    match value {
        Input::Bool(value) => value.to_string(),
        Input::Int(int, bits) if int.signed => {
            let shift = 128 - int.bits;
            format!("{}{}", (*bits as i128) << shift >> shift, int.name)
        }
        Input::Int(int, bits) => format!("{bits}{}", int.name),
        Input::Float(width, bits) => format!("f{width}::from_bits({bits}u{width})"),
        Input::Tuple(parts) => tuple(list(parts)),
        Input::Array(parts) => format!("[{}]", list(parts).join(", ")),
        Input::List(parts) => format!("{LIST}[{}])", list(parts).join(", ")),
        Input::Struct(name, fields) => {
            let fields: Vec<String> = fields.iter().map(|(name, value)| format!("{name}: {}", input(value))).collect();
            format!("{name} {{ {} }}", fields.join(", "))
        }
        Input::Enum(name, _, variant, fields) => {
            let named = fields.iter().any(|(name, _)| name.is_some());
            let field = |(name, value): &(Option<String>, Input)| match name {
                Some(name) => format!("{name}: {}", input(value)),
                None => input(value),
            };
            let list = fields.iter().map(field).collect::<Vec<_>>().join(", ");
            match (fields.is_empty(), named) {
                (true, _) => format!("{name}::{variant}"),
                (false, true) => format!("{name}::{variant} {{ {list} }}"),
                (false, false) => format!("{name}::{variant}({list})"),
            }
        }
    }
}
