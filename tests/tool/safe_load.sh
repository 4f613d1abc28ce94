#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# safe_load.sh INGEST TEXT2TRACE SQL_FOLDER SCRATCH [SAMPLES]: what goes into a database as pages is what SQLite's own inserts
# put there: --safe-load gives the same dump, of every trace of the cases, of real snapshots, and with less detail.
set -u
ingest=$1 text2trace=$2 sql=$3 scratch=$4 samples=${5:-} failures=0 compared=0

command -v sqlite3 >/dev/null || { echo "skipped: no sqlite3 here" && exit 77; }
rm -rf "$scratch"
mkdir -p "$scratch"
cd "$scratch" || exit 1

compare() {
    local name=$1
    shift
    "$ingest" --quiet --force -o pages.db "$@"
    local status=$?
    "$ingest" --quiet --force --safe-load -o rows.db "$@"
    [ $? = $status ] || { echo "$name: ends otherwise with --safe-load" >&2 && failures=$((failures + 1)); }
    [ -f pages.db ] || return
    cmp <(sqlite3 pages.db .dump) <(sqlite3 rows.db .dump) || { echo "$name: another dump" >&2 && failures=$((failures + 1)); }
    [ "$(sqlite3 pages.db 'PRAGMA integrity_check')" = ok ] || { echo "$name: not sound" >&2 && failures=$((failures + 1)); }
    compared=$((compared + 1))
    rm -f pages.db rows.db
}

for trace in "$sql"/*/trace.txt; do
    name=$(basename "$(dirname "$trace")")
    "$text2trace" "$trace" "$name.zst" || { echo "$name: no trace" >&2 && failures=$((failures + 1)); }
    compare "$name" "$name.zst" 2>/dev/null
done
for detail in live none; do
    compare "heap_place, $detail" --detail $detail heap_place.zst
done
compare "redacted" --redact heap_place.zst
compare "two inputs" heap_place.zst leak.zst
if [ -d "$samples/torch" ]; then
    for snapshot in "$samples"/torch/*.pickle; do
        compare "$snapshot" "$snapshot" 2>/dev/null
    done
fi
[ $compared -gt 50 ] || { echo "only $compared compared" >&2 && failures=$((failures + 1)); }
[ $failures = 0 ]
