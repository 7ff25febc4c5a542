//! Batches of statements, sent from the thread that reads to the thread that builds a graph.
//!
//! Reading and parsing run on one thread, looking names up on another; and within a batch the
//! cache misses of the lookups overlap. Both make imports of graphs larger than the cache faster.

use std::sync::mpsc::{SyncSender, sync_channel};

use crate::graph_builder::LabelRank;
use crate::held_out::HeldOut;
use crate::names::hash;

const STATEMENTS_PER_BATCH: usize = 512;
/// Batches are sent several at a time, because waking the other thread is expensive.
const BATCHES_PER_MESSAGE: usize = 16;
/// How many messages may wait in the channel.
const MESSAGES_AHEAD: usize = 4;

/// The kind of a statement in a batch.
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
pub(crate) struct NamedStatement<'b> {
    pub(crate) kind: Kind,
    pub(crate) names: [&'b str; 3],
    /// The hashes of the names, computed by the thread that reads.
    pub(crate) hashes: [u32; 3],
    /// The line of the file, if that is known.
    pub(crate) line: Option<u64>,
}

/// A statement of a batch; its names are parts of the batch's text, given by their ends.
#[derive(Debug)]
struct Entry {
    kind: Kind,
    ends: [usize; 3],
    hashes: [u32; 3],
    line: Option<u64>,
}

/// A batch of statements; the names of all are stored in one string.
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
    pub(crate) fn iter(&self) -> impl Iterator<Item = NamedStatement<'_>> {
        let mut start = 0;
        self.entries.iter().map(move |&Entry { kind, ends: [first, second, third], hashes, line }| {
            let names = [&self.text[start..first], &self.text[first..second], &self.text[second..third]];
            start = third;
            NamedStatement { kind, names, hashes, line }
        })
    }
}

/// The sending half of the channel from a reader to a graph.
pub(crate) struct BatchSender {
    batch: Batch,
    message: Vec<Batch>,
    sender: SyncSender<Vec<Batch>>,
}

/// The receiver has stopped because of its own error, which the pipeline returns.
#[derive(Debug)]
pub(crate) struct Disconnected;

impl BatchSender {
    pub(crate) fn push(
        &mut self,
        kind: Kind,
        names: [&str; 3],
        line: Option<u64>,
    ) -> Result<(), Disconnected> {
        self.batch.push(kind, names, line);
        if self.batch.entries.len() == STATEMENTS_PER_BATCH {
            let next = Batch {
                text: String::with_capacity(self.batch.text.len()),
                entries: Vec::with_capacity(STATEMENTS_PER_BATCH),
            };
            self.message.push(std::mem::replace(&mut self.batch, next));
        }
        if self.message.len() < BATCHES_PER_MESSAGE { Ok(()) } else { self.send() }
    }

    fn send(&mut self) -> Result<(), Disconnected> {
        self.sender.send(std::mem::take(&mut self.message)).map_err(|_| Disconnected)
    }

    /// Sends the statements that are left at the end.
    fn finish(mut self) -> Result<(), Disconnected> {
        self.message.push(std::mem::take(&mut self.batch));
        self.send()
    }
}

/// Runs `produce` on a new thread and `consume` on this one.
///
/// If both fail, the error of `consume` is returned: it concerns an earlier part of the input.
pub(crate) fn pipeline<T: Send, E: Send>(
    produce: impl FnOnce(&mut BatchSender) -> Result<T, E> + Send,
    mut consume: impl FnMut(&Batch) -> Result<(), E>,
) -> Result<T, E> {
    let (sender, receiver) = sync_channel(MESSAGES_AHEAD);
    std::thread::scope(|scope| {
        let producer = scope.spawn(move || {
            let mut sender = BatchSender { batch: Batch::default(), message: Vec::new(), sender };
            let produced = produce(&mut sender);
            // Sending fails only if `consume` has failed, and then its error is returned.
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
    use crate::format::{FormatError, Place};

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
        let count = 3 * BATCHES_PER_MESSAGE * STATEMENTS_PER_BATCH + 5;
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
    fn an_error_of_the_consumer_ends_the_pipeline() {
        let error = || FormatError::malformed(Place::file("f"), "enough");
        let outcome = pipeline(|sender| produce(sender, 1_000_000), |_| Err(error()));
        assert_eq!(outcome.unwrap_err().to_string(), "f: enough");
    }
}
