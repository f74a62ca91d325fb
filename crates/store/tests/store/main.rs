//! Stores: their life, their files, and meetings of two.

mod compact;
mod damage;
mod life;
mod reconcile;
