//! Workers and their ceilings: a batch of cases in a process of its own, watched from outside.

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::{Duration, Instant};

use serde::Serialize;

use crate::fixture::Fixture;
use crate::target::{Outcome, Target};

/// Cases of one worker.
const BATCH: u64 = 250;
/// How often a worker is looked at.
const LOOK: Duration = Duration::from_millis(20);

/// What a case may take.
#[derive(Clone, Copy)]
pub(crate) struct Ceilings {
    pub(crate) memory_mb: u64,
    pub(crate) seconds: u64,
}

/// What became of the cases of a target.
#[derive(Serialize)]
pub(crate) struct Report {
    target: String,
    cases: u64,
    accepted: u64,
    refused: u64,
    peak_mb: u64,
    slowest_ms: u128,
    /// The slowest case, and the first at which memory was at its peak.
    slowest: u64,
    largest: u64,
    pub(crate) findings: Vec<Finding>,
}

/// A case that passed a ceiling or ended its worker.
#[derive(Serialize)]
pub(crate) struct Finding {
    case: u64,
    what: String,
    input: PathBuf,
}

impl Report {
    pub(crate) fn print(&self) {
        let Self { target, cases, accepted, refused, peak_mb, slowest_ms, slowest, largest, findings } = self;
        println!(
            "{target}: {cases} cases, {accepted} accepted, {refused} refused, peak {peak_mb} MB (case {largest}), \
             slowest {slowest_ms} ms (case {slowest}), {} findings",
            findings.len()
        );
        for Finding { case, what, input } in findings {
            println!("  case {case}: {what}; its input is {}", input.display());
        }
    }
}

/// Runs cases in this process: says which one begins, and waits to be dismissed at the end.
pub(crate) fn work(target: Target, seed: u64, cases: Range<u64>) {
    let dir = tempfile::tempdir().expect("a directory for inputs");
    let mut state = target.prepare(dir.path());
    for case in cases {
        println!("begin {case}");
        let outcome = state.run(seed, case);
        println!("{}", if outcome == Outcome::Accepted { "accepted" } else { "refused" });
    }
    println!("done");
    // The parent reads the peak of the memory before it closes the pipe.
    let _ = std::io::stdin().lines().next();
}

/// Runs cases of a target in workers.
pub(crate) fn supervise(
    target: Target,
    seed: u64,
    cases: u64,
    ceilings: Ceilings,
    fixture: &Fixture,
    findings: &Path,
) -> Report {
    let mut report = Report {
        target: target.to_string(),
        cases,
        accepted: 0,
        refused: 0,
        peak_mb: 0,
        slowest_ms: 0,
        slowest: 0,
        largest: 0,
        findings: Vec::new(),
    };
    let mut next = 0;
    while next < cases {
        let end = (next + BATCH).min(cases);
        next = match Worker::start(target, seed, next..end, fixture).watch(ceilings, &mut report) {
            Ok(()) => end,
            Err((case, what)) => {
                let input = findings.join(format!("{target}-{seed}-{case}"));
                let shown = Command::new(program())
                    .args(["show", &target.to_string(), &seed.to_string(), &case.to_string()])
                    .env(fixture.variable().0, fixture.variable().1)
                    .output();
                let _ = fs::create_dir_all(findings);
                let _ = fs::write(&input, shown.map(|shown| shown.stdout).unwrap_or_default());
                report.findings.push(Finding { case, what, input });
                case + 1
            }
        };
    }
    report
}

fn program() -> PathBuf {
    std::env::current_exe().expect("a program knows where it is")
}

struct Worker {
    child: Child,
    lines: Receiver<String>,
    stdin: ChildStdin,
    first: u64,
}

impl Worker {
    fn start(target: Target, seed: u64, cases: Range<u64>, fixture: &Fixture) -> Self {
        let numbers = [seed, cases.start, cases.end].map(|number| number.to_string());
        let mut child = Command::new(program())
            .args(["work", &target.to_string()])
            .args(&numbers)
            .env(fixture.variable().0, fixture.variable().1)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .expect("this program can start itself");
        let (stdin, stdout) = (child.stdin.take(), child.stdout.take());
        let (send, lines) = channel();
        std::thread::spawn(move || {
            for line in
                stdout.into_iter().flat_map(|stdout| BufReader::new(stdout).lines()).map_while(Result::ok)
            {
                if send.send(line).is_err() {
                    break;
                }
            }
        });
        Self { child, lines, stdin: stdin.expect("standard input is piped"), first: cases.start }
    }

    /// Watches the worker to its end; gives the case that passed a ceiling or ended it.
    fn watch(mut self, ceilings: Ceilings, report: &mut Report) -> Result<(), (u64, String)> {
        let (mut case, mut begun) = (self.first, Instant::now());
        loop {
            let line = self.lines.recv_timeout(LOOK);
            let peak = self.peak_mb();
            if peak > report.peak_mb {
                (report.peak_mb, report.largest) = (peak, case);
            }
            if peak > ceilings.memory_mb {
                return Err((case, self.end(format!("{peak} MB"))));
            }
            match line.as_deref() {
                Ok("accepted") => report.accepted += 1,
                Ok("refused") => report.refused += 1,
                Ok("done") => {
                    let _ = self.stdin.write_all(b"\n");
                    let _ = self.child.wait();
                    return Ok(());
                }
                Ok(line) => {
                    if let Some(number) = line.strip_prefix("begin ").and_then(|number| number.parse().ok()) {
                        (case, begun) = (number, Instant::now());
                    }
                    continue;
                }
                Err(RecvTimeoutError::Timeout) if begun.elapsed().as_secs() >= ceilings.seconds => {
                    return Err((case, self.end(format!("more than {} s", ceilings.seconds))));
                }
                Err(RecvTimeoutError::Timeout) => continue,
                Err(RecvTimeoutError::Disconnected) => {
                    let status = self.child.wait().map(|status| status.to_string()).unwrap_or_default();
                    return Err((case, format!("the worker ended: {status}")));
                }
            }
            let taken = begun.elapsed().as_millis();
            if taken > report.slowest_ms {
                (report.slowest_ms, report.slowest) = (taken, case);
            }
        }
    }

    /// The most memory that the worker had so far.
    fn peak_mb(&self) -> u64 {
        let status = fs::read_to_string(format!("/proc/{}/status", self.child.id())).unwrap_or_default();
        let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
        peak.and_then(|peak| peak.trim().trim_end_matches(" kB").parse::<u64>().ok())
            .map_or(0, |kb| kb / 1000)
    }

    fn end(&mut self, what: String) -> String {
        let _ = self.child.kill();
        let _ = self.child.wait();
        what
    }
}
