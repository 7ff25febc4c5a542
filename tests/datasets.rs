// Where the real data sets are; included by path into the tests that need them.

use std::path::PathBuf;

/// The folder of a real data set, or `None` after saying that the calling test is skipped.
///
/// Looked for in the folder named by `RANA_DATASETS`, else in `../shared/datasets` beside the
/// workspace.
pub(crate) fn dataset(name: &str) -> Option<PathBuf> {
    let root = std::env::var_os("RANA_DATASETS").map_or_else(
        || PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../../shared/datasets"),
        PathBuf::from,
    );
    let path = root.join(name);
    if path.is_dir() {
        return Some(path);
    }
    let test = std::thread::current().name().unwrap_or("test").to_owned();
    eprintln!("skipped: {test} needs the data set {name} ({} is absent)", path.display());
    None
}
