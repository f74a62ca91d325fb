//! Numbers the places of a file that refuse something.

use std::{
    fmt,
    path::{Path, PathBuf},
};

use syn::{
    Attribute, BinOp, Block, Expr, ExprBinary, ExprCall, ExprIf, ExprMatch, ItemFn, ItemMod, Pat,
    spanned::Spanned,
    visit::{self, Visit},
};

/// A place that refuses something.
pub(super) struct Place {
    pub(super) number: usize,
    pub(super) file: PathBuf,
    line: usize,
    what: &'static str,
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{} ({}, number {})", self.file.display(), self.line, self.what, self.number)
    }
}

/// The text of a file in which a switch is at each place that refuses something. Adds these places.
///
/// *Errors*: the file is not Rust.
pub(super) fn numbered(file: &Path, text: &str, places: &mut Vec<Place>) -> Result<String, String> {
    let tree = syn::parse_file(text).map_err(|error| format!("{}: {error}", file.display()))?;
    let mut visitor = Visitor { file, places, inserted: Vec::new() };
    visitor.visit_file(&tree);
    let mut inserted = visitor.inserted;
    // From the end, so that earlier places stay where they are; of two at one place the later one stands inside.
    inserted.sort_by_key(|(at, order, _)| (*at, *order));
    let mut numbered = text.to_string();
    for (at, _, words) in inserted.into_iter().rev() {
        numbered.insert_str(at, &words);
    }
    Ok(numbered)
}

struct Visitor<'a> {
    file: &'a Path,
    places: &'a mut Vec<Place>,
    /// Places in bytes and the text that is inserted there, with the order of what is inserted at one place.
    inserted: Vec<(usize, isize, String)>,
}

impl Visitor<'_> {
    /// Puts an expression between two texts, of which the first has the number of the place.
    fn wrap(&mut self, expression: &impl Spanned, what: &'static str, around: impl Fn(String) -> [String; 2]) {
        let span = expression.span();
        let number = self.places.len();
        self.places.push(Place { number, file: self.file.into(), line: span.start().line, what });
        let [before, after] = around(format!("garblet_primitives::secrets::kept({number})"));
        let (range, order) = (span.byte_range(), number as isize);
        self.inserted.push((range.start, order, before));
        // What begins later ends earlier.
        self.inserted.push((range.end, -order - 1, after));
    }
}

impl<'ast> Visit<'ast> for Visitor<'_> {
    fn visit_item_mod(&mut self, module: &'ast ItemMod) {
        if !is_test(&module.attrs) {
            visit::visit_item_mod(self, module);
        }
    }

    fn visit_item_fn(&mut self, function: &'ast ItemFn) {
        if function.sig.constness.is_none() && !is_test(&function.attrs) {
            visit::visit_item_fn(self, function);
        }
    }

    fn visit_impl_item_fn(&mut self, function: &'ast syn::ImplItemFn) {
        if function.sig.constness.is_none() {
            visit::visit_impl_item_fn(self, function);
        }
    }

    fn visit_expr_if(&mut self, branch: &'ast ExprIf) {
        if refuses(&branch.then_branch) && !has_pattern(&branch.cond) && !has_verdict(&branch.cond) {
            self.wrap(&branch.cond, "a condition", |kept| [format!("{kept} && ("), ")".into()]);
        }
        visit::visit_expr_if(self, branch);
    }

    fn visit_expr_match(&mut self, choice: &'ast ExprMatch) {
        let is_refusal = |arm: &syn::Arm| is_bool(&arm.pat, false) && is_error(&arm.body);
        if choice.arms.iter().any(is_refusal) && !has_verdict(&choice.expr) {
            self.wrap(&choice.expr, "a choice", |kept| [format!("(!{kept} || ("), "))".into()]);
        }
        visit::visit_expr_match(self, choice);
    }

    fn visit_expr_call(&mut self, call: &'ast ExprCall) {
        if is_verdict(call) {
            self.wrap(call, "a verdict", |kept| [format!("(!{kept} || "), ")".into()]);
        }
        visit::visit_expr_call(self, call);
    }

    fn visit_expr_binary(&mut self, binary: &'ast ExprBinary) {
        let is_name = |expression: &Expr| matches!(expression, Expr::Path(_));
        if matches!(binary.op, BinOp::BitAndAssign(_)) && is_name(&binary.left) {
            self.wrap(binary, "a part of a verdict", |kept| [format!("if {kept} {{ "), " }".into()]);
        }
        visit::visit_expr_binary(self, binary);
    }
}

fn is_test(attributes: &[Attribute]) -> bool {
    let is_of_tests = |attribute: &Attribute| {
        attribute.path().is_ident("test")
            || attribute.path().is_ident("cfg") && attribute.parse_args::<syn::Ident>().is_ok_and(|name| name == "test")
    };
    attributes.iter().any(is_of_tests)
}

/// Returns whether a block ends by returning an error.
fn refuses(block: &Block) -> bool {
    let Some(syn::Stmt::Expr(last, _)) = block.stmts.last() else { return false };
    match last {
        Expr::Return(returned) => returned.expr.as_deref().is_some_and(is_error),
        last => is_error(last),
    }
}

/// Returns whether an expression is `Err(..)`.
fn is_error(expression: &Expr) -> bool {
    match expression {
        Expr::Call(call) => matches!(&*call.func, Expr::Path(path) if path.path.is_ident("Err")),
        Expr::Return(returned) => returned.expr.as_deref().is_some_and(is_error),
        Expr::Block(block) => refuses(&block.block),
        _ => false,
    }
}

fn is_bool(pattern: &Pat, value: bool) -> bool {
    matches!(pattern, Pat::Lit(literal) if matches!(&literal.lit, syn::Lit::Bool(bool) if bool.value == value))
}

fn is_verdict(call: &ExprCall) -> bool {
    let Expr::Path(path) = &*call.func else { return false };
    path.path.segments.last().is_some_and(|name| name.ident == "verdict")
}

/// Returns whether an expression has a `let`, around which no parentheses can be.
fn has_pattern(expression: &Expr) -> bool {
    struct Found(bool);
    impl<'ast> Visit<'ast> for Found {
        fn visit_expr_let(&mut self, _: &'ast syn::ExprLet) {
            self.0 = true;
        }
    }
    let mut found = Found(false);
    found.visit_expr(expression);
    found.0
}

/// Returns whether an expression has a verdict, which is a place by itself.
fn has_verdict(expression: &Expr) -> bool {
    struct Found(bool);
    impl<'ast> Visit<'ast> for Found {
        fn visit_expr_call(&mut self, call: &'ast ExprCall) {
            self.0 |= is_verdict(call);
            visit::visit_expr_call(self, call);
        }
    }
    let mut found = Found(false);
    found.visit_expr(expression);
    found.0
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(text: &str) -> (String, Vec<Place>) {
        let mut places = Vec::new();
        let text = numbered(Path::new("a.rs"), text, &mut places).expect("Rust");
        (text.replace("garblet_primitives::secrets::kept", "kept"), places)
    }

    #[test]
    fn places_that_refuse_have_a_switch() {
        let text = "fn f() -> Result<(), E> {\n    if a != b {\n        return Err(E);\n    }\n    fits &= x == y;\n    match secrets::verdict(fits, \"r\") {\n        true => Ok(()),\n        false => Err(E),\n    }\n}\n";
        let (numbered, places) = of(text);
        assert!(numbered.contains("if kept(0) && (a != b) {"), "{numbered}");
        assert!(numbered.contains("if kept(1) { fits &= x == y };"), "{numbered}");
        assert!(numbered.contains("match (!kept(2) || secrets::verdict(fits, \"r\")) {"), "{numbered}");
        assert_eq!(places.iter().map(|place| place.line).collect::<Vec<_>>(), [2, 5, 6]);
        syn::parse_file(&numbered).expect("still Rust");
    }

    #[test]
    fn one_place_inside_another_stays_rust() {
        let (numbered, places) = of(
            "fn f() -> R {\n    match all(match x { true => Ok(1), false => Err(2) }) {\n        true => Ok(1),\n        false => return Err(2),\n    }\n}\n",
        );
        assert_eq!(places.len(), 2, "{numbered}");
        syn::parse_file(&numbered).expect("still Rust");
        assert!(numbered.contains("match (!kept(0) || (all(match (!kept(1) || (x)) {"), "{numbered}");
    }

    #[test]
    fn patterns_tests_and_constant_functions_have_none() {
        let text = "const fn f() -> R { if a { return Err(1); } Ok(2) }\n#[cfg(test)]\nmod tests { fn g() -> R { if a { return Err(1); } Ok(2) } }\n\
            fn h() -> R { if let Some(x) = y { return Err(x); } if a { return Ok(1); } Ok(2) }\n";
        let (numbered, places) = of(text);
        assert_eq!((numbered.as_str(), places.len()), (text, 0));
    }
}
