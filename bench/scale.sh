#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# scale.sh BUILD [-o CURVES.svg] [--quick | --long]: how the time and the memory of npumem-ingest go with the number of events,
# threads, stacks and live blocks, one of them at a time. Traces are made by tests/bench/scale_trace and come through a pipe. A
# table with a line for each point, processor seconds for a million events, and with -o a picture of it. --quick: up to 10^5
# events; --long: up to 10^9 (an hour or more).
set -eu
usage() { sed -n '4,8s/^# \{0,1\}//p' "$0"; }
[ $# -ge 1 ] || { usage >&2 && exit 2; }
build=$(realpath "$1") picture='' most=7
shift
while [ $# -gt 0 ]; do
    case $1 in
    -o) picture=$2 && shift ;;
    --quick) most=5 ;;
    --long) most=9 ;;
    *) usage >&2 && exit 2 ;;
    esac
    shift
done
work=$(mktemp -d "${TMPDIR:-/tmp}/npumem-scale.XXXXXX")
trap 'rm -rf "$work"' EXIT

# point CURVE X ARGUMENTS...: a line of the table.
point() {
    local curve=$1 x=$2
    shift 2
    "$build/tests/bench/scale_trace" "$@" |
        /usr/bin/time -f '%e %U %S %M' -o "$work/time" "$build/bin/npumem-ingest" --quiet --force --detail live -o "$work/x.db" - \
            >"$work/out" 2>&1 || { cat "$work/out" >&2 && exit 1; }
    awk -v curve="$curve" -v x="$x" -v n="$(sed 's/.*-n \([0-9]*\).*/\1/' <<<"$*")" \
        '{ printf "%-12s %12d %12d %9.2f %9.2f %9.0f %9.2f\n", curve, x, n, $1, $2 + $3, $4 / 1024, ($2 + $3) / n * 1e6 }' "$work/time" |
        tee -a "$work/table"
}

power() { awk -v n="$1" 'BEGIN { printf "%.0f", 10 ^ n }'; }

printf '%-12s %12s %12s %9s %9s %9s %9s\n' curve x events elapsed_s cpu_s MiB cpu_s/1e6
for n in $(seq 4 $most); do point events "$(power "$n")" -n "$(power "$n")"; done
middle=$(power $((most > 7 ? 6 : most - 1)))
for n in 0 1 2 3; do point threads "$(power "$n")" -n "$middle" -t "$(power "$n")"; done
for n in $(seq 1 $((most > 6 ? 6 : most))); do point stacks "$(power "$n")" -n "$middle" -k "$(power "$n")"; done
for n in $(seq 1 $((most > 7 ? 7 : most - 1))); do
    live=$(power "$n")
    point live_blocks "$live" -n $((middle > 2 * live ? middle : 2 * live)) -l "$live"
done
[ -n "$picture" ] || exit 0

# Processor seconds for a million events over the number, both by powers of ten.
python3 - "$work/table" "$picture" <<'END'
import math, sys
curves = {}
for line in open(sys.argv[1]):
    name, x, _, _, _, _, y = line.split()
    curves.setdefault(name, []).append((math.log10(int(x)), float(y)))
top = max(y for points in curves.values() for _, y in points) * 1.1
width, height, left, out = 640, 360, 50, []
for index, (name, points) in enumerate(curves.items()):
    color = ("#0072b2", "#d55e00", "#009e73", "#cc79a7")[index % 4]
    place = [(left + x / 9 * (width - left - 10), height - 30 - y / top * (height - 50)) for x, y in points]
    out.append(f'<polyline fill="none" stroke="{color}" points="{" ".join(f"{x:.1f},{y:.1f}" for x, y in place)}"/>')
    out.append(f'<text x="{left + 10}" y="{20 + 14 * index}" fill="{color}">{name}</text>')
for n in range(10):
    out.append(f'<text x="{left + n / 9 * (width - left - 10):.0f}" y="{height - 12}" text-anchor="middle">10^{n}</text>')
out.append(f'<text x="4" y="{height - 30}">0</text><text x="4" y="24">{top:.1f} s</text>')
open(sys.argv[2], "w").write(f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" font-family="sans-serif" '
                             f'font-size="11"><title>Processor seconds for a million events</title>{"".join(out)}</svg>\n')
END
