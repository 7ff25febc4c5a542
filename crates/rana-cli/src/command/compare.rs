//! `rana compare`: two models side by side, relation by relation and query by query.

use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use clap::{Args, ValueHint, value_parser};
use rana::embed::link_prediction::TieRule;
use rana::eval::{
    CandidatePolicy, CardSettings, ComparedQueries, Comparison, FewShotError, QueryChange, QueryKind, Spread,
};
use rana::fewshot::FewShotModel;
use rana::graph::{EntityId, Graph, Split};
use rana::models::{Baseline, OpenedRun};
use rana::predictor::relation;
use serde::Serialize;

use super::eval::named;
use crate::error::CliError;
use crate::terminal::{BOLD, DIM, Terminal};
use crate::text_table::table;
use crate::thread_pool::in_pool;

/// Compare the model of a run with another one, relation by relation.
///
/// Both models answer the same queries behind the same supports. The table says what each relation contributes to the
/// difference of the MRR over all queries, and what queries contribute whose tail is a neighbour of the head or a tail
/// of the support. --relation lists the queries of one relation whose ranks changed most.
#[derive(Debug, Args)]
#[command(after_long_help = "\
Examples:
  rana compare run                                  (with the same model before training)
  rana compare run other-run
  rana compare run rules --on dev
  rana compare run other-run --relation teamcoach --top 20")]
pub(crate) struct CompareArgs {
    /// The run.
    #[arg(value_name = "RUN", value_hint = ValueHint::DirPath)]
    run: PathBuf,
    /// What it is compared with: another run on the same graph, or a row of its evaluation card by name, such as
    /// untrained, mean-translation or rules. If not given, the model before training; if it has none, the first row.
    #[arg(value_name = "OTHER", value_hint = ValueHint::DirPath)]
    other: Option<String>,
    /// The tasks: test or dev.
    #[arg(long, value_name = "SPLIT", default_value_t = Split::Test)]
    on: Split,
    /// Support pairs per task; if not given, as many as the run was trained with.
    #[arg(long, value_name = "K")]
    shots: Option<usize>,
    /// Random supports per task that are compared in addition to the official one; 0 for none.
    #[arg(long, value_name = "N", default_value_t = 5)]
    draws: usize,
    /// The candidates that tails are ranked among: typed, all, or sampled:K.
    #[arg(long, value_name = "WHICH", default_value_t)]
    candidates: CandidatePolicy,
    /// The rank of the true answer among equal scores: realistic (the middle), optimistic or pessimistic.
    #[arg(long, value_name = "RULE", default_value_t)]
    ties: TieRule,
    /// List the queries of this relation that changed most.
    #[arg(long, value_name = "RELATION")]
    relation: Option<String>,
    /// How many of its queries are listed.
    #[arg(long, value_name = "N", default_value_t = 10, requires = "relation")]
    top: usize,
    /// The seed of the random supports and the sampled candidates.
    #[arg(long, value_name = "N", default_value_t = 0)]
    seed: u64,
    /// The graph of the runs, if it has moved.
    #[arg(long, value_name = "KG", value_hint = ValueHint::DirPath)]
    graph: Option<PathBuf>,
    /// How many threads to use; all processors if not given.
    #[arg(long, value_name = "N", value_parser = value_parser!(u16).range(1..=1024))]
    threads: Option<u16>,
}

pub(crate) fn run(args: &CompareArgs, terminal: &Terminal) -> Result<(), CliError> {
    let run = OpenedRun::open(&args.run, args.graph.as_deref(), None)?;
    let graph = &run.store.graph;
    let asked = args.relation.as_deref().map(|text| relation(graph, text)).transpose();
    let asked = asked.map_err(|error| CliError::Usage(format!("--relation: {error}")))?;
    if run.store.tasks.of(args.on).next().is_none() {
        return Err(CliError::NoTasks { store: run.store.path.display().to_string(), split: args.on });
    }
    let compared = in_pool(args.threads, || args.compare(&run, terminal))??;
    let changes = match asked.map(|asked| graph.relation_name(asked)) {
        None => None,
        Some(name) => {
            let of = compared.relations.iter().find(|of| of.relation == name).ok_or_else(|| {
                let tasks = compared.relations.iter().map(|of| of.relation.as_str());
                let tasks = tasks.collect::<Vec<_>>().join(", ");
                CliError::Usage(format!("--relation: `{name}` is no {} task; there are {tasks}", args.on))
            })?;
            Some(of.changes.iter().take(args.top).map(|change| ListedChange::new(change, graph)).collect())
        }
    };
    let report = Report { comparison: &compared, changes };
    terminal.result(&report, |out| report.print(out))
}

/// How the name of the row of an untrained model ends.
const UNTRAINED: &str = "untrained";

/// The other model of a comparison, and what it is called.
struct Other {
    name: String,
    model: Arc<dyn FewShotModel>,
}

impl CompareArgs {
    fn compare(&self, run: &OpenedRun, terminal: &Terminal) -> Result<Comparison, CliError> {
        let settings = CardSettings {
            split: self.on,
            shots: self.shots.unwrap_or(run.opened.shots),
            draws: self.draws,
            candidates: self.candidates,
            tie_rule: self.ties,
            seed: self.seed,
            ..CardSettings::default()
        };
        let other = self.other(run)?;
        let name = self.run.display().to_string();
        let models: [(&str, &dyn FewShotModel); 2] =
            [(&name, &*run.opened.model), (&other.name, &*other.model)];
        let progress = terminal.progress();
        settings
            .compare(models, &run.store.graph, &run.store.tasks, &progress)
            .map_err(|error: FewShotError| named(error, &run.store))
    }

    fn other(&self, run: &OpenedRun) -> Result<Other, CliError> {
        if let Some(path) = self.other.as_deref().map(Path::new).filter(|path| OpenedRun::is_at(path)) {
            let other = OpenedRun::open(path, self.graph.as_deref(), None)?;
            if other.store.manifest.data != run.store.manifest.data {
                return Err(CliError::Usage(format!(
                    "{} and {} are runs on different graphs or tasks, so their ranks cannot be compared",
                    self.run.display(),
                    path.display()
                )));
            }
            return Ok(Other { name: path.display().to_string(), model: other.opened.model });
        }
        let mut rows = run.opened.beside.clone();
        for baseline in Baseline::all(&run.store.graph).into_iter().rev() {
            rows.push((baseline.kind().name().to_owned(), Arc::new(baseline)));
        }
        let names = rows.iter().map(|(name, _)| name.as_str()).collect::<Vec<_>>().join(", ");
        // The untrained model has the name of the model in its own.
        let is = |name: &str, wanted: &str| {
            name == wanted || name.strip_suffix(wanted).is_some_and(|of| of.ends_with('-'))
        };
        let place = match &self.other {
            None => rows.iter().position(|(name, _)| is(name, UNTRAINED)).or(Some(0)),
            Some(wanted) => rows.iter().position(|(name, _)| is(name, wanted)),
        };
        let (name, model) = place.and_then(|place| rows.into_iter().nth(place)).ok_or_else(|| {
            let other = self.other.as_deref().unwrap_or_default();
            CliError::Usage(format!("`{other}` is neither a run nor a row of the card; rows are {names}"))
        })?;
        Ok(Other { name, model })
    }
}

/// A query whose rank changed, by name.
#[derive(Serialize)]
struct ListedChange {
    head: String,
    tail: String,
    ranks: [f64; 2],
    gain: f64,
    kind: QueryKind,
    #[serde(skip)]
    titles: [String; 2],
    /// How many facts head and tail have.
    facts: [usize; 2],
}

impl ListedChange {
    fn new(change: &QueryChange, graph: &Graph) -> Self {
        let name = |entity: EntityId| graph.entity_name(entity).to_owned();
        let title = |entity: EntityId| graph.entity_title(entity).into_owned();
        let (head, tail) = (change.pair.head, change.pair.tail);
        Self {
            head: name(head),
            tail: name(tail),
            ranks: change.ranks,
            gain: change.gain,
            kind: change.kind,
            titles: [title(head), title(tail)],
            facts: [graph.degree(head), graph.degree(tail)],
        }
    }
}

#[derive(Serialize)]
struct Report<'a> {
    #[serde(flatten)]
    comparison: &'a Comparison,
    #[serde(skip_serializing_if = "Option::is_none")]
    changes: Option<Vec<ListedChange>>,
}

impl Report<'_> {
    fn print(&self, out: &mut dyn Write) -> io::Result<()> {
        let of = self.comparison;
        let [one, other] = &of.models;
        let spread = of.resampled_gain.map_or_else(String::new, |gain| {
            format!("; {:+.3} ± {:.3} on random supports", gain.mean, gain.sd)
        });
        writeln!(
            out,
            "{BOLD}{one}{BOLD:#} has {BOLD}{:+.3}{BOLD:#} MRR against {BOLD}{other}{BOLD:#}: {:.3} and {:.3} over {} queries of the \
             {} tasks, {} shots{spread}",
            of.total.gain(),
            of.total.mrr[0],
            of.total.mrr[1],
            of.total.queries,
            of.split,
            of.shots,
        )?;
        writeln!(
            out,
            "{DIM}the column \"of the total\" says what a row contributes to that difference{DIM:#}\n"
        )?;
        let relations = of.relations.iter().map(|relation| {
            let name = relation.label.clone().unwrap_or_else(|| relation.relation.clone());
            row(name, &relation.queries, relation.resampled_gain)
        });
        writeln!(out, "{}\n", table(titles("relation"), relations))?;
        let kinds = of.kinds.iter().map(|of| row(of.kind.text().to_owned(), &of.queries, None));
        writeln!(out, "{}", table(titles("queries where"), kinds))?;
        let Some(changes) = &self.changes else { return Ok(()) };
        let rows = changes.iter().map(|change| {
            [
                change.titles[0].clone(),
                change.titles[1].clone(),
                place(change.ranks[0]),
                place(change.ranks[1]),
                format!("{:+.3}", change.gain),
                format!("{} and {}", change.facts[0], change.facts[1]),
                change.kind.text().to_owned(),
            ]
        });
        let titles = ["head", "right tail", "#rank", "#other's rank", "#gain", "#facts of both", "where"];
        writeln!(out, "\n{}", table(titles, rows))
    }
}

fn titles(first: &str) -> [&str; 8] {
    [
        first,
        "#queries",
        "#MRR",
        "#other's MRR",
        "#better",
        "#worse",
        "#of the total",
        "#gain, random supports",
    ]
}

fn row(name: String, of: &ComparedQueries, resampled: Option<Spread>) -> [String; 8] {
    [
        name,
        of.queries.to_string(),
        format!("{:.3}", of.mrr[0]),
        format!("{:.3}", of.mrr[1]),
        of.better.to_string(),
        of.worse.to_string(),
        format!("{:+.4}", of.contribution),
        resampled.map_or_else(String::new, |gain| format!("{:+.3} ± {:.3}", gain.mean, gain.sd)),
    ]
}

/// A rank; in the middle of ties it may end in a half.
fn place(rank: f64) -> String {
    if rank.fract() == 0.0 { format!("{rank:.0}") } else { format!("{rank:.1}") }
}
