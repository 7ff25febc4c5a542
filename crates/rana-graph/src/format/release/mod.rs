//! The directory layout of the NELL-One and Wiki-One releases.
//!
//! | file | content |
//! | --- | --- |
//! | `path_graph` | background facts, tab-separated, in their order |
//! | `train_tasks.json`, `dev_tasks.json`, `test_tasks.json` | relation → `[[head, relation, tail], …]` |
//! | `rel2candidates.json` | relation → candidate tails of its queries |
//! | `e1rel_e2.json` | head and relation, joined without a separator → known tails |
//! | `ent2ids`, `relation2ids` | names → row numbers of released vectors; the latter with `…_inv` twins |
//! | `text/entity2text.txt`, `text/relation2text.txt` | labels, tab-separated |
//! | `text/entity2type.txt` | types, tab-separated; an addition of rana, where names do not contain types |

mod json;
mod read;
mod write;

pub(crate) use read::read_release;
pub(super) use write::write_release;

use std::path::Path;

use crate::split::Split;

const PATH_GRAPH: &str = "path_graph";
const CANDIDATES: &str = "rel2candidates.json";
const FILTER: &str = "e1rel_e2.json";
const ENTITY_IDS: &str = "ent2ids";
const RELATION_IDS: &str = "relation2ids";
const ENTITY_TEXT: &str = "text/entity2text.txt";
const RELATION_TEXT: &str = "text/relation2text.txt";
/// Not part of the published layout: written if the names do not contain the types.
const ENTITY_TYPES: &str = "text/entity2type.txt";
/// The ending of an inverse relation's name in `relation2ids`.
const INVERSE_SUFFIX: &str = "_inv";

fn tasks_file(split: Split) -> String {
    format!("{split}_tasks.json")
}

/// The name of a relation's inverse in `relation2ids`.
pub(super) fn inverse_name(relation: &str) -> String {
    format!("{relation}{INVERSE_SUFFIX}")
}

/// Whether a directory is laid out like a release.
pub(crate) fn is_release(directory: &Path) -> bool {
    directory.join(PATH_GRAPH).is_file()
}

/// The size of all existing files of a release.
pub(crate) fn release_size(directory: &Path) -> u64 {
    let tasks = Split::ALL.map(tasks_file);
    let files =
        [PATH_GRAPH, CANDIDATES, FILTER, ENTITY_IDS, RELATION_IDS, ENTITY_TEXT, RELATION_TEXT, ENTITY_TYPES];
    let files = files.into_iter().chain(tasks.iter().map(String::as_str));
    files.filter_map(|file| directory.join(file).metadata().ok()).map(|file| file.len()).sum()
}

/// The type of a name in NELL: the one it contains, or else `num` (numbers, scores).
fn type_by_name(name: &str) -> &str {
    type_in_name(name).unwrap_or("num")
}

/// The type in a NELL name `concept:TYPE:name`, by which the published candidates were made.
pub(crate) fn type_in_name(name: &str) -> Option<&str> {
    let mut parts = name.splitn(3, ':');
    match (parts.next(), parts.next(), parts.next()) {
        (Some("concept"), Some(type_name), Some(_)) if !type_name.is_empty() => Some(type_name),
        _ => None,
    }
}
