//! Protocols through the library face: what each gives, costs and refuses.

mod closing;
mod components;
mod config;
mod cost;
mod covert;
mod cut_and_choose;
mod equals_eval;
mod errors;
mod lego;
mod misbehaving_peer;
mod oracle;
mod outsourced_bases;
mod outsourced_states;
