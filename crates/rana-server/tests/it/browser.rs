//! The page in a real browser: from support pairs to accepted facts to an exported file.

use std::time::{Duration, Instant};

use serde_json::json;

use crate::client::get;
use crate::running::Running;
use crate::webdriver::Browser;

const ENTER: &str = "\u{E007}";

#[test]
fn from_support_pairs_to_accepted_facts_to_a_file() {
    let server = Running::new();
    let downloads = tempfile::tempdir().unwrap();
    let Some(browser) = Browser::open(downloads.path()) else { return };
    let page = |more: &str| format!("http://{}/{more}", server.address);

    // The example is filled in.
    browser.go(&page("?example"));
    browser.wait("return document.querySelectorAll('#supports li').length === 5");
    browser.picture("desktop-form", 1280, 900);

    // A new relation: pairs chosen from suggestions and typed, with a spelling mistake corrected.
    browser.go(&page(""));
    browser.wait("return document.getElementById('relation') !== null");
    browser.script("sessionStorage.clear(); localStorage.clear()");
    browser.go(&page(""));
    browser.wait("return document.readyState === 'complete'");
    browser.script("const clear = document.getElementById('clear'); if (clear) clear.click()");
    browser.wait("return document.querySelectorAll('#supports li').length === 0");
    browser.type_into("#relation", "studies");
    for (head, tail) in [("virus", "cell"), ("bacterium", "tissue"), ("fungus", "cell")] {
        browser.type_into("#support-head", head);
        browser.press("\u{E004}");
        browser.type_into("#support-tail", &format!("{tail}{ENTER}"));
        browser.script("document.getElementById('add-support').click()");
        let script = format!(
            "return [...document.querySelectorAll('#supports li')].some(li => li.innerText.includes('{head}'))"
        );
        browser.wait(&script);
    }
    browser.type_into("#head", &format!("alga{ENTER}"));
    browser.wait("return document.querySelectorAll('#heads li').length === 1");
    browser.click("#complete");
    browser.wait("return document.querySelectorAll('[data-answer]').length >= 5");
    let ranks =
        browser.script("return [...document.querySelectorAll('[data-answer]')].map(a => +a.dataset.rank)");
    let ranks: Vec<u64> = ranks.as_array().unwrap().iter().map(|rank| rank.as_u64().unwrap()).collect();
    assert!(ranks.iter().copied().eq(1..=ranks.len() as u64), "{ranks:?}");
    browser.picture("desktop-answers", 1280, 900);
    browser.picture("phone-answers", 360, 780);

    // Reasons are shown as a drawing and as text.
    browser.click("[data-answer] [data-action=open]");
    browser.wait("return document.querySelector('[data-explanation] svg') !== null");
    let said = browser.script("return document.querySelector('[data-explanation]').innerText");
    assert!(said.as_str().unwrap().len() > 40, "{said}");
    browser.picture("desktop-reasons", 1280, 1100);
    browser.click("#theme");
    browser.picture("desktop-dark", 1280, 1100);
    browser.picture("phone-dark", 360, 780);

    // Only the keyboard: accept the first, reject the second, accept and withdraw the third.
    browser.script("document.querySelector('[data-answer]').focus()");
    browser.press("a");
    browser.wait("return document.querySelector('[data-rank=\"1\"]').dataset.verdict === 'accepted'");
    browser.press("jr");
    browser.wait("return document.querySelector('[data-rank=\"2\"]').dataset.verdict === 'rejected'");
    browser.press("ja");
    browser.wait("return document.querySelector('[data-rank=\"3\"]').dataset.verdict === 'accepted'");
    browser.press("u");
    browser.wait("return document.querySelector('[data-rank=\"3\"]').dataset.verdict === 'none'");
    let of_rank = |rank: u32| {
        let script = format!("return document.querySelector('[data-rank=\"{rank}\"]').dataset.tail");
        browser.script(&script).as_str().unwrap().to_owned()
    };
    let (accepted, rejected) = (of_rank(1), of_rank(2));
    let kept = get(server.address, "/v1/decisions?relation=studies").json();
    let verdicts: Vec<_> = kept["decisions"]
        .as_array()
        .unwrap()
        .iter()
        .map(|of| (&of["tail"]["name"], &of["verdict"]))
        .collect();
    assert_eq!(verdicts, [(&json!(accepted), &json!("accepted")), (&json!(rejected), &json!("rejected"))]);

    // Decisions are used: the accepted fact is in the support and no longer an answer, and the rejected one is gone.
    browser.script("const box = document.getElementById('use-decisions'); if (!box.checked) box.click()");
    browser.script("document.querySelectorAll('[data-answer]').forEach(a => a.dataset.old = '')");
    browser.click("#complete");
    browser.wait("return document.querySelector('[data-answer]:not([data-old])') !== null");
    let tails =
        browser.script("return [...document.querySelectorAll('[data-answer]')].map(a => a.dataset.tail)");
    assert!(
        !tails.as_array().unwrap().iter().any(|tail| *tail == json!(accepted) || *tail == json!(rejected)),
        "{tails}"
    );

    // The accepted fact as a file.
    browser.script("const f = document.getElementById('export-format'); f.value = 'tsv'; f.dispatchEvent(new Event('change'))");
    browser.click("#export");
    let began = Instant::now();
    let file = loop {
        let names = std::fs::read_dir(downloads.path()).unwrap().map(|entry| entry.unwrap().path());
        if let Some(file) = names.into_iter().find(|path| path.extension().is_some_and(|of| of == "tsv")) {
            break file;
        }
        assert!(began.elapsed() < Duration::from_secs(30), "nothing was downloaded");
        std::thread::sleep(Duration::from_millis(100));
    };
    let text = std::fs::read_to_string(file).unwrap();
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(lines.len(), 2, "{text}");
    assert!(lines[1].starts_with(&format!("alga\tstudies\t{accepted}\t")), "{text}");
}

#[test]
fn a_miss_offers_what_was_meant() {
    let server = Running::new();
    let downloads = tempfile::tempdir().unwrap();
    let Some(browser) = Browser::open(downloads.path()) else { return };
    browser.go(&format!("http://{}/?example", server.address));
    browser.wait("return document.querySelectorAll('#heads li').length > 0");
    let before = browser.script("return document.querySelectorAll('#heads li').length").as_u64().unwrap();
    browser.type_into("#head", &format!("bacteriam{ENTER}"));
    browser.wait("return document.querySelector('[data-suggestion=bacterium]') !== null");
    browser.picture("desktop-suggestion", 1280, 900);
    browser.script("document.querySelector('[data-suggestion=bacterium]').click()");
    let script = format!("return document.querySelectorAll('#heads li').length === {}", before + 1);
    browser.wait(&script);
}
