//! The models of rana: everything that scores, what trains them, and the registry that names them.
//!
//! This crate does the step `episodes → training → run` of the data flow.
//!
//! | folder | concept |
//! | --- | --- |
//! | `training/` | training by steps: trainer, optimiser, learned rows, run directory, dev selection |
//! | `rana/`, `metar/`, `gmatching/`, `fsrl/`, `faan/`, `gana/`, `hire/` | one published model each |
//! | `matching/` | what GMatching and FSRL share: the matching of a pair with a support |
//! | `relation_meta/` | what MetaR, GANA and HiRe share: the margin loss and the inner step |
//! | `tape/` | gradients of models that are made of matrices |
//! | `fused/` | a trained model and the evidence in the graph |
//! | `vectors/` | link-prediction vectors among few-shot models |
//! | `baseline.rs` | training-free baselines |
//! | `paths/` | which edges a relation may see, and the paths through them |
//! | `label_similarity.rs` | how similar the labels of entities are, and which are equal |
//! | `registry.rs`, `opened_run.rs` | one line per model, and the opening of a run of any of them |
//!
//! # How to add a model
//! Write a folder with a configuration that implements [`training::SteppedConfig`] and a model that implements
//! [`training::SteppedModel`], add its presets, and add one line to the registry. Training, resuming, evaluation,
//! sweeps, reproduction, completion and serving then work without another change.

mod baseline;
mod choices;
mod combine_by_entity;
pub mod faan;
pub mod fsrl;
pub mod fused;
pub mod gana;
mod gathered_rows;
pub mod gmatching;
pub mod hire;
mod label_similarity;
mod matching;
pub mod metar;
mod opened_run;
pub mod paths;
pub mod rana;
mod real;
pub mod registry;
pub mod relation_meta;
mod seed;
mod tape;
pub mod training;
mod translation;
mod vector_kernels;
pub mod vectors;

pub use baseline::{Baseline, BaselineKind};
pub use opened_run::{HeadsModel, MEAN_TRANSLATION, OpenError, OpenedModel, OpenedRun, RunToOpen};

#[cfg(test)]
mod tests {
    use crate::faan::{AttentionScale, EntityOutput, HeadLayout, Positions, ReferenceScale, Width};
    use crate::fused::EvidenceKind;
    use crate::gana::{FinalState, FreePlaces, NormalLength, NormalStep, Normals, StateReading};
    use crate::gmatching::{FewShots, Similarity};
    use crate::hire::{EntityTransfers, RelationTransfers, Residual as HireResidual, TransferStep};
    use crate::rana::{
        Activation, AggInput, Attn, AttnInput, BetaScale, BetaSpace, EncoderInit, Ends, FewSurvivors,
        InnerReduction, NegWeight, NeighbourChoice, OuterReduction, Padding, PruneSpace, RScope, RelInit,
        Residual, ScoreSpace, TestNegatives, TrainEntities,
    };
    use crate::relation_meta::{SupportNegatives, SupportReduction};
    use crate::training::{Init, Lengths, RowUpdates};

    /// Parsing, printing and serde must agree on every name.
    macro_rules! check_names {
        ($($type:ident),+) => {$(
            for &variant in $type::ALL {
                assert_eq!(variant.to_string().parse::<$type>(), Ok(variant));
                let json = serde_json::to_string(&variant).unwrap();
                assert_eq!(json, format!("\"{variant}\""));
                assert_eq!(serde_json::from_str::<$type>(&json).unwrap(), variant);
            }
        )+};
    }

    #[test]
    fn every_name_is_the_same_everywhere() {
        check_names!(EvidenceKind, Init, Lengths, RowUpdates);
        check_names!(SupportNegatives, SupportReduction);
        check_names!(FinalState, FreePlaces, NormalLength, NormalStep, Normals, StateReading);
        check_names!(EntityTransfers, RelationTransfers, HireResidual, TransferStep);
        check_names!(FewShots, Similarity);
        check_names!(AttentionScale, EntityOutput, HeadLayout, Positions, ReferenceScale, Width);
        check_names!(
            Activation,
            AggInput,
            Attn,
            AttnInput,
            BetaScale,
            BetaSpace,
            Ends,
            FewSurvivors,
            InnerReduction,
            NegWeight,
            NeighbourChoice,
            OuterReduction,
            Padding,
            PruneSpace,
            RScope,
            EncoderInit,
            RelInit,
            Residual,
            ScoreSpace,
            TestNegatives,
            TrainEntities
        );
    }
}
