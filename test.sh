#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# From a fresh clone to tested: installs what is missing, builds one preset and runs its tests through CTest.
set -euo pipefail

usage() {
    cat <<'END'
usage: ./test.sh [PRESET] [--nightly] [-L LABELS] [-R TESTS]

Without a preset: build/dev (Debug, warnings are errors) and every test. Presets:
    --asan         address and undefined behaviour sanitizers; labels unit and tool: each module, and every program that
                   reads what others wrote. Not what runs in Python, node or a browser, and not what is about what is said
    --tsan         thread sanitizer; label threads: modules with threads, and recordings that have them in each order
    --coverage     every test but six that count a process's calls or are another user, then the lines of src/ that ran; fails
                   below the floors of tests/coverage.txt
    --aarch64      cross-build, unit tests under qemu, and each architecture reads the other's trace. Adds the
                   architecture arm64 to dpkg (Debian, Ubuntu)
    --nightly      the tests with label nightly in their whole length: every package, ten times as many kills, more seeds;
                   with --asan, all of them
    -L LABELS      only tests with these labels: unit, sql, tool, faults, threads, ... (a regular expression)
    -R TESTS       only tests with these names (a regular expression)

NPUMEM_SAMPLES_DIR=DIR names a folder with real sample files; tests that need them are skipped without it.
Installs missing packages (sudo only if not root). What tests left out on this machine, and why, stands at the end.
END
}

preset=dev labels="" names="" targets=all
while [ $# -gt 0 ]; do
    case $1 in
    --asan) preset=asan ;;
    --tsan) preset=tsan labels=${labels:-'^threads$'} ;;
    --coverage) preset=coverage ;;
    --aarch64) preset=aarch64 labels=${labels:-'^(unit|exchange)$'} ;;
    --nightly) export NPUMEM_NIGHTLY=1 ;;
    -L | -R)
        [ $# -ge 2 ] || { usage >&2 && exit 2; }
        [ "$1" = -L ] && labels=$2 || names=$2
        targets="all every_test"
        shift
        ;;
    -h | --help) usage && exit 0 ;;
    *) usage >&2 && exit 2 ;;
    esac
    shift
done
[ "$preset" != asan ] || labels=${labels:-"^(unit|tool${NPUMEM_NIGHTLY:+|nightly})\$"}
samples=${NPUMEM_SAMPLES_DIR:+$(realpath -e -- "$NPUMEM_SAMPLES_DIR")}
cd "$(dirname "$(realpath "$0")")"
. cmake/setup.sh

setup_packages
case $preset in dev | coverage) setup_test_packages && setup_browser ;; esac
options=(-DNPUMEM_SAMPLES_DIR="$samples")
if [ "$preset" = aarch64 ]; then
    setup_aarch64_packages
    say "building the host's side (build/dev)"
    configure dev
    build dev npumem-ingest text2trace
    options+=(-DNPUMEM_NATIVE_BUILD_DIR="$PWD/build/dev")
fi
if [ "$preset" = coverage ]; then
    find build/coverage -name '*.gcda' -delete 2>/dev/null || true
    export GCOV_ERROR_FILE=/dev/null # a process that may not write there says so to nobody
fi

say "building (build/$preset)"
configure "$preset" "${options[@]}"
# shellcheck disable=SC2086 # a list of words
build "$preset" $targets

# Where python3 is a script that looks for the interpreter (pyenv), which takes longer than most of what it is started for: it looks once.
if [ "$(head -c 2 "$(command -v python3 || echo /dev/null)")" = '#!' ]; then
    folder=$(python3 -c 'import os, sys; print(os.path.dirname(sys.executable))') && PATH=$folder:$PATH
fi

# One more than there are processors: tests of recordings wait as much as they work.
say "testing (build/$preset)"
status=0
ctest --test-dir "build/$preset" --output-on-failure --no-tests=error -j"$(($(nproc) + 1))" \
    ${labels:+-L "$labels"} ${names:+-R "$names"} || status=$?
# Of a part of the tests the figures are no more than that.
[ "$preset" != coverage ] || tests/coverage.sh build/coverage || [ -n "$labels$names" ] || status=1
list_skipped "build/$preset/Testing/Temporary/LastTest.log"
exit "$status"
