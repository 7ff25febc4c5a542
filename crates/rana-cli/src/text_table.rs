//! Tables as text.

use comfy_table::{Cell, CellAlignment, Table, presets};
use rana::report::ResultsTable;

use crate::escaped_output::escape;

/// A plain table; columns whose title begins with `#` hold numbers and are aligned to the right.
pub(crate) fn table<const N: usize>(
    titles: [&str; N],
    rows: impl IntoIterator<Item = [String; N]>,
) -> String {
    let mut table = Table::new();
    table.load_style(presets::NOTHING);
    table.set_header(titles.map(|title| {
        let cell = Cell::new(title.trim_start_matches('#'));
        if title.starts_with('#') { cell.set_alignment(CellAlignment::Right) } else { cell }
    }));
    for row in rows {
        table.add_row(row.map(|cell| escape(&cell).into_owned()));
    }
    for (at, title) in titles.iter().enumerate() {
        if let Some(column) = table.column_mut(at) {
            column.set_padding((if at == 0 { 2 } else { 1 }, 1));
            if title.starts_with('#') {
                column.set_cell_alignment(CellAlignment::Right);
            }
        }
    }
    table.trim_fmt()
}

/// A table of results: the first column to the left, all others to the right.
pub(crate) fn results(results: &ResultsTable) -> String {
    let mut table = Table::new();
    table.load_style(presets::NOTHING);
    let right = |at: usize| if at == 0 { CellAlignment::Left } else { CellAlignment::Right };
    let cells = results.titles.iter().enumerate();
    table.set_header(cells.map(|(at, title)| Cell::new(title).set_alignment(right(at))));
    for row in &results.rows {
        table.add_row(row.iter().map(|cell| escape(cell).into_owned()));
    }
    for at in 0..results.titles.len() {
        if let Some(column) = table.column_mut(at) {
            column.set_padding((if at == 0 { 2 } else { 1 }, 1));
            column.set_cell_alignment(right(at));
        }
    }
    table.trim_fmt()
}
