//! Every deviation from a protocol ends as the protocol promises.

mod again;
mod authenticated;
mod authenticated_bmr;
mod chapters;
mod covert;
mod cut_and_choose;
mod guessing;
mod job;
mod leaving;
mod leaving_client;
mod leaving_server;
mod lego;
mod ot;
mod outsourced;
mod settings;
mod two_garblers;
