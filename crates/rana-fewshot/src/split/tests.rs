use super::*;
use crate::candidates::CandidateRule;
use rana_graph::{Duplicates, Graph, GraphBuilder, Split};

/// `big` with 60 facts, `few` and `fewer` with 20 and 12, and `wef` which reverses 17 of `few`'s.
fn graph() -> Graph {
    let mut builder = GraphBuilder::new(Duplicates::Remove);
    for n in 0..60 {
        builder.add_named(&format!("e{n}"), "big", &format!("e{}", n / 3));
    }
    for n in 0..20 {
        builder.add_named(&format!("e{n}"), "few", &format!("f{n}"));
    }
    for n in 0..17 {
        builder.add_named(&format!("f{n}"), "wef", &format!("e{n}"));
    }
    for n in 0..12 {
        builder.add_named(&format!("e{n}"), "fewer", &format!("e{}", 59 - n));
    }
    builder.finish()
}

fn settings() -> SplitSettings {
    SplitSettings { more_than: 10, less_than: 50, ..SplitSettings::default() }
}

fn names(train: &[&str], dev: &[&str], test: &[&str]) -> SplitSettings {
    let own = |names: &[&str]| names.iter().map(|&name| name.to_owned()).collect();
    let names = RelationNames { train: own(train), dev: own(dev), test: own(test) };
    SplitSettings { assignment: Assignment::Names(names), ..settings() }
}

fn run(settings: SplitSettings) -> Result<SplitOutcome, SplitError> {
    split(&graph(), &SplitConfig::try_from(settings)?)
}

fn tasks(outcome: &SplitOutcome) -> Vec<(Split, &str)> {
    outcome.report.tasks.iter().map(|task| (task.split, task.relation.as_str())).collect()
}

#[test]
fn an_inverse_of_a_task_leaves_tasks_and_background() {
    let outcome = run(settings()).unwrap();
    let removed = RemovedInverse {
        relation: "wef".to_owned(),
        inverse_of: "few".to_owned(),
        facts: 17,
        was_task: true,
    };
    assert_eq!(outcome.report.removed_inverses, [removed]);
    assert_eq!(outcome.report.background_facts, 60);
    assert_eq!(outcome.graph.relation_names().iter().next(), Some("big"));
    let mut names: Vec<&str> = tasks(&outcome).into_iter().map(|task| task.1).collect();
    names.sort_unstable();
    assert_eq!(names, ["few", "fewer"]);
    // Nothing but `few` and `wef` knows the twenty entities f0, f1, ...
    assert_eq!(outcome.report.isolated_entities, 20);
    assert_eq!(outcome.report.facts_at_isolated_entities, 20);
    assert_eq!(outcome.report.reversed_facts_left, 0);
}

#[test]
fn an_inverse_that_is_no_task_leaves_the_background_too() {
    let outcome = run(names(&[], &[], &["few"])).unwrap();
    assert_eq!(outcome.report.removed_inverses.len(), 1);
    assert!(!outcome.report.removed_inverses[0].was_task);
    assert_eq!(outcome.report.background_facts, 72);
}

#[test]
fn inverses_stay_on_request_and_below_the_share() {
    let kept = run(SplitSettings { keep_inverses: true, ..settings() }).unwrap();
    assert_eq!(kept.tasks.len(), 3);
    // 17 of the 20 facts of `few` stand reversed: 85 %.
    let outcome = run(SplitSettings { inverse_share: 0.9, ..names(&["few"], &[], &[]) }).unwrap();
    assert!(outcome.report.removed_inverses.is_empty());
    assert_eq!(outcome.report.reversed_facts_left, 17);
    let outcome = run(SplitSettings { inverse_share: 0.85, ..names(&["few"], &[], &[]) }).unwrap();
    assert_eq!(outcome.report.removed_inverses.len(), 1);
}

#[test]
fn a_relation_that_only_contains_the_reversed_facts_is_no_inverse() {
    let mut builder = GraphBuilder::new(Duplicates::Remove);
    for n in 0..100 {
        builder.add_named(&format!("b{n}"), "wide", &format!("a{n}"));
    }
    for n in 0..20 {
        builder.add_named(&format!("a{n}"), "narrow", &format!("b{n}"));
    }
    let outcome = split(&builder.finish(), &SplitConfig::try_from(settings()).unwrap()).unwrap();
    assert!(outcome.report.removed_inverses.is_empty());
    assert_eq!(outcome.report.reversed_facts_left, 20);
}

#[test]
fn names_decide_whatever_the_counts_and_their_order_stays() {
    let outcome = run(names(&["fewer", "big"], &[], &["few"])).unwrap();
    let expected = [(Split::Train, "fewer"), (Split::Train, "big"), (Split::Test, "few")];
    assert_eq!(tasks(&outcome), expected);
    let few = outcome.tasks.of(Split::Test).next().unwrap();
    assert_eq!(few.facts.len(), 20);
    let heads: Vec<&str> = few.facts[..3].iter().map(|pair| outcome.graph.entity_name(pair.head)).collect();
    assert_eq!(heads, ["e0", "e1", "e2"]);
    assert_eq!(outcome.tasks.known_tails(few.facts[0].head, few.relation), [few.facts[0].tail]);
}

#[test]
fn errors_name_what_is_wrong() {
    let error = |settings| run(settings).unwrap_err();
    let ratio = |train, dev, test| SplitSettings {
        assignment: Assignment::Ratio(Ratio { train, dev, test }),
        ..settings()
    };
    assert_eq!(
        error(SplitSettings { less_than: 10, ..settings() }),
        SplitError::EmptyRange { more_than: 10, less_than: 10 }
    );
    assert_eq!(
        error(SplitSettings { inverse_share: 0.0, ..settings() }),
        SplitError::BadInverseShare { value: 0.0 }
    );
    assert!(matches!(error(ratio(1.0, f64::NAN, 1.0)), SplitError::BadRatio { split: Split::Dev, .. }));
    assert_eq!(error(ratio(1.0, 1.0, -1.0)), SplitError::BadRatio { split: Split::Test, value: -1.0 });
    assert_eq!(error(ratio(0.0, 0.0, 0.0)), SplitError::BadRatioSum { sum: 0.0 });
    assert!(matches!(error(ratio(f64::MAX, f64::MAX, 0.0)), SplitError::BadRatioSum { .. }));
    assert_eq!(error(names(&[], &[], &[])), SplitError::NoNames);
    assert_eq!(
        error(names(&["few"], &["few"], &[])).to_string(),
        "relation `few` is named for train and again for dev; name it once"
    );
    assert_eq!(
        error(names(&[], &[], &["typo"])).to_string(),
        "relation `typo`, named for test, is not in the graph; check its spelling"
    );
    assert_eq!(
        error(SplitSettings { more_than: 100, less_than: 200, ..settings() }),
        SplitError::NothingFewShot { relations: 4, more_than: 100, less_than: 200 }
    );
    assert_eq!(error(SplitSettings { candidates: CandidateRule::Types, ..settings() }), SplitError::NoTypes);
}

#[test]
fn a_relation_that_is_a_task_already_cannot_be_named() {
    let mut builder = GraphBuilder::new(Duplicates::Remove);
    builder.add_named("a", "r", "b");
    builder.add_task_relation("t").unwrap();
    let config = SplitConfig::try_from(names(&["t"], &[], &[])).unwrap();
    let error = split(&builder.finish(), &config).unwrap_err();
    assert_eq!(error, SplitError::NoFacts { name: "t".to_owned(), split: Split::Train });
}

#[test]
fn a_configuration_is_checked_when_it_is_read() {
    let config: SplitConfig =
        serde_json::from_str(r#"{"more_than": 5, "assignment": {"names": {"test": ["few"]}}}"#).unwrap();
    assert_eq!(config.settings().less_than, 500);
    let written = serde_json::to_string(&config).unwrap();
    assert_eq!(serde_json::from_str::<SplitConfig>(&written).unwrap(), config);
    let error = serde_json::from_str::<SplitConfig>(r#"{"more_than": 500}"#).unwrap_err();
    assert!(error.to_string().contains("more_than is 500"));
    assert!(serde_json::from_str::<SplitConfig>(r#"{"less_then": 500}"#).is_err());
}

#[test]
fn relations_that_state_types_are_no_tasks() {
    let mut builder = GraphBuilder::new(Duplicates::Remove);
    for n in 0..8 {
        let entity = builder.intern_entity(&format!("e{n}"));
        builder.add_named(&format!("e{n}"), "is_a", &format!("class{}", n % 2));
        builder.add_type(entity, &format!("class{}", n % 2));
        builder.add_named(&format!("e{n}"), "likes", &format!("e{}", n / 2));
    }
    builder.add_type_relation("is_a");
    let graph = builder.finish();
    let settings = SplitSettings { more_than: 5, less_than: 20, ..Default::default() };
    let outcome = split(&graph, &SplitConfig::try_from(settings).unwrap()).unwrap();
    assert_eq!(outcome.tasks.len(), 1);
    let is_a = outcome.graph.relation("is_a").unwrap();
    assert_eq!(outcome.graph.type_relations(), [is_a]);
    let names = RelationNames { test: vec!["is_a".into()], ..Default::default() };
    let named = SplitSettings { assignment: Assignment::Names(names), ..Default::default() };
    let refused = split(&graph, &SplitConfig::try_from(named).unwrap()).unwrap_err();
    assert!(matches!(refused, SplitError::StatesTypes { .. }), "{refused}");
}

#[test]
fn named_twins_are_refused() {
    let mut builder = GraphBuilder::new(Duplicates::Remove);
    for n in 0..8 {
        builder.add_named(&format!("e{n}"), "parent", &format!("c{n}"));
        builder.add_named(&format!("c{n}"), "child", &format!("e{n}"));
        builder.add_named(&format!("e{n}"), "other", "hub");
    }
    let graph = builder.finish();
    let names =
        RelationNames { train: vec!["parent".into()], test: vec!["child".into()], ..Default::default() };
    let settings = SplitSettings { assignment: Assignment::Names(names), ..Default::default() };
    let refused = split(&graph, &SplitConfig::try_from(settings.clone()).unwrap()).unwrap_err();
    assert!(refused.to_string().contains("`parent` and `child` are the inverse of each other"), "{refused}");
    let kept = SplitSettings { keep_inverses: true, ..settings };
    assert_eq!(split(&graph, &SplitConfig::try_from(kept).unwrap()).unwrap().tasks.len(), 2);
}
