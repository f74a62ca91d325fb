//! The agreement of both servers, and the functions that it offers.

use std::{
    collections::BTreeMap,
    sync::{Arc, LazyLock},
};

use garblet::{
    compile,
    lang::Options,
    outsourced::{
        Limits,
        service::{Agreement, Offer, ServiceId},
    },
    tell_panics,
};
use garblet_authenticated::Config;
use garblet_circuit::{InputId, Party, Program, Recipients};
use garblet_client::Identity;
use garblet_protocol::{
    ProtocolError,
    stock::{ReadInput, SavedValues},
};

/// The names of all clients.
pub(crate) const CLIENTS: [&str; 2] = ["anna", "bo"];

/// The name of the state.
pub(crate) const STATE: &str = "balance";

/// A function that the servers offer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Function {
    /// A first balance and an amount, kept; it panics if that is too much.
    Start,
    /// The balance and an amount, kept; it panics if that is too much.
    Deposit,
    /// The balance without an amount, kept; it panics if that is too little.
    Withdraw,
    /// The balance, masked with an amount, for the client.
    Show,
}

impl Function {
    const ALL: [Function; 4] = [Function::Start, Function::Deposit, Function::Withdraw, Function::Show];

    /// The name of its offer.
    pub(crate) fn name(self) -> &'static str {
        ["start", "deposit", "withdraw", "show"][self as usize]
    }

    /// The function of an offer with this name.
    pub(crate) fn named(name: &str) -> Option<Function> {
        Function::ALL.into_iter().find(|function| function.name() == name)
    }

    pub(crate) fn keeps(self) -> bool {
        self != Function::Show
    }

    /// The meaning, in the clear; `None` if the computation panics.
    pub(crate) fn of(self, old: u8, amount: u8) -> Option<u8> {
        match self {
            Function::Start | Function::Deposit => old.checked_add(amount),
            Function::Withdraw => old.checked_sub(amount),
            Function::Show => Some(old ^ amount),
        }
    }

    /// The program; without panics it goes on with a wrong value.
    fn program(self, panics: bool) -> Arc<Program> {
        static ALL: LazyLock<[[Arc<Program>; 4]; 2]> = LazyLock::new(|| {
            [false, true].map(|panics| Function::ALL.map(|function| Arc::new(function.compiled(panics))))
        });
        ALL[usize::from(panics)][self as usize].clone()
    }

    fn compiled(self, panics: bool) -> Program {
        let sign = ["+", "+", "-", "^"][self as usize];
        let source = format!("pub fn main(old: u8, amount: u8) -> u8 {{ old {sign} amount }}");
        let options = Options { panics, ..Options::default() };
        let mut program = compile(self.name(), &source, options).expect("it compiles");
        (0..2).for_each(|input| program.set_owner(InputId(input), Party(1)));
        let learns = if self.keeps() { Vec::new() } else { vec![Party(1)] };
        program.set_recipients(0, Recipients::Only(learns));
        tell_panics(&mut program);
        program
    }

    fn offer(self, panics: bool) -> Offer {
        let read = ReadInput { port: "old".into(), name: STATE.into(), output: None };
        let read = if self == Function::Start { Vec::new() } else { vec![read] };
        Offer {
            name: self.name().into(),
            program: self.program(panics),
            clients: vec![CLIENTS.map(String::from).to_vec()],
            saved: SavedValues { keep: self.keeps().then(|| STATE.into()), read },
            first: self == Function::Start,
        }
    }
}

/// The terms of a service.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Terms {
    /// The parameters of the servers' runs.
    pub(crate) config: Config,
    /// The most runs of the state that do not end.
    pub(crate) retries: u32,
    /// Set if a computation that panics keeps nothing, as it must.
    pub(crate) panics: bool,
}

/// The agreement of the service with this number.
///
/// *Errors*: programs that cannot be run under these terms.
pub(crate) fn agreement(service: u8, terms: Terms) -> Result<Arc<Agreement>, ProtocolError> {
    let servers = ["generator", "cloud"].map(Identity::of_client);
    let offers = Function::ALL.map(|function| function.offer(terms.panics)).to_vec();
    let limits = BTreeMap::from([(STATE.to_string(), Limits { retries: terms.retries, reads: None })]);
    let names = CLIENTS.map(String::from).to_vec();
    Agreement::new(ServiceId([service; 16]), servers, names, offers, limits, terms.config).map(Arc::new)
}
