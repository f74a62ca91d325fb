//! The tasks of a meeting, and the programs of runs.

use std::{
    fmt,
    sync::{Arc, LazyLock},
};

use garblet::{compile, lang, tell_panics};
use garblet_authenticated::{self as authenticated, many};
use garblet_circuit::{Bits, InputId, Party, Program, Recipients, evaluate};
use garblet_protocol::{
    ProtocolError,
    stock::{ReadInput, SavedValues},
};

use crate::{bug::Bug, options::Options};

/// The name under which runs keep their value.
pub(crate) const NAME: &str = "balance";

/// The output with that value.
const OUTPUT: &str = "out0";

/// The function of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Function {
    /// The balance and the amount, kept; it panics if that is too much.
    Deposit,
    /// The balance without the amount, kept; it panics if that is too little.
    Withdraw,
    /// The balance, masked with an amount, for all.
    Show,
    /// Nothing of the balance.
    And,
}

impl Function {
    pub(crate) fn keeps(self) -> bool {
        matches!(self, Function::Deposit | Function::Withdraw)
    }

    /// The meaning, in the clear; `None` if the computation panics.
    pub(crate) fn of(self, old: u8, amount: u8) -> Option<u8> {
        match self {
            Function::Deposit => old.checked_add(amount),
            Function::Withdraw => old.checked_sub(amount),
            Function::Show => Some(old ^ amount),
            Function::And => Some(old & amount),
        }
    }

    fn program(self) -> &'static Program {
        static ALL: LazyLock<[Program; 4]> = LazyLock::new(|| {
            ["+", "-", "^", "&"].map(|sign| {
                let source = format!("pub fn main(old: u8, amount: u8) -> u8 {{ old {sign} amount }}");
                let mut program = compile("balance", &source, lang::Options::default()).expect("it compiles");
                (0..2).for_each(|input| program.set_owner(InputId(input), Party(input as u16)));
                program
            })
        });
        &ALL[self as usize]
    }
}

/// A run, any number of times with the same inputs.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Runs {
    pub(crate) function: Function,
    pub(crate) amount: u8,
    /// The balance that party 0 gives; `None` if the stores' is read.
    pub(crate) first: Option<u8>,
    pub(crate) times: usize,
}

/// The work of a meeting.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Task {
    /// The parties fill their stores.
    Fill,
    /// They run.
    Run(Runs),
}

impl fmt::Display for Task {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Task::Run(Runs { function, amount, first, times }) = self else { return write!(f, "fill") };
        let of = first.map_or("the balance".into(), |first| first.to_string());
        write!(f, "{function:?} {amount}, of {of}, {times} times")
    }
}

/// A program made ready.
#[derive(Clone)]
pub(crate) enum Plan {
    OfTwo(Arc<authenticated::Plan>),
    OfSeveral(Arc<many::Plan>),
}

/// A task made ready.
#[derive(Clone)]
pub(crate) struct Job {
    pub(crate) task: Task,
    pub(crate) program: Arc<Program>,
    pub(crate) plan: Plan,
    pub(crate) saved: SavedValues,
}

impl Job {
    /// Makes a task ready. A meeting without runs names the function that needs nothing.
    ///
    /// *Errors*: a program that cannot be run.
    pub(crate) fn new(task: Task, options: &Options, bug: Option<Bug>) -> Result<Self, ProtocolError> {
        let (function, is_read) = match task {
            Task::Fill => (Function::And, false),
            Task::Run(runs) => (runs.function, runs.first.is_none()),
        };
        let mut program = function.program().clone();
        if function.keeps() {
            program.set_recipients(0, Recipients::Only(options.learn.iter().copied().map(Party).collect()));
            tell_panics(&mut program);
        }
        let read = ReadInput { port: "old".into(), name: NAME.into(), output: Some(OUTPUT.into()) };
        let read: Vec<ReadInput> = is_read.then_some(read).into_iter().collect();
        let saved = SavedValues { keep: function.keeps().then(|| NAME.into()), read };
        let program = Arc::new(program);
        let program = match bug {
            Some(Bug::PanicKeeps) => program,
            _ => saved.program("a simulation", &program)?,
        };
        let read = saved.inputs(&program)?;
        let keeps = function.keeps();
        let plan = match options.parties {
            2 => Plan::OfTwo(Arc::new(authenticated::Plan::new(program.clone(), options.config, &read, keeps)?)),
            parties => {
                let config = options.of_several();
                let plan = many::Plan::saving(program.clone(), parties, config, (&read, keeps))?;
                Plan::OfSeveral(Arc::new(plan))
            }
        };
        Ok(Job { task, program, plan, saved })
    }

    /// A party's own inputs, in program order.
    pub(crate) fn own(&self, party: u16) -> Vec<Bits> {
        let Task::Run(runs) = self.task else { return Vec::new() };
        let values = [(0, runs.first), (1, Some(runs.amount))];
        let own = values.into_iter().filter(|(owner, _)| *owner == party);
        own.filter_map(|(_, value)| value.map(bits)).collect()
    }

    /// The outputs that a party learns of a run, by the plain evaluator, where it is known which balance is read.
    pub(crate) fn expected(&self, party: u16, old: u8) -> Vec<Option<Bits>> {
        let Task::Run(runs) = self.task else { return Vec::new() };
        let outputs = evaluate(&self.program, &[bits(runs.first.unwrap_or(old)), bits(runs.amount)]);
        let all = self.program.outputs().iter().zip(outputs);
        all.map(|(output, value)| output.recipients.contains(Party(party)).then_some(value)).collect()
    }
}

fn bits(value: u8) -> Bits {
    Bits::from_u128(value.into(), 8)
}
