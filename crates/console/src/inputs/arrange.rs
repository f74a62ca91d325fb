//! The order of lists where the program relies on it: the options, and the messages about unordered lists.

use garblet::{
    Program,
    circuit::InputId,
    formats::value::{self, Arrange, Arranged, Misfit, Unfit},
};

use super::options::PartyInputs;
use crate::{failure::Failure, output::tell};

/// The options for lists whose order the program relies on.
#[derive(clap::Args, Clone, Default)]
pub struct ArrangeArgs {
    /// Sort the rows of lists by key if the program relies on their order
    #[arg(long, conflicts_with_all = ["sum_by_key", "as_empty"])]
    sort: bool,
    /// Sort the rows of lists by key, and add up the values of rows with the same key
    #[arg(long, conflicts_with = "as_empty")]
    sum_by_key: bool,
    /// Accept lists that are not in order, which the program treats as empty
    #[arg(long)]
    as_empty: bool,
    /// The choice from a service's configuration; the command has options for it.
    #[arg(skip)]
    configured: Option<Arrange>,
    /// Set if the command has these options.
    #[arg(skip = true)]
    has_options: bool,
}

/// Unusable inputs.
pub enum Unread {
    /// The failure quotes the inputs.
    Shown(Failure),
    /// A list is not in order; the failure quotes nothing.
    Order(Failure),
}

impl Unread {
    /// The failure, for the owner of the inputs.
    pub fn failure(self) -> Failure {
        match self {
            Unread::Shown(failure) | Unread::Order(failure) => failure,
        }
    }
}

impl From<Failure> for Unread {
    fn from(failure: Failure) -> Self {
        Unread::Shown(failure)
    }
}

/// Tells the owner of inputs what was done with a list of this file.
pub fn tell_arranged(arranged: &Arranged, file: &str) {
    tell(&match arranged {
        Arranged::Empty(unfit) => {
            format!("warning: {file}: the program ignores this list, or this row of it: {unfit}")
        }
        Arranged::LeftOut { input, rows, keys } => format!(
            "note: {file}: input `{input}` has {rows} rows with {keys} keys: of rows with the same key, all but one were left out"
        ),
        Arranged::Summed { input, rows, keys } => format!(
            "note: {file}: input `{input}` has {rows} rows with {keys} keys: values with the same key were added up"
        ),
    });
}

impl ArrangeArgs {
    /// The choice from a service's configuration.
    pub fn configured(how: Arrange) -> Self {
        ArrangeArgs { configured: Some(how), ..ArrangeArgs::default() }
    }

    fn how(&self) -> Arrange {
        match (self.sort, self.sum_by_key, self.as_empty) {
            (true, ..) => Arrange::Sort,
            (_, true, _) => Arrange::SumByKey,
            (.., true) => Arrange::AsEmpty,
            _ => self.configured.unwrap_or_default(),
        }
    }

    /// Sorts lists or checks their order; `line` finds the line of a row.
    ///
    /// *Errors*: a list is not in order.
    pub(super) fn arrange(
        &self,
        file: &str,
        program: &Program,
        inputs: &mut PartyInputs,
        line: impl FnOnce(&Unfit) -> Option<u64>,
    ) -> Result<(), Unread> {
        let arranged = value::arrange(program, inputs, self.how());
        for words in arranged.map_err(|unfit| self.unread(&unfit, file, line(&unfit)))? {
            match words {
                // Keep the number of rows out of a service's log.
                Arranged::Summed { .. } if self.configured.is_some() => (),
                Arranged::LeftOut { input, .. } if self.configured.is_some() => {
                    tell(&format!(
                        "warning: {file}: input `{input}`: of rows with the same key, all but one were left out"
                    ));
                }
                words => tell_arranged(&words, file),
            }
        }
        Ok(())
    }

    pub(super) fn unread(&self, unfit: &Unfit, file: &str, line: Option<u64>) -> Unread {
        let diagnostic = unfit.diagnose(file, line);
        let place = line.map_or(String::new(), |line| format!(":{line}"));
        let failure = Failure::call(format!("{file}{place}: {unfit}"));
        let hint = match (unfit.cure(), self.configured, self.has_options) {
            (Some(Arrange::Sort), None, true) => {
                Some("--sort sorts the rows by key; --as-empty uses the list as it is".into())
            }
            (Some(_), None, true) => Some("--sum-by-key merges rows with the same key and adds up their values".into()),
            (Some(Arrange::Sort), Some(_), _) => Some("sort = true in the rule's inputs sorts the rows by key".into()),
            (Some(_), Some(_), _) => Some(
                "sum_by_key = true in the rule's inputs merges rows with the same key and adds up their values".into(),
            ),
            (None, ..) if matches!(unfit.wrong, Misfit::Overflow { .. }) => {
                Some("agree with the other parties on a program with wider values".into())
            }
            (None, ..) if matches!(unfit.wrong, Misfit::Collision { .. }) => {
                Some("agree with the other parties on a program with wider keys".into())
            }
            (None, None, true) if matches!(unfit.wrong, Misfit::TooLarge { .. }) => {
                Some("the program changes larger numbers or leaves them out; --as-empty uses them as they are".into())
            }
            _ => diagnostic.hint,
        };
        Unread::Order(Failure { hint, ..failure })
    }

    /// Checks that the options have an effect.
    ///
    /// *Errors*: the program relies on no order of these inputs.
    pub(super) fn check(&self, program: &Program, inputs: impl Iterator<Item = InputId>) -> Result<(), Failure> {
        let option = match self.how() {
            Arrange::Check => return Ok(()),
            Arrange::Sort => "--sort",
            Arrange::SumByKey => "--sum-by-key",
            Arrange::AsEmpty => "--as-empty",
        };
        match value::has_use(self.how(), program, inputs) {
            true => Ok(()),
            false => Err(Failure::call(format!("{option}: the program does not rely on the order of these inputs"))
                .hint("leave it out")),
        }
    }
}
