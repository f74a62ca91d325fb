//! Both parties of a benchmark: two threads, joined by loopback TCP.

use garblet::{
    Bits, Program, Session,
    circuit::Port,
    net::{Channel, Hello, Listener, SimulatedLink, connect},
};
use garblet_console::{
    failure::Failure,
    hints::{explain, net_failure},
    session::block_on,
};
use garblet_primitives::Prg;
use rand::RngExt;

/// Runs both parties, each with its end of a link; the first one on its own thread.
///
/// *Errors*: the connection's; a party's. If both fail, the one that caused the other.
pub fn join<A: Send, B>(
    link: Option<SimulatedLink>,
    first: impl AsyncFnOnce(Channel) -> Result<A, Failure> + Send,
    second: impl AsyncFnOnce(Channel) -> Result<B, Failure>,
) -> Result<(A, B), Failure> {
    let options = move || garblet::net::Options { link: link.unwrap_or_default(), ..Default::default() };
    let (say, hear) = std::sync::mpsc::channel();
    std::thread::scope(|scope| {
        let first = scope.spawn(move || {
            block_on(async {
                let listener = Listener::bind("127.0.0.1:0").await.map_err(|e| net_failure(&e))?;
                say.send(listener.address()).map_err(Failure::no_result)?;
                first(listener.accept(&options()).await.map_err(|e| net_failure(&e))?).await
            })
        });
        let second = block_on(async {
            let address = hear.recv().map_err(Failure::no_result)?;
            second(connect(&address.to_string(), &options()).await.map_err(|e| net_failure(&e))?).await
        });
        let first = first.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
        match (first, second) {
            // A party's view of the other's failure is not the cause.
            (Err(first), Err(second)) if second.secondary => Err(first),
            (first, second) => second.and_then(|second| first.map(|first| (first, second))),
        }
    })
}

/// Begins a party's session of a benchmark.
///
/// *Errors*: the connection's; a peer with another task.
pub async fn open(bench: &str, channel: Channel, party: u16) -> Result<Session, Failure> {
    let hello = Hello::new(bench, party, 2, [0; 32]);
    let rng = Prg::random(&mut rand::rng());
    Session::open(channel, rng, &hello, Box::new(())).await.map_err(|e| explain(&e))
}

/// Uniform values of all inputs.
pub fn random_values(program: &Program) -> Vec<Bits> {
    program.inputs().iter().map(|input| random_bits(&input.port)).collect()
}

/// A uniform value of a port.
pub fn random_bits(port: &Port) -> Bits {
    let mut rng = rand::rng();
    (0..port.width()).map(|_| rng.random()).collect()
}

/// The values that a party contributes.
pub fn own(program: &Program, values: &[Bits], party: u16) -> Vec<Bits> {
    let own = program.inputs().iter().zip(values).filter(|(input, _)| input.owner.0 == party);
    own.map(|(_, bits)| bits.clone()).collect()
}
