//! [`evaluate`]: the evaluation card of a run.

use rana_eval::confidence::{Calibration, Reliability};
use rana_eval::{CardSettings, EvaluationCard, FewShotError, NamedModel};
use rana_fewshot::FewShotModel;
use rana_graph::{Observer, Store};
use rana_models::{Baseline, OpenedModel, OpenedRun};

/// Measures the model of a run on few-shot tasks of its graph. The card also has rows for the models it was made from, and
/// for baselines without vectors.
///
/// # Errors
/// If there is no task in the split, or the settings do not fit the tasks.
pub fn evaluate(
    run: &OpenedRun,
    settings: CardSettings,
    observer: &dyn Observer,
) -> Result<EvaluationCard, FewShotError> {
    let OpenedModel { model, beside, calibration, details, .. } = &run.opened;
    let beside: Vec<(&str, &dyn FewShotModel)> =
        beside.iter().map(|(name, model)| (&**name, &**model)).collect();
    let maker = CardMaker {
        store: &run.store,
        settings,
        details: details.clone(),
        calibration: calibration.as_ref(),
    };
    maker.make((&run.manifest.model, &**model), &beside, observer)
}

/// Makes cards on the tasks of a store.
pub struct CardMaker<'a> {
    /// The graph and its tasks.
    pub store: &'a Store,
    /// How it is measured.
    pub settings: CardSettings,
    /// What the card says about the model, in addition to the store.
    pub details: Vec<(&'static str, String)>,
    /// The calibration that turns the model's scores into confidence, if the model has one.
    pub calibration: Option<&'a Calibration>,
}

impl CardMaker<'_> {
    /// Makes the card of a model. It also has rows for `others` and for all baselines without vectors.
    ///
    /// # Errors
    /// As [`evaluate`].
    pub fn make(
        self,
        subject: NamedModel<'_>,
        others: &[NamedModel<'_>],
        observer: &dyn Observer,
    ) -> Result<EvaluationCard, FewShotError> {
        let Self { store, settings, details, calibration } = self;
        let baselines = Baseline::all(&store.graph);
        let mut rows = others.to_vec();
        // The strongest baseline comes first.
        rows.extend(baselines.iter().rev().map(|of| (of.kind().name(), of as _)));
        let mut card = settings.evaluate(subject, &rows, &store.graph, &store.tasks, observer)?;
        if let Some(calibration) = calibration {
            let (graph, tasks) = (&store.graph, &store.tasks);
            let CardSettings { split, shots, .. } = settings;
            card.confidence = Some(Reliability::measure(calibration, subject.1, graph, tasks, split, shots)?);
        }
        card.provenance.details = details.into_iter().map(|(name, value)| (name.to_owned(), value)).collect();
        card.provenance.details.insert("dataset".to_owned(), store.manifest.data.clone());
        for input in &store.manifest.inputs {
            card.provenance.details.insert(format!("sha256 of {}", input.name), input.sha256.clone());
        }
        Ok(card)
    }
}
