//! Killed writers and full disks: the store that was there stays readable.

use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use crate::command::{json, run, text};

/// Two different graphs of some size as files, the first one imported as `kg`.
fn two_graphs() -> tempfile::TempDir {
    let dir = tempfile::tempdir().unwrap();
    for seed in ["1", "2"] {
        let sizes = ["--entities", "20000", "--triples", "60000", "--types", "5"];
        let out = format!("g{seed}");
        run(dir.path(), &[&["synth", "--seed", seed, "--out", &out][..], &sizes].concat());
    }
    run(dir.path(), &["import", "g1", "--out", "kg"]);
    dir
}

fn start_import(dir: &Path) -> Child {
    Command::new(assert_cmd::cargo::cargo_bin("rana"))
        .args(["import", "g2", "--out", "kg", "--quiet"])
        .current_dir(dir)
        .stderr(Stdio::null())
        .spawn()
        .unwrap()
}

/// The name of the directory of arrays, which identifies the graph of a store.
fn content(dir: &Path) -> String {
    json(dir, &["inspect", "kg"])["manifest"]["data"].as_str().unwrap().to_owned()
}

fn data_directories(dir: &Path) -> usize {
    let entries = std::fs::read_dir(dir.join("kg")).unwrap();
    entries.filter(|entry| entry.as_ref().unwrap().file_name().to_string_lossy().starts_with("data-")).count()
}

#[test]
fn a_writer_killed_at_any_moment_leaves_the_old_store_or_the_new_one() {
    let dir = two_graphs();
    let old = content(dir.path());
    let begin = Instant::now();
    assert!(start_import(dir.path()).wait().unwrap().success());
    let whole = begin.elapsed();
    let new = content(dir.path());
    assert_ne!(old, new);
    let mut kept_old = 0;
    for round in 0..20u32 {
        run(dir.path(), &["import", "g1", "--out", "kg", "--quiet"]);
        let mut writer = start_import(dir.path());
        if round % 2 == 0 {
            // In the middle of writing: as soon as the second set of arrays appears.
            let patience = Instant::now();
            while data_directories(dir.path()) < 2 && patience.elapsed() < whole * 4 {
                std::thread::sleep(Duration::from_micros(200));
            }
        } else {
            std::thread::sleep(whole * round / 20);
        }
        writer.kill().unwrap();
        writer.wait().unwrap();
        let found = content(dir.path());
        assert!(found == old || found == new, "round {round}: {found}");
        kept_old += u32::from(found == old);
    }
    assert!(kept_old > 0, "no writer was ever killed in time");
    // The next import removes what the killed writers left behind.
    run(dir.path(), &["import", "g2", "--out", "kg", "--quiet"]);
    assert_eq!(content(dir.path()), new);
    assert_eq!(data_directories(dir.path()), 1);
}

fn store_bytes(dir: &Path) -> u64 {
    let data = dir.join("kg").join(content(dir));
    std::fs::read_dir(data).unwrap().map(|entry| entry.unwrap().metadata().unwrap().len()).sum()
}

/// Runs a script in bash.
fn bash(dir: &Path, script: &str) -> std::process::Output {
    Command::new("bash").args(["-c", script]).current_dir(dir).output().unwrap()
}

/// Names of files below a directory that only a writer that has not ended may have.
fn unfinished(dir: &Path) -> Vec<String> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(dir).into_iter().flatten().flatten() {
        let name = entry.file_name().to_string_lossy().into_owned();
        if name.contains(".unfinished-") || name.ends_with(".new") {
            found.push(name);
        } else if entry.path().is_dir() {
            found.extend(unfinished(&entry.path()));
        }
    }
    found
}

/// Starts a command, and sends it a signal as soon as something can be seen of what it writes.
fn terminated(dir: &Path, arguments: &[&str], signal: &str, can_be_seen: impl Fn() -> bool) -> Option<i32> {
    let mut writer = Command::new(assert_cmd::cargo::cargo_bin("rana"))
        .args(arguments)
        .current_dir(dir)
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    while !can_be_seen() && writer.try_wait().unwrap().is_none() {
        std::thread::sleep(Duration::from_micros(200));
    }
    // It may have ended; then nothing must be left either.
    let _ = Command::new("kill").args([signal, &writer.id().to_string()]).stderr(Stdio::null()).status();
    writer.wait().unwrap().code()
}

#[test]
fn a_terminated_writer_leaves_no_temporary_files() {
    let dir = two_graphs();
    let old = content(dir.path());
    for signal in ["-TERM", "-INT"].repeat(3) {
        let import = ["import", "g2", "--out", "kg", "--quiet"];
        let code = terminated(dir.path(), &import, signal, || data_directories(dir.path()) > 1);
        assert!(matches!(code, Some(0 | 130)), "{code:?}");
        assert_eq!(data_directories(dir.path()), 1, "{signal}");
        assert_eq!(unfinished(dir.path()), [""; 0], "{signal}");
        content(dir.path());
        run(dir.path(), &["import", "g1", "--out", "kg", "--quiet"]);
        assert_eq!(content(dir.path()), old);
    }
    // It takes long enough to be met in the middle.
    let synth = ["synth", "--seed", "1", "--entities", "300000", "--triples", "3000000", "--out", "large"];
    let code = terminated(dir.path(), &synth, "-TERM", || !unfinished(dir.path()).is_empty());
    assert_eq!(code, Some(130));
    assert_eq!(unfinished(dir.path()), [""; 0]);
    assert!(!dir.path().join("large").exists());
}

/// `nohup` is kept to: closing a terminal does not end what was started by it.
#[test]
fn a_program_in_the_background_ignores_hang_ups() {
    let dir = tempfile::tempdir().unwrap();
    let binary = assert_cmd::cargo::cargo_bin("rana");
    // When the pipe is open on both sides, the program has its handlers.
    let script = format!(
        "trap '' HUP; mkfifo facts; '{}' import facts --format tsv --out kg --quiet & exec 3>facts
         kill -HUP $!; printf 'anna\\tlikes\\tbert\\n' >&3; exec 3>&-; wait $!; echo \"code $?\"",
        binary.display()
    );
    let output = bash(dir.path(), &script);
    assert_eq!(text(&output.stdout), "code 0\n", "{}", text(&output.stderr));
}

/// A path need not be text.
#[test]
fn sources_of_any_name_are_read() {
    use std::os::unix::ffi::OsStrExt;
    let dir = tempfile::tempdir().unwrap();
    let name = std::ffi::OsStr::from_bytes(b"f\xe9.tsv");
    std::fs::write(dir.path().join(name), "anna\tlikes\tbert\nbert\tlikes\tcarl\n").unwrap();
    let import = |options: &[&str]| {
        let mut command = crate::command::rana(dir.path(), &["import"]);
        command.arg(name).args(options).args(["--out", "kg", "--json"]).output().unwrap()
    };
    let held_out = |option: &str| {
        let mut command = crate::command::rana(dir.path(), &["import", "other.tsv", "--out", "kg2", option]);
        command.arg(name).output().unwrap()
    };
    std::fs::write(dir.path().join("other.tsv"), "anna\tlikes\tcarl\n").unwrap();
    for output in [import(&[]), held_out("--valid"), held_out("--test")] {
        assert!(output.status.success(), "{}", text(&output.stderr));
    }
    assert_eq!(json(dir.path(), &["inspect", "kg"])["manifest"]["counts"]["triples"], 2);
}

/// A run that cannot be read is not called something else. A loop of links fails for every user.
#[test]
fn a_run_that_cannot_be_read_is_said_to_be_one() {
    let dir = tempfile::tempdir().unwrap();
    let run = dir.path().join("run");
    std::fs::create_dir(&run).unwrap();
    std::os::unix::fs::symlink("run.json", run.join("run.json")).unwrap();
    std::fs::write(dir.path().join("facts.tsv"), "anna\tlikes\tbert\n").unwrap();
    for command in [
        &["eval", "run"][..],
        &["complete", "run", "--relation", "likes"],
        &["serve", "run", "--listen", "127.0.0.1:0"],
    ] {
        let (code, said) = crate::command::fail(dir.path(), command);
        assert_eq!(code, 1, "{command:?}: {said}");
        assert!(said.contains("run.json: could not read the manifest of the run"), "{command:?}: {said}");
    }
}

#[test]
fn a_file_that_may_not_grow_leaves_the_old_store() {
    let dir = two_graphs();
    let old = content(dir.path());
    let binary = assert_cmd::cargo::cargo_bin("rana");
    // With the signal ignored, a write past the limit fails with an error, as on a full disk.
    let script = format!("trap '' XFSZ; ulimit -f 200; '{}' import g2 --out kg", binary.display());
    let output = bash(dir.path(), &script);
    assert_eq!(output.status.code(), Some(1), "{}", text(&output.stderr));
    let said = text(&output.stderr);
    assert!(said.contains("could not write the file") && said.contains("untouched"), "{said}");
    assert_eq!(content(dir.path()), old);
    assert_eq!(data_directories(dir.path()), 1, "the failed attempt is cleaned up");

    // A store of a later version has another manifest and must not be touched either.
    let manifest = dir.path().join("kg/manifest.json");
    std::fs::write(&manifest, "{\"format\": \"rana-graph\", \"version\": 2, \"arrays\": 3}").unwrap();
    assert_eq!(bash(dir.path(), &script).status.code(), Some(1));
    assert!(dir.path().join("kg").join(old).join("facts").exists(), "its arrays are untouched");
}

#[test]
fn a_full_disk_leaves_the_old_store() {
    let dir = two_graphs();
    let binary = assert_cmd::cargo::cargo_bin("rana");
    // A file system of its own with room for one store but not for two.
    let script = format!(
        "mkdir disk && mount -t tmpfs -o size={1} tmpfs disk || exit 77
         '{0}' import g1 --out disk/kg --quiet || exit 78
         '{0}' import g2 --out disk/kg; echo \"code $?\"
         '{0}' inspect disk/kg --json --relations 0
         umount disk",
        binary.display(),
        store_bytes(dir.path()) * 3 / 2,
    );
    let unshared = Command::new("unshare")
        .args(["--mount", "--map-root-user", "bash", "-c", &script])
        .current_dir(dir.path())
        .output();
    let output = match unshared {
        Ok(output) if output.status.code() != Some(77) && !text(&output.stderr).contains("unshare:") => {
            output
        }
        _ => {
            eprintln!(
                "skipped: a_full_disk_leaves_the_old_store needs unshare and the right to mount a tmpfs"
            );
            return;
        }
    };
    let (out, err) = (text(&output.stdout), text(&output.stderr));
    assert!(out.contains("code 1"), "{out} {err}");
    assert!(err.contains("No space left on device"), "{err}");
    assert!(err.contains("what was there before is untouched"), "{err}");
    let manifest = &out[out.find('{').unwrap()..];
    let inspection: serde_json::Value = serde_json::from_str(manifest).unwrap();
    assert_eq!(
        inspection["manifest"]["data"].as_str().unwrap(),
        content(dir.path()),
        "the old store is intact"
    );
}

/// A file that is cut short under a running server ends it with a sentence, not with a signal.
#[cfg(target_os = "linux")]
#[test]
fn a_mapped_file_that_is_cut_short_is_explained() {
    use std::io::{Read, Write};

    use crate::serving::Serving;

    let dir = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    run(dir.path(), &["quickstart", "--out", "tour", "--quiet"]);
    let mut server = Serving::new(dir.path(), &["tour/run"]);
    let address = server.address.clone();
    // Every array of the graph loses its content.
    let data = std::fs::read_dir(dir.path().join("tour/benchmark")).unwrap();
    let data =
        data.map(|entry| entry.unwrap().path()).find(|path| path.is_dir() && path.join("facts").exists());
    for array in std::fs::read_dir(data.unwrap()).unwrap() {
        let file = std::fs::OpenOptions::new().write(true).open(array.unwrap().path()).unwrap();
        file.set_len(0).unwrap();
    }
    // What is computed from the files is refused before it begins, so these ask for what is looked up at once. The index of
    // names may be read before a request comes; then the server has ended already.
    for path in ["/v1/relations", "/v1/entities/virus", "/v1/run"] {
        let Ok(mut stream) = std::net::TcpStream::connect(&address) else { break };
        let request = format!("GET {path} HTTP/1.1\r\nhost: {address}\r\nconnection: close\r\n\r\n");
        let _ = stream.write_all(request.as_bytes());
        let _ = stream.read_to_end(&mut Vec::new());
    }
    let status = server.process.wait().unwrap();
    let mut said = String::new();
    server.process.stderr.take().unwrap().read_to_string(&mut said).unwrap();
    assert_eq!(status.code(), Some(74), "{status}: {said}");
    assert!(said.contains("was cut short while it was read"), "{said}");
}
