//! [`EvidenceLearning`]: trust in evidence, what it is worth, and how sure answers are.
//!
//! All of it is measured on relations that were withheld. They are cut into parts: trust in evidence is learned from
//! the other parts when a part is asked about, so no relation is measured by what was learned from it.

use rana_eval::confidence::{Calibration, CalibrationExamples, CalibrationSize};
use rana_graph::{Graph, Observer, Task, Unit};
use rana_models::fused::{
    EvidenceKind, Examples, FusedConfig, FusedModel, Sources, Trust, TrustedSource, prior_trust,
};

use super::error::LearnError;
use super::measuring::{SHOTS, measure};
use super::quality::{LEARNED, Quality};
use super::withheld_relations::WithheldRelations;
use crate::schedule::Stage;
use rana_fewshot::Direction;

/// Parts that relations are cut into.
pub(super) const PARTS: usize = 5;
/// How many scores may be spent on confidence.
const SCORES: usize = 300_000_000;

/// The stages of the learning, and how long each is expected to take, for so many relations and entities.
pub(super) fn stages(relations: usize, entities: usize, direction: Direction) -> [Stage; 3] {
    let evidence = relations as f64 * (0.2 + entities as f64 * 1.5e-6);
    let fits = (PARTS + 1) as f64 * relations as f64 * SECONDS_PER_FIT;
    [
        Stage::new(stage(TRUST, direction), evidence + fits),
        Stage::new(stage(QUALITY, direction), 1.2 * evidence),
        Stage::new(stage(CONFIDENCE, direction), evidence),
    ]
}

/// The name of a stage.
fn stage(name: &str, direction: Direction) -> String {
    match direction {
        Direction::Tails => name.to_owned(),
        Direction::Heads => format!("{name}, for heads"),
    }
}

/// How long trust takes to fit to the examples of a relation.
const SECONDS_PER_FIT: f64 = 0.08;
const TRUST: &str = "learning how far each kind of evidence is trusted";
const QUALITY: &str = "measuring on relations left out";
const CONFIDENCE: &str = "learning how sure answers are";

/// What was learned about evidence.
pub(super) struct EvidenceLearning {
    /// How far each source is trusted.
    pub(super) trusted: Vec<TrustedSource>,
    /// What that is worth; none if no relation could be withheld.
    pub(super) quality: Option<Quality>,
    /// How sure answers are; none if too few relations could be withheld.
    pub(super) calibration: Option<Calibration>,
    /// How far each source is trusted when a part is asked about.
    pub(super) by_part: Vec<Vec<TrustedSource>>,
}

/// Fewer relations are too few to fit trust to their ranks. The likelihood is enough for them (UMLS, eight relations: .795
/// for .786).
const ENOUGH_FOR_RANKS: usize = 10;

/// The settings for evidence that is learned from so many relations.
pub(super) fn config(seed: u64, relations: usize) -> FusedConfig {
    FusedConfig {
        evidence: EvidenceKind::ALL.to_vec(),
        scale_by_support: true,
        prior_tasks: 1.0,
        record_price: 1.0,
        against_price: 10.0,
        shots: vec![1, 2, 3, 5, 10],
        draws: 2,
        queries: 8,
        candidates: 500,
        softness: if relations < ENOUGH_FOR_RANKS { 0.0 } else { 0.1 },
        pull: 0.1,
        seed,
        ..FusedConfig::default()
    }
}

/// Relations of one part and one group.
pub(super) struct Share<'a> {
    pub(super) part: usize,
    pub(super) group: usize,
    pub(super) tasks: Vec<Task<'a>>,
}

impl EvidenceLearning {
    /// Learns from relations that the sources of each group do not know.
    pub(super) fn new(
        graph: &Graph,
        withheld: &WithheldRelations,
        sources: &[Sources],
        config: &FusedConfig,
        direction: Direction,
        observer: &dyn Observer,
    ) -> Result<Self, LearnError> {
        let parts = PARTS.min(withheld.len());
        let shares = shares(withheld, parts);
        let tasks = withheld.tasks();
        // Each part is left out once, and once none is.
        let fits = parts as u64 + 1;
        observer.begin(&stage(TRUST, direction), Some((1 + fits) * withheld.len() as u64), Unit::Steps);
        let mut examples = Vec::new();
        for share in &shares {
            examples.push(Examples::gather(config, &sources[share.group], tasks, &share.tasks)?);
            observer.advance(share.tasks.len() as u64);
            check(observer)?;
        }
        let learn = |without: Option<usize>| {
            let chosen = shares
                .iter()
                .zip(&examples)
                .filter(|(share, of)| Some(share.part) != without && !of.is_empty());
            let chosen: Vec<&Examples> = chosen.map(|(_, examples)| examples).collect();
            match chosen.is_empty() {
                true => prior_trust(sources.first().into_iter().flat_map(Sources::kinds)),
                false => Examples::learn(&chosen, &config.evidence),
            }
        };
        let learn = |without: Option<usize>| {
            let trusted = learn(without);
            observer.advance(withheld.len() as u64);
            check(observer).map(|()| trusted)
        };
        let without_part = (0..parts)
            .map(|part| learn(Some(part)))
            .collect::<Result<Vec<Vec<TrustedSource>>, LearnError>>()?;
        let learned = learn(None)?;
        observer.end();

        let mut rows = vec![LEARNED, RULES, EvidenceKind::Popularity.name()];
        let has_vectors =
            sources.iter().any(|of| of.kinds().any(|kind| kind == EvidenceKind::MeanTranslation));
        if has_vectors {
            rows.extend([EvidenceKind::MeanTranslation.name(), EvidenceKind::Product.name()]);
        }
        let trust = |row: &str, part: usize| match row {
            LEARNED => without_part[part].clone(),
            row => fixed(row),
        };
        observer.begin(&stage(QUALITY, direction), Some(withheld.len() as u64), Unit::Steps);
        let mut relations = Vec::new();
        for share in &shares {
            let models: Vec<FusedModel> = rows
                .iter()
                .map(|row| FusedModel::new(sources[share.group].clone(), trust(row, share.part)))
                .collect();
            for task in &share.tasks {
                relations.extend(measure(graph, withheld, task, &models, config.seed)?);
                observer.advance(1);
                check(observer)?;
            }
        }
        observer.end();
        let quality = Quality::new(SHOTS, &rows, relations);

        let chosen = quality.as_ref().map_or(LEARNED, |quality| quality.chosen.as_str());
        let candidates: usize =
            shares.iter().flat_map(|share| &share.tasks).map(|task| task.candidates.len()).sum();
        let shots = vec![2, 5, 10];
        let heads = (SCORES / (shots.len() * candidates).max(1)).clamp(2, 30);
        let size = CalibrationSize { shots, heads };
        observer.begin(&stage(CONFIDENCE, direction), Some(withheld.len() as u64), Unit::Steps);
        let mut answers = CalibrationExamples::default();
        for share in &shares {
            let model = FusedModel::new(sources[share.group].clone(), trust(chosen, share.part));
            for task in &share.tasks {
                let of_task = std::slice::from_ref(task);
                answers.extend(CalibrationExamples::gather(&model, tasks, of_task, &size, config.seed)?);
                observer.advance(1);
                check(observer)?;
            }
        }
        let calibration = Calibration::learn(&answers);
        observer.end();
        let by_part = (0..parts).map(|part| trust(chosen, part)).collect();
        let trusted = if chosen == LEARNED { learned } else { fixed(chosen) };
        Ok(Self { trusted, quality, calibration, by_part })
    }
}

pub(super) fn check(observer: &dyn Observer) -> Result<(), LearnError> {
    let stop = observer.should_stop();
    if stop { Err(LearnError::Stopped) } else { Ok(()) }
}

/// One-hop rules, and where these say nothing copied tails, then edges, then popularity.
const RULES: &str = "rules";

/// Trust that is not learned.
fn fixed(row: &str) -> Vec<TrustedSource> {
    let of = |evidence, constant| TrustedSource {
        evidence,
        trust: Trust { constant, ..Trust::default() },
        never_against: false,
    };
    match row {
        // Each outweighs all that follow: with five pairs shares differ by a fifth, and logarithms by .4 at least.
        RULES => vec![
            of(EvidenceKind::Rule, 100.0),
            of(EvidenceKind::Copy, 16.0),
            of(EvidenceKind::Edge, 1.0),
            of(EvidenceKind::Popularity, 0.02),
        ],
        name => name.parse().map_or_else(|_| Vec::new(), |kind: EvidenceKind| vec![of(kind, 1.0)]),
    }
}

/// Relations by part and group.
pub(super) fn shares(withheld: &WithheldRelations, parts: usize) -> Vec<Share<'_>> {
    let mut shares: Vec<Share<'_>> = Vec::new();
    // The relations of a task set are in the order of their choice, which is random.
    for (at, (group, task)) in withheld.list().into_iter().enumerate() {
        let part = at % parts.max(1);
        match shares.iter_mut().find(|share| share.part == part && share.group == group) {
            Some(share) => share.tasks.push(task),
            None => shares.push(Share { part, group, tasks: vec![task] }),
        }
    }
    shares
}
