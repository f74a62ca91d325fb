//! `garblet serve`: keeps a store filled, a little at a time, at low priority; or answers the peer that comes.

use std::{thread::sleep, time::Duration};

use garblet::{Filled, Program, Values, lego, store::Store, wants_to_fill};
use garblet_net::{self as net, Channel, Hello, Listener, NetError};

use crate::{
    args::{InputArgs, InputFile, ProgramArgs, Time},
    failure::{Failure, Status},
    inputs::{self, PartyInputs},
    output::{count, print, tell},
    prepare::StockArgs,
    program,
    record::{PeerPart, Record},
    report::{PEER_EXPOSED, check_panics, outputs_text},
    session::{self, Meeting, Settings, Task, block_on},
    supply::{Folder, Holds, Source},
    way::{self, Way, WayArgs, announce},
};

/// What `garblet serve` takes.
#[derive(clap::Args)]
#[command(group(clap::ArgGroup::new("meeting").args(way::MEETING).required(true)))]
pub(crate) struct Options {
    #[command(flatten)]
    stock: StockArgs,
    #[command(flatten)]
    peer: WayArgs,
    /// Refill a kind when there is less than this much of what the library says, in percent
    #[arg(long, value_name = "PERCENT", default_value = "50", value_parser = clap::value_parser!(u8).range(1..=100))]
    low_water: u8,
    /// How often to look
    #[arg(long, value_name = "TIME", default_value = "10s")]
    every: Time,
    /// Look, or answer, so often, then end [default: until stopped]
    #[arg(long, value_name = "N")]
    rounds: Option<u64>,
    /// Answer the peer whenever it comes: run this program with it, or fill the stores as it wishes
    #[arg(long, value_name = "PROGRAM", requires = "listen", conflicts_with_all = ["low_water", "every"])]
    answer: Option<String>,
    /// This party's inputs of every run
    #[arg(long = "input", value_name = "K=FILE", requires = "answer")]
    inputs: Vec<InputFile>,
    /// Make what the store lacks during a run; the peer must wish it as well
    #[arg(long, requires = "answer")]
    top_up: bool,
}

/// Runs the command.
pub(crate) fn run(options: &Options) -> Result<(), Failure> {
    let protocol = options.stock.settings().config()?.protocol;
    if protocol.is_mesh() {
        return Err(Failure::call(format!("--protocol {protocol}: two parties can serve each other, several cannot"))
            .hint("several fill their stores with garblet prepare PROGRAM --peers FILE"));
    }
    match &options.answer {
        None => look(options),
        Some(program) => Service::new(options, program)?.answer_all(),
    }
}

/// Looks every now and then, and refills what has run low.
fn look(options: &Options) -> Result<(), Failure> {
    lower_priority();
    let mut round = 0;
    while options.rounds.is_none_or(|rounds| round < rounds) {
        if round > 0 {
            sleep(options.every.0);
        }
        round += 1;
        let way = options.peer.way()?;
        let folder = options.stock.folder(&way)?;
        // The user may have allowed some in between.
        let before = unfinished(&folder);
        // The store is open only while it is looked at and filled, so that runs can use it in between.
        match options.stock.fill(&way, options.low_water, false) {
            Ok(filled) => tell_ready(&filled),
            Err(failure) if failure.status == Status::WrongCall => return Err(failure),
            // The peer may come back.
            Err(failure) => {
                failure.report();
                block_on(async { Ok(wait_if_more(before, unfinished(&folder)).await) })?;
            }
        }
    }
    Ok(())
}

/// How many orders of gates the peer has left unfinished; none if there is no store yet.
fn unfinished(folder: &Folder) -> u32 {
    match folder.holds {
        Holds::Gates(_) => folder.open(Store::open).map_or(0, |supply| lego::unfinished(&supply.store)),
        Holds::Components(_) | Holds::Runs { .. } => 0,
    }
}

/// How long nobody is met after the peer has left so many orders unfinished.
fn pause(unfinished: u32) -> Duration {
    let minutes = unfinished.checked_sub(1).map_or(0, |more| 10u64.saturating_pow(more).min(60));
    Duration::from_secs(60 * minutes)
}

/// Waits if the peer has left one more order unfinished, each time longer: a constructor that leaves when it hears what is checked has tried its luck.
/// Returns how many there are.
async fn wait_if_more(before: u32, unfinished: u32) -> u32 {
    if unfinished > before {
        let pause = pause(unfinished);
        let minutes = pause.as_secs() / 60;
        tell(&format!("the peer has left {unfinished} orders of gates unfinished: waiting for {minutes} min"));
        tokio::time::sleep(pause).await;
    }
    unfinished
}

fn tell_ready(filled: &Filled) {
    let pieces: u64 = filled.store.stock().iter().map(|kind| kind.available.len()).sum();
    tell(&format!("{} pieces are ready", count(pieces)));
}

/// Lets everything else on this machine go first.
fn lower_priority() {
    #[cfg(unix)]
    let _ = rustix::process::nice(10);
}

/// A party that answers.
struct Service<'a> {
    options: &'a Options,
    program: Program,
    inputs: PartyInputs,
    settings: Settings,
    way: Way<'static>,
    folder: Folder,
}

impl<'a> Service<'a> {
    fn new(options: &'a Options, program: &str) -> Result<Self, Failure> {
        let program = program::load(&ProgramArgs::plain(program))?;
        let settings = options.stock.settings();
        settings.parties(&program, None)?;
        let inputs = InputArgs { inputs: options.inputs.clone() };
        let inputs = inputs::of_this_party(&program, &inputs, options.stock.party())?;
        let way = options.peer.way()?;
        let folder = options.stock.folder(&way)?;
        folder.check()?;
        Ok(Service { options, program, inputs, settings, way, folder })
    }

    /// Answers one peer after another. Whatever goes wrong with one is told, and the next is answered.
    fn answer_all(&self) -> Result<(), Failure> {
        let Meeting::Listen(address) = &self.way.meeting else {
            return Err(Failure::call("--answer: who answers has to --listen"));
        };
        let options = self.settings.options(self.way.tls.clone())?;
        block_on(async {
            let listener = Listener::bind(address).await.map_err(|e| Failure::net(&e))?;
            announce(listener.address())?;
            let mut answered = 0;
            while self.options.rounds.is_none_or(|rounds| answered < rounds) {
                match greeted(&listener, &options).await {
                    Ok((channel, hello)) => {
                        answered += 1;
                        // The user may have allowed some in between.
                        let before = unfinished(&self.folder);
                        if let Err(failure) = self.answer(channel, &hello).await {
                            failure.report();
                            wait_if_more(before, unfinished(&self.folder)).await;
                        }
                    }
                    Err(NetError::NobodyCame { .. }) => {}
                    Err(error) => Failure::net(&error).report(),
                }
            }
            Ok(())
        })
    }

    async fn answer(&self, channel: Channel, hello: &Hello) -> Result<(), Failure> {
        if let Some(below) = wants_to_fill(hello) {
            tell_ready(&self.options.stock.fill_with(channel, &self.folder, below, false).await?);
            return Ok(());
        }
        let task = Task {
            program: self.program.clone(),
            party: self.options.stock.party(),
            inputs: self.inputs.clone(),
            settings: &self.settings,
            progress: false,
            // It was there before the peer came.
            loaded: Duration::ZERO,
            supply: Some(Source::Store {
                folder: self.folder.clone(),
                top_up: self.options.top_up,
                values: Values::default(),
            }),
        };
        let outcome = session::compute_with(task, channel).await?;
        outcome.warn_of_closing();
        check_panics(&self.program, &outcome.outputs)?;
        let peers = outcome.met.iter().map(|(party, identity)| PeerPart::met(*party, *identity, &self.way.names));
        let record = Record::now(&self.program, peers.collect());
        tell(&format!("ran `{}`\n{}", self.program.name(), record.text().trim_end()));
        if outcome.security.peer_exposed {
            tell(PEER_EXPOSED.trim_end());
        }
        print(&outputs_text(&self.program, &outcome.outputs))
    }
}

/// The next peer that greets.
async fn greeted(listener: &Listener, options: &net::Options) -> Result<(Channel, Hello), NetError> {
    let mut channel = listener.accept(options).await?;
    let hello = Hello::ahead(&mut channel).await?;
    Ok((channel, hello))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn each_order_that_is_left_unfinished_is_waited_for_longer_than_the_last() {
        let (mut known, mut waited) = (1, Vec::new());
        for unfinished in [1, 2, 2, 3, 4, 0, 1] {
            let begin = tokio::time::Instant::now();
            known = wait_if_more(known, unfinished).await;
            waited.push(begin.elapsed().as_secs() / 60);
        }
        assert_eq!(waited, [0, 10, 0, 60, 60, 0, 1], "in minutes, and none where it was something else");
    }
}
