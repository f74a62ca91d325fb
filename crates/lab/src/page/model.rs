//! The content of a page: rows with published figures and ours, tables, plots and words.

use garblet_console::output;
use serde::{Deserialize, Serialize};

/// The unit of a figure.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Unit {
    Seconds,
    Bytes,
    Megabit,
    Count,
    Percent,
}

/// A number; for a mean, also half of its 95 % interval, if known.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Amount {
    pub(crate) value: f64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) interval: Option<f64>,
}

/// One quantity of a row: published, measured, or both.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Figure {
    pub(crate) quantity: String,
    pub(crate) unit: Unit,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) published: Option<Amount>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) ours: Option<Amount>,
}

/// One setting of a row, such as `parties` 13.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Key {
    pub(crate) name: String,
    pub(crate) text: String,
    /// None for what is a name only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) number: Option<f64>,
}

/// The reason why a row has no figure of ours.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Gap {
    /// Nothing here could measure it.
    NotMeasured(String),
    /// This call has left it out.
    LeftOut(String),
    Failed(String),
}

/// One row of a paper's table or figure, or one that it does not have.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Row {
    /// The table or figure, such as `Table 4`.
    pub(crate) experiment: String,
    pub(crate) keys: Vec<Key>,
    pub(crate) figures: Vec<Figure>,
    /// log2 of the probability that cheating goes unnoticed, published and ours. Nothing against parties that do not cheat.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) published_bound: Option<f64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) our_bound: Option<f64>,
    /// Footnotes: what differs from the paper, what is inconsistent in it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) notes: Vec<String>,
    /// The lines of the published tables that it has, as `lego_table4_timings.csv:7`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) sources: Vec<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) gap: Option<Gap>,
}

impl Unit {
    /// A number of this unit for people.
    pub(crate) fn text(self, value: f64) -> String {
        match self {
            Unit::Seconds if value == 0.0 => "0 s".into(),
            Unit::Seconds if value.abs() < 1e-6 => format!("{:.0} ns", value * 1e9),
            Unit::Seconds if value.abs() < 1e-4 => format!("{:.1} us", value * 1e6),
            Unit::Seconds if value >= 1e4 => format!("{} s", output::count(value.round() as u64)),
            Unit::Seconds => output::seconds(value),
            Unit::Bytes => output::bytes(value.round() as u64),
            Unit::Megabit if value < 1.0 => format!("{value:.3} Mbit"),
            Unit::Megabit if value < 100.0 => format!("{value:.1} Mbit"),
            Unit::Megabit => format!("{value:.0} Mbit"),
            Unit::Count => output::count(value.round() as u64),
            Unit::Percent => format!("{value:.0} %"),
        }
    }
}

impl Amount {
    /// A number without an interval.
    pub(crate) fn of(value: f64) -> Self {
        Amount { value, interval: None }
    }

    /// The number, and its interval as a part of it.
    pub(crate) fn text(&self, unit: Unit) -> String {
        let off = self.interval.filter(|_| self.value > 0.0);
        let percent = |half: f64| match 100.0 * half / self.value {
            small if small < 0.95 && small > 0.0 => format!(" ± {small:.1} %"),
            percent => format!(" ± {percent:.0} %"),
        };
        unit.text(self.value) + &off.map(percent).unwrap_or_default()
    }
}

impl Figure {
    /// The published figure over ours; none for shares, or where either is missing or nothing.
    pub(crate) fn ratio(&self) -> Option<f64> {
        let (published, ours) = (self.published?.value, self.ours?.value);
        (self.unit != Unit::Percent && published > 0.0 && ours > 0.0).then(|| published / ours)
    }
}

impl Key {
    /// A setting that is a name.
    pub(crate) fn named(name: &str, text: impl Into<String>) -> Self {
        Key { name: name.into(), text: text.into(), number: None }
    }

    /// A setting that is a number.
    pub(crate) fn number(name: &str, number: f64) -> Self {
        Key { name: name.into(), text: output::count(number as u64), number: Some(number) }
    }
}

impl Row {
    /// A row without figures.
    pub(crate) fn new(experiment: &str, keys: Vec<Key>) -> Self {
        Row {
            experiment: experiment.into(),
            keys,
            figures: Vec::new(),
            published_bound: None,
            our_bound: None,
            notes: Vec::new(),
            sources: Vec::new(),
            gap: None,
        }
    }

    /// Adds what was published.
    pub(crate) fn publish(&mut self, quantity: &str, unit: Unit, value: Option<f64>, interval: Option<f64>) {
        if let Some(value) = value {
            self.figure(quantity, unit).published = Some(Amount { value, interval });
        }
    }

    /// Adds what was measured.
    pub(crate) fn measure(&mut self, quantity: &str, unit: Unit, amount: Amount) {
        self.figure(quantity, unit).ours = Some(amount);
    }

    /// Adds a footnote.
    pub(crate) fn note(&mut self, words: &str) {
        if !self.notes.iter().any(|known| known == words) {
            self.notes.push(words.into());
        }
    }

    /// The figure of a quantity, which is added if it is not there.
    fn figure(&mut self, quantity: &str, unit: Unit) -> &mut Figure {
        let at = self.figures.iter().position(|figure| figure.quantity == quantity).unwrap_or(self.figures.len());
        if at == self.figures.len() {
            self.figures.push(Figure { quantity: quantity.into(), unit, published: None, ours: None });
        }
        &mut self.figures[at]
    }

    /// The figure of a quantity, if it is there.
    pub(crate) fn of(&self, quantity: &str) -> Option<&Figure> {
        self.figures.iter().find(|figure| figure.quantity == quantity)
    }

    /// A setting's text; empty if the row does not have it.
    pub(crate) fn key(&self, name: &str) -> &str {
        self.keys.iter().find(|key| key.name == name).map_or("", |key| &key.text)
    }

    /// Tells whether both are the same row of the same experiment.
    pub(crate) fn is(&self, other: &Row) -> bool {
        let texts = |row: &Row| row.keys.iter().map(|key| (key.name.clone(), key.text.clone())).collect::<Vec<_>>();
        self.experiment == other.experiment && texts(self) == texts(other)
    }

    /// Tells whether there is any figure of ours.
    pub(crate) fn measured(&self) -> bool {
        self.figures.iter().any(|figure| figure.ours.is_some())
    }

    /// The row in words, such as `Table 4, AES-128, 32`.
    pub(crate) fn title(&self) -> String {
        let keys = self.keys.iter().filter(|key| !key.text.is_empty()).map(|key| match key.number {
            Some(_) => format!("{} {}", key.text, key.name),
            None => key.text.clone(),
        });
        std::iter::once(self.experiment.clone()).chain(keys).collect::<Vec<_>>().join(", ")
    }
}
