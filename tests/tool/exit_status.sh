#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# exit_status.sh BIN_FOLDER TEXT2TRACE SPIN_EVENTS TRACE.txt SCRATCH: each program ends in each of the ways that it declares,
# and in no other. --describe man is what it declares, and what its man page says.
set -u
bin=$1 text2trace=$2 spin_events=$3 text=$4 scratch=$5 failures=0
PATH=$bin:$PATH

fail() {
    echo "$*" >&2
    failures=$((failures + 1))
}

# ends STATUS COMMAND...
ends() {
    local wanted=$1 got
    shift
    "$@" >out 2>err </dev/null
    got=$?
    [ $got = "$wanted" ] || fail "$*: ends with $got, not $wanted: $(cat err)"
    echo "$1 $wanted" >>ended
}

rm -rf "$scratch"
mkdir -p "$scratch/rings"
cd "$scratch" || exit 1
"$text2trace" "$text" run.zst && npumem-ingest --quiet run.zst || exit 1
head -c $(($(stat -c %s run.zst) - 20)) run.zst >cut.zst
echo text >text.zst
{
    cat "$text"
    echo '@900 loss thread=1 number=5 until=901 detail=1'
} >lossy.txt
"$text2trace" lossy.txt lossy.zst || exit 1
sed 's/requested=\([0-9]*\)/requested=1\1/; s/block=\([0-9]*\)/block=1\1/' "$text" >larger.txt
"$text2trace" larger.txt larger.zst && npumem-ingest --quiet larger.zst || exit 1
grep -v ' step ' "$text" >few.txt
"$text2trace" few.txt few.zst && npumem-ingest --quiet few.zst || exit 1

ends 0 npumem-ingest -q -o new.db run.zst
ends 0 npumem-ingest --json run.db
ends 1 npumem-ingest -q text.zst
ends 1 npumem-ingest -q -o new.db run.zst # it is there
ends 2 npumem-ingest
ends 3 npumem-ingest -q -o cut.db cut.zst

ends 0 npumem-check run.db --max-peak 1TiB
ends 1 npumem-check run.db --max-peak 1B
ends 0 npumem-check run.db --max-peak 1TiB --json --junit result.xml
ends 4 npumem-check run.db --max-peak 1TiB --junit result.xml # it is there
ends 2 npumem-check run.db
ends 4 npumem-check text.zst --complete
ends 4 npumem-check nowhere.db --complete
ends 5 npumem-check few.db --no-growth --allow-partial

ends 0 npumem-stack run.db leak
ends 1 npumem-stack run.db nowhere
ends 1 npumem-stack --json run.db nowhere
ends 2 npumem-stack
ends 4 npumem-stack text.zst

ends 0 npumem-export --list --json
ends 2 npumem-export --json folded run.db
ends 0 npumem-export folded run.db -o run.folded
ends 1 npumem-export folded run.db # it is there
ends 2 npumem-export folded
ends 3 npumem-export folded -o cut.folded cut.zst
ends 0 npumem-export parquet -o tables --job-name job run.db
ends 1 npumem-export parquet -o tables --job-name job run.db # it is there
ends 2 npumem-export parquet -o tables run.db                # no job is recorded
ends 3 npumem-export parquet -o tables --job-name cut --run-name cut cut.zst

ends 0 npumem-report run.db -o run.html
ends 1 npumem-report run.db # it is there
ends 2 npumem-report

ends 0 npumem-bundle -q run.db
ends 1 npumem-bundle run.db # it is there
ends 2 npumem-bundle

ends 0 npumem-mcp run.db
ends 1 npumem-mcp nowhere.db
ends 2 npumem-mcp

ends 0 npumem-diff run.db new.db
ends 1 npumem-diff run.db larger.db
ends 1 npumem-diff --json run.db larger.db
ends 2 npumem-diff run.db
ends 2 npumem-diff run.db new.db --rank 77
ends 4 npumem-diff run.db text.zst

ends 0 npumem-whatif --capacity 1TiB run.zst
ends 1 npumem-whatif --capacity 1B run.zst
ends 2 npumem-whatif
ends 3 npumem-whatif --capacity 1TiB lossy.zst
ends 4 npumem-whatif text.zst

ends 0 npumem check run.db --max-peak 1TiB
ends 1 npumem check run.db --max-peak 1B
ends 2 npumem frobnicate
ends 3 npumem ingest -q -o cut2.db cut.zst
ends 4 npumem check text.zst --complete

# What is killed with its program leaves rings; without one of them there is something to miss.
ends 0 npumem-record -q -o done.zst -- true
ends 1 npumem-record --finish text.zst
ends 2 npumem-record
npumem-record -q -o killed.zst --ring-dir "$PWD/rings" -- "$spin_events" --events 0 --pace-ns 400000 --ack ack >out 2>err &
recorder=$!
for _ in $(seq 500); do
    [ ! -s ack ] || break
    sleep 0.02
done
child=$(cut -d ' ' -f 1 /proc/$recorder/task/$recorder/children)
kill -KILL $recorder
wait $recorder 2>err
kill -KILL "$child"
while kill -0 "$child" 2>/dev/null; do sleep 0.02; done
rm rings/*/p.*
ends 3 npumem-record --finish killed.zst

for program in npumem-record npumem-ingest npumem-check npumem-diff npumem-whatif npumem-stack npumem-export npumem-report npumem-bundle npumem-mcp npumem; do
    "$program" --describe man | sed -n 's/^\.\\" = exit //p' | sort -u >declared
    sed -n "s/^$program //p" ended | sort -u | diff declared - >&2 || fail "$program declares (<), ends with (>)"
done
[ $failures = 0 ] || exit 1
