//! [`LearningIdentity`]: what a directory is learned from, by which an interrupted learning is recognised.

use std::fs;
use std::io;
use std::path::Path;

use rana_embed::EmbedConfig;
use serde::{Deserialize, Serialize};

use super::error::LearnError;
use super::learning::Learning;
use super::write_json::write_json;

const FILE: &str = "learning.json";
const FORMAT: &str = "rana-learning";
const VERSION: u32 = 2;

/// What a directory is learned from: `learning.json`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct LearningIdentity {
    format: String,
    version: u32,
    #[serde(flatten)]
    learning: Learning,
    /// The SHA-256 of every file, or what identifies the graph.
    inputs: Vec<String>,
    /// How vectors are trained, as it was planned when the learning began.
    vectors: Option<Vec<EmbedConfig>>,
}

impl LearningIdentity {
    pub(super) fn new(learning: &Learning, inputs: Vec<String>) -> Self {
        Self {
            format: FORMAT.to_owned(),
            version: VERSION,
            learning: learning.clone(),
            inputs,
            vectors: None,
        }
    }

    /// What an interrupted learning of the same planned; none if the directory is empty.
    ///
    /// # Errors
    /// If the directory holds anything else.
    pub(super) fn earlier(&self, out: &Path) -> Result<Option<Vec<EmbedConfig>>, LearnError> {
        let file = out.join(FILE);
        let path = out.to_owned();
        match fs::read(&file) {
            Ok(text) => match serde_json::from_slice::<Self>(&text) {
                Ok(earlier) => match self.differs(&earlier) {
                    differs if differs.is_empty() => Ok(Some(earlier.vectors.unwrap_or_default())),
                    differs => Err(LearnError::Other { path, differs }),
                },
                Err(_) => Err(LearnError::Other { path, differs: vec!["another version"] }),
            },
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                match fs::read_dir(out).map(|mut entries| entries.next().is_some()) {
                    Ok(true) => Err(LearnError::Occupied { path }),
                    Err(source) if source.kind() != io::ErrorKind::NotFound => {
                        Err(LearnError::Io { path, action: "list the directory", source })
                    }
                    _ => Ok(None),
                }
            }
            Err(source) => Err(LearnError::Io { path: file, action: "read the file", source }),
        }
    }

    /// How an earlier learning differs from this one.
    fn differs(&self, earlier: &Self) -> Vec<&'static str> {
        let Learning { seed, budget, memory, leave_out, language, max_decompressed: _ } = &self.learning;
        let all = [
            (earlier.format != self.format || earlier.version != self.version, "another version"),
            (earlier.inputs != self.inputs, "other files"),
            (earlier.learning.seed != *seed, "another seed"),
            (earlier.learning.budget != *budget, "another budget of time"),
            (earlier.learning.memory != *memory, "another limit of memory"),
            (earlier.learning.leave_out != *leave_out, "other relations left out"),
            (earlier.learning.language != *language, "another language"),
        ];
        all.into_iter().filter(|(is_other, _)| *is_other).map(|(_, what)| what).collect()
    }

    /// Writes it with the plan, before anything else is written.
    pub(super) fn write(&self, out: &Path, vectors: &[EmbedConfig]) -> Result<(), LearnError> {
        let whole = Self { vectors: Some(vectors.to_vec()), ..self.clone() };
        fs::create_dir_all(out).map_err(|source| LearnError::Io {
            path: out.to_owned(),
            action: "create the directory",
            source,
        })?;
        write_json(&out.join(FILE), &whole)
    }
}
