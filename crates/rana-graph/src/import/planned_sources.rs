//! [`Planned`]: the files of an import, with what each is read as.

use std::path::{Path, PathBuf};

use super::import_options::ImportOptions;
use crate::format::{FormatError, Source};
use crate::held_out::HeldOut;
use crate::store::Store;

/// A source that is not a directory, and where its facts go.
pub(super) struct Planned {
    pub(super) source: Source,
    /// The list its facts are held out in, none if they go into the graph.
    pub(super) held_out: Option<HeldOut>,
}

/// The files to read in their order: those of the graph, then those held out.
pub(super) fn plan(sources: &[Source], options: &ImportOptions) -> Result<Vec<Planned>, FormatError> {
    let mut planned = Vec::new();
    for source in sources {
        planned.extend(expand(source, None, options.splits)?);
    }
    for (part, sources) in [(HeldOut::Valid, &options.valid), (HeldOut::Test, &options.test)] {
        for source in sources {
            planned.extend(expand(source, Some(part), false)?);
        }
    }
    // The sort is stable: within the graph and within each list the order stays.
    planned.sort_by_key(|planned| planned.held_out);
    Ok(planned)
}

/// The names under which a directory may keep the splits of a link-prediction benchmark.
const SPLIT_FILES: [(&str, Option<HeldOut>); 3] =
    [("train", None), ("valid", Some(HeldOut::Valid)), ("test", Some(HeldOut::Test))];

/// A source itself, or the fact files in a directory: `train`, `valid` and `test` with any ending.
///
/// With `splits` each goes to the list of its name, otherwise all go to `held_out`.
fn expand(source: &Source, held_out: Option<HeldOut>, splits: bool) -> Result<Vec<Planned>, FormatError> {
    if let Some(path) = source.path().filter(|path| Store::is_store(path)) {
        return Err(FormatError::IsStore { file: path.display().to_string() });
    }
    let Some(directory) = source.path().filter(|path| path.is_dir()) else {
        if splits {
            return Err(FormatError::Splits {
                file: source.name(),
                problem: "splits are looked for in a directory with train, valid and test files. Name single files \
                          to hold out one by one",
            });
        }
        return Ok(vec![Planned { source: source.clone(), held_out }]);
    };
    let found: Vec<Planned> = split_files(directory)?
        .into_iter()
        .map(|(path, part)| Planned {
            source: Source::Path(path),
            held_out: if splits { part } else { held_out },
        })
        .collect();
    let has = |wanted: fn(&Planned) -> bool| found.iter().any(wanted);
    if splits && !(has(|file| file.held_out.is_none()) && has(|file| file.held_out.is_some())) {
        return Err(FormatError::Splits {
            file: source.name(),
            problem: "the splits need a train file, and a valid or a test file beside it",
        });
    }
    Ok(found)
}

fn split_files(directory: &Path) -> Result<Vec<(PathBuf, Option<HeldOut>)>, FormatError> {
    let name = directory.display().to_string();
    let entries = std::fs::read_dir(directory).map_err(FormatError::io(&name, "list the directory"))?;
    let mut files: Vec<PathBuf> =
        entries.flatten().map(|entry| entry.path()).filter(|path| path.is_file()).collect();
    files.sort();
    let stem = |path: &PathBuf| {
        path.file_name().and_then(|n| n.to_str()).and_then(|n| n.split('.').next()).map(str::to_owned)
    };
    let mut found = Vec::new();
    for (split, part) in SPLIT_FILES {
        let files = files.iter().filter(|path| stem(path).as_deref() == Some(split));
        found.extend(files.map(|path| (path.clone(), part)));
    }
    if found.is_empty() {
        return Err(FormatError::Unrecognised {
            file: name,
            problem:
                "a directory with neither `path_graph` (a release) nor train, valid and test files. Give the \
                      files themselves"
                    .to_owned(),
        });
    }
    Ok(found)
}
