#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# fleet.sh [RANKS]: what questions of a fleet take (examples/fleet/views.sql): the four nights of tests/fleet/ exported by build/dev, loaded into a
# cluster of two ClickHouse servers on this machine, and there multiplied to RANKS ranks a night (10,000) with 40 sites each at the peak.
# Each view is asked three times; said are the seconds of the middle one and the bytes that came over the wire. Limits: 2 s, 5 for what got worse, 15 for what is
# unbalanced.
set -euo pipefail
ranks=${1:-10000}
cd "$(dirname "$(realpath "$0")")/.."
build=$PWD/build/dev work=$PWD/build/bench/fleet
modules=$PWD/build/node/node_modules
[ -f "$modules/@chdb/lib-linux-x64-gnu/libchdb.so" ] || { echo "no ClickHouse in build/node: ./test.sh -R fleet puts it there" >&2 && exit 1; }
[ -d "$build/tests/fleet/cluster/fleet" ] || ctest --test-dir "$build" -R '^fleet[.]cluster$' --output-on-failure >&2
rm -rf "$work" && mkdir -p "$work"
python3 bench/fleet.py "$modules" "$build/tests/fleet/cluster/fleet" "$work" "$ranks"
