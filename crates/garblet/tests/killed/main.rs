//! Parties that are killed at any point of preparing and computing: nothing is used twice, and the next run succeeds.

mod authenticated;
mod authenticated_bmr;
mod components;
mod killing;
mod lego;
mod runs;
