//! The content of a page: rows with published figures and ours, tables, plots and words.

use serde::{Deserialize, Serialize};

use crate::output;

/// The unit of a figure.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(in crate::bench) enum Unit {
    Seconds,
    Bytes,
    Megabit,
    Count,
    Percent,
}

/// A number, and half of its 95 % interval if it is a mean of which that is known.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub(in crate::bench) struct Amount {
    pub(in crate::bench) value: f64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(in crate::bench) interval: Option<f64>,
}

/// One quantity of a row: published, measured, or both.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(in crate::bench) struct Figure {
    pub(in crate::bench) quantity: String,
    pub(in crate::bench) unit: Unit,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(in crate::bench) published: Option<Amount>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(in crate::bench) ours: Option<Amount>,
}

/// One setting of a row, such as `parties` 13.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(in crate::bench) struct Key {
    pub(in crate::bench) name: String,
    pub(in crate::bench) text: String,
    /// None for what is a name only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(in crate::bench) number: Option<f64>,
}

/// The reason why a row has no figure of ours.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(in crate::bench) enum Gap {
    /// Nothing here could measure it.
    NotMeasured(String),
    /// This call has left it out.
    LeftOut(String),
    Failed(String),
}

/// One row of a paper's table or figure, or one that it does not have.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(in crate::bench) struct Row {
    /// The table or figure, such as `Table 4`.
    pub(in crate::bench) experiment: String,
    pub(in crate::bench) keys: Vec<Key>,
    pub(in crate::bench) figures: Vec<Figure>,
    /// log2 of the probability that cheating goes unnoticed, published and ours. Nothing against parties that do not cheat.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(in crate::bench) published_bound: Option<f64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(in crate::bench) our_bound: Option<f64>,
    /// Footnotes: what differs from the paper, what is inconsistent in it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(in crate::bench) notes: Vec<String>,
    /// The lines of the published tables that it has, as `lego_table4_timings.csv:7`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(in crate::bench) sources: Vec<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(in crate::bench) gap: Option<Gap>,
}

/// A part of a page that stands there as it is.
pub(in crate::bench) enum Piece {
    /// A table, its first line the heads.
    Table(Vec<Vec<String>>),
    /// Lines of a name and a value.
    Facts(Vec<Vec<String>>),
    Words(String),
}

impl Piece {
    /// The same on a terminal.
    pub(in crate::bench) fn text(&self) -> String {
        match self {
            Piece::Table(lines) | Piece::Facts(lines) => output::table(lines),
            Piece::Words(words) => words.clone(),
        }
    }
}

impl Unit {
    /// A number of this unit for people.
    pub(in crate::bench) fn text(self, value: f64) -> String {
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
    /// A number of which no interval is known.
    pub(in crate::bench) fn of(value: f64) -> Self {
        Amount { value, interval: None }
    }

    /// The number, and its interval as a part of it.
    pub(in crate::bench) fn text(&self, unit: Unit) -> String {
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
    pub(in crate::bench) fn ratio(&self) -> Option<f64> {
        let (published, ours) = (self.published?.value, self.ours?.value);
        (self.unit != Unit::Percent && published > 0.0 && ours > 0.0).then(|| published / ours)
    }
}

impl Key {
    /// A setting that is a name.
    pub(in crate::bench) fn named(name: &str, text: impl Into<String>) -> Self {
        Key { name: name.into(), text: text.into(), number: None }
    }

    /// A setting that is a number.
    pub(in crate::bench) fn number(name: &str, number: f64) -> Self {
        Key { name: name.into(), text: output::count(number as u64), number: Some(number) }
    }
}

impl Row {
    /// A row without figures.
    pub(in crate::bench) fn new(experiment: &str, keys: Vec<Key>) -> Self {
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
    pub(in crate::bench) fn publish(&mut self, quantity: &str, unit: Unit, value: Option<f64>, interval: Option<f64>) {
        if let Some(value) = value {
            self.figure(quantity, unit).published = Some(Amount { value, interval });
        }
    }

    /// Adds what was measured.
    pub(in crate::bench) fn measure(&mut self, quantity: &str, unit: Unit, amount: Amount) {
        self.figure(quantity, unit).ours = Some(amount);
    }

    /// Adds a footnote.
    pub(in crate::bench) fn note(&mut self, words: &str) {
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
    pub(in crate::bench) fn of(&self, quantity: &str) -> Option<&Figure> {
        self.figures.iter().find(|figure| figure.quantity == quantity)
    }

    /// A setting's text; nothing for one that the row does not have.
    pub(in crate::bench) fn key(&self, name: &str) -> &str {
        self.keys.iter().find(|key| key.name == name).map_or("", |key| &key.text)
    }

    /// Tells whether both are the same row of the same experiment.
    pub(in crate::bench) fn is(&self, other: &Row) -> bool {
        let texts = |row: &Row| row.keys.iter().map(|key| (key.name.clone(), key.text.clone())).collect::<Vec<_>>();
        self.experiment == other.experiment && texts(self) == texts(other)
    }

    /// Tells whether there is any figure of ours.
    pub(in crate::bench) fn measured(&self) -> bool {
        self.figures.iter().any(|figure| figure.ours.is_some())
    }

    /// The row in words, such as `Table 4, AES-128, 32`.
    pub(in crate::bench) fn title(&self) -> String {
        let keys = self.keys.iter().filter(|key| !key.text.is_empty()).map(|key| match key.number {
            Some(_) => format!("{} {}", key.text, key.name),
            None => key.text.clone(),
        });
        std::iter::once(self.experiment.clone()).chain(keys).collect::<Vec<_>>().join(", ")
    }
}
