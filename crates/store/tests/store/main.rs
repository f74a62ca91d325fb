//! Stores: their lives, their files, and two that meet.

mod compact;
mod damage;
mod life;
mod reconcile;
