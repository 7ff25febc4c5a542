#!/usr/bin/env bash
# Builds the wheel of crates/rana-python, installs it into a fresh environment, and tests it there: its own tests, `mypy --strict` on
# an example, the stubs, and the notebook from top to bottom. The environment is kept in target/python for the next time.
#
#   scripts/python_tests.sh            with the dev profile, so that what the Rust tests compiled is used again
#   scripts/python_tests.sh --release  with the release profile
#   scripts/python_tests.sh --stubs    only writes the checked-in stubs anew
#   scripts/python_tests.sh --quick    without the tests that learn several times, as CI runs it
#   scripts/python_tests.sh --engines  also runs the jobs of Ray and Spark for real (needs Java 17; ten minutes)
#
# Needs Rust, Python 3.11 or later, and a package index.
set -euo pipefail
cd "$(dirname "$0")/.."
root=$PWD

profile=dev
engines=no
only_stubs=no
chosen=()
for argument in "$@"; do
    case $argument in
    --release) profile=release ;;
    --quick) chosen=(-m "not slow") ;;
    --engines) engines=yes ;;
    --stubs) only_stubs=yes ;;
    *)
        echo "unknown argument: $argument" >&2
        exit 2
        ;;
    esac
done

work=$root/target/python
python=$work/venv/bin/python
mkdir -p "$work"
[ -x "$python" ] || python3 -m venv "$work/venv"
if ! cmp -s scripts/python_requirements.txt "$work/requirements.txt"; then
    "$python" -m pip install --quiet --upgrade pip --requirement scripts/python_requirements.txt
    cp scripts/python_requirements.txt "$work/requirements.txt"
fi
export PATH="$work/venv/bin:$PATH"

# The stubs are made from the compiled module, for the oldest Python that the wheel supports.
stubs=crates/rana-python/python/rana/_rana.pyi
rm -rf "$work/stubs"
maturin generate-stubs --quiet --manifest-path crates/rana-python/Cargo.toml --profile "$profile" --out "$work/stubs"
made=$work/_rana.pyi
# The generator writes annotations as they are, without what they name.
{
    printf '# Made by scripts/python_tests.sh --stubs.\nimport os\nimport typing\n\nimport numpy\nimport numpy.typing\n\nfrom ._progress import Progress\n\n'
    cat "$(find "$work/stubs" -name '*.pyi' | head -n 1)"
} >"$made"
if [ "$only_stubs" = yes ]; then
    cp "$made" "$stubs"
    exit
fi
diff -u "$stubs" "$made" || {
    echo "the stubs are not those of the module; write them anew: scripts/python_tests.sh --stubs" >&2
    exit 1
}

rm -rf "$work/wheels"
maturin build --quiet --manifest-path crates/rana-python/Cargo.toml --profile "$profile" --out "$work/wheels"
"$python" -m pip install --quiet --force-reinstall --no-deps "$work"/wheels/rana-*.whl

# Not from the repository: what is tested is what was installed.
cd "$work"
rana --version
"$python" -X faulthandler -m pytest -q ${chosen[@]+"${chosen[@]}"} "$root/crates/rana-python/tests"
"$python" -m mypy --strict --cache-dir "$work/mypy" "$root/examples/typed_program.py"

if [ "$engines" = yes ]; then
    "$python" -m pip install --quiet ray pyspark
    "$python" -m pytest -q "$root/crates/rana-python/engines"
fi
