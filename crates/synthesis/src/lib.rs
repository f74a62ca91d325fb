//! Synthesis: from operations to circuits. Contains a [`builder`] of circuits from typed words, a [`library`] of circuits, an
//! [optimiser](optimise), and [tables] of functions for schemes that garble more than XOR and AND.

pub mod builder;
pub mod library;
pub mod optimise;
pub mod tables;
mod xag;
