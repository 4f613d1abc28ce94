#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# From a fresh clone to answers: installs what is missing, builds, records a sample NPU program that leaks and fragments
# (or takes your file), ingests it and prints the answers. Leaves everything in demo/; nothing is built twice.
set -euo pipefail

usage() {
    cat <<'END'
usage: ./demo.sh           record the sample program, ingest the trace, print the answers
       ./demo.sh WHAT      ingest WHAT instead: a trace, a memory snapshot, a log, or what docs/imports.md says

Leaves demo/npumem (npumem, installed), demo/trace.zst (of the sample), demo/trace.db, demo/csv/ and demo/report.html; of the sample also
demo/oom.html, of a run that died. Installs missing packages (sudo only if not root).
END
}

case ${1:-} in
-h | --help) usage && exit 0 ;;
-*) usage >&2 && exit 2 ;;
esac
[ $# -le 1 ] || { usage >&2 && exit 2; }

input=
if [ $# = 1 ]; then
    input=$(realpath -e -- "$1") || exit 1
fi
cd "$(dirname "$(realpath "$0")")"
. cmake/setup.sh

setup_packages
say "building (build/install), and installing into demo/npumem"
configure install
build install all npu_train
mkdir -p demo
cmake --install build/install --prefix demo/npumem >demo/install.log || { cat demo/install.log >&2 && die "it does not install"; }
bin=demo/npumem/bin
sample=build/install/fixtures/programs/npu_train

options=(--force -o demo/trace.db --csv demo/csv)
if [ -z "$input" ]; then
    input=demo/trace.zst
    say "recording $sample --steps 200 --leak --fragment"
    "$bin/npumem-record" --force -o "$input" -- "$sample" --steps 200 --leak --fragment >demo/sample.log ||
        die "the recording failed"
fi

say "ingesting $input"
# 3: answers, though part of the input was lost; the screen says what.
status=0
rm -rf demo/csv demo/trace.html
"$bin/npumem-ingest" "${options[@]}" "$input" || status=$?
[ "$status" = 0 ] || [ "$status" = 3 ] || exit "$status"
# A snapshot may be of no pool, or a long run: other settings are tried on the sample alone.
try=$([ "$input" != demo/trace.zst ] || echo --whatif)
# shellcheck disable=SC2086 # an option, or none
"$bin/npumem-report" $try --force -o demo/report.html demo/trace.db || die "there is no page"

left="trace.db, csv/, report.html"
if [ "$input" = demo/trace.zst ]; then
    say "recording $sample --steps 60 --leak --oom, which dies"
    "$bin/npumem-record" --force -o demo/oom.zst -- "$sample" --steps 60 --leak --oom >demo/oom.log 2>&1 || true # with status 3
    "$bin/npumem-ingest" --force --quiet -o demo/oom.db demo/oom.zst
    "$bin/npumem-report" --whatif --force -o demo/oom.html demo/oom.db || die "there is no page of it"
    left="$left, trace.zst, oom.zst, oom.db, oom.html"
fi

cat <<END

Left in demo/: npumem/, $left. Look at demo/report.html$([ "$input" != demo/trace.zst ] || echo ' and demo/oom.html') in a browser. Try next,
the commands of the screen above too:
    . demo/npumem/share/npumem/env.sh
    sqlite3 -header -column demo/trace.db 'SELECT * FROM leak_by_site LIMIT 10'
    sqlite3 -header -column demo/trace.db < queries/largest_live.sql
    npumem record -o run.zst -- YOUR_PROGRAM && npumem ingest run.zst
END
exit "$status"
