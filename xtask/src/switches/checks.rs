//! Checks, each of which can be lost: places that refuse what a peer sends, and their parts.

use syn::{
    BinOp, Block, Expr, ExprBinary, ExprCall, ExprIf, ExprMatch, ExprMethodCall, GenericArgument, ItemFn, ItemMod,
    PathArguments, ReturnType, Signature, Stmt, Type,
    spanned::Spanned,
    visit::{self, Visit},
};

use super::{
    expressions::{
        asks_for_kind, chosen, ending, has_pattern, has_verdict, is_bool, is_check, is_error, is_verdict, joined,
        looks_like_bytes, refuses,
    },
    places::{Switches, is_elsewhere},
};

/// A condition that holds when it is lost.
fn or_true(site: &str) -> [String; 2] {
    [format!("(crate::garblet_switch::or({site}, true, "), "))".into()]
}

/// A condition that does not hold when it is lost.
fn or_false(site: &str) -> [String; 2] {
    [format!("(crate::garblet_switch::or({site}, false, "), "))".into()]
}

/// Finds checks.
pub(super) struct Checks<'a, 'b> {
    switches: &'a mut Switches<'b>,
    /// Expressions around this one that decide about a refusal.
    deciding: usize,
}

impl<'a, 'b> Checks<'a, 'b> {
    pub(super) fn new(switches: &'a mut Switches<'b>) -> Self {
        Checks { switches, deciding: 0 }
    }

    /// Visits what decides about a refusal.
    fn decide(&mut self, visit: impl FnOnce(&mut Self)) {
        self.deciding += 1;
        visit(self);
        self.deciding -= 1;
    }

    fn function(&mut self, signature: &Signature, block: &Block, item: &impl Spanned, visit: impl FnOnce(&mut Self)) {
        if signature.constness.is_some() {
            return;
        }
        self.switches.enter(signature.ident.to_string(), item.span().byte_range());
        if let Some(last) = ending(block).filter(|last| returns_nothing(&signature.output) && is_check(last)) {
            self.call(last);
        }
        match returns_verdict(&signature.output) {
            true => self.decide(visit),
            false => visit(self),
        }
        self.switches.leave();
    }

    /// A condition that refuses where it has this value.
    fn condition(&mut self, condition: &Expr, refuses_if: bool, what: &'static str) {
        let lost = if refuses_if { or_false } else { or_true };
        if has_verdict(condition) {
            return;
        }
        if !has_pattern(condition) {
            return self.switches.wrap(condition.span().byte_range(), what, lost);
        }
        if refuses_if {
            for part in joined(condition).into_iter().filter(|part| !has_pattern(part)) {
                self.switches.wrap(part.span().byte_range(), what, lost);
            }
        }
    }

    /// One side of `&&` or `||`.
    fn operand(&mut self, operand: &Expr, and: bool) {
        let is_same = matches!(operand, Expr::Binary(inner) if match inner.op {
            BinOp::And(_) => and,
            BinOp::Or(_) => !and,
            _ => false,
        });
        if !is_same && !has_pattern(operand) && !has_verdict(operand) {
            let dropped = if and { or_true } else { or_false };
            self.switches.wrap(operand.span().byte_range(), "a part of a condition", dropped);
        }
    }

    /// A call of a check, or what it is asked with, which returns nothing but an error.
    fn call(&mut self, call: &Expr) {
        self.switches.wrap(call.span().byte_range(), "a call of a check", |site| {
            let begin = format!("(match crate::garblet_switch::checked({site}, ");
            [begin, ") { Some(result) => result.map(drop), None => Ok(()) })".into()]
        });
    }

    /// A comparison of bytes of which only the first half is compared.
    fn half(&mut self, whole: &impl Spanned, sides: [&Expr; 2], is_negated: bool) {
        let [one, other] = sides.map(|side| self.switches.code(side.span().byte_range()).to_string());
        self.switches.wrap(whole.span().byte_range(), "the second half", |site| {
            let names = "#[allow(unused_imports)] use crate::garblet_switch::{Halved as _, Pair, Whole as _};";
            let half = format!("|| {{ {names} (&Pair(&({one}), &({other}))).same_half() }}");
            let begin = format!("(crate::garblet_switch::halved({site}, {is_negated}, ");
            [begin, format!(", {half}))")]
        });
    }
}

/// Returns whether a function returns the outcome of a check.
fn returns_verdict(output: &ReturnType) -> bool {
    let ReturnType::Type(_, ty) = output else { return false };
    matches!(&**ty, Type::Path(path) if path.path.is_ident("bool") || path.path.is_ident("Choice"))
}

/// Returns whether a function returns nothing or an error.
fn returns_nothing(output: &ReturnType) -> bool {
    let ReturnType::Type(_, ty) = output else { return false };
    let Type::Path(path) = &**ty else { return false };
    let is_unit = |argument: &GenericArgument| matches!(argument, GenericArgument::Type(Type::Tuple(tuple)) if tuple.elems.is_empty());
    path.path.segments.last().is_some_and(|name| {
        name.ident == "Result"
            && matches!(&name.arguments, PathArguments::AngleBracketed(list) if list.args.first().is_some_and(is_unit))
    })
}

impl<'ast> Visit<'ast> for Checks<'_, '_> {
    fn visit_item_mod(&mut self, module: &'ast ItemMod) {
        if !is_elsewhere(&module.attrs) {
            visit::visit_item_mod(self, module);
        }
    }

    fn visit_item_impl(&mut self, item: &'ast syn::ItemImpl) {
        if !is_elsewhere(&item.attrs) {
            let range = item.self_ty.span().byte_range();
            self.switches.enter(self.switches.code(range.clone()).to_string(), range);
            visit::visit_item_impl(self, item);
            self.switches.leave();
        }
    }

    fn visit_item_fn(&mut self, function: &'ast ItemFn) {
        if !is_elsewhere(&function.attrs) {
            let (sig, block) = (&function.sig, &function.block);
            self.function(sig, block, function, |this| visit::visit_item_fn(this, function));
        }
    }

    fn visit_impl_item_fn(&mut self, function: &'ast syn::ImplItemFn) {
        if !is_elsewhere(&function.attrs) {
            let (sig, block) = (&function.sig, &function.block);
            self.function(sig, block, function, |this| visit::visit_impl_item_fn(this, function));
        }
    }

    fn visit_trait_item_fn(&mut self, function: &'ast syn::TraitItemFn) {
        if let Some(block) = &function.default {
            self.function(&function.sig, block, function, |this| visit::visit_trait_item_fn(this, function));
        }
    }

    // Constants and types are worked out before a switch can be asked.
    fn visit_item_const(&mut self, _: &'ast syn::ItemConst) {}
    fn visit_item_static(&mut self, _: &'ast syn::ItemStatic) {}
    fn visit_impl_item_const(&mut self, _: &'ast syn::ImplItemConst) {}
    fn visit_expr_const(&mut self, _: &'ast syn::ExprConst) {}
    fn visit_type(&mut self, _: &'ast Type) {}

    fn visit_expr_if(&mut self, branch: &'ast ExprIf) {
        let otherwise = branch.else_branch.as_ref().is_some_and(|(_, other)| is_error(other));
        if !refuses(&branch.then_branch) && !otherwise {
            return visit::visit_expr_if(self, branch);
        }
        self.condition(&branch.cond, refuses(&branch.then_branch), "a condition");
        self.decide(|this| this.visit_expr(&branch.cond));
        self.visit_block(&branch.then_branch);
        if let Some((_, other)) = &branch.else_branch {
            self.visit_expr(other);
        }
    }

    fn visit_expr_match(&mut self, choice: &'ast ExprMatch) {
        let refuses = |value| choice.arms.iter().any(|arm| is_bool(&arm.pat, value) && is_error(&arm.body));
        match (refuses(false), refuses(true)) {
            (true, _) => self.condition(&choice.expr, false, "a choice"),
            (false, true) => self.condition(&choice.expr, true, "a choice"),
            (false, false) => {}
        }
        let is_check = choice.arms.iter().any(|arm| is_error(&arm.body));
        match is_check {
            true => self.decide(|this| this.visit_expr(&choice.expr)),
            false => self.visit_expr(&choice.expr),
        }
        for arm in &choice.arms {
            let guard = arm.guard.as_ref().filter(|(_, guard)| is_check && !asks_for_kind(guard));
            if let Some((_, guard)) = guard {
                self.condition(guard, is_error(&arm.body), "a guard");
                self.decide(|this| this.visit_expr(guard));
            }
            self.visit_expr(&arm.body);
        }
    }

    fn visit_expr_call(&mut self, call: &'ast ExprCall) {
        if let Some(condition) = chosen(call) {
            self.condition(condition, false, "a part of a verdict");
            return self.decide(|this| this.visit_expr(condition));
        }
        if !is_verdict(call) {
            return visit::visit_expr_call(self, call);
        }
        self.switches.wrap(call.span().byte_range(), "a verdict", or_true);
        self.decide(|this| {
            for argument in &call.args {
                match argument {
                    // To lose the only comparison is to lose the verdict.
                    Expr::MethodCall(comparison) if comparison.method == "ct_eq" => {
                        visit::visit_expr_method_call(this, comparison);
                    }
                    other => this.visit_expr(other),
                }
            }
        });
    }

    fn visit_expr_method_call(&mut self, call: &'ast ExprMethodCall) {
        if call.method == "ct_eq" && call.args.len() == 1 {
            self.switches.wrap(call.span().byte_range(), "a comparison", or_true);
            self.half(call, [&call.receiver, &call.args[0]], false);
        }
        let chosen = match &*call.receiver {
            Expr::MethodCall(chosen) if chosen.method == "then_some" || chosen.method == "then" => Some(chosen),
            _ => None,
        };
        if let Some(chosen) = chosen.filter(|_| call.method == "ok_or" || call.method == "ok_or_else") {
            self.condition(&chosen.receiver, false, "a choice");
            self.decide(|this| this.visit_expr(&chosen.receiver));
            return;
        }
        visit::visit_expr_method_call(self, call);
    }

    fn visit_stmt(&mut self, statement: &'ast Stmt) {
        if let Stmt::Expr(Expr::Try(tried), Some(_)) = statement
            && !is_elsewhere(&tried.attrs)
            && is_check(&tried.expr)
        {
            self.call(&tried.expr);
        }
        visit::visit_stmt(self, statement);
    }

    fn visit_expr_binary(&mut self, binary: &'ast ExprBinary) {
        let is_name = |expression: &Expr| matches!(expression, Expr::Path(_));
        match binary.op {
            BinOp::BitAndAssign(_) if is_name(&binary.left) => {
                self.switches.wrap(binary.right.span().byte_range(), "a part of a verdict", or_true);
                self.decide(|this| visit::visit_expr_binary(this, binary));
                return;
            }
            BinOp::And(_) | BinOp::Or(_) if self.deciding > 0 => {
                let and = matches!(binary.op, BinOp::And(_));
                self.operand(&binary.left, and);
                self.operand(&binary.right, and);
            }
            BinOp::Eq(_) | BinOp::Ne(_)
                if self.deciding > 0 && (looks_like_bytes(&binary.left) || looks_like_bytes(&binary.right)) =>
            {
                let is_negated = matches!(binary.op, BinOp::Ne(_));
                self.half(binary, [&binary.left, &binary.right], is_negated);
            }
            _ => {}
        }
        visit::visit_expr_binary(self, binary);
    }
}
