//! [`Keeper`]: takes decisions from many clients and writes them by one thread, many with one sync.

use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError, RwLock};
use std::thread::{self, JoinHandle};
use std::time::SystemTime;

use tokio::sync::{mpsc, oneshot};

use super::decision::{Decision, Draft};
use super::decision_index::Ledger;
use super::error::JournalError;
use super::journal::{Journal, Opened};
use super::torn_end::TornEnd;

/// Decisions that wait for the disk before clients have to wait to hand in more.
const WAITING: usize = 4096;

/// Keeps decisions: what it has said a number for is on the disk.
pub(crate) struct Keeper {
    sender: mpsc::Sender<Message>,
    ledger: Arc<RwLock<Ledger>>,
    thread: Mutex<Option<JoinHandle<()>>>,
    /// The end that was no whole decision when the file was opened.
    pub(crate) torn: Option<TornEnd>,
    /// How many decisions the file held when it was opened.
    pub(crate) found: usize,
}

enum Message {
    Keep(Draft, oneshot::Sender<Result<u64, String>>),
    Stop,
}

/// Why a decision was not kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum NotKept {
    /// The server is being stopped.
    Stopping,
    /// The disk refused.
    Disk(String),
}

impl Keeper {
    /// Opens the file of decisions and starts the thread that writes it.
    ///
    /// # Errors
    /// If the file cannot be used.
    pub(crate) fn open(path: &Path) -> Result<Self, JournalError> {
        let Opened { journal, decisions, torn } = Journal::open(path)?;
        let found = decisions.len();
        let mut ledger = Ledger::default();
        decisions.into_iter().for_each(|decision| ledger.add(decision));
        let ledger = Arc::new(RwLock::new(ledger));
        let (sender, receiver) = mpsc::channel(WAITING);
        let thread = thread::Builder::new()
            .name("decisions".to_owned())
            .spawn({
                let ledger = Arc::clone(&ledger);
                move || write(journal, receiver, &ledger)
            })
            .map_err(|source| JournalError::Io { path: path.to_owned(), source })?;
        Ok(Self { sender, ledger, thread: Mutex::new(Some(thread)), torn, found })
    }

    /// Keeps a decision and gives its number once the disk has it.
    pub(crate) async fn keep(&self, draft: Draft) -> Result<u64, NotKept> {
        let (reply, kept) = oneshot::channel();
        self.sender.send(Message::Keep(draft, reply)).await.map_err(|_| NotKept::Stopping)?;
        kept.await.map_err(|_| NotKept::Stopping)?.map_err(NotKept::Disk)
    }

    /// Reads what counts now.
    pub(crate) fn read<T>(&self, read: impl FnOnce(&Ledger) -> T) -> T {
        read(&self.ledger.read().unwrap_or_else(PoisonError::into_inner))
    }

    /// Keeps what was handed in so far and takes no more.
    pub(crate) fn close(&self) {
        let thread = self.thread.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(thread) = thread {
            // Fails only if the thread has ended.
            let _ = self.sender.blocking_send(Message::Stop);
            let _ = thread.join();
        }
    }
}

/// Writes all that has come in while the disk was busy at once.
fn write(mut journal: Journal, mut receiver: mpsc::Receiver<Message>, ledger: &RwLock<Ledger>) {
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
            // Before it is acknowledged, so that a client reads what was acknowledged.
            let mut ledger = ledger.write().unwrap_or_else(PoisonError::into_inner);
            decisions.into_iter().for_each(|decision| ledger.add(decision));
        }
        for (number, reply) in numbers.into_iter().zip(replies) {
            // A client that went away needs no answer.
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
        let keeper = Arc::new(Keeper::open(&path).unwrap());
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).build().unwrap();
        let tasks: Vec<_> = (0..500)
            .map(|number| {
                let keeper = Arc::clone(&keeper);
                runtime.spawn(async move { keeper.keep(draft(format!("{number}"))).await.unwrap() })
            })
            .collect();
        let numbers: BTreeSet<u64> = tasks.into_iter().map(|task| runtime.block_on(task).unwrap()).collect();
        assert_eq!(numbers, (1..=500).collect());
        assert_eq!(keeper.read(|ledger| ledger.of(None).count()), 500);
        keeper.close();
        keeper.close();
        assert_eq!(runtime.block_on(keeper.keep(draft("late".to_owned()))), Err(NotKept::Stopping));
        drop(keeper);
        let again = Keeper::open(&path).unwrap();
        assert_eq!((again.found, again.torn.as_ref()), (500, None));
        again.close();
    }
}
