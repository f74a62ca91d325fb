//! The conduct of a party: as the protocol says, or, in tests, otherwise in one thing.
//!
//! A protocol against cheaters calls its party's [`Conduct`] at every message, with the step and the index of what is about to
//! be sent. Its parties are generic over it, and [`Honest`] is all that a caller can get: compiled, it is nothing, so there is
//! no cheating branch in the code that users run. A test implements the trait to run the honest code with one deviation.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use garblet_circuit::{Bits, Program};

/// The conduct of a party: what it may do otherwise than the protocol says.
pub trait Conduct<Step>: Send + Sync + 'static {
    /// Sees what is about to be sent at a step, before it is encrypted if it is, and may change it.
    fn touch(&mut self, step: Step, index: usize, bytes: &mut [u8]) {
        let _ = (step, index, bytes);
    }

    /// Sees this party's input to circuit `index`, or to whatever else binds it, and may change it.
    fn input(&mut self, index: usize, bits: &mut Bits) {
        let _ = (index, bits);
    }

    /// The program that is garbled as circuit `index` in place of the right one, of which it must have the shape.
    fn program(&mut self, index: usize) -> Option<Arc<Program>> {
        let _ = index;
        None
    }
}

/// Does what the protocol says.
#[derive(Clone, Copy, Debug, Default)]
pub struct Honest;

impl<Step> Conduct<Step> for Honest {}

/// A conduct that the threads of one party share.
pub struct Common<C>(Arc<Mutex<C>>);

impl<C> Clone for Common<C> {
    fn clone(&self) -> Self {
        Common(self.0.clone())
    }
}

impl<C> Common<C> {
    /// That conduct.
    pub fn new(conduct: C) -> Self {
        Common(Arc::new(Mutex::new(conduct)))
    }

    /// As [`Conduct::touch`].
    pub fn touch<Step>(&self, step: Step, index: usize, bytes: &mut [u8])
    where
        C: Conduct<Step>,
    {
        self.lock().touch(step, index, bytes);
    }

    /// As [`Conduct::input`].
    pub fn input<Step>(&self, index: usize, bits: &mut Bits)
    where
        C: Conduct<Step>,
    {
        self.lock().input(index, bits);
    }

    /// As [`Conduct::program`].
    pub fn program<Step>(&self, index: usize) -> Option<Arc<Program>>
    where
        C: Conduct<Step>,
    {
        self.lock().program(index)
    }

    fn lock(&self) -> MutexGuard<'_, C> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
