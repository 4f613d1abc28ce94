#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# no_proc.sh BIN_FOLDER PROGRAM TRACE.zst SCRATCH: where /proc is not mounted, programs find each other all the same, by the name
# that they were started by; and where that says nothing either (a descriptor), that is what is said, and not that something is
# not installed.
set -u
bin=$1 program=$2 trace=$3 scratch=$4 failures=0

for own in -rm -m; do
    [ "${NO_PROC_INSIDE-}" = "" ] && unshare $own true 2>/dev/null && NO_PROC_INSIDE=1 exec unshare $own bash "$0" "$@"
done
rm -rf "$scratch"
mkdir -p "$scratch"
cd "$scratch" || exit 1
cp "$trace" run.zst && "$bin/npumem-ingest" -q run.zst || exit 1
mount -t tmpfs none /proc 2>err && [ ! -e /proc/self ] || { echo "skipped: /proc cannot be hidden here: $(cat err)"; exit 77; }

fail() {
    echo "$*" >&2
    failures=$((failures + 1))
}

works() {
    "$@" >out 2>err </dev/null || fail "$*: $(cat err)"
}

# as MESSAGE COMMAND...: started from a descriptor, it fails with this one line.
as() {
    local message=$1
    shift
    python3 -c 'import os, sys; os.execve(os.open(sys.argv[1], os.O_RDONLY), sys.argv[1:], os.environ)' "$@" >out 2>err </dev/null &&
        fail "$*: ends well"
    [ "$(wc -l <err)" = 1 ] && grep -qF "$message" err || fail "$*: $(cat err)"
}

works "$bin/npumem" ingest -q --force run.zst
works "$bin/npumem" report --whatif -o page.html run.db
works "$bin/npumem" export folded -o run.folded run.zst
works "$bin/npumem-record" --required -o new.zst -- "$program" --steps 3
works "$bin/npumem-ingest" new.zst
(cd "$bin" && works ./npumem ingest -q --force "$scratch/run.zst" && cd / && PATH=$bin:$PATH works npumem record --version) || fail "by another name"

not='/proc is not mounted: where '
as "npumem: $not" "$bin/npumem" ingest run.zst
as "npumem-report: run.db: $not" "$bin/npumem-report" --whatif --force -o page.html run.db
as "npumem-export: run.zst: $not" "$bin/npumem-export" folded --force -o run.folded run.zst
as "$not" "$bin/npumem-record" -o third.zst -- "$program" --steps 3
[ $failures = 0 ] || exit 1
