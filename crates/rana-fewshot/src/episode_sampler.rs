//! [`EpisodeSampler`]: draws episodes from tasks by an [`EpisodeConfig`].

use rana_graph::{Pair, Task};
use rand::RngExt;
use rand::seq::{SliceRandom, index};
use rand_chacha::ChaCha8Rng;
use serde::{Deserialize, Serialize};

use super::episode::Episode;
use super::episode_error::EpisodeError;
use super::task_draw::TaskDraw;
use crate::seed::{Purpose, rng};

/// How the facts of an episode are drawn.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Sampling {
    /// Without replacement, so that no fact is both given and asked for.
    ///
    /// A task needs one fact more than there are shots; where fewer than the wanted queries are
    /// left, the episode has those. A fact that the file repeats counts once per line.
    #[default]
    Disjoint,
    /// With replacement, as the public code of MetaR does, so that support and query may overlap.
    ///
    /// Tasks with at most [`small_task`](EpisodeConfig::small_task) facts or candidates are skipped.
    Metar,
}

/// What the episodes look like.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct EpisodeConfig {
    /// Support pairs per episode (K).
    pub shots: usize,
    /// Query pairs per episode.
    pub queries: usize,
    /// How tasks are drawn.
    pub task_draw: TaskDraw,
    /// How facts are drawn.
    pub sampling: Sampling,
    /// Under [`Sampling::Metar`], tasks with at most this many facts or candidates are skipped.
    pub small_task: usize,
    /// The same seed gives the same episodes.
    pub seed: u64,
}

impl Default for EpisodeConfig {
    /// Five shots and three queries, disjoint: the values most public code shares.
    fn default() -> Self {
        Self {
            shots: 5,
            queries: 3,
            task_draw: TaskDraw::default(),
            sampling: Sampling::default(),
            small_task: 10,
            seed: 0,
        }
    }
}

impl EpisodeConfig {
    fn check(&self) -> Result<(), EpisodeError> {
        if self.shots == 0 {
            return Err(EpisodeError::NoShots);
        }
        if self.queries == 0 {
            return Err(EpisodeError::NoQueries);
        }
        Ok(())
    }

    fn is_large_enough(&self, task: &Task<'_>) -> bool {
        match self.sampling {
            Sampling::Disjoint => task.facts.len() > self.shots,
            Sampling::Metar => task.facts.len().min(task.candidates.len()) > self.small_task,
        }
    }

    fn requirement(&self) -> String {
        match self.sampling {
            Sampling::Disjoint => format!("more than shots = {} facts", self.shots),
            Sampling::Metar => format!("more than small_task = {} facts and candidates", self.small_task),
        }
    }

    fn draw_from(&self, task: Task<'_>, rng: &mut ChaCha8Rng) -> Episode {
        let facts = task.facts;
        let wanted = self.shots.saturating_add(self.queries);
        let mut drawn: Vec<Pair> = match self.sampling {
            Sampling::Disjoint => index::sample(rng, facts.len(), wanted.min(facts.len()))
                .into_iter()
                .map(|at| facts[at])
                .collect(),
            Sampling::Metar => (0..wanted).map(|_| facts[rng.random_range(0..facts.len())]).collect(),
        };
        let query = drawn.split_off(self.shots);
        Episode { relation: task.relation, support: drawn, query }
    }
}

/// An endless, seeded stream of episodes.
///
/// Under [`TaskDraw::Uniform`], tasks are walked in shuffled order and reshuffled at each round, so every relation comes up
/// equally often whatever its size. Small tasks are left out before the walk; MetaR steps over
/// them during it, which replays the start of the old order whenever it wraps on one.
///
/// Episode number `n` depends on the configuration, the tasks and `n` only. A stopped run
/// therefore resumes from [`drawn`](Self::drawn) alone, with [`resume`](Self::resume), at the cost
/// of one shuffle of the tasks.
///
/// ```
/// use rana_fewshot::{EpisodeConfig, EpisodeSampler};
/// use rana_graph::{EntityId, Pair, RelationId, Split, TaskSetBuilder};
/// let mut builder = TaskSetBuilder::default();
/// let facts = (0..9).map(|n| Pair { head: EntityId(n), tail: EntityId(n + 1) }).collect();
/// builder.add_task(Split::Train, RelationId::forward(0), facts);
/// let tasks = builder.finish();
/// let mut episodes = EpisodeSampler::new(tasks.iter(), EpisodeConfig::default())?;
/// let episode = episodes.draw();
/// assert_eq!((episode.support.len(), episode.query.len()), (5, 3));
/// # Ok::<(), rana_fewshot::EpisodeError>(())
/// ```
#[derive(Clone, Debug)]
pub struct EpisodeSampler<'t> {
    config: EpisodeConfig,
    tasks: Vec<Task<'t>>,
    /// The positions in `tasks`, in the order of the current round; empty where tasks are drawn by size.
    walk: Vec<u32>,
    /// Where the weight of each task ends, in the order of `tasks`; empty where all weigh the same.
    weight_ends: Vec<f64>,
    drawn: u64,
}

impl<'t> EpisodeSampler<'t> {
    /// A sampler over those of `tasks` that are large enough.
    ///
    /// # Errors
    /// If an episode would be empty, or if no task is large enough.
    pub fn new(
        tasks: impl IntoIterator<Item = Task<'t>>,
        config: EpisodeConfig,
    ) -> Result<Self, EpisodeError> {
        config.check()?;
        let offered: Vec<Task<'t>> = tasks.into_iter().collect();
        let tasks: Vec<Task<'t>> =
            offered.iter().copied().filter(|task| config.is_large_enough(task)).collect();
        if tasks.is_empty() {
            return Err(EpisodeError::NoTask {
                tasks: offered.len(),
                sampling: config.sampling,
                requirement: config.requirement(),
            });
        }
        let weight_ends = config.task_draw.weight_ends(tasks.iter().map(|task| task.facts.len()));
        let mut sampler = Self { config, tasks, walk: Vec::new(), weight_ends, drawn: 0 };
        sampler.start_round();
        Ok(sampler)
    }

    /// The tasks that are large enough, in the order they were given.
    #[must_use]
    pub fn tasks(&self) -> &[Task<'t>] {
        &self.tasks
    }

    /// How many episodes were drawn so far: all there is to know to go on from here.
    #[must_use]
    pub fn drawn(&self) -> u64 {
        self.drawn
    }

    /// The same sampler as it stands after `drawn` episodes.
    #[must_use]
    pub fn resume(mut self, drawn: u64) -> Self {
        self.drawn = drawn;
        self.start_round();
        self
    }

    /// Draws the next episode.
    pub fn draw(&mut self) -> Episode {
        let next = self.next_task();
        let task = self.tasks[next];
        let mut rng = rng(self.config.seed, Purpose::Episode, [self.drawn, 0]);
        self.drawn += 1;
        self.config.draw_from(task, &mut rng)
    }

    /// Where among the tasks that of the next episode is.
    fn next_task(&mut self) -> usize {
        if let Some(sum) = self.weight_ends.last() {
            let at = sum * rng(self.config.seed, Purpose::TaskDraw, [self.drawn, 0]).random::<f64>();
            return self.weight_ends.partition_point(|&end| end <= at).min(self.tasks.len() - 1);
        }
        let place = self.drawn % self.tasks.len() as u64;
        if place == 0 {
            self.start_round();
        }
        self.walk[place as usize] as usize
    }

    fn start_round(&mut self) {
        if !self.weight_ends.is_empty() {
            return;
        }
        let round = self.drawn / self.tasks.len() as u64;
        self.walk = (0..self.tasks.len() as u32).collect();
        self.walk.shuffle(&mut rng(self.config.seed, Purpose::Walk, [round, 0]));
    }
}
