//! `rana synth`: writes a random graph with known rules.

use std::io;
use std::path::{Path, PathBuf};

use clap::builder::PossibleValuesParser;
use clap::{Args, ValueHint};
use rana::graph::synth::{SynthConfig, SynthReport, SynthSettings, write_release, write_tsv};
use serde::Serialize;

use crate::error::CliError;
use crate::human_numbers::thousands;
use crate::terminal::{BOLD, Terminal};

/// Generate a graph of any size with planted structure, and few-shot tasks over it.
///
/// Relations are translations in a hidden space, inverses, compositions and symmetric relations,
/// with a long tail of sizes and some noise. The result is a directory like the NELL-One release;
/// with `--out -` the background facts go to standard output as tab-separated lines.
#[derive(Debug, Args)]
#[command(after_long_help = "\
Examples:
  rana synth --like small --out toy && rana import toy --out toy-kg
  rana synth --like wiki-one --out big          (4,838,244 entities, 5,859,240 facts)
  rana synth --entities 10000 --triples 50000 --seed 3 --out - | rana import - --out kg")]
pub(crate) struct SynthArgs {
    /// The directory to write, or `-` for the background facts on standard output.
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath)]
    out: PathBuf,
    /// The sizes of the graph; the options below change single ones.
    #[arg(long, value_name = "PRESET", default_value = "small", value_parser = PossibleValuesParser::new(SynthSettings::PRESETS))]
    like: String,
    /// The same seed gives the same bytes.
    #[arg(long, value_name = "N", default_value_t = 0)]
    seed: u64,
    /// Entities.
    #[arg(long, value_name = "N", help_heading = "Sizes other than the preset's")]
    entities: Option<u64>,
    /// Background facts.
    #[arg(long, value_name = "N", help_heading = "Sizes other than the preset's")]
    triples: Option<u64>,
    /// Types.
    #[arg(long, value_name = "N", help_heading = "Sizes other than the preset's")]
    types: Option<u64>,
    /// Background relations.
    #[arg(long, value_name = "N", help_heading = "Sizes other than the preset's")]
    relations: Option<u64>,
    /// Share of facts that are noise, 0 to 0.5.
    #[arg(long, value_name = "SHARE", help_heading = "Sizes other than the preset's")]
    noise: Option<f64>,
    /// Most candidates per task.
    #[arg(long, value_name = "N", help_heading = "Sizes other than the preset's")]
    cap: Option<u64>,
}

impl SynthArgs {
    fn config(&self) -> Result<SynthConfig, CliError> {
        let preset = SynthSettings::like(&self.like)?;
        Ok(SynthConfig::new(SynthSettings {
            seed: self.seed,
            entities: self.entities.unwrap_or(preset.entities),
            triples: self.triples.unwrap_or(preset.triples),
            types: self.types.unwrap_or(preset.types),
            background_relations: self.relations.unwrap_or(preset.background_relations),
            noise: self.noise.unwrap_or(preset.noise),
            candidate_cap: self.cap.unwrap_or(preset.candidate_cap),
            ..preset
        })?)
    }
}

pub(crate) fn run(args: &SynthArgs, terminal: &Terminal) -> Result<(), CliError> {
    let config = args.config()?;
    let bar = terminal.progress();
    if args.out == Path::new("-") {
        terminal.refuse_json("the facts")?;
        write_tsv(io::stdout().lock(), &config, &bar)?;
        return Ok(());
    }
    let report = write_release(&args.out, &config, &bar)?;
    let account = SynthAccount { out: args.out.display().to_string(), config: &config, report: &report };
    terminal.account(&account, |out| {
        writeln!(
            out,
            "wrote {BOLD}{}{BOLD:#}: {} entities, {} background facts of {} relations, {} few-shot facts",
            account.out,
            thousands(config.entities),
            thousands(config.triples),
            thousands(config.background_relations),
            thousands(report.few_shot_facts),
        )
    })
}

#[derive(Serialize)]
struct SynthAccount<'a> {
    out: String,
    config: &'a SynthConfig,
    #[serde(flatten)]
    report: &'a SynthReport,
}
