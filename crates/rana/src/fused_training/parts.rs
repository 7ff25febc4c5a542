//! [`Parts`]: the sources of evidence of each fold, ready to learn trust from.

use rana_eval::FewShotEvaluation;
use rana_eval::confidence::{Calibration, CalibrationExamples, CalibrationSize};
use rana_fewshot::{Fold, tasks_without};
use rana_graph::{Split, Store, Task};
use rana_models::fused::{EvidenceKind, Examples, FusedModel, FusedScores, Sources, TrustedSource};

use super::error::FusedError;

/// The sources of evidence that know no fact of some tasks: those of a fold, or the dev and test tasks only.
pub struct Part {
    pub(super) fold: Option<Fold>,
    /// The sources.
    pub sources: Sources,
}

/// All parts: the first is for dev and test tasks, the others for the folds of the train tasks.
pub struct Parts<'s> {
    pub(super) store: &'s Store,
    pub(super) parts: Vec<Part>,
    pub(super) examples: Vec<Examples>,
}

impl<'s> Parts<'s> {
    /// The trust that the examples teach in some sources.
    #[must_use]
    pub fn learn(&self, evidence: &[EvidenceKind]) -> Vec<TrustedSource> {
        Examples::learn(&self.examples.iter().collect::<Vec<_>>(), evidence)
    }

    /// The model for dev and test tasks.
    #[must_use]
    pub fn model(&self, trusted: Vec<TrustedSource>) -> FusedModel {
        FusedModel::new(self.parts[0].sources.clone(), trusted)
    }

    /// For each fold of the train tasks the trust that the examples of the other folds teach.
    #[must_use]
    pub fn learn_without_folds(&self, evidence: &[EvidenceKind]) -> Vec<Vec<TrustedSource>> {
        let without = |at: usize| {
            let others = self.examples.iter().enumerate().filter(|&(other, _)| other != at);
            Examples::learn(&others.map(|(_, of)| of).collect::<Vec<_>>(), evidence)
        };
        (0..self.examples.len()).map(without).collect()
    }

    /// The parts that know nothing of a fold, each with the trust that was learned without it.
    fn left_out<'a>(
        &'a self,
        without_folds: &'a [Vec<TrustedSource>],
    ) -> impl Iterator<Item = (&'a Part, FusedModel)> {
        let parts = self.parts[1..].iter().zip(without_folds);
        parts.map(|(part, trusted)| (part, FusedModel::new(part.sources.clone(), trusted.clone())))
    }

    /// What turns scores into confidence, learned on the train tasks, each by a part and trust that do not know it.
    ///
    /// # Errors
    /// If a source cannot answer for a support.
    pub fn calibration(
        &self,
        without_folds: &[Vec<TrustedSource>],
        seed: u64,
    ) -> Result<Option<Calibration>, FusedError> {
        let mut examples = CalibrationExamples::default();
        for (part, model) in self.left_out(without_folds) {
            let left: Vec<Task<'_>> =
                part.fold.map_or_else(Vec::new, |fold| fold.left_out(&self.store.tasks).collect());
            examples.extend(CalibrationExamples::gather(
                &model,
                &self.store.tasks,
                &left,
                &CalibrationSize::default(),
                seed,
            )?);
        }
        Ok(Calibration::learn(&examples))
    }

    /// What settings can be chosen by, with supports of `shots` pairs: dev tasks by what was learned of all folds, each
    /// fold by what was learned of the others.
    ///
    /// # Errors
    /// If a task cannot be evaluated.
    pub fn scores(
        &self,
        trusted: &[TrustedSource],
        without_folds: &[Vec<TrustedSource>],
        shots: usize,
    ) -> Result<FusedScores, FusedError> {
        let evaluation = FewShotEvaluation { shots, ..FewShotEvaluation::default() };
        let evaluate = |part: &Part, model: &FusedModel| {
            let tasks = tasks_without(part.fold, &self.store.tasks);
            evaluation.evaluate(model, &self.store.graph, &tasks, Split::Dev, &())
        };
        let dev = evaluate(&self.parts[0], &self.model(trusted.to_vec()))?;
        let (mut queries, mut of_queries, mut tasks, mut of_tasks) = (0.0, 0.0, 0.0, 0.0);
        for (part, model) in self.left_out(without_folds) {
            let report = evaluate(part, &model)?;
            queries += report.micro.queries as f64;
            of_queries += report.micro.queries as f64 * report.micro.mrr;
            tasks += report.tasks.len() as f64;
            of_tasks += report.tasks.len() as f64 * report.macro_average.mrr;
        }
        Ok(FusedScores {
            dev_mrr: Some(dev.micro.mrr),
            cross_validated_mrr: of_queries / queries,
            cross_validated_macro_mrr: of_tasks / tasks,
        })
    }
}
