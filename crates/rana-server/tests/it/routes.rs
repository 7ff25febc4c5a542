//! Every route responds as described in /openapi.json.

use serde_json::{Value, json};

use crate::client::{Answer, ask, exchange, get, post};
use crate::running::{Running, SHARED, limits};

/// The example question of the served run.
fn example() -> Value {
    get(SHARED.address, "/v1/run").json()["example"].clone()
}

#[test]
fn the_run_says_what_it_is() {
    let run = get(SHARED.address, "/v1/run").json();
    assert_eq!(run["run"], "run");
    assert_eq!((&run["model"], &run["shots"]), (&json!("rana-fused"), &json!(5)));
    assert_eq!(run["graph"]["entities"], 135);
    assert!(run["graph"]["facts"].as_u64().unwrap() > 1000);
    assert!(run["confidence"]["note"].is_null() == run["confidence"]["ece"].is_number());
    assert_eq!(
        run["formats"],
        json!(["tsv", "sheet", "jsonl", "ntriples", "turtle", "rdf12", "parquet", "quickstatements"])
    );
    assert_eq!(run["example"]["support"].as_array().unwrap().len(), 5);
    assert!(!run["example"]["heads"].as_array().unwrap().is_empty());
    assert_eq!(run["limits"]["heads"], limits().heads);
    assert_eq!(get(SHARED.address, "/healthz").json(), json!({"status": "ok"}));
}

#[test]
fn entities_are_found_and_shown() {
    let find = |query: &str| get(SHARED.address, &format!("/v1/entities?{query}")).json()["entities"].clone();
    let found = find("q=acquired_abnormality&limit=3");
    assert_eq!((&found[0]["name"], &found[0]["match"]), (&json!("acquired_abnormality"), &json!("exact")));
    assert_eq!(found[0]["label"], "acquired_abnormality");
    assert!(found[0]["degree"].as_u64().unwrap() > 0);
    assert_eq!(find("q=Acquired%20abn")[0]["match"], "prefix");
    assert_eq!(find("q=abnormality")[0]["match"], "word");
    assert_eq!(find("q=abnormalety")[0]["match"], "fuzzy");
    assert_eq!(find("q=a&limit=2").as_array().unwrap().len(), 2);
    assert_eq!(find("q="), json!([]));
    assert_eq!(find(""), json!([]));

    let entity = get(SHARED.address, "/v1/entities/acquired_abnormality?limit=2").json();
    assert_eq!(entity["neighbours"].as_array().unwrap().len(), 2);
    assert_eq!(entity["truncated"], true);
    assert!(
        entity["neighbours"][0]["relation"].is_string() && entity["neighbours"][0]["inverse"].is_boolean()
    );
    assert!(entity["neighbours"][0]["entity"]["name"].is_string());
    let all = get(SHARED.address, "/v1/entities/acquired_abnormality?limit=5000").json();
    assert_eq!(
        (all["neighbours"].as_array().unwrap().len() as u64, &all["truncated"]),
        (all["degree"].as_u64().unwrap(), &json!(false))
    );
}

#[test]
fn relations_are_listed() {
    let list =
        |query: &str| get(SHARED.address, &format!("/v1/relations?{query}")).json()["relations"].clone();
    let all = list("");
    let all = all.as_array().unwrap();
    assert!(all.len() > 20 && all.len() <= 46, "{}", all.len());
    assert!(all.iter().any(|relation| relation["task"] == "test"));
    assert!(all.iter().any(|relation| relation["task"].is_null()));
    for relation in all {
        let facts = relation["facts"].as_u64().unwrap();
        assert_eq!(relation["examples"].as_array().unwrap().len() as u64, facts.min(5));
    }
    let example = example();
    let name = example["relation"].as_str().unwrap();
    let found = list(&format!("q={}&limit=1", name.to_uppercase()));
    assert_eq!((&found[0]["name"], &found[0]["task"]), (&json!(name), &json!("test")));
    assert_eq!(list("q=no_such_relation"), json!([]));
}

#[test]
fn a_relation_is_completed_and_explained() {
    let example = example();
    let (relation, heads) = (&example["relation"], &example["heads"]);
    let request = json!({"relation": relation, "support": example["support"], "heads": heads, "top": 5});
    let completion = post(SHARED.address, "/v1/complete", &request).json();
    assert_eq!(
        (
            &completion["relation"]["name"],
            &completion["relation"]["in_graph"],
            &completion["relation"]["support"]
        ),
        (relation, &json!(true), &json!(5))
    );
    assert!(completion["relation"]["candidates"].as_u64().unwrap() > 5);
    let results = completion["results"].as_array().unwrap();
    assert_eq!(results.len(), heads.as_array().unwrap().len());
    for (result, head) in results.iter().zip(heads.as_array().unwrap()) {
        assert_eq!(&result["head"]["name"], head);
        let answers = result["answers"].as_array().unwrap();
        assert_eq!(answers.len(), 5);
        let ranks: Vec<u64> = answers.iter().map(|answer| answer["rank"].as_u64().unwrap()).collect();
        assert_eq!(ranks, [1, 2, 3, 4, 5]);
        let scores: Vec<f64> = answers.iter().map(|answer| answer["score"].as_f64().unwrap()).collect();
        assert!(scores.is_sorted_by(|a, b| a >= b), "{scores:?}");
        assert!(answers.iter().all(|answer| answer["explanation"].is_null() && answer["known"] == false));
    }
    // A task needs no support, and the same support gives the same answers.
    let unsupported = json!({"relation": relation, "heads": heads, "top": 5});
    assert_eq!(post(SHARED.address, "/v1/complete", &unsupported).json(), completion);
    // One head of a cached relation is answered at once, with the same answers.
    let alone = json!({"relation": relation, "support": example["support"], "heads": [heads[0]], "top": 5});
    assert_eq!(post(SHARED.address, "/v1/complete", &alone).json()["results"][0], results[0]);

    let explained = json!({"relation": relation, "heads": [heads[0]], "top": 2, "reasons": true});
    let explained = post(SHARED.address, "/v1/complete", &explained).json();
    let first = &explained["results"][0]["answers"][0];
    let one = json!({"relation": relation, "support": example["support"], "head": heads[0], "tail": first["tail"]["name"]});
    let explanation = post(SHARED.address, "/v1/explain", &one).json();
    assert_eq!(first["explanation"], explanation);
    assert_eq!((&explanation["tail"], &explanation["score"]), (&first["tail"], &first["score"]));
    for field in ["text", "against", "attention", "paths", "sources"] {
        assert!(explanation[field].is_array(), "{field}");
    }
    assert!(!explanation["sources"].as_array().unwrap().is_empty());
}

#[test]
fn a_new_relation_is_completed_under_wishes() {
    let example = example();
    let ask = |wishes: Value| {
        let mut request = json!({"relation": "a new one", "new": true, "support": example["support"], "heads": example["heads"]});
        request.as_object_mut().unwrap().extend(wishes.as_object().unwrap().clone());
        post(SHARED.address, "/v1/complete", &request).json()
    };
    let plain = ask(json!({}));
    assert_eq!(
        (&plain["relation"]["name"], &plain["relation"]["in_graph"]),
        (&json!("a new one"), &json!(false))
    );
    assert_eq!(plain["results"][0]["answers"].as_array().unwrap().len(), 10);
    assert!(ask(json!({"relation": null}))["relation"]["name"].is_null());

    let best = plain["results"][0]["answers"][0].clone();
    let [head, tail] = [&plain["results"][0]["head"]["name"], &best["tail"]["name"]];
    let without = ask(json!({"rejected": [[head, tail]]}));
    assert_ne!(&without["results"][0]["answers"][0]["tail"]["name"], tail);
    let listed = ask(json!({"candidates": [tail, head]}));
    assert_eq!(listed["relation"]["candidates"], 2);
    let least = best["score"].as_f64().unwrap();
    let scored = ask(json!({"min_score": least}));
    assert!(scored["results"][0]["answers"].as_array().unwrap().len() < 10);
    let sure = ask(json!({"min_confidence": 1.0}));
    assert!(
        sure["results"]
            .as_array()
            .unwrap()
            .iter()
            .all(|result| result["answers"].as_array().unwrap().is_empty())
    );
    let support = &example["support"][0];
    let known = ask(json!({"heads": [support[0]], "exclude_known": false, "top": 50}));
    let answers = known["results"][0]["answers"].as_array().unwrap();
    assert!(answers.iter().any(|answer| answer["known"] == true && answer["tail"]["name"] == support[1]));

    let chosen = ask(json!({"heads": "plausible", "top": 1}));
    let results = chosen["results"].as_array().unwrap();
    assert!(!results.is_empty() && results.len() <= limits().heads);
    assert!(chosen["heads_left_out"].as_u64().unwrap() > 0);
    let sureness: Vec<f64> =
        results.iter().map(|result| result["answers"][0]["confidence"].as_f64().unwrap_or(0.0)).collect();
    assert!(sureness.is_sorted_by(|a, b| a >= b), "{sureness:?}");
}

#[test]
fn what_was_learned_is_kept() {
    let server = Running::new();
    let learned = || {
        let metrics = get(server.address, "/metrics").text();
        let line =
            metrics.lines().find(|line| line.starts_with("rana_learned_relations_total")).unwrap().to_owned();
        line.split(' ').nth(1).unwrap().parse::<u64>().unwrap()
    };
    let example = example();
    let mut request = json!({"support": example["support"], "heads": example["heads"]});
    let first = post(server.address, "/v1/complete", &request).json();
    assert_eq!(learned(), 1);
    assert_eq!(post(server.address, "/v1/complete", &request).json(), first);
    assert_eq!(learned(), 1);
    request["support"].as_array_mut().unwrap().pop();
    post(server.address, "/v1/complete", &request).json();
    assert_eq!(learned(), 2);
}

#[test]
fn the_description_lists_every_route() {
    let description = get(SHARED.address, "/openapi.json").json();
    assert!(description["openapi"].as_str().unwrap().starts_with("3.1"));
    let mut routes: Vec<String> = Vec::new();
    for (path, item) in description["paths"].as_object().unwrap() {
        for (method, operation) in item.as_object().unwrap() {
            routes.push(format!("{} {path}", method.to_uppercase()));
            assert!(
                operation["summary"].is_string() || operation["description"].is_string(),
                "{method} {path}"
            );
            assert_eq!(
                operation["responses"]["default"]["content"]["application/problem+json"]["schema"]["$ref"],
                "#/components/schemas/Problem"
            );
        }
    }
    routes.sort();
    assert_eq!(
        routes,
        [
            "GET /",
            "GET /healthz",
            "GET /metrics",
            "GET /openapi.json",
            "GET /v1/decisions",
            "GET /v1/entities",
            "GET /v1/entities/{name}",
            "GET /v1/export",
            "GET /v1/relations",
            "GET /v1/run",
            "GET /{part}",
            "POST /v1/complete",
            "POST /v1/decisions",
            "POST /v1/explain",
            "POST /v1/relate",
        ]
    );
    // Every reference points to an existing schema.
    let schemas = description["components"]["schemas"].as_object().unwrap();
    let text = description.to_string();
    for reference in text.split("#/components/schemas/").skip(1) {
        let name = reference.split('"').next().unwrap();
        assert!(schemas.contains_key(name), "{name}");
    }
}

#[test]
fn the_page_is_served_and_kept_to_itself() {
    let page = get(SHARED.address, "/");
    assert_eq!((page.status, page.header("content-type")), (200, "text/html; charset=utf-8"));
    assert!(page.text().contains("<!doctype html>"));
    let script = get(SHARED.address, "/app.js");
    assert_eq!(script.header("content-type"), "text/javascript; charset=utf-8");
    assert_eq!(get(SHARED.address, "/style.css").header("content-type"), "text/css; charset=utf-8");
    let again = ask(SHARED.address, "GET", "/app.js", &[("if-none-match", script.header("etag"))], b"");
    assert_eq!((again.status, again.body.len()), (304, 0));
    let other = ask(SHARED.address, "GET", "/app.js", &[("if-none-match", "\"other\"")], b"");
    assert_eq!(other.status, 200);
    for answer in [page, again, get(SHARED.address, "/v1/run"), get(SHARED.address, "/nothing/here")] {
        let policy = answer.header("content-security-policy");
        assert!(policy.starts_with("default-src 'none'; script-src 'self'"), "{policy}");
        assert_eq!(answer.header("x-content-type-options"), "nosniff");
        assert_eq!(answer.header("x-frame-options"), "DENY");
        assert_eq!(answer.header("referrer-policy"), "no-referrer");
    }
}

#[test]
fn metrics_count_by_route() {
    let server = Running::new();
    get(server.address, "/v1/entities/one");
    get(server.address, "/v1/entities/two");
    get(server.address, "/made/up");
    let metrics = get(server.address, "/metrics");
    assert!(metrics.header("content-type").starts_with("application/openmetrics-text"));
    let text = metrics.text();
    for line in [
        "rana_http_requests_total{method=\"GET\",route=\"/v1/entities/{name}\",status=\"404\"} 2",
        "rana_http_requests_total{method=\"GET\",route=\"unknown\",status=\"404\"} 1",
        "rana_http_request_seconds_count{route=\"/v1/entities/{name}\"} 2",
        "rana_computations_in_flight{kind=\"computation\"} 0",
        "rana_decisions_total 0",
    ] {
        assert!(text.contains(line), "{line} is not in {text}");
    }
}

#[test]
fn a_connection_answers_more_than_once() {
    let address = SHARED.address;
    let request = |close: &str| format!("GET /healthz HTTP/1.1\r\nhost: {address}\r\n{close}\r\n");
    let bytes = exchange(address, [request(""), request("connection: close\r\n")].concat().as_bytes());
    let text = String::from_utf8(bytes).unwrap();
    assert_eq!(text.matches("HTTP/1.1 200 OK").count(), 2);
    assert_eq!(Answer::parse(&exchange(address, request("connection: close\r\n").as_bytes())).status, 200);
}

#[test]
fn heads_are_completed_pairs_judged_and_relations_ranked() {
    let example = example();
    let (relation, support) = (&example["relation"], &example["support"]);
    let heads = json!({"relation": relation, "support": support, "tails": [support[0][1]], "top": 4});
    let completion = post(SHARED.address, "/v1/complete", &heads).json();
    assert_eq!(completion["answers"], "heads");
    let result = &completion["results"][0];
    assert!(result["tail"]["name"] == support[0][1] && result["head"].is_null(), "{result}");
    let answers = result["answers"].as_array().unwrap();
    assert!(answers.len() == 4 && answers.iter().all(|of| of["head"]["name"].is_string()), "{result}");
    // This run was made without measuring heads, so nothing is promised for them.
    assert!(
        answers.iter().all(|of| of["confidence"].is_null()) && completion["relation"]["note"].is_string()
    );
    let one = json!({"relation": relation, "support": support, "answers": "heads", "head": answers[0]["head"]["name"], "tail": support[0][1]});
    let explanation = post(SHARED.address, "/v1/explain", &one).json();
    assert_eq!((&explanation["score"], &explanation["tail"]), (&answers[0]["score"], &result["tail"]));
    let plausible = json!({"relation": relation, "support": support, "tails": "plausible", "top": 1});
    assert_eq!(post(SHARED.address, "/v1/complete", &plausible).json()["answers"], "heads");

    let pairs = json!({"relation": relation, "support": support, "heads": [support[0][0]], "tails": [support[0][1], support[1][1]]});
    let judged = post(SHARED.address, "/v1/complete", &pairs).json();
    let answers = judged["results"][0]["answers"].as_array().unwrap();
    let first = answers.iter().find(|of| of["tail"]["name"] == support[0][1]).unwrap();
    assert!(first["known"] == true && answers.len() <= 2, "{judged}");

    for (wrong, title) in [
        (json!({"relation": relation, "support": support}), "No heads"),
        (
            json!({"relation": relation, "support": support, "heads": "plausible", "tails": ["virus"]}),
            "Heads and tails",
        ),
    ] {
        post(SHARED.address, "/v1/complete", &wrong).problem(422, title);
    }

    let asked =
        json!({"head": "virus", "tail": "cell", "top": 3, "new": [{"name": "enters", "support": support}]});
    let related = post(SHARED.address, "/v1/relate", &asked).json();
    let relations = related["relations"].as_array().unwrap();
    assert!(relations.len() == 3 && relations.iter().all(|of| of["confidence"].is_null()), "{related}");
    assert!(relations.iter().all(|of| !of["reasons"].as_array().unwrap().is_empty()));
    let wrong = json!({"head": "virus", "tail": "cell", "new": [{"name": "enters", "support": []}]});
    post(SHARED.address, "/v1/relate", &wrong).problem(422, "No support");
}
