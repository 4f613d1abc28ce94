#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# cut_stacks.sh RECORD INGEST DIFF CHECK NO_FRAMES SCRATCH: a program that is built without frame pointers, as release builds
# are, is recorded. What it tells through mstx has a stack that is cut at the function that told it: no site is made of that.
set -u
record=$1 ingest=$2 diff=$3 check=$4 program=$5 scratch=$6
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

# load NAME ARGUMENT... -- OPTION...: NAME.db, NAME.books and NAME.summary
load() {
    local name=$1 arguments=()
    shift
    while [ "$1" != -- ]; do arguments+=("$1") && shift; done
    shift
    "$record" -q --force -o "$name.zst" "$@" -- "$program" "${arguments[@]}" >"$name.books" 2>"$name.errors" ||
        fail "$name is not recorded: $(cat "$name.errors")"
    "$ingest" --force "$name.zst" >"$name.summary" || fail "$name is not ingested"
}

# book NAME WORD FIELD
book() {
    awk -v word="$2" -v field="$3" '$1 == word { print $field }' "$1.books"
}

rm -rf "$scratch" && mkdir -p "$scratch" && cd "$scratch" || exit 1
command -v sqlite3 >/dev/null || { echo "skipped: no sqlite3 here" && exit 77; }

export NPUMEM_UNWIND=fp # by rules they are whole: true_stacks.sh
load cut 20 --
load few 10 --
load whole 20 whole --
load shallow 20 whole -- --stack-depth 2
load caller 20 -- --stacks caller
load more 30 --

# The site: where nothing is known it says so; a frame of the program that is left is true, though its callers are missing.
outstanding="SELECT allocation_count, size_bytes FROM outstanding_by_site WHERE level = 'pool' AND site ="
is "no site" "$(book cut blocks 2)|$(book cut blocks 3);" "$(ask cut.db "$outstanding '(stack cut)'")"
is "a site" "$(book whole blocks 2)|$(book whole blocks 3);" \
    "$(ask whole.db "$outstanding (SELECT label FROM frame WHERE function = 'tell_block')")"
for name in cut whole; do
    is "$name: driver memory" "take_weights|$([ $name = cut ] && echo 1 || echo 0)|$(book $name weights 3);" \
        "$(ask $name.db "SELECT f.function, min(s.is_cut), sum(a.size_bytes) FROM allocation AS a JOIN heap USING (heap_id)
            JOIN stack AS s USING (stack_id) JOIN frame AS f ON f.frame_id = s.site_frame_id WHERE level = 1
            GROUP BY f.function")"
    is "$name: sites of plumbing" "0;" "$(ask $name.db "SELECT count(*) FROM stack AS s JOIN frame AS f
        ON f.frame_id = s.site_frame_id JOIN (SELECT DISTINCT stack_id FROM z_stack_sum) USING (stack_id)
        WHERE f.label LIKE '%mstx%' OR f.label LIKE '%npumem%' OR f.label LIKE '%acl%rt%'")"
done
is "cut" "$(($(book cut blocks 2) + $(book cut buffers 2)));" "$(ask cut.db 'SELECT outstanding_stack_cut_count FROM completeness')"
is "not cut" "0;0;0;" "$(for name in whole shallow caller; do ask $name.db 'SELECT count(*) FROM stack WHERE is_cut'; done)"

# It grows, but what grows nobody can say in a few steps: no leak, and the gates say that they cannot judge it.
is "verdicts" "pinned|(stack cut)|not judged|stack cut;pool|(stack cut)|not judged|stack cut;" \
    "$(ask few.db 'SELECT level, site, verdict, reason FROM suspect_by_site ORDER BY level')"
is "leaks" "0;" "$(ask few.db 'SELECT count(*) FROM leak_by_site')"
# In more of them the size of the blocks tells, whatever their site is; the rest is not judged.
is "a size" "growing|$(book cut blocks 2)|$(book cut blocks 3)|65536.0;" \
    "$(ask cut.db 'SELECT verdict, leak_count, leak_bytes, late_bytes_per_step FROM leak_by_site')"
is "the rest" "pinned|(stack cut)|not judged|stack cut;" "$(ask cut.db 'SELECT level, site, verdict, reason FROM suspect_by_site')"
tr -s ' \n' ' ' <cut.summary | grep -q '+64.0 KiB a step in blocks of 65,536 B, NPU 0 full in about [0-9,]* steps; its stack is cut' || fail "$(grep LEAK cut.summary)"
"$check" --no-growth cut.db >gates && fail "the gate of a size: $(cat gates)"
is "the whole program's leaks" "growing|$(book whole blocks 3);unreleased|$(book whole buffers 3);" \
    "$(ask whole.db 'SELECT verdict, leak_bytes FROM leak_by_site ORDER BY 1')"
"$check" --no-growth --no-leak few.db >gates
is "gates that cannot judge" 5 "$?"
is "gates that say so" 2 "$(grep -c '^?.*not judged: leaks: stack cut' gates)"
"$check" --no-growth whole.db >gates && fail "the whole program's gate: $(cat gates)"

# The summary says how much, and what helps; not where it is not so.
tr -s ' \n' ' ' <few.summary | grep -q 'leaks: stack cut of \([0-9.]* [KM]iB\) of the \1 live at the end' || fail "$(grep leaks few.summary)"
tr -s ' \n' ' ' <cut.summary | grep -q 'stacks are cut for 1.4 MiB (100 %) of the 1.4 MiB .*, most in no_frames; 1.4 MiB has no site: frame pointers or unwind tables' || fail "$(cat cut.summary)"
for name in whole shallow caller; do
    grep -q 'cut' $name.summary && fail "$name: $(grep cut $name.summary)"
done

# Never compared: it is there to be seen.
"$diff" cut.db more.db >changes && fail "no change of the driver memory"
grep -q '^ *- .*pool  *(stack cut)$' changes || fail "$(cat changes)"
sed '/^leaks/,$d' changes | grep '(stack cut)' | grep -q '[+]' && fail "$(cat changes)"
"$diff" --level pool --threshold 1B cut.db more.db >changes # sums of all sites differ
is "changes of sites" "0" "$(grep -c '[+].*no_frames' changes)"
"$diff" cut.db cut.db >changes || fail "a program differs from itself: $(cat changes)"
ln -sf cut.db base.db
is "difference.sql" "pool|(stack cut)|1376256|2031616|;pinned|(stack cut)|65536|65536|;" \
    "$(sqlite3 more.db <"${0%/tests/*}/queries/difference.sql" | grep cut | tr '\n' ';')"

# Nor between ranks.
for rank in 0 1; do
    RANK=$rank WORLD_SIZE=2 "$record" -q --force -o rank$rank.zst -- "$program" $((20 + 10 * rank)) >/dev/null ||
        fail "rank $rank"
done
"$ingest" --quiet --force -o ranks.db rank0.zst rank1.zst || fail "ranks"
is "ranks" "2|0|2031616|1376256||;2|0|65536|65536||;" "$(ask ranks.db "SELECT rank_count, absent_count, max_bytes, min_bytes, spread_bytes,
    imbalance_ratio FROM rank_imbalance WHERE site LIKE '(stack cut)%'")"

[ "$failures" = 0 ]
