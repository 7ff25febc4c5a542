//! HTML for notebooks.

/// A text in HTML.
pub(crate) fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

/// A table of texts under titles, with a line below it.
pub(crate) fn table(titles: &[&str], rows: impl IntoIterator<Item = Vec<String>>, below: &str) -> String {
    let mut html = "<table><thead><tr>".to_owned();
    titles.iter().for_each(|title| html += &format!("<th>{}</th>", escaped(title)));
    html += "</tr></thead><tbody>";
    for row in rows {
        html += "<tr>";
        row.iter().for_each(|cell| html += &format!("<td>{}</td>", escaped(cell)));
        html += "</tr>";
    }
    html + &format!("</tbody></table><p>{}</p>", escaped(below))
}
