//! The conduct of a party: it follows the protocol, or, in tests, deviates in one place.
//!
//! A protocol against covert or malicious parties calls its party's [`Conduct`] at every message, with the step and the index of the message. Its
//! parties are generic over it. Users only get [`Honest`], which compiles to nothing, so the code that users run has no branch for cheating. A test
//! implements the trait to run the honest code with one deviation.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use garblet_circuit::{Bits, Program};

/// The conduct of a party: where it may deviate from the protocol.
pub trait Conduct<Step>: Send + Sync + 'static {
    /// Sees a message of a step before it is encrypted and sent, and may change it.
    fn touch(&mut self, step: Step, index: usize, bytes: &mut [u8]) {
        let _ = (step, index, bytes);
    }

    /// Sees this party's input to circuit `index`, or to another step that fixes the input, and may change it.
    fn input(&mut self, index: usize, bits: &mut Bits) {
        let _ = (index, bits);
    }

    /// A program to garble as circuit `index` in place of the right one. It must have the same shape.
    fn program(&mut self, index: usize) -> Option<Arc<Program>> {
        let _ = index;
        None
    }
}

/// Follows the protocol.
#[derive(Clone, Copy, Debug, Default)]
pub struct Honest;

impl<Step> Conduct<Step> for Honest {}

/// Any conduct. Tests with many deviations share one copy of a party's code by it, which then is compiled once and not for each.
pub struct AnyConduct<Step>(Box<dyn Conduct<Step>>);

impl<Step> AnyConduct<Step> {
    /// Stands for a conduct.
    pub fn new(conduct: impl Conduct<Step>) -> Self {
        AnyConduct(Box::new(conduct))
    }
}

impl<Step: 'static> Conduct<Step> for AnyConduct<Step> {
    fn touch(&mut self, step: Step, index: usize, bytes: &mut [u8]) {
        self.0.touch(step, index, bytes);
    }

    fn input(&mut self, index: usize, bits: &mut Bits) {
        self.0.input(index, bits);
    }

    fn program(&mut self, index: usize) -> Option<Arc<Program>> {
        self.0.program(index)
    }
}

/// A conduct that the threads of one party share.
pub struct Common<C>(Arc<Mutex<C>>);

impl<C> Clone for Common<C> {
    fn clone(&self) -> Self {
        Common(self.0.clone())
    }
}

impl<C> Common<C> {
    /// Shares a conduct.
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
