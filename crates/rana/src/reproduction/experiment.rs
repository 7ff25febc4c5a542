//! [`Experiment`]: the rows of each table and figure, as data.

use rana_embed::ModelKind;
use rana_graph::named;
use rana_models::MEAN_TRANSLATION;
use rana_models::fused::{EvidenceKind, FusedConfig};
use rana_models::registry::{self, ModelEntry};
use serde::{Deserialize, Serialize};

use super::published::{Benchmark, Published};

/// A table or figure of the paper.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Experiment {
    /// RANA compared with other models, five shots.
    Table2,
    /// Ablations.
    Table3,
    /// Support sizes from 1 to 8.
    Fig2a,
    /// Negatives from 1 to 10.
    Fig2b,
    /// The errors on one relation: a sample of its queries, one by one.
    Errors,
    /// Not in the paper: RANA with the evidence in the graph, and the effect of each source.
    Frontier,
}

named!(Experiment, "table or figure", {
    Table2 => "table2",
    Table3 => "table3",
    Fig2a => "fig2a",
    Fig2b => "fig2b",
    Errors => "errors",
    Frontier => "frontier",
});

/// A row: its subject, its settings, and the published numbers.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Row {
    /// Its name in files.
    pub(super) key: String,
    /// Its name in tables.
    pub(super) label: String,
    /// The subject.
    pub(super) subject: Subject,
    /// Support pairs per task.
    pub(super) shots: usize,
    /// Where it is on the axis of a figure.
    pub(super) x: Option<f64>,
    pub(super) published: Option<Published>,
}

/// The subject of a row.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Subject {
    /// A model that is trained by steps, with a preset and what differs from it.
    Trained { model: &'static str, preset: String, changes: Vec<String> },
    /// RANA by a preset, with evidence.
    Fused { preset: String, evidence: Vec<EvidenceKind>, train_task_edges: bool },
    /// Vectors of an ordinary model, trained on the supports too, by their own score.
    Kge(ModelKind),
    /// A row of the card that learns nothing, by its name there.
    TrainingFree(&'static str),
    /// A model without a preset for the benchmark.
    NoPreset,
}

/// The support size of most experiments.
pub(super) const SHOTS: usize = 5;
/// The support sizes of the frontier.
const FRONTIER_SHOTS: [usize; 3] = [1, 3, SHOTS];

/// Rows that learn nothing, as the evaluation card names them, the strongest first.
pub(super) const TRAINING_FREE: [(&str, &str); 5] = [
    ("rules", "one-hop rules"),
    ("adjacency", "adjacency"),
    ("copy", "copied support tails"),
    ("popularity", "popularity"),
    (MEAN_TRANSLATION, "mean translation"),
];

const KGE: [(ModelKind, &str); 5] = [
    (ModelKind::TransE, "TransE"),
    (ModelKind::DistMult, "DistMult"),
    (ModelKind::Complex, "ComplEx"),
    (ModelKind::Simple, "SimplE"),
    (ModelKind::RotatE, "RotatE"),
];

/// The few-shot models of the table but RANA, by their names in the registry once they are there.
const PUBLISHED: [(&str, &str); 6] = [
    ("gmatching", "GMatching"),
    ("metar", "MetaR"),
    ("fsrl", "FSRL"),
    ("faan", "FAAN"),
    ("gana", "GANA"),
    ("hire", "HiRe"),
];

/// The ablations of Table 3: key, name, changes. `beta_grad` only goes with attention, so it goes with it.
const ABLATIONS: [(&str, &str, &[&str]); 9] = [
    ("whole", "whole model", &[]),
    ("eq3-without-r", "Eq. 3 w/o r", &["agg_input=entity"]),
    ("eq4-with-c", "Eq. 4 with c", &["attn_input=rel+entity"]),
    ("eq3-without-alpha", "Eq. 3 w/o α", &["attn=uniform"]),
    ("a-one-negative", "A: one negative", &["J=1"]),
    ("b-no-negative-attention", "B: w/o negative attention", &["neg_weight=uniform", "beta_grad=false"]),
    ("c-no-pruning", "C: w/o pruning", &["prune=off"]),
    ("d-neither", "D: w/o both", &["prune=off", "neg_weight=uniform", "beta_grad=false"]),
    (
        "e-rotate-loss",
        "E: RotatE's loss",
        &["neg_weight=self_adversarial", "adv_temp=1.0", "beta_grad=false"],
    ),
];

fn in_shots(shots: usize) -> String {
    format!("{shots} {}", if shots == 1 { "shot" } else { "shots" })
}

/// The rows of a published model: one for each of its presets for the benchmark, or one that says that it is missing.
fn published_model(name: &str, label: &str, preset: &str, published: Option<Published>) -> Vec<Row> {
    let row = |key: String, label: String, subject: Subject| Row {
        key,
        label,
        subject,
        shots: SHOTS,
        x: None,
        published,
    };
    // A preset of RANA such as `nell-one-tuned` is for the benchmark that its name starts with.
    let benchmark = preset.strip_suffix("-tuned").unwrap_or(preset);
    let rows = |entry: &'static ModelEntry| -> Vec<Row> {
        let fitting = entry.presets.iter().filter(|of| of.name.starts_with(benchmark));
        let of_preset = |preset: &registry::Preset| {
            let mode = preset.name.trim_start_matches(benchmark).trim_start_matches('-');
            let label = if mode.is_empty() { label.to_owned() } else { format!("{label} ({mode})") };
            let subject =
                Subject::Trained { model: entry.name, preset: preset.name.to_owned(), changes: Vec::new() };
            row(format!("{name}-{}", preset.name), label, subject)
        };
        fitting.map(of_preset).collect()
    };
    match registry::find(name).map(rows) {
        Ok(rows) if !rows.is_empty() => rows,
        _ => vec![row(name.to_owned(), label.to_owned(), Subject::NoPreset)],
    }
}

impl Experiment {
    /// The rows; `presets` are those of RANA, the first one standing for it in figures and ablations.
    pub(super) fn rows(self, presets: &[String], benchmark: Option<Benchmark>) -> Vec<Row> {
        let preset = presets.first().cloned().unwrap_or_default();
        let rana =
            |key: &str, label: String, changes: &[String], shots: usize, x: Option<f64>, published| Row {
                key: key.to_owned(),
                label,
                subject: Subject::Trained {
                    model: registry::DEFAULT,
                    preset: preset.clone(),
                    changes: changes.to_vec(),
                },
                shots,
                x,
                published,
            };
        let in_table_2 = |key: &str| benchmark.and_then(|benchmark| benchmark.table_2(key));
        let in_table_3 = |key: &str| benchmark.and_then(|benchmark| benchmark.table_3(key));
        let mut rows = Vec::new();
        match self {
            Self::Table2 => {
                rows.extend(KGE.map(|(model, label)| Row {
                    key: model.to_string(),
                    label: label.to_owned(),
                    subject: Subject::Kge(model),
                    shots: SHOTS,
                    x: None,
                    published: in_table_2(&model.to_string()),
                }));
                for (name, label) in PUBLISHED {
                    rows.extend(published_model(name, label, &preset, in_table_2(name)));
                }
                rows.extend(presets.iter().map(|preset| Row {
                    subject: Subject::Trained {
                        model: registry::DEFAULT,
                        preset: preset.clone(),
                        changes: Vec::new(),
                    },
                    ..rana(
                        &format!("rana-{preset}"),
                        format!("RANA ({preset})"),
                        &[],
                        SHOTS,
                        None,
                        in_table_2("rana"),
                    )
                }));
                let tuned = presets.iter().find(|preset| preset.ends_with("-tuned")).unwrap_or(&preset);
                rows.push(Row {
                    key: "rana-fused".to_owned(),
                    label: "rana-fused".to_owned(),
                    subject: Subject::Fused {
                        preset: tuned.clone(),
                        evidence: FusedConfig::default().evidence,
                        train_task_edges: true,
                    },
                    shots: SHOTS,
                    x: None,
                    published: None,
                });
            }
            Self::Table3 => rows.extend(ABLATIONS.map(|(key, label, changes)| {
                let changes: Vec<String> = changes.iter().map(ToString::to_string).collect();
                rana(key, label.to_owned(), &changes, SHOTS, None, in_table_3(key))
            })),
            Self::Fig2a => rows.extend((1..=8).map(|shots| {
                let published = if shots == SHOTS { in_table_2("rana") } else { None };
                let label = format!("RANA, {}", in_shots(shots));
                rana(
                    &format!("shots-{shots}"),
                    label,
                    &[format!("shots={shots}")],
                    shots,
                    Some(shots as f64),
                    published,
                )
            })),
            Self::Fig2b => rows.extend((1..=10).map(|negatives| {
                let published = match negatives {
                    1 => in_table_3("a-one-negative"),
                    5 => in_table_2("rana"),
                    _ => None,
                };
                let label = format!("RANA, J = {negatives}");
                let x = Some(f64::from(negatives));
                rana(&format!("j-{negatives}"), label, &[format!("J={negatives}")], SHOTS, x, published)
            })),
            Self::Errors => rows.push(rana("rana", "RANA".to_owned(), &[], SHOTS, None, in_table_2("rana"))),
            Self::Frontier => {
                let fused = |key: String, label: String, evidence: Vec<EvidenceKind>, shots: usize| Row {
                    key,
                    label,
                    subject: Subject::Fused { preset: preset.clone(), evidence, train_task_edges: true },
                    shots,
                    x: None,
                    published: None,
                };
                let all = FusedConfig::default().evidence;
                for shots in FRONTIER_SHOTS {
                    let label = format!("rana-fused, {}", in_shots(shots));
                    rows.push(fused(format!("fused-{shots}"), label, all.clone(), shots));
                }
                for shots in FRONTIER_SHOTS {
                    let (label, changes) = (format!("RANA, {}", in_shots(shots)), [format!("shots={shots}")]);
                    rows.push(rana(&format!("rana-{shots}"), label, &changes, shots, None, None));
                }
                for &kind in &all {
                    let rest = all.iter().copied().filter(|&other| other != kind).collect();
                    rows.push(fused(
                        format!("fused-without-{kind}"),
                        format!("rana-fused without {kind}"),
                        rest,
                        SHOTS,
                    ));
                }
                let whole = fused(String::new(), String::new(), all.clone(), SHOTS);
                rows.push(Row {
                    key: "fused-background-edges".to_owned(),
                    label: "rana-fused, train tasks no edges".to_owned(),
                    subject: Subject::Fused {
                        preset: preset.clone(),
                        evidence: all.clone(),
                        train_task_edges: false,
                    },
                    ..whole
                });
            }
        }
        rows.extend(self.training_free());
        rows
    }

    /// The baselines that learn nothing, for every support size of the experiment.
    fn training_free(self) -> Vec<Row> {
        let row = |(key, label): (&'static str, &str), shots: usize, is_only: bool| Row {
            key: if is_only { key.to_owned() } else { format!("{key}-{shots}") },
            label: if is_only { label.to_owned() } else { format!("{label}, {}", in_shots(shots)) },
            subject: Subject::TrainingFree(key),
            shots,
            x: (!is_only).then_some(shots as f64),
            published: None,
        };
        let for_each = |sizes: &[usize]| -> Vec<Row> {
            TRAINING_FREE
                .into_iter()
                .flat_map(|of| sizes.iter().map(move |&shots| row(of, shots, false)))
                .collect()
        };
        match self {
            Self::Fig2a => for_each(&[1, 2, 3, 4, 5, 6, 7, 8]),
            Self::Frontier => for_each(&FRONTIER_SHOTS),
            _ => TRAINING_FREE.map(|of| row(of, SHOTS, true)).to_vec(),
        }
    }

    /// The title.
    pub(super) fn title(self) -> &'static str {
        match self {
            Self::Table2 => "Table 2: five-shot completion",
            Self::Table3 => "Table 3: ablations",
            Self::Fig2a => "Figure 2a: size of the support",
            Self::Fig2b => "Figure 2b: number of negatives",
            Self::Errors => "Errors on one relation",
            Self::Frontier => "RANA and the evidence in the graph",
        }
    }

    /// Notes that are needed to compare with the paper.
    pub(super) fn notes(self, benchmark: Option<Benchmark>) -> Vec<&'static str> {
        if benchmark.is_none() && self != Self::Frontier {
            return vec!["Nothing was published on this dataset, so there is no published column."];
        }
        match self {
            Self::Frontier => vec![
                "rana-fused is one model for all support sizes. Trust in evidence is learned on the train tasks, each seen by \
                 vectors and a RANA that do not know it. RANA's own rows are trained for their size.",
                "The facts of the train tasks are edges of the graph, but for the row that says otherwise; the relation that \
                 is asked for never is one.",
            ],
            Self::Errors => vec![
                "Published, for `teamcoach`: 12 of 20 right tails among the first ten; of the other 8 facts 4 are wrong in the data, \
                 and 3 have fewer than 10 neighbours. Which facts were drawn is not published. Whether a fact is wrong was judged by \
                 people, so it is not counted here.",
            ],
            Self::Table2 => vec![
                "Published: Table 2 of the paper; only its last row comes with a spread, over five runs.",
                "TransE to RotatE are trained on the background, the train tasks and the official supports, so they have no \
                 result on resampled ones.",
                "The published rows mix data modes: GANA also trains on background relations, MetaR does not.",
                "Data: what a model is trained on. `pretrain` is the train tasks, from vectors; `in-train` adds a task for each \
                 background relation and starts from random vectors, `in-train-pretrained` from trained ones. Learned: \
                 numbers that training changed. Time: of one seed with its evaluation, its share of the machine included.",
            ],
            Self::Table3 => vec![
                "Published: Table 3 of the paper, single runs; its whole model (.372 on NELL-One) is a standard deviation \
                 above the paper's own mean (.361).",
            ],
            Self::Fig2a => vec![
                "The paper has this figure without numbers; the published point is Table 2's (five shots). It says that \
                 RANA is above GANA at every size, and that after five shots the improvement is not significant.",
                "With K shots the first K facts of a task are no queries, so sizes have different queries; on the common \
                 queries (behind the first 8 facts) they have the same.",
            ],
            Self::Fig2b => vec![
                "The paper has this figure without numbers; the published points are Table 3's (one negative) and Table \
                 2's (five). It says that results improve at first, drop after 6, and recommends 3 to 5.",
            ],
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Settings;
    use rana_models::rana::{PRESETS, RanaConfig};
    use rana_models::training::RunConfig;

    fn presets() -> Vec<String> {
        vec!["nell-one".to_owned(), "umls".to_owned()]
    }

    #[test]
    fn every_row_of_the_paper_is_there_beside_its_number() {
        let nell = Some(Benchmark::NellOne);
        let rows = Experiment::Table2.rows(&presets(), nell);
        assert!(rows.len() >= 5 + 6 + 2 + 5);
        assert!(rows[..rows.len() - 6].iter().all(|row| row.published.is_some()));
        assert_eq!(rows[rows.len() - 7].published.unwrap().value.mrr, 0.361);
        assert_eq!(rows[rows.len() - 6].key, "rana-fused");
        let rows = Experiment::Table3.rows(&presets(), nell);
        assert!(rows[..9].iter().all(|row| row.published.is_some()) && rows.len() == 9 + 5);
        let rows = Experiment::Fig2a.rows(&presets(), nell);
        assert_eq!(rows.iter().filter(|row| row.published.is_some()).count(), 1);
        assert_eq!(rows.len(), 8 + 5 * 8);
        assert_eq!(Experiment::Fig2b.rows(&presets(), nell).len(), 10 + 5);
        for what in Experiment::ALL {
            let rows = what.rows(&presets(), None);
            assert!(rows.iter().all(|row| row.published.is_none()));
            let mut keys: Vec<&str> = rows.iter().map(|row| row.key.as_str()).collect();
            keys.sort_unstable();
            keys.dedup();
            assert_eq!(keys.len(), rows.len());
        }
    }

    /// Each change must do something, and go with every preset there is.
    #[test]
    fn every_row_is_a_configuration_of_its_own() {
        for preset in PRESETS {
            let base = RunConfig::preset(registry::DEFAULT, preset.name).unwrap();
            // What the tuned presets may well have.
            let rana = base.model_as::<RanaConfig>().unwrap().clone();
            let attending = RunConfig::new(base.trainer.clone(), RanaConfig { beta_grad: true, ..rana });
            for base in [base, attending] {
                for what in [Experiment::Table3, Experiment::Fig2a, Experiment::Fig2b] {
                    let mut configs: Vec<RunConfig> = Vec::new();
                    for row in what.rows(&[preset.name.to_owned()], None) {
                        let Subject::Trained { changes, .. } = &row.subject else { continue };
                        let config: RunConfig =
                            Settings::of_assignments(changes).unwrap().over(&base).unwrap();
                        config.check().unwrap();
                        assert!(!configs.contains(&config), "{} of {}", row.key, preset.name);
                        assert_eq!(config.trainer.shots, row.shots);
                        configs.push(config);
                    }
                }
            }
        }
    }
}
