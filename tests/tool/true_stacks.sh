#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# true_stacks.sh RECORD INGEST SHARED_HELPER NO_FRAMES SCRATCH: programs that are built as wheels are, -O2 without frame pointers, are
# recorded. Their stacks are whole, and what leaks is said to: with NPUMEM_UNWIND=fp the same runs cannot be judged.
set -u
record=$1 ingest=$2 helper=$3 frames=$4 scratch=$5
failures=0

fail() {
    printf 'FAIL: %s\n' "$*" >&2
    failures=$((failures + 1))
}

# is WHAT EXPECTED ACTUAL
is() {
    [ "$2" = "$3" ] || fail "$1: '$3', not '$2'"
}

# ask DB SQL
ask() {
    sqlite3 "$1" "$2" | tr '\n' ';'
}

# load NAME PROGRAM ARGUMENT...: NAME.db, NAME.books and NAME.summary
load() {
    local name=$1
    shift
    "$record" -q --force -o "$name.zst" -- "$@" >"$name.books" 2>"$name.errors" ||
        fail "$name is not recorded: $(cat "$name.errors")"
    "$ingest" --force "$name.zst" >"$name.summary" || fail "$name is not ingested"
}

# book NAME WORD FIELD
book() {
    awk -v word="$2" -v field="$3" '$1 == word { print $field }' "$1.books"
}

rm -rf "$scratch" && mkdir -p "$scratch" && cd "$scratch" || exit 1
command -v sqlite3 >/dev/null || { echo "skipped: no sqlite3 here" && exit 77; }
unset NPUMEM_UNWIND

load rules "$helper" 30
NPUMEM_UNWIND=fp load fp "$helper" 30
is "books" "30|3000000" "$(book rules leaked 2)|$(book rules leaked 3)"

# From the helper to the beginning of the thread, each frame: by the program's own order of calls.
is "cut" "0;" "$(ask rules.db 'SELECT count(*) FROM stack WHERE is_cut')"
is "the chain" "make_tensor < leak_one < run_step < main;" "$(ask rules.db "
    WITH RECURSIVE up (stack_id, function, depth, parent_id, first) AS (
        SELECT s.stack_id, f.function, 0, s.parent_id, s.stack_id FROM allocation AS a JOIN stack AS s USING (stack_id)
            JOIN frame AS f ON f.frame_id = s.frame_id WHERE a.free_seq IS NULL GROUP BY s.stack_id
        UNION ALL
        SELECT s.stack_id, f.function, depth + 1, s.parent_id, first FROM up JOIN stack AS s ON s.stack_id = up.parent_id
            JOIN frame AS f ON f.frame_id = s.frame_id)
    SELECT group_concat(function, ' < ') FROM (SELECT * FROM up WHERE function IN ('make_tensor', 'leak_one', 'train_layer', 'run_step', 'main')
        ORDER BY first, depth) GROUP BY first HAVING group_concat(function) LIKE '%leak_one%'")"
is "where it begins" "1;" "$(ask rules.db "SELECT count(DISTINCT f.function) FROM stack AS s JOIN frame AS f USING (frame_id)
    WHERE s.parent_id IS NULL AND s.stack_id IN (SELECT stack_id FROM stack) AND f.function LIKE '\\_start' ESCAPE '\\'")"

# A firm leak of what the program leaked, at the helper: a site is a function of one stack.
is "the leak" "growing|$(book rules leaked 2)|$(book rules leaked 3);" \
    "$(ask rules.db "SELECT verdict, leak_count, leak_bytes FROM leak_by_site WHERE site LIKE '%make_tensor%'")"
freed=$(book rules freed 2 | sed ':a; s/\B[0-9]\{3\}\>/,&/; ta')
is "where it parts" "leak_one;" "$(ask rules.db "SELECT through FROM finding WHERE kind = 'leak' AND severity = 'fault'")"
grep -q " 1 frame out, leak_one: $(book rules leaked 2) of $(book rules leaked 2) unfreed; train_layer: $freed freed$" rules.summary ||
    fail "where it parts: $(cat rules.summary)"
is "no other" "1;" "$(ask rules.db 'SELECT count(*) FROM leak_by_site')"
is "by frame pointers" "1|0;" "$(ask fp.db "SELECT (SELECT count(*) FROM stack WHERE is_cut) > 0, count(*) FROM leak_by_site
    WHERE site LIKE '%leak_one%'")"

# Another, which tells a pool's blocks through mstx, in a thread of its own: what it says with frame pointers, it says without.
load cut "$frames" 20
load whole "$frames" 20 whole
for name in cut whole; do
    is "$name: cut" "0;" "$(ask $name.db 'SELECT count(*) FROM stack WHERE is_cut')"
    is "$name: leaks" "growing|$(book $name blocks 3);unreleased|$(book $name buffers 3);" \
        "$(ask $name.db 'SELECT verdict, leak_bytes FROM leak_by_site ORDER BY 1')"
done

[ "$failures" = 0 ]
