//! Random damage to files of vectors gives an error or a valid table, never a panic.
#![allow(missing_docs, clippy::unwrap_used)]

use std::fs;

use rana_embed::format::{TableFormat, read_table, write_table};
use rana_embed::{EmbeddingMetadata, EmbeddingSet, Table};
use rana_graph::{Duplicates, GraphBuilder};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

const ROUNDS: usize = 800;

/// Damages bytes as disks, editors and transfers do, more often in the header.
fn damage(content: &[u8], rng: &mut ChaCha8Rng) -> Vec<u8> {
    let mut damaged = content.to_vec();
    for _ in 0..rng.random_range(1..4) {
        let end = if rng.random_bool(0.7) { damaged.len().min(160) } else { damaged.len() };
        if end == 0 {
            return damaged;
        }
        let at = rng.random_range(0..end);
        let to = rng.random_range(at..=damaged.len().min(at + 24));
        match rng.random_range(0..6) {
            0 => damaged[at] = rng.random(),
            1 => damaged[at] ^= 1 << rng.random_range(0..8),
            2 => damaged.truncate(at),
            3 => drop(damaged.drain(at..to)),
            4 => {
                let copy = damaged[at..to].to_vec();
                damaged.splice(at..at, copy);
            }
            _ => {
                let digits = ["9", "0", "-", "18446744073709551615", "(", "]", "'", "\"", "\n", "e99"];
                let text = digits[rng.random_range(0..digits.len())];
                damaged.splice(at..at, text.bytes());
            }
        }
    }
    damaged
}

#[test]
fn damaged_tables_never_panic() {
    let dir = tempfile::tempdir().unwrap();
    let mut rng = ChaCha8Rng::seed_from_u64(3);
    let values: Vec<f32> = (0..24).map(|_| rng.random::<f32>() - 0.5).collect();
    let table = Table::new(6, 4, values).unwrap();
    let path = dir.path().join("table");
    for format in TableFormat::ALL {
        write_table(&path, format, "entities", &table).unwrap();
        let content = fs::read(&path).unwrap();
        let mut read = 0;
        for _ in 0..ROUNDS {
            fs::write(&path, damage(&content, &mut rng)).unwrap();
            if let Ok(table) = read_table(&path, format, "entities") {
                assert_eq!(table.rows() * table.dim(), table.values().len());
                table.check_finite("table").unwrap();
                read += 1;
            }
        }
        assert!(read < ROUNDS, "no damage was ever noticed in {format}");
    }
}

#[test]
fn damaged_embedding_sets_never_panic() {
    let dir = tempfile::tempdir().unwrap();
    let mut rng = ChaCha8Rng::seed_from_u64(4);
    let mut builder = GraphBuilder::new(Duplicates::Remove);
    builder.add_named("a", "r", "b");
    let graph = builder.finish();
    let table = |rows| Table::new(rows, 2, vec![0.5; 2 * rows]).unwrap();
    let set = EmbeddingSet::new(&graph, table(2), table(1), EmbeddingMetadata::default()).unwrap();
    set.write(dir.path()).unwrap();
    let manifest = dir.path().join("manifest.json");
    let is_data = |path: &std::path::PathBuf| path.extension().is_some_and(|ending| ending == "safetensors");
    let data = fs::read_dir(dir.path()).unwrap().map(|entry| entry.unwrap().path()).find(is_data).unwrap();
    for path in [manifest, data] {
        let content = fs::read(&path).unwrap();
        for _ in 0..ROUNDS {
            // A fresh file each time: mapped files are never rewritten.
            fs::remove_file(&path).unwrap();
            fs::write(&path, damage(&content, &mut rng)).unwrap();
            if let Ok(opened) = EmbeddingSet::open(dir.path(), &graph) {
                assert_eq!(opened, set);
            }
        }
        fs::remove_file(&path).unwrap();
        fs::write(&path, content).unwrap();
    }
}
