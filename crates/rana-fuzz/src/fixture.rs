//! [`Fixture`]: a small learned directory, whose files are damaged or served.

use std::fs;
use std::path::{Path, PathBuf};

use rana::Learning;

/// The directory of the fixture, for workers.
const VARIABLE: &str = "RANA_FUZZ_FIXTURE";
/// Names that the graph has.
pub(crate) const NAMES: [&str; 6] = ["e0", "e1", "e2", "e7", "likes", "r1"];

/// A learned directory.
pub(crate) struct Fixture {
    pub(crate) path: PathBuf,
}

impl Fixture {
    /// Learns from a small graph, and tells workers where.
    pub(crate) fn make(dir: &Path) -> Self {
        let facts = dir.join("facts.tsv");
        let line = |at: usize| {
            let (head, relation, tail) =
                (at % 23, ["likes", "r1", "r2", "r3"][at % 4], (at * 7 + at / 23) % 23);
            format!("e{head}\t{relation}\te{tail}\n")
        };
        fs::write(&facts, (0..240).map(line).collect::<String>()).expect("the disk has room for a fixture");
        let path = dir.join("learned");
        Learning::default().learn([facts], &path, &()).expect("a small graph can be learned from");
        Self { path }
    }

    /// The fixture that the parent has made.
    pub(crate) fn made() -> Option<Self> {
        std::env::var_os(VARIABLE).map(|path| Self { path: path.into() })
    }

    /// The variable that tells a worker where it is.
    pub(crate) fn variable(&self) -> (&'static str, &Path) {
        (VARIABLE, &self.path)
    }

    /// All files below a directory of the fixture, in a fixed order.
    pub(crate) fn files(&self, below: &str) -> Vec<PathBuf> {
        let mut found = Vec::new();
        let mut open = vec![self.path.join(below)];
        while let Some(dir) = open.pop() {
            for entry in fs::read_dir(&dir).into_iter().flatten().flatten() {
                match entry.path() {
                    path if path.is_dir() => open.push(path),
                    path => found.push(path),
                }
            }
        }
        found.sort();
        found
    }

    /// Copies the fixture.
    pub(crate) fn copy_to(&self, target: &Path) -> std::io::Result<()> {
        for file in self.files("") {
            let to = target.join(file.strip_prefix(&self.path).unwrap_or(&file));
            fs::create_dir_all(to.parent().unwrap_or(target))?;
            fs::copy(&file, to)?;
        }
        Ok(())
    }
}
