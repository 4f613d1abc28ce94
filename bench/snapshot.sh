#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# snapshot.sh BUILD [MEGABYTES...]: what npumem-ingest takes for a snapshot of torch's allocator of these sizes (default: 100 and
# 2000), made by bench/snapshot.py. For each: entries, seconds elapsed and of processors, megabytes a second of either, the most
# memory, and the database. Beside it what Python's own unpickler takes, where the size is at most 100.
set -eu
usage() { sed -n '4,6s/^# \{0,1\}//p' "$0"; }
[ $# -ge 1 ] || { usage >&2 && exit 2; }
here=$(dirname "$(realpath "$0")")
build=$(realpath "$1")
shift
[ $# -gt 0 ] || set -- 100 2000
work=$(mktemp -d "${TMPDIR:-/tmp}/npumem-snapshot.XXXXXX")
trap 'rm -rf "$work"' EXIT

measure() { /usr/bin/time -f '%e %U %S %M' -o "$work/time" "$@" >"$work/out" 2>&1 || [ $? = 3 ] || { cat "$work/out" >&2 && exit 1; }; }

# row PROGRAM BYTES ENTRIES DATABASE
row() {
    awk -v program="$1" -v bytes="$2" -v entries="$3" -v database="$4" '{
        printf "| %.0f | %d | `%s` | %.1f | %.1f | **%.0f** | %.0f | %.0f | %.3f | %s |\n", bytes / 1e6, entries, program, $1, $2 + $3,
            bytes / 1e6 / $1, bytes / 1e6 / ($2 + $3), $4 / 1024, $4 * 1024 / bytes, database }' "$work/time"
}

printf '%s, load %s on %s processors\n\n' "$(date -u +%F)" "$(cut -d' ' -f1 /proc/loadavg)" "$(nproc)"
echo "| MB | entries | program | s elapsed | s of processors | MB/s (goal 60) | MB/s of processors | MiB | memory of file (goal 0.1) | database MB |"
echo "|---|---|---|---|---|---|---|---|---|---|"
for megabytes; do
    entries=$("$here/snapshot.py" "$megabytes" "$work/x.pickle")
    bytes=$(stat -c %s "$work/x.pickle")
    measure "$build/bin/npumem-ingest" --quiet --force -o "$work/x.db" "$work/x.pickle"
    row npumem-ingest "$bytes" "$entries" $(($(stat -c %s "$work/x.db") / 1000000))
    [ "$megabytes" -gt 100 ] || {
        measure python3 -c 'import gc, pickle, sys; gc.disable(); pickle.load(open(sys.argv[1], "rb"))' "$work/x.pickle"
        row "Python's pickle.load" "$bytes" "$entries" ""
    }
done
