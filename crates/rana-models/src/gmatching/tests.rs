//! Gradients against finite differences, and what scores must not depend on.

use super::config::{FewShots, GmatchingConfig, Padding};
use super::network::Gmatching;
use crate::matching::Similarity;
use crate::matching::test_kit::{DIM, Fixture};
use crate::training::SteppedConfig;

/// As the public code has it.
fn code() -> GmatchingConfig {
    GmatchingConfig {
        neighbours: 3,
        padding: Padding::Counted,
        neighbour_dropout: 0.5,
        pair_encoder: true,
        pair_dropout: 0.2,
        start_with_reference: false,
        similarity: Similarity::Dot,
        ..GmatchingConfig::default()
    }
}

#[test]
fn gradients_are_those_of_finite_differences() {
    let paper = GmatchingConfig { neighbours: 3, ..GmatchingConfig::default() };
    let configs = [
        paper.clone(),
        GmatchingConfig { fine_tune: true, process_steps: 3, ..paper.clone() },
        GmatchingConfig { standardise: true, process_steps: 0, ..paper.clone() },
        GmatchingConfig { few_shots: FewShots::Max, negatives: 2, ..paper },
        code(),
        GmatchingConfig { fine_tune: true, ..code() },
    ];
    for config in configs {
        let what = format!("{config:?}");
        Fixture::new(config.negatives).check_gradients(&Gmatching::new(&config, DIM), &what);
    }
}

#[test]
fn a_score_does_not_depend_on_its_batch() {
    for config in [GmatchingConfig { few_shots: FewShots::Max, ..code() }, GmatchingConfig::default()] {
        let fixture = Fixture::new(1);
        let model = config.model(&fixture.trainer(), &fixture.graph, DIM);
        fixture.check_scores(&model);
    }
}

#[test]
fn the_same_batch_gives_the_same_bits_with_any_number_of_threads() {
    let fixture = Fixture::new(1);
    fixture.check_threads(&code().model(&fixture.trainer(), &fixture.graph, DIM));
}
