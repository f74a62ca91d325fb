//! The parts that front ends of Garblet share: the command `garblet`, its service, the laboratory, and the package for Python.
//!
//! | module | content |
//! |---|---|
//! | `start` | the beginning and the end of a program |
//! | `failure`, `hints` | failures with their exit status, and remedies |
//! | `surface`, `words`, `trusting` | settings and remedies as messages spell them, for the command and for other front ends; whom to trust |
//! | `output`, `progress`, `hex` | what a program shows |
//! | `args`, `inputs`, `stock`, `way`, `identity`, `settings`, `rates` | groups of options |
//! | `written`, `job`, `agreement` | the same options from files; whole agreements of parties, and of two servers with their clients |
//! | `visit` | a client's visit of two servers |
//! | `program`, `session`, `met`, `cpu` | loading a program, computing it with the other parties, what is known of them and of the end, the processor time of each phase |
//! | `unfinished` | orders of gates that a peer left unfinished, and the pause after them |
//! | `report`, `record`, `receipts`, `reach` | results for people, for later runs, and for disputes; inputs that reach outputs |
//! | `configuration`, `whole_file`, `mark` | files that other users must not change, that are written as a whole, that may change |
//!
//! Without the feature `system` only those are there that need no file, socket, option or terminal: what a page shares with the command. `agreement` and
//! `visit` then need the feature `agreements`.

// These macros panic if the stream cannot be written; use `output` instead.
#![warn(clippy::print_stderr, clippy::print_stdout)]

#[cfg(feature = "agreements")]
pub mod agreement;
pub mod args;
#[cfg(feature = "system")]
pub mod configuration;
#[cfg(feature = "system")]
mod cpu;
pub mod failure;
pub mod hex;
pub mod hints;
#[cfg(feature = "system")]
pub mod identity;
#[cfg(feature = "system")]
pub mod inputs;
pub mod job;
#[cfg(feature = "system")]
pub mod mark;
pub mod met;
pub mod output;
pub mod program;
#[cfg(feature = "system")]
pub mod progress;
#[cfg(feature = "system")]
pub mod rates;
pub mod reach;
pub mod receipts;
pub mod record;
#[cfg(feature = "system")]
pub mod report;
#[cfg(feature = "system")]
pub mod session;
pub mod settings;
#[cfg(feature = "system")]
mod start;
#[cfg(feature = "system")]
pub mod stock;
pub mod surface;
pub mod trusting;
#[cfg(feature = "system")]
pub mod unfinished;
#[cfg(feature = "agreements")]
pub mod visit;
#[cfg(feature = "system")]
pub mod way;
#[cfg(feature = "system")]
pub mod whole_file;
mod words;
pub mod written;

#[cfg(feature = "system")]
pub use start::start;
