//! [`Synth`]: a graph to be generated, part by part.

use std::io::{self, BufWriter, Write};

use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;

use super::background::{Background, BackgroundCounts, Triple};
use super::config::SynthConfig;
use super::emitted_facts::Known;
use super::few_shot_relations::FewShot;
use super::latent_space::Space;
use super::schema::{RelationName, Schema};
use crate::observer::{Observer, Unit};

/// How many facts are written between two reports of progress.
const PROGRESS_EVERY: u64 = 1 << 16;

pub(super) const BUFFER: usize = 1 << 20;

/// Independent random streams, so that the numbers drawn by one part do not depend on another.
#[derive(Clone, Copy)]
enum Stream {
    Schema,
    Background,
    FewShot,
}

/// A graph to be generated. Types and rules are in memory, facts are generated one by one.
pub(super) struct Synth<'a> {
    config: &'a SynthConfig,
    pub(super) space: Space,
    schema: Schema,
}

impl<'a> Synth<'a> {
    pub(super) fn new(config: &'a SynthConfig) -> Self {
        let space = Space::new(config);
        let schema = Schema::draw(config, &space, &mut rng(config, Stream::Schema));
        Self { config, space, schema }
    }

    pub(super) fn relation_names(&self) -> impl Iterator<Item = String> + '_ {
        (0u32..)
            .zip(&self.schema.rules)
            .map(|(number, &rule)| RelationName { prefix: "", number, rule }.to_string())
    }

    fn background(
        &self,
        sink: impl FnMut(Triple) -> io::Result<()>,
    ) -> io::Result<(Known, BackgroundCounts)> {
        let rng = rng(self.config, Stream::Background);
        Background::generate(self.config, &self.space, &self.schema, rng, sink)
    }

    /// Writes the background as TAB-separated lines.
    pub(super) fn write_background(
        &self,
        out: &mut dyn Write,
        observer: &dyn Observer,
    ) -> io::Result<(Known, BackgroundCounts)> {
        let relations: Vec<String> = self.relation_names().collect();
        let mut out = BufWriter::with_capacity(BUFFER, out);
        let (mut done, mut reported, total) = (0, 0, self.config.triples);
        observer.begin("generating", Some(total), Unit::Facts);
        let generated = self.background(|(head, relation, tail)| {
            let (head, tail) = (self.space.name(head), self.space.name(tail));
            writeln!(out, "{head}\t{}\t{tail}", relations[relation as usize])?;
            done += 1;
            if done % PROGRESS_EVERY == 0 || done == total {
                observer.advance(done - reported);
                reported = done;
            }
            Ok(())
        })?;
        out.flush()?;
        observer.end();
        Ok(generated)
    }

    pub(super) fn few_shot<'s>(&'s self, known: &'s Known) -> FewShot<'s> {
        FewShot {
            settings: self.config,
            space: &self.space,
            schema: &self.schema,
            known,
            rng: rng(self.config, Stream::FewShot),
        }
    }
}

fn rng(config: &SynthConfig, stream: Stream) -> ChaCha8Rng {
    let mut rng = ChaCha8Rng::seed_from_u64(config.seed);
    rng.set_stream(stream as u64);
    rng
}
