//! Statements on their way from a reader to a graph, gathered in batches.
//!
//! Reading and parsing run on one thread, looking names up on another; and within a batch the
//! cache misses of the lookups overlap. Both matter for graphs larger than the cache.

use std::sync::mpsc::{SyncSender, sync_channel};

use crate::format::FormatError;
use crate::graph::LabelRank;
use crate::held_out::HeldOut;

/// How many statements are worth gathering.
const FULL: usize = 512;
/// How many batches a reader may be ahead.
const AHEAD: usize = 16;

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
    /// The line it stood in, where that is known.
    pub(crate) line: Option<u64>,
}

/// A batch of statements, their text in one piece.
#[derive(Debug, Default)]
pub(crate) struct Batch {
    text: String,
    /// For each statement its kind, where its names end in `text`, and its line.
    entries: Vec<(Kind, [usize; 3], Option<u64>)>,
}

impl Batch {
    fn push(&mut self, statement: Named<'_>) {
        let ends = statement.names.map(|name| {
            self.text.push_str(name);
            self.text.len()
        });
        self.entries.push((statement.kind, ends, statement.line));
    }

    /// The statements in their order.
    pub(crate) fn iter(&self) -> impl Iterator<Item = Named<'_>> {
        let mut start = 0;
        self.entries.iter().map(move |&(kind, [first, second, third], line)| {
            let names = [&self.text[start..first], &self.text[first..second], &self.text[second..third]];
            start = third;
            Named { kind, names, line }
        })
    }

    /// The facts among the statements, by name.
    pub(crate) fn facts(&self) -> Vec<[&str; 3]> {
        self.iter()
            .filter(|statement| statement.kind == Kind::Fact)
            .map(|statement| statement.names)
            .collect()
    }
}

/// The end of the line at which a reader puts statements in.
pub(crate) struct BatchSender {
    batch: Batch,
    sender: SyncSender<Batch>,
}

/// The other end of the line has stopped taking; its own error says why.
#[derive(Debug)]
pub(crate) struct Stopped;

impl BatchSender {
    pub(crate) fn push(&mut self, statement: Named<'_>) -> Result<(), Stopped> {
        self.batch.push(statement);
        if self.batch.entries.len() < FULL { Ok(()) } else { self.flush() }
    }

    fn flush(&mut self) -> Result<(), Stopped> {
        let full =
            Batch { text: String::with_capacity(self.batch.text.len()), entries: Vec::with_capacity(FULL) };
        self.sender.send(std::mem::replace(&mut self.batch, full)).map_err(|_| Stopped)
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
            let mut sender = BatchSender { batch: Batch::default(), sender };
            let produced = produce(&mut sender);
            // If nobody listens any more, somebody has an error to return.
            let _ = sender.flush();
            produced
        });
        let consumed = receiver.iter().try_for_each(|batch| consume(&batch));
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
            if sender.push(Named { kind: Kind::Fact, names, line: Some(number as u64) }).is_err() {
                return Ok(number);
            }
        }
        Ok(count)
    }

    #[test]
    fn statements_arrive_whole_and_in_order() {
        let count = 3 * FULL + 5;
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
