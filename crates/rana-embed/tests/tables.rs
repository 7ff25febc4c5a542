//! Reads and writes tables in every format, matches them to a graph, and checks the errors of bad ones.
#![allow(missing_docs, clippy::unwrap_used)]

use std::fs;
use std::path::{Path, PathBuf};

use proptest::prelude::*;
use rana_embed::format::{TableFormat, VectorFiles, export_vectors, import_vectors, read_table, write_table};
use rana_embed::{EmbedConfig, EmbeddingMetadata, EmbeddingSet, RelationRows, Table, VectorError};
use rana_graph::{Duplicates, Graph, GraphBuilder, RelationId};

#[path = "../../../tests/datasets.rs"]
mod datasets;

fn graph() -> Graph {
    let mut builder = GraphBuilder::new(Duplicates::Remove);
    builder.add_named("paris", "capital_of", "france");
    builder.add_named("lyon", "located_in", "france");
    builder.finish()
}

/// A table whose row `n` is `n, n + 0.25, …`.
fn table(rows: usize, dim: usize) -> Table {
    let values: Vec<f32> =
        (0..rows).flat_map(|row| (0..dim).map(move |column| row as f32 + 0.25 * column as f32)).collect();
    Table::new(rows, dim, values).unwrap()
}

fn ending(format: TableFormat) -> &'static str {
    match format {
        TableFormat::Safetensors => "safetensors",
        TableFormat::Npy => "npy",
        TableFormat::Text => "TransE",
    }
}

fn refused(path: &Path, content: impl AsRef<[u8]>) -> VectorError {
    fs::write(path, content).unwrap();
    read_table(path, TableFormat::of(path).unwrap(), "entities").unwrap_err()
}

fn npy(version: u8, header: &str, values: &[u8]) -> Vec<u8> {
    let length = (header.len() as u32).to_le_bytes();
    let length = if version == 1 { &length[..2] } else { &length[..] };
    [b"\x93NUMPY", &[version, 0][..], length, header.as_bytes(), values].concat()
}

fn safetensors(header: &str, values: &[u8]) -> Vec<u8> {
    [&(header.len() as u64).to_le_bytes()[..], header.as_bytes(), values].concat()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn any_table_survives_every_format(
        dim in 1usize..7,
        rows in 1usize..40,
        bits in prop::collection::vec(any::<u32>(), 240),
    ) {
        let finite = |bits: &u32| Some(f32::from_bits(*bits)).filter(|value| value.is_finite()).unwrap_or(-0.0);
        let values: Vec<f32> = bits[..rows * dim].iter().map(finite).collect();
        let table = Table::new(rows, dim, values.clone()).unwrap();
        let dir = tempfile::tempdir().unwrap();
        for format in TableFormat::ALL {
            let path = dir.path().join(format!("table.{}", ending(format)));
            prop_assert_eq!(TableFormat::of(&path).unwrap(), format);
            write_table(&path, format, "anything", &table).unwrap();
            let again = read_table(&path, format, "entities").unwrap();
            prop_assert_eq!((again.rows(), again.dim()), (rows, dim));
            let bits = |values: &[f32]| values.iter().map(|value| value.to_bits()).collect::<Vec<_>>();
            prop_assert_eq!(bits(again.values()), bits(&values));
        }
    }

    #[test]
    fn any_metrics_survive_the_manifest(metrics in prop::collection::btree_map(".{0,8}", prop::num::f64::NORMAL, 0..6)) {
        let dir = tempfile::tempdir().unwrap();
        let metadata = EmbeddingMetadata { metrics: metrics.clone(), ..EmbeddingMetadata::default() };
        EmbeddingSet::new(&graph(), table(3, 2), table(2, 2), metadata).unwrap().write(dir.path()).unwrap();
        prop_assert_eq!(EmbeddingSet::read_metadata(dir.path()).unwrap().metrics, metrics);
    }
}

#[test]
fn what_numpy_and_others_write_is_read() {
    let dir = tempfile::tempdir().unwrap();
    let doubles: Vec<u8> = [1.5f64, -2.0, 0.25, 8.0].iter().flat_map(|value| value.to_le_bytes()).collect();
    let header = "{'descr': '<f8', 'fortran_order': False, 'shape': (2, 2), }   \n";
    let reordered = "{\"shape\": (2,2), \"fortran_order\": False, \"descr\": \"<f8\"}";
    let files = [
        ("v1.npy", npy(1, header, &doubles)),
        ("v2.npy", npy(2, header, &doubles)),
        ("v3.npy", npy(3, reordered, &doubles)),
        (
            "a.safetensors",
            safetensors("{\"x\":{\"dtype\":\"F64\",\"shape\":[2,2],\"data_offsets\":[0,32]}}", &doubles),
        ),
        ("a.TransE", b"1.5\t-2\t\n2.5e-1 +8.0  \n\n".to_vec()),
        ("crlf.txt", b"1.5 -2\r\n.25 8\r\n".to_vec()),
    ];
    for (name, content) in files {
        let path = dir.path().join(name);
        fs::write(&path, content).unwrap();
        let table = read_table(&path, TableFormat::of(&path).unwrap(), "entities").unwrap();
        assert_eq!((table.rows(), table.values()), (2, &[1.5, -2.0, 0.25, 8.0][..]), "{name}");
    }
}

#[test]
fn of_several_tensors_the_named_one_is_read() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("a.safetensors");
    let header = "{\"a\":{\"dtype\":\"F32\",\"shape\":[1,1],\"data_offsets\":[0,4]},\
                   \"b\":{\"dtype\":\"F32\",\"shape\":[1,1],\"data_offsets\":[4,8]}}";
    fs::write(&path, safetensors(header, bytemuck::cast_slice(&[1.0f32, 2.0]))).unwrap();
    let read = |name| read_table(&path, TableFormat::Safetensors, name);
    assert_eq!(read("b").unwrap().values(), [2.0]);
    let error = read("c").unwrap_err().to_string();
    assert!(error.contains("no tensor `c` (found: a, b)"), "{error}");
}

#[test]
fn ragged_text_is_named_by_file_line_and_column() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("entity2vec.TransE");
    let long = format!("{}1 2 3\n", "1 2\n".repeat(3000));
    for (content, place, problem) in [
        ("1 2 3\n4 5\n", "2:4", "2 values, but the first row has 3"),
        ("1 2\n3 4 5 6\n", "2:5", "4 values, but the first row has 2"),
        ("1 2\n\n3 4\n", "2:1", "0 values, but the first row has 2"),
        ("1 2\n3 x\n", "2:3", "`x` is not a number"),
        ("", "1:1", "no values"),
        ("\n1 2\n", "1:1", "no values"),
        (&long, "3001:5", "3 values"),
    ] {
        let error = refused(&path, content).to_string();
        let expected = format!("entity2vec.TransE:{place}: {problem}");
        assert!(error.contains(&expected), "{error} lacks {expected}");
    }
    let error = refused(&path, b"1 2\n3 \xff\n").to_string();
    assert!(error.contains("entity2vec.TransE:2:3: not UTF-8"), "{error}");
}

#[test]
fn nan_is_named_by_row_and_column_in_every_format() {
    let dir = tempfile::tempdir().unwrap();
    let values = vec![1.0, 2.0, 3.0, f32::NAN];
    let bad = Table::new(2, 2, values).unwrap();
    for format in TableFormat::ALL {
        let path = dir.path().join(format!("bad.{}", ending(format)));
        write_table(&path, format, "entities", &bad).unwrap();
        let error = read_table(&path, format, "entities").unwrap_err();
        assert!(matches!(error, VectorError::NotFinite { row: 1, column: 1, .. }), "{error}");
        assert!(error.to_string().contains(&path.display().to_string()), "{error}");
    }
    let error = EmbeddingSet::new(&graph(), table(3, 2), bad, EmbeddingMetadata::default()).unwrap_err();
    assert!(error.to_string().starts_with("relations: row 1, column 1 (counted from 0) is NaN."), "{error}");
    // A double that is too large for a float is an error, not infinity.
    let path = dir.path().join("large.npy");
    let error = refused(
        &path,
        npy(1, "{'descr':'<f8','fortran_order':False,'shape':(1,1)}", &1e300f64.to_le_bytes()),
    );
    assert!(matches!(error, VectorError::NotFinite { .. }), "{error}");
}

#[test]
fn other_types_shapes_and_orders_are_refused_with_advice() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("a.npy");
    let header = |descr: &str, fortran: &str, shape: &str| {
        npy(1, &format!("{{'descr': '{descr}', 'fortran_order': {fortran}, 'shape': {shape}, }}\n"), &[0; 16])
    };
    for (content, expected) in [
        (
            header("<i8", "False", "(2, 1)"),
            "values of type `<i8`; only 32-bit and 64-bit little-endian floats can be read",
        ),
        (header(">f4", "False", "(2, 2)"), ".astype('<f4')"),
        (header("<f4", "True", "(2, 2)"), "numpy.ascontiguousarray"),
        (header("<f4", "False", "(4,)"), "1 dimensions"),
        (header("<f4", "False", "(4, 0)"), "bytes, expected"),
        (
            header("<f4", "False", "(9999999999999, 9999999999999)"),
            "the size does not match its header or manifest",
        ),
        (header("<f4", "Maybe", "(2, 2)"), "header cannot be understood"),
        (npy(9, "", &[]), "version"),
        (b"PK\x03\x04".to_vec(), "not a valid .npy file"),
    ] {
        let error = refused(&path, content).to_string();
        assert!(error.contains(expected), "{error} lacks {expected}");
    }
    let path = dir.path().join("a.safetensors");
    for (dtype, shape, expected) in [("F16", "[4,2]", "values of type F16"), ("F32", "[4]", "1 dimensions")] {
        let header =
            format!("{{\"entities\":{{\"dtype\":\"{dtype}\",\"shape\":{shape},\"data_offsets\":[0,16]}}}}");
        let error = refused(&path, safetensors(&header, &[0; 16])).to_string();
        assert!(error.contains(expected), "{error} lacks {expected}");
    }
    let error = TableFormat::of(Path::new("vectors.bin")).unwrap_err().to_string();
    assert!(error.contains("vectors.bin: the extension does not show the format"), "{error}");
}

#[test]
fn every_truncated_binary_file_is_seen() {
    let dir = tempfile::tempdir().unwrap();
    for format in [TableFormat::Safetensors, TableFormat::Npy] {
        let path = dir.path().join(format!("t.{}", ending(format)));
        write_table(&path, format, "entities", &table(5, 3)).unwrap();
        let content = fs::read(&path).unwrap();
        for length in 0..content.len() {
            let error = refused(&path, &content[..length]);
            let is_size = matches!(error, VectorError::Size { .. } | VectorError::Malformed { .. });
            assert!(is_size, "{format} cut at {length}: {error}");
            assert!(error.to_string().contains(&path.display().to_string()), "{error}");
        }
        let error = refused(&path, [&content[..], &[0; 4]].concat());
        assert!(matches!(error, VectorError::Size { .. }), "{error}");
    }
}

#[test]
fn a_header_that_promises_too_much_is_refused() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("a.safetensors");
    // Eight tensors that end just below 2^64: adding the header to that unchecked would overflow.
    let size = (1u64 << 61) - 1;
    let tensors: Vec<String> = (0..8)
        .map(|at| {
            let (start, end) = (at * size, (at + 1) * size);
            format!("\"t{at}\":{{\"dtype\":\"U8\",\"shape\":[{size}],\"data_offsets\":[{start},{end}]}}")
        })
        .collect();
    let error = refused(&path, safetensors(&format!("{{{}}}", tensors.join(",")), &[0; 8]));
    assert!(matches!(error, VectorError::Size { expected: u64::MAX, .. }), "{error}");
    let error = refused(&path, [&u64::MAX.to_le_bytes()[..], b"{}"].concat());
    assert!(matches!(error, VectorError::Size { .. }), "{error}");
}

fn files(dir: &Path, format: TableFormat) -> VectorFiles {
    let path = |name: &str| -> PathBuf { dir.join(format!("{name}.{}", ending(format))) };
    VectorFiles { entities: path("entity2vec"), relations: path("relation2vec"), format: None }
}

#[test]
fn row_counts_are_checked_against_the_graph_and_norms_reported() {
    let dir = tempfile::tempdir().unwrap();
    let graph = graph();
    for format in TableFormat::ALL {
        let files = files(dir.path(), format);
        for (relations, rows) in [(2, RelationRows::Forward), (4, RelationRows::Directed)] {
            export_vectors(&files, &graph, &table(3, 2), &table(relations, 2), rows).unwrap();
            let imported = import_vectors(&files, &graph).unwrap();
            assert_eq!((&imported.entities, &imported.relations), (&table(3, 2), &table(relations, 2)));
            assert_eq!(imported.relation_rows, rows);
            assert_eq!(imported.entity_norms.unwrap().min, 0.25);
        }
        write_table(&files.relations, format, "relations", &table(3, 2)).unwrap();
        let error = import_vectors(&files, &graph).unwrap_err().to_string();
        assert!(error.contains("3 rows where the graph has 2 relations, 4 with inverses"), "{error}");
        write_table(&files.entities, format, "entities", &table(7, 2)).unwrap();
        let error = import_vectors(&files, &graph).unwrap_err().to_string();
        assert!(error.contains("7 rows where the graph has 3 entities"), "{error}");
    }
    let files = files(dir.path(), TableFormat::Npy);
    let error = export_vectors(&files, &graph, &table(3, 2), &table(5, 2), RelationRows::Forward);
    assert!(matches!(error, Err(VectorError::Rows { found: 5, .. })));
}

#[test]
fn relation_rows_of_a_release_come_in_its_order() {
    let dir = tempfile::tempdir().unwrap();
    let mut builder = GraphBuilder::new(Duplicates::Remove);
    builder.add_named("a", "r", "b");
    builder.add_named("a", "s", "b");
    let [r, s] = [0, 1].map(RelationId::forward);
    builder.set_release_rows(vec![s.inverse(), r, s, r.inverse()]);
    let graph = builder.finish();
    let files = files(dir.path(), TableFormat::Text);
    fs::write(&files.entities, "0\n0\n").unwrap();
    let released = "3\n0\n2\n1\n";
    fs::write(&files.relations, released).unwrap();
    let imported = import_vectors(&files, &graph).unwrap();
    assert_eq!(imported.relations.values(), [0.0, 1.0, 2.0, 3.0], "in the order of directed ids");
    export_vectors(&files, &graph, &imported.entities, &imported.relations, imported.relation_rows).unwrap();
    assert_eq!(fs::read_to_string(&files.relations).unwrap(), released);
}

#[test]
fn a_release_without_a_row_for_a_relation_is_refused() {
    let dir = tempfile::tempdir().unwrap();
    let mut builder = GraphBuilder::new(Duplicates::Remove);
    builder.add_named("a", "r", "b");
    builder.add_named("a", "s", "b");
    builder.set_release_rows(vec![RelationId::forward(0), RelationId::forward(0).inverse()]);
    let graph = builder.finish();
    let files = files(dir.path(), TableFormat::Text);
    fs::write(&files.entities, "0\n0\n").unwrap();
    fs::write(&files.relations, "1\n2\n").unwrap();
    let error = import_vectors(&files, &graph).unwrap_err().to_string();
    assert!(error.contains("`relation2ids` has no row for s"), "{error}");
}

fn set(graph: &Graph) -> EmbeddingSet {
    let metadata = EmbeddingMetadata {
        training: Some(EmbedConfig { dim: 2, seed: 7, ..EmbedConfig::default() }),
        origin: "background".to_owned(),
        relation_rows: RelationRows::Directed,
        metrics: [("mrr".to_owned(), 0.312_345_678_9)].into(),
        ..EmbeddingMetadata::default()
    };
    EmbeddingSet::new(graph, table(3, 2), table(4, 2), metadata).unwrap()
}

#[test]
fn an_embedding_set_comes_back_mapped_and_the_same() {
    let dir = tempfile::tempdir().unwrap();
    let graph = graph();
    let set = set(&graph);
    set.write(dir.path()).unwrap();
    let opened = EmbeddingSet::open(dir.path(), &graph).unwrap();
    assert_eq!(opened, set);
    assert_eq!(opened.metadata.relation_rows, RelationRows::Directed);
    assert!(format!("{:?}", opened.entities).contains("mapped"), "no copy was made");
    assert_eq!(EmbeddingSet::read_metadata(dir.path()).unwrap(), set.metadata);
    // The data file is plain safetensors.
    let data = data_file(dir.path());
    assert_eq!(read_table(&data, TableFormat::Safetensors, "relations").unwrap(), set.relations);
}

fn data_file(dir: &Path) -> PathBuf {
    let is_data = |path: &PathBuf| path.extension().is_some_and(|ending| ending == "safetensors");
    fs::read_dir(dir).unwrap().map(|entry| entry.unwrap().path()).find(is_data).unwrap()
}

#[test]
fn vectors_of_another_graph_are_refused() {
    let dir = tempfile::tempdir().unwrap();
    set(&graph()).write(dir.path()).unwrap();
    let mut builder = GraphBuilder::new(Duplicates::Remove);
    builder.add_named("rome", "capital_of", "italy");
    builder.add_named("milan", "located_in", "italy");
    let error = EmbeddingSet::open(dir.path(), &builder.finish()).unwrap_err();
    assert!(matches!(error, VectorError::OtherGraph { .. }));
    assert!(error.to_string().contains("belong to another graph"), "{error}");
}

#[test]
fn replacing_keeps_open_readers_and_leaves_nothing_behind() {
    let dir = tempfile::tempdir().unwrap();
    let graph = graph();
    set(&graph).write(dir.path()).unwrap();
    let before = EmbeddingSet::open(dir.path(), &graph).unwrap();
    fs::write(dir.path().join(".vectors-0123.safetensors.unfinished-77"), "left by a killed writer").unwrap();
    fs::write(dir.path().join("notes.txt"), "mine").unwrap();
    let other = EmbeddingSet::new(&graph, table(3, 5), table(2, 5), EmbeddingMetadata::default()).unwrap();
    other.write(dir.path()).unwrap();
    assert_eq!(before, set(&graph), "the old file is still mapped");
    assert_eq!(EmbeddingSet::open(dir.path(), &graph).unwrap(), other);
    let mut names: Vec<String> =
        fs::read_dir(dir.path()).unwrap().map(|e| e.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    assert_eq!(names.len(), 4, "{names:?}");
    // Writing the same again does not disturb readers.
    other.write(dir.path()).unwrap();
    assert_eq!(EmbeddingSet::open(dir.path(), &graph).unwrap(), other);
}

#[test]
fn what_is_no_embedding_set_is_left_alone() {
    let dir = tempfile::tempdir().unwrap();
    let graph = graph();
    assert!(matches!(EmbeddingSet::open(dir.path(), &graph), Err(VectorError::Missing { .. })));
    fs::write(dir.path().join("thesis.tex"), "precious").unwrap();
    assert!(matches!(set(&graph).write(dir.path()), Err(VectorError::Occupied { .. })));
    assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 1);
}

#[test]
fn what_a_killed_writer_left_is_in_nobodys_way() {
    let dir = tempfile::tempdir().unwrap();
    let graph = graph();
    for name in ["manifest.json", "checkpoint", "vectors-0123.safetensors"] {
        fs::write(dir.path().join(format!(".{name}.unfinished-77")), "begun").unwrap();
    }
    drop(EmbeddingSet::target(dir.path()).unwrap());
    set(&graph).write(dir.path()).unwrap();
    assert_eq!(EmbeddingSet::open(dir.path(), &graph).unwrap(), set(&graph));
    assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 3, "the manifest, the vectors and the lock");
}

#[test]
fn two_writers_do_not_meet() {
    let dir = tempfile::tempdir().unwrap();
    let graph = graph();
    set(&graph).write(dir.path()).unwrap();
    let lock = fs::File::open(dir.path().join(".lock")).unwrap();
    lock.lock().unwrap();
    assert!(matches!(set(&graph).write(dir.path()), Err(VectorError::Locked { .. })));
}

#[test]
fn another_version_and_an_unspeakable_metric_are_named() {
    let dir = tempfile::tempdir().unwrap();
    let graph = graph();
    set(&graph).write(dir.path()).unwrap();
    let mut diverged = set(&graph);
    diverged.metadata.metrics.insert("loss".to_owned(), f64::NAN);
    let error = diverged.write(dir.path()).unwrap_err().to_string();
    assert!(error.contains("the metric `loss` is NaN"), "{error}");
    assert_eq!(EmbeddingSet::open(dir.path(), &graph).unwrap(), set(&graph), "the old set stays");
    let path = dir.path().join("manifest.json");
    let text = fs::read_to_string(&path).unwrap();
    fs::write(&path, text.replace("\"version\": 1", "\"version\": 7")).unwrap();
    let error = EmbeddingSet::open(dir.path(), &graph).unwrap_err();
    assert!(matches!(error, VectorError::Version { found: 7, supported: 1, .. }), "{error}");
}

#[test]
fn every_altered_or_missing_byte_of_an_embedding_set_is_seen() {
    let dir = tempfile::tempdir().unwrap();
    let graph = graph();
    let sound = set(&graph);
    sound.write(dir.path()).unwrap();
    for path in [data_file(dir.path()), dir.path().join("manifest.json")] {
        let content = fs::read(&path).unwrap();
        // A fresh file each time, as a mapping may still be open.
        let replace = |content: &[u8]| {
            fs::remove_file(&path).unwrap();
            fs::write(&path, content).unwrap();
            EmbeddingSet::open(dir.path(), &graph)
        };
        for at in 0..content.len() {
            let mut altered = content.clone();
            altered[at] ^= 0x04;
            // White space in JSON may change without changing the content.
            if let Ok(opened) = replace(&altered) {
                assert_eq!(opened, sound, "byte {at} of {}", path.display());
            }
            assert!(replace(&content[..at]).is_err(), "cut at byte {at} of {}", path.display());
        }
        assert_eq!(replace(&content).unwrap(), sound);
    }
}

#[test]
fn nell_one_vectors_go_out_in_released_order_and_come_back() {
    let Some(path) = datasets::dataset("NELL-One") else { return };
    let source = rana_graph::format::Source::Path(path);
    let graph = rana_graph::import(&[source], &rana_graph::ImportOptions::default(), &()).unwrap().graph;
    let (entities, relations) = (table(graph.entity_count(), 3), table(2 * graph.relation_count(), 3));
    let dir = tempfile::tempdir().unwrap();
    for format in TableFormat::ALL {
        let files = files(dir.path(), format);
        export_vectors(&files, &graph, &entities, &relations, RelationRows::Directed).unwrap();
        let back = import_vectors(&files, &graph).unwrap();
        assert_eq!((&back.entities, &back.relations), (&entities, &relations));
        // Row 1 of `relation2ids` is the inverse of a relation that comes later.
        let released = read_table(&files.relations, format, "relations").unwrap();
        let row = graph.release_rows().unwrap()[1];
        assert!(row.is_inverse() && row.index() != 1);
        assert_eq!(released.row(1), relations.row(row.index()));
    }
}
