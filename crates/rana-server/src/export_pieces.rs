//! [`ExportPieces`]: an exported file that is made piece by piece, while its client reads it.

use std::io::{self, Write};
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll};

use hyper::body::{Body, Bytes, Frame};
use rana::answer_writer::{AnswerError, AnswerFormat, AnswerWriter};

use crate::app::App;
use crate::decisions::KeptDecision;
use crate::export::fact;

/// A piece is sent when it has so many bytes. It takes about a millisecond to make.
const PIECE: usize = 64 * 1024;

/// An exported file that is made piece by piece. A client that reads slowly holds one piece and not the whole file.
pub(crate) struct ExportPieces {
    app: Arc<App>,
    decisions: Vec<Arc<KeptDecision>>,
    /// How many of them are written.
    written: usize,
    /// What writes them; `None` at the end.
    writer: Option<AnswerWriter<Piece>>,
    piece: Piece,
}

impl ExportPieces {
    /// # Errors
    /// If this program cannot write the format.
    pub(crate) fn new(
        app: Arc<App>,
        format: AnswerFormat,
        decisions: Vec<Arc<KeptDecision>>,
    ) -> Result<Self, AnswerError> {
        let piece = Piece::default();
        let writer = Some(AnswerWriter::new(format, piece.clone())?);
        Ok(Self { app, decisions, written: 0, writer, piece })
    }

    /// The next piece; empty at the end.
    fn next(&mut self) -> Result<Vec<u8>, AnswerError> {
        let Some(mut writer) = self.writer.take() else { return Ok(Vec::new()) };
        let graph = self.app.predictor.graph();
        while let Some(decision) = self.decisions.get(self.written) {
            writer.write(&fact(graph, decision))?;
            self.written += 1;
            if self.piece.length() >= PIECE {
                self.writer = Some(writer);
                return Ok(self.piece.take());
            }
        }
        writer.finish()?;
        Ok(self.piece.take())
    }
}

impl Body for ExportPieces {
    type Data = Bytes;
    type Error = AnswerError;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        _: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, AnswerError>>> {
        Poll::Ready(match self.next() {
            Ok(piece) if piece.is_empty() => None,
            Ok(piece) => Some(Ok(Frame::data(piece.into()))),
            Err(error) => Some(Err(error)),
        })
    }
}

/// What was written and not yet sent.
#[derive(Clone, Default)]
struct Piece(Arc<Mutex<Vec<u8>>>);

impl Piece {
    fn length(&self) -> usize {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).len()
    }

    fn take(&self) -> Vec<u8> {
        std::mem::take(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl Write for Piece {
    fn write(&mut self, part: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).extend_from_slice(part);
        Ok(part.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
