#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# peers.sh BUILD [--quick]: npumem beside other programs, all in one run and in turn, so that a busy machine is as unkind to each; a
# Markdown table. Recording is one loop (hook_bench, "malloc, free": a block of 64 bytes allocated and freed, in bursts that fit into
# every recorder's buffers) and, without --quick, the sample program. Reading is of what each recorder wrote of a program: ours of
# npu_train, heaptrack and LTTng of a program in Python that allocates. Programs that are not installed (Debian: heaptrack;
# lttng-tools, liblttng-ust-dev, babeltrace2; zstd) are said to be so. LTTng takes no stacks, and is told to add the thread.
set -eu
usage() { sed -n '4,9s/^# \{0,1\}//p' "$0"; }
[ $# -ge 1 ] || { usage >&2 && exit 2; }
build=$(realpath "$1") quick=${2:-}
bench=$build/bench/hook_bench train=$build/fixtures/programs/npu_train record=$build/bin/npumem-record
work=$(mktemp -d "${TMPDIR:-/tmp}/npumem-peers.XXXXXX")
sessiond=
cleanup() {
    [ -z "$sessiond" ] || kill "$sessiond" 2>/dev/null || true
    rm -rf "$work"
}
trap cleanup EXIT
steps=10000 rounds=1000000
[ "$quick" != --quick ] || steps=2000 rounds=250000

has() { command -v "$1" >/dev/null; }
has_lttng() { has lttng && has lttng-sessiond && ldconfig -p | grep -q liblttng-ust-libc-wrapper.so; }

start_lttng() {
    export LTTNG_HOME=$work/lttng
    mkdir -p "$LTTNG_HOME"
    lttng-sessiond >"$work/sessiond.log" 2>&1 &
    sessiond=$!
    for _ in $(seq 50); do lttng --no-sessiond list >/dev/null 2>&1 && return; sleep 0.1; done
}

# under TOOL NAME COMMAND...: runs it as that tool records it, into files of that name.
under() {
    local tool=$1 name=$2
    shift 2
    case $tool in
    nothing) "$@" ;;
    npumem-*) "$record" --force --stacks "${tool#npumem-}" -o "$work/$name.$tool" -- "$@" 2>"$work/record.log" ;;
    heaptrack) heaptrack -o "$work/$name.heaptrack" "$@" 2>"$work/heaptrack.log" ;;
    lttng)
        rm -rf "$work/$name.lttng"
        {
            lttng --no-sessiond create peers --output="$work/$name.lttng"
            lttng --no-sessiond enable-channel --userspace --subbuf-size=1M --num-subbuf=4 memory
            lttng --no-sessiond enable-event --userspace --channel=memory 'lttng_ust_libc:*'
            lttng --no-sessiond add-context --userspace --channel=memory --type=vtid
            lttng --no-sessiond start
        } >/dev/null
        LD_PRELOAD=liblttng-ust-libc-wrapper.so "$@"
        lttng --no-sessiond destroy peers >/dev/null
        ;;
    esac
}

row() { printf '| %s | %s | %s |\n' "$@"; }

# used COMMAND...: seconds of the processor; what it prints goes to $work/out.
used() {
    TIMEFORMAT='%U %S'
    { time "$@" >"$work/out" 2>"$work/err"; } 2>&1 | awk '{ print $1 + $2 }'
}

per() { awk -v n="$1" -v s="$2" -v f="$3" 'BEGIN { printf f, (s > 0 ? n / s / 1e6 : 0) }'; }

bytes_of() { du -sbc "$work/$1"* 2>/dev/null | awk 'END { print $1 }'; }

# ---- Recording -------------------------------------------------------------------------------------------------------

tools="nothing npumem-none npumem-native"
[ "$quick" = --quick ] || tools="$tools npumem-caller npumem-both"
! has heaptrack || tools="$tools heaptrack"
! has_lttng || { tools="$tools lttng" && start_lttng; }
for tool in $tools; do
    under "$tool" loop "$bench" --only "malloc, free" >"$work/loop"
    sed -n 's/^malloc, free *//p' "$work/loop" >"$work/ns.$tool"
done
loop_events=976000 # 61 bursts of 4,000 at each of four depths

# recorded WHAT TOOL COLUMN WORDS: a row of the time of an event, and what it is on top of the bare loop.
recorded() {
    if [ -s "$work/ns.$2" ]; then
        row "$1" "$4" "$(paste -d' ' <(tr -s ' ' <"$work/ns.$2" | cut -d' ' -f"$3") <(tr -s ' ' <"$work/ns.nothing" | cut -d' ' -f"$3") |
            awk '{ printf "%.0f ns, %.0f on top", $1, $1 - $2 }')"
    else
        row "$1" "$4" "not installed"
    fi
}

# size_of TOOL WORDS: what an event of that loop takes on disk.
size_of() {
    if [ -s "$work/ns.$1" ]; then
        row "the same loop, an event on disk" "$2" "$(awk -v b="$(bytes_of "loop.$1")" -v n=$loop_events 'BEGIN { printf "%.2f bytes", b / n }')"
    else
        row "the same loop, an event on disk" "$2" "not installed"
    fi
}

printf '%s, load %s on %s processors\n\n' "$(date -u +%F)" "$(cut -d' ' -f1 /proc/loadavg)" "$(nproc)"
row what program figure
row --- --- ---
row "the bare loop of malloc and free, an event" "nothing records" "$(tr -s ' ' <"$work/ns.nothing" | cut -d' ' -f1) ns"
recorded "an event without a stack" npumem-none 1 "npumem-record --stacks none"
recorded "an event without a stack" lttng 1 "LTTng-UST"
recorded "an event with 30 native frames" npumem-native 3 "npumem-record --stacks native"
recorded "an event with 30 native frames" heaptrack 3 "heaptrack"
size_of npumem-native "npumem-record"
size_of heaptrack "heaptrack (no time, no thread)"
size_of lttng "LTTng-UST (no stack)"

# ---- Reading ---------------------------------------------------------------------------------------------------------

"$record" --force -o "$work/train.zst" -- "$train" --steps $steps --threads 2 >"$work/train.out" 2>"$work/train.log"
trace_bytes=$(stat -c %s "$work/train.zst")
for detail in all live; do
    s=$(used "$build/bin/npumem-ingest" --quiet --force --detail $detail -o "$work/$detail.db" "$work/train.zst")
    events=$(sqlite3 "$work/$detail.db" "SELECT sum(events_ingested) FROM input")
    row "read, into a database" "npumem-ingest --detail $detail" "$(per "$events" "$s" '%.2f M events/s'), $(per "$trace_bytes" "$s" '%.1f MB/s') of trace"
done

python=$(python3 -c 'import sys; print(sys.executable)') # python3 itself may be a script
export PYTHONMALLOC=malloc
cat >"$work/program.py" <<'END'
import sys
kept = []
for i in range(int(sys.argv[1])):
    kept.append([i] * (1 + i * 7919 % 60))
    if len(kept) > 1000:
        kept.pop(i % 1000)
END
if has heaptrack && has heaptrack_print; then
    under heaptrack read "$python" "$work/program.py" $rounds >/dev/null
    s=$(used heaptrack_print "$work"/read.heaptrack*)
    events=$(awk '/^calls to allocation functions:/ { print 2 * $5 }' "$work/out")
    row "read, into sums by site" heaptrack_print "$(per "$events" "$s" '%.2f M events/s'), $(per "$(bytes_of read.heaptrack)" "$s" '%.1f MB/s') of trace"
else
    row "read, into sums by site" heaptrack_print "not installed"
fi
if has_lttng && has babeltrace2; then
    under lttng read "$python" "$work/program.py" $rounds
    s=$(used babeltrace2 "$work/read.lttng")
    row "read, into text" babeltrace2 "$(per "$(wc -l <"$work/out")" "$s" '%.2f M events/s'), $(per "$(bytes_of read.lttng)" "$s" '%.1f MB/s') of trace"
else
    row "read, into text" babeltrace2 "not installed"
fi
read -r inserted s < <("$build/tests/bench/insert_bench" "$work/all.db" "$work/rows.db")
row "the rows of that database, inserted" "SQLite, bound in C" "$(per "$inserted" "$s" '%.2f M rows/s')"
if has zstd; then
    zstd -q -dc "$work/train.zst" >"$work/train.raw"
    row "the bytes of that trace alone" "zstd -3, and its reader" "$(zstd -b3 -i1 "$work/train.raw" 2>&1 | tr '\r' '\n' |
        sed -nE 's/.*-> *([0-9]+) .*, *([0-9.]+) MB\/s, *([0-9.]+) MB\/s.*/\2 MB\/s, \3 MB\/s/p' | tail -n 1) of $(($(stat -c %s "$work/train.raw") / 1000000)) MB"
else
    row "the bytes of that trace alone" zstd "not installed"
fi
[ "$quick" != --quick ] || exit 0

# ---- The sample program, several times by turns; what it took of processors has the recorder's own part too. --------------

for _ in 1 2 3 4 5; do
    for tool in $tools; do
        TIMEFORMAT='%R %U %S'
        { time under "$tool" train "$train" --steps 2000 >/dev/null; } 2>&1 | tail -n 1 | awk '{ print $1, $2 + $3 }' >>"$work/times.$tool"
    done
done
middle() { cut -d' ' -f"$2" "$work/times.$1" | sort -n | sed -n 3p; }
for tool in $tools; do
    row "npu_train --steps 2000, seconds elapsed and of processors" "$tool" "$(middle "$tool" 1), $(middle "$tool" 2)"
done
printf '\nns of an event at stack depth 1, 10, 30, 60:\n'
for tool in $tools; do printf '%-18s%s\n' "$tool" "$(cat "$work/ns.$tool")"; done
