//! One file or folder per subcommand: its arguments, and the calls to the library. What several share: `few_shot_args.rs`
//! (which relations are few-shot), `stored_vectors.rs` (where the vectors of a graph are) and `answer_file.rs` (in which format
//! answers are written).

mod answer_file;
pub(crate) mod compare;
pub(crate) mod complete;
pub(crate) mod completions;
pub(crate) mod discover;
pub(crate) mod embed;
pub(crate) mod episodes;
pub(crate) mod eval;
pub(crate) mod export;
mod few_shot_args;
pub(crate) mod fuse;
pub(crate) mod health;
pub(crate) mod import;
pub(crate) mod inspect;
pub(crate) mod learn;
pub(crate) mod man;
pub(crate) mod mcp;
pub(crate) mod quickstart;
pub(crate) mod relate;
pub(crate) mod reproduce;
pub(crate) mod serve;
pub(crate) mod split;
mod stored_vectors;
pub(crate) mod sweep;
pub(crate) mod synth;
pub(crate) mod train;
pub(crate) mod update;

use crate::cli::Command;
use crate::error::CliError;
use crate::interrupt::clean_up_on_interrupt;
use crate::terminal::Terminal;

pub(crate) fn run(command: Command, terminal: &Terminal) -> Result<(), CliError> {
    // A server stops by itself.
    if !matches!(command, Command::Serve(_) | Command::Mcp(_) | Command::Quickstart(_)) {
        clean_up_on_interrupt();
    }
    match command {
        Command::Quickstart(args) => quickstart::run(&args, terminal),
        Command::Learn(args) => learn::run(&args, terminal),
        Command::Import(args) => import::run(&args, terminal),
        Command::Inspect(args) => inspect::run(&args, terminal),
        Command::Split(args) => split::run(&args, terminal),
        Command::Embed(args) => embed::run(&args, terminal),
        Command::Train(args) => train::run(&args, terminal),
        Command::Fuse(args) => fuse::run(&args, terminal),
        Command::Sweep(args) => sweep::run(&args, terminal),
        Command::Eval(args) => eval::run(&args, terminal),
        Command::Compare(args) => compare::run(&args, terminal),
        Command::Complete(args) => complete::run(&args, terminal),
        Command::Relate(args) => relate::run(&args, terminal),
        Command::Discover(args) => discover::run(&args, terminal),
        Command::Update(args) => update::run(&args, terminal),
        Command::Serve(args) => serve::run(&args, terminal),
        Command::Health(args) => health::run(&args, terminal),
        Command::Mcp(args) => mcp::run(&args, terminal),
        Command::Reproduce(args) => reproduce::run(&args, terminal),
        Command::Episodes(args) => episodes::run(&args, terminal),
        Command::Export(args) => export::run(&args, terminal),
        Command::Synth(args) => synth::run(&args, terminal),
        Command::Completions(args) => completions::run(&args, terminal),
        Command::Man(args) => man::run(&args, terminal),
    }
}
