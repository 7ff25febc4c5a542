//! [`chosen_format`]: the format in which answers are written as data.

use std::path::Path;

use rana::answer_writer::AnswerFormat;

use crate::error::CliError;

/// The format of data, as it is said or as the file's name has it; none if answers are printed.
pub(super) fn chosen_format(
    format: Option<AnswerFormat>,
    out: Option<&Path>,
) -> Result<Option<AnswerFormat>, CliError> {
    let (None, Some(out)) = (format, out) else { return Ok(format) };
    let ending = out.extension().unwrap_or_default().to_string_lossy().to_lowercase();
    let named = AnswerFormat::ALL.iter().find(|format| format.extension() == ending && ending != "txt");
    named.copied().map(Some).ok_or_else(|| {
        CliError::Usage(format!(
            "{}: its name does not say in which format answers are written. Say it by --format",
            out.display()
        ))
    })
}
