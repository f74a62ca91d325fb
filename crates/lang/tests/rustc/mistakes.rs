//! Mistakes: small changes of a program, after which it may be wrong, so that refusals are compared too.

use crate::{
    dice::Dice,
    tree::{Block, Expr, INTS, Input, Item, Pattern, Program, Stmt, Ty, blocks, expressions},
};

/// Makes one or two mistakes.
pub(crate) fn damage(program: &mut Program, dice: &mut Dice) {
    for _ in 0..1 + dice.below(2) {
        match dice.below(10) {
            0..=5 => damage_expression(program, dice),
            6..=8 => damage_block(program, dice),
            _ => damage_item(program, dice),
        }
    }
}

fn boxed(value: Expr) -> Box<Expr> {
    Box::new(value)
}

fn names(program: &mut Program) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    expressions(program, &mut |expr| {
        if let Expr::Name(name) = expr {
            names.push(name.clone());
        }
    });
    for item in &program.items {
        if let Item::Const(name, ..) = item {
            names.push(name.clone());
        }
    }
    names
}

/// `usize` has other bits in the function language, so that mistakes leave it alone.
fn another_type(dice: &mut Dice) -> Ty {
    if dice.chance(15) { Ty::Bool } else { Ty::Int(dice.pick(&INTS[..10])) }
}

fn damage_expression(program: &mut Program, dice: &mut Dice) {
    let names = names(program);
    let mut count = 0;
    expressions(program, &mut |_| count += 1);
    let (chosen, mut at) = (dice.below(count), 0);
    expressions(program, &mut |expr| {
        at += 1;
        if at == chosen + 1 {
            let old = std::mem::replace(expr, Expr::Tuple(Vec::new()));
            *expr = another(old, &names, dice);
        }
    });
}

fn another(old: Expr, names: &[String], dice: &mut Dice) -> Expr {
    match old {
        Expr::Literal(text) => {
            let end = text.find(['u', 'i']).unwrap_or(text.len());
            match dice.below(4) {
                0 if text.contains('.') => Expr::Literal(text.trim_end_matches(|c| c != '.').replace('.', "")),
                0 => Expr::Literal(text[..end].into()),
                1 => {
                    Expr::Literal(dice.pick(&["256", "2147483648", "5000000000", "18446744073709551616", "300"]).into())
                }
                2 => Expr::Unary('-', boxed(Expr::Literal(text))),
                _ if text.starts_with("0x") || !text.starts_with(|c: char| c.is_ascii_digit()) => {
                    Expr::Literal("7".into())
                }
                _ => Expr::Literal(format!("{}{}", &text[..end], dice.pick(&INTS[..10]).name)),
            }
        }
        Expr::Name(_) if !names.is_empty() => Expr::Name(dice.pick(names)),
        Expr::Binary(op, a, b) => match dice.below(5) {
            0 => Expr::Binary(op, b, a),
            1 => *a,
            2 => {
                let other = dice.pick(&["<", "==", "&&"]);
                let chained = Expr::Bare(boxed(Expr::Binary(op, a, b.clone())));
                Expr::Binary(other, boxed(chained), b)
            }
            _ => Expr::Binary(dice.pick(&["+", "-", "&", "<", "==", "&&", "||", ">>", "<<", "%", "<="]), a, b),
        },
        Expr::Cast(a, _) if dice.chance(30) => *a,
        Expr::Cast(a, _) => Expr::Cast(a, another_type(dice)),
        Expr::Unary(_, a) => *a,
        Expr::Call(name, mut arguments) => {
            if dice.chance(50) {
                arguments.pop();
            } else {
                arguments.reverse();
            }
            Expr::Call(name, arguments)
        }
        Expr::Array(mut parts) | Expr::Tuple(mut parts) if dice.chance(60) => {
            parts.pop();
            if dice.chance(50) { Expr::Array(parts) } else { Expr::Tuple(parts) }
        }
        Expr::Match(value, mut arms) => {
            if dice.chance(50) {
                arms.remove(dice.below(arms.len()));
            } else {
                arms.reverse();
            }
            Expr::Match(value, arms)
        }
        Expr::If(condition, then, _) if dice.chance(50) => Expr::If(condition, then, None),
        Expr::Struct(name, mut fields) => {
            fields.pop();
            Expr::Struct(name, fields)
        }
        Expr::Index(whole, _) if dice.chance(50) => Expr::Index(whole, boxed(Expr::Literal("1u8".into()))),
        other => match dice.below(4) {
            0 => Expr::Unary('-', boxed(other)),
            // The complement of a usize has other bits.
            1 if !matches!(other, Expr::Given(..) | Expr::Len(_)) => Expr::Unary('!', boxed(other)),
            2 => Expr::Cast(boxed(other), another_type(dice)),
            _ => Expr::Block(Block { body: vec![Stmt::Expr(other, true)], value: None }),
        },
    }
}

fn damage_block(program: &mut Program, dice: &mut Dice) {
    let constants: Vec<String> = program
        .items
        .iter()
        .filter_map(|item| match item {
            Item::Const(name, ..) => Some(name.clone()),
            _ => None,
        })
        .collect();
    let mut count = 0;
    blocks(program, &mut |_| count += 1);
    let (chosen, mut at) = (dice.below(count), 0);
    blocks(program, &mut |block| {
        at += 1;
        if at == chosen + 1 {
            damage_one(block, &constants, dice);
        }
    });
}

fn damage_one(block: &mut Block, constants: &[String], dice: &mut Dice) {
    match block.value.take() {
        Some(value) if dice.chance(30) => {
            block.body.push(Stmt::Expr(*value, true));
            return;
        }
        value => block.value = value,
    }
    let Some(at) = block.body.len().checked_sub(1).map(|last| dice.below(last + 1)) else { return };
    match &mut block.body[at] {
        Stmt::Let(pattern, ty, value) => match dice.below(4) {
            0 => *ty = Some(another_type(dice)),
            // A list without a type would be an array here, and nothing to rustc.
            1 if !is_list(ty.as_ref(), value) => *ty = None,
            2 if !constants.is_empty() => *pattern = Pattern::Name(dice.pick(constants), false),
            _ => match pattern {
                Pattern::Name(_, mutable) => *mutable = !*mutable,
                _ => *pattern = Pattern::Name("v1".into(), false),
            },
        },
        Stmt::For(pattern, ..) => match constants.is_empty() || dice.chance(50) {
            true => *pattern = Pattern::Name("v1".into(), false),
            false => *pattern = Pattern::Name(dice.pick(constants), false),
        },
        Stmt::Assign(_, op, _) if dice.chance(50) => *op = dice.pick(&["=", "+=", "&=", ">>="]),
        Stmt::Expr(_, semicolon) if dice.chance(60) => {
            *semicolon = !*semicolon;
            if block.value.is_none() && at + 1 == block.body.len() {
                let Some(Stmt::Expr(value, false)) = block.body.pop() else { return };
                block.value = Some(boxed(value));
            }
        }
        _ => drop(block.body.remove(at)),
    }
}

fn damage_item(program: &mut Program, dice: &mut Dice) {
    let constants: Vec<String> = program
        .items
        .iter()
        .filter_map(|item| match item {
            Item::Const(name, ..) => Some(name.clone()),
            _ => None,
        })
        .collect();
    let at = dice.below(program.items.len());
    match &mut program.items[at] {
        Item::Const(name, ty, value) => match dice.below(3) {
            0 => *ty = another_type(dice),
            1 => *value = Expr::Unary('-', boxed(value.clone())),
            _ => *name = "v1".into(),
        },
        Item::Fn { name, params, result, .. } if name != "main" => match dice.below(3) {
            0 => *result = another_type(dice),
            1 if !constants.is_empty() => params[0].0 = Pattern::Name(dice.pick(&constants), false),
            _ => params[0].1 = another_type(dice),
        },
        Item::Fn { .. } => {}
        Item::Struct(_, fields) => fields[0].1 = another_type(dice),
        Item::Enum(name, variants) => {
            variants.reverse();
            let (name, last) = (name.clone(), variants.len() - 1);
            program.inputs.iter_mut().flatten().for_each(|input| reverse(input, &name, last));
        }
    }
}

/// Numbers the variants of an enum from the last.
fn reverse(input: &mut Input, name: &str, last: usize) {
    match input {
        Input::Bool(_) | Input::Int(..) | Input::Float(..) => {}
        Input::Tuple(parts) | Input::Array(parts) | Input::List(parts) => {
            parts.iter_mut().for_each(|part| reverse(part, name, last));
        }
        Input::Struct(_, fields) => fields.iter_mut().for_each(|(_, field)| reverse(field, name, last)),
        Input::Enum(own, at, _, fields) => {
            if own == name {
                *at = last - *at;
            }
            fields.iter_mut().for_each(|(_, field)| reverse(field, name, last));
        }
    }
}

/// Tells whether a variable is a list.
fn is_list(ty: Option<&Ty>, value: &Expr) -> bool {
    match (ty, value) {
        (Some(Ty::List(..)), _) | (_, Expr::List(_)) => true,
        (_, Expr::Block(Block { value: Some(value), .. })) => is_list(None, value),
        _ => false,
    }
}
