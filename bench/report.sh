#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# report.sh BUILD [--quick] [FOLDER]: what a page of npumem report costs, as a Markdown table: writing it, with what answers SQL and
# without, and looking at it in Debian's Chromium, beside an empty page in the same run. Of a million allocations and, without
# --quick, of 4.6 million events (1.7 million allocations) and of ten million allocations. Seconds of processors are those to
# compare on a busy machine. FOLDER keeps the databases, and has them the next time (million.db, events.db, ten.db); without it
# they are made anew and go. What a browser needs is found as in tests/web/browser.sh.
set -eu
here=$(cd "${0%/*}" && pwd)
build=$(realpath "${1:?usage: report.sh BUILD [--quick] [FOLDER]}")
shift
is_quick=no
[ "${1:-}" != --quick ] || { is_quick=yes && shift; }
bin=$build/bin train=$build/fixtures/programs/npu_train
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
folder=${1:-$work}
mkdir -p "$folder"

# A run of 24,000 steps of 43 allocations. (Its pool looks through all that it has cached: ten times as many steps take hours.)
make_million() {
    "$bin/npumem-record" --force -o "$work/trace.zst" -- "$train" --steps 24000 --leak --fragment >"$work/log" 2>&1
}

# Of a run of training that has 4.6 million events.
make_events() {
    "$bin/npumem-record" --force -o "$work/trace.zst" -- "$train" --steps 20300 --threads 2 --leak >"$work/log" 2>&1
}

# Twenty million events of a pattern: 1,009 stacks in turn, 50,021 blocks live at once.
make_ten() { "$build/tests/bench/scale_trace" -n 20000000 -t 4 -k 1009 -l 50021 >"$work/trace.zst"; }

# make NAME: its database.
make() {
    [ ! -e "$folder/$1.db" ] || return 0
    "make_$1"
    "$bin/npumem-ingest" --quiet -o "$folder/$1.db" "$work/trace.zst" || [ $? = 3 ]
    rm "$work/trace.zst"
}

# measure COMMAND...: "seconds elapsed, of processors, MiB at the most" of it.
measure() {
    python3 - "$@" <<'END'
import resource, subprocess, sys, time
began = time.monotonic()
subprocess.run(sys.argv[1:], check=True)
used = resource.getrusage(resource.RUSAGE_CHILDREN)
print(f"{time.monotonic() - began:.1f} | {used.ru_utime + used.ru_stime:.1f} | {used.ru_maxrss / 1024:.0f}")
END
}

# write_page NAME LABEL OPTION...: a row of the table of writing.
write_page() {
    local name=$1 label=$2
    shift 2
    local cost
    cost=$(measure "$bin/npumem-report" --force "$@" -o "$work/$name.html" "$folder/$name.db")
    echo "| $(count "$name") | $label | $cost | $(awk -v bytes="$(stat -c %s "$work/$name.html")" 'BEGIN { printf "%.2f", bytes / 1e6 }') |"
}

count() { sqlite3 "$folder/$1.db" "SELECT printf('%,d', count(*)) FROM allocation"; }

names=million
make million
[ $is_quick = yes ] || { names="million events ten" && make events && make ten; }

echo "$(date -u +%Y-%m-%d), $("$bin/npumem-report" --version | head -n 1), \`bench/report.sh BUILD\`; load $(cut -d' ' -f1 /proc/loadavg) on $(nproc) processors"
echo
echo "| allocations | \`npumem report\` | seconds | of processors | MiB of memory | MB of page |"
echo "|---|---|---|---|---|---|"
for name in $names; do
    write_page "$name" "\`--no-sql\`" --no-sql
    write_page "$name" "as it is"
done

browser=$(command -v chromium || command -v chromium-headless-shell || command -v chromium-browser) || { echo && echo "(no chromium here: the pages were not looked at)" && exit 0; }
modules=$here/../build/node/node_modules
[ -d "$modules/playwright-core" ] || { echo && echo "(no playwright-core in build/node: the pages were not looked at)" && exit 0; }
echo '<!DOCTYPE html><html lang="en"><head><meta charset="utf-8"><title>empty</title></head><body></body></html>' >"$work/empty.html"
echo
NPUMEM_BROWSER=$browser NPUMEM_NODE_MODULES=$modules node "$here/report.mjs" "$work" empty $names
