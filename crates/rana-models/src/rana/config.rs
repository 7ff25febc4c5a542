//! [`RanaConfig`]: every choice of RANA, those the paper makes and those it leaves open.
//!
//! Equations carry the numbers of the paper's LaTeX labels. Points that start with D are those of
//! `docs/open-points.md`, where the paper is silent or can be read in several ways.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::choices::choices;
use crate::training::{ConfigError, FieldChecks, Init, RowUpdates, TrainerConfig, require};

choices!(
    /// Which background neighbours of an entity the encoder sees when there are more than it takes (D11).
    NeighbourChoice, "choice of neighbours", {
        /// The first in file order, as all public code does.
        #[default]
        First => "first",
        /// Drawn once, by the seed.
        RandomFixed => "random_fixed",
        /// Drawn anew at every step of training; those of `random_fixed` in evaluation.
        Random => "random",
    }
);
choices!(
    /// What stands in the places of neighbours an entity does not have (D12).
    Padding, "padding", {
        /// Nothing: attention is over the neighbours there are.
        #[default]
        Masked => "masked",
        /// Rows of zeros that take their share of attention, as in the public code of GANA.
        Unmasked => "unmasked",
    }
);
choices!(
    /// How neighbours are weighted in eq. 3.
    Attn, "attention", {
        /// By the softmax of eq. 4.
        #[default]
        Learned => "learned",
        /// All the same: the ablation "Eq. 3 w/o α".
        Uniform => "uniform",
        /// Each by one, so that their sum counts and not their mean.
        Sum => "sum",
    }
);
choices!(
    /// The inputs of attention to a neighbour in eq. 2.
    AttnInput, "attention input", {
        /// The relation to it.
        #[default]
        Relation => "rel",
        /// The relation and the neighbour itself: the ablation "Eq. 4 with c".
        RelationEntity => "rel+entity",
    }
);
choices!(
    /// The vectors of neighbours that eq. 3 sums.
    AggInput, "aggregation input", {
        /// The relation to it and the neighbour itself.
        #[default]
        RelationEntity => "rel+entity",
        /// The neighbour alone: the ablation "Eq. 3 w/o r".
        Entity => "entity",
    }
);
choices!(
    /// The pairs over which the relation `r` of eq. 1 is taken (D4).
    RScope, "scope of r", {
        /// Each pair by itself: the text says "given an entity pair".
        #[default]
        Pair => "pair",
        /// The mean over the support of a task.
        TaskMean => "task_mean",
    }
);
choices!(
    /// How W5 of eq. 6 starts. Not in the paper.
    RelInit, "start of W5", {
        /// Like the other weights.
        #[default]
        Init => "init",
        /// At zero: with a residual, training starts at the mean translation of the vectors.
        Zero => "zero",
        /// At `[−I, I]`, so that R is `t' − h'` before its activation: with `score_space = "encoded"` training starts at the
        /// mean translation between encoded entities.
        Translation => "translation",
    }
);
choices!(
    /// How W3 and W4 of eqs. 3 and 5 start. Not in the paper.
    EncoderInit, "start of W3 and W4", {
        /// Like the other weights.
        #[default]
        Init => "init",
        /// W3 at zero and W4 at the identity, so that e' is the activation of e: neighbours say nothing at first.
        Identity => "identity",
    }
);
choices!(
    /// Whether heads and tails are encoded by the same weights (D8).
    Ends, "ends", {
        /// By the same: "this also holds for the tail".
        #[default]
        Shared => "shared",
        /// Each end has its own weights.
        Separate => "separate",
    }
);
choices!(
    /// An activation function (D9).
    Activation, "activation", {
        /// 1 / (1 + e⁻ˣ), of eq. 5.
        #[default]
        Sigmoid => "sigmoid",
        /// The hyperbolic tangent.
        Tanh => "tanh",
        /// Slope 0.01 below zero, of eq. 6.
        LeakyRelu => "leaky_relu",
        /// The identity.
        None => "none",
    }
);
choices!(
    /// A vector that is added to the relation that the encoder makes of a pair. Not in the paper.
    Residual, "residual", {
        /// Nothing.
        #[default]
        None => "none",
        /// The pair's own translation `t − h` in the scoring rows: the encoder then learns a correction.
        Translation => "translation",
    }
);
choices!(
    /// Which vectors of entities enter the score (D2).
    ScoreSpace, "score space", {
        /// Rows of the table: in the paper, only eqs. 5 and 6 have primes.
        #[default]
        Raw => "raw",
        /// The output of the encoder at both ends of every scored pair, also of candidates.
        Encoded => "encoded",
        /// In the support loss the ends of support pairs are encoded; all else are rows.
        EncodedSupport => "encoded_support",
    }
);
choices!(
    /// Whether entity rows learn (D3).
    TrainEntities, "training of entities", {
        /// A copy for the score does; `r`, neighbours and pruning keep the pre-trained rows.
        #[default]
        Copy => "copy",
        /// They stay as pre-trained.
        Frozen => "frozen",
        /// One table serves both and learns from both, as in MetaR.
        Shared => "shared",
    }
);
choices!(
    /// Where similarity for pruning is measured (D14).
    PruneSpace, "prune space", {
        /// The dot product of pre-trained rows, which never changes.
        #[default]
        Frozen => "frozen",
        /// The cosine of pre-trained rows.
        Cosine => "cosine",
        /// The dot product of scoring rows as they are at the time.
        Scoring => "scoring",
    }
);
choices!(
    /// What happens if fewer candidates survive pruning than negatives are wanted (D16).
    FewSurvivors, "rule for few survivors", {
        /// The most similar ones are taken, pruned or not.
        #[default]
        Nearest => "nearest",
        /// Survivors are drawn with replacement.
        Repeat => "repeat",
    }
);
choices!(
    /// Which negatives the support has in evaluation (D28).
    TestNegatives, "choice of test negatives", {
        /// Drawn as in training, by the seed of the relation.
        #[default]
        Seeded => "seeded",
        /// The first valid candidates in file order, as in MetaR.
        FirstValid => "first_valid",
    }
);
choices!(
    /// How negatives are weighted in the loss.
    NegWeight, "weighting of negatives", {
        /// By the attention of eqs. 9 and 10.
        #[default]
        Attention => "attention",
        /// By 1/J: the ablation "w/o negative attention".
        Uniform => "uniform",
        /// By one, so that the loss grows with J.
        One => "one",
        /// By the softmax of their scores, as in RotatE: the ablation "RotatE loss".
        SelfAdversarial => "self_adversarial",
    }
);
choices!(
    /// Which rows the attention of eq. 9 compares (D18).
    BetaSpace, "space of β", {
        /// Those that are scored.
        #[default]
        Scoring => "scoring",
        /// The pre-trained ones.
        Frozen => "frozen",
    }
);
choices!(
    /// The divisor of the logits of eq. 9 (D18).
    BetaScale, "scale of β", {
        /// √(2d), as printed.
        #[default]
        Sqrt2d => "sqrt2d",
        /// Nothing.
        None => "none",
    }
);
choices!(
    /// How the support loss is summed up for the inner step (D19).
    InnerReduction, "inner reduction", {
        /// The sum over the support: what eq. 13 says, and the same in training and evaluation.
        #[default]
        Sum => "sum",
        /// The mean over the support.
        MeanTask => "mean_task",
        /// In training the mean over all supports of the batch, in evaluation over the support: public
        /// code does so, and its inner step is batch-size times smaller in training.
        MeanBatch => "mean_batch",
        /// Half the sum, as RotatE averages its two parts.
        Half => "half",
    }
);
choices!(
    /// How query losses are summed up (D21).
    OuterReduction, "outer reduction", {
        /// The mean over all queries of a batch.
        #[default]
        Mean => "mean",
        /// Their sum, as eq. 17 is printed.
        Sum => "sum",
    }
);
/// Left out of files, so that settings of earlier runs stay the same.
#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks for it")]
fn is_false(value: &bool) -> bool {
    !value
}

impl EncoderInit {
    /// Whether it is as it was before there was a choice, so that settings of earlier runs stay the same.
    fn is_default(&self) -> bool {
        *self == Self::default()
    }
}

/// The order of the meta-gradient (D22), written as 0, 1 or 2.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(try_from = "u8", into = "u8")]
pub enum MetaOrder {
    /// No inner step, in training and in evaluation.
    Zero,
    /// The inner gradient counts as a constant, as in all public code of this family.
    #[default]
    First,
    /// Exact: the gradient goes through the inner step.
    Second,
}

impl TryFrom<u8> for MetaOrder {
    type Error = String;

    fn try_from(order: u8) -> Result<Self, String> {
        match order {
            0 => Ok(Self::Zero),
            1 => Ok(Self::First),
            2 => Ok(Self::Second),
            _ => Err(format!("meta_order is {order}; say 0, 1 or 2")),
        }
    }
}

impl From<MetaOrder> for u8 {
    fn from(order: MetaOrder) -> Self {
        order as Self
    }
}

/// Which candidates may be negatives (eq. 8, D13): written as `off`, `threshold(0.2)` or `quantile(0.5)`.
///
/// ```
/// use rana_models::rana::Prune;
/// assert_eq!("quantile(0.25)".parse(), Ok(Prune::Quantile(0.25)));
/// assert_eq!(Prune::Off.to_string(), "off");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub enum Prune {
    /// All: the ablation "w/o pruning".
    Off,
    /// Those at least this similar to the true tail.
    Threshold(f32),
    /// This share of the task's candidates, the most similar to the true tail.
    Quantile(f32),
}

impl fmt::Display for Prune {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Off => f.write_str("off"),
            Self::Threshold(tau) => write!(f, "threshold({tau})"),
            Self::Quantile(share) => write!(f, "quantile({share})"),
        }
    }
}

impl FromStr for Prune {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let number = |name: &str| -> Option<f32> {
            text.strip_prefix(name)?.strip_prefix('(')?.strip_suffix(')')?.trim().parse().ok()
        };
        match (text, number("threshold"), number("quantile")) {
            ("off", ..) => Ok(Self::Off),
            (_, Some(tau), _) => Ok(Self::Threshold(tau)),
            (_, _, Some(share)) => Ok(Self::Quantile(share)),
            _ => Err(format!("`{text}` is no pruning; say off, threshold(0.2) or quantile(0.5)")),
        }
    }
}

impl TryFrom<String> for Prune {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        text.parse()
    }
}

impl From<Prune> for String {
    fn from(prune: Prune) -> Self {
        prune.to_string()
    }
}

/// Every choice of RANA; those of its training are in [`TrainerConfig`].
///
/// The default is what the paper says; where it is silent, the value and its reason are given. The
/// dimension is that of the pre-trained vectors: the paper's "50 for NELL, 100 for Wiki" is the reverse
/// of the vectors that all public code uses (D1).
///
/// ```
/// use rana_models::rana::RanaConfig;
/// use rana_models::training::TrainerConfig;
/// let config = RanaConfig { eta: f32::NAN, ..RanaConfig::default() };
/// let error = config.check(&TrainerConfig::default()).unwrap_err();
/// assert_eq!(error.to_string(), "eta is NaN; it must be a finite number of at least 0");
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct RanaConfig {
    // The encoder, eqs. 1 to 7.
    /// Neighbours per entity (section 5: "the maximum number of neighbours is 25").
    pub neighbours: usize,
    /// Which of them. The paper is silent (D11); first in file order is what all public code does.
    pub neighbour_choice: NeighbourChoice,
    /// Whether training hides the edges of a task's own relation from its entities. It matters where background relations are
    /// tasks: there the edge that is asked for is a neighbour. The paper is silent (D35); visible in public code.
    #[serde(skip_serializing_if = "is_false")]
    pub hide_own_edges: bool,
    /// What fills missing places. The paper is silent (D12); zeros that take attention are an artefact.
    pub padding: Padding,
    /// The weights α of eqs. 3 and 4; an entity without neighbours aggregates to zero.
    pub attn: Attn,
    /// The inputs of eq. 2; no effect unless attention is learned.
    pub attn_input: AttnInput,
    /// The terms of eq. 3.
    pub agg_input: AggInput,
    /// The hidden size of eq. 2; that of the vectors if 0. The paper is silent (D6).
    pub hidden: usize,
    /// Whether linear maps have biases. The paper is silent (D6); that of W2 would cancel in the softmax.
    pub bias: bool,
    /// How weights start. The paper is silent (D7).
    pub init: Init,
    /// How W3 and W4 start. The paper is silent; like the other weights.
    #[serde(skip_serializing_if = "EncoderInit::is_default")]
    pub enc_init: EncoderInit,
    /// How W5 starts. The paper is silent; like the other weights.
    pub rel_init: RelInit,
    /// Whether eqs. 2 to 5 share their weights between heads and tails (D8).
    pub ends: Ends,
    /// Over what eq. 1 is taken (D4).
    pub r_scope: RScope,
    /// The activation of eq. 5.
    pub enc_act: Activation,
    /// The activation of eq. 6. With the sigmoid of eq. 5 it makes R almost non-negative, an odd prior
    /// for a translation, but so it is printed (D9).
    pub rel_act: Activation,
    /// What is added to eq. 6. Not in the paper, hence nothing.
    pub residual: Residual,
    /// The share of components of the neighbours' sum that is dropped in training. The paper mentions
    /// no dropout (D10).
    pub emb_dropout: f32,
    /// The share of components of `[h'; t']` that is dropped in training. As above.
    pub fc_dropout: f32,

    // Tables and the score, eqs. 11 and 12.
    /// Which vectors enter the score (D2). If all are encoded, entity rows learn only if they are shared.
    pub score_space: ScoreSpace,
    /// Whether entity rows learn. The paper is silent (D3); with frozen rows of unit norm, γ = 12 would
    /// be degenerate.
    pub train_entities: TrainEntities,
    /// Whether relation rows learn. The paper is silent (D5).
    pub train_relations: bool,
    /// γ of eq. 12.
    pub gamma: f32,

    // Negatives, eqs. 8 to 10.
    /// Negatives per pair (section 5: "the number of negative samples is 5").
    #[serde(rename = "J")]
    pub negatives: usize,
    /// Whether the queries of an episode share their negatives, but for those that are true for one of them, and so do the pairs of
    /// a support. The paper is silent (D37): J for each pair. With encoded entities in the score, shared ones cost far less.
    #[serde(skip_serializing_if = "is_false")]
    pub share_negatives: bool,
    /// Candidate pruning, eq. 8. The paper does not give its threshold (D13); a share of the candidates
    /// does not depend on the scale of the vectors.
    pub prune: Prune,
    /// Where similarity is measured (D14).
    pub prune_space: PruneSpace,
    /// Whether the negatives of a support are pruned in evaluation too; ranked candidates never are (D15).
    pub prune_at_test: bool,
    /// The rule if too few candidates survive pruning (D16).
    pub few_survivors: FewSurvivors,
    /// Which negatives a support has in evaluation (D28).
    pub test_negatives: TestNegatives,
    /// Over how many draws of such negatives the adapted relation is averaged (D28).
    pub test_draws: usize,
    /// The weights β of eqs. 9, 10 and 13.
    pub neg_weight: NegWeight,
    /// The temperature of self-adversarial weights; of no effect on others.
    pub adv_temp: f32,
    /// Which rows eq. 9 compares (D18). This and what follows is of no effect unless negatives are weighted by
    /// attention.
    pub beta_space: BetaSpace,
    /// The divisor in eq. 9 (D18).
    pub beta_scale: BetaScale,
    /// The factor of its logits. With rows of unit norm, β is almost flat (D18).
    pub beta_temp: f32,
    /// Whether gradients flow through β. The paper is silent (D17); RotatE's do not, and else the loss
    /// falls by making tails dissimilar.
    pub beta_grad: bool,

    // Meta-learning, eqs. 13, 14 and 17.
    /// How the support loss is summed up (D19).
    pub inner_reduction: InnerReduction,
    /// How query losses are summed up (D21).
    pub outer_reduction: OuterReduction,
    /// η of eq. 14.
    pub eta: f32,
    /// Inner steps (section 4.4: "one gradient descent update"; D24).
    pub inner_steps: usize,
    /// Inner steps in evaluation, if not as many.
    pub test_inner_steps: Option<usize>,
    /// The order of the meta-gradient (D22).
    pub meta_order: MetaOrder,
    /// Whether the support loss is minimised too, as public code does by accident; eq. 17 says no (D23).
    pub outer_includes_support: bool,
}

impl Default for RanaConfig {
    /// The paper, to the letter.
    fn default() -> Self {
        Self {
            neighbours: 25,
            neighbour_choice: NeighbourChoice::default(),
            hide_own_edges: false,
            padding: Padding::default(),
            attn: Attn::default(),
            attn_input: AttnInput::default(),
            agg_input: AggInput::default(),
            hidden: 0,
            bias: true,
            init: Init::default(),
            enc_init: EncoderInit::default(),
            rel_init: RelInit::default(),
            ends: Ends::default(),
            r_scope: RScope::default(),
            enc_act: Activation::Sigmoid,
            rel_act: Activation::LeakyRelu,
            residual: Residual::default(),
            emb_dropout: 0.0,
            fc_dropout: 0.0,
            score_space: ScoreSpace::default(),
            train_entities: TrainEntities::default(),
            train_relations: false,
            gamma: 12.0,
            negatives: 5,
            share_negatives: false,
            prune: Prune::Quantile(0.5),
            prune_space: PruneSpace::default(),
            prune_at_test: true,
            few_survivors: FewSurvivors::default(),
            test_negatives: TestNegatives::default(),
            test_draws: 1,
            neg_weight: NegWeight::default(),
            adv_temp: 1.0,
            beta_space: BetaSpace::default(),
            beta_scale: BetaScale::default(),
            beta_temp: 1.0,
            beta_grad: false,
            inner_reduction: InnerReduction::default(),
            outer_reduction: OuterReduction::default(),
            eta: 1.0,
            inner_steps: 1,
            test_inner_steps: None,
            meta_order: MetaOrder::default(),
            outer_includes_support: false,
        }
    }
}

impl RanaConfig {
    /// Checks every field, also together with those of the trainer.
    ///
    /// # Errors
    /// At the first field that cannot be used.
    pub fn check(&self, trainer: &TrainerConfig) -> Result<(), ConfigError> {
        use FieldChecks as Is;
        Is::count("neighbours", self.neighbours, 0)?;
        Is::count("hidden", self.hidden, 0)?;
        Is::share("emb_dropout", self.emb_dropout)?;
        Is::share("fc_dropout", self.fc_dropout)?;
        Is::finite("gamma", self.gamma)?;
        Is::count("J", self.negatives, 1)?;
        match self.prune {
            Prune::Off => {}
            Prune::Threshold(tau) => require(tau.is_finite(), "prune", self.prune, "a finite threshold")?,
            Prune::Quantile(share) => {
                require(share > 0.0 && share <= 1.0, "prune", self.prune, "a share above 0 and up to 1")?;
            }
        }
        Is::count("test_draws", self.test_draws, 1)?;
        Is::at_least_zero("adv_temp", self.adv_temp)?;
        Is::finite("beta_temp", self.beta_temp)?;
        Is::at_least_zero("eta", self.eta)?;
        require(
            self.inner_steps > 0,
            "inner_steps",
            self.inner_steps,
            "at least 1; for no inner step set meta_order = 0",
        )?;
        Is::count("inner_steps", self.inner_steps, 1)?;
        self.test_inner_steps.map_or(Ok(()), |steps| Is::count("test_inner_steps", steps, 0))?;
        self.check_together(trainer)
    }

    /// Choices that contradict each other.
    fn check_together(&self, trainer: &TrainerConfig) -> Result<(), ConfigError> {
        require(
            !(self.beta_grad && self.neg_weight != NegWeight::Attention),
            "beta_grad",
            self.beta_grad,
            "false unless neg_weight is attention; other weights have no gradient",
        )?;
        require(
            !(self.beta_grad && self.beta_space == BetaSpace::Frozen),
            "beta_grad",
            self.beta_grad,
            "false if beta_space is frozen, which nothing can flow into",
        )?;
        require(
            !(self.score_space == ScoreSpace::Encoded && self.residual != Residual::None),
            "residual",
            self.residual,
            "none if score_space is encoded: a translation of rows means nothing there",
        )?;
        require(
            !(self.score_space == ScoreSpace::Encoded && self.prune_space == PruneSpace::Scoring),
            "prune_space",
            self.prune_space,
            "frozen or cosine if score_space is encoded, where candidates have no vector before they are drawn",
        )?;
        require(
            trainer.adam_rows == RowUpdates::Sparse
                || self.train_entities == TrainEntities::Copy && self.prune_space != PruneSpace::Scoring,
            "adam_rows",
            trainer.adam_rows,
            "sparse unless train_entities is copy and prune_space is not scoring: missed updates are replayed for rows \
             that are scored, and for no others",
        )?;
        require(
            self.rel_init != RelInit::Zero || self.residual != Residual::None,
            "rel_init",
            self.rel_init,
            "init or translation without a residual, or every relation would start at zero",
        )?;
        let learns_rows = self.train_entities != TrainEntities::Frozen;
        require(
            learns_rows || trainer.max_norm.is_none(),
            "max_norm",
            trainer.max_norm.unwrap_or_default(),
            "left out if train_entities is frozen",
        )?;
        require(
            learns_rows || self.train_relations || trainer.entity_learning_rate.is_none(),
            "entity_learning_rate",
            trainer.entity_learning_rate.unwrap_or_default(),
            "left out if no table learns",
        )?;
        require(
            self.meta_order != MetaOrder::Zero || self.test_inner_steps.is_none(),
            "test_inner_steps",
            self.test_inner_steps.unwrap_or_default(),
            "left out if meta_order is 0, which means no inner step at all",
        )?;
        require(
            self.test_negatives == TestNegatives::Seeded || self.test_draws == 1,
            "test_draws",
            self.test_draws,
            "1 unless test_negatives is seeded, or all draws would be the same",
        )
    }

    /// The inner steps of an evaluation.
    #[must_use]
    pub fn evaluation_steps(&self) -> usize {
        match self.meta_order {
            MetaOrder::Zero => 0,
            _ => self.test_inner_steps.unwrap_or(self.inner_steps),
        }
    }

    /// The inner steps of training.
    #[must_use]
    pub fn training_steps(&self) -> usize {
        if self.meta_order == MetaOrder::Zero { 0 } else { self.inner_steps }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::training::RunConfig;

    #[test]
    fn the_preset_of_the_paper_is_the_default() {
        let paper = RunConfig::new(TrainerConfig::default(), RanaConfig::default());
        assert_eq!(RunConfig::preset("rana", "paper").unwrap(), paper);
    }

    #[test]
    fn what_cannot_be_used_is_named() {
        let base = RanaConfig::default();
        let trainer = TrainerConfig::default();
        base.check(&trainer).unwrap();
        let bad = [
            (RanaConfig { negatives: 0, ..base.clone() }, "J"),
            (RanaConfig { eta: f32::INFINITY, ..base.clone() }, "eta"),
            (RanaConfig { gamma: f32::NAN, ..base.clone() }, "gamma"),
            (RanaConfig { prune: Prune::Quantile(0.0), ..base.clone() }, "prune"),
            (RanaConfig { prune: Prune::Threshold(f32::NAN), ..base.clone() }, "prune"),
            (RanaConfig { beta_grad: true, neg_weight: NegWeight::Uniform, ..base.clone() }, "beta_grad"),
            (RanaConfig { fc_dropout: 1.0, ..base.clone() }, "fc_dropout"),
        ];
        for (config, field) in bad {
            assert_eq!(config.check(&trainer).unwrap_err().field, field);
        }
    }

    #[test]
    fn a_file_gives_back_the_same_configuration() {
        let config = RanaConfig {
            prune: Prune::Threshold(0.25),
            meta_order: MetaOrder::Second,
            attn_input: AttnInput::RelationEntity,
            ..RanaConfig::default()
        };
        let text = toml::to_string(&config).unwrap();
        assert!(text.contains("J = 5") && text.contains("attn_input = \"rel+entity\""), "{text}");
        assert_eq!(toml::from_str::<RanaConfig>(&text).unwrap(), config);
        let trainer = TrainerConfig { max_norm: Some(2.0), ..TrainerConfig::default() };
        let whole = RunConfig::new(trainer, config);
        let text = toml::to_string(&whole).unwrap();
        assert!(text.contains("J = 5") && text.contains("max_norm = 2.0"), "{text}");
        assert_eq!(toml::from_str::<RunConfig>(&text).unwrap(), whole);
        for wrong in ["J = -1", "meta_order = 3", "prune = \"some\"", "shotz = 5"] {
            assert!(toml::from_str::<RanaConfig>(wrong).is_err(), "{wrong}");
            assert!(toml::from_str::<RunConfig>(wrong).is_err(), "{wrong}");
        }
    }
}
