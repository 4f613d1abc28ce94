#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Builds the fuzzer (clang) and lets it change what is in corpus/ for a while, as many targets at a time as there are processors. What ends a target
# is kept, in BUILD/found/TARGET, and how it ended is printed: mended, it goes into corpus/TARGET under a name that says what it is.
set -euo pipefail

usage() {
    cat <<'END'
usage: tests/fuzz/run.sh [--seconds N] [--build-only] [TARGET...]

    --seconds N   for each target (default 10)
    --build-only  nothing is run

Without --seconds it draws the same each time, so that a change is judged by what it changed; with it, something new.
NPUMEM_SEED repeats a run, as far as it came.

Without targets: all. What libFuzzer found to be worth changing further stays in build/fuzz/grown, for the next run.
END
}

seconds=10 seed=1 names=() builds_only=
while [ $# -gt 0 ]; do
    case $1 in
    --seconds) [ $# -ge 2 ] || { usage >&2 && exit 2; } && seconds=$2 seed=0 && shift ;;
    --build-only) builds_only=yes ;;
    -h | --help) usage && exit 0 ;;
    -*) usage >&2 && exit 2 ;;
    *) names+=("$1") ;;
    esac
    shift
done
cd "$(dirname "$(realpath "$0")")/../.."
. cmake/setup.sh
build=$PWD/build/fuzz corpus=$PWD/tests/fuzz/corpus
mkdir -p "$build"

skip() {
    echo "skipped: $*"
    exit 77
}

# Tests that run at the same time build once.
build_fuzzer() {
    command -v clang >/dev/null || skip "no clang here: nothing is fuzzed"
    echo 'int LLVMFuzzerTestOneInput(const char *data, long len) { return data == 0 && len; }' |
        clang -fsanitize=fuzzer,address,undefined -x c - -o "$build/trial" 2>/dev/null ||
        skip "clang has no libFuzzer here (Debian: libclang-rt-dev): nothing is fuzzed"
    exec 9>"$build/lock"
    flock 9
    [ -f "$build/CMakeCache.txt" ] || configure fuzz -DNPUMEM_WERROR=OFF
    build fuzz fuzz fuzz_replay
    flock -u 9
}

# What is worth to begin with, but is not worth to be there twice.
more_seeds() {
    case $1 in
    trace) for text in tests/sql/*/trace.txt; do cp "$text" "$2/$(basename "$(dirname "$text")").txt"; done ;;
    log) cp tests/tool/logs/*.log "$2" ;;
    esac
}

fuzz() {
    local name=$1 seeds=$build/seeds/$1 grown=$build/grown/$1 found=$build/found/$1 more=$build/more/$1 status=0
    rm -rf "$seeds" "$more"
    mkdir -p "$seeds" "$grown" "$found" "$more"
    more_seeds "$name" "$more"
    "$build/tests/fuzz/fuzz_replay" --seeds "$name" "$corpus/$name" "$seeds" || return 1
    [ -z "$(ls "$more")" ] || "$build/tests/fuzz/fuzz_replay" --seeds "$name" "$more" "$seeds" || return 1
    "$build/tests/fuzz/fuzz" --target="$name" -seed="${NPUMEM_SEED:-$seed}" -max_total_time="$seconds" -timeout=60 -rss_limit_mb=3000 -malloc_limit_mb=600 \
        -max_len=65536 -print_final_stats=1 -artifact_prefix="$found/" "$grown" "$seeds" >"$found/log" 2>&1 || status=$?
    echo "$name: $(sed -n 's/^stat::number_of_executed_units: *//p' "$found/log") inputs, $(grep -oE 'cov: [0-9]+' "$found/log" | tail -n 1)"
    [ "$status" != 0 ] || return 0
    tail -n 60 "$found/log"
    echo "$name ended with status $status: build/fuzz/tests/fuzz/fuzz --target=$name --thorough $(grep -o "$found/[a-z]*-[0-9a-f]*" "$found/log" | tail -n 1)"
    return 1
}

# Of the page's address: node alone.
if [ "${#names[@]}" = 0 ]; then
    for folder in "$corpus"/*/; do
        name=$(basename "$folder")
        [ "$name" = hash ] || names+=("$name")
    done
fi
build_fuzzer
[ -z "$builds_only" ] || exit 0
failed=
for name in "${names[@]}"; do
    while [ "$(jobs -rp | wc -l)" -ge "$(nproc)" ]; do
        wait -n || failed=yes
    done
    fuzz "$name" &
done
while [ -n "$(jobs -p)" ]; do
    wait -n || failed=yes
done
[ -z "$failed" ] || exit 1
