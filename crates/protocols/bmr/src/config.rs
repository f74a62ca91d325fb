//! The parameters of joint garbling.

use std::ops::RangeInclusive;

use garblet_ot::Width;
use garblet_primitives::MAX_PARTIES;
use garblet_protocol::parameters::OtKind;

/// The way to make the joint garbled circuit: the protocol, as named on the command line.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Garbling {
    /// Garbling by oblivious transfer; tolerates any number of corrupted parties.
    #[default]
    Ot,
    /// Garbling by BGW with two degree reductions, as published; needs an honest majority.
    Bgw4,
    /// Garbling by BGW with one degree reduction; needs an honest majority.
    Bgw3,
    /// Garbling by BGW without degree reduction; tolerates fewer than a third corrupted parties.
    Bgw2,
}

impl Garbling {
    /// All of them.
    pub const ALL: [Garbling; 4] = [Garbling::Ot, Garbling::Bgw4, Garbling::Bgw3, Garbling::Bgw2];

    /// The protocol's name.
    pub const fn name(self) -> &'static str {
        match self {
            Garbling::Ot => "bmr",
            Garbling::Bgw4 => "bmr-bgw4",
            Garbling::Bgw3 => "bmr-bgw3",
            Garbling::Bgw2 => "bmr-bgw2",
        }
    }

    /// The allowed numbers of parties: from the fewest that tolerate one corrupted party to [`MAX_PARTIES`].
    pub const fn parties(self) -> RangeInclusive<u16> {
        let least = match self {
            Garbling::Ot => 2,
            Garbling::Bgw4 | Garbling::Bgw3 => 3,
            Garbling::Bgw2 => 4,
        };
        least..=MAX_PARTIES as u16
    }
}

/// The published steps, or our cheaper ones.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// Half gates for one evaluator, made by all other parties: a third of the bytes; `bmr` alone has it, as its default.
    HalfGates,
    /// Our steps to the published circuit, which send a multiple of `n` blocks per gate; there are none for `bmr-bgw4`.
    Linear,
    /// The paper's, which send a multiple of `n^2`.
    Published(Optimisations),
}

/// The paper's optimisations of the form with OT, each on top of the ones before it (section 4.1).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Optimisations {
    /// Four string OTs per gate, of two strings that the sender chooses.
    Basic,
    /// Three string OTs (section 3.1.3).
    ThreeStrings,
    /// Correlated string OTs: the sender sends one string in place of two (section 3.1.4).
    Correlated,
    /// OTs in both directions of a pair at once.
    #[default]
    BothWays,
}

impl Optimisations {
    /// All of them, in order.
    pub const ALL: [Optimisations; 4] =
        [Optimisations::Basic, Optimisations::ThreeStrings, Optimisations::Correlated, Optimisations::BothWays];

    /// The number of string OTs per gate.
    pub(super) fn strings(self) -> usize {
        if self == Optimisations::Basic { 4 } else { 3 }
    }

    /// Tells whether the sender of a string OT chooses both strings.
    pub(super) fn chooses(self) -> bool {
        matches!(self, Optimisations::Basic | Optimisations::ThreeStrings)
    }
}

/// The double-key hash that masks the rows, see [`garblet_primitives::JointHash`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Hash {
    /// AES-128 under a key that changes with the gates, the default.
    #[default]
    Rekeyed,
    /// AES-128 under one fixed key: only for reproducing measurements.
    FixedKey,
    /// AES-256 under the two keys of the row.
    Aes256,
}

/// The parameters of a run; all parties must choose the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Config {
    /// The protocol.
    pub garbling: Garbling,
    /// Its steps.
    pub form: Form,
    /// The hash of the rows.
    pub hash: Hash,
    /// Field width of the OT extension; none for the form's own, see [`Config::width`].
    pub ot_width: Option<Width>,
    /// The kind of OT: silent for programs of at least [`SILENT_FROM`] AND gates.
    pub ot: OtKind,
}

/// The AND gates from which on silent OT is used, if it is chosen.
pub const SILENT_FROM: usize = 100_000;

impl Default for Config {
    fn default() -> Self {
        Config::of(Garbling::Ot)
    }
}

impl Config {
    /// The field width of the OT extension: larger is fewer bytes and more computation. By default it is the least work where rows dwarf
    /// what OT sends, and fewer bytes with half gates.
    pub fn width(&self) -> Width {
        let of_form = if self.form == Form::HalfGates { Width::Four } else { Width::Two };
        self.ot_width.unwrap_or(of_form)
    }

    /// The standard parameters of a protocol.
    pub fn of(garbling: Garbling) -> Self {
        let form = if garbling == Garbling::Ot { Form::HalfGates } else { Form::Linear };
        Config { garbling, form, hash: Hash::Rekeyed, ot_width: None, ot: OtKind::Extension }
    }
}
