//! [`FewShotArgs`]: the arguments that say which relations count as few-shot.

use clap::Args;
use rana::graph::FewShotRule;

/// Which relations count as few-shot.
#[derive(Clone, Copy, Debug, Args)]
pub(crate) struct FewShotArgs {
    /// A few-shot relation has more facts than this.
    #[arg(long, value_name = "N", default_value_t = 50)]
    more_than: u64,
    /// A few-shot relation has fewer facts than this.
    #[arg(long, value_name = "N", default_value_t = 500)]
    less_than: u64,
}

impl FewShotArgs {
    pub(crate) fn rule(self) -> FewShotRule {
        FewShotRule { more_than: self.more_than, less_than: self.less_than }
    }
}
