#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# fleet.sh BIN TEXT2TRACE TRAIN MODULES SOURCE SCRATCH: four nights of a job on eight ranks (nights.py), recorded, ingested, merged by host and exported
# by npumem export parquet, asked as files in DuckDB and as tables of a ClickHouse cluster of two servers (fleet.py); then the walk of
# docs/fleet.md, with TRAIN for the program. MODULES: where npm put both engines.
set -eu
bin=$1 text2trace=$2 train=$3 modules=$4 source=$5 scratch=$6

skip() {
    echo "skipped: $*"
    exit 77
}

command -v python3 >/dev/null || skip "no python3 here: what a fleet is asked is not"
command -v curl >/dev/null || skip "no curl here: what a fleet is asked is not"
[ "$(uname -m)" = x86_64 ] || skip "npm has ClickHouse as a library for x86-64 alone: what a fleet is asked is not"
for library in "$modules/@chdb/lib-linux-x64-gnu/libchdb.so" "$modules/@duckdb/node-bindings-linux-x64/libduckdb.so"; do
    [ -f "$library" ] || skip "npm gave no ${library##*/}: what a fleet is asked is not"
done

rm -rf "$scratch" && mkdir -p "$scratch" && cd "$scratch"
python3 "$source/tests/fleet/nights.py" .
for text in *.txt; do
    "$text2trace" "$text" "${text%.txt}.zst" 100 0 "$(sed -n '1s/# //p' "$text")"
done
truncate -s -20 night1.3.zst
for night in 1 2 3 4; do
    # Each host by itself, as at a site. Exit status 3: of one recording something is missing.
    "$bin/npumem" ingest --quiet -o night$night.node0.db night$night.[0-3].zst || [ $? = 3 ]
    "$bin/npumem" ingest --quiet -o night$night.node1.db night$night.[4-8].zst
    for node in 0 1; do
        "$bin/npumem" export --quiet --job-name 'train it' --run-name night$night -o fleet parquet night$night.node$node.db || [ $? = 3 ]
    done
done
python3 "$source/tests/fleet/fleet.py" "$source" "$modules" "$bin/npumem" "$train"
