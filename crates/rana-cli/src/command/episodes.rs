//! `rana episodes`: draws episodes of tasks and prints them.

use std::io::{self, Write};
use std::path::PathBuf;

use clap::{Args, ValueEnum, ValueHint, value_parser};
use rana::fewshot::{
    CandidateConfig, DataMode, Episode, EpisodeConfig, EpisodeError, EpisodeSampler, Sampling, TrainingTasks,
    first_k, resampled,
};
use rana::graph::{Graph, Pair, Split, Store};
use serde::Serialize;

use crate::error::CliError;
use crate::terminal::{BOLD, DIM, Terminal};

/// Show episodes: the support and query pairs a model would be given.
#[derive(Debug, Args)]
#[command(after_long_help = "\
Examples:
  rana episodes kg --count 3                      training episodes
  rana episodes kg --sampling metar               drawn with replacement, as the public code does
  rana episodes kg --mode in-train --json         background relations are tasks too
  rana episodes kg --split test --shots 5         the official draw: the first five facts
  rana episodes kg --split test --draw resampled  a random support, fixed by --seed and --number")]
pub(crate) struct EpisodesArgs {
    /// A graph store with tasks.
    #[arg(value_name = "KG", value_hint = ValueHint::DirPath)]
    store: PathBuf,
    /// The split to draw from.
    #[arg(long, default_value = "train")]
    split: Split,
    /// How supports are drawn: at random for training, the first K or resampled for evaluation.
    /// By default random for train, first for dev and test.
    #[arg(long, value_name = "HOW")]
    draw: Option<Draw>,
    /// Support pairs per episode.
    #[arg(long, short = 'k', value_name = "K", default_value_t = 5)]
    shots: usize,
    /// Query pairs per training episode.
    #[arg(long, value_name = "N", default_value_t = 3)]
    queries: usize,
    #[arg(long, default_value_t, help = samplings())]
    sampling: Sampling,
    /// Which tasks are trained on: pretrain, in-train, discard or in-train-pretrained.
    #[arg(long, default_value_t)]
    mode: DataMode,
    /// How many training episodes to draw.
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = value_parser!(u32).range(1..=1_000_000))]
    count: u32,
    /// The number of the resampled draw, from 0.
    #[arg(long, value_name = "N", default_value_t = 0)]
    number: u64,
    /// The same seed gives the same episodes.
    #[arg(long, value_name = "N", default_value_t = 0)]
    seed: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Draw {
    Random,
    First,
    Resampled,
}

fn samplings() -> String {
    let names: Vec<&str> = Sampling::ALL.iter().map(|sampling| sampling.name()).collect();
    format!("How the facts of a training episode are drawn: {}", names.join(" or "))
}

pub(crate) fn run(args: &EpisodesArgs, terminal: &Terminal) -> Result<(), CliError> {
    let default = if args.split == Split::Train { Draw::Random } else { Draw::First };
    let draw = args.draw.unwrap_or(default);
    if args.mode != DataMode::default() && (draw != Draw::Random || args.split != Split::Train) {
        return Err(CliError::Usage(
            "--mode chooses training tasks; it needs --split train and --draw random".into(),
        ));
    }
    let store = Store::open(&args.store)?;
    if store.tasks.of(args.split).next().is_none() && !args.mode.uses_background_tasks() {
        let store = args.store.display();
        return Err(CliError::NoTasks { store: store.to_string(), split: args.split });
    }
    let episodes = match draw {
        Draw::Random => random(args, &store)?,
        Draw::First => each_task(args, &store, |task| first_k(task, args.shots))?,
        Draw::Resampled => {
            each_task(args, &store, |task| resampled(task, args.shots, args.seed, args.number))?
        }
    };
    let shown: Vec<ShownEpisode<'_>> =
        episodes.iter().map(|episode| ShownEpisode::new(&store.graph, episode)).collect();
    terminal.result(&shown, |out| shown.iter().try_for_each(|episode| episode.print(out)))
}

fn random(args: &EpisodesArgs, store: &Store) -> Result<Vec<Episode>, CliError> {
    let config = EpisodeConfig {
        shots: args.shots,
        queries: args.queries,
        sampling: args.sampling,
        seed: args.seed,
        ..EpisodeConfig::default()
    };
    let training;
    let mut sampler = if args.split == Split::Train {
        training =
            TrainingTasks::new(&store.graph, &store.tasks, None, args.mode, CandidateConfig::default());
        EpisodeSampler::new(training.iter(), config)?
    } else {
        EpisodeSampler::new(store.tasks.of(args.split), config)?
    };
    Ok((0..args.count).map(|_| sampler.draw()).collect())
}

fn each_task(
    args: &EpisodesArgs,
    store: &Store,
    draw: impl Fn(&rana::graph::Task<'_>) -> Result<Episode, EpisodeError>,
) -> Result<Vec<Episode>, CliError> {
    store.tasks.of(args.split).map(|task| draw(&task).map_err(|error| named(error, &store.graph))).collect()
}

/// The same error with the name of the relation instead of its id.
fn named(error: EpisodeError, graph: &Graph) -> CliError {
    match error {
        EpisodeError::TooFewFacts { relation, facts, shots } => {
            CliError::TooFewFacts { relation: graph.relation_name(relation).to_owned(), facts, shots }
        }
        error => error.into(),
    }
}

/// An episode with names in place of ids.
#[derive(Serialize)]
struct ShownEpisode<'g> {
    relation: &'g str,
    support: Vec<[&'g str; 2]>,
    query: Vec<[&'g str; 2]>,
}

impl<'g> ShownEpisode<'g> {
    fn new(graph: &'g Graph, episode: &Episode) -> Self {
        let named = |pairs: &[Pair]| {
            pairs.iter().map(|pair| [graph.entity_name(pair.head), graph.entity_name(pair.tail)]).collect()
        };
        Self {
            relation: graph.relation_name(episode.relation),
            support: named(&episode.support),
            query: named(&episode.query),
        }
    }

    fn print(&self, out: &mut dyn Write) -> io::Result<()> {
        const SHOWN_QUERIES: usize = 5;
        writeln!(out, "{BOLD}{}{BOLD:#}", self.relation)?;
        for [head, tail] in &self.support {
            writeln!(out, "  support  {head} → {tail}")?;
        }
        for [head, tail] in self.query.iter().take(SHOWN_QUERIES) {
            writeln!(out, "  query    {head} → {tail}")?;
        }
        if self.query.len() > SHOWN_QUERIES {
            writeln!(out, "  {DIM}… and {} more queries{DIM:#}", self.query.len() - SHOWN_QUERIES)?;
        }
        Ok(())
    }
}
