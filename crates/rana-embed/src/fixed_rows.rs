//! [`FixedRows`]: rows that are known already and do not learn, while the others are trained to their places.

use std::path::Path;

use rana_graph::{Graph, RelationId};

use crate::embed_config::{EmbedConfig, Updates};
use crate::format::{
    NamedRows, TableFormat, read_named_rows, read_table, relations_in_order_of_ids, shortened,
};
use crate::parameters::Parameters;
use crate::relation_rows::check_entities;
use crate::table::Table;
use crate::training::TrainError;
use crate::vector_error::VectorError;

/// Rows of entities and relations that are known already and do not learn.
///
/// They stand at their values from the start, and again after each batch. Gradients of a batch are computed before any row
/// moves, so other rows never see them anywhere else.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct FixedRows {
    entities: KnownRows<u32>,
    relations: KnownRows<RelationId>,
}

/// Some rows of a table.
#[derive(Clone, Debug, PartialEq)]
struct KnownRows<I> {
    /// Whose rows they are.
    ids: Vec<I>,
    /// Their values, contiguous.
    values: Vec<f32>,
}

impl<I> Default for KnownRows<I> {
    fn default() -> Self {
        Self { ids: Vec::new(), values: Vec::new() }
    }
}

impl<I: Copy> KnownRows<I> {
    fn iter(&self) -> impl Iterator<Item = (I, &[f32])> {
        let width = self.width();
        self.ids.iter().copied().zip(self.values.chunks_exact(width.max(1)))
    }

    fn width(&self) -> usize {
        self.values.len().checked_div(self.ids.len()).unwrap_or_default()
    }

    /// The first rows of a table. One of relations may go on with the relations of tasks, which are not trained.
    fn of_table(ids: Vec<I>, table: &Table) -> Self {
        let values = table.span(0, ids.len()).unwrap_or_default().to_vec();
        Self { ids, values }
    }
}

impl FixedRows {
    /// Reads the known rows of entities.
    ///
    /// The file has a row for every entity, in the order of ids, or lines that begin with the name of an entity: then the
    /// others are not known.
    ///
    /// # Errors
    /// If the file is malformed, or names what is not in the graph.
    pub fn with_entities(mut self, path: &Path, graph: &Graph) -> Result<Self, VectorError> {
        self.entities = match read_rows(path)? {
            FileRows::Named(rows) => {
                rows.resolve(path, "an entity", |name| graph.entity(name).map(|entity| entity.0))?
            }
            FileRows::All(table) => {
                check_entities(graph, &table, &path.display().to_string())?;
                KnownRows::of_table((0..table.rows() as u32).collect(), &table)
            }
        };
        Ok(self)
    }

    /// Reads the known rows of relations: a row for every relation, or one for each and one for its inverse, in the order of the
    /// graph's `relation2ids` if it came with one; or lines that begin with the name of a relation.
    ///
    /// # Errors
    /// If the file is malformed, or names what is not in the graph.
    pub fn with_relations(mut self, path: &Path, graph: &Graph) -> Result<Self, VectorError> {
        self.relations = match read_rows(path)? {
            FileRows::Named(rows) => rows.resolve(path, "a relation", |name| graph.relation(name))?,
            FileRows::All(table) => {
                let (rows, table) = relations_in_order_of_ids(graph, table, path)?;
                KnownRows::of_table(rows.relations(graph).collect(), &table)
            }
        };
        Ok(self)
    }

    /// How many rows of entities are known.
    #[must_use]
    pub fn entity_count(&self) -> usize {
        self.entities.ids.len()
    }

    /// How many rows of relations are known; an inverse with a row of its own counts too.
    #[must_use]
    pub fn relation_count(&self) -> usize {
        self.relations.ids.len()
    }

    /// Whether no row is known.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.entity_count() == 0 && self.relation_count() == 0
    }

    pub(crate) fn check(&self, config: &EmbedConfig) -> Result<(), TrainError> {
        if self.is_empty() {
            return Ok(());
        }
        if config.updates != Updates::Deterministic {
            return Err(TrainError::FixedRowsInPlace);
        }
        let widths = [
            ("entity", self.entities.width(), config.dim),
            ("relation", self.relations.width(), config.model.relation_width(config.dim)),
        ];
        match widths.into_iter().find(|&(_, found, expected)| found != 0 && found != expected) {
            Some((what, found, expected)) => Err(TrainError::FixedRowWidth { what, found, expected }),
            None => Ok(()),
        }
    }

    /// Puts the known rows to their values.
    pub(crate) fn restore(&self, parameters: &mut Parameters) {
        let (dim, width) = (parameters.dim, parameters.relation_width());
        for (entity, row) in self.entities.iter() {
            parameters.entities[entity as usize * dim..][..dim].copy_from_slice(row);
        }
        for (relation, row) in self.relations.iter() {
            let at = match parameters.inverses {
                true => relation.index(),
                // Without rows of their own, inverses are read from those of their relations.
                false if relation.is_inverse() => continue,
                false => relation.number(),
            };
            parameters.relations[at * width..][..width].copy_from_slice(row);
        }
    }

    /// A number that tells these rows from others; 0 if there are none.
    pub(crate) fn fingerprint(&self) -> u64 {
        if self.is_empty() {
            return 0;
        }
        let relations: Vec<u64> = self.relations.ids.iter().map(|id| id.index() as u64).collect();
        let parts: [&[u8]; 4] = [
            bytemuck::cast_slice(&self.entities.ids),
            bytemuck::cast_slice(&self.entities.values),
            bytemuck::cast_slice(&relations),
            bytemuck::cast_slice(&self.relations.values),
        ];
        xxhash_rust::xxh3::xxh3_64(&parts.concat())
    }
}

/// The rows of a file.
enum FileRows {
    /// Each has a name.
    Named(NamedRows),
    /// One for everything there is.
    All(Table),
}

fn read_rows(path: &Path) -> Result<FileRows, VectorError> {
    if let Some(rows) = read_named_rows(path)? {
        return Ok(FileRows::Named(rows));
    }
    Ok(FileRows::All(read_table(path, TableFormat::of(path)?, "rows")?))
}

impl NamedRows {
    fn resolve<I>(
        self,
        path: &Path,
        what: &'static str,
        find: impl Fn(&str) -> Option<I>,
    ) -> Result<KnownRows<I>, VectorError> {
        let ids = self.names.iter().map(|(line, name)| {
            find(name).ok_or_else(|| VectorError::Text {
                file: path.to_owned(),
                line: *line,
                column: 1,
                problem: format!("`{}` is not the name of {what} of the graph", shortened(name)),
            })
        });
        Ok(KnownRows { ids: ids.collect::<Result<_, _>>()?, values: self.values })
    }
}

#[cfg(test)]
mod tests {
    use rana_graph::{Duplicates, GraphBuilder};

    use super::*;
    use crate::training::{Trainer, TrainingData};

    fn graph() -> Graph {
        let mut builder = GraphBuilder::new(Duplicates::Remove);
        for (head, relation, tail) in
            [("a", "r", "b"), ("b", "r", "c"), ("c", "s", "a"), ("d", "s", "b"), ("d", "r", "a")]
        {
            builder.add_named(head, relation, tail);
        }
        builder.finish()
    }

    fn file(directory: &tempfile::TempDir, name: &str, text: &str) -> std::path::PathBuf {
        let path = directory.path().join(name);
        std::fs::write(&path, text).unwrap();
        path
    }

    fn config() -> EmbedConfig {
        EmbedConfig { dim: 3, epochs: 4, batch: 2, inverses: true, ..EmbedConfig::default() }
    }

    #[test]
    fn fixed_rows_stay_and_the_others_learn() {
        let (directory, graph) = (tempfile::tempdir().unwrap(), graph());
        let entities = file(&directory, "entities.tsv", "b\t7\t1 2 3\nd\t4\t-1 0 0.5\n");
        let relations = file(&directory, "relations.vec", "0 0 1\n0 0 -1\n2 0 0\n-2 0 0\n");
        let fixed = FixedRows::default().with_entities(&entities, &graph).unwrap();
        let fixed = fixed.with_relations(&relations, &graph).unwrap();
        assert_eq!((fixed.entity_count(), fixed.relation_count()), (2, 4));
        let data = TrainingData::new(&graph).with_fixed_rows(fixed);
        let mut trainer = Trainer::new(config(), &data).unwrap();
        let start = trainer.checkpoint().parameters.clone();
        trainer.finish().unwrap();
        let end = trainer.into_parameters();
        let row = |of: &Parameters, name: &str| {
            let at = 3 * graph.entity(name).unwrap().index();
            of.entities[at..at + 3].to_vec()
        };
        assert_eq!(row(&end, "b"), [1.0, 2.0, 3.0]);
        assert_eq!(row(&end, "d"), [-1.0, 0.0, 0.5]);
        assert_eq!(end.relations, start.relations);
        assert_eq!(end.relations[..6], [0.0, 0.0, 1.0, 0.0, 0.0, -1.0]);
        for name in ["a", "c"] {
            assert_ne!(row(&end, name), row(&start, name));
        }
    }

    /// A file of all relations may have those of tasks too, which are not trained.
    #[test]
    fn rows_of_tasks_are_left_out() {
        let directory = tempfile::tempdir().unwrap();
        let mut builder = GraphBuilder::new(Duplicates::Remove);
        builder.add_named("a", "q", "b");
        builder.add_named("a", "r", "b");
        builder.add_task_relation("s").unwrap();
        let graph = builder.finish();
        assert_eq!((graph.relation_count(), graph.named_relation_count()), (2, 3));
        let all = file(&directory, "all.vec", "1 2\n3 4\n5 6\n");
        let both = file(&directory, "both.vec", "1 2\n-1 -2\n3 4\n-3 -4\n5 6\n-5 -6\n");
        for (path, expected) in
            [(all, vec![1.0, 2.0, 3.0, 4.0]), (both, vec![1.0, 2.0, -1.0, -2.0, 3.0, 4.0, -3.0, -4.0])]
        {
            let fixed = FixedRows::default().with_relations(&path, &graph).unwrap();
            assert_eq!((fixed.relations.width(), fixed.relations.values), (2, expected));
        }
    }

    #[test]
    fn names_may_be_numbers_and_a_byte_order_mark_is_none() {
        let directory = tempfile::tempdir().unwrap();
        let mut builder = GraphBuilder::new(Duplicates::Remove);
        builder.add_named("7", "r", "inf");
        let graph = builder.finish();
        for text in ["7\t1 2\n", "\u{feff}7\t1 2\r\n", "7\t0\t1 2\n", "inf\t1 2\n7\t3 4\n"] {
            let fixed = FixedRows::default().with_entities(&file(&directory, "e.tsv", text), &graph).unwrap();
            assert_eq!((fixed.entity_count(), fixed.entities.width()), (text.lines().count(), 2), "{text:?}");
        }
        // Tabs between all numbers, or blanks: a row for everything there is.
        for text in ["7\t1\n3\t4\n", "7 1\n3 4\n", "7\t 1\n3\t 4\n"] {
            let fixed = FixedRows::default().with_entities(&file(&directory, "e.tsv", text), &graph).unwrap();
            assert_eq!(fixed.entities.values, [7.0, 1.0, 3.0, 4.0], "{text:?}");
        }
    }

    #[test]
    fn a_checkpoint_of_other_fixed_rows_is_refused() {
        let (directory, graph) = (tempfile::tempdir().unwrap(), graph());
        let of = |text: &str| {
            let fixed = FixedRows::default().with_entities(&file(&directory, "e.tsv", text), &graph);
            TrainingData::new(&graph).with_fixed_rows(fixed.unwrap())
        };
        let (one, other) = (of("a\t1 2 3\n"), of("a\t1 2 4\n"));
        let checkpoint = Trainer::new(config(), &one).unwrap().checkpoint().clone();
        assert!(Trainer::resume(checkpoint.clone(), &one).is_ok());
        assert!(matches!(Trainer::resume(checkpoint, &other), Err(TrainError::OtherFacts)));
    }

    #[test]
    fn what_does_not_fit_is_named() {
        let (directory, graph) = (tempfile::tempdir().unwrap(), graph());
        let read = |text: &str| {
            FixedRows::default()
                .with_entities(&file(&directory, "e.tsv", text), &graph)
                .map_err(|error| error.to_string().rsplit('/').next().unwrap_or_default().to_owned())
        };
        let cases = [
            ("a\t1 2\nx\t1 2\n", "e.tsv:2:1: `x` is not the name of an entity of the graph"),
            ("a\t1 2\nb\t1 2 3\n", "e.tsv:2:7: 3 values, but the first row has 2"),
            ("a\t1 2\nb\tone 2\n", "e.tsv:2:3: `one` is not a number"),
            ("a\t1 2\na\t1 2\n", "e.tsv:2:1: `a` has a row already, in line 1"),
            ("a\n", "e.tsv:1:1: `a` is not a number"),
            ("a\t\n", "e.tsv:1:3: no numbers after the name"),
            ("a\t1 2\nb\t1 nan\n", "e.tsv:2:5: `nan` is not a finite number"),
            ("a\t1e39 2\n", "e.tsv:1:3: `1e39` is not a finite number"),
            ("a\t9\t1 -inf\n", "e.tsv:1:7: `-inf` is not a finite number"),
        ];
        for (text, expected) in cases {
            let found = read(text).unwrap_err();
            assert!(found.starts_with(expected), "{found}");
        }
        let long = read(&format!("{}\t1 2\n", "é".repeat(1000))).unwrap_err();
        assert!(long.len() < 200, "{long}");
        let data = TrainingData::new(&graph).with_fixed_rows(read("a\t1 2\n").unwrap());
        let error = |config| Trainer::new(config, &data).map(|_| ()).unwrap_err().to_string();
        assert_eq!(error(config()), "fixed entity rows have 2 numbers where those of the training have 3");
        let in_place = EmbedConfig { updates: Updates::LockFree, ..config() };
        assert!(error(in_place).starts_with("rows can only be held fixed"));
    }
}
