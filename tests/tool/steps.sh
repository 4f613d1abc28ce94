#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# steps.sh INGEST TEXT2TRACE TRACE.txt SCRATCH [SAMPLES]: steps that are not marked, as a user of npumem-ingest meets them.
# TRACE.txt is the one of tests/sql/step_origin. With the folder of real snapshots, also where their iterations begin; the
# places come from a replay of the files in plain Python: the events at which each of the three begins its first line.
set -u
ingest=$1 text2trace=$2 text=$3 scratch=$4 samples=${5:-}
failures=0

fail() {
    printf 'FAIL: %s\n' "$*" >&2
    failures=$((failures + 1))
}

# is WHAT EXPECTED ACTUAL
is() {
    [ "$2" = "$3" ] || fail "$1: $3, not $2"
}

# ask DB SQL
ask() {
    sqlite3 "$1" "$2" | tr '\n' ' '
}

rm -rf "$scratch" && mkdir -p "$scratch" && cd "$scratch" || exit 1
command -v sqlite3 >/dev/null || { echo "skipped: no sqlite3 here" && exit 77; }
"$text2trace" "$text" run.zst || exit 1
begins="SELECT begin_seq FROM step WHERE process_id = 1 ORDER BY step_id"

# A file, a pipe and a recording in parts are read twice alike.
"$ingest" run.zst >summary || fail "a file"
is "begins" "1 9 17 25 33 " "$(ask run.db "$begins")"
is "sources" "inferred marked " "$(ask run.db 'SELECT DISTINCT source FROM step ORDER BY source')"
grep -q '^note  *5 steps, each from data.py:41 collate, inferred (--step-at' summary || fail "$(grep steps summary)"
grep -q '^note  *no steps found' summary || fail "$(grep steps summary)"
cat run.zst | "$ingest" --quiet -o pipe.db - || fail "a pipe"
is "through a pipe" "1 9 17 25 33 " "$(ask pipe.db "$begins")"
cat run.zst | TMPDIR=$scratch/missing "$ingest" --quiet -o missing.db - 2>error && fail "no temporary folder"
grep -q "^npumem-ingest: $scratch/missing: cannot write: No such file" error || fail "$(cat error)"
[ ! -e missing.db ] || fail "a database without its input"
cat run.zst | TMPDIR=$scratch/missing "$ingest" --quiet --step-at none -o missing.db - || fail "without a copy"

# What is neither a trace nor a text is refused before it is copied: it may have no end. What
# begins like a trace is copied as far as a block of one would have to come.
binary() { yes "$(printf '\1\2\3')"; }
begun() { head -c 24 run.zst && cat /dev/zero; }
for endless in binary 'cat /dev/zero' begun; do
    $endless 2>/dev/null | timeout 60 "$ingest" -o endless.db - 2>error
    is "$endless" "1" "$?"
    [ "$(wc -l <error)" = 1 ] && [ ! -e endless.db ] || fail "$endless: $(cat error)"
done
grep -q '^npumem-ingest: -: byte 0: begins like a trace, but holds no block of one' error || fail "begun: $(cat error)"

# Several inputs have their own: another recording of the same program.
sed '0,/pid=\([0-9]*\)/s//pid=9\1/' "$text" >other.txt
cmp -s "$text" other.txt && fail "the other recording is the same"
"$text2trace" other.txt other.zst && "$ingest" --quiet -o other.db other.zst || fail "another recording"
"$ingest" --quiet -o two.db run.zst other.db || fail "two inputs"
is "in two inputs" "10 " "$(ask two.db "SELECT count(*) FROM step WHERE source = 'inferred'")"
is "anchors of two inputs" "data.py:41 collate data.py:41 collate " \
    "$(ask two.db "SELECT anchor FROM step_origin WHERE source = 'inferred'")"

# --step-at
"$ingest" --force --step-at none run.zst >summary || fail "none"
is "none" "" "$(ask run.db "$begins")"
is "no anchors" "0 " "$(ask run.db 'SELECT count(*) FROM step_origin')"
grep -q '^note  *.*steps' summary && fail "$(grep steps summary)"
"$ingest" --force --step-at model.py:90 run.zst >summary || fail "a line"
is "a line" "3 11 19 27 35 " "$(ask run.db "$begins")"
grep -q '^note  *5 steps, each from model.py:90 loss, as --step-at says' summary || fail "$(grep steps summary)"
"$ingest" --force --quiet --step-at main run.zst || fail "a function"
is "a function" "1 9 17 25 33 " "$(ask run.db "$begins")"
"$ingest" --force --step-at nothing run.zst >summary 2>error
is "a place that never occurs" "2" "$?"
is "its words" "npumem-ingest: run.zst: --step-at nothing: no recorded stack has such a function or file:line, and no range that name" \
    "$(cat error)"
is "the old database" "1 9 17 25 33 " "$(ask run.db "$begins")"
"$ingest" --step-at '' run.zst 2>error
is "an empty place" "2" "$?"

# Where now and then an evaluation of its length follows an iteration none is found, but the place is named, and can be given.
{
    printf 'process 1 pid=1 host=h\nthread 1 process=1 tid=1\ndevice 1 process=1 ordinal=0 kind=npu\n'
    printf 'heap 1 process=1 device=1 level=pool basis=block name=pool\n'
    for place in 1 2 3 4 5 6 7 8; do echo "stack $place: /src/loop.py:$((place * 10)):f$place"; done
    for step in 1 2 3 4 5 6 7 8 9 10 11 12; do
        for turn in 0 4; do
            case $turn-$step in 4-[145] | 4-6 | 4-9 | 4-1[01]) continue ;; esac
            for place in 1 2 3 4; do
                echo "@- alloc heap=1 address=$((place * 4096)) block=512 thread=1 stack=$((turn + place))"
                echo "@- free heap=1 address=$((place * 4096)) thread=1"
            done
        done
    done
} >near.txt
"$text2trace" near.txt near.zst && "$ingest" near.zst >summary || fail "evaluations"
grep -q '^note  *no steps found, loop.py:10 f1 came nearest ' summary ||
    fail "$(grep steps summary)"
"$ingest" --force --step-at loop.py:10 near.zst >summary || fail "the place that was named"
is "steps from it" "12 " "$(ask near.db 'SELECT count(*) FROM step')"

# sample NAME BEGINS LEAK
sample() {
    "$ingest" --quiet -o "$1.db" "$samples/torch_npu/snapshot_$1.pkl" || fail "$1"
    is "$1" "$2" "$(ask "$1.db" "$begins")"
    is "$1 leaks" "$3" "$(ask "$1.db" 'SELECT leak_count, generation_count, leak_bytes FROM leak_by_site')"
    is "$1 step 3" "$4" "$(ask "$1.db" "SELECT allocation_count FROM step_total WHERE level = 'pool' AND step = 3")"
}
if [ -n "$samples" ] && [ -e "$samples/torch_npu" ]; then
    sample no_leak "329 3261 5842 " "" "858 "
    sample expandable "1 2932 5515 " "3|3|125829120 " "859 "
    sample with_empty_cache "1 2949 5565 " "3|3|125829120 " "859 "
fi
exit $((failures > 0))
