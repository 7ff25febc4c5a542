//! Many trials, one after the other.

use rana_graph::{Observer, Store, Turn};

use super::pace::Pace;
use super::{Trial, TrialError, TrialResult, Workspace};

/// A trial and what people call it.
#[derive(Clone, Debug)]
pub struct Named {
    /// What it is called in progress and logs.
    pub label: String,
    /// The trial.
    pub trial: Trial,
}

/// Does trials in their order and gives their results; what was finished before is only read.
///
/// # Errors
/// If a trial fails or is stopped. Finished trials are kept.
pub fn run_all(
    trials: &[Named],
    store: &Store,
    workspace: &Workspace,
    observer: &dyn Observer,
) -> Result<Vec<TrialResult>, TrialError> {
    let mut pace = Pace::default();
    let count = |pace: &mut Pace, trial: &Trial, result: &TrialResult| {
        // Vectors are made by few of them.
        pace.add(trial.work(), result.seconds.training + result.seconds.evaluation);
    };
    let mut results: Vec<Option<TrialResult>> = Vec::with_capacity(trials.len());
    for Named { trial, .. } in trials {
        let finished = trial.finished(store, workspace);
        if let Some(result) = &finished {
            count(&mut pace, trial, result);
        }
        results.push(finished);
    }
    let mut left: f64 = trials
        .iter()
        .zip(&results)
        .filter(|(_, result)| result.is_none())
        .map(|(of, _)| of.trial.work())
        .sum();
    let before = results.iter().flatten().count();
    if before > 0 {
        observer.note(&format!("{before} of {} trials were finished before", trials.len()));
    }
    let mut done = before;
    for (named, result) in trials.iter().zip(&mut results) {
        if result.is_some() {
            continue;
        }
        // Two trials of a list may be the same one.
        let finished = named.trial.finished(store, workspace);
        if finished.is_none() && observer.should_stop() {
            return Err(TrialError::Stopped);
        }
        done += 1;
        if finished.is_none() {
            let turn = Turn { at: done, of: trials.len(), label: &named.label, left: pace.left(left) };
            observer.turn(&turn);
        }
        let outcome = match finished {
            Some(finished) => finished,
            None => {
                let outcome = named.trial.run(store, workspace, observer)?;
                count(&mut pace, &named.trial, &outcome);
                outcome
            }
        };
        left -= named.trial.work();
        *result = Some(outcome);
    }
    Ok(results.into_iter().flatten().collect())
}
