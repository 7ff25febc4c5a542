//! Statements on their way from a reader to a graph, gathered in batches.
//!
//! Reading and parsing run on one thread, looking names up on another; and within a batch the
//! cache misses of the lookups overlap. Both matter for graphs larger than the cache.

use std::sync::mpsc::{SyncSender, sync_channel};

use crate::format::FormatError;
use crate::graph::LabelRank;
use crate::held_out::HeldOut;
use crate::names::hash;

/// How many statements are worth gathering.
const FULL: usize = 512;
/// How many batches are handed over at once: waking the other thread has its price.
const TOGETHER: usize = 16;
/// How many such loads a reader may be ahead.
const AHEAD: usize = 4;

/// What a statement in a batch says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// Head, relation, tail.
    Fact,
    /// The same, held out.
    HeldOut(HeldOut),
    /// An entity has a type (the third name).
    Type,
    /// A name has a label (the third name).
    Label(LabelRank),
}

/// A statement by names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Named<'b> {
    pub(crate) kind: Kind,
    pub(crate) names: [&'b str; 3],
    /// Their hashes, computed where they were read.
    pub(crate) hashes: [u32; 3],
    /// The line it stood in, where that is known.
    pub(crate) line: Option<u64>,
}

/// A statement of a batch: its names are found by where they end in the text.
#[derive(Debug)]
struct Entry {
    kind: Kind,
    ends: [usize; 3],
    hashes: [u32; 3],
    line: Option<u64>,
}

/// A batch of statements, their text in one piece.
#[derive(Debug, Default)]
pub(crate) struct Batch {
    text: String,
    entries: Vec<Entry>,
}

impl Batch {
    fn push(&mut self, kind: Kind, names: [&str; 3], line: Option<u64>) {
        let ends = names.map(|name| {
            self.text.push_str(name);
            self.text.len()
        });
        self.entries.push(Entry { kind, ends, hashes: names.map(hash), line });
    }

    /// The statements in their order.
    pub(crate) fn iter(&self) -> impl Iterator<Item = Named<'_>> {
        let mut start = 0;
        self.entries.iter().map(move |&Entry { kind, ends: [first, second, third], hashes, line }| {
            let names = [&self.text[start..first], &self.text[first..second], &self.text[second..third]];
            start = third;
            Named { kind, names, hashes, line }
        })
    }
}

/// The end of the line at which a reader puts statements in.
pub(crate) struct BatchSender {
    batch: Batch,
    load: Vec<Batch>,
    sender: SyncSender<Vec<Batch>>,
}

/// The other end of the line has stopped taking; its own error says why.
#[derive(Debug)]
pub(crate) struct Stopped;

impl BatchSender {
    pub(crate) fn push(&mut self, kind: Kind, names: [&str; 3], line: Option<u64>) -> Result<(), Stopped> {
        self.batch.push(kind, names, line);
        if self.batch.entries.len() == FULL {
            let next = Batch {
                text: String::with_capacity(self.batch.text.len()),
                entries: Vec::with_capacity(FULL),
            };
            self.load.push(std::mem::replace(&mut self.batch, next));
        }
        if self.load.len() < TOGETHER { Ok(()) } else { self.send() }
    }

    fn send(&mut self) -> Result<(), Stopped> {
        self.sender.send(std::mem::take(&mut self.load)).map_err(|_| Stopped)
    }

    /// Hands over what is left at the end.
    fn finish(mut self) -> Result<(), Stopped> {
        self.load.push(std::mem::take(&mut self.batch));
        self.send()
    }
}

/// Runs `produce` on a thread of its own and `consume` on this one.
///
/// An error of `consume` speaks of something earlier in the input than one of `produce`, so it is
/// the one that is returned.
pub(crate) fn pipeline<T: Send>(
    produce: impl FnOnce(&mut BatchSender) -> Result<T, FormatError> + Send,
    mut consume: impl FnMut(&Batch) -> Result<(), FormatError>,
) -> Result<T, FormatError> {
    let (sender, receiver) = sync_channel(AHEAD);
    std::thread::scope(|scope| {
        let producer = scope.spawn(move || {
            let mut sender = BatchSender { batch: Batch::default(), load: Vec::new(), sender };
            let produced = produce(&mut sender);
            // If nobody listens any more, somebody has an error to return.
            let _ = sender.finish();
            produced
        });
        let consumed = receiver.iter().flatten().try_for_each(|batch| consume(&batch));
        drop(receiver);
        let produced = producer.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
        consumed.and(produced)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::format::Place;

    fn fact(number: usize) -> [String; 3] {
        [format!("héad{number}"), String::new(), format!("t{}", number % 7)]
    }

    fn produce(sender: &mut BatchSender, count: usize) -> Result<usize, FormatError> {
        for number in 0..count {
            let names = fact(number);
            let names = [names[0].as_str(), names[1].as_str(), names[2].as_str()];
            if sender.push(Kind::Fact, names, Some(number as u64)).is_err() {
                return Ok(number);
            }
        }
        Ok(count)
    }

    #[test]
    fn statements_arrive_whole_and_in_order() {
        let count = 3 * TOGETHER * FULL + 5;
        let mut arrived = 0;
        let produced = pipeline(
            |sender| produce(sender, count),
            |batch| {
                for statement in batch.iter() {
                    assert_eq!(statement.names.map(str::to_owned), fact(arrived));
                    assert_eq!(statement.line, Some(arrived as u64));
                    arrived += 1;
                }
                Ok(())
            },
        );
        assert_eq!((produced.unwrap(), arrived), (count, count));
    }

    #[test]
    fn whoever_takes_can_stop_the_line() {
        let error = || FormatError::malformed(Place::file("f"), "enough");
        let outcome = pipeline(|sender| produce(sender, 1_000_000), |_| Err(error()));
        assert_eq!(outcome.unwrap_err().to_string(), "f: enough");
    }
}
