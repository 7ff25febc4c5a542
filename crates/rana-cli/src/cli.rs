//! The command line as clap parses it: one subcommand per file of `command/`.

use clap::{Args, Parser, Subcommand};

use crate::command;

/// Learn a knowledge-graph relation from a handful of facts and complete it.
#[derive(Debug, Parser)]
#[command(
    name = "rana",
    version,
    propagate_version = true,
    max_term_width = 100,
    after_help = "Start with `rana quickstart`, then `rana learn YOUR-FILE --out learned`.\n\
                  Exit codes: 0 done, 1 failed, 2 wrong usage."
)]
pub(crate) struct Cli {
    #[command(flatten)]
    pub(crate) output: OutputArgs,
    #[command(subcommand)]
    pub(crate) command: Command,
}

/// Output options that all commands share.
#[derive(Clone, Debug, Args)]
#[command(next_help_heading = "Output")]
pub(crate) struct OutputArgs {
    /// Print the result as JSON on standard output.
    #[arg(long, global = true)]
    pub(crate) json: bool,
    /// Print only the result and errors.
    #[arg(long, short, global = true)]
    pub(crate) quiet: bool,
    /// When to use colours; the variable NO_COLOR turns them off.
    #[arg(long, global = true, value_name = "WHEN", default_value = "auto")]
    pub(crate) color: ColorWhen,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum ColorWhen {
    Auto,
    Always,
    Never,
}

impl ColorWhen {
    pub(crate) fn write_global(self) {
        use anstream::ColorChoice;
        match self {
            Self::Auto => ColorChoice::Auto,
            Self::Always => ColorChoice::Always,
            Self::Never => ColorChoice::Never,
        }
        .write_global();
    }
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    Quickstart(command::quickstart::QuickstartArgs),
    Learn(command::learn::LearnArgs),
    Import(command::import::ImportArgs),
    Inspect(command::inspect::InspectArgs),
    Split(command::split::SplitArgs),
    Embed(command::embed::EmbedArgs),
    Train(command::train::TrainArgs),
    Fuse(command::fuse::FuseArgs),
    Sweep(command::sweep::SweepArgs),
    Eval(command::eval::EvalArgs),
    Compare(command::compare::CompareArgs),
    Complete(command::complete::CompleteArgs),
    Relate(command::relate::RelateArgs),
    Discover(command::discover::DiscoverArgs),
    Update(command::update::UpdateArgs),
    Serve(command::serve::ServeArgs),
    Health(command::health::HealthArgs),
    Mcp(command::mcp::McpArgs),
    Reproduce(command::reproduce::ReproduceArgs),
    Episodes(command::episodes::EpisodesArgs),
    Export(command::export::ExportArgs),
    Synth(command::synth::SynthArgs),
    Completions(command::completions::CompletionsArgs),
    Man(command::man::ManArgs),
}
