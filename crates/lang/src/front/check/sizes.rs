//! Functions over sizes: each choice of sizes with which one is called is an instance, a function of its own.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use super::{Checked, Checker, Signature};
use crate::{
    front::ast::{Callee, Expr, FnDef, Int, Size, SizeParam, Type},
    source_error::SourceError,
    tree::Span,
};

const USIZE: Type = Type::Int(Int::Usize);
/// The most tokens of all instances.
const MAX_TOKENS: usize = 1 << 20;

/// The functions over sizes, and their instances.
pub(super) struct Instances<'p> {
    /// The functions over sizes.
    over: &'p BTreeMap<String, FnDef>,
    /// Instances that are not checked yet.
    waiting: VecDeque<FnDef>,
    /// The tokens of all instances.
    tokens: usize,
}

impl<'p> Instances<'p> {
    pub(super) fn of(over: &'p BTreeMap<String, FnDef>) -> Self {
        Instances { over, waiting: VecDeque::new(), tokens: 0 }
    }
}

impl Checker<'_> {
    /// Puts an instance in the place of a function over sizes that is called. Sizes are stated, or those of the arguments.
    pub(super) fn instantiate(&mut self, callee: &mut Callee, arguments: &[Expr], span: Span) -> Checked {
        let Some(function) = self.instances.over.get(&callee.name) else { return self.expect_no_sizes(callee, span) };
        self.arity(function.params.len(), arguments.len(), span)?;
        let mut sizes = function.sizes.clone();
        self.stated_sizes(callee, &mut sizes, span)?;
        for (param, argument) in function.params.iter().zip(arguments) {
            infer(&param.ty, &self.so_far(&argument.ty), &mut sizes);
        }
        if let Some(open) = sizes.iter().find(|size| size.value.is_none()) {
            let fault = SourceError::new(
                span,
                format!("the size `{}` of `{}` does not follow from the arguments", open.name, callee.name),
            );
            let stated: Vec<String> =
                sizes.iter().map(|size| size.value.map_or("8".into(), |n| n.to_string())).collect();
            return self.refuse(fault.hint(format!("state it, as in `{}::<{}>(..)`", callee.name, stated.join(", "))));
        }
        let shown: Vec<String> = sizes.iter().filter_map(|size| Some(size.value?.to_string())).collect();
        let name = format!("{}::<{}>", callee.name, shown.join(", "));
        if !self.functions.contains_key(&name) {
            let own = FnDef { name: name.clone(), is_pub: false, sizes, ..function.clone() };
            self.add_instance(own, span)?;
        }
        *callee = Callee { name, sizes: Vec::new() };
        Ok(())
    }

    /// Refuses sizes for a function that is not over sizes.
    pub(super) fn expect_no_sizes(&mut self, callee: &Callee, span: Span) -> Checked {
        match callee.sizes.is_empty() {
            true => Ok(()),
            false => {
                let fault = SourceError::new(span, format!("the function `{}` is not over sizes", callee.name));
                self.refuse(fault.hint("leave out `::<..>`"))
            }
        }
    }

    /// Refuses the name of a size in a pattern, as Rust does.
    pub(super) fn expect_no_size(&mut self, name: &str, span: Span) -> Checked {
        match self.values.is_size(name) {
            true => {
                let fault = SourceError::new(span, format!("expected a pattern, got the size `{name}`"));
                self.refuse(fault.hint("compare with it in an `if`"))
            }
            false => Ok(()),
        }
    }

    /// The sizes that a call states.
    fn stated_sizes(&mut self, callee: &Callee, sizes: &mut [SizeParam], span: Span) -> Checked {
        if !callee.sizes.is_empty() && callee.sizes.len() != sizes.len() {
            let names: Vec<&str> = sizes.iter().map(|size| size.name.as_str()).collect();
            let message = format!("expected sizes for {}, got {} sizes", names.join(", "), callee.sizes.len());
            return self.refuse(SourceError::new(span, message).hint("`_` stands for a size that is inferred"));
        }
        for (size, stated) in sizes.iter_mut().zip(&callee.sizes) {
            let Some(stated) = stated else { continue };
            match self.values.evaluate(stated, &USIZE) {
                // It has 32 bits.
                Ok(value) => size.value = usize::try_from(value).ok(),
                Err(fault) => return self.refuse(fault),
            }
        }
        Ok(())
    }

    /// Adds the signature of an instance, whose body waits to be checked.
    fn add_instance(&mut self, mut own: FnDef, span: Span) -> Checked {
        self.instances.tokens += own.tokens;
        if self.instances.tokens > MAX_TOKENS {
            let message = format!(
                "functions over sizes have too many instances: expected at most {MAX_TOKENS} words and signs in all of them, got more"
            );
            return self.refuse(SourceError::new(span, message).hint("call them with fewer different sizes"));
        }
        let values = self.values.with(&own.sizes);
        let types = own.params.iter_mut().map(|param| &mut param.ty).chain([&mut own.result]);
        let fixed: Result<Vec<()>, SourceError> = types.map(|ty| values.fix(ty, own.span)).collect();
        if let Err(fault) = fixed {
            return self.refuse(in_instance(&own.name, fault));
        }
        self.functions.insert(own.name.clone(), Signature::of(&own));
        self.instances.waiting.push_back(own);
        Ok(())
    }

    /// Checks all instances, and those that they call. Of several instances of a function that are wrong, the first is
    /// reported.
    pub(super) fn check_instances(&mut self, checked: &mut BTreeMap<String, FnDef>) {
        let mut wrong = BTreeSet::new();
        while let Some(mut instance) = self.instances.waiting.pop_front() {
            let before = self.faults.len();
            self.function(&mut instance);
            let faults = self.faults.split_off(before);
            if !faults.is_empty() && wrong.insert(instance.span) {
                self.faults.extend(faults.into_iter().map(|fault| in_instance(&instance.name, fault)));
            }
            checked.insert(instance.name.clone(), instance);
        }
    }
}

/// A fault in an instance, which it names.
fn in_instance(name: &str, fault: SourceError) -> SourceError {
    SourceError { message: format!("`{name}`: {}", fault.message), ..fault }
}

/// Finds sizes by comparing the type of a parameter with that of an argument.
fn infer(param: &Type, argument: &Type, sizes: &mut [SizeParam]) {
    match (param, argument) {
        (Type::Array(element, size), Type::Array(own, Size::Number(count)))
        | (Type::List(element, size), Type::Array(own, Size::Number(count)) | Type::List(own, Size::Number(count))) => {
            if let Size::Constant(name) = size
                && let Some(open) = sizes.iter_mut().find(|open| open.name == *name)
            {
                open.value.get_or_insert(*count);
            }
            infer(element, own, sizes);
        }
        (Type::Tuple(params), Type::Tuple(arguments)) => {
            params.iter().zip(arguments).for_each(|(param, argument)| infer(param, argument, sizes));
        }
        _ => {}
    }
}
