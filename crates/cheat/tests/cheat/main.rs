//! Every deviation from a protocol ends as the protocol promises.

mod authenticated;
mod covert;
mod cut_and_choose;
mod guessing;
mod job;
mod leaving;
mod lego;
mod ot;
mod outsourced;
