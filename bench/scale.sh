#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# scale.sh BUILD [-o CURVES.svg] [--quick | --long]: how the time and the memory of npumem-ingest --detail live go with the number
# of events, threads, stacks and live blocks, one of them at a time. Traces are made by tests/bench/scale_trace and come through a
# pipe. A table with a line for each point, and with -o a picture of it (bench/scale_svg.py). Up to 10^8 events (three minutes);
# --quick: up to 10^5; --long: up to 10^9 (ten minutes more where there are two processors to have). A million stacks take 0.7 GB,
# and 10^7 blocks live at once would take 5.3.
set -eu
usage() { sed -n '4,8s/^# \{0,1\}//p' "$0"; }
[ $# -ge 1 ] || { usage >&2 && exit 2; }
here=$(dirname "$(realpath "$0")")
build=$(realpath "$1") picture='' most=8 most_stacks=6 most_live=6
shift
while [ $# -gt 0 ]; do
    case $1 in
    -o) picture=${2:?-o needs a file} && shift ;;
    --quick) most=5 most_stacks=5 most_live=4 ;;
    --long) most=9 ;;
    *) usage >&2 && exit 2 ;;
    esac
    shift
done
work=$(mktemp -d "${TMPDIR:-/tmp}/npumem-scale.XXXXXX")
trap 'rm -rf "$work"' EXIT

# point CURVE X EVENTS ARGUMENT...: a line of the table.
point() {
    local curve=$1 x=$2 events=$3
    shift 3
    "$build/tests/bench/scale_trace" -n "$events" "$@" |
        /usr/bin/time -f '%e %U %S %M' -o "$work/time" "$build/bin/npumem-ingest" --quiet --force --detail live -o "$work/x.db" - \
            >"$work/out" 2>&1 || { cat "$work/out" >&2 && exit 1; }
    awk -v curve="$curve" -v x="$x" -v n="$events" \
        '{ printf "%-12s %12d %12d %9.2f %9.2f %9.0f %9.2f\n", curve, x, n, $1, $2 + $3, $4 / 1024, ($2 + $3) / n * 1e6 }' "$work/time" |
        tee -a "$work/table"
}

power() { awk -v n="$1" 'BEGIN { printf "%.0f", 10 ^ n }'; }

printf '%-12s %12s %12s %9s %9s %9s %9s\n' curve x events elapsed_s cpu_s MiB cpu_s/1e6
for n in $(seq 4 $most); do point events "$(power "$n")" "$(power "$n")"; done
middle=$(power $((most > 6 ? 6 : most - 1)))
for n in 0 1 2 3; do point threads "$(power "$n")" "$middle" -t "$(power "$n")"; done
for n in $(seq 1 $most_stacks); do
    stacks=$(power "$n")
    point stacks "$stacks" $((middle > 2 * stacks ? middle : 2 * stacks)) -k "$stacks"
done
for n in $(seq 1 $most_live); do
    live=$(power "$n")
    point live_blocks "$live" $((middle > 4 * live ? middle : 4 * live)) -l "$live"
done
[ -z "$picture" ] || "$here/scale_svg.py" "$work/table" "$picture"
