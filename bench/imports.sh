#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# imports.sh BUILD [MEGABYTES...]: what npumem-ingest takes for files of other tools of these sizes (default: 100 and 2000), made by
# bench/imports.py. For each: events of memory, seconds elapsed and of processors, events and megabytes a second of processors, and
# the most memory. Beside it what Python's own module takes to read the file, where the size is at most 100.
set -eu
usage() { sed -n '4,6s/^# \{0,1\}//p' "$0"; }
[ $# -ge 1 ] || { usage >&2 && exit 2; }
here=$(dirname "$(realpath "$0")")
build=$(realpath "$1")
shift
[ $# -gt 0 ] || set -- 100 2000
work=$(mktemp -d "${TMPDIR:-/tmp}/npumem-imports.XXXXXX")
trap 'rm -rf "$work"' EXIT

measure() { /usr/bin/time -f '%e %U %S %M' -o "$work/time" "$@" >"$work/out" 2>&1 || { cat "$work/out" >&2 && exit 1; }; }

# row KIND PROGRAM BYTES EVENTS
row() {
    awk -v kind="$1" -v program="$2" -v bytes="$3" -v events="$4" '{
        seconds = $2 + $3 > 0 ? $2 + $3 : 0.01
        printf "| %s | %.0f | %d | `%s` | %.1f | %.1f | %.0f | **%.0f** | %.0f |\n", kind, bytes / 1e6, events, program, $1, seconds,
            events / seconds, bytes / 1e6 / seconds, $4 / 1024 }' "$work/time"
}

printf '%s, load %s on %s processors\n\n' "$(date -u +%F)" "$(cut -d' ' -f1 /proc/loadavg)" "$(nproc)"
echo "| kind | MB | events of memory | program | s elapsed | s of processors | events/s of processors | MB/s of processors | MiB |"
echo "|---|---|---|---|---|---|---|---|---|"
# measure_kind KIND FILE MEGABYTES PROGRAM: the program reads a file with Python's own module.
measure_kind() {
    local events bytes
    events=$("$here/imports.py" "$1" "$3" "$work/$2")
    bytes=$(stat -c %s "$work/$2")
    measure "$build/bin/npumem-ingest" --quiet --force -o "$work/x.db" "$work/$2"
    row "$1" npumem-ingest "$bytes" "$events"
    [ "$3" -gt 100 ] || {
        measure python3 -c "$4" "$work/$2"
        row "$1" "Python's own module" "$bytes" "$events"
    }
    rm "$work/$2"
}
json='import gc, json, sys; gc.disable(); json.load(open(sys.argv[1], "rb"))'
csv='import csv, sys; sum(len(row) for row in csv.reader(open(sys.argv[1], newline="")))'
for megabytes; do
    measure_kind kineto x.json "$megabytes" "$json"
    measure_kind msmemscope x.csv "$megabytes" "$csv"
    measure_kind mindspore x.csv "$megabytes" "$csv"
done
