//! One seed, one history: parties with stores meet, fill them, run, keep a balance and read it, while lines are cut, parties leave, panic and lie, processes die
//! at a write, disks fail, and copies of stores are put back. A plain model beside them says what may be.
//!
//! A seed draws the options and the steps ([`live`]). Parties run the protocols' own code, `authenticated` or `authenticated-bmr`, on one thread, with time that
//! stands still and stores in files in memory. Everything random follows from the seed, so a log is the same, byte for byte, whenever and wherever the history is lived.
//!
//! | check | what must not be |
//! |---|---|
//! | `twice` | a party uses a piece of its store again, over all copies |
//! | `pairs` | the parties of a run use different pieces |
//! | `value`, `result` | outputs that the plain evaluator does not give for a balance that may be kept, or for the inputs |
//! | `counts` | after any step, a count of runs that have not ended below those that surely have not, or above all that began |
//! | `blame` | an honest party is named, or somebody is said to cheat when nobody does |
//! | `limit` | a party draws pieces to keep a balance although more runs have not ended than may |
//! | `given up` | a store stays after its party found a lie that must cost it, is used after that, or is given up without such a lie |
//! | `loss` | stores or the balance are lost, and nobody lied or put a copy back |
//! | `hint`, `liveness` | without trouble a meeting fails and an error does not say what to do, or the parties do not work again within six meetings |
//! | `silence`, `panic`, `bug`, `settle`, `plan` | work that is not done though no party says so; a panic or an internal error of an honest party |
//!
//! [`live_with_clients`] is another world: the two servers of `outsourced` as a service, with a state that they keep between visits. Clients deal at one server
//! or both, leave, and come again with the same frames. The model beside them knows which deals may have run.
//!
//! | check | what must not be |
//! |---|---|
//! | `value`, `answer` | an answer that no balance gives that may be kept; an answer to a deal that was not run |
//! | `never run` | a server says that a deal is never run, and it was |
//! | `versions`, `apart` | after any step, a version of the state that no deals lead to, or two that a meeting does not join |
//! | `counts`, `limit` | a count of runs that did not end that cannot be; one more run after too many of them, or a refusal after too few |
//! | `blame`, `policy` | an honest client or server is accused, or refused although all may deal so |
//! | `loss`, `hint`, `silence`, `liveness` | the state is lost though no copy was put back; without trouble nobody says why a client is not answered; no client is answered within eight meetings |
//! | `panic`, `bug`, `settle` | a panic of a server, or a reply that cannot be opened |
//!
//! [`Bug`] puts old faults back: tests hold that each is found.

mod bug;
mod conduct;
mod disk;
mod founded;
mod line;
mod model;
mod of_several;
mod of_two;
mod options;
mod remedy;
mod seat;
mod servers;
mod task;
mod trouble;
mod world;

pub use bug::Bug;
pub use model::Finding;
pub use servers::live_with_clients;
pub use world::{History, live};
