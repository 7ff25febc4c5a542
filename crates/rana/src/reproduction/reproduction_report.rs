//! [`ReproductionReport`]: our numbers next to the published ones.

use rana_eval::{Averages, Spread};
use serde::Serialize;

use super::experiment::{Experiment, SHOTS};
use super::published::Published;
use super::reproduction_row::{Ours, ReproductionRow, RowKind};
use super::seed_errors::SeedErrors;
use crate::report::ResultsTable;
use crate::report::plot::{Dot, DotChart, DotRow, LineChart, LinePoint, Picture, Series, SeriesStyle, XAxis};

/// A table or figure of the paper, measured again.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ReproductionReport {
    /// Which one.
    pub experiment: Experiment,
    /// The title.
    pub title: String,
    /// On which dataset.
    pub dataset: String,
    /// Whether this only shows that everything runs; its numbers mean nothing.
    pub is_smoke: bool,
    /// The training seeds.
    pub seeds: Vec<u64>,
    /// Resampled supports per task.
    pub draws: usize,
    /// The notes.
    pub notes: Vec<String>,
    /// The rows.
    pub rows: Vec<ReproductionRow>,
    /// The errors of each seed's model on one relation, where these are asked for.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub errors: Vec<SeedErrors>,
    /// How long all of it took, pauses left out.
    pub seconds: f64,
}

/// One of the four numbers.
struct Measure {
    title: &'static str,
    /// Its name in files.
    name: &'static str,
    ours: fn(&Averages<Spread>) -> Spread,
    paper: fn(&Averages) -> f64,
}

/// The four numbers in the order of the paper.
const MEASURES: [Measure; 4] = [
    Measure { title: "MRR", name: "mrr", ours: |of| of.mrr, paper: |of| of.mrr },
    Measure { title: "Hits@10", name: "hits10", ours: |of| of.hits_at_10, paper: |of| of.hits_at_10 },
    Measure { title: "Hits@5", name: "hits5", ours: |of| of.hits_at_5, paper: |of| of.hits_at_5 },
    Measure { title: "Hits@1", name: "hits1", ours: |of| of.hits_at_1, paper: |of| of.hits_at_1 },
];

impl ReproductionReport {
    fn has_published(&self) -> bool {
        self.rows.iter().any(|row| row.published.is_some())
    }

    /// The warning above all output of a smoke run.
    const SMOKE: &str =
        "SMOKE RUN: a few steps on a small graph, to show that everything runs; the numbers mean nothing.";

    /// An explanation of the numbers.
    #[must_use]
    pub fn caption(&self) -> String {
        let seeds = self.seeds.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ");
        let resampled = match self.draws {
            0 => String::new(),
            draws => format!(
                " Resampled: mean over {draws} random supports and all seeds ± standard deviation of one support."
            ),
        };
        format!(
            "{}, test tasks, official support (the first K facts), filtered, typed candidates, ties in the middle. Trained \
             rows: mean ± standard deviation over the seeds {seeds}.{resampled}",
            self.dataset
        )
    }

    /// The rows as a table, our numbers next to the published ones.
    #[must_use]
    pub fn table(&self) -> ResultsTable {
        let has_published = self.has_published();
        let has_common = self.experiment == Experiment::Fig2a;
        let mut titles = vec![String::new()];
        for Measure { title, .. } in MEASURES {
            titles.push(title.to_owned());
            if has_published {
                titles.push("paper".to_owned());
            }
        }
        if has_common {
            titles.push("MRR, common queries".to_owned());
        }
        titles.push("dev MRR".to_owned());
        if self.draws > 0 {
            titles.push("MRR resampled".to_owned());
        }
        let has_costs = self.experiment == Experiment::Table2;
        if has_costs {
            titles.extend(["data", "learned", "time per seed", "memory"].map(str::to_owned));
        }
        let rows = self.rows.iter().map(|row| {
            let mut cells = vec![row.full_label()];
            for Measure { title, ours, paper, .. } in MEASURES {
                let cell = match &row.ours {
                    Some(of) => said(ours(&of.test), of.runs),
                    None if title == "MRR" => row.absence().to_owned(),
                    None => String::new(),
                };
                cells.push(cell);
                if has_published {
                    cells.push(row.published.map_or_else(String::new, |published| match published.sd {
                        Some(sd) => said(Spread { mean: paper(&published.value), sd: paper(&sd) }, 2),
                        None => short(paper(&published.value)),
                    }));
                }
            }
            let own =
                |cell: &dyn Fn(&Ours) -> Option<String>| row.ours.as_ref().and_then(cell).unwrap_or_default();
            if has_common {
                cells.push(own(&|of| Some(said(of.common_mrr?, of.runs))));
            }
            cells.push(own(&|of| Some(said(of.dev_mrr, of.runs))));
            if self.draws > 0 {
                cells.push(own(&|of| Some(said(of.resampled_mrr?, 2))));
            }
            if has_costs {
                cells.push(row.data.clone().unwrap_or_default());
                cells.push(own(&|of| of.learned.map(in_thousands)));
                cells.push(own(&|of| Some(in_minutes(of.seconds.mean))));
                cells.push(own(&|of| of.peak_memory.map(|bytes| format!("{} MB", bytes / 1_000_000))));
            }
            cells
        });
        ResultsTable { titles, rows: rows.collect() }
    }

    /// As a page of Markdown; `picture` is the name of the picture beside it.
    #[must_use]
    pub fn markdown(&self, picture: &str) -> String {
        let smoke = if self.is_smoke { format!("**{}**\n\n", Self::SMOKE) } else { String::new() };
        let mut text = format!(
            "# {}, {}\n\n{smoke}{}\n\n{}\n",
            self.title,
            self.dataset,
            self.caption(),
            self.table().markdown()
        );
        for row in &self.rows {
            for failure in &row.failures {
                text += &format!("- failed: {}: {failure}\n", row.label);
            }
        }
        for note in &self.notes {
            text += &format!("- {note}\n");
        }
        text.extend(self.errors.iter().map(SeedErrors::markdown));
        text + &format!("\n![{}]({picture})\n", self.title)
    }

    /// One line per row, numbers in full.
    #[must_use]
    pub fn csv(&self) -> String {
        let mut titles: Vec<String> =
            ["row", "label", "state", "runs", "preset", "changes"].map(str::to_owned).to_vec();
        for Measure { name, .. } in MEASURES {
            titles.extend([format!("{name}_mean"), format!("{name}_sd")]);
        }
        for name in ["macro_mrr", "dev_mrr", "resampled_mrr", "common_mrr"] {
            titles.extend([format!("{name}_mean"), format!("{name}_sd")]);
        }
        for Measure { name, .. } in MEASURES {
            titles.extend([format!("published_{name}"), format!("published_{name}_sd")]);
        }
        titles.extend(["data", "learned", "seconds", "peak_memory_bytes", "smoke_run"].map(str::to_owned));
        let rows = self.rows.iter().map(|row| {
            let state = if row.ours.is_some() { "measured" } else { row.absence() };
            let runs = row.ours.as_ref().map_or(0, |ours| ours.runs);
            let mut cells = vec![
                row.key.clone(),
                row.label.clone(),
                state.to_owned(),
                runs.to_string(),
                row.preset.clone().unwrap_or_default(),
                row.changes.join(" "),
            ];
            let mut push = |spread: Option<Spread>| match spread {
                Some(Spread { mean, sd }) => cells.extend([mean.to_string(), sd.to_string()]),
                None => cells.extend([String::new(), String::new()]),
            };
            let ours = row.ours.as_ref();
            for measure in MEASURES {
                push(ours.map(|ours| (measure.ours)(&ours.test)));
            }
            push(ours.map(|ours| ours.macro_mrr));
            push(ours.map(|ours| ours.dev_mrr));
            push(ours.and_then(|ours| ours.resampled_mrr));
            push(ours.and_then(|ours| ours.common_mrr));
            for Measure { paper, .. } in MEASURES {
                let value = row.published.map(|published| paper(&published.value).to_string());
                let sd = row.published.and_then(|published| published.sd).map(|sd| paper(&sd).to_string());
                cells.extend([value.unwrap_or_default(), sd.unwrap_or_default()]);
            }
            let number = |of: Option<u64>| of.map_or_else(String::new, |of| of.to_string());
            cells.push(row.data.clone().unwrap_or_default());
            cells.push(number(ours.and_then(|ours| ours.learned).map(|of| of as u64)));
            cells.push(ours.map_or_else(String::new, |ours| ours.seconds.mean.to_string()));
            cells.push(number(ours.and_then(|ours| ours.peak_memory)));
            cells.push(self.is_smoke.to_string());
            cells
        });
        ResultsTable { titles, rows: rows.collect() }.csv()
    }

    /// As a picture.
    #[must_use]
    pub fn picture(&self) -> Picture {
        match self.experiment {
            Experiment::Table2 | Experiment::Table3 | Experiment::Errors | Experiment::Frontier => {
                self.dots().draw()
            }
            Experiment::Fig2a | Experiment::Fig2b => self.lines().draw(),
        }
    }

    fn picture_title(&self) -> String {
        let smoke = if self.is_smoke { "SMOKE RUN – " } else { "" };
        format!("{smoke}{} ({})", self.title, self.dataset)
    }

    fn picture_notes(&self) -> Vec<String> {
        match self.is_smoke {
            true => vec![Self::SMOKE.to_owned()],
            false => self.notes.iter().take(2).cloned().collect(),
        }
    }

    fn dots(&self) -> DotChart {
        let dot = |Spread { mean, sd }: Spread| Dot { value: mean, error: (sd > 0.0).then_some(sd) };
        let mut names = vec![
            "official support (± sd over seeds)".to_owned(),
            "resampled supports (± sd of one)".to_owned(),
        ];
        let has_published = self.has_published();
        if has_published {
            names.push("published".to_owned());
        }
        let mut kind = None;
        let rows = self.rows.iter().map(|row| {
            let begins_group = kind.replace(row.kind).is_some_and(|kind| kind != row.kind);
            let ours = row.ours.as_ref();
            let mut dots =
                vec![ours.map(|ours| dot(ours.test.mrr)), ours.and_then(|ours| ours.resampled_mrr).map(dot)];
            if has_published {
                dots.push(row.published.map(|published| Dot {
                    value: published.value.mrr,
                    error: published.sd.map(|sd| sd.mrr),
                }));
            }
            let label = match (row.kind, &row.ours) {
                (RowKind::NoPreset, _) => format!("{} (no preset here)", row.label),
                (_, None) => format!("{} ({})", row.label, row.absence()),
                _ => row.full_label(),
            };
            DotRow { label, dots, begins_group }
        });
        DotChart {
            title: self.picture_title(),
            label: "MRR on the test tasks".to_owned(),
            names,
            rows: rows.collect(),
            notes: self.picture_notes(),
        }
    }

    fn lines(&self) -> LineChart {
        let points = |kind: RowKind, key: Option<&str>, of: &dyn Fn(&ReproductionRow) -> Option<Spread>| {
            let rows = self.rows.iter().filter(|row| row.kind == kind);
            let rows = rows.filter(|row| key.is_none_or(|key| row.key.starts_with(key)));
            rows.filter_map(|row| {
                let Spread { mean, sd } = of(row)?;
                Some(LinePoint { x: row.x?, y: mean, error: (sd > 0.0).then_some(sd) })
            })
            .collect::<Vec<_>>()
        };
        let ours =
            |of: fn(&Ours) -> Option<Spread>| move |row: &ReproductionRow| row.ours.as_ref().and_then(of);
        let is_fig2a = self.experiment == Experiment::Fig2a;
        let official = if is_fig2a { "RANA, native queries" } else { "RANA, official support" };
        let mut series = vec![
            (official, SeriesStyle::Line, points(RowKind::Trained, None, &ours(|of| Some(of.test.mrr)))),
            (
                "RANA, common queries",
                SeriesStyle::Dashed,
                if is_fig2a { points(RowKind::Trained, None, &ours(|of| of.common_mrr)) } else { Vec::new() },
            ),
            (
                "RANA, resampled supports (± sd of one)",
                SeriesStyle::Dashed,
                if is_fig2a {
                    Vec::new()
                } else {
                    points(RowKind::Trained, None, &ours(|of| of.resampled_mrr))
                },
            ),
            (
                "one-hop rules, native queries (nothing learned)",
                SeriesStyle::Line,
                points(RowKind::TrainingFree, Some("rules-"), &ours(|of| Some(of.test.mrr))),
            ),
        ];
        let published = points(RowKind::Trained, None, &|row| {
            let Published { value, sd } = row.published?;
            Some(Spread { mean: value.mrr, sd: sd.map_or(0.0, |sd| sd.mrr) })
        });
        series.push(("published (Tables 2 and 3)", SeriesStyle::Points, published));
        let series = series
            .into_iter()
            .filter(|(.., points)| !points.is_empty())
            .map(|(name, style, points)| Series { name: name.to_owned(), style, points });
        let label =
            if is_fig2a { "support pairs (training and evaluation)" } else { "negatives per pair, J" };
        LineChart {
            title: self.picture_title(),
            x: XAxis::Linear,
            x_label: label.to_owned(),
            y_label: "MRR on the test tasks".to_owned(),
            series: series.collect(),
            notes: self.picture_notes(),
        }
    }

    /// The best trained row and the strongest row that learns nothing, for a sentence at the end.
    #[must_use]
    pub fn summary(&self) -> Option<String> {
        let best = |kind: RowKind| {
            let rows =
                self.rows.iter().filter(|row| row.kind == kind && row.x.is_none_or(|x| x == SHOTS as f64));
            rows.filter_map(|row| Some((row, row.ours.as_ref()?.test.mrr)))
                .max_by(|a, b| a.1.mean.total_cmp(&b.1.mean))
        };
        let (trained, mrr) = best(RowKind::Fused).or_else(|| best(RowKind::Trained))?;
        let runs = trained.ours.as_ref().map_or(1, |ours| ours.runs);
        let mut text = format!("{}: MRR {}", trained.label, said(mrr, runs));
        if let Some((free, mrr)) = best(RowKind::TrainingFree) {
            text += &format!("; of what learns nothing, {} has {}", free.label, short(mrr.mean));
        }
        Some(text)
    }
}

/// A mean and a spread, as papers print them; a single run has no spread.
fn said(Spread { mean, sd }: Spread, runs: usize) -> String {
    match runs {
        0 | 1 => short(mean),
        _ => format!("{} ± {}", short(mean), short(sd)),
    }
}

/// A count in thousands or millions.
fn in_thousands(count: usize) -> String {
    match count {
        0..1_000 => count.to_string(),
        1_000..1_000_000 => format!("{} k", (count + 500) / 1_000),
        _ => format!("{:.1} M", count as f64 / 1e6),
    }
}

/// A time in seconds below two minutes, else in minutes.
fn in_minutes(seconds: f64) -> String {
    if seconds < 120.0 { format!("{seconds:.0} s") } else { format!("{:.0} min", seconds / 60.0) }
}

/// A share of one, as papers print it.
fn short(value: f64) -> String {
    let text = format!("{value:.3}");
    match text.strip_prefix('0') {
        Some(rest) => rest.to_owned(),
        None => text,
    }
}

#[cfg(test)]
mod tests {
    use super::super::seed_result::SeedResult;
    use super::*;

    fn seed(seed: u64, mrr: f64) -> SeedResult {
        let test = Averages { mrr, hits_at_1: 0.1, hits_at_5: 0.2, hits_at_10: 0.5 };
        SeedResult {
            seed: Some(seed),
            test,
            macro_mrr: mrr,
            dev_mrr: 0.25,
            resampled_mrr: Some(Spread { mean: mrr + 0.01, sd: 0.03 * seed as f64 }),
            draw_mrrs: Vec::new(),
            common_mrr: None,
            seconds: 100.0 * seed as f64,
            learned: Some(7_000_000),
            peak_memory: Some(300_000_000 + seed),
            path: None,
        }
    }

    fn row(key: &str, kind: RowKind, ours: Option<Ours>, published: Option<f64>) -> ReproductionRow {
        let value = |mrr: f64| Averages { mrr, hits_at_1: 0.253, hits_at_5: 0.475, hits_at_10: 0.573 };
        ReproductionRow {
            key: key.to_owned(),
            label: key.to_uppercase(),
            kind,
            x: None,
            preset: None,
            changes: Vec::new(),
            data: Some("pretrain".to_owned()),
            ours,
            failures: Vec::new(),
            published: published.map(|mrr| Published { value: value(mrr), sd: None }),
        }
    }

    fn report(rows: Vec<ReproductionRow>) -> ReproductionReport {
        ReproductionReport {
            experiment: Experiment::Table2,
            title: "Table 2".to_owned(),
            dataset: "NELL-One".to_owned(),
            is_smoke: false,
            seeds: vec![1, 2],
            draws: 20,
            notes: vec!["a note".to_owned()],
            rows,
            errors: Vec::new(),
            seconds: 0.0,
        }
    }

    #[test]
    fn our_numbers_stand_beside_the_published_ones() {
        let ours = Ours::of(vec![seed(1, 0.35), seed(2, 0.37)]).unwrap();
        assert!(
            (ours.test.mrr.mean - 0.36).abs() < 1e-12 && (ours.test.mrr.sd - 0.0002_f64.sqrt()).abs() < 1e-12
        );
        // The root of the mean of .03² and .06².
        assert!((ours.resampled_mrr.unwrap().sd - 0.00225_f64.sqrt()).abs() < 1e-12);
        let report = report(vec![
            row("rana", RowKind::Trained, Some(ours), Some(0.361)),
            row("gana", RowKind::NoPreset, None, Some(0.344)),
            row("rules", RowKind::TrainingFree, Ours::of(vec![seed(1, 0.328)]), None),
        ]);
        let table = report.table().markdown();
        let lines: Vec<&str> = table.lines().collect();
        assert!(lines[2].starts_with("| RANA | .360 ± .014 | .361 | .500 ± .000 | .573 |"), "{table}");
        assert!(lines[3].starts_with("| GANA | no preset here | .344 |  | .573 |"), "{table}");
        assert!(lines[4].starts_with("| RULES | .328 |  | .500 |"), "{table}");
        assert!(lines[2].ends_with("| pretrain | 7.0 M | 2 min | 300 MB |"), "{table}");
        let csv = report.csv();
        assert!(csv.lines().nth(2).unwrap().starts_with("gana,GANA,no preset here,0,,,,"), "{csv}");
        let columns: Vec<usize> = csv.lines().map(|line| line.split(',').count()).collect();
        assert!(columns.iter().all(|count| *count == columns[0]), "{columns:?}");
        assert_eq!(
            report.summary().unwrap(),
            "RANA: MRR .360 ± .014; of what learns nothing, RULES has .328"
        );
        assert!(report.picture().svg.contains("GANA (no preset here)"));
        // Numbers of fewer seeds than asked for are not passed off as all.
        let mut report = report;
        report.rows[0].failures.push("seed 3: training has diverged".to_owned());
        assert!(report.table().markdown().contains("| RANA (2 of 3 seeds) |"));
        assert!(report.markdown("x.svg").contains("- failed: RANA: seed 3: training has diverged"));
    }

    #[test]
    fn a_smoke_run_says_so_everywhere_and_nothing_published_no_column() {
        let rows = vec![row("rana", RowKind::Trained, Ours::of(vec![seed(1, 0.1)]), None)];
        let report = ReproductionReport { is_smoke: true, ..report(rows) };
        assert!(!report.table().titles.contains(&"paper".to_owned()));
        assert!(report.markdown("x.svg").contains("SMOKE RUN"));
        assert!(report.picture().svg.contains("SMOKE RUN"));
        assert!(report.csv().lines().nth(1).unwrap().ends_with(",true"));
    }
}
