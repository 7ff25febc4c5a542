//! [`ResultsTable`]: results as Markdown and as CSV.

use std::fmt::Write;

/// A table of texts, the first column naming the rows.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ResultsTable {
    /// The titles of the columns.
    pub titles: Vec<String>,
    /// The rows, each with as many cells.
    pub rows: Vec<Vec<String>>,
}

impl ResultsTable {
    /// As Markdown: the first column to the left, numbers to the right.
    #[must_use]
    pub fn markdown(&self) -> String {
        let line = |cells: &[String]| {
            let cells: Vec<String> =
                cells.iter().map(|cell| cell.replace('|', "\\|").replace('\n', " ")).collect();
            format!("| {} |\n", cells.join(" | "))
        };
        let rules: Vec<&str> =
            (0..self.titles.len()).map(|at| if at == 0 { "---" } else { "---:" }).collect();
        let mut text = line(&self.titles);
        let _ = writeln!(text, "| {} |", rules.join(" | "));
        self.rows.iter().for_each(|row| text += &line(row));
        text
    }

    /// As CSV with a line of titles.
    #[must_use]
    pub fn csv(&self) -> String {
        let quoted = |cell: &String| match cell.contains([',', '"', '\n', '\r']) {
            true => format!("\"{}\"", cell.replace('"', "\"\"")),
            false => cell.clone(),
        };
        std::iter::once(&self.titles)
            .chain(&self.rows)
            .map(|row| row.iter().map(quoted).collect::<Vec<_>>().join(",") + "\n")
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_would_break_a_cell_is_written_otherwise() {
        let table = ResultsTable {
            titles: ["row", "MRR"].map(str::to_owned).to_vec(),
            rows: vec![["a|b, \"c\"", ".361"].map(str::to_owned).to_vec()],
        };
        assert_eq!(table.markdown(), "| row | MRR |\n| --- | ---: |\n| a\\|b, \"c\" | .361 |\n");
        assert_eq!(table.csv(), "row,MRR\n\"a|b, \"\"c\"\"\",.361\n");
    }
}
