#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# same_answers.sh OLD NEW [WORK]: do two builds answer alike, to the byte? OLD and NEW are build folders, as build/dev of two
# checkouts. Loads every text trace of tests/sql, every released trace of fixtures/, and the samples (NPUMEM_SAMPLES_DIR) with
# both, and compares the text of the database, each CSV file, the screen in both languages, the page but for its script (which
# tests/web has), the exports and what check, diff, stack and whatif say. For whoever moves code and means to change nothing;
# no test, since it needs two builds.
#
# What a change means to change is told, one sed expression a line, and applied before the comparison: SAME_ANSWERS_OLD names
# a file of them for what OLD gives, SAME_ANSWERS_NEW for what NEW gives.
#
# Exit status: 0 all is the same; 1 something is not, and WORK (default: a temporary folder) has both; 2 wrong usage.
set -u
here=$(cd "${0%/*}/../.." && pwd)
[ $# -ge 2 ] && [ -x "$1/bin/npumem-ingest" ] && [ -x "$2/bin/npumem-ingest" ] || {
    echo "usage: same_answers.sh OLD NEW [WORK]: two build folders with programs in bin/" >&2
    exit 2
}
old=$(realpath "$1") new=$(realpath "$2") work=${3:-$(mktemp -d)}
[ "$old" != "$new" ] || { echo "same_answers.sh: both are $old" >&2 && exit 2; }
mkdir -p "$work/inputs" && work=$(realpath "$work") || exit 2
text2trace=$old/tests/support/text2trace
[ -x "$text2trace" ] || { echo "same_answers.sh: no $text2trace" >&2 && exit 2; }

# ---- Inputs: one folder for each, with what is loaded into one database; OLD makes the traces.
add() {
    local name=$1
    shift
    mkdir -p "$work/inputs/$name" && cp -- "$@" "$work/inputs/$name/"
}

for text in "$here"/tests/sql/*/trace.txt; do
    case=$(basename "$(dirname "$text")")
    mkdir -p "$work/inputs/text.$case"
    "$text2trace" "$text" "$work/inputs/text.$case/run.zst" || exit 2
    also=${text%trace.txt}also.txt
    [ ! -f "$also" ] || "$text2trace" "$also" "$work/inputs/text.$case/run2.zst" || exit 2
done
for trace in "$here"/fixtures/traces/*.zst; do
    add "released.$(basename "$trace" .zst)" "$trace"
done
while IFS= read -r sample; do
    name=${sample#"${NPUMEM_SAMPLES_DIR:-}"/}
    add "sample.${name//\//.}" "$sample"
done < <(find "${NPUMEM_SAMPLES_DIR:-/nowhere}" \( -name '*.pickle' -o -name '*.pkl' \) 2>/dev/null | LC_ALL=C sort)

# ---- What one build makes of one input: everything into files of one folder, whatever becomes of it.
answer() {
    local bin=$1/bin input=$2 to=$3 db=run.db format language query
    mkdir -p "$to" && cd "$to" || exit 2
    cp -- "$input"/* .
    said() { # NAME COMMAND...: its two outputs and how it ended.
        local name=$1
        shift
        "$@" >"$name.out" 2>"$name.err" </dev/null
        echo "exit $?" >>"$name.out"
    }
    said ingest "$bin/npumem-ingest" -o $db --lang en --csv csv --csv-all ./*
    said again_zh "$bin/npumem-ingest" --lang zh $db
    [ -f $db ] || return 0
    sqlite3 $db .dump >dump.sql 2>&1
    said report "$bin/npumem-report" -o run.html $db
    for format in pprof folded perfetto snapshot svg; do
        said "export_$format" "$bin/npumem-export" $format -o "run.$format" $db
    done
    for language in leak peak oom; do
        said "stack_$language" "$bin/npumem-stack" --top 0 $db $language
    done
    said check "$bin/npumem-check" $db --no-leak --no-growth --no-rising --no-oom --no-anomaly --max-peak 1MiB \
        --max-fragmentation 1% --min-hit-rate 99% --max-misses-per-step 0 --max-reserved 1MiB --complete --allow-partial
    said check_json "$bin/npumem-check" --json $db --no-leak --max-peak 1GiB
    said diff "$bin/npumem-diff" --top 0 $db@begin $db@end
    said whatif "$bin/npumem-whatif" --compare $db
    said advise "$bin/npumem-whatif" --advise $db
    said redacted "$bin/npumem-ingest" --quiet --redact -o redacted.db ./*.{zst,pkl,pickle}
    [ ! -f redacted.db ] || sqlite3 redacted.db .dump >redacted.sql 2>&1
    for query in "$(sed -n 's/^CMAKE_HOME_DIRECTORY:INTERNAL=//p' "$1/CMakeCache.txt")"/queries/*.sql; do
        sqlite3 -csv -header $db <"$query" >"query.$(basename "$query" .sql).csv" 2>&1
    done
    rm -f run.db redacted.db ./*.zst ./*.pickle ./*.pkl
}

# Two runs in one picture, compared, and as two ranks: of inputs that allow it.
pair() {
    local bin=$1/bin to=$2
    mkdir -p "$to" && cd "$to" || exit 2
    "$bin/npumem-ingest" --quiet -o a.db "$work"/inputs/text.leak/*.zst
    "$bin/npumem-ingest" --quiet -o b.db "$work"/inputs/text.leak_causes/*.zst
    "$bin/npumem-ingest" --quiet -o first.db "$work/inputs/text.runs_compared/run.zst"
    "$bin/npumem-ingest" --quiet -o second.db "$work/inputs/text.runs_compared/run2.zst"
    "$bin/npumem-diff" --top 0 --csv diff a.db b.db >diff.out 2>diff.err
    "$bin/npumem-report" --against b.db -o against.html a.db >against.out 2>&1
    "$bin/npumem-report" -o ranks.html first.db second.db >ranks.out 2>&1
    "$bin/npumem-ingest" --lang en -o both.db a.db b.db >both.out 2>both.err
    "$bin/npumem-ingest" --lang zh both.db >both_zh.out 2>&1
    sqlite3 both.db .dump >both.sql
    [ -s against.html ] && [ -s ranks.html ] || echo "same_answers.sh: no page of two runs: $(cat against.out ranks.out)" >&2
    rm -f ./*.db
}

# Names that a change gives on purpose.
settle() {
    local script=$1 to=$2
    [ -z "$script" ] || find "$to" -type f ! -name '*.html' ! -name 'run.pprof' -exec sed -E -i -f "$script" {} +
}

# A page's script is its modules with their comments, and no answer.
drop_script() {
    find "$1" -name '*.html' -exec sed -i -e '/^<script type="module">$/,/^<\/script>$/d' -e '/^<script .*{"name":"engine"}/d' {} +
}

failures=0 count=0
compare() {
    local name=$1
    settle "${SAME_ANSWERS_OLD:-}" "$work/old/$name"
    settle "${SAME_ANSWERS_NEW:-}" "$work/new/$name"
    drop_script "$work/old/$name"
    drop_script "$work/new/$name"
    if diff -rq "$work/old/$name" "$work/new/$name" >"$work/differs"; then
        rm -rf "$work/old/$name" "$work/new/$name"
    else
        failures=$((failures + 1))
        echo "$name differs:"
        sed "s|$work/||g; s/^/    /" "$work/differs"
    fi
}

mkdir -p "$work/old" "$work/new"
for input in "$work"/inputs/*/; do
    name=$(basename "$input") count=$((count + 1))
    [ ! -t 2 ] || printf '\r%4d %-60s' $count "$name" >&2
    (answer "$old" "$input" "$work/old/$name") &
    (answer "$new" "$input" "$work/new/$name")
    wait
    compare "$name"
done
(pair "$old" "$work/old/pair")
(pair "$new" "$work/new/pair")
compare pair
[ ! -t 2 ] || printf '\r%66s\r' '' >&2
[ $count -gt 0 ] || { echo "same_answers.sh: there was nothing to load" >&2 && exit 2; }
if [ $failures = 0 ]; then
    echo "$count inputs and a pair of runs: all answers are the same"
    [ $# -ge 3 ] || rm -rf "$work"
    exit 0
fi
echo "$failures of $((count + 1)) differ; both sides are in $work"
exit 1
