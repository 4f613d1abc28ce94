#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# recorder.sh BUILD [--quick]: what recording takes, beside what it shall take at most, as a Markdown table: time of an event without
# and with stacks, on top of the call while nothing records (hook_bench); how many events the drain takes alone (drain_bench);
# bytes of an event; and how much more of the processor the steps of a training loop take of some 50 ms each
# (training_bench.py), recorded and not by turns.
set -eu
usage() { sed -n '4,7s/^# \{0,1\}//p' "$0"; }
[ $# -ge 1 ] || { usage >&2 && exit 2; }
here=$(dirname "$(realpath "$0")")
build=$(realpath "$1") rounds=7 steps=40 train_steps=10000
[ "${2:-}" != --quick ] || rounds=3 steps=20 train_steps=1000
record=$build/bin/npumem-record programs=$build/fixtures/programs
work=$(mktemp -d "${TMPDIR:-/tmp}/npumem-recorder.XXXXXX")
trap 'rm -rf "$work"' EXIT

# row WHAT GOAL FIGURE UNIT: missed when the figure is above the goal, or with a goal ">=N" below it.
row() {
    awk -v what="$1" -v goal="$2" -v figure="$3" -v unit="$4" 'BEGIN {
        is_least = sub(/^>=/, "", goal)
        is_met = is_least ? figure + 0 >= goal + 0 : figure + 0 <= goal + 0
        printf "| %s | %s %s %s | %s%s %s%s |\n", what, is_least ? "at least" : "at most", goal, unit, is_met ? "" : "**", figure, unit,
            is_met ? "" : ": missed**" }'
}

# ns MEASURE COLUMN [STACKS]: nanoseconds of an event; without STACKS while nothing records.
ns() {
    local run=("$build/bench/hook_bench" --only "$1")
    [ $# -lt 3 ] || run=("$record" --force --stacks "$3" -o "$work/loop.zst" -- "${run[@]}")
    "${run[@]}" 2>"$work/log" | sed -n "s/^$1 *//p" | tr -s ' ' | cut -d' ' -f"$2"
}

difference() { awk -v a="$1" -v b="$2" 'BEGIN { printf "%.0f", a - b }'; }

# bytes_an_event TRACE LOG
bytes_an_event() { awk -v bytes="$(stat -c %s "$1")" '/ events/ { for (i = 1; i < NF; i++) if ($(i + 1) ~ /^events/) { gsub(",", "", $i); printf "%.2f", bytes / $i; exit } }' "$2"; }

printf '%s, load %s on %s processors\n\n' "$(date -u +%F)" "$(cut -d' ' -f1 /proc/loadavg)" "$(nproc)"
echo "| recording | goal | figure |"
echo "|---|---|---|"
calls="npumem_alloc, npumem_free"
bare=$(ns "$calls" 1)
row "an event without stacks, on top of the bare call" 30 "$(difference "$(ns "$calls" 1 none)" "$bare")" ns
row "the same with native stacks 30 frames deep" 100 "$(difference "$(ns "$calls" 3 native)" "$bare")" ns
loop_bytes=$(bytes_an_event "$work/loop.zst" "$work/log")
row "the drain alone, of one ring" ">=10" "$("$build/tests/bench/drain_bench" | sed -nE 's/^1 rings.* ([0-9.]+) M events.*/\1/p')" "M events/s"
"$record" --force -o "$work/train.zst" -- "$programs/npu_train" --steps $train_steps --threads 2 >"$work/out" 2>"$work/log"
row "on disk, \`npu_train --steps $train_steps --threads 2\`" 2.5 "$(bytes_an_event "$work/train.zst" "$work/log")" "bytes an event"
row "the same, of a loop that does always the same" 1 "$loop_bytes" "bytes an event"

for _ in $(seq $rounds); do
    python3 "$here/training_bench.py" "$programs" $steps >>"$work/bare"
    "$record" --force -o "$work/loop.zst" -- python3 "$here/training_bench.py" "$programs" $steps >>"$work/recorded" 2>"$work/log"
done
least() { cut -d' ' -f"$2" "$1" | sort -n | head -n 1; }
row "a training loop of 50 ms a step, of the processor" 1 \
    "$(awk -v a="$(least "$work/bare" 1)" -v b="$(least "$work/recorded" 1)" -v work="$(least "$work/bare" 2)" \
        'BEGIN { printf "%.2f", (b - a) / (a + work) * 100 }')" "% more"
printf '\nOf a step of it the calls take %s us, recorded %s us, and the work %s us (medians; the least of %s runs each).\n' \
    "$(least "$work/bare" 1)" "$(least "$work/recorded" 1)" "$(least "$work/bare" 2)" "$rounds"
