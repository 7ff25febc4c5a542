//! [`AnswerLimits`]: how many answers are wanted, and how sure they must be.

/// Which answers are wanted of a head.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct AnswerLimits {
    /// At most so many.
    pub top: usize,
    /// None that score less.
    pub min_score: Option<f32>,
    /// The least confidence of an answer. Answers without a confidence are left out.
    pub min_confidence: Option<f32>,
}

impl Default for AnswerLimits {
    fn default() -> Self {
        Self { top: 10, min_score: None, min_confidence: None }
    }
}
