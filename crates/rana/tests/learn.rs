//! From files to answers in one call: the program of the README, and what may come between.

use std::collections::BTreeSet;
use std::error::Error;
use std::fs;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

use rana::graph::{ImportOptions, Observer, Split, Store, Unit, import};
use rana::predictor::{LearnedRelation, NamedAnswer, PredictorError};
use rana::{LEARNED, LearnError, Learning, Predictor, Quality, learn};

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

impl Observer for StopAt {
    fn begin(&self, stage: &str, _: Option<u64>, _: Unit) {
        if stage == self.stage {
            self.stop.store(true, Ordering::Relaxed);
        }
    }
    fn should_stop(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }
}

fn answers(predictor: &Predictor) -> Result<Vec<NamedAnswer>, PredictorError> {
    Ok(predictor.learn_named("causes", &FIVE)?.answers("virus", 3)?)
}

/// UMLS without the relation that is completed.
fn without_causes() -> Learning {
    Learning { leave_out: vec!["causes".to_owned()], ..Learning::default() }
}

#[test]
fn five_pairs_complete_a_relation_that_was_never_seen() {
    let dir = tempfile::tempdir().unwrap();
    let out = dir.path().join("learned-umls");
    let umls = || [rana::umls()];

    // Stopped in the middle of the last vectors; the next call resumes.
    let stage = StopAt::stage("training vectors (transe) on every fact");
    let stopped = without_causes().learn(umls(), &out, &stage);
    assert!(matches!(stopped, Err(LearnError::Stopped)));
    assert!(!out.join("run.json").exists());
    let predictor = without_causes().learn(umls(), &out, &()).unwrap();
    assert!(!out.join("withheld").exists());
    assert!(!out.join("vectors/transe/checkpoint").exists());

    // An interruption changes nothing.
    let unbroken = dir.path().join("unbroken");
    without_causes().learn(umls(), &unbroken, &()).unwrap();
    for file in ["evidence.json", "quality.json"] {
        assert_eq!(fs::read(out.join(file)).unwrap(), fs::read(unbroken.join(file)).unwrap(), "{file}");
    }

    // It was measured on relations left out, and beats what learns nothing.
    let quality = Quality::read(&out).unwrap();
    assert_eq!(quality.chosen, LEARNED);
    assert!(quality.relations.len() >= 5, "{quality:?}");
    assert!(quality.relations.iter().all(|of| of.name != "causes" && of.queries > 0));
    let learned = quality.chosen_row().unwrap();
    assert!(quality.rows.iter().all(|row| row.mrr <= learned.mrr), "{:?}", quality.rows);

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
    // A relation that the graph does not have is never made up silently.
    let error = predictor.learn_named("cause", &FIVE).err();
    assert!(
        matches!(&error, Some(PredictorError::UnknownRelation(of)) if of.suggestions[0].0 == "causes"),
        "{error:?}"
    );
    assert_eq!(predictor.learn_new(&FIVE).unwrap().answers("virus", 2).unwrap().len(), 2);
    // A relation of the graph has examples of its own.
    let own = predictor.default_support(predictor.relation("treats").unwrap()).unwrap();
    let treats = predictor.relation("treats").unwrap();
    let facts = predictor.graph().facts().iter().filter(|fact| fact.relation == treats).count();
    assert!(facts > 20 && own.len() == facts.min(10_000), "{} of {facts}", own.len());

    // The second call trains nothing, and the answers are the same, wherever the directory is.
    let again = without_causes().learn(umls(), &out, &StopAt::once()).unwrap();
    assert_eq!(answers(&again).unwrap(), first);
    let moved = dir.path().join("moved");
    drop((predictor, learned, again));
    fs::rename(&out, &moved).unwrap();
    assert_eq!(answers(&Predictor::open(&moved, None).unwrap()).unwrap(), first);
    fs::rename(&moved, &out).unwrap();

    // Another seed would be another result, which must not take the place of this one.
    let other = Learning { seed: 1, ..without_causes() }.learn(umls(), &out, &StopAt::once()).err();
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
fn what_cannot_be_learned_from_is_refused_and_nothing_of_others_is_touched() -> Result<(), Box<dyn Error>> {
    let dir = tempfile::tempdir()?;
    let [file, out, full] = ["facts.tsv", "out", "full"].map(|name| dir.path().join(name));
    fs::write(&file, people(6))?;
    let error = Learning::default().learn([file.as_path()], &out, &StopAt::once()).err();
    assert!(matches!(error, Some(LearnError::Stopped)), "{error:?}");

    fs::create_dir(&full)?;
    fs::write(full.join("letter.txt"), "dear")?;
    let error = learn([file.as_path()], &full).err();
    assert!(matches!(error, Some(LearnError::Occupied { .. })), "{error:?}");
    let left: BTreeSet<_> = fs::read_dir(&full)?.map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(left, BTreeSet::from(["letter.txt".into()]));

    let none = dir.path().join("none");
    let error = learn([dir.path().join("missing.tsv")], &none).err();
    assert!(matches!(error, Some(LearnError::Import(_))), "{error:?}");
    let unknown = Learning { leave_out: vec!["knowz".to_owned()], ..Learning::default() };
    let error = unknown.learn([file.as_path()], &none, &()).err();
    assert!(matches!(error, Some(LearnError::UnknownRelation(_))), "{error:?}");
    let small = Learning { memory: Some(1000), ..Learning::default() };
    let error = small.learn([file.as_path()], &none, &()).err();
    assert!(matches!(error, Some(LearnError::Memory { .. })), "{error:?}");
    Ok(())
}

#[test]
fn every_graph_gets_a_model() {
    let dir = tempfile::tempdir().unwrap();
    let learned = |name: &str, facts: String| {
        let file = dir.path().join(format!("{name}.tsv"));
        fs::write(&file, facts).unwrap();
        let out = dir.path().join(name);
        let predictor = learn([file], &out).unwrap();
        (predictor, Quality::read(&out))
    };
    let pairs = [("p0", "p11"), ("p1", "p18"), ("p2", "p25")];

    // Seven relations: the six rare ones are left out in two groups, since five of them have a fifth of the facts.
    let (predictor, quality) = learned("few", people(6));
    assert_eq!(quality.unwrap().relations.len(), 6);
    let answers = predictor.learn_new(&pairs).unwrap().answers("p3", 2).unwrap();
    assert!(answers.len() == 2 && answers.iter().all(|answer| !answer.reason.is_empty()));

    // Two relations: one of them can be left out. That is too little to say how sure answers are, and the reason is said.
    let (predictor, quality) = learned("two", people(1));
    assert_eq!(quality.unwrap().relations.len(), 1);
    let new = predictor.learn_new(&pairs).unwrap();
    let answers = new.answers("p3", 2).unwrap();
    assert!(answers.len() == 2 && answers.iter().all(|answer| answer.confidence.is_none()));
    assert!(new.note().unwrap().starts_with("too few examples"));

    // A single relation: nothing can be left out, and answers rest on what is usual in other graphs.
    let (predictor, quality) = learned("one", people(0));
    assert_eq!(quality, None);
    let knows = predictor.relation("knows").unwrap();
    let support = predictor.default_support(knows).unwrap();
    assert!(!support.is_empty());
    assert_eq!(predictor.learn_new(&pairs).unwrap().answers("p3", 2).unwrap().len(), 2);
}

/// They can be shared between threads and kept in any struct.
const _: fn() = || {
    fn is_shared<T: Send + Sync + 'static>() {}
    is_shared::<Predictor>();
    is_shared::<LearnedRelation>();
};

#[test]
fn a_graph_in_memory_and_a_store_of_it_are_learned_from_alike() -> Result<(), Box<dyn Error>> {
    let dir = tempfile::tempdir()?;
    let [file, kg, out] = ["facts.tsv", "kg", "out"].map(|name| dir.path().join(name));
    fs::write(&file, people(6))?;
    let imported = import(&[file.as_path().into()], &ImportOptions::default(), &())?;
    let learning = Learning::default();
    let (graph, tasks) = (&imported.graph, &imported.tasks);
    let predictor = learning.learn_graph(graph, tasks, imported.inputs.clone(), &out, &())?;
    assert_eq!(predictor.store().manifest.inputs, imported.inputs);
    // Nothing is left to do for the store of the same graph.
    Store::write(&kg, graph, tasks, Vec::new())?;
    learning.learn_store(&Store::open(&kg)?, &out, &StopAt::once())?;
    fs::write(&file, people(7))?;
    let other = import(&[file.as_path().into()], &ImportOptions::default(), &())?;
    let error = learning.learn_graph(&other.graph, &other.tasks, Vec::new(), &out, &()).err();
    assert!(matches!(error, Some(LearnError::Other { .. })), "{error:?}");
    Ok(())
}
