#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# ingest.sh OLD_BUILD NEW_BUILD [--quick]: how fast npumem-ingest of one build is beside that of another, on the same inputs,
# in turn, so that a busy machine is as unkind to each. Traces are recorded by OLD_BUILD. For each input: the events or entries,
# seconds elapsed and of processors, the most memory, the database, and how the new one stands to the old one (less is better).
# Beside them what SQLite takes to insert the rows of the large tables of the same database, bound value by value. --quick:
# small inputs, two rounds.
set -eu
usage() { sed -n '4,9s/^# \{0,1\}//p' "$0"; }
[ $# -ge 2 ] || { usage >&2 && exit 2; }
old=$(realpath "$1") new=$(realpath "$2") quick=${3:-}
work=$(mktemp -d "${TMPDIR:-/tmp}/npumem-bench.XXXXXX")
trap 'rm -rf "$work"' EXIT
cd "$work"

steps=10000 long_steps=44000 like_steps=4000 entries=1000000 rounds=3
[ "$quick" != --quick ] || steps=1000 long_steps=4000 like_steps=400 entries=100000 rounds=2

record() {
    local out=$1
    shift
    "$old/bin/npumem-record" -o "$out" -- "$@" >"$out.out" 2>"$out.err" || { cat "$out.err" >&2 && exit 1; }
}

record train.zst "$old/fixtures/programs/npu_train" --steps $steps --threads 2
record long.zst "$old/fixtures/programs/npu_train" --steps $long_steps --threads 2
record like.zst python3 "$old/fixtures/programs/torch_like.py" --steps $like_steps

# A snapshot as torch writes it: blocks that come and go, a stack of 20 frames out of 500 each.
python3 - $entries snapshot.pickle <<'END'
import pickle, sys
count, path = int(sys.argv[1]), sys.argv[2]
stacks = [[{"filename": f"/m/layer{s % 50}.py", "line": 10 + f, "name": f"forward_{s}_{f}"} for f in range(20)] for s in range(500)]
trace, live = [], []
for i in range(count // 3):
    size = 512 * (1 + i * 7919 % 4096)
    addr = 0x7f0000000000 + i * 0x300000
    e = {"action": "alloc", "addr": addr, "size": size, "stream": 0, "time_us": i, "frames": stacks[i % 500]}
    trace.append(e)
    live.append((addr, size))
    if len(live) > 1000:
        addr, size = live.pop(0)
        for action in ("free_requested", "free_completed"):
            trace.append({"action": action, "addr": addr, "size": size, "stream": 0, "time_us": i, "frames": stacks[i % 500]})
pickle.dump({"segments": [], "device_traces": [trace], "allocator_settings": {}}, open(path, "wb"), 2)
END

# time_one BUILD INPUT: seconds elapsed, processor seconds, KiB, bytes of the database.
time_one() {
    rm -f x.db
    /usr/bin/time -f '%e %U %S %M' -o time "$1/bin/npumem-ingest" --quiet -o x.db "$2" >ingest.out 2>&1 || true
    [ -f x.db ] || { cat ingest.out >&2 && return 1; }
    awk -v bytes="$(stat -c %s x.db)" 'END { print $1, $2 + $3, $4, bytes }' time
}

median() { sort -n | awk '{ v[NR] = $1 } END { print v[int((NR + 1) / 2)] }'; }

# insert_rows: SQLite's own bound insert of the rows in x.db, how many and seconds of the processor.
insert_rows() { "$new/tests/bench/insert_bench" x.db rows.db && rm -f rows.db; }

printf '%-10s %10s  %21s  %21s  %21s  %21s\n' input bytes 'elapsed s (old new /)' 'processor s' 'memory MiB' 'database MB'
for input in train.zst long.zst like.zst snapshot.pickle; do
    [ -f "$input" ] || continue
    rm -f times.old times.new
    for _ in $(seq $rounds); do
        time_one "$old" "$input" >>times.old
        time_one "$new" "$input" >>times.new
    done
    printf '%-10s %10s' "${input%.*}" "$(stat -c %s "$input")"
    for column in 1 2 3 4; do
        a=$(cut -d' ' -f$column times.old | median) b=$(cut -d' ' -f$column times.new | median)
        awk -v a="$a" -v b="$b" -v c=$column 'BEGIN { u = c == 3 ? 1024 : c == 4 ? 1e6 : 1; printf("  %8.2f %7.2f %4.2f", a / u, b / u, (a > 0 ? b / a : 0)) }'
    done
    echo "  bound insert of rows: $(insert_rows) s"
done
