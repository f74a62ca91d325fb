//! Makes a program that fails smaller, as long as it fails in the same way.

use crate::{
    compare::{Outcome, compare, ours},
    oracle::{Source, verdicts},
    tree::{Block, Expr, Item, Program, Stmt, blocks, expressions},
};

/// The most programs that are tried at once.
const TRIED: usize = 60;
const ROUNDS: usize = 25;

/// The smallest program found that fails as this one does.
pub(crate) fn shrink(mut program: Program, kind: &str) -> Program {
    program.inputs = one_input(&program, kind);
    for _ in 0..ROUNDS {
        let mut smaller = steps(&program);
        smaller.sort_by_key(|program| program.text().len());
        smaller.retain(|own| own.text().len() < program.text().len());
        let failing = smaller.chunks(TRIED).take(4).find_map(|tried| {
            let kinds = kinds(tried);
            tried.iter().zip(kinds).find(|(_, own)| own.as_deref() == Some(kind)).map(|(program, _)| program.clone())
        });
        match failing {
            Some(smaller) => program = smaller,
            None => break,
        }
    }
    program
}

fn kinds(programs: &[Program]) -> Vec<Option<String>> {
    let sources: Vec<Source> = programs.iter().map(Source::of).collect();
    let compared = programs.iter().zip(verdicts(&sources)).map(|(program, verdict)| compare(&ours(program), &verdict));
    compared
        .map(|outcome| match outcome {
            Outcome::Wrong(kind, _) => Some(kind),
            _ => None,
        })
        .collect()
}

/// The first input alone with which it fails, or all.
fn one_input(program: &Program, kind: &str) -> Vec<Vec<crate::tree::Input>> {
    let single: Vec<Program> =
        program.inputs.iter().map(|input| Program { inputs: vec![input.clone()], ..program.clone() }).collect();
    let kinds = kinds(&single);
    let found = single.into_iter().zip(kinds).find(|(_, own)| own.as_deref() == Some(kind));
    found.map_or_else(|| program.inputs.clone(), |(program, _)| program.inputs)
}

/// The program with one thing less, for each thing.
fn steps(program: &Program) -> Vec<Program> {
    let mut smaller = Vec::new();
    for at in 0..program.items.len() {
        let mut own = program.clone();
        if !matches!(&own.items[at], Item::Fn { name, .. } if name == "main") {
            own.items.remove(at);
            smaller.push(own);
        }
    }
    let mut statements = Vec::new();
    let mut counted = program.clone();
    blocks(&mut counted, &mut |block| statements.push(block.body.len()));
    for (number, count) in statements.into_iter().enumerate() {
        for at in 0..count {
            smaller.extend([false, true].map(|inner| without(program, number, at, inner)));
        }
    }
    let mut expressions_there = 0;
    expressions(&mut counted, &mut |_| expressions_there += 1);
    for number in 0..expressions_there {
        for way in 0..5 {
            let mut own = program.clone();
            let (mut at, mut done) = (0, false);
            expressions(&mut own, &mut |expr| {
                at += 1;
                if at == number + 1 {
                    done = simpler(expr, way);
                }
            });
            if done {
                smaller.push(own);
            }
        }
    }
    smaller
}

/// Without a statement, or with the body of a loop or a block in its place.
fn without(program: &Program, number: usize, at: usize, inner: bool) -> Program {
    let mut own = program.clone();
    let mut k = 0;
    blocks(&mut own, &mut |block| {
        k += 1;
        if k != number + 1 {
            return;
        }
        let stmt = block.body.remove(at);
        if inner && let Stmt::For(_, _, body) | Stmt::Expr(Expr::If(_, body, _) | Expr::Block(body), _) = stmt {
            block.body.splice(at..at, body.body);
        }
    });
    own
}

/// Puts something smaller in the place of an expression; says whether there was anything.
fn simpler(expr: &mut Expr, way: usize) -> bool {
    let new = match (way, &mut *expr) {
        (0, Expr::Literal(text)) if text.len() > 1 && text != "true" => Expr::Literal("1".into()),
        (0, Expr::Block(Block { value: Some(value), .. })) => (**value).clone(),
        (1, Expr::Block(Block { body, value: Some(value) })) if body.is_empty() => (**value).clone(),
        (0, Expr::If(_, then, _)) => Expr::Block(then.clone()),
        (1, Expr::If(_, _, Some(other))) => (**other).clone(),
        (0, Expr::Match(_, arms)) if !arms.is_empty() => arms[0].1.clone(),
        (1, Expr::Match(value, arms)) if arms.len() > 1 => {
            Expr::Match(value.clone(), arms.iter().skip(1).cloned().collect())
        }
        (3, Expr::Literal(_) | Expr::Name(_)) => return false,
        (3, _) => Expr::Literal("1".into()),
        (4, Expr::Tuple(parts)) if parts.len() > 1 => Expr::Tuple(parts[1..].to_vec()),
        (0..3, other) => match other.parts().into_iter().nth(way) {
            Some(part) => part.clone(),
            None => return false,
        },
        _ => return false,
    };
    *expr = new;
    true
}
