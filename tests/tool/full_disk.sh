#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# full_disk.sh BIN_FOLDER TRACE.zst SCRATCH: a disk without room, whoever writes to it, and at whatever point of the
# work: one line that names the output and says so, and never what was only read.
set -u
bin=$1 trace=$2 scratch=$3 failures=0 refused=0
PATH=$bin:$PATH

for own in -rm -m; do
    [ "${FULL_DISK_INSIDE-}" = "" ] && unshare $own true 2>/dev/null && FULL_DISK_INSIDE=1 exec unshare $own bash "$0" "$@"
done
rm -rf "$scratch"
mkdir -p "$scratch/disk" "$scratch/in"
cd "$scratch" || exit 1
mount -t tmpfs none disk 2>err && umount disk || { echo "skipped: no file system of a few pages can be had here: $(cat err)"; exit 77; }
cp "$trace" in/run.zst && npumem-ingest -q in/run.zst && cp in/run.db in/old.db || exit 1
# room KIB COMMAND...: the command, with so little room below disk; 0: no file can be made there.
room() {
    local kib=$1 got
    shift
    mount -t tmpfs -o "$([ "$kib" = 0 ] && echo nr_inodes=1 || echo size="$kib"k)" none disk
    "$@" >out 2>err </dev/null
    got=$?
    umount disk
    return "$got"
}

# full NAMES COMMAND...: at each of these sizes it ends as it does with room, or names one of NAMES, a regular expression.
full() {
    local names=$1 why='cannot (write|open): No space left on device' kib plain
    shift
    rm -f in/new.*
    room 50000 "$@"
    plain=$?
    for kib in $sizes; do
        rm -f in/new.*
        room "$kib" "$@"
        [ $? = $plain ] && continue
        refused=$((refused + 1))
        [ "$(wc -l <err)" = 1 ] && grep -qE "^npumem-[a-z]+: ($names): $why\$" err && continue
        echo "$kib KiB, $*: $(cat err)" >&2
        failures=$((failures + 1))
    done
}

sizes='8 2000'
full disk/a.db npumem-ingest -q -o disk/a.db in/run.zst
full disk/a.db npumem-ingest -q -o disk/a.db in/run.zst in/old.db
full disk/a.db npumem-ingest -q -o disk/a.db in/old.db in/run.zst
sizes='0 8'
full 'disk/csv/[a-z_]+.csv|disk/csv' npumem-ingest -q --csv disk/csv in/run.db
full disk/page.html npumem-ingest -q -o in/new.db --report disk/page.html in/run.zst
sizes='8 700'
full disk/page.html npumem-report -o disk/page.html in/run.db
full disk/a.tar npumem-bundle -o disk/a.tar in/run.db
full disk env TMPDIR=disk npumem-bundle -o - in/run.db
full disk env TMPDIR=disk npumem-report -o - in/run.db
sizes='0 4'
for format in folded perfetto pprof snapshot svg; do
    full disk/a npumem-export $format -o disk/a in/run.db
done
full 'disk/csv/[a-z_]+.csv|disk/csv' npumem-diff --csv disk/csv in/run.db in/old.db
full 'disk|disk/npumem-export-[A-Za-z0-9]*/input.db' env TMPDIR=disk npumem-export folded -o in/new.folded in/run.zst
full disk bash -c 'cat in/run.zst | TMPDIR=disk npumem-whatif -'
full disk bash -c 'cat in/run.zst | TMPDIR=disk npumem-ingest -q -o in/new.db -'
full disk/a npumem-whatif -o disk/a in/run.zst
full disk/a npumem-whatif --csv disk/a in/run.zst
[ $refused -ge 24 ] || { echo "only $refused of the commands met a full disk" >&2; failures=$((failures + 1)); }
[ $failures = 0 ] || exit 1
