//! Choices of the inner step.

use crate::choices::choices;

choices!(
    /// How the support loss is summed up for the inner step.
    SupportReduction, "support reduction", {
        /// The sum over the support, as the papers print it.
        #[default]
        Sum => "sum",
        /// The mean over the support.
        MeanTask => "mean_task",
        /// In training the mean over all supports of the batch, in evaluation over the support. The public code does
        /// so: its inner step is batch-size times smaller in training than in evaluation.
        MeanBatch => "mean_batch",
    }
);
choices!(
    /// Which negatives the support has in evaluation. The papers are silent.
    SupportNegatives, "choice of support negatives", {
        /// The first valid candidates in file order, as in the public code.
        #[default]
        FirstValid => "first_valid",
        /// Drawn as in training, by the seed of the relation.
        Seeded => "seeded",
    }
);
