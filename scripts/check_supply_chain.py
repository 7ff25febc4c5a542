#!/usr/bin/env python3
"""Checks the dependencies against deny.toml, without any database.

    scripts/check_supply_chain.py              check licences, sources, bans and THIRD-PARTY-LICENSES.md
    scripts/check_supply_chain.py --write      write THIRD-PARTY-LICENSES.md
    scripts/check_supply_chain.py --texts TARGET
                                               print the licence texts of what the binary for a target is made of
    scripts/check_supply_chain.py --sbom TARGET
                                               print what the binary for a target is made of, as CycloneDX JSON

Needs Python 3.11 and cargo.
"""

import argparse
import collections
import json
import pathlib
import re
import subprocess
import sys
import tomllib
import uuid

ROOT = pathlib.Path(__file__).resolve().parent.parent
TABLE = ROOT / "THIRD-PARTY-LICENSES.md"
BINARY = "rana-cli"


def metadata(*options):
    command = ["cargo", "metadata", "--locked", "--all-features", "--format-version", "1", *options]
    return json.loads(subprocess.run(command, cwd=ROOT, check=True, stdout=subprocess.PIPE).stdout)


def is_allowed(expression, allowed):
    """Whether a licence expression (SPDX, or the older `A/B`) is met by the licences that are allowed."""
    word = r"[\w.+-]+"
    tokens = re.findall(rf"[()]|{word}(?: WITH {word})?", expression.replace("/", " OR "))
    words = {"AND": "and", "OR": "or", "(": "(", ")": ")"}
    # Nothing but these words and True or False is evaluated.
    return eval(" ".join(words.get(token, str(token in allowed)) for token in tokens))


def in_binary(graph):
    """The packages that the released binary is made of, by name; those of the workspace are left out."""
    packages = {package["id"]: package for package in graph["packages"]}
    nodes = {node["id"]: node for node in graph["resolve"]["nodes"]}
    todo = [key for key, package in packages.items() if package["name"] == BINARY]
    seen = set(todo)
    while todo:
        for dep in nodes[todo.pop()]["deps"]:
            if dep["pkg"] not in seen and any(kind["kind"] is None for kind in dep["dep_kinds"]):
                seen.add(dep["pkg"])
                todo.append(dep["pkg"])
    return sorted(
        (packages[key] for key in seen if packages[key]["source"]), key=lambda p: (p["name"], p["version"])
    )


def table(graph):
    lines = [
        "# Licences of third parties",
        "",
        "The crates that the binary `rana` is made of, on any platform, macros included.",
        "`scripts/check_supply_chain.py --write` writes this file. Releases contain the texts.",
        "The font of plots (DejaVu Sans) has [its own](crates/rana/assets/LICENSE-DejaVu.txt), and so has",
        "[the embedded graph](crates/rana/data/README.md).",
        "",
        "| crate | version | licence | repository |",
        "| --- | --- | --- | --- |",
    ]
    for package in in_binary(graph):
        name, version, licence = package["name"], package["version"], package["license"]
        lines.append(f"| {name} | {version} | {licence} | {package['repository'] or ''} |")
    return "\n".join(lines) + "\n"


def sbom(target):
    """What the binary for a target is made of. The same sources give the same bytes."""
    graph = metadata("--filter-platform", target)
    lock = tomllib.loads((ROOT / "Cargo.lock").read_text())["package"]
    checksums = {(p["name"], p["version"]): p.get("checksum") for p in lock}
    components = []
    for package in in_binary(graph):
        name, version = package["name"], package["version"]
        url = f"pkg:cargo/{name}@{version}"
        components.append({
            "type": "library",
            "bom-ref": url,
            "name": name,
            "version": version,
            "purl": url,
            "hashes": [{"alg": "SHA-256", "content": checksums[name, version]}],
            "licenses": [{"expression": package["license"].replace("/", " OR ")}],
        })
    binary = next(package for package in graph["packages"] if package["name"] == BINARY)
    subject = {"type": "application", "bom-ref": "rana", "name": "rana", "version": binary["version"],
               "licenses": [{"expression": binary["license"]}],
               "properties": [{"name": "target", "value": target}]}
    content = {"component": subject, "components": components}
    return {
        "bomFormat": "CycloneDX",
        "specVersion": "1.5",
        "serialNumber": f"urn:uuid:{uuid.uuid5(uuid.NAMESPACE_OID, json.dumps(content))}",
        "version": 1,
        "metadata": {"component": subject},
        "components": components,
    }


def texts(target):
    """The licence files of the crates in the binary for a target; a text that several crates have comes once."""
    crates = collections.defaultdict(list)
    for package in in_binary(metadata("--filter-platform", target)):
        name = f"{package['name']} {package['version']}"
        folder = pathlib.Path(package["manifest_path"]).parent
        files = [file for file in sorted(folder.iterdir()) if re.match(r"(?i)(un)?licen[cs]e|copying|notice|copyright", file.name)]
        found = [file.read_text(errors="replace").strip() for file in files if file.is_file()]
        for text in found or [f"The sources have no licence file. The licence is {package['license']}."]:
            crates[text].append(name)
    for text, names in crates.items():
        print(f"{'=' * 80}\n{', '.join(dict.fromkeys(names))}\n{'-' * 80}\n{text}\n")


def problems(graph, rules):
    allowed = set(rules["licenses"]["allow"])
    banned = {ban["crate"]: ban["reason"] for ban in rules["bans"]["deny"]}
    members = set(graph["workspace_members"])
    for package in graph["packages"]:
        name = f"{package['name']} {package['version']}"
        source = package["source"]
        if source is None and package["id"] not in members:
            yield f"{name} comes from a path outside of the workspace"
        if source is not None and not source.startswith("registry+"):
            yield f"{name} comes from {source}, which is no registry"
        for dependency in package["dependencies"]:
            # Cargo names a registry here only if it is not the default.
            if dependency.get("registry"):
                yield f"{name} takes {dependency['name']} from another registry"
        if package["name"] in banned:
            yield f"{name} is banned: {banned[package['name']]}"
        licence = package["license"]
        if not licence or not is_allowed(licence, allowed):
            yield f"{name} has the licence {licence}, which deny.toml does not allow"


def duplicates(graph, rules):
    known = {skip["crate"]: skip["reason"] for skip in rules["bans"]["skip"]}
    versions = collections.defaultdict(list)
    for package in graph["packages"]:
        versions[package["name"]].append(package["version"])
    for name, found in sorted(versions.items()):
        if len(found) > 1:
            reasons = [
                f"{version}: {reason}"
                for version in found
                for crate, reason in known.items()
                if crate.split("@")[0] == name and f"{version}.".startswith(f"{crate.split('@')[1]}.")
            ]
            is_explained = len(reasons) >= len(found) - 1
            yield f"{name} {', '.join(found)} ({'; '.join(reasons) if is_explained else 'NEW: deny.toml gives no reason'})"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--write", action="store_true")
    parser.add_argument("--texts", metavar="TARGET")
    parser.add_argument("--sbom", metavar="TARGET")
    options = parser.parse_args()
    if options.texts:
        texts(options.texts)
        return 0
    if options.sbom:
        print(json.dumps(sbom(options.sbom), indent=1))
        return 0
    graph = metadata()
    rules = tomllib.loads((ROOT / "deny.toml").read_text())
    found = list(problems(graph, rules))
    if options.write:
        TABLE.write_text(table(graph))
    elif not TABLE.exists() or TABLE.read_text() != table(graph):
        found.append(f"{TABLE.name} is out of date: run scripts/check_supply_chain.py --write")
    for line in duplicates(graph, rules):
        print(f"two versions: {line}")
    for line in found:
        print(f"error: {line}", file=sys.stderr)
    print(f"{len(graph['packages'])} packages, {len(in_binary(graph))} of them in the binary, {len(found)} problems")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
