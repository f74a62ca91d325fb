//! Protocols through the library face: what each gives, costs and refuses.

mod advice;
mod choice;
mod choice_stores;
mod closing;
mod components;
mod config;
mod cost;
mod covert;
mod cut_and_choose;
mod equals_eval;
mod errors;
mod keeping;
mod lego;
mod meet;
mod misbehaving_peer;
mod notices;
mod oracle;
mod outsourced_bases;
mod outsourced_states;
