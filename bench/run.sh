#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# run.sh BUILD [--old OLD_BUILD] [--quick]: prints what docs/performance.md holds, measured here and now: the recorder beside other
# recorders (peers.sh), loading beside SQLite's own insert and beside an older build (ingest.sh; without --old beside itself, which
# says how noisy the machine is), how loading scales (scale.sh), and the page (report.sh). --quick: small inputs, in some two minutes,
# without the peers.
set -eu
here=$(dirname "$(realpath "$0")")
usage() { sed -n '4,7s/^# \{0,1\}//p' "$0"; }
[ $# -ge 1 ] || { usage >&2 && exit 2; }
build=$(realpath "$1") old='' quick=''
shift
while [ $# -gt 0 ]; do
    case $1 in
    --old) old=$(realpath "${2:?--old needs a build}") && shift ;;
    --quick) quick=--quick ;;
    *) usage >&2 && exit 2 ;;
    esac
    shift
done

say() { printf '\n== %s\n\n' "$*"; }

printf '%s, %s, %s processors, load %s\n' "$(date +%F)" "$(uname -m)" "$(nproc)" "$(cut -d' ' -f1 /proc/loadavg)"
if [ -z "$quick" ]; then
    say "recording (bench/peers.sh)"
    "$here/peers.sh" "$build"
fi
say "loading (bench/ingest.sh)"
"$here/ingest.sh" "${old:-$build}" "$build" $quick
say "how loading scales (bench/scale.sh)"
"$here/scale.sh" "$build" $quick
say "the page (bench/report.sh)"
"$here/report.sh" "$build" $quick
