//! Probabilities in the tables of the book's chapters agree with the formulas that other tests measure.

use std::path::Path;

use garblet_authenticated::{Statistical, parameters::Batch};
use garblet_covert as covert;
use garblet_cut_and_choose::{self as cut_and_choose, cut_log2};

/// The rows of the table with this header in a chapter, cell by cell.
fn table(chapter: &str, header: &str) -> Vec<Vec<String>> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/src").join(format!("{chapter}.md"));
    let text = std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let below = text.lines().skip_while(|line| !line.starts_with(header)).skip(2);
    let rows = below.take_while(|line| line.starts_with('|')).map(|line| {
        line.trim_matches('|').split('|').map(|cell| cell.trim().trim_matches('`').replace(',', "")).collect()
    });
    let rows: Vec<_> = rows.collect();
    assert!(!rows.is_empty(), "`{chapter}` has no table with the header {header}");
    rows
}

/// The exponent of a cell such as `2^-41.8`.
fn log2(cell: &str) -> f64 {
    cell.strip_prefix("2^").and_then(|log2| log2.parse().ok()).unwrap_or_else(|| panic!("no power of two: {cell}"))
}

fn number<T: std::str::FromStr>(cell: &str) -> T {
    cell.parse().unwrap_or_else(|_| panic!("no number: {cell}"))
}

#[test]
fn batches_of_authenticated_agree_with_its_bound() {
    let rows = table("authenticated", "| bucket | `statistical=40` | published |");
    assert_eq!(rows.len(), 6, "a row for each size of buckets");
    for row in rows {
        let bucket: u32 = number(&row[0]);
        let columns = row[1..].chunks(2).zip([Statistical::Forty, Statistical::SixtyFour, Statistical::Eighty]);
        for (cells, statistical) in columns.filter(|(cells, _)| !cells[0].is_empty()) {
            let least = Batch::least(bucket, statistical, 2);
            assert_eq!(number::<u64>(&cells[0]), least, "buckets of {bucket}, {statistical:?}");
            let published = Batch { triples: least, bucket }.published().log2();
            let stated = log2(&cells[1]);
            assert!(
                (published - 0.01..published + 0.1).contains(&stated),
                "buckets of {bucket}, {statistical:?}: {published}"
            );
        }
    }
}

#[test]
fn circuits_of_cut_and_choose_agree_with_its_formula() {
    let rows = table("cut-and-choose", "| `statistical` | circuits | evaluated | probability |");
    for (row, statistical) in rows.iter().zip(cut_and_choose::Statistical::ALL) {
        let config = cut_and_choose::Config { statistical: *statistical, ..Default::default() };
        let [circuits, evaluated] = [1, 2].map(|at| number::<usize>(&row[at]));
        assert_eq!((config.circuits(), config.evaluated()), (circuits, evaluated));
        // All other ways to cheat are counted too, and raise it a little.
        let cut = cut_log2(circuits, evaluated);
        assert!((cut..cut + 0.2).contains(&log2(&row[3])), "{circuits} circuits: 2^{cut:.2}, and {}", row[3]);
    }
    assert_eq!(rows.len(), cut_and_choose::Statistical::ALL.len());
}

#[test]
fn circuits_of_the_published_form_of_outsourced_agree_with_the_same_formula() {
    let rows = table("outsourced", "| circuits | evaluated | undetected cheating |");
    assert_eq!(rows.len(), 3);
    for row in rows {
        let cut = cut_log2(number(&row[0]), number(&row[1]));
        assert!((cut - log2(&row[2])).abs() <= 0.051, "{row:?}: {cut}");
    }
}

/// `1 - 1/N`, and `(1 - 1/N)(1 - 2^(1 - shares))` in the form of 2007.
#[test]
fn deterrence_agrees_with_the_chapter() {
    for circuits in 2..=16 {
        for shares in 2..=8 {
            let seeds = covert::Config { circuits: Some(circuits), ..Default::default() };
            let al07 = covert::Config { form: covert::Form::Al07, shares: Some(shares), ..seeds };
            let checked = 1.0 - 1.0 / f64::from(circuits);
            let spread = 1.0 - (1.0 - f64::from(shares)).exp2();
            assert!((seeds.deterrence() - checked).abs() < 1e-12, "{circuits} circuits");
            assert!((al07.deterrence() - checked * spread).abs() < 1e-12, "{circuits} circuits, {shares} shares");
        }
    }
}
