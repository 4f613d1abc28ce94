#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# peers.sh BUILD: what recording costs beside other recorders, on the same loop (hook_bench, "malloc, free": a block of 64
# bytes allocated and freed, in bursts that fit into every recorder's buffers), and how much longer the sample program
# runs. One run measures all of them, in turn, so that a busy machine is as unkind to each. heaptrack and LTTng
# (lttng-tools, liblttng-ust1) are left out where they are not installed. LTTng takes no stacks, and is told to add the thread.
set -eu
build=$(realpath "${1:?usage: peers.sh BUILD}")
bench=$build/bench/hook_bench train=$build/fixtures/programs/npu_train record=$build/bin/npumem-record
work=$(mktemp -d)
sessiond=
cleanup() {
    [ -z "$sessiond" ] || kill "$sessiond" 2>/dev/null || true
    rm -rf "$work"
}
trap cleanup EXIT

has() { command -v "$1" >/dev/null; }

start_lttng() {
    export LTTNG_HOME=$work/lttng
    mkdir -p "$LTTNG_HOME"
    lttng-sessiond >"$work/sessiond.log" 2>&1 &
    sessiond=$!
    for _ in $(seq 50); do lttng --no-sessiond list >/dev/null 2>&1 && return; sleep 0.1; done
}

# under TOOL COMMAND...: runs it as that tool records it.
under() {
    local tool=$1
    shift
    case $tool in
    nothing) "$@" ;;
    npumem-*) "$record" --force --stacks "${tool#npumem-}" -o "$work/x.zst" -- "$@" 2>"$work/record.log" ;;
    heaptrack) heaptrack -o "$work/heaptrack" "$@" 2>"$work/heaptrack.log" ;;
    lttng)
        {
            lttng --no-sessiond create peers --output="$work/lttng-trace"
            lttng --no-sessiond enable-channel --userspace --subbuf-size=1M --num-subbuf=4 memory
            lttng --no-sessiond enable-event --userspace --channel=memory 'lttng_ust_libc:*'
            lttng --no-sessiond add-context --userspace --channel=memory --type=vtid
            lttng --no-sessiond start
        } >/dev/null
        LD_PRELOAD=liblttng-ust-libc-wrapper.so "$@"
        lttng --no-sessiond destroy peers >/dev/null
        rm -rf "$work/lttng-trace"
        ;;
    esac
}

tools="nothing npumem-none npumem-caller npumem-native npumem-both"
! has heaptrack || tools="$tools heaptrack"
! has lttng || { tools="$tools lttng" && start_lttng; }

echo "ns per event at stack depth   1        10        30        60"
for tool in $tools; do
    under "$tool" "$bench" --only "malloc, free" >"$work/out"
    printf '%-18s%s\n' "$tool" "$(sed -n 's/^malloc, free *//p' "$work/out")"
done

# The sample program, several times by turns; each time what it took of processors, the recorder's own part too.
echo "npu_train --steps 2000: seconds elapsed, processor seconds with the recorder's (median of 5)"
for _ in 1 2 3 4 5; do
    for tool in $tools; do
        TIMEFORMAT='%R %U %S'
        { time under "$tool" "$train" --steps 2000 >/dev/null; } 2>&1 | tail -n 1 | awk '{ print $1, $2 + $3 }' >>"$work/times.$tool"
    done
done
for tool in $tools; do
    printf '%-18s %8s %8s\n' "$tool" "$(cut -d' ' -f1 "$work/times.$tool" | sort -n | sed -n 3p)" \
        "$(cut -d' ' -f2 "$work/times.$tool" | sort -n | sed -n 3p)"
done
