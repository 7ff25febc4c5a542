//! Reads a release in the public format of NELL-One.

use std::collections::{BTreeSet, HashMap};
use std::path::Path;

use serde::de::IgnoredAny;

use super::json::{Text, for_each_entry};
use super::{
    CANDIDATES, ENTITY_IDS, ENTITY_TEXT, ENTITY_TYPES, FILTER, INVERSE_SUFFIX, PATH_GRAPH, RELATION_IDS,
    RELATION_TEXT, tasks_file, type_by_name, type_in_name,
};
use crate::fact::{Fact, Pair};
use crate::format::{
    DelimitedOptions, FormatError, Header, OpenSource, Place, Sink, Source, Statement, delimited,
};
use crate::graph::Graph;
use crate::graph_builder::{Duplicates, GraphBuilder, LabelRank};
use crate::id::{EntityId, RelationId};
use crate::malformed_input::MalformedInput;
use crate::observer::Observer;
use crate::split::Split;
use crate::statement_batch::{Batch, BatchSender, Disconnected, Kind, NamedStatement, pipeline};
use crate::store::Input;
use crate::tasks::{TaskSet, TaskSetBuilder};

/// What a release directory holds.
pub(crate) struct Release {
    pub(crate) graph: Graph,
    pub(crate) tasks: TaskSet,
    pub(crate) inputs: Vec<Input>,
    pub(crate) facts_read: u64,
    pub(crate) duplicates: u64,
    pub(crate) self_loops: u64,
}

/// Reads a release directory; `skipped` decides whether malformed entries are skipped.
pub(crate) fn read_release(
    directory: &Path,
    duplicates: Duplicates,
    progress: &dyn Observer,
    skipped: &mut MalformedInput,
) -> Result<Release, FormatError> {
    let mut files = Files { directory, progress, inputs: Vec::new() };
    let mut builder = GraphBuilder::new(duplicates);
    let vocabulary = Vocabulary {
        entities: read_entity_ids(&mut files, &mut builder)?,
        relations: read_relation_ids(&mut files, &mut builder)?,
    };
    let facts_read = read_path_graph(&mut files, &mut builder, vocabulary, skipped)?;
    read_labels(&mut files, ENTITY_TEXT, &mut builder, skipped)?;
    read_labels(&mut files, RELATION_TEXT, &mut builder, skipped)?;
    if !read_types(&mut files, &mut builder, skipped)? {
        add_types_in_names(&mut builder);
    }

    let task_files = read_task_files(&mut files)?;
    let candidates = files.load(CANDIDATES)?;
    add_task_relations(&task_files, candidates.as_ref(), &mut builder)?;
    let (duplicates, self_loops) = (builder.duplicate_count(), builder.self_loop_count());
    let graph = builder.finish();
    let mut tasks = TaskSetBuilder::default();
    for (split, file) in &task_files {
        read_tasks(file, *split, &graph, &mut tasks, skipped)?;
    }
    if let Some(file) = &candidates {
        read_candidates(file, &graph, &mut tasks, skipped)?;
    }
    match files.load(FILTER)? {
        Some(file) => read_filter(&file, &graph, &mut tasks, skipped)?,
        None => tasks.filter_from_tasks(),
    }
    Ok(Release { graph, tasks: tasks.finish(), inputs: files.inputs, facts_read, duplicates, self_loops })
}

/// The files of the directory; each is recorded among the inputs when it is read.
struct Files<'a> {
    directory: &'a Path,
    progress: &'a dyn Observer,
    inputs: Vec<Input>,
}

/// A file in memory.
struct LoadedFile {
    name: String,
    bytes: Vec<u8>,
}

impl Files<'_> {
    fn source(&self, file: &str) -> Option<Source> {
        let path = self.directory.join(file);
        path.is_file().then_some(Source::Path(path))
    }

    /// Reads a file with `read`, if it exists.
    fn read<T>(
        &mut self,
        file: &str,
        read: impl FnOnce(&mut OpenSource<'_>) -> Result<T, FormatError>,
    ) -> Result<Option<T>, FormatError> {
        let Some(source) = self.source(file) else { return Ok(None) };
        let (value, input) = read_input(&source, file, self.progress, read)?;
        self.inputs.push(input);
        Ok(Some(value))
    }

    fn load(&mut self, file: &str) -> Result<Option<LoadedFile>, FormatError> {
        self.read(file, |open| Ok(LoadedFile { name: open.name.clone(), bytes: open.read_all()? }))
    }
}

/// Reads a source with `read`, and records its size and hash under `name`.
fn read_input<T>(
    source: &Source,
    name: &str,
    progress: &dyn Observer,
    read: impl FnOnce(&mut OpenSource<'_>) -> Result<T, FormatError>,
) -> Result<(T, Input), FormatError> {
    let mut open = source.open(None, progress)?;
    let value = read(&mut open)?;
    let (bytes, sha256) = open.finish()?;
    Ok((value, Input { name: name.to_owned(), format: "nell-one".to_owned(), bytes, sha256 }))
}

/// Which vocabularies the release has; a name that is not in them is an error.
#[derive(Clone, Copy)]
struct Vocabulary {
    entities: bool,
    relations: bool,
}

/// Interns the entities in the order of `ent2ids`, if there is one.
fn read_entity_ids(files: &mut Files<'_>, builder: &mut GraphBuilder) -> Result<bool, FormatError> {
    let Some(names) = read_ids(files, ENTITY_IDS)? else { return Ok(false) };
    builder.intern_entities(&names);
    Ok(true)
}

/// Interns the relations in the order of `relation2ids`, if there is one, and records its rows.
fn read_relation_ids(files: &mut Files<'_>, builder: &mut GraphBuilder) -> Result<bool, FormatError> {
    let Some(names) = read_ids(files, RELATION_IDS)? else { return Ok(false) };
    let known: std::collections::HashSet<&str> = names.iter().map(String::as_str).collect();
    // `x_inv` is the inverse of `x` only where there is an `x`.
    let base =
        |name: &str| name.strip_suffix(INVERSE_SUFFIX).filter(|base| known.contains(base)).map(str::to_owned);
    for name in names.iter().filter(|name| base(name).is_none()) {
        builder.intern_relation(name);
    }
    let rows = names
        .iter()
        .map(|name| match base(name) {
            Some(base) => builder.intern_relation(&base).inverse(),
            None => builder.intern_relation(name),
        })
        .collect();
    builder.set_release_rows(rows);
    Ok(true)
}

/// The names of a JSON object name → row, in the order of the rows.
fn read_ids(files: &mut Files<'_>, file: &str) -> Result<Option<Vec<String>>, FormatError> {
    let Some(loaded) = files.load(file)? else { return Ok(None) };
    let mut rows: Vec<(u64, String)> = Vec::new();
    for_each_entry(&loaded.name, &loaded.bytes, |name, row: u64| {
        rows.push((row, name.to_owned()));
        Ok(())
    })?;
    // Most files are in order already.
    if !rows.is_sorted_by_key(|(row, _)| *row) {
        rows.sort_unstable();
    }
    for (expected, (row, name)) in rows.iter().enumerate() {
        if *row != expected as u64 {
            return Err(FormatError::Release {
                file: loaded.name,
                problem: format!(
                    "row numbers must be 0, 1, 2, … without gaps or repeats; expected {expected}, found {row} for `{name}`"
                ),
            });
        }
    }
    Ok(Some(rows.into_iter().map(|(_, name)| name).collect()))
}

fn read_path_graph(
    files: &mut Files<'_>,
    builder: &mut GraphBuilder,
    vocabulary: Vocabulary,
    skipped: &mut MalformedInput,
) -> Result<u64, FormatError> {
    let options =
        DelimitedOptions { delimiter: Some(b'\t'), header: Header::No, ..DelimitedOptions::default() };
    let path = files.directory.join(PATH_GRAPH);
    let file = path.display().to_string();
    if !path.is_file() {
        let problem = "missing: a release has its background facts in this file".to_owned();
        return Err(FormatError::Release { file, problem });
    }
    let progress = files.progress;
    let mut unreadable = skipped.with_same_policy();
    let mut facts_read = 0;
    let ((), input) = pipeline(
        |sender| {
            let mut sink = PathGraphSink { sender, skipped: &mut unreadable };
            read_input(&Source::Path(path), PATH_GRAPH, progress, |open| {
                delimited::read(open, &options, &mut sink)
            })
        },
        |batch| {
            facts_read += add_known(builder, batch, vocabulary, &file, skipped)?;
            Ok(())
        },
    )?;
    files.inputs.push(input);
    skipped.absorb(unreadable);
    Ok(facts_read)
}

/// Sends the background facts to the thread that builds the graph.
struct PathGraphSink<'a> {
    sender: &'a mut BatchSender,
    skipped: &'a mut MalformedInput,
}

impl Sink for PathGraphSink<'_> {
    fn statement(&mut self, statement: Statement<'_>, line: Option<u64>) -> Result<(), FormatError> {
        let Statement::Fact { head, relation, tail } = statement else { return Ok(()) };
        self.sender
            .push(Kind::Fact, [head, relation, tail], line)
            .map_err(|Disconnected| FormatError::disconnected())
    }

    fn malformed(&mut self, error: FormatError) -> Result<(), FormatError> {
        self.skipped.skip_or_fail(error)
    }

    fn prefix(&mut self, _: &str, _: &str) {}
}

/// Adds the facts of a batch whose names are in the released vocabularies, and returns their number.
fn add_known(
    builder: &mut GraphBuilder,
    batch: &Batch,
    vocabulary: Vocabulary,
    file: &str,
    skipped: &mut MalformedInput,
) -> Result<u64, FormatError> {
    builder.touch(batch);
    let mut facts = Vec::new();
    for NamedStatement { names, line, .. } in batch.iter() {
        match known_fact(builder, names, vocabulary) {
            Ok(fact) => facts.push(fact),
            Err(problem) => {
                let place = Place { file: file.to_owned(), line, column: None };
                skipped.skip_or_fail(FormatError::malformed(place, problem))?;
            }
        }
    }
    builder.add_all(&facts);
    Ok(facts.len() as u64)
}

fn known_fact(
    builder: &mut GraphBuilder,
    [head, relation, tail]: [&str; 3],
    vocabulary: Vocabulary,
) -> Result<Fact, String> {
    if vocabulary.relations && builder.relation(relation).is_none() {
        return Err(format!("the relation `{relation}` is not in {RELATION_IDS}"));
    }
    let entity = |name: &str, builder: &mut GraphBuilder| {
        if vocabulary.entities {
            builder.entity(name).ok_or_else(|| format!("the entity `{name}` is not in {ENTITY_IDS}"))
        } else {
            Ok(builder.intern_entity(name))
        }
    };
    let (head, tail) = (entity(head, builder)?, entity(tail, builder)?);
    Ok(Fact { head, relation: builder.intern_relation(relation), tail })
}

fn read_labels(
    files: &mut Files<'_>,
    file: &str,
    builder: &mut GraphBuilder,
    skipped: &mut MalformedInput,
) -> Result<(), FormatError> {
    read_pairs(files, file, skipped, |name, label| {
        builder.add_label(name, label, LabelRank::Untagged);
        Ok(())
    })?;
    Ok(())
}

/// Reads the types of entities, if they are listed.
fn read_types(
    files: &mut Files<'_>,
    builder: &mut GraphBuilder,
    skipped: &mut MalformedInput,
) -> Result<bool, FormatError> {
    read_pairs(files, ENTITY_TYPES, skipped, |name, type_name| {
        let entity = builder.entity(name).ok_or_else(|| format!("the graph has no entity `{name}`"))?;
        builder.add_type(entity, type_name);
        Ok(())
    })
}

/// Reads lines of two names with a tab between them; `false` if there is no such file.
fn read_pairs(
    files: &mut Files<'_>,
    file: &str,
    skipped: &mut MalformedInput,
    mut each: impl FnMut(&str, &str) -> Result<(), String>,
) -> Result<bool, FormatError> {
    let Some(loaded) = files.load(file)? else { return Ok(false) };
    for (at, line) in
        loaded.bytes.split(|&byte| byte == b'\n').enumerate().filter(|(_, line)| !line.is_empty())
    {
        let pair =
            std::str::from_utf8(line).ok().and_then(|line| line.trim_end_matches('\r').split_once('\t'));
        let taken = match pair {
            Some((first, second)) => each(first, second),
            None => Err("expected two names in UTF-8 with a tab between them".to_owned()),
        };
        if let Err(problem) = taken {
            skipped
                .skip_or_fail(FormatError::malformed(Place::at(&loaded.name, at as u64 + 1, 1), problem))?;
        }
    }
    Ok(true)
}

/// NELL names carry their type; by the published rule, names without one (numbers, scores) share
/// the type `num`. The names of other graphs contain no types.
fn add_types_in_names(builder: &mut GraphBuilder) {
    let mut entities = (0..builder.entity_count() as u32).map(EntityId);
    if entities.any(|entity| type_in_name(builder.entity_name(entity)).is_some()) {
        builder.add_types_by_name(type_by_name);
    }
}

fn read_task_files(files: &mut Files<'_>) -> Result<Vec<(Split, LoadedFile)>, FormatError> {
    let mut found = Vec::new();
    for split in Split::ALL {
        if let Some(loaded) = files.load(&tasks_file(split))? {
            found.push((split, loaded));
        }
    }
    Ok(found)
}

/// Adds the relations that occur only in tasks and candidates to the graph. A task relation must not have
/// background facts, which would reveal its answers.
fn add_task_relations(
    task_files: &[(Split, LoadedFile)],
    candidates: Option<&LoadedFile>,
    builder: &mut GraphBuilder,
) -> Result<(), FormatError> {
    let mut seen = BTreeSet::new();
    for (split, file) in task_files {
        for_each_entry(&file.name, &file.bytes, |relation, _: IgnoredAny| {
            if !seen.insert(relation.to_owned()) {
                return Err(FormatError::Release {
                    file: file.name.clone(),
                    problem: format!(
                        "the {split} task `{relation}` is a task already; a relation belongs to one split"
                    ),
                });
            }
            builder.add_task_relation(relation).map_err(|relation| FormatError::Release {
                file: file.name.clone(),
                problem: format!(
                    "the {split} task `{relation}` also has facts in {PATH_GRAPH}, which would reveal its answers. \
                     Remove them there, or split the graph into tasks again"
                ),
            })
        })?;
    }
    if let Some(file) = candidates {
        for_each_entry(&file.name, &file.bytes, |relation, _: IgnoredAny| {
            // Background relations may have candidates too (the in-train files list them).
            let _ = builder.add_task_relation(relation);
            Ok(())
        })?;
    }
    Ok(())
}

fn read_tasks(
    file: &LoadedFile,
    split: Split,
    graph: &Graph,
    tasks: &mut TaskSetBuilder,
    skipped: &mut MalformedInput,
) -> Result<(), FormatError> {
    for_each_entry(&file.name, &file.bytes, |relation, facts: Vec<[Text<'_>; 3]>| {
        let mut pairs = Vec::with_capacity(facts.len());
        for (at, [head, own, tail]) in facts.iter().enumerate() {
            let problem = if own.0 != relation {
                format!("states the relation `{}`", own.0)
            } else if let Some(pair) = pair_of(graph, &head.0, &tail.0) {
                pairs.push(pair);
                continue;
            } else {
                let unknown = if graph.entity(&head.0).is_none() { &head.0 } else { &tail.0 };
                format!("names the entity `{unknown}`, which the graph does not have")
            };
            skipped.skip_or_fail(FormatError::malformed(
                Place::file(&file.name),
                format!("fact {} of the task `{relation}` {problem}", at + 1),
            ))?;
        }
        let relation = task_relation(graph, relation);
        tasks.add_task(split, relation, pairs);
        Ok(())
    })
}

fn pair_of(graph: &Graph, head: &str, tail: &str) -> Option<Pair> {
    Some(Pair { head: graph.entity(head)?, tail: graph.entity(tail)? })
}

/// The id of a relation that [`add_task_relations`] has added.
fn task_relation(graph: &Graph, relation: &str) -> RelationId {
    graph.relation(relation).unwrap_or_default()
}

fn read_candidates(
    file: &LoadedFile,
    graph: &Graph,
    tasks: &mut TaskSetBuilder,
    skipped: &mut MalformedInput,
) -> Result<(), FormatError> {
    for_each_entry(&file.name, &file.bytes, |relation, names: Vec<Text<'_>>| {
        let mut candidates = Vec::with_capacity(names.len());
        for name in &names {
            match graph.entity(&name.0) {
                Some(entity) => candidates.push(entity),
                None => skipped.skip_or_fail(FormatError::malformed(
                    Place::file(&file.name),
                    format!(
                        "the candidates of `{relation}` name `{}`, which the graph does not have",
                        name.0
                    ),
                ))?,
            }
        }
        tasks.add_candidates(task_relation(graph, relation), candidates);
        Ok(())
    })
}

fn read_filter(
    file: &LoadedFile,
    graph: &Graph,
    tasks: &mut TaskSetBuilder,
    skipped: &mut MalformedInput,
) -> Result<(), FormatError> {
    let keys = FilterKeys::new(graph);
    let facts = tasks.facts();
    for_each_entry(&file.name, &file.bytes, |key, tails: Vec<Text<'_>>| {
        let mut malformed =
            |problem: String| skipped.skip_or_fail(FormatError::malformed(Place::file(&file.name), problem));
        let readings = keys.split(graph, key);
        if readings.is_empty() {
            return malformed(format!(
                "the key `{key}` is not the name of an entity followed by the name of a relation"
            ));
        }
        for tail in &tails {
            let Some(tail) = graph.entity(&tail.0) else {
                malformed(format!("the key `{key}` lists `{}`, which the graph does not have", tail.0))?;
                continue;
            };
            // If a key can be read in several ways, the ways that are facts of a task are taken.
            let is_fact =
                |&&(head, relation): &&(EntityId, RelationId)| facts.contains(&Fact { head, relation, tail });
            let matching: Vec<_> =
                readings.iter().filter(|reading| readings.len() == 1 || is_fact(reading)).collect();
            if matching.is_empty() {
                malformed(format!(
                    "the key `{key}` can be read as more than one entity and relation, and none of them is a fact of a task"
                ))?;
            }
            for &&(head, relation) in &matching {
                tasks.add_known(head, relation, tail);
            }
        }
        Ok(())
    })
}

/// Splits the keys of the filter, in which head and relation are joined without a separator.
struct FilterKeys {
    relations: HashMap<String, RelationId>,
    lengths: BTreeSet<usize>,
}

impl FilterKeys {
    fn new(graph: &Graph) -> Self {
        let relations: HashMap<String, RelationId> = graph
            .relation_names()
            .iter()
            .enumerate()
            .map(|(number, name)| (name.to_owned(), RelationId::forward(number as u32)))
            .collect();
        Self { lengths: relations.keys().map(String::len).collect(), relations }
    }

    /// Every way to read a key as an entity and a relation.
    fn split(&self, graph: &Graph, key: &str) -> Vec<(EntityId, RelationId)> {
        self.lengths
            .iter()
            .filter_map(|&length| key.len().checked_sub(length))
            .filter_map(|at| Some((key.get(..at)?, key.get(at..)?)))
            .filter_map(|(head, relation)| Some((graph.entity(head)?, *self.relations.get(relation)?)))
            .collect()
    }
}
