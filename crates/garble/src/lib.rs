//! Garbling schemes behind one trait; streaming garbler and evaluator.
