//! [`OpenSource`]: a source that is being read: decompressed, counted and hashed.

use std::cell::RefCell;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Cursor, Read};
use std::path::{Path, PathBuf};
use std::rc::Rc;

use sha2::{Digest, Sha256};

use super::limits::{Ceiling, Passed, RECORD, passed};
use super::source::Source;
use super::{FormatError, Place};
use crate::observer::Observer;

/// How many bytes of a file are used to detect its format.
const SAMPLE: usize = 64 * 1024;

const BUFFER: usize = 256 * 1024;

/// Some editors write it at the start of a text; it is no part of the content.
const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

impl Source {
    /// Opens the source for reading, decompressing gzip and zstd by their first bytes.
    /// A compressed source may be at most `most` bytes long after decompression.
    pub(crate) fn open<'p>(
        &self,
        most: Option<u64>,
        progress: &'p dyn Observer,
    ) -> Result<OpenSource<'p>, FormatError> {
        let name = self.name();
        let raw: Box<dyn Read> = match self {
            Self::Path(path) => Box::new(File::open(path).map_err(FormatError::io(&name, "open the file"))?),
            Self::Stdin => Box::new(io::stdin().lock()),
            Self::Memory { bytes, .. } => Box::new(Cursor::new(bytes.clone())),
        };
        let hashing = Rc::new(RefCell::new(HashingReader { raw, hash: Sha256::new(), bytes: 0, progress }));
        let mut raw = BufReader::with_capacity(BUFFER, SharedReader(Rc::clone(&hashing)));
        let magic = fill(&mut raw, 4).map_err(FormatError::io(&name, "read the file"))?;
        let compression = Compression::of(&magic);
        refuse_wrong_ending(&name, compression)?;
        let raw = Cursor::new(magic).chain(raw);
        let plain: Box<dyn Read + 'p> = match compression {
            None => Box::new(raw),
            Some(method) => match most {
                Some(allowed) => {
                    Box::new(Ceiling { content: decompress(&name, method, raw)?, left: allowed, allowed })
                }
                None => decompress(&name, method, raw)?,
            },
        };
        let mut content = BufReader::with_capacity(BUFFER, plain);
        let plain_file =
            self.path().filter(|path| path.is_file() && compression.is_none()).map(Path::to_owned);
        let content_later = Box::new(io::empty());
        let mut open =
            OpenSource { name, compression, sample: Vec::new(), plain_file, content: content_later, hashing };
        open.sample = sample(&mut content).map_err(|error| open.read_error(error))?;
        open.content = Box::new(Cursor::new(open.sample.clone()).chain(content));
        Ok(open)
    }
}

/// A source that is being read.
pub(crate) struct OpenSource<'p> {
    pub(crate) name: String,
    pub(crate) compression: Option<Compression>,
    /// The first bytes of the decompressed content, by which the format is detected.
    pub(crate) sample: Vec<u8>,
    /// The file on disk, where the source is a plain one that can be read in any order.
    #[cfg_attr(not(feature = "parquet"), expect(dead_code, reason = "only Parquet is read out of order"))]
    pub(crate) plain_file: Option<PathBuf>,
    /// The whole decompressed content, the sample included, without a byte order mark.
    pub(crate) content: Box<dyn BufRead + 'p>,
    hashing: Rc<RefCell<HashingReader<'p>>>,
}

impl OpenSource<'_> {
    /// The error of a failed read: of the decompressor or of the operating system.
    pub(crate) fn read_error(&self, source: io::Error) -> FormatError {
        read_error(&self.name, self.compression, source)
    }

    /// The name without a compression ending.
    pub(crate) fn plain_name(&self) -> &str {
        let name = self.name.as_str();
        [".gz", ".zst", ".zstd"].iter().find_map(|ending| name.strip_suffix(ending)).unwrap_or(name)
    }

    /// Whether the content is longer than the sample.
    pub(crate) fn sample_is_cut(&self) -> bool {
        self.sample.len() >= SAMPLE
    }

    /// The whole content in memory.
    pub(crate) fn read_all(&mut self) -> Result<Vec<u8>, FormatError> {
        let mut bytes = Vec::new();
        self.content.read_to_end(&mut bytes).map_err(|error| self.read_error(error))?;
        Ok(bytes)
    }

    /// Reads the bytes that a parser left unread, and returns the size and the SHA-256 of the raw file.
    pub(crate) fn finish(self) -> Result<(u64, String), FormatError> {
        let Self { name, content, hashing, .. } = self;
        drop(content);
        let mut hashing = hashing.borrow_mut();
        io::copy(&mut *hashing, &mut io::sink()).map_err(FormatError::io(&name, "read the file"))?;
        let digest = std::mem::take(&mut hashing.hash).finalize();
        Ok((hashing.bytes, digest.iter().map(|byte| format!("{byte:02x}")).collect()))
    }
}

/// The error of a failed read. Decompressors report damaged data as an `io::Error` too.
pub(crate) fn read_error(name: &str, compression: Option<Compression>, source: io::Error) -> FormatError {
    if let Some(Passed { limit, line }) = passed(&source) {
        return FormatError::Limit {
            place: Place { line: (line > 0).then_some(line), ..Place::file(name) },
            limit,
        };
    }
    match compression {
        // An error number means that the operating system failed, not the decompressor.
        Some(method) if source.raw_os_error().is_none() => FormatError::Compression {
            file: name.to_owned(),
            method: method.name(),
            problem: source.to_string(),
        },
        _ => FormatError::Io { file: name.to_owned(), action: "read the file", source },
    }
}

/// A compression method that is recognised by its first bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Compression {
    Gzip,
    Zstd,
}

impl Compression {
    fn of(magic: &[u8]) -> Option<Self> {
        match magic {
            [0x1f, 0x8b, ..] => Some(Self::Gzip),
            [0x28, 0xb5, 0x2f, 0xfd] => Some(Self::Zstd),
            _ => None,
        }
    }

    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Gzip => "gzip",
            Self::Zstd => "zstd",
        }
    }
}

/// The decompressed content of a file.
#[cfg(feature = "compression")]
pub(super) fn decompress<'p>(
    name: &str,
    method: Compression,
    raw: impl BufRead + 'p,
) -> Result<Box<dyn Read + 'p>, FormatError> {
    Ok(match method {
        Compression::Gzip => Box::new(flate2::bufread::MultiGzDecoder::new(raw)),
        Compression::Zstd => Box::new(
            zstd::Decoder::with_buffer(raw).map_err(FormatError::io(name, "start the zstd decoder"))?,
        ),
    })
}

#[cfg(not(feature = "compression"))]
pub(super) fn decompress<'p>(
    name: &str,
    method: Compression,
    _: impl BufRead + 'p,
) -> Result<Box<dyn Read + 'p>, FormatError> {
    Err(FormatError::MissingFeature { file: name.to_owned(), format: method.name(), feature: "compression" })
}

/// Fails if the file name ends like that of a compressed file but the content is not compressed by that
/// method, because the error of a parser would not explain it.
pub(super) fn refuse_wrong_ending(name: &str, compression: Option<Compression>) -> Result<(), FormatError> {
    let expected = match name.rsplit_once('.').map(|(_, ending)| ending) {
        Some("gz") => Some(Compression::Gzip),
        Some("zst" | "zstd") => Some(Compression::Zstd),
        Some("bz2" | "xz" | "zip") => {
            return Err(FormatError::UnsupportedCompression { file: name.to_owned() });
        }
        _ => None,
    };
    match expected {
        Some(expected) if compression != Some(expected) => Err(FormatError::Compression {
            file: name.to_owned(),
            method: expected.name(),
            problem: format!("the file does not begin as {} does", expected.name()),
        }),
        _ => Ok(()),
    }
}

/// The first bytes of a content after its byte order mark, with at least one whole line of it unless that is too long.
pub(super) fn sample(content: &mut impl Read) -> io::Result<Vec<u8>> {
    let mut bytes = fill(content, BYTE_ORDER_MARK.len())?;
    if bytes == BYTE_ORDER_MARK {
        bytes.clear();
    }
    bytes.extend(fill(content, SAMPLE - bytes.len())?);
    while bytes.len() >= SAMPLE && bytes.len() < RECORD && memchr::memchr(b'\n', &bytes).is_none() {
        let before = bytes.len();
        bytes.extend(fill(content, before)?);
        if bytes.len() == before {
            break;
        }
    }
    Ok(bytes)
}

/// Reads up to `wanted` bytes, fewer only at the end.
pub(super) fn fill(reader: &mut impl Read, wanted: usize) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    reader.take(wanted as u64).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// Counts and hashes the raw bytes that are read, and reports progress.
pub(super) struct HashingReader<'p> {
    raw: Box<dyn Read>,
    hash: Sha256,
    bytes: u64,
    progress: &'p dyn Observer,
}

impl Read for HashingReader<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.raw.read(buffer)?;
        self.hash.update(&buffer[..count]);
        self.bytes += count as u64;
        self.progress.advance(count as u64);
        Ok(count)
    }
}

/// A handle for the decompressor; [`OpenSource`] keeps another, to read the rest of the file at the end.
pub(super) struct SharedReader<'p>(Rc<RefCell<HashingReader<'p>>>);

impl Read for SharedReader<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.0.borrow_mut().read(buffer)
    }
}
