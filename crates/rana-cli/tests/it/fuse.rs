//! Training and evaluation of rana-fused through the command line.

use crate::command::{fail, json, run, text};
use crate::train::{benchmark, path};

/// Settings that take a few seconds.
const SMALL: [&str; 14] = [
    "--preset",
    "umls",
    "--model-set",
    "steps=30",
    "--model-set",
    "eval_every=15",
    "--model-set",
    "batch=8",
    "--set",
    "folds=2",
    "--set",
    "draws=2",
    "--set",
    "queries=5",
];

#[test]
#[cfg(unix)]
fn evidence_beats_what_it_is_made_of() {
    let dir = tempfile::tempdir().unwrap();
    let benchmark = benchmark();
    let fuse = |out: &'static str, more: &[&str]| {
        let args = [&["fuse", path(&benchmark), "--out", out, "--seed", "1"], &SMALL[..], more].concat();
        json(dir.path(), &args)
    };
    let trained = fuse("fused", &[]);
    // UMLS has no types, so that source is skipped.
    assert_eq!(trained["trusted"].as_array().unwrap().len(), 8);
    assert!(trained["scores"]["cross_validated_mrr"].as_f64().unwrap() > 0.5);
    let card = json(dir.path(), &["eval", "fused", "--draws", "2"]);
    let mrr = card["official"]["micro"]["mrr"].as_f64().unwrap();
    assert_eq!(card["draw_mrrs"].as_array().unwrap().len(), 2);
    for (name, row) in card["baselines"].as_object().unwrap() {
        let other = row["official"]["micro"]["mrr"].as_f64().unwrap();
        assert!(mrr > other + 0.1, "{name}: {other}, fused {mrr}");
    }
    // A killed training resumes from its finished parts and gives the same model.
    let with_parts = |out: &str| {
        std::fs::create_dir(dir.path().join(out)).unwrap();
        std::os::unix::fs::symlink(dir.path().join("fused/parts"), dir.path().join(out).join("parts"))
            .unwrap();
    };
    with_parts("again");
    let again = fuse("again", &[]);
    assert_eq!(again["trusted"], trained["trusted"]);
    assert_eq!(again["scores"], trained["scores"]);
    // A source that is switched off is not in the model.
    with_parts("fewer");
    let fewer =
        fuse("fewer", &["--without", "path", "--without", "product", "--set", "train_task_edges=false"]);
    let kinds = |of: &serde_json::Value| -> Vec<String> {
        let sources = of["trusted"].as_array().unwrap().iter();
        sources.map(|of| of["evidence"].as_str().unwrap().to_owned()).collect()
    };
    assert_eq!(kinds(&fewer), ["translation", "rule", "edge", "copy", "signature", "name"]);
    assert!(fewer["places"]["products"].is_null());
    // The printed form.
    let shown = text(&run(dir.path(), &["eval", "fused", "--draws", "0"]).stdout);
    assert!(shown.starts_with("rana-fused, seed 1, 8 sources of evidence"), "{shown}");
}

#[test]
fn what_cannot_be_fused_is_said() {
    let dir = tempfile::tempdir().unwrap();
    let benchmark = benchmark();
    let fuse =
        |more: &[&str]| fail(dir.path(), &[&["fuse", path(&benchmark), "--out", "out"], more].concat()).1;
    let error = fuse(&["--without", "luck"]);
    assert!(
        error.contains("`luck` is no evidence; say one of: translation, mean-translation, product"),
        "{error}"
    );
    let error = fuse(&["--set", "folds=1"]);
    assert!(error.contains("folds: there must be at least 2 parts"), "{error}");
    let error = fuse(&["--model-set", "gamma=nan"]);
    assert!(error.contains("gamma is NaN"), "{error}");
    let error = fuse(&["--preset", "nothing"]);
    assert!(error.contains("nothing"), "{error}");
    std::fs::create_dir_all(dir.path().join("broken")).unwrap();
    std::fs::write(dir.path().join("broken/fused.json"), b"{\"format\": \"rana-").unwrap();
    let (_, error) = fail(dir.path(), &["eval", "broken"]);
    assert!(error.contains("fused.json: EOF while parsing"), "{error}");
    let (_, error) = fail(dir.path(), &["fuse", path(&benchmark), "--out", "broken"]);
    assert!(error.contains("there is a run already") && error.contains("with --out DIR"), "{error}");
}
