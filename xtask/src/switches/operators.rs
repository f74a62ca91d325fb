//! Mutants: another operator, a function that returns at once, a condition of an arm that always or never holds.

use syn::{
    BinOp, Block, Expr, ExprBinary, ExprUnary, GenericArgument, ItemFn, ItemMod, PathArguments, ReturnType, Signature,
    Type, UnOp,
    spanned::Spanned,
    visit::{self, Visit},
};

use super::{
    expressions::has_pattern,
    places::{Switches, is_elsewhere},
};

const INTEGERS: &[&str] = &["u8", "u16", "u32", "u64", "u128", "usize", "i8", "i16", "i32", "i64", "i128", "isize"];

/// Finds places for mutants.
pub(super) struct Operators<'a, 'b> {
    switches: &'a mut Switches<'b>,
}

impl<'a, 'b> Operators<'a, 'b> {
    pub(super) fn new(switches: &'a mut Switches<'b>) -> Self {
        Operators { switches }
    }

    fn function(&mut self, signature: &Signature, block: &Block, item: &impl Spanned, visit: impl FnOnce(&mut Self)) {
        if signature.constness.is_some() {
            return;
        }
        self.switches.enter(signature.ident.to_string(), item.span().byte_range());
        let inside = block.brace_token.span.open().byte_range().end;
        for (value, what) in if block.stmts.is_empty() { Vec::new() } else { returned(&signature.output) } {
            // At the first byte of the body, so that nothing of it is inside.
            self.switches.wrap(inside..inside, what, |site| {
                let kept = kept(site);
                [format!(" if !{kept} {{ return {value}; }} "), String::new()]
            });
        }
        visit(self);
        self.switches.leave();
    }

    fn replace(&mut self, binary: &ExprBinary, operators: &[(&str, &'static str)]) {
        let side = |side: &Expr| self.switches.code(side.span().byte_range()).to_string();
        let (left, right) = (side(&binary.left), side(&binary.right));
        let is_assignment = operators.iter().any(|(operator, _)| is_assignment(operator));
        for (operator, what) in operators {
            let other = match is_assignment {
                true => format!("{left} {operator} {right}"),
                false => format!("({left}) {operator} ({right})"),
            };
            self.switches.wrap(binary.span().byte_range(), what, |site| {
                let kept = kept(site);
                [format!("(if {kept} {{ "), format!(" }} else {{ {other} }})")]
            });
        }
    }
}

/// Code that asks whether a place is kept.
fn kept(site: &str) -> String {
    format!("crate::garblet_switch::kept({site})")
}

fn is_assignment(operator: &str) -> bool {
    operator.ends_with('=') && !["==", "!=", "<=", ">="].contains(&operator)
}

/// The operators that stand in for another, with what the mutant does.
fn others(operator: &BinOp) -> &'static [(&'static str, &'static str)] {
    match operator {
        BinOp::Eq(_) => &[("!=", "== becomes !=")],
        BinOp::Ne(_) => &[("==", "!= becomes ==")],
        BinOp::Lt(_) => &[("<=", "< becomes <="), (">", "< becomes >"), ("==", "< becomes ==")],
        BinOp::Gt(_) => &[(">=", "> becomes >="), ("<", "> becomes <"), ("==", "> becomes ==")],
        BinOp::Le(_) => &[("<", "<= becomes <"), (">", "<= becomes >")],
        BinOp::Ge(_) => &[(">", ">= becomes >"), ("<", ">= becomes <")],
        BinOp::And(_) => &[("||", "&& becomes ||")],
        BinOp::Or(_) => &[("&&", "|| becomes &&")],
        BinOp::Add(_) => &[("-", "+ becomes -"), ("*", "+ becomes *")],
        BinOp::Sub(_) => &[("+", "- becomes +"), ("/", "- becomes /")],
        BinOp::Mul(_) => &[("+", "* becomes +"), ("/", "* becomes /")],
        BinOp::Div(_) => &[("%", "/ becomes %"), ("*", "/ becomes *")],
        BinOp::Rem(_) => &[("/", "% becomes /"), ("+", "% becomes +")],
        BinOp::Shl(_) => &[(">>", "<< becomes >>")],
        BinOp::Shr(_) => &[("<<", ">> becomes <<")],
        BinOp::BitAnd(_) => &[("|", "& becomes |"), ("^", "& becomes ^")],
        BinOp::BitOr(_) => &[("&", "| becomes &"), ("^", "| becomes ^")],
        BinOp::BitXor(_) => &[("|", "^ becomes |"), ("&", "^ becomes &")],
        BinOp::AddAssign(_) => &[("-=", "+= becomes -="), ("*=", "+= becomes *=")],
        BinOp::SubAssign(_) => &[("+=", "-= becomes +="), ("/=", "-= becomes /=")],
        BinOp::MulAssign(_) => &[("+=", "*= becomes +=")],
        BinOp::BitAndAssign(_) => &[("|=", "&= becomes |="), ("^=", "&= becomes ^=")],
        BinOp::BitOrAssign(_) => &[("&=", "|= becomes &="), ("^=", "|= becomes ^=")],
        BinOp::BitXorAssign(_) => &[("|=", "^= becomes |="), ("&=", "^= becomes &=")],
        _ => &[],
    }
}

/// The values that a function with this type can return at once, with what the mutant does.
fn returned(output: &ReturnType) -> Vec<(String, &'static str)> {
    let ReturnType::Type(_, ty) = output else { return vec![(String::new(), "does nothing")] };
    values(ty)
}

fn values(ty: &Type) -> Vec<(String, &'static str)> {
    let Type::Path(path) = ty else {
        let is_unit = matches!(ty, Type::Tuple(tuple) if tuple.elems.is_empty());
        return if is_unit { vec![("()".into(), "does nothing")] } else { Vec::new() };
    };
    let Some(last) = path.path.segments.last() else { return Vec::new() };
    let one = |value: &str, what| vec![(value.to_string(), what)];
    match last.ident.to_string().as_str() {
        "bool" => [one("true", "returns true"), one("false", "returns false")].concat(),
        "Choice" => {
            let choice = |bit: u8, what| one(&format!("subtle::Choice::from({bit})"), what);
            [choice(1, "returns 1"), choice(0, "returns 0")].concat()
        }
        "Option" => one("None", "returns None"),
        "Vec" => one("Vec::new()", "returns nothing"),
        "String" => one("String::new()", "returns nothing"),
        "Result" => {
            let PathArguments::AngleBracketed(arguments) = &last.arguments else { return Vec::new() };
            let Some(GenericArgument::Type(inner)) = arguments.args.first() else { return Vec::new() };
            values(inner).into_iter().map(|(value, what)| (format!("Ok({value})"), what)).collect()
        }
        name if INTEGERS.contains(&name) => [one("0", "returns 0"), one("1", "returns 1")].concat(),
        _ => Vec::new(),
    }
}

impl<'ast> Visit<'ast> for Operators<'_, '_> {
    fn visit_item_mod(&mut self, module: &'ast ItemMod) {
        if !is_elsewhere(&module.attrs) {
            visit::visit_item_mod(self, module);
        }
    }

    fn visit_item_impl(&mut self, item: &'ast syn::ItemImpl) {
        // What a value shows of itself in a panic is no behaviour.
        let is_debug = item
            .trait_
            .as_ref()
            .is_some_and(|(_, path, _)| path.segments.last().is_some_and(|name| name.ident == "Debug"));
        if !is_elsewhere(&item.attrs) && !is_debug {
            let range = item.self_ty.span().byte_range();
            self.switches.enter(self.switches.code(range.clone()).to_string(), range);
            visit::visit_item_impl(self, item);
            self.switches.leave();
        }
    }

    fn visit_item_fn(&mut self, function: &'ast ItemFn) {
        if !is_elsewhere(&function.attrs) {
            self.function(&function.sig, &function.block, function, |this| visit::visit_item_fn(this, function));
        }
    }

    fn visit_impl_item_fn(&mut self, function: &'ast syn::ImplItemFn) {
        if !is_elsewhere(&function.attrs) {
            let (sig, block) = (&function.sig, &function.block);
            self.function(sig, block, function, |this| visit::visit_impl_item_fn(this, function));
        }
    }

    fn visit_item_const(&mut self, _: &'ast syn::ItemConst) {}
    fn visit_item_static(&mut self, _: &'ast syn::ItemStatic) {}
    fn visit_impl_item_const(&mut self, _: &'ast syn::ImplItemConst) {}
    fn visit_expr_const(&mut self, _: &'ast syn::ExprConst) {}
    fn visit_type(&mut self, _: &'ast Type) {}
    fn visit_variant(&mut self, _: &'ast syn::Variant) {}
    fn visit_pat(&mut self, _: &'ast syn::Pat) {}

    fn visit_expr_repeat(&mut self, repeat: &'ast syn::ExprRepeat) {
        self.visit_expr(&repeat.expr);
    }

    fn visit_expr_binary(&mut self, binary: &'ast ExprBinary) {
        if !has_pattern(&binary.left) && !has_pattern(&binary.right) {
            self.replace(binary, others(&binary.op));
        }
        visit::visit_expr_binary(self, binary);
    }

    fn visit_expr_unary(&mut self, unary: &'ast ExprUnary) {
        if matches!(unary.op, UnOp::Not(_)) {
            let inner = self.switches.code(unary.expr.span().byte_range()).to_string();
            self.switches.wrap(unary.span().byte_range(), "without !", |site| {
                let kept = kept(site);
                [format!("(if {kept} {{ "), format!(" }} else {{ {inner} }})")]
            });
        }
        visit::visit_expr_unary(self, unary);
    }

    fn visit_arm(&mut self, arm: &'ast syn::Arm) {
        if let Some((_, guard)) = arm.guard.as_ref().filter(|(_, guard)| !has_pattern(guard)) {
            let range = guard.span().byte_range();
            let text = |before: &'static str| move |site: &str| [before.replace('?', &kept(site)), "))".to_string()];
            self.switches.wrap(range.clone(), "a guard that holds", text("(!? || ("));
            self.switches.wrap(range, "a guard that does not hold", text("(? && ("));
        }
        visit::visit_arm(self, arm);
    }
}
