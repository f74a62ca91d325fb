//! Questions about expressions.

use syn::{Block, Expr, ExprCall, Pat, visit, visit::Visit};

/// Parts of names of functions whose value is a refusal.
const REFUSALS: &[&str] = &["refus", "cheat", "forged", "blame"];
/// Beginnings of names of functions that check something.
const CHECKING: &[&str] = &["check", "verify", "require", "ensure", "confirm", "compare"];

/// Returns whether a block ends by returning an error.
pub(super) fn refuses(block: &Block) -> bool {
    matches!(block.stmts.last(), Some(syn::Stmt::Expr(last, _)) if is_error(last))
}

/// Returns whether an expression is `Err(..)`, or the value of a function that refuses.
pub(super) fn is_error(expression: &Expr) -> bool {
    match expression {
        Expr::Return(returned) => returned.expr.as_deref().is_some_and(is_error),
        Expr::Block(block) => refuses(&block.block),
        Expr::Try(tried) => is_error(&tried.expr),
        Expr::Call(_) | Expr::MethodCall(_) => {
            called(expression).is_some_and(|name| name == "Err" || REFUSALS.iter().any(|word| name.contains(word)))
        }
        _ => false,
    }
}

/// The name of the function that an expression calls.
fn called(expression: &Expr) -> Option<String> {
    match expression {
        Expr::Call(call) => match &*call.func {
            Expr::Path(path) => path.path.segments.last().map(|name| name.ident.to_string()),
            _ => None,
        },
        Expr::MethodCall(call) => Some(call.method.to_string()),
        Expr::Await(awaited) => called(&awaited.base),
        _ => None,
    }
}

/// Returns whether an expression calls a function that checks something, by its name.
pub(super) fn is_check(expression: &Expr) -> bool {
    if let Expr::MethodCall(call) = expression
        && call.method == "map_err"
    {
        return is_check(&call.receiver);
    }
    called(expression).is_some_and(|name| CHECKING.iter().any(|word| name.starts_with(word)))
}

/// Returns whether a pattern is this literal.
pub(super) fn is_bool(pattern: &Pat, value: bool) -> bool {
    matches!(pattern, Pat::Lit(literal) if matches!(&literal.lit, syn::Lit::Bool(bool) if bool.value == value))
}

/// Returns whether a call makes the outcome of a check of secrets public.
pub(super) fn is_verdict(call: &ExprCall) -> bool {
    let Expr::Path(path) = &*call.func else { return false };
    path.path.segments.last().is_some_and(|name| name.ident == "verdict")
}

/// Returns whether an expression has a `let`, around which no parentheses can be.
pub(super) fn has_pattern(expression: &Expr) -> bool {
    struct Found(bool);
    impl<'ast> Visit<'ast> for Found {
        fn visit_expr_let(&mut self, _: &'ast syn::ExprLet) {
            self.0 = true;
        }
        // One in a block or a closure is no part of the condition.
        fn visit_block(&mut self, _: &'ast Block) {}
    }
    let mut found = Found(false);
    found.visit_expr(expression);
    found.0
}

/// Returns whether an expression has a verdict, which is a place by itself.
pub(super) fn has_verdict(expression: &Expr) -> bool {
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

/// Returns whether an expression compares the kind of an error of the system: that chooses a sentence, and refuses nothing.
pub(super) fn asks_for_kind(expression: &Expr) -> bool {
    let is_kind = |side: &Expr| matches!(side, Expr::MethodCall(call) if call.method == "kind");
    matches!(expression, Expr::Binary(binary) if is_kind(&binary.left))
}

/// The parts of a condition that `&&` joins.
pub(super) fn joined(expression: &Expr) -> Vec<&Expr> {
    match expression {
        Expr::Binary(binary) if matches!(binary.op, syn::BinOp::And(_)) => {
            [joined(&binary.left), joined(&binary.right)].concat()
        }
        other => vec![other],
    }
}

/// Returns whether an expression looks like bytes: a range of something, or what a function for bytes returns.
pub(super) fn looks_like_bytes(expression: &Expr) -> bool {
    match expression {
        Expr::Index(index) => matches!(&*index.index, Expr::Range(_)),
        Expr::MethodCall(call) => call.method.to_string().contains("bytes") || call.method == "as_slice",
        Expr::Reference(reference) => looks_like_bytes(&reference.expr),
        Expr::Unary(unary) => looks_like_bytes(&unary.expr),
        _ => false,
    }
}

/// The value that a function's block ends with.
pub(super) fn ending(block: &Block) -> Option<&Expr> {
    match block.stmts.last() {
        Some(syn::Stmt::Expr(last, None)) => Some(last),
        _ => None,
    }
}

/// The condition in `Choice::from(u8::from(condition))`.
pub(super) fn chosen(call: &ExprCall) -> Option<&Expr> {
    match converted(call, "Choice")? {
        Expr::Call(inner) => converted(inner, "u8"),
        _ => None,
    }
}

/// The argument of `from` of a type.
fn converted<'a>(call: &'a ExprCall, ty: &str) -> Option<&'a Expr> {
    let Expr::Path(path) = &*call.func else { return None };
    let names: Vec<_> = path.path.segments.iter().map(|name| name.ident.to_string()).collect();
    call.args.first().filter(|_| names == [ty, "from"])
}
