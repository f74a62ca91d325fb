//! The circuits for the benchmarks of garbling and `yao`: chains of AES-128 blocks.

use garblet::{Program, library};
use garblet_console::failure::Failure;

/// The number of chains among which blocks are divided.
#[derive(Clone, Copy, clap::Args)]
pub struct Chains {
    /// Chains of blocks, each the encryption of the one before; four chains run side by side, one runs gate by gate
    #[arg(long, value_name = "N", default_value_t = 4, value_parser = clap::value_parser!(u32).range(1..=1024))]
    pub chains: u32,
}

impl Chains {
    /// The library circuit with this total number of blocks.
    ///
    /// *Errors*: the blocks cannot be divided evenly.
    pub fn circuit(self, blocks: u32) -> Result<String, Failure> {
        match blocks % self.chains {
            0 => Ok(format!("lib:aes128-chains({}, {})", blocks / self.chains, self.chains)),
            _ => Err(Failure::call(format!("--blocks {blocks}: expected a multiple of the {} chains", self.chains))
                .hint("--chains 1 accepts any number of blocks")),
        }
    }

    /// The same as a program.
    ///
    /// *Errors*: as [`Chains::circuit`].
    pub fn program(self, blocks: u32) -> Result<Program, Failure> {
        let circuit = self.circuit(blocks)?;
        library::find(&circuit).map_err(|e| Failure::no_result(format!("{circuit}: {e}")))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_are_shared_out() {
        let program = Chains { chains: 4 }.program(12).unwrap();
        assert_eq!((program.instance_count(), program.inputs()[1].port.width()), (12, 4 * 128));
    }

    #[test]
    fn a_remainder_is_refused() {
        assert!(Chains { chains: 4 }.program(13).is_err());
    }
}
