//! The generator as its users see it: by the files it writes.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::fs;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};

use proptest::prelude::*;

use super::*;
use crate::observer::{Observer, Unit};
use crate::split::Split;

type Names = (String, String, String);
type Tasks = BTreeMap<String, Vec<Names>>;

struct Release {
    report: SynthReport,
    facts: Vec<Names>,
    tasks: BTreeMap<&'static str, Tasks>,
    candidates: BTreeMap<String, Vec<String>>,
    filter: HashMap<String, Vec<String>>,
    entities: HashMap<String, u64>,
    relations: HashMap<String, u64>,
}

impl Release {
    fn make(config: &SynthConfig) -> Self {
        let parent = tempfile::tempdir().unwrap();
        let dir = parent.path().join("release");
        let report = write_release(&dir, config, &()).unwrap();
        Self {
            report,
            facts: lines(&fs::read_to_string(dir.join("path_graph")).unwrap()),
            tasks: Split::ALL.map(|split| (split.name(), json(&dir, &format!("{split}_tasks.json")))).into(),
            candidates: json(&dir, "rel2candidates.json"),
            filter: json(&dir, "e1rel_e2.json"),
            entities: json(&dir, "ent2ids"),
            relations: json(&dir, "relation2ids"),
        }
    }

    fn all_tasks(&self) -> impl Iterator<Item = (&String, &Vec<Names>)> {
        self.tasks.values().flatten()
    }

    /// Everything the documentation of the module calls exact.
    fn check_exact(&self, config: &SynthConfig) {
        let distinct: HashSet<&Names> = self.facts.iter().collect();
        assert_eq!(distinct.len() as u64, config.triples);
        assert_eq!(self.facts.len() as u64, config.triples);
        assert_eq!(self.report.background.total(), config.triples);
        assert!(self.facts.iter().all(|(head, _, tail)| head != tail));
        let entities: HashSet<&String> = self.facts.iter().flat_map(|(head, _, tail)| [head, tail]).collect();
        assert_eq!(entities.len() as u64, config.entities);
        assert_eq!(self.entities.len() as u64, config.entities);
        assert!(entities.iter().all(|&name| self.entities[name] < config.entities));
        let relations: HashSet<&String> = self.facts.iter().map(|(_, relation, _)| relation).collect();
        assert_eq!(relations.len() as u64, config.background_relations);
        assert_eq!(self.relations.len() as u64, 2 * config.background_relations);
        for relation in relations {
            assert_eq!(self.relations[relation] + 1, self.relations[&format!("{relation}_inv")]);
        }
        self.check_tasks(config);
    }

    fn check_tasks(&self, config: &SynthConfig) {
        for split in Split::ALL {
            assert_eq!(self.tasks[split.name()].len() as u64, config.few_shot_relations.of(split));
        }
        let mut known = 0;
        for (relation, facts) in self.all_tasks() {
            assert!((config.min_facts..=config.max_facts).contains(&(facts.len() as u64)));
            assert_eq!(facts.iter().collect::<HashSet<_>>().len(), facts.len());
            assert!(!self.relations.contains_key(relation));
            let candidates: HashSet<&String> = self.candidates[relation].iter().collect();
            assert_eq!(candidates.len(), self.candidates[relation].len());
            assert!(candidates.len() as u64 <= config.candidate_cap);
            for (head, of, tail) in facts {
                assert_eq!(of, relation);
                assert!(self.entities.contains_key(head) && head != tail);
                assert!(candidates.contains(tail));
                assert!(self.filter[&format!("{head}{relation}")].contains(tail));
            }
            assert!(candidates.iter().all(|name| type_of(name) == type_of(&facts[0].2)));
            known += facts.len();
        }
        assert_eq!(self.candidates.len(), self.all_tasks().count());
        assert_eq!(self.filter.values().map(Vec::len).sum::<usize>(), known);
        assert_eq!(self.report.few_shot_facts as usize, known);
    }
}

fn json<T: serde::de::DeserializeOwned>(dir: &Path, name: &str) -> T {
    serde_json::from_str(&fs::read_to_string(dir.join(name)).unwrap()).unwrap()
}

fn lines(text: &str) -> Vec<Names> {
    let fact = |line: &str| {
        let mut fields = line.split('\t').map(str::to_owned);
        let mut next = || fields.next().unwrap();
        (next(), next(), next())
    };
    text.lines().map(fact).collect()
}

fn type_of(entity: &str) -> &str {
    entity.split(':').nth(1).unwrap()
}

/// The numbers behind `_of_` in a relation's name.
fn parts(relation: &str) -> Vec<String> {
    let (_, numbers) = relation.split_once("_of_").unwrap();
    numbers.split('_').map(|number| format!("concept:translates_{number}")).collect()
}

fn tsv(settings: SynthSettings) -> Vec<u8> {
    let mut lines = Vec::new();
    write_tsv(&mut lines, &SynthConfig::new(settings).unwrap(), &()).unwrap();
    lines
}

/// Which facts follow from background facts, by the names of their relations.
struct Rules<'a> {
    facts: HashSet<(&'a str, &'a str, &'a str)>,
    tails: HashMap<(&'a str, &'a str), Vec<&'a str>>,
}

impl<'a> Rules<'a> {
    fn new(facts: &'a [Names]) -> Self {
        let mut tails: HashMap<_, Vec<&str>> = HashMap::new();
        for (head, relation, tail) in facts {
            tails.entry((&head[..], &relation[..])).or_default().push(tail);
        }
        Self { facts: facts.iter().map(|(h, r, t)| (&h[..], &r[..], &t[..])).collect(), tails }
    }

    fn follows(&self, (head, relation, tail): &Names) -> bool {
        if relation.contains("symmetric") {
            return self.facts.contains(&(tail, relation, head));
        }
        match &parts(relation)[..] {
            [of] => self.facts.contains(&(tail, of, head)),
            [first, second] => {
                let middles = self.tails.get(&(&head[..], &first[..])).into_iter().flatten();
                middles.into_iter().any(|middle| self.facts.contains(&(middle, second, tail)))
            }
            _ => unreachable!("a name with one or two parts"),
        }
    }

    /// The share of facts that follow from background facts.
    fn rate<'f>(&self, facts: impl IntoIterator<Item = &'f Names>) -> f64 {
        let (mut all, mut hold) = (0, 0);
        for fact in facts {
            all += 1;
            hold += u32::from(self.follows(fact));
        }
        f64::from(hold) / f64::from(all)
    }
}

#[test]
fn the_small_preset_is_exact() {
    let config = SynthConfig::like("small").unwrap();
    Release::make(&config).check_exact(&config);
}

#[test]
fn the_candidate_cap_keeps_every_tail() {
    let settings = SynthSettings { candidate_cap: 160, ..SynthSettings::like("small").unwrap() };
    let config = SynthConfig::new(settings).unwrap();
    let release = Release::make(&config);
    release.check_exact(&config);
    assert!(release.candidates.values().all(|candidates| candidates.len() == 160));
}

#[test]
fn the_seed_decides_every_byte() {
    let settings = SynthSettings::like("small").unwrap();
    let other = SynthSettings { seed: 1, ..settings.clone() };
    assert_eq!(tsv(settings.clone()), tsv(settings.clone()));
    assert_ne!(tsv(settings.clone()), tsv(other));

    let parent = tempfile::tempdir().unwrap();
    let config = SynthConfig::new(settings.clone()).unwrap();
    let [first, second] = ["first", "second"].map(|name| parent.path().join(name));
    for dir in [&first, &second] {
        write_release(dir, &config, &()).unwrap();
    }
    assert_eq!(fs::read(first.join("path_graph")).unwrap(), tsv(settings));
    let mut names: Vec<_> = fs::read_dir(&first).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    names.sort();
    let expected = [
        "dev_tasks.json",
        "e1rel_e2.json",
        "ent2ids",
        "path_graph",
        "rel2candidates.json",
        "relation2ids",
        "test_tasks.json",
        "train_tasks.json",
    ];
    assert_eq!(names, expected);
    for name in names {
        assert_eq!(fs::read(first.join(&name)).unwrap(), fs::read(second.join(&name)).unwrap());
    }
}

#[test]
fn without_noise_every_planted_rule_holds() {
    let settings = SynthSettings { noise: 0.0, ..SynthSettings::like("small").unwrap() };
    let release = Release::make(&SynthConfig::new(settings).unwrap());
    let rules = Rules::new(&release.facts);
    // Some facts are random even so: an only fact of a relation, or a corner's cover.
    assert!(release.report.background.noise < 20, "{:?}", release.report);
    for family in ["inverse", "composed", "symmetric"] {
        let rate = rules.rate(release.facts.iter().filter(|(_, relation, _)| relation.contains(family)));
        assert!(rate > 0.99, "{family}: {rate}");
        if family != "symmetric" {
            let facts = || release.all_tasks().flat_map(|(_, facts)| facts);
            let rate = rules.rate(facts().filter(|(_, relation, _)| relation.contains(family)));
            assert!(rate > 0.95, "few-shot {family}: {rate}");
        }
    }
}

#[test]
fn noise_takes_its_stated_share() {
    let settings = SynthSettings { noise: 0.2, ..SynthSettings::like("small").unwrap() };
    let release = Release::make(&SynthConfig::new(settings).unwrap());
    let noise = release.report.background.noise as f64 / 12_000.0;
    assert!((noise - 0.2).abs() < 0.005, "{noise}");
    let rules = Rules::new(&release.facts);
    for family in ["inverse", "composed", "symmetric"] {
        let facts = release.facts.iter().filter(|(_, relation, _)| relation.contains(family));
        let rate = rules.rate(facts);
        assert!((rate - 0.8).abs() < 0.06, "{family}: {rate}");
    }
}

#[test]
fn sizes_have_a_long_tail() {
    let release = Release::make(&SynthConfig::like("small").unwrap());
    let mut sizes: HashMap<&String, u64> = HashMap::new();
    for (_, relation, _) in &release.facts {
        *sizes.entry(relation).or_default() += 1;
    }
    let mut sizes: Vec<u64> = sizes.into_values().collect();
    sizes.sort_unstable();
    assert!(sizes[23] > 5 * sizes[5], "{sizes:?}");
}

#[test]
fn progress_ends_at_the_total() {
    #[derive(Default)]
    struct Total {
        announced: AtomicU64,
        done: AtomicU64,
    }
    impl Observer for Total {
        fn begin(&self, _: &str, total: Option<u64>, _: Unit) {
            self.announced.store(total.unwrap(), Ordering::Relaxed);
        }
        fn advance(&self, amount: u64) {
            self.done.fetch_add(amount, Ordering::Relaxed);
        }
    }
    let seen = Total::default();
    write_tsv(std::io::sink(), &SynthConfig::like("small").unwrap(), &seen).unwrap();
    assert_eq!((seen.announced.into_inner(), seen.done.into_inner()), (12_000, 12_000));
}

#[test]
fn what_is_there_is_left_alone() {
    let parent = tempfile::tempdir().unwrap();
    let config = SynthConfig::like("small").unwrap();
    let file = parent.path().join("file");
    fs::write(&file, "precious").unwrap();
    for occupied in [parent.path(), &file] {
        let refused = write_release(occupied, &config, &());
        assert!(matches!(refused, Err(SynthError::Occupied { .. })));
    }
    let empty = parent.path().join("empty");
    fs::create_dir(&empty).unwrap();
    write_release(&empty, &config, &()).unwrap();
    assert!(empty.join("path_graph").exists());
    let below_a_file = write_release(&file.join("release"), &config, &()).unwrap_err();
    assert!(below_a_file.to_string().contains("file"), "{below_a_file}");
    let left = fs::read_dir(parent.path()).unwrap().count();
    assert_eq!(left, 2, "nothing unfinished stays behind");
}

#[test]
fn a_failing_writer_is_reported() {
    struct Full;
    impl std::io::Write for Full {
        fn write(&mut self, _: &[u8]) -> std::io::Result<usize> {
            Err(std::io::ErrorKind::StorageFull.into())
        }

        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }
    let failed = write_tsv(Full, &SynthConfig::like("small").unwrap(), &());
    assert!(matches!(failed, Err(SynthError::Write(_))));
}

prop_compose! {
    fn settings()(
        types in 1u64..6,
        type_size in 32u64..120,
        spare in 0u64..32,
        more_relations in 0u64..12,
        more_triples in 0u64..4_000,
        few in (0u64..3, 0u64..3, 0u64..3),
        facts in (51u64..120, 0u64..100),
        noise in 0.0..0.5f64,
        zipf in 0.0..2.0f64,
        cap in 0u64..200,
        seed in any::<u64>(),
    ) -> SynthSettings {
        let entities = types * type_size + spare.min(types - 1);
        let background_relations = 2 * types + more_relations;
        let (min_facts, max_facts) = (facts.0, facts.0 + facts.1);
        SynthSettings {
            entities,
            triples: entities + background_relations + more_triples,
            types,
            background_relations,
            background_shares: BackgroundShares::default(),
            few_shot_relations: PerSplit { train: few.0, dev: few.1, test: few.2 },
            few_shot_shares: FewShotShares::default(),
            min_facts,
            max_facts,
            noise,
            zipf,
            candidate_cap: max_facts + cap,
            seed,
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn counts_are_exact_for_any_settings(settings in settings()) {
        let Ok(config) = SynthConfig::new(settings) else { return Err(TestCaseError::reject("refused")) };
        Release::make(&config).check_exact(&config);
    }
}
