//! The tables as files of comma-separated values, and the reading of their lines.

/// The files by name: tables and figures in the text of the five papers, and the settings of their measurements.
pub(crate) const TABLES: &[(&str, &str)] = &[
    ("bmr_table1_aes_virginia_ireland.csv", include_str!("tables/bmr_table1_aes_virginia_ireland.csv")),
    ("bmr_table2_sha256_virginia_ireland.csv", include_str!("tables/bmr_table2_sha256_virginia_ireland.csv")),
    ("bmr_table_a_ot_optimisations_create_lan.csv", include_str!("tables/bmr_table_a_ot_optimisations_create_lan.csv")),
    ("bmr_table_b_ot_optimisations_76ms.csv", include_str!("tables/bmr_table_b_ot_optimisations_76ms.csv")),
    ("bmr_table_c_bgw3_create_lan.csv", include_str!("tables/bmr_table_c_bgw3_create_lan.csv")),
    ("bmr_text_figures.csv", include_str!("tables/bmr_text_figures.csv")),
    ("compgc_table1_garbled_and.csv", include_str!("tables/compgc_table1_garbled_and.csv")),
    ("compgc_table2_compgc_vs_naive.csv", include_str!("tables/compgc_table2_compgc_vs_naive.csv")),
    ("compgc_table3_standard_vs_scmc.csv", include_str!("tables/compgc_table3_standard_vs_scmc.csv")),
    ("compgc_text_figures.csv", include_str!("tables/compgc_text_figures.csv")),
    ("lego_table1_overview.csv", include_str!("tables/lego_table1_overview.csv")),
    ("lego_table2_summary_aws_lan.csv", include_str!("tables/lego_table2_summary_aws_lan.csv")),
    ("lego_table3_commit.csv", include_str!("tables/lego_table3_commit.csv")),
    ("lego_table4_timings.csv", include_str!("tables/lego_table4_timings.csv")),
    ("lego_table5_params_data.csv", include_str!("tables/lego_table5_params_data.csv")),
    ("lego_table6_comparison_times.csv", include_str!("tables/lego_table6_comparison_times.csv")),
    ("lego_table7_comparison_data.csv", include_str!("tables/lego_table7_comparison_data.csv")),
    ("lego_text_single_execution_c4_2x.csv", include_str!("tables/lego_text_single_execution_c4_2x.csv")),
    ("partialgc_table1_gate_counts.csv", include_str!("tables/partialgc_table1_gate_counts.csv")),
    ("partialgc_table2_no_reuse_mobile.csv", include_str!("tables/partialgc_table2_no_reuse_mobile.csv")),
    ("partialgc_table3_bandwidth_256_circuits.csv", include_str!("tables/partialgc_table3_bandwidth_256_circuits.csv")),
    ("partialgc_table4_server_outsourcing.csv", include_str!("tables/partialgc_table4_server_outsourcing.csv")),
    ("pssw_table1_example1.csv", include_str!("tables/pssw_table1_example1.csv")),
    ("pssw_table2_aes.csv", include_str!("tables/pssw_table2_aes.csv")),
    ("settings_circuits.csv", include_str!("tables/settings_circuits.csv")),
    ("settings_networks.csv", include_str!("tables/settings_networks.csv")),
];

/// A line of a table.
#[derive(Clone, Debug)]
pub(crate) struct Line {
    table: &'static str,
    /// The number of the line below the header, from 1.
    number: usize,
    cells: Vec<(String, String)>,
}

/// The lines of a table; none if there is no such table.
pub(crate) fn lines(table: &str) -> Vec<Line> {
    let Some((table, text)) = TABLES.iter().find(|(name, _)| *name == table) else { return Vec::new() };
    let mut reader = csv::Reader::from_reader(text.as_bytes());
    let head: Vec<String> = reader.headers().map(|head| head.iter().map(String::from).collect()).unwrap_or_default();
    let records = reader.records().map_while(Result::ok).enumerate();
    let line = |(at, record): (usize, csv::StringRecord)| Line {
        table,
        number: at + 1,
        cells: head.iter().cloned().zip(record.iter().map(String::from)).collect(),
    };
    records.map(line).collect()
}

impl Line {
    /// The text of a column; empty if there is no such column.
    pub(crate) fn text(&self, column: &str) -> &str {
        self.cells.iter().find(|(name, _)| name == column).map_or("", |(_, text)| text)
    }

    /// The number of a column, if it has one.
    pub(crate) fn number(&self, column: &str) -> Option<f64> {
        self.text(column).parse().ok()
    }

    /// The number of a column that counts thousandths of the unit.
    pub(crate) fn milli(&self, column: &str) -> Option<f64> {
        self.number(column).map(|value| value / 1e3)
    }

    /// The place of the line: file and number.
    pub(crate) fn source(&self) -> String {
        format!("{}:{}", self.table, self.number)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_table_is_whole() {
        for (name, text) in TABLES {
            // Every field of these files is on one line.
            assert_eq!(lines(name).len() + 1, text.lines().count(), "{name}");
            assert!(lines(name).iter().all(|line| line.cells.iter().all(|(head, _)| !head.is_empty())), "{name}");
        }
        assert!(lines("none.csv").is_empty());
    }

    #[test]
    fn cells_are_read_by_column() {
        let line = &lines("lego_table4_timings.csv")[4];
        assert_eq!((line.text("setting"), line.number("number")), ("AWS LAN", Some(1.0)));
        assert_eq!((line.milli("ind_ms"), line.number("note"), line.text("none")), (Some(0.08961), None, ""));
        assert_eq!(line.source(), "lego_table4_timings.csv:5");
    }
}
