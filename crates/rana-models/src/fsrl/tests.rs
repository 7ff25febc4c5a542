//! Gradients against finite differences, and what scores must not depend on.

use super::config::{FsrlConfig, Padding};
use super::network::Fsrl;
use crate::matching::Similarity;
use crate::matching::test_kit::{DIM, Fixture};
use crate::training::SteppedConfig;

/// As the public code has it, but for the decoder: what is taken for a constant there moves in a finite difference.
fn code() -> FsrlConfig {
    FsrlConfig {
        neighbours: 5,
        padding: Padding::Attended,
        neighbour_dropout: 0.5,
        pair_encoder: true,
        pair_dropout: 0.5,
        reconstruction: 0.3,
        start_with_reference: false,
        ..FsrlConfig::default()
    }
}

#[test]
fn gradients_are_those_of_finite_differences() {
    let paper = FsrlConfig { neighbours: 4, reconstruction: 0.7, ..FsrlConfig::default() };
    let configs = [
        paper.clone(),
        FsrlConfig { fine_tune: true, similarity: Similarity::Cosine, ..paper },
        code(),
        FsrlConfig { fine_tune: true, process_steps: 1, ..code() },
    ];
    for config in configs {
        let what = format!("{config:?}");
        Fixture::new(config.negatives).check_gradients(&Fsrl::new(&config, DIM), &what);
    }
}

/// Without the decoder the loss is the same, and only the pairs move.
#[test]
fn a_detached_decoder_has_no_gradient() {
    let network = |detach_decoder| {
        let config = FsrlConfig { detach_decoder, ..code() };
        let network = Fsrl::new(&config, DIM);
        let (loss, gradient) = Fixture::new(1).loss_and_gradient(&network);
        let blocks = crate::matching::Network::blocks(&network).blocks().to_vec();
        let decoder = blocks.iter().find(|block| block.name == "support.decoder.input").unwrap();
        (loss, decoder.of(&gradient).iter().any(|&slope| slope != 0.0))
    };
    let ((loss, learns), (detached, detached_learns)) = (network(false), network(true));
    assert_eq!((loss, learns, detached_learns), (detached, true, false));
}

#[test]
fn a_score_does_not_depend_on_its_batch() {
    for config in [code(), FsrlConfig::default()] {
        let fixture = Fixture::new(1);
        fixture.check_scores(&config.model(&fixture.trainer(), &fixture.graph, DIM));
    }
}

#[test]
fn the_same_batch_gives_the_same_bits_with_any_number_of_threads() {
    let fixture = Fixture::new(1);
    fixture.check_threads(&code().model(&fixture.trainer(), &fixture.graph, DIM));
}
