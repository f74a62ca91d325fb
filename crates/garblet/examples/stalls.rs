//! For how long the other tasks of an executor wait while a party computes: the longest time between two ticks of a
//! ticker, with the party as a task of the same thread and on a thread of its own. Both parties are in this process, so that on two cores the
//! ticker also waits for the system now and then.
//!
//! Run it with `cargo run --release -p garblet --example stalls`.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use garblet::{
    Bits, Config, Error, Party, Peer, Plan, Program, Protocol, library,
    net::{Channel, memory_pair},
    on_own_thread,
};

/// The time from one tick to the next, if the ticker may.
const TICK: Duration = Duration::from_millis(1);

const PROGRAM: &str = "lib:aes128-chain(8)";

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let program = Arc::new(library::find(PROGRAM)?);
    println!("{PROGRAM}: the longest wait of a ticker in the executor's thread, of the whole run");
    println!("{:15} {:>22} {:>22}", "protocol", "party in this thread", "on a thread of its own");
    for protocol in [
        Protocol::of::<garblet::yao::Yao>(),
        Protocol::of::<garblet::components::Components>(),
        Protocol::of::<garblet::covert::Covert>(),
        Protocol::of::<garblet::cut_and_choose::CutAndChoose>(),
        Protocol::of::<garblet::lego::Lego>(),
    ] {
        let [here, apart] = [false, true].map(|apart| longest_wait(program.clone(), protocol, apart));
        let show = |(longest, whole): (Duration, Duration)| {
            format!("{:.1} of {:.0} ms", longest.as_secs_f64() * 1e3, whole.as_secs_f64() * 1e3)
        };
        println!("{:15} {:>22} {:>22}", protocol.name(), show(here.await?), show(apart.await?));
    }
    Ok(())
}

/// The longest time between two ticks while a garbler runs, and the time of its run. Its peer has a thread of its own.
async fn longest_wait(program: Arc<Program>, protocol: Protocol, apart: bool) -> Result<(Duration, Duration), Error> {
    let (left, right) = memory_pair();
    let peer = on_own_thread({
        let program = program.clone();
        move || compute(program, Party(1), right, protocol)
    });
    let ours = compute(program, Party(0), left, protocol);
    let begin = Instant::now();
    let mut longest = Duration::ZERO;
    let run = async {
        match apart {
            true => on_own_thread(move || ours).await,
            false => ours.await,
        }
    };
    let ticker = async {
        let mut last = Instant::now();
        loop {
            tokio::time::sleep(TICK).await;
            longest = longest.max(last.elapsed());
            last = Instant::now();
        }
    };
    tokio::select! {
        biased;
        () = ticker => {}
        result = run => result?,
    }
    let whole = begin.elapsed();
    peer.await?;
    Ok((longest, whole))
}

async fn compute(program: Arc<Program>, party: Party, channel: Channel, protocol: Protocol) -> Result<(), Error> {
    let inputs = program.inputs().iter().filter(|input| input.owner == party);
    let inputs: Vec<Bits> = inputs.map(|input| Bits::zeros(input.port.width() as usize)).collect();
    let mut peer =
        Peer::open(&Plan::new(program, 2, &Config::of(protocol))?, party, channel, rand::rng(), Box::new(())).await?;
    peer.run(&inputs).await?;
    peer.close().await
}
