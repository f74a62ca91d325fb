//! The front end that a user sees, as messages speak of it: how it spells a setting, and its own words for a remedy.
//!
//! A message of this crate names a [`Setting`], never an option. The command spells it `--party`, another front end as its user gives it.

use std::{fmt, sync::OnceLock};

use garblet::Advice;

use crate::{trusting, words};

/// A setting that messages name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Setting {
    /// The rows of a batch.
    Batch,
    /// The clients of a visit.
    Clients,
    /// Gives up the last visit.
    Forget,
    /// This party's identity.
    Identity,
    /// A parameter of the protocol.
    Param,
    /// The number of this party.
    Party,
    /// The file of all parties.
    Peers,
    /// Plain TCP, without identities.
    PlainTcp,
    /// The protocol.
    Protocol,
    /// The outputs in a receipt.
    ReceiptOutputs,
    /// The log of receipts.
    Receipts,
    /// Asks again for the answers to the last visit.
    Resume,
}

impl Setting {
    /// All settings.
    pub const ALL: [Setting; 12] = [
        Setting::Batch,
        Setting::Clients,
        Setting::Forget,
        Setting::Identity,
        Setting::Param,
        Setting::Party,
        Setting::Peers,
        Setting::PlainTcp,
        Setting::Protocol,
        Setting::ReceiptOutputs,
        Setting::Receipts,
        Setting::Resume,
    ];

    fn spelled(self) -> &'static str {
        (surface().spell)(self)
    }

    /// The setting as the place of a mistake: `--party` or `party`.
    pub fn place(self) -> &'static str {
        self.spelled().trim_end_matches(['=', '(', ')'])
    }

    /// The setting with this value: `--party 3` or `party=3`.
    pub fn with(self, value: impl fmt::Display) -> String {
        let spelled = self.spelled();
        let between = if spelled.ends_with('=') { "" } else { " " };
        format!("{spelled}{between}{value}")
    }
}

impl fmt::Display for Setting {
    /// The setting as its user gives it: `--party` or `party=`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.spelled())
    }
}

/// A front end.
#[derive(Clone, Copy)]
pub struct Surface {
    /// Spells a setting: `--party`, or `party=`, to which a value is appended.
    pub spell: fn(Setting) -> &'static str,
    /// Its own words for a remedy, if it has any.
    pub remedy: fn(&Advice) -> Option<String>,
}

/// The front end of this process, unless it is the command.
static SURFACE: OnceLock<Surface> = OnceLock::new();

/// Lets the messages of this process speak of this front end. The first one stays.
pub fn speak_of(surface: Surface) {
    let _ = SURFACE.set(surface);
}

pub(crate) fn surface() -> Surface {
    *SURFACE.get_or_init(|| Surface { spell: option, remedy })
}

/// The command's words for a remedy.
fn remedy(advice: &Advice) -> Option<String> {
    trusting::words(advice).or_else(|| words::own_words(advice))
}

/// The command's option for a setting.
fn option(setting: Setting) -> &'static str {
    match setting {
        Setting::Batch => "--batch",
        Setting::Clients => "--with",
        Setting::Forget => "--give-up",
        Setting::Identity => "--identity",
        Setting::Param => "--param",
        Setting::Party => "--party",
        Setting::Peers => "--peers",
        Setting::PlainTcp => "--insecure-plain-tcp",
        Setting::Protocol => "--protocol",
        Setting::ReceiptOutputs => "--receipt-outputs",
        Setting::Receipts => "--receipts",
        Setting::Resume => "--resume",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_spells_settings_as_its_options() {
        for setting in Setting::ALL {
            assert!(setting.to_string().starts_with("--"), "{setting}");
            assert_eq!((setting.place(), setting.with(3)), (&setting.to_string()[..], format!("{setting} 3")));
        }
    }

    /// The modules whose messages more than one front end shows.
    const SHARED: [(&str, &str); 12] = [
        ("job.rs", include_str!("job.rs")),
        ("job/fields.rs", include_str!("job/fields.rs")),
        ("job/file.rs", include_str!("job/file.rs")),
        ("job/here.rs", include_str!("job/here.rs")),
        ("job/names.rs", include_str!("job/names.rs")),
        ("job/parties.rs", include_str!("job/parties.rs")),
        ("job/signatures.rs", include_str!("job/signatures.rs")),
        ("agreement.rs", include_str!("agreement.rs")),
        ("receipts/log.rs", include_str!("receipts/log.rs")),
        ("receipts/chain.rs", include_str!("receipts/chain.rs")),
        ("visit.rs", include_str!("visit.rs")),
        ("visit/memory.rs", include_str!("visit/memory.rs")),
    ];

    /// A line of code that names an option. A whole command in backticks may have any: it is for a shell.
    fn names_an_option(line: &str) -> bool {
        let outside = line.split('`').step_by(2).any(|part| part.contains("--"));
        outside && !line.trim_start().starts_with("//")
    }

    #[test]
    fn shared_messages_name_no_option() {
        assert!(
            names_an_option("call(\"--party: wrong\")") && !names_an_option("hint(\"`garblet job new --batch N`\")")
        );
        for (file, text) in SHARED {
            let wrong: Vec<&str> = text.lines().filter(|line| names_an_option(line)).collect();
            assert!(wrong.is_empty(), "{file}: spell a Setting instead: {wrong:?}");
        }
    }
}
