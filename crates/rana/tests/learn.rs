//! From files to answers in one call: the program of the README, and what may come between.

use std::collections::BTreeSet;
use std::error::Error;
use std::fs;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

use rana::graph::{Progress, Split, Unit};
use rana::predictor::{LearnedRelation, NamedAnswer, PredictorError};
use rana::trial::Watch;
use rana::{LearnError, Learning, Predictor, learn};

#[path = "../examples/complete_from_five.rs"]
mod program;

/// Five of the pairs that UMLS states, of a relation that the split withholds.
const FIVE: [(&str, &str); 5] = [
    ("bacterium", "pathologic_function"),
    ("fungus", "disease_or_syndrome"),
    ("antibiotic", "congenital_abnormality"),
    ("enzyme", "neoplastic_process"),
    ("food", "acquired_abnormality"),
];

/// Stops when the stage of a name begins.
struct StopAt {
    stage: &'static str,
    stop: AtomicBool,
}

impl StopAt {
    fn stage(stage: &'static str) -> Self {
        Self { stage, stop: AtomicBool::new(false) }
    }

    /// Lets nothing be trained at all.
    fn once() -> Self {
        Self { stage: "", stop: AtomicBool::new(true) }
    }
}

impl Progress for StopAt {
    fn begin(&self, stage: &str, _: Option<u64>, _: Unit) {
        if stage == self.stage {
            self.stop.store(true, Ordering::Relaxed);
        }
    }
    fn advance(&self, _: u64) {}
    fn end(&self) {}
}

impl Watch for StopAt {
    fn progress(&self) -> &dyn Progress {
        self
    }
    fn stop(&self) -> &AtomicBool {
        &self.stop
    }
}

fn answers(predictor: &Predictor) -> Result<Vec<NamedAnswer>, PredictorError> {
    Ok(predictor.learn_named("causes", &FIVE)?.answers("virus", 3)?)
}

#[test]
fn five_pairs_complete_a_relation_that_was_never_seen() {
    let dir = tempfile::tempdir().unwrap();
    let out = dir.path().join("learned-umls");
    let umls = || [rana::umls()];

    // Stopped between pre-training and the first model; the next call goes on.
    let stopped = Learning::default().learn(umls(), &out, &StopAt::stage("meta-training"));
    assert!(matches!(stopped, Err(LearnError::Stopped)));
    assert!(!out.join("run/run.json").exists());
    let predictor = learn(umls(), &out).unwrap();

    assert_eq!(predictor.model_name(), "rana-fused");
    let graph = predictor.graph();
    let causes = graph.relation("causes").unwrap();
    assert_eq!(predictor.store().tasks.task(causes).unwrap().split, Split::Test);
    assert!(!graph.is_background(causes));
    let first = answers(&predictor).unwrap();
    assert_eq!(first.len(), 3);
    for answer in &first {
        assert!(graph.entity(&answer.name).is_some() && !answer.label.is_empty());
        assert!(answer.confidence.is_some_and(|sure| (0.0..=1.0).contains(&sure)), "{answer:?}");
        assert!(answer.reason.len() > 10 && answer.score.is_finite(), "{answer:?}");
    }
    assert!(first.is_sorted_by(|one, other| one.score >= other.score));
    // UMLS has the facts of the relation, though no training has seen them.
    assert!(first.iter().any(|answer| answer.known), "{first:?}");

    // Names are forgiving about case, and a misspelt one is no guess.
    let learned = predictor.learn_named("causes", &FIVE).unwrap();
    assert_eq!(learned.answers("Virus", 3).unwrap(), first);
    let misspelt = learned.answers("viruss", 3).unwrap_err();
    assert_eq!(misspelt.suggestions, ["virus"]);
    assert_eq!(misspelt.to_string(), "there is no entity `viruss` in the graph; did you mean `virus`?");
    let error = predictor.learn_named("causes", &[("bacterum", "neoplastic_process")]).err();
    assert!(
        matches!(&error, Some(PredictorError::Unresolved(of)) if of.suggestions == ["bacterium"]),
        "{error:?}"
    );
    // A relation that the graph does not have is learned too.
    assert_eq!(predictor.learn_named("brings_about", &FIVE).unwrap().answers("virus", 2).unwrap().len(), 2);

    // The second call trains nothing, and the answers are the same.
    let again = Learning::default().learn(umls(), &out, &StopAt::once()).unwrap();
    assert_eq!(answers(&again).unwrap(), first);

    // Another seed would be another result, which must not take the place of this one.
    let other = Learning { seed: 1 }.learn(umls(), &out, &StopAt::once()).err();
    assert!(matches!(other, Some(LearnError::Other { .. })), "{other:?}");

    // The program opens what is there.
    std::env::set_current_dir(dir.path()).unwrap();
    program::main().unwrap();
}

#[test]
fn the_readme_has_the_program() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let example = fs::read_to_string(root.join("examples/complete_from_five.rs")).unwrap();
    let program =
        &example[example.find("pub(crate) fn main").unwrap()..].replace("pub(crate) fn main", "fn main");
    let readme = fs::read_to_string(root.join("../../README.md")).unwrap();
    assert!(readme.contains(program), "README.md and examples/complete_from_five.rs differ");
}

/// A graph of people: `rare` relations with twelve facts each, and one that all people have.
fn people(rare: usize) -> String {
    let mut facts = String::new();
    for person in 0..60 {
        for number in 1..4 {
            facts += &format!("p{person}\tknows\tp{}\n", (person * 7 + number * 11) % 60);
        }
    }
    for relation in 0..rare {
        for fact in 0..12 {
            let person = (fact * 5 + relation) % 60;
            facts += &format!("p{person}\tr{relation}\tp{}\n", (person * 7 + 11 + relation) % 60);
        }
    }
    facts
}

#[test]
fn a_graph_that_is_too_small_is_refused_and_nothing_of_others_is_touched() -> Result<(), Box<dyn Error>> {
    let dir = tempfile::tempdir()?;
    let [file, out, full] = ["facts.tsv", "out", "full"].map(|name| dir.path().join(name));
    fs::write(&file, people(3))?;
    let error = learn([file.as_path()], &out).err().ok_or("learned")?;
    assert_eq!(
        error.to_string(),
        "the graph is too small to learn from. It needs at least 4 relations with 10 facts or more, and beside them \
         others with at least half as many facts. Of its 4 relations 4 have 10 facts or more"
    );
    assert!(!out.exists());
    fs::write(&file, people(6))?;
    let error = Learning::default().learn([file.as_path()], &out, &StopAt::once()).err();
    assert!(matches!(error, Some(LearnError::Stopped)), "{error:?}");

    fs::create_dir(&full)?;
    fs::write(full.join("letter.txt"), "dear")?;
    let error = learn([file.as_path()], &full).err();
    assert!(matches!(error, Some(LearnError::Occupied { .. })), "{error:?}");
    let left: BTreeSet<_> = fs::read_dir(&full)?.map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(left, BTreeSet::from(["letter.txt".into()]));

    let error = learn([dir.path().join("missing.tsv")], dir.path().join("none")).err();
    assert!(matches!(error, Some(LearnError::Import(_))), "{error:?}");
    assert!(!dir.path().join("none").exists());
    Ok(())
}

#[test]
fn a_small_graph_is_learned_from_too() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("facts.tsv");
    fs::write(&file, people(6)).unwrap();
    let predictor = learn([file], dir.path().join("out")).unwrap();
    let tasks = &predictor.store().tasks;
    assert_eq!(Split::ALL.map(|split| tasks.of(split).count()), [4, 1, 1]);
    let learned = predictor.learn_named("likes", &[("p0", "p11"), ("p1", "p18"), ("p2", "p25")]).unwrap();
    let answers = learned.answers("p3", 2).unwrap();
    assert_eq!(answers.len(), 2);
    // Too few tasks to say how sure answers are; the reason is said.
    assert!(answers.iter().all(|answer| answer.confidence.is_none() && !answer.reason.is_empty()));
    assert!(learned.note().unwrap().starts_with("too few examples"));
}

/// They can be shared between threads and kept in any struct.
const _: fn() = || {
    fn is_shared<T: Send + Sync + 'static>() {}
    is_shared::<Predictor>();
    is_shared::<LearnedRelation>();
};
