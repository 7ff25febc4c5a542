//! [`Source`]: an input of an import: a file, a directory, standard input, or bytes in memory.

use std::borrow::Cow;
use std::path::{Path, PathBuf};

/// One input: a file, a directory, standard input, or bytes in memory.
#[derive(Clone, Debug)]
pub enum Source {
    /// A file or a directory.
    Path(PathBuf),
    /// Standard input, called `-` in messages.
    Stdin,
    /// Bytes in memory, with the name of a file.
    Memory {
        /// The name to detect the format from and to report errors under.
        name: String,
        /// The content.
        bytes: Cow<'static, [u8]>,
    },
}

impl Source {
    /// Standard input for `-`, a path for anything else.
    #[must_use]
    pub fn from_argument(argument: impl Into<PathBuf>) -> Self {
        let argument = argument.into();
        if argument.as_os_str() == "-" { Self::Stdin } else { Self::Path(argument) }
    }

    /// The name used in messages.
    #[must_use]
    pub fn name(&self) -> String {
        match self {
            Self::Path(path) => path.display().to_string(),
            Self::Stdin => "-".to_owned(),
            Self::Memory { name, .. } => name.clone(),
        }
    }

    /// The path, if the source is a file or directory.
    #[must_use]
    pub fn path(&self) -> Option<&Path> {
        match self {
            Self::Path(path) => Some(path),
            _ => None,
        }
    }

    /// The size in bytes, if it is known before reading.
    #[must_use]
    pub fn size(&self) -> Option<u64> {
        match self {
            Self::Path(path) => {
                path.metadata().ok().filter(std::fs::Metadata::is_file).map(|meta| meta.len())
            }
            Self::Stdin => None,
            Self::Memory { bytes, .. } => Some(bytes.len() as u64),
        }
    }
}

impl From<PathBuf> for Source {
    fn from(path: PathBuf) -> Self {
        Self::Path(path)
    }
}

impl From<&Path> for Source {
    fn from(path: &Path) -> Self {
        Self::Path(path.to_owned())
    }
}

impl From<&str> for Source {
    fn from(path: &str) -> Self {
        Self::Path(path.into())
    }
}
