//! `rana complete`: support pairs and heads in, ranked facts with reasons out.

mod answering;
mod completed_relation;
mod given_ends;
mod pairs_file;
mod promised_precision;
mod requested_relation;
pub(super) mod resolver;
pub(super) mod shard;

use std::io::{BufWriter, Write};
use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::str::FromStr;

use clap::{ArgAction, Args, ValueHint};
use rana::answer_writer::{AnswerError, AnswerFormat, AnswerWriter};
use rana::graph::{EntityId, write_file_atomically};
use rana::predictor::{AnswerLimits, Predictor};

use self::answering::Answering;
use self::completed_relation::CompletedRelation;
use self::given_ends::GivenEnds;
use self::promised_precision::PromisedPrecision;
use self::requested_relation::RequestedRelation;
use self::resolver::Resolver;
use self::shard::Shard;
use crate::command::answer_file::chosen_format;
use crate::error::CliError;
use crate::human_numbers::counted;
use crate::terminal::{BOLD, Terminal, data_output};
use crate::thread_pool::in_pool;

/// Complete a relation from a few of its facts: ranked answers, how sure they are, and why.
///
/// The relation may be one that the graph has few facts of, a task that was withheld from it, or a new one: nothing is
/// trained again. Names may be labels; an unknown name is answered with similar ones.
#[derive(Debug, Args)]
#[command(after_long_help = "\
Examples:
  rana complete learned --relation treats --head ibuprofen            (learned from the facts of the graph)
  rana complete learned --relation treats --pair aspirin headache --pair insulin diabetes --head ibuprofen
  rana complete learned --relation treats --plausible --precision 0.8
  rana complete learned --relation cures --new --support pairs.tsv --heads drugs.txt --reasons
  rana complete learned --relation treats --plausible --out new.tsv
  rana complete learned --support pairs.tsv --plausible --shard 2/8 --out part-2.parquet
  rana complete learned --relation treats --tail headache            (which heads? confidence is measured for heads)
  rana complete learned --relation treats --head ibuprofen --tail headache            (how sure is this pair?)

A file of pairs has head and tail, or head, relation and tail on each line, separated by tabs or commas; a header may \
name the columns. A file of heads or candidates has one name a line; \
`-` is standard input. Confidence is the chance that a benchmark would know the fact, given that the head has the \
relation at all; it never changes the order of answers. With too few examples there is no confidence. \
QuickStatements asks for Wikidata's names. Answers are the same whatever the shards, threads and formats.")]
pub(crate) struct CompleteArgs {
    /// The directory of `rana learn`, or the run of `rana train` or `rana fuse`.
    #[arg(value_name = "DIR", value_hint = ValueHint::DirPath)]
    run: PathBuf,
    /// The relation, by its name, its label or the last part of its IRI. Without pairs it is learned from facts of the graph.
    #[arg(long, value_name = "NAME")]
    relation: Option<String>,
    /// The relation is new: the graph has no facts of it.
    #[arg(long)]
    new: bool,
    /// A pair that the relation holds for; may be repeated.
    #[arg(long, num_args = 2, value_names = ["HEAD", "TAIL"], action = ArgAction::Append)]
    pair: Vec<String>,
    /// A file of such pairs.
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    support: Option<PathBuf>,
    /// A file of pairs that the relation does not hold for: what is learned leads away from them, and they are not answered.
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    rejected: Option<PathBuf>,
    /// A head to complete; may be repeated.
    #[arg(long, value_name = "NAME")]
    head: Vec<String>,
    /// A file of heads.
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    heads: Option<PathBuf>,
    /// All heads of a type; may be repeated.
    #[arg(long, value_name = "TYPE")]
    heads_of_type: Vec<String>,
    /// All heads that plausibly have the relation and none of whose tails is known.
    #[arg(long)]
    plausible: bool,
    /// A tail whose heads are wanted; may be repeated. With --head too, the pairs are judged.
    #[arg(long, value_name = "NAME")]
    tail: Vec<String>,
    /// A file of tails whose heads are wanted.
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    tails: Option<PathBuf>,
    /// All tails of a type; may be repeated.
    #[arg(long, value_name = "TYPE")]
    tails_of_type: Vec<String>,
    /// All tails that plausibly have the relation and none of whose heads is known.
    #[arg(long, conflicts_with_all = ["head", "heads", "heads_of_type", "plausible"])]
    plausible_tails: bool,
    /// Only answer with entities of this type; may be repeated.
    #[arg(long = "type", value_name = "TYPE")]
    types: Vec<String>,
    /// Only answer with the entities of a file.
    #[arg(long, value_name = "FILE", conflicts_with = "types", value_hint = ValueHint::FilePath)]
    candidates: Option<PathBuf>,
    /// Answer with any entity.
    #[arg(long, conflicts_with_all = ["types", "candidates"])]
    all_candidates: bool,
    /// Leave out facts that the graph has.
    #[arg(long, value_name = "BOOL", default_value_t = true, default_missing_value = "true",
          num_args = 0..=1, action = ArgAction::Set)]
    exclude_known: bool,
    /// At most so many answers for each head or tail.
    #[arg(long, value_name = "K", default_value = "10")]
    top: NonZeroUsize,
    /// No answers that score less.
    #[arg(long, value_name = "SCORE", allow_negative_numbers = true)]
    min_score: Option<f32>,
    /// No answers that are less sure, from 0 to 1.
    #[arg(long, value_name = "SHARE", value_parser = share::<f32>)]
    min_confidence: Option<f32>,
    /// As sure as it takes for this share of the answers to be right, as measured on relations that were left out.
    #[arg(long, value_name = "SHARE", conflicts_with = "min_confidence", value_parser = share::<f64>)]
    precision: Option<f64>,
    /// Say why, for each answer.
    #[arg(long)]
    reasons: bool,
    /// Only the i-th of n parts of the heads, counted from 1.
    #[arg(long, value_name = "I/N")]
    shard: Option<Shard>,
    /// Write answers as data: tsv, sheet (TSV for spreadsheets, without formulas), jsonl, ntriples, turtle (reified),
    /// rdf12, parquet or quickstatements. With --out, the end of the file's name says it too: .tsv, .jsonl, .nt, .ttl or
    /// .parquet.
    #[arg(long)]
    format: Option<AnswerFormat>,
    /// Where data goes; standard output if not given.
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    out: Option<PathBuf>,
    /// The graph, if it has moved since the run was made.
    #[arg(long, value_name = "KG", value_hint = ValueHint::DirPath)]
    graph: Option<PathBuf>,
    /// How many threads to use; all processors if not given.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    threads: Option<u16>,
}

fn share<T: FromStr + PartialOrd + From<u8>>(text: &str) -> Result<T, String> {
    match text.parse() {
        Ok(share) if (T::from(0)..=T::from(1)).contains(&share) => Ok(share),
        _ => Err(format!("`{text}` is not a share; say a number from 0 to 1")),
    }
}

pub(crate) fn run(args: &CompleteArgs, terminal: &Terminal) -> Result<(), CliError> {
    let format = chosen_format(args.format, args.out.as_deref())?;
    if format.is_some() && args.out.is_none() {
        terminal.refuse_json("answers")?;
    }
    in_pool(args.threads, || {
        let busy = terminal.busy("opening the run");
        let predictor = Predictor::open(&args.run, args.graph.as_deref())?;
        drop(busy);
        let resolver = Resolver::new(&predictor);
        let asked = RequestedRelation::new(args, &predictor, &resolver)?;
        let learned = predictor.learn(asked.request.clone())?;
        let GivenEnds { entities, others } = args.given_ends(&asked, &learned, &resolver)?;
        let promised = args.precision.map(|wanted| PromisedPrecision::new(&learned, wanted)).transpose()?;
        let limits = AnswerLimits {
            top: args.top.get(),
            min_score: args.min_score,
            min_confidence: promised.as_ref().map(PromisedPrecision::confidence).or(args.min_confidence),
        };
        let work = Answering { learned: &learned, limits, reasons: args.reasons, others };
        if let Some(note) = learned.note() {
            terminal.warn(&note);
        }
        if learned.looks_swapped(&entities) {
            let [given, other] = learned.direction().ends();
            terminal.warn(&format!(
                "the {given}s look like the {other}s of the examples. Are head and tail of the examples swapped?"
            ));
        }
        if let Some(promised) = &promised {
            terminal.note(&promised.text(args.is_bulk()));
        }
        let answers = match format {
            Some(format) => args.write(format, &asked, &work, &entities, terminal)?,
            None => {
                let results = work.all(&entities, args.is_bulk(), terminal);
                let answers = results.iter().map(|of| of.answers.len() as u64).sum();
                let completed = CompletedRelation::new(&asked.name, &predictor, &learned, promised, &results);
                terminal.result(&completed, |out| completed.print(out))?;
                answers
            }
        };
        if answers == 0 {
            terminal.warn(&work.why_no_answer(&entities));
        }
        Ok(())
    })?
}

impl CompleteArgs {
    /// Writes answers as data, head by head, and says how many.
    fn write(
        &self,
        format: AnswerFormat,
        asked: &RequestedRelation,
        work: &Answering<'_>,
        entities: &[EntityId],
        terminal: &Terminal,
    ) -> Result<u64, CliError> {
        let write = |out: &mut (dyn Write + Send)| -> Result<u64, AnswerError> {
            let mut writer = AnswerWriter::new(format, out)?;
            let mut written = 0;
            work.each::<AnswerError>(entities, terminal, &mut |answered| {
                for (answer, explanation) in &answered.answers {
                    writer.write(&work.fact(&asked.name, answer, explanation.as_ref()))?;
                    written += 1;
                }
                Ok(())
            })?;
            writer.finish()?;
            Ok(written)
        };
        let Some(path) = &self.out else {
            let mut out = BufWriter::new(data_output());
            return write(&mut out)
                .map_err(|source| CliError::Export { file: "standard output".to_owned(), source });
        };
        let mut written = 0;
        write_file_atomically::<AnswerError>(path, |out| {
            written = write(out)?;
            Ok(())
        })
        .map_err(|source| CliError::Export { file: path.display().to_string(), source })?;
        let [given, _] = work.learned.direction().ends();
        let account = Account { out: path.clone(), given, count: entities.len(), answers: written };
        terminal.account(&account, |out| {
            writeln!(
                out,
                "wrote {BOLD}{}{BOLD:#}: {} for {}",
                account.out.display(),
                counted(account.answers, "answer"),
                counted(account.count as u64, account.given)
            )
        })?;
        Ok(written)
    }
}

#[derive(serde::Serialize)]
struct Account {
    out: PathBuf,
    /// What answers are for: heads or tails.
    given: &'static str,
    count: usize,
    answers: u64,
}
