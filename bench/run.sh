#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# run.sh BUILD [--old OLD_BUILD] [--quick]: prints what docs/performance.md holds, measured here and now: npumem beside other programs
# (peers.sh), the recorder beside its goals (recorder.sh), loading beside SQLite's own insert and beside an older build (ingest.sh;
# without --old beside itself, which says how noisy the machine is), how loading scales (scale.sh), files of other tools (imports.sh),
# snapshots (snapshot.sh), views (views.sh) and the page (report.sh). --quick: small inputs, in some two minutes.
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
say "beside other programs (bench/peers.sh)"
"$here/peers.sh" "$build" $quick
say "recording (bench/recorder.sh)"
"$here/recorder.sh" "$build" $quick
say "loading (bench/ingest.sh)"
"$here/ingest.sh" "${old:-$build}" "$build" $quick
say "how loading scales (bench/scale.sh)"
"$here/scale.sh" "$build" $quick
say "files of other tools (bench/imports.sh)"
if [ -z "$quick" ]; then "$here/imports.sh" "$build"; else "$here/imports.sh" "$build" 20; fi
say "snapshots (bench/snapshot.sh)"
if [ -z "$quick" ]; then "$here/snapshot.sh" "$build"; else "$here/snapshot.sh" "$build" 20; fi
say "views (bench/views.sh)"
"$here/views.sh" "$build" $quick || echo "missed"
say "the page (bench/report.sh)"
"$here/report.sh" "$build" $quick
