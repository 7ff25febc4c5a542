//! [`DecisionWriter`]: collects decisions of many clients and writes them in one thread, many with one sync.

use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError, RwLock};
use std::thread::{self, JoinHandle};
use std::time::SystemTime;

use tokio::sync::{mpsc, oneshot};

use super::decision::{Decision, Draft};
use super::decision_index::DecisionIndex;
use super::error::JournalError;
use super::journal::{Journal, Opened};
use super::torn_end::TornEnd;

/// The most decisions that wait for the disk; further clients wait to submit.
const WAITING: usize = 4096;

/// Saves decisions. A decision that has got its number is on disk.
pub(crate) struct DecisionWriter {
    sender: mpsc::Sender<Message>,
    index: Arc<RwLock<DecisionIndex>>,
    thread: Mutex<Option<JoinHandle<()>>>,
    /// The incomplete end that the file had when it was opened.
    pub(crate) torn: Option<TornEnd>,
    /// The number of decisions in the file when it was opened.
    pub(crate) found: usize,
}

enum Message {
    Keep(Draft, oneshot::Sender<Result<u64, String>>),
    Stop,
}

/// Why a decision was not saved.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum NotKept {
    /// The server is being stopped.
    Stopping,
    /// The disk failed.
    Disk(String),
}

impl DecisionWriter {
    /// Opens the file of decisions and starts the thread that writes it.
    ///
    /// # Errors
    /// If the file cannot be used.
    pub(crate) fn open(path: &Path) -> Result<Self, JournalError> {
        let Opened { journal, decisions, torn } = Journal::open(path)?;
        let found = decisions.len();
        let mut index = DecisionIndex::default();
        decisions.iter().for_each(|decision| index.add(decision));
        drop(decisions);
        let index = Arc::new(RwLock::new(index));
        let (sender, receiver) = mpsc::channel(WAITING);
        let thread = thread::Builder::new()
            .name("decisions".to_owned())
            .spawn({
                let index = Arc::clone(&index);
                move || write(journal, receiver, &index)
            })
            .map_err(|source| JournalError::Io { path: path.to_owned(), source })?;
        Ok(Self { sender, index, thread: Mutex::new(Some(thread)), torn, found })
    }

    /// Keeps nothing: for servers whose clients may record no decisions. No file is opened.
    pub(crate) fn none() -> Self {
        // There is no receiver, so what is submitted is refused.
        let (sender, _) = mpsc::channel(1);
        let index = Arc::new(RwLock::new(DecisionIndex::default()));
        Self { sender, index, thread: Mutex::new(None), torn: None, found: 0 }
    }

    /// Saves a decision and gives its number once it is on disk.
    pub(crate) async fn keep(&self, draft: Draft) -> Result<u64, NotKept> {
        let (reply, kept) = oneshot::channel();
        self.sender.send(Message::Keep(draft, reply)).await.map_err(|_| NotKept::Stopping)?;
        kept.await.map_err(|_| NotKept::Stopping)?.map_err(NotKept::Disk)
    }

    /// Reads the current verdicts.
    pub(crate) fn read<T>(&self, read: impl FnOnce(&DecisionIndex) -> T) -> T {
        read(&self.index.read().unwrap_or_else(PoisonError::into_inner))
    }

    /// Saves all submitted decisions and accepts no more.
    pub(crate) fn close(&self) {
        let thread = self.thread.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(thread) = thread {
            // This fails only if the thread has ended.
            let _ = self.sender.blocking_send(Message::Stop);
            let _ = thread.join();
        }
    }
}

/// Writes decisions. All that arrived while the disk was busy are written together.
fn write(mut journal: Journal, mut receiver: mpsc::Receiver<Message>, index: &RwLock<DecisionIndex>) {
    let mut is_stopping = false;
    while !is_stopping && let Some(first) = receiver.blocking_recv() {
        let mut batch = Vec::new();
        let mut next = Some(first);
        while let Some(message) = next {
            match message {
                Message::Keep(draft, reply) => batch.push((draft, reply)),
                Message::Stop => is_stopping = true,
            }
            next = if is_stopping || batch.len() == WAITING { None } else { receiver.try_recv().ok() };
        }
        let time = humantime::format_rfc3339_seconds(SystemTime::now()).to_string();
        let (drafts, replies): (Vec<_>, Vec<_>) = batch.into_iter().unzip();
        let decisions: Vec<Decision> = (journal.next_number()..)
            .zip(drafts)
            .map(|(number, draft)| Decision::new(number, draft, time.clone()))
            .collect();
        let outcome = if decisions.is_empty() { Ok(()) } else { journal.append(&decisions) };
        let numbers: Vec<u64> = decisions.iter().map(|decision| decision.number).collect();
        if outcome.is_ok() {
            // Update the verdicts before the reply, so that a client can read what was acknowledged.
            let mut index = index.write().unwrap_or_else(PoisonError::into_inner);
            decisions.iter().for_each(|decision| index.add(decision));
        }
        for (number, reply) in numbers.into_iter().zip(replies) {
            // The client may have disconnected.
            let _ = reply.send(outcome.clone().map(|()| number));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::decision::Verdict;
    use super::*;
    use std::collections::BTreeSet;

    fn draft(tail: String) -> Draft {
        Draft {
            relation: "treats".to_owned(),
            head: "aspirin".to_owned(),
            tail,
            verdict: Verdict::Accepted,
            score: None,
            confidence: None,
        }
    }

    #[test]
    fn many_at_once_lose_nothing() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("decisions.jsonl");
        let writer = Arc::new(DecisionWriter::open(&path).unwrap());
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).build().unwrap();
        let tasks: Vec<_> = (0..500)
            .map(|number| {
                let writer = Arc::clone(&writer);
                runtime.spawn(async move { writer.keep(draft(format!("{number}"))).await.unwrap() })
            })
            .collect();
        let numbers: BTreeSet<u64> = tasks.into_iter().map(|task| runtime.block_on(task).unwrap()).collect();
        assert_eq!(numbers, (1..=500).collect());
        assert_eq!(writer.read(|index| index.of(None).count()), 500);
        writer.close();
        writer.close();
        assert_eq!(runtime.block_on(writer.keep(draft("late".to_owned()))), Err(NotKept::Stopping));
        drop(writer);
        let again = DecisionWriter::open(&path).unwrap();
        assert_eq!((again.found, again.torn.as_ref()), (500, None));
        again.close();
    }
}
