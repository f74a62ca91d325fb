//! The published figures of the five papers: their tables, line by line, and the rows that a page shows.
//!
//! The tables were taken from the papers' text; the column `note` marks what could not be read with certainty. This is the one
//! place where published figures stand: benchmarks and pages both read them here.

pub(crate) mod bmr;
pub(crate) mod compgc;
pub(crate) mod lego;
pub(crate) mod partialgc;
mod plots;
pub(crate) mod pssw;
mod section;
mod tables;

pub(crate) use section::section;
#[cfg(test)]
pub(crate) use tables::TABLES;
pub(crate) use tables::{Line, lines};

use serde::{Deserialize, Serialize};

use super::page::{Gap, Key, Row};

/// A paper.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, clap::ValueEnum)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Paper {
    Compgc,
    Partialgc,
    Pssw,
    Lego,
    Bmr,
}

impl Paper {
    /// All papers.
    pub(crate) const ALL: [Paper; 5] = [Paper::Compgc, Paper::Partialgc, Paper::Pssw, Paper::Lego, Paper::Bmr];

    /// The name of its benchmark.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Paper::Compgc => "compgc",
            Paper::Partialgc => "partialgc",
            Paper::Pssw => "pssw",
            Paper::Lego => "lego",
            Paper::Bmr => "bmr",
        }
    }

    /// The usual name of the system.
    pub(crate) fn system(self) -> &'static str {
        match self {
            Paper::Compgc => "CompGC",
            Paper::Partialgc => "PartialGC",
            Paper::Pssw => "Secure Two-Party Computation is Practical (PSSW)",
            Paper::Lego => "TinyLEGO",
            Paper::Bmr => "Multiparty BMR",
        }
    }

    /// The name in plots and tables: short.
    pub(crate) fn label(self) -> &'static str {
        match self {
            Paper::Pssw => "PSSW",
            Paper::Bmr => "BMR",
            _ => self.system(),
        }
    }

    /// Authors, title and place.
    pub(crate) fn citation(self) -> &'static str {
        match self {
            Paper::Compgc => {
                "Adam Groce, Alex Ledger, Alex J. Malozemoff, Arkady Yerukhimovich: CompGC: Efficient Offline/Online Semi-honest \
                 Two-party Computation"
            }
            Paper::Partialgc => {
                "Benjamin Mood, Debayan Gupta, Kevin Butler, Joan Feigenbaum: Reuse It Or Lose It: More Efficient Secure Computation \
                 Through Reuse of Encrypted Values. CCS 2014"
            }
            Paper::Pssw => {
                "Benny Pinkas, Thomas Schneider, Nigel P. Smart, Stephen C. Williams: Secure Two-Party Computation is Practical. \
                 ASIACRYPT 2009"
            }
            Paper::Lego => {
                "Jesper Buus Nielsen, Thomas Schneider, Roberto Trifiletti: Constant Round Maliciously Secure 2PC with \
                 Function-Independent Preprocessing Using LEGO. NDSS 2017"
            }
            Paper::Bmr => {
                "Aner Ben-Efraim, Yehuda Lindell, Eran Omri: Optimizing Semi-Honest Secure Multiparty Computation for the Internet. \
                 CCS 2016"
            }
        }
    }

    /// Every row of the paper, without our figures. A row that nothing here measures gives the reason.
    pub(crate) fn rows(self) -> Vec<Row> {
        match self {
            Paper::Compgc => compgc::rows(),
            Paper::Partialgc => partialgc::rows(),
            Paper::Pssw => pssw::rows(),
            Paper::Lego => lego::rows(),
            Paper::Bmr => bmr::rows(),
        }
    }

    /// The quantities whose ratios represent the whole best: times.
    pub(crate) fn headline(self) -> &'static [&'static str] {
        match self {
            Paper::Compgc => &["linked"],
            Paper::Partialgc => &["in all"],
            Paper::Pssw => &["total"],
            Paper::Lego => &["independent", "dependent", "online, alone", "online, together"],
            Paper::Bmr => &["offline", "online"],
        }
    }

    /// The published row of an experiment and settings, or a new one if the paper has none.
    pub(crate) fn row(self, experiment: &str, keys: Vec<Key>) -> Row {
        let new = Row::new(experiment, keys);
        self.rows().into_iter().find(|row| row.is(&new)).unwrap_or(new)
    }
}

/// A row that nothing here measures, of a table's line.
fn told_only(experiment: &str, keys: Vec<Key>, line: &Line, reason: &str) -> Row {
    let mut row = Row::new(experiment, keys);
    row.sources.push(line.source());
    row.gap = Some(Gap::NotMeasured(reason.into()));
    row
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_line_of_every_paper_has_its_rows() {
        let rows: Vec<Row> = Paper::ALL.into_iter().flat_map(Paper::rows).collect();
        for (name, _) in TABLES.iter().filter(|(name, _)| Paper::ALL.iter().any(|paper| name.starts_with(paper.name())))
        {
            for line in lines(name) {
                let source = line.source();
                assert!(rows.iter().any(|row| row.sources.contains(&source)), "{source} is in no row");
            }
        }
    }

    #[test]
    fn rows_are_found_once_each_and_have_a_figure_or_a_reason() {
        for paper in Paper::ALL {
            let rows = paper.rows();
            for row in &rows {
                assert_eq!(rows.iter().filter(|other| other.is(row)).count(), 1, "{} {}", paper.name(), row.title());
                let published = row.figures.iter().any(|figure| figure.published.is_some());
                assert!(published || row.gap.is_some(), "{} {}", paper.name(), row.title());
                assert!(!row.measured() && !row.sources.is_empty(), "{} {}", paper.name(), row.title());
            }
        }
    }

    #[test]
    fn a_row_that_the_paper_does_not_have_begins_empty() {
        let row = Paper::Lego.row("Table 4", vec![Key::number("copies", 33.0)]);
        assert!(row.figures.is_empty() && row.sources.is_empty());
    }
}
