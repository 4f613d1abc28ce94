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
for megabytes; do
    events=$("$here/imports.py" kineto "$megabytes" "$work/x.json")
    bytes=$(stat -c %s "$work/x.json")
    measure "$build/bin/npumem-ingest" --quiet --force -o "$work/x.db" "$work/x.json"
    row kineto npumem-ingest "$bytes" "$events"
    [ "$megabytes" -gt 100 ] || {
        measure python3 -c 'import gc, json, sys; gc.disable(); json.load(open(sys.argv[1], "rb"))' "$work/x.json"
        row kineto "Python's json.load" "$bytes" "$events"
    }
done
