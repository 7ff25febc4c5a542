//! Servers that run while a test does.

use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;
use std::thread::JoinHandle;

use rana::embed::ModelKind;
use rana::fewshot::{PretrainingFacts, SplitConfig, split};
use rana::fused_training::FusedTraining;
use rana::graph::{ImportOptions, Store, import};
use rana::models::fused::{EvidenceKind, FusedConfig};
use rana::models::training::RunConfig;
use rana::predictor::Predictor;
use rana::trial::{VectorPlan, VectorSettings};
use rana_server::{Limits, Server, ServerConfig, ServerSettings};
use tokio::sync::oneshot;

/// A small `rana-fused` run of UMLS, made once for all tests. It is never dropped, so it is in the target directory.
static RUN: LazyLock<(tempfile::TempDir, PathBuf)> = LazyLock::new(|| {
    let dir = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let graph = import(&[rana::umls()], &ImportOptions::default(), &()).unwrap().graph;
    let benchmark = split(&graph, &SplitConfig::default()).unwrap();
    Store::write(dir.path().join("kg"), &benchmark.graph, &benchmark.tasks, Vec::new()).unwrap();
    let store = Store::open(dir.path().join("kg")).unwrap();
    let vectors = |model| {
        let mut settings = VectorSettings::recommended(model, &store);
        settings.config.epochs = 20;
        settings.facts = PretrainingFacts::TrainTasks;
        VectorPlan::Train(settings)
    };
    let fused = FusedConfig { folds: 2, draws: 2, queries: 5, ..FusedConfig::default() };
    assert!(fused.evidence.contains(&EvidenceKind::Product));
    let training = FusedTraining {
        name: "small".to_owned(),
        vectors: vectors(ModelKind::TransE),
        products: Some(vectors(ModelKind::DistMult)),
        model: RunConfig::preset("rana", "umls").unwrap().with_trainer(|trainer| {
            (trainer.steps, trainer.eval_every, trainer.batch) = (30, 15, 8);
        }),
        fused,
    };
    let run = dir.path().join("run");
    training.train(&run, &store, &()).unwrap();
    (dir, run)
});

/// A server that stops when it is dropped.
pub(crate) struct Running {
    pub(crate) address: SocketAddr,
    pub(crate) dir: tempfile::TempDir,
    stop: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Running {
    /// A server with limits that tests can reach.
    pub(crate) fn new() -> Self {
        Self::with(limits(), None)
    }

    pub(crate) fn with(limits: Limits, token: Option<&str>) -> Self {
        Self::at(tempfile::tempdir().unwrap(), limits, token)
    }

    /// A server with the decisions of a directory.
    pub(crate) fn at(dir: tempfile::TempDir, limits: Limits, token: Option<&str>) -> Self {
        let config = ServerConfig::new(ServerSettings {
            address: "127.0.0.1:0".to_owned(),
            token: token.map(str::to_owned),
            decisions: dir.path().join("decisions.jsonl"),
            limits,
        })
        .unwrap();
        let server = Server::bind(Predictor::open(&RUN.1, None).unwrap(), config).unwrap();
        let address = server.address();
        let (stop, stopped) = oneshot::channel::<()>();
        let thread = std::thread::spawn(move || {
            server.run_until(async {
                let _ = stopped.await;
            });
        });
        Self { address, dir, stop: Some(stop), thread: Some(thread) }
    }

    pub(crate) fn decisions(&self) -> PathBuf {
        self.dir.path().join("decisions.jsonl")
    }

    /// Tells the server to stop, without waiting.
    pub(crate) fn begin_to_stop(&mut self) {
        drop(self.stop.take());
    }

    /// Stops and gives the directory of the decisions.
    pub(crate) fn stop(mut self) -> tempfile::TempDir {
        self.end();
        std::mem::replace(&mut self.dir, tempfile::tempdir().unwrap())
    }

    fn end(&mut self) {
        self.begin_to_stop();
        if let Some(thread) = self.thread.take() {
            thread.join().unwrap();
        }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.end();
    }
}

pub(crate) fn limits() -> Limits {
    Limits { body_bytes: 4096, supports: 20, heads: 10, top: 50, read_seconds: 2, ..Limits::default() }
}

/// A server for tests that change nothing.
pub(crate) static SHARED: LazyLock<Running> = LazyLock::new(Running::new);

pub(crate) fn run_path() -> &'static Path {
    &RUN.1
}
