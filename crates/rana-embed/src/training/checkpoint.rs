//! [`Checkpoint`]: the full state of a training, in one file.
//!
//! The file has magic bytes, a version, the length of a JSON header, the header, the tables as little-endian `f32`,
//! and the xxh3 checksum of all that.

use std::fs::File;
use std::io::{self, BufReader, Read, Write};
use std::path::Path;

use rana_graph::write_file_atomically;
use serde::{Deserialize, Serialize};
use xxhash_rust::xxh3::Xxh3Default;

use super::checkpoint_error::CheckpointError;
use crate::embed_config::EmbedConfig;
use crate::huge_pages::zeros;
use crate::parameters::Parameters;

const MAGIC: &[u8; 8] = b"RANAEMB\n";
pub(super) const VERSION: u32 = 1;
/// Magic, version and header length.
const PREFIX: u64 = 8 + 4 + 8;
const CHECKSUM: u64 = 8;

/// The position within the training.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Position {
    /// The number of finished epochs.
    pub epoch: u32,
    /// The number of finished facts in the current epoch.
    pub fact: usize,
    /// Queries in the current epoch so far; a fact with queries on both sides has two.
    pub queries: u64,
    /// The sum of their losses.
    pub loss: f64,
}

/// The best parameters so far, by validation.
#[derive(Clone, Debug, PartialEq)]
pub struct Best {
    /// The score of the validation.
    pub score: f64,
    /// The number of epochs before it.
    pub epoch: u32,
    /// The parameters at that time.
    pub parameters: Parameters,
}

/// The full state of a training, to resume it.
///
/// Random numbers are keyed by seed, epoch and position, so they need no state.
#[derive(Clone, Debug, PartialEq)]
pub struct Checkpoint {
    /// The settings of the training.
    pub config: EmbedConfig,
    /// The position within the training.
    pub position: Position,
    /// The current parameters.
    pub parameters: Parameters,
    /// The best so far, if there was a validation.
    pub best: Option<Best>,
    /// The number of validations since the best.
    pub misses: u32,
    pub(crate) fingerprint: u64,
    pub(crate) entity_state: Vec<f32>,
    pub(crate) relation_state: Vec<f32>,
}

/// The header before the tables.
#[derive(Serialize, Deserialize)]
pub(super) struct Header {
    config: EmbedConfig,
    fingerprint: u64,
    position: Position,
    misses: u32,
    entities: usize,
    relations: usize,
    best: Option<BestHeader>,
}

#[derive(Clone, Copy, Serialize, Deserialize)]
struct BestHeader {
    score: f64,
    epoch: u32,
}

impl Header {
    /// The number of values of each table, in the order of the file; `None` if it overflows.
    fn table_lengths(&self) -> Option<Vec<usize>> {
        let EmbedConfig { model, dim, optimiser, inverses, .. } = self.config;
        let width = model.relation_width(dim);
        let rows = self.relations.checked_mul(if inverses { 2 } else { 1 })?;
        let (entities, relations) = (self.entities.checked_mul(dim)?, rows.checked_mul(width)?);
        let mut lengths = vec![
            entities,
            relations,
            self.entities.checked_mul(optimiser.state_width(dim))?,
            rows.checked_mul(optimiser.state_width(width))?,
        ];
        if self.best.is_some() {
            lengths.extend([entities, relations]);
        }
        Some(lengths)
    }

    /// The length of a file with this header, which takes `header` bytes itself.
    fn file_length(&self, header: u64) -> Option<u64> {
        let numbers =
            self.table_lengths()?.into_iter().try_fold(0usize, |sum, length| sum.checked_add(length))?;
        (numbers as u64).checked_mul(4)?.checked_add(PREFIX)?.checked_add(header)?.checked_add(CHECKSUM)
    }
}

impl Checkpoint {
    /// The state at the start of a training.
    pub(crate) fn start(config: EmbedConfig, fingerprint: u64, parameters: Parameters) -> Self {
        let width = parameters.relation_width();
        let state = |rows: usize, width: usize| zeros(rows * config.optimiser.state_width(width));
        Self {
            entity_state: state(parameters.entity_count(), config.dim),
            relation_state: state(parameters.relations.len() / width, width),
            position: Position::default(),
            best: None,
            misses: 0,
            config,
            fingerprint,
            parameters,
        }
    }

    /// Ends an epoch and gives its mean loss per fact and side.
    pub(crate) fn end_epoch(&mut self) -> f64 {
        let mean = self.position.loss / self.position.queries as f64;
        self.position = Position { epoch: self.position.epoch + 1, ..Position::default() };
        mean
    }

    /// Stores the parameters if they are the best so far. Returns whether they are.
    pub(crate) fn record_validation(&mut self, score: f64) -> bool {
        let is_best = self.best.as_ref().is_none_or(|best| score > best.score);
        if is_best {
            self.best = Some(Best { score, epoch: self.position.epoch, parameters: self.parameters.clone() });
            self.misses = 0;
        } else {
            self.misses += 1;
        }
        is_best
    }

    pub(crate) fn is_out_of_patience(&self) -> bool {
        let patience = self.config.validation.patience;
        patience > 0 && self.misses >= patience
    }

    /// Writes the checkpoint to a file, completely or not at all.
    ///
    /// # Errors
    /// If the file cannot be written.
    pub fn write(&self, path: &Path) -> Result<(), CheckpointError> {
        write_file_atomically(path, |out| self.write_to(out))
            .map_err(|source| CheckpointError::Io { path: path.into(), source })
    }

    fn write_to(&self, out: impl Write) -> io::Result<()> {
        let header = serde_json::to_vec(&Header {
            config: self.config.clone(),
            fingerprint: self.fingerprint,
            position: self.position,
            misses: self.misses,
            entities: self.parameters.entity_count(),
            relations: self.parameters.relation_count(),
            best: self.best.as_ref().map(|best| BestHeader { score: best.score, epoch: best.epoch }),
        })?;
        let mut out = Summed { inner: out, sum: Xxh3Default::new() };
        out.write_all(MAGIC)?;
        out.write_all(&VERSION.to_le_bytes())?;
        out.write_all(&(header.len() as u64).to_le_bytes())?;
        out.write_all(&header)?;
        let best = self.best.iter().flat_map(|best| [&best.parameters.entities, &best.parameters.relations]);
        let now =
            [&self.parameters.entities, &self.parameters.relations, &self.entity_state, &self.relation_state];
        for table in now.into_iter().chain(best) {
            out.write_all(bytemuck::cast_slice(table))?;
        }
        let sum = out.sum.digest();
        out.inner.write_all(&sum.to_le_bytes())
    }

    /// Whether a file begins with the magic bytes of a checkpoint.
    #[must_use]
    pub fn is_checkpoint(path: &Path) -> bool {
        let mut magic = [0; MAGIC.len()];
        File::open(path).and_then(|mut file| file.read_exact(&mut magic)).is_ok() && &magic == MAGIC
    }

    /// Reads a checkpoint.
    ///
    /// # Errors
    /// If the file cannot be read, is not a checkpoint, or was truncated or altered.
    pub fn read(path: &Path) -> Result<Self, CheckpointError> {
        let io = |source| CheckpointError::Io { path: path.into(), source };
        let file = File::open(path).map_err(io)?;
        let found = file.metadata().map_err(io)?.len();
        let mut file = Summed { inner: BufReader::with_capacity(256 * 1024, file), sum: Xxh3Default::new() };
        if found < PREFIX {
            return Err(CheckpointError::NoCheckpoint { path: path.into() });
        }
        let (mut magic, mut version, mut length) = ([0; 8], [0; 4], [0; 8]);
        file.read_exact(&mut magic).map_err(io)?;
        if &magic != MAGIC {
            return Err(CheckpointError::NoCheckpoint { path: path.into() });
        }
        file.read_exact(&mut version).map_err(io)?;
        if u32::from_le_bytes(version) != VERSION {
            let found = u32::from_le_bytes(version);
            return Err(CheckpointError::Version { path: path.into(), found });
        }
        file.read_exact(&mut length).map_err(io)?;
        let length = u64::from_le_bytes(length);
        // Check the length of the file before any allocation.
        let wrong_length = |expected| CheckpointError::Length { path: path.into(), found, expected };
        let least = length.saturating_add(PREFIX + CHECKSUM);
        if found < least {
            return Err(wrong_length(least));
        }
        let mut header = vec![0; length as usize];
        file.read_exact(&mut header).map_err(io)?;
        let bad_header = |message: String| CheckpointError::Header { path: path.into(), message };
        let header: Header =
            serde_json::from_slice(&header).map_err(|error| bad_header(error.to_string()))?;
        header.config.check().map_err(|source| CheckpointError::Config { path: path.into(), source })?;
        let (Some(lengths), Some(expected)) = (header.table_lengths(), header.file_length(length)) else {
            return Err(bad_header("the tables it describes are too large".into()));
        };
        if found != expected {
            return Err(wrong_length(expected));
        }
        let mut tables = Vec::with_capacity(lengths.len());
        for length in lengths {
            let mut table = zeros(length);
            file.read_exact(bytemuck::cast_slice_mut(&mut table)).map_err(io)?;
            tables.push(table);
        }
        let sum = file.sum.digest();
        let mut stored = [0; 8];
        file.inner.read_exact(&mut stored).map_err(io)?;
        if u64::from_le_bytes(stored) != sum {
            return Err(CheckpointError::Checksum { path: path.into() });
        }
        Ok(Self::assemble(header, tables))
    }

    fn assemble(header: Header, tables: Vec<Vec<f32>>) -> Self {
        let EmbedConfig { model, norm, dim, inverses, .. } = header.config;
        let mut tables = tables.into_iter();
        let mut next = || tables.next().unwrap_or_default();
        let parameters = |entities, relations| Parameters { model, norm, dim, inverses, entities, relations };
        let now = parameters(next(), next());
        let (entity_state, relation_state) = (next(), next());
        let best = header.best.map(|BestHeader { score, epoch }| Best {
            score,
            epoch,
            parameters: parameters(next(), next()),
        });
        Self {
            config: header.config,
            position: header.position,
            parameters: now,
            best,
            misses: header.misses,
            fingerprint: header.fingerprint,
            entity_state,
            relation_state,
        }
    }
}

/// A reader or writer that computes the checksum of its data.
struct Summed<T> {
    inner: T,
    sum: Xxh3Default,
}

impl<W: Write> Write for Summed<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = self.inner.write(bytes)?;
        self.sum.update(&bytes[..written]);
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.inner.flush()
    }
}

impl<R: Read> Read for Summed<R> {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        let read = self.inner.read(bytes)?;
        self.sum.update(&bytes[..read]);
        Ok(read)
    }
}
