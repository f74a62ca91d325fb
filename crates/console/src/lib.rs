//! The parts that front ends of Garblet share: the command `garblet`, its service, the laboratory, and the package for Python.
//!
//! | module | content |
//! |---|---|
//! | `start` | the beginning and the end of a program |
//! | `failure`, `hints` | failures with their exit status, and remedies |
//! | `surface`, `words` | settings and remedies as messages spell them, for the command and for other front ends |
//! | `output`, `progress`, `hex` | what a program shows |
//! | `args`, `inputs`, `stock`, `way`, `identity`, `settings`, `rates` | groups of options |
//! | `written`, `job`, `agreement` | the same options from files; whole agreements of parties, and of two servers with their clients |
//! | `visit` | a client's visit of two servers |
//! | `program`, `session`, `cpu` | loading a program, computing it with the other parties, the processor time of each phase |
//! | `unfinished` | orders of gates that a peer left unfinished, and the pause after them |
//! | `report`, `record`, `receipts`, `reach` | results for people, for later runs, and for disputes; inputs that reach outputs |
//! | `configuration`, `whole_file`, `mark` | files that other users must not change, that are written as a whole, that may change |

// These macros panic if the stream cannot be written; use `output` instead.
#![warn(clippy::print_stderr, clippy::print_stdout)]

pub mod agreement;
pub mod args;
pub mod configuration;
mod cpu;
pub mod failure;
pub mod hex;
pub mod hints;
pub mod identity;
pub mod inputs;
pub mod job;
pub mod mark;
pub mod output;
pub mod program;
pub mod progress;
pub mod rates;
pub mod reach;
pub mod receipts;
pub mod record;
pub mod report;
pub mod session;
pub mod settings;
mod start;
pub mod stock;
pub mod surface;
pub mod unfinished;
pub mod visit;
pub mod way;
pub mod whole_file;
mod words;
pub mod written;

pub use start::start;
