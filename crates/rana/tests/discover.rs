//! The best new facts of any relation: found by rules, in one list, by shard, and resumed.

#![allow(clippy::unwrap_used)]

use std::collections::HashSet;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use rana::discover::{DiscoverLimits, Discoverer, Discovery, DiscoveryError};
use rana::graph::format::Source;
use rana::graph::{Observer, Pair};
use rana::{Learning, Predictor};

/// Couples who are married both ways, towns in countries, and people of the country they were born in.
fn facts(without: &[(usize, &str)]) -> String {
    let mut lines = String::new();
    let mut fact = |at: usize, head: String, relation: &str, tail: String| {
        if !without.contains(&(at, relation)) {
            lines += &format!("{head}\t{relation}\t{tail}\n");
        }
    };
    for at in 0..60 {
        let (town, land) = (at % 12, at % 4);
        fact(at, format!("person{at}"), "married", format!("person{}", at ^ 1));
        fact(at, format!("person{at}"), "born_in", format!("town{town}"));
        fact(at, format!("person{at}"), "citizen_of", format!("land{land}"));
        fact(at, format!("person{at}"), "likes", format!("thing{}", (at * 7) % 23));
        fact(at % 12, format!("town{town}"), "lies_in", format!("land{land}"));
    }
    lines
}

const WITHHELD: [(usize, &str); 4] =
    [(6, "married"), (17, "married"), (20, "citizen_of"), (33, "citizen_of")];

fn predictor(dir: &tempfile::TempDir) -> Predictor {
    let source = Source::Memory { name: "facts.tsv".to_owned(), bytes: facts(&WITHHELD).into_bytes().into() };
    // Vectors are not looked at, so none are trained.
    let learning = Learning { budget: Some(Duration::from_millis(1)), ..Learning::default() };
    learning.learn([source], dir.path().join("learned"), &()).unwrap()
}

/// Stops after so many steps.
struct StopAfter(AtomicU64);

impl Observer for StopAfter {
    fn advance(&self, by: u64) {
        let left = self.0.load(Ordering::Relaxed);
        self.0.store(left.saturating_sub(by), Ordering::Relaxed);
    }
    fn should_stop(&self) -> bool {
        self.0.load(Ordering::Relaxed) == 0
    }
}

#[test]
fn withheld_facts_are_the_surest_of_one_list() {
    let dir = tempfile::tempdir().unwrap();
    let predictor = predictor(&dir);
    let discoverer = Discoverer::new(&predictor);
    let graph = predictor.graph();
    let all = Discovery::default();
    let (list, report) = all.run(&discoverer, None, &()).unwrap();
    assert!(report.relations == 5 && report.found == list.len() && report.resumed == 0, "{report:?}");
    assert!(list.is_sorted_by(|one, other| one.confidence >= other.confidence));
    let named = |of: &rana::discover::NamedDiscovery| {
        let name = |entity| graph.entity_name(entity);
        (name(of.pair.head), graph.relation_name(of.relation), name(of.pair.tail))
    };
    let first: HashSet<_> = list.iter().take(4).map(named).collect();
    let withheld = [
        ("person6", "married", "person7"),
        ("person17", "married", "person16"),
        ("person20", "citizen_of", "land0"),
        ("person33", "citizen_of", "land1"),
    ];
    assert_eq!(first, HashSet::from(withheld), "{:?}", list.iter().take(8).map(named).collect::<Vec<_>>());
    // Each has the rule that led to it as its reason, and is no known fact.
    let said = |relation: &str| {
        list.iter().find(|of| named(of).1 == relation).map(|of| of.reason.clone()).unwrap_or_default()
    };
    assert!(said("married").contains("connected by `married⁻¹`"), "{}", said("married"));
    assert!(said("citizen_of").contains("are facts") || said("citizen_of").contains("have this tail"));
    assert!(list.iter().all(|of| !graph.contains(of.pair.head, of.relation, of.pair.tail)));
    assert!(list.iter().all(|of| of.pair.head != of.pair.tail));

    // Limits: fewer facts, surer facts, bounded work.
    let born = graph.relation("born_in").unwrap();
    let of = |limits: DiscoverLimits| discoverer.discover(born, &limits);
    let usual = of(DiscoverLimits::default());
    assert_eq!(of(DiscoverLimits { top: 1, ..DiscoverLimits::default() }), usual[..1]);
    let sure = DiscoverLimits { min_confidence: 0.8, ..DiscoverLimits::default() };
    assert!(of(sure).len() < usual.len() && of(sure).iter().all(|of| of.confidence >= 0.8));
    // One head is always looked at to the end.
    assert!(of(DiscoverLimits { work: 1, ..DiscoverLimits::default() }).len() <= 3);
}

#[test]
fn shards_are_the_whole_and_an_interruption_changes_nothing() {
    let dir = tempfile::tempdir().unwrap();
    let predictor = predictor(&dir);
    let discoverer = Discoverer::new(&predictor);
    let (whole, _) = Discovery::default().run(&discoverer, None, &()).unwrap();
    let key = |of: &rana::discover::NamedDiscovery| (of.relation, of.pair, of.confidence.to_bits());
    let of_shards: Vec<_> = (0..3)
        .flat_map(|at| {
            let shard = Discovery { shard: Some((at, 3)), ..Discovery::default() };
            shard.run(&discoverer, None, &()).unwrap().0
        })
        .collect();
    let sorted = |list: &[rana::discover::NamedDiscovery]| {
        let mut keys: Vec<(_, Pair, _)> = list.iter().map(key).collect();
        keys.sort_unstable();
        keys
    };
    assert_eq!(sorted(&of_shards), sorted(&whole));

    // Stopped after the first relations; the parts that are there are used.
    let parts = dir.path().join("parts");
    let top = Discovery { top: Some(7), ..Discovery::default() };
    let stopped = top.run(&discoverer, Some(&parts), &StopAfter(AtomicU64::new(1)));
    assert!(matches!(stopped, Err(DiscoveryError::Stopped)));
    std::fs::remove_file(parts.join("3.jsonl")).unwrap();
    let (list, report) = top.run(&discoverer, Some(&parts), &()).unwrap();
    assert_eq!((list.len(), report.resumed, report.relations), (7, 4, 5));
    assert_eq!(list, whole[..7]);

    // Parts of other limits are left alone, and a damaged one is named.
    let other = Discovery { limits: DiscoverLimits { top: 3, ..DiscoverLimits::default() }, ..top.clone() };
    assert!(matches!(other.run(&discoverer, Some(&parts), &()), Err(DiscoveryError::Other { .. })));
    std::fs::write(parts.join("1.jsonl"), "{\"head\":").unwrap();
    let damaged = top.run(&discoverer, Some(&parts), &()).unwrap_err();
    assert!(damaged.to_string().contains("1.jsonl"), "{damaged}");
}
