//! A circuit of the library: its name, parameters, size and construction.

use garblet_circuit::{CircuitError, Component, Party, Program};

use super::error::LibraryError;
use crate::builder::{Aim, CircuitBuilder, ProgramBuilder};

/// The approximate maximum of gates and instances of a library circuit: a few gigabytes of memory.
const SIZE_LIMIT: u64 = 1 << 26;

/// The greatest factor by which few layers make a circuit larger: a sum has about log2(bits) gates for one.
const DEPTH_FACTOR: u64 = 8;

/// The end of names of circuits with few layers of AND gates.
pub(super) const DEPTH: &str = "@depth";

/// A circuit of the library.
#[derive(Debug)]
pub struct Member {
    /// The name after `lib:`.
    pub name: &'static str,
    /// A one-line description.
    pub summary: &'static str,
    /// Its parameters in order.
    pub parameters: &'static [Parameter],
    /// The number of AND gates as a formula over the parameters, for people.
    pub ands: &'static str,
    /// The same as a function; where the formula says `at most` or `fewer`, an upper bound.
    pub(super) and_count: fn(&[u64]) -> u64,
    pub(super) build: Build,
}

/// A numeric parameter of a library circuit.
#[derive(Debug)]
pub struct Parameter {
    /// The name, for people.
    pub name: &'static str,
    /// The default value.
    pub default: u32,
    /// The least value allowed.
    pub least: u32,
    /// The greatest value allowed.
    pub most: u32,
    /// Parameters, by number, whose sum limits this one; empty if only `most` limits it.
    pub within: &'static [usize],
}

/// The construction of a member.
#[derive(Debug)]
pub(super) enum Build {
    /// One component; input `k` belongs to party `owners[k]`.
    Component { owners: &'static [Party], build: fn(CircuitBuilder, &[u32]) -> Result<Component, CircuitError> },
    /// Several instances, with an estimate of gates and instances.
    Program { size: fn(&[u64]) -> u64, build: fn(ProgramBuilder, &[u32]) -> Result<Program, CircuitError> },
}

impl Parameter {
    pub(super) const fn new(name: &'static str, default: u32, least: u32, most: u32) -> Self {
        Parameter { name, default, least, most, within: &[] }
    }

    /// The same parameter, limited by the sum of others.
    pub(super) const fn within(self, others: &'static [usize]) -> Self {
        Parameter { within: others, ..self }
    }
}

impl Member {
    /// The default parameters.
    pub fn defaults(&self) -> Vec<u32> {
        self.parameters.iter().map(|p| p.default).collect()
    }

    /// Name and parameter names: `add(bits)`.
    pub fn signature(&self) -> String {
        call(self.name, self.parameters.iter().map(|p| p.name.to_string()))
    }

    /// The number of AND gates for these parameters with [`Aim::Size`], without building anything.
    ///
    /// Exact, except that it is an upper bound if [`Member::ands`] says `at most` or `fewer`.
    ///
    /// *Errors*: a wrong number of parameters, or a parameter out of range.
    pub fn and_count(&self, parameters: &[u32]) -> Result<u64, LibraryError> {
        self.check_ranges(parameters)?;
        Ok((self.and_count)(&wide(parameters)))
    }

    /// The program for these parameters, with few of what `aim` says.
    ///
    /// *Errors*: a wrong number of parameters, a parameter out of range, or a circuit that would be too large.
    pub fn program(&self, parameters: &[u32], aim: Aim) -> Result<Program, LibraryError> {
        let call = self.check(parameters, aim)?;
        match self.build {
            Build::Component { owners, build } => {
                Ok(Program::from_component(build(CircuitBuilder::with_aim(call, aim), parameters)?, owners)?)
            }
            Build::Program { build, .. } => Ok(build(ProgramBuilder::with_aim(call, aim), parameters)?),
        }
    }

    /// The component for these parameters, with few of what `aim` says.
    ///
    /// *Errors*: as [`Member::program`], or a member with more than one component.
    pub fn component(&self, parameters: &[u32], aim: Aim) -> Result<Component, LibraryError> {
        let call = self.check(parameters, aim)?;
        match self.build {
            Build::Component { build, .. } => Ok(build(CircuitBuilder::with_aim(call, aim), parameters)?),
            Build::Program { build, .. } => {
                let instances = build(ProgramBuilder::with_aim(call.clone(), aim), parameters)?.instance_count();
                Err(LibraryError::NotOneComponent { call, instances })
            }
        }
    }

    fn check_ranges(&self, parameters: &[u32]) -> Result<(), LibraryError> {
        if parameters.len() != self.parameters.len() {
            return Err(LibraryError::ParameterCount {
                signature: self.signature(),
                expected: self.parameters.len(),
                got: parameters.len(),
            });
        }
        for (&got, &Parameter { name, least, most, within, .. }) in parameters.iter().zip(self.parameters) {
            let sum = within.iter().fold(0u32, |sum, &other| sum.saturating_add(parameters[other]));
            let most = if within.is_empty() { most } else { most.min(sum) };
            if !(least..=most).contains(&got) {
                let signature = self.signature();
                return Err(LibraryError::ParameterRange { signature, parameter: name, got, least, most });
            }
        }
        Ok(())
    }

    /// Checks parameters and returns the name with them.
    fn check(&self, parameters: &[u32], aim: Aim) -> Result<String, LibraryError> {
        self.check_ranges(parameters)?;
        let mut call = call(self.name, parameters.iter().map(u32::to_string));
        let size = match self.build {
            // Each AND gate comes with a few free ones.
            Build::Component { .. } => (self.and_count)(&wide(parameters)).saturating_mul(5),
            Build::Program { size, .. } => size(&wide(parameters)),
        };
        let size = match aim {
            Aim::Size => size,
            Aim::Depth => {
                call.push_str(DEPTH);
                size.saturating_mul(DEPTH_FACTOR)
            }
        };
        if size > SIZE_LIMIT {
            return Err(LibraryError::TooLarge { call, size, limit: SIZE_LIMIT });
        }
        Ok(call)
    }
}

fn wide(parameters: &[u32]) -> Vec<u64> {
    parameters.iter().map(|&p| p.into()).collect()
}

fn call(name: &str, arguments: impl Iterator<Item = String>) -> String {
    let arguments: Vec<String> = arguments.collect();
    if arguments.is_empty() { name.into() } else { format!("{name}({})", arguments.join(", ")) }
}
