#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# A trace of each released format, as its recorder wrote it, with the books that the recorded program kept: what is read of it
# must be what the program says, in this version and in all that come. `npumem-record --stacks none -- ./npu_train --steps 6
# --leak > format-VERSION.books`; nothing here is ever made anew. And the last part alone of a recording that was kept in parts
# (`--keep steps:4`, 60 steps, `--layers 2`): what was before stands in its keyframe, without the figures that later ones have.
#
#     released_traces.sh BIN SOURCE_DIR WORK_DIR
set -u
bin=$1 traces=$2/fixtures/traces work=$3
command -v sqlite3 >/dev/null || { echo "skipped: no sqlite3 here" && exit 77; }
rm -rf "$work" && mkdir -p "$work" && cd "$work" || exit 1
failures=0

fail() {
    printf 'FAIL: %s\n' "$*" >&2
    failures=$((failures + 1))
}

# expect DB BOOKS KEY SQL
expect() {
    local wanted got
    wanted=$(awk -v key="$3" '$1 == key { print $2 }' "$2")
    got=$(sqlite3 "$1" "$4")
    [ -n "$wanted" ] && [ "$got" = "$wanted" ] || fail "$1: $3 is '$got', the program says '$wanted'"
}

count=0
for trace in "$traces"/format-*.zst "$traces"/kept-*.zst; do
    name=$(basename "$trace" .zst) books=${trace%.zst}.books
    "$bin/npumem-ingest" --quiet -o "$name.db" "$trace" || fail "$name: ingest ended with $?"
    for level in pool driver pinned; do
        place=$level.0. && [ $level = pinned ] && place=pinned.
        for sum in allocation_count allocated_bytes free_count freed_bytes; do
            expect "$name.db" "$books" "$place$sum" "SELECT sum($sum) FROM heap_total WHERE level = '$level'"
        done
        expect "$name.db" "$books" "${place}peak_bytes" "SELECT max(peak_bytes) FROM peak WHERE level = '$level'"
    done
    for bucket in small medium large all; do
        for sum in hit_count miss_count; do
            expect "$name.db" "$books" "pool.0.$bucket.$sum" "SELECT $sum FROM pool_hit_rate WHERE bucket = '$bucket'"
        done
    done
    expect "$name.db" "$books" pool.0.live_count "SELECT count(*) FROM outstanding WHERE level = 'pool'"
    count=$((count + 1))
done
[ "$count" -ge 6 ] || fail "only $count traces"

# What a keyframe of 1.1 does not tell of the steps before it is unknown, and not 0.
[ "$(sqlite3 kept-1.1.db "SELECT count(*) > 50, count(peak_reserved_bytes) FROM z_step_sum WHERE heap_id = 1")" = '1|0' ] ||
    fail "what a pool had reserved in steps before a keyframe of 1.1 is said"
[ "$failures" = 0 ]
