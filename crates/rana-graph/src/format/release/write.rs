//! Writes a release in the public format of NELL-One.

use std::collections::HashMap;
use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::Path;

use serde::Serializer;
use serde::ser::SerializeMap;

use super::json::ReleaseFormatter;
use super::{
    CANDIDATES, ENTITY_IDS, ENTITY_TEXT, ENTITY_TYPES, FILTER, PATH_GRAPH, RELATION_IDS, RELATION_TEXT,
    inverse_name, tasks_file, type_by_name,
};
use crate::graph::Graph;
use crate::id::RelationId;
use crate::split::Split;
use crate::tasks::TaskSet;

/// Writes a graph and its tasks as a release directory.
pub(in crate::format) fn write_release(directory: &Path, graph: &Graph, tasks: &TaskSet) -> io::Result<()> {
    fs::create_dir_all(directory)?;
    write_lines(&directory.join(PATH_GRAPH), |out| {
        graph.facts().iter().try_for_each(|fact| {
            let (head, tail) = (graph.entity_name(fact.head), graph.entity_name(fact.tail));
            writeln!(out, "{head}\t{}\t{tail}", graph.relation_name(fact.relation))
        })
    })?;
    write_object(&directory.join(ENTITY_IDS), |map| {
        graph.entity_names().iter().enumerate().try_for_each(|(row, name)| map.serialize_entry(name, &row))
    })?;
    write_object(&directory.join(RELATION_IDS), |map| {
        relation_rows(graph)
            .iter()
            .enumerate()
            .try_for_each(|(row, relation)| map.serialize_entry(&row_name(graph, *relation), &row))
    })?;
    for split in Split::ALL {
        write_object(&directory.join(tasks_file(split)), |map| {
            tasks.of(split).try_for_each(|task| {
                let relation = graph.relation_name(task.relation);
                let facts: Vec<[&str; 3]> = task
                    .facts
                    .iter()
                    .map(|pair| [graph.entity_name(pair.head), relation, graph.entity_name(pair.tail)])
                    .collect();
                map.serialize_entry(relation, &facts)
            })
        })?;
    }
    write_object(&directory.join(CANDIDATES), |map| {
        tasks.candidate_relations().iter().try_for_each(|&relation| {
            let candidates = tasks.candidates(relation).unwrap_or(&[]);
            let names: Vec<&str> = candidates.iter().map(|&entity| graph.entity_name(entity)).collect();
            map.serialize_entry(graph.relation_name(relation), &names)
        })
    })?;
    write_object(&directory.join(FILTER), |map| {
        filter_keys(graph, tasks).iter().try_for_each(|(key, names)| map.serialize_entry(key, names))
    })?;
    write_types(directory, graph)?;
    write_labels(directory, graph)
}

/// The filter under its joined keys. Several pairs of a head and a relation may share a joined key, and
/// then share an entry.
fn filter_keys<'g>(graph: &'g Graph, tasks: &TaskSet) -> Vec<(String, Vec<&'g str>)> {
    let mut entries: Vec<(String, Vec<&str>)> = Vec::new();
    let mut places: HashMap<String, usize> = HashMap::new();
    for (pair, tails) in tasks.filter() {
        let key = format!("{}{}", graph.entity_name(pair.head), graph.relation_name(pair.relation));
        let place = *places.entry(key.clone()).or_insert(entries.len());
        if place == entries.len() {
            entries.push((key, Vec::new()));
        }
        entries[place].1.extend(tails.iter().map(|&entity| graph.entity_name(entity)));
    }
    entries
}

/// Writes the types, unless they are part of the names.
fn write_types(directory: &Path, graph: &Graph) -> io::Result<()> {
    let types = |entity| graph.types(entity).iter().map(|type_id| graph.type_names().name(type_id.0));
    let told_by_name = |entity| types(entity).eq([type_by_name(graph.entity_name(entity))]);
    if !graph.has_types() || graph.entities().all(told_by_name) {
        return Ok(());
    }
    let path = directory.join(ENTITY_TYPES);
    path.parent().map_or(Ok(()), fs::create_dir_all)?;
    write_lines(&path, |out| {
        graph.entities().try_for_each(|entity| {
            types(entity)
                .try_for_each(|type_name| writeln!(out, "{}\t{type_name}", graph.entity_name(entity)))
        })
    })
}

/// The rows of `relation2ids`: as they were imported, or else each relation followed by its inverse.
fn relation_rows(graph: &Graph) -> Vec<RelationId> {
    match graph.release_rows() {
        Some(rows) => rows.to_vec(),
        None => graph.relations().flat_map(|relation| [relation, relation.inverse()]).collect(),
    }
}

fn row_name(graph: &Graph, relation: RelationId) -> String {
    let name = graph.relation_name(relation);
    if relation.is_inverse() { inverse_name(name) } else { name.to_owned() }
}

fn write_labels(directory: &Path, graph: &Graph) -> io::Result<()> {
    let entities: Vec<_> =
        graph.entities().filter_map(|e| Some((graph.entity_name(e), graph.entity_label(e)?))).collect();
    let relations: Vec<_> = (0..graph.named_relation_count() as u32)
        .map(RelationId::forward)
        .filter_map(|r| Some((graph.relation_name(r), graph.relation_label(r)?)))
        .collect();
    for (file, labels) in [(ENTITY_TEXT, entities), (RELATION_TEXT, relations)] {
        if labels.is_empty() {
            continue;
        }
        let path = directory.join(file);
        path.parent().map_or(Ok(()), fs::create_dir_all)?;
        write_lines(&path, |out| {
            labels.iter().try_for_each(|(name, label)| {
                writeln!(out, "{name}\t{}", label.replace(['\t', '\n', '\r'], " "))
            })
        })?;
    }
    Ok(())
}

fn write_lines(path: &Path, write: impl FnOnce(&mut BufWriter<File>) -> io::Result<()>) -> io::Result<()> {
    let mut out = BufWriter::new(File::create(path)?);
    write(&mut out)?;
    out.into_inner()?.sync_all()
}

type ObjectWriter<'a> = serde_json::ser::Compound<'a, &'a mut BufWriter<File>, ReleaseFormatter>;

fn write_object(
    path: &Path,
    write: impl FnOnce(&mut ObjectWriter<'_>) -> serde_json::Result<()>,
) -> io::Result<()> {
    write_lines(path, |out| {
        let mut serializer = serde_json::Serializer::with_formatter(out, ReleaseFormatter);
        let mut map = serializer.serialize_map(None)?;
        write(&mut map)?;
        map.end()?;
        Ok(())
    })
}
