#!/usr/bin/env bash
# Builds the static binary, tests it on an empty root file system, and packs it into dist/ (packaging/README.md).
#
#   scripts/release.sh                  build and pack
#   scripts/release.sh --binary FILE    pack a binary that is built already
#
# Needs Rust, Python 3.11, and a C compiler for musl (Debian: musl-tools). Without the right to chroot, or without docker and
# podman, these tests are skipped with a line that says so. CONTAINER_ENGINE names another engine, with options if need be
# (`podman --runtime runc`).
set -euo pipefail
cd "$(dirname "$0")/.."

target=x86_64-unknown-linux-musl
binary=
if [ "${1-}" = --binary ]; then binary=$(realpath "${2:?--binary needs a file}"); fi

version=$(sed -n 's/^version = "\(.*\)"/\1/p' Cargo.toml | head -n 1)
name=rana-$version-$target
# The time of the commit, so that the same commit gives the same archive.
epoch=$(git log -1 --format=%ct)
dist=$PWD/dist
work=$(mktemp -d)
server=
trap '[ -z "$server" ] || kill "$server" 2>/dev/null || true; rm -rf "$work"' EXIT
rm -rf "$dist" && mkdir -p "$dist"

say() { printf '\n== %s\n' "$*"; }
fail() { echo "error: $*" >&2; exit 1; }

say "supply chain"
scripts/check_supply_chain.py

if [ -z "$binary" ]; then
    say "build for $target"
    command -v musl-gcc >/dev/null || fail "no musl-gcc: install musl-tools"
    rustup target list --installed | grep -qx "$target" || rustup target add "$target"
    # Paths of this machine do not belong into the binary.
    RUSTFLAGS="--remap-path-prefix=${CARGO_HOME:-$HOME/.cargo}=/cargo --remap-path-prefix=$PWD=/rana" \
        CARGO_PROFILE_RELEASE_STRIP=debuginfo \
        cargo build --release --locked --target "$target" --package rana-cli
    binary=${CARGO_TARGET_DIR:-target}/$target/release/rana
fi
if readelf --program-headers "$binary" | grep -q INTERP; then fail "$binary is not static"; fi
ls -l "$binary"

say "run on an empty root file system"
root=$work/root
mkdir -p "$root/data" "$root/state"
cp "$binary" "$root/rana"
if [ "$(id -u)" = 0 ] && unshare --mount true 2>/dev/null; then
    chown 65534:65534 "$root/data" "$root/state"
    unprivileged=(chroot --userspec=65534:65534 "$root")
    "${unprivileged[@]}" /rana --version
    "${unprivileged[@]}" /rana quickstart --out /data/tour --quiet
    # From here on only /state can be written.
    # Not a function: in the background that would be a shell, and killing it would leave the server.
    read_only=(unshare --mount sh -c '
        mount --bind "$0" "$0" && mount --bind "$0/state" "$0/state" && mount -o remount,ro,bind "$0" &&
            exec chroot --userspec=65534:65534 "$0" "$@"' "$root")
    "${read_only[@]}" /rana complete /data/tour/run --relation causes --top 1 --quiet >"$work/answers" ||
        fail "no answers on a read-only file system"
    [ -s "$work/answers" ] || fail "no answers on a read-only file system"
    "${read_only[@]}" /rana serve /data/tour/run --listen 127.0.0.1:17262 --decisions /state/decisions.jsonl >"$work/log" 2>&1 &
    server=$!
    for _ in $(seq 100); do
        if "${unprivileged[@]}" /rana health 127.0.0.1:17262 --quiet 2>/dev/null; then break; fi
        sleep 0.2
    done || true
    # What the container image asks with.
    "${read_only[@]}" /rana health 127.0.0.1:17262 || { cat "$work/log"; fail "the server does not answer"; }
    kill "$server" && wait "$server" 2>/dev/null || true
    server=
    if "${read_only[@]}" /rana health 127.0.0.1:17262 --quiet 2>/dev/null; then fail "a server that has ended is called well"; fi
    echo
else
    echo "skipped: needs root and the right to unshare"
fi

say "pack"
pack=$work/$name
mkdir -p "$pack/completions" "$pack/licenses"
cp "$binary" "$pack/rana"
cp README.md CHANGELOG.md SECURITY.md CITATION.cff LICENSE-MIT LICENSE-APACHE THIRD-PARTY-LICENSES.md "$pack"
cp crates/rana/assets/LICENSE-DejaVu.txt "$pack/licenses"
cp crates/rana/data/README.md "$pack/licenses/embedded-graph.md"
scripts/check_supply_chain.py --texts "$target" >"$pack/licenses/THIRD-PARTY-LICENSE-TEXTS.txt"
for shell in bash elvish fish powershell zsh; do "$binary" completions "$shell" >"$pack/completions/rana.$shell"; done
"$binary" man --out "$pack/man" --quiet
tar --create --directory "$work" --sort=name --mtime="@$epoch" --owner=0 --group=0 --numeric-owner "$name" |
    gzip --no-name -9 >"$dist/$name.tar.gz"
scripts/check_supply_chain.py --sbom "$target" >"$dist/$name.cdx.json"

say "container image"
engine=()
for candidate in "${CONTAINER_ENGINE:-docker}" podman; do
    # It may have options of its own. shellcheck disable=SC2206
    if [ ${#engine[@]} = 0 ] && $candidate info >/dev/null 2>&1; then engine=($candidate); fi
done
if [ ${#engine[@]} != 0 ]; then
    context=$work/image
    mkdir "$context"
    cp packaging/Dockerfile "$pack"/{rana,LICENSE-MIT,LICENSE-APACHE,THIRD-PARTY-LICENSES.md} \
        "$pack/licenses/THIRD-PARTY-LICENSE-TEXTS.txt" "$context"
    # Podman's own format of images has no health check.
    format=()
    case "${engine[0]##*/}" in podman) format=(--format docker) ;; esac
    "${engine[@]}" build --quiet ${format[@]+"${format[@]}"} --tag "rana:$version" "$context"
    confined=(--read-only --cap-drop ALL --network none --ulimit nofile=1024:1024 --ulimit nproc=1024:1024
        --volume "$root/data:/data:ro")
    contained=("${engine[@]}" run --rm "${confined[@]}" "rana:$version")
    "${contained[@]}" --version || fail "the image does not run"
    if [ -d "$root/data/tour" ]; then
        "${contained[@]}" complete /data/tour/run --relation causes --top 1 --quiet | cmp - "$work/answers" ||
            fail "the container answers otherwise"
        served=$("${engine[@]}" run --detach "${confined[@]}" --tmpfs /state:mode=1777 "rana:$version" \
            serve /data/tour/run --decisions /state/decisions.jsonl)
        is_well=
        for _ in $(seq 100); do
            if "${engine[@]}" exec "$served" /rana health --quiet 2>/dev/null; then is_well=yes && break; fi
            sleep 0.2
        done
        "${engine[@]}" rm --force "$served" >/dev/null
        [ -n "$is_well" ] || fail "the server in the container is not well"
    fi
    "${engine[@]}" save --output "$dist/rana-$version-image.tar" "rana:$version"
else
    echo "skipped: neither docker nor podman has an engine that answers"
fi

say "checksums"
(cd "$dist" && sha256sum -- * >"$work/sums" && mv "$work/sums" SHA256SUMS && sha256sum --check SHA256SUMS && ls -l)
