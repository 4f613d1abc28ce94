#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# A program that may have little memory (ulimit -v): each event that it was let to say is in the trace, or counted as lost.
#
#     little_memory.sh FOLDER_OF_THE_PROGRAMS LITTLE_MEMORY FOLDER
set -eu
bin=$1 program=$2 folder=$3 count=3000

rm -rf "$folder"
mkdir -p "$folder"
cd "$folder"

for kind in sdk acl; do
    for kib in 0 16 64 160 400 1500 3000 6000 24000; do
        name=$kind.$kib
        said=$("$bin/npumem-record" --required --stacks native -o $name.zst -- "$program" $kib $count $kind 2>$name.txt)
        "$bin/npumem-ingest" --quiet -o $name.db $name.zst >/dev/null 2>&1 && status=0 || status=$?
        read -r held dropped complete <<<"$(sqlite3 -separator ' ' $name.db "SELECT (SELECT count(*) FROM allocation AS a
            JOIN heap AS h ON h.heap_id = a.heap_id WHERE h.name IN ('little', 'device memory')) +
            (SELECT count(*) FROM failure), events_dropped, is_complete FROM input")"
        # What is lost besides: the definition of the heap, a sample of the device.
        more=$((held + dropped - said))
        [ "$more" -ge 0 ] && [ "$more" -le 4 ] ||
            { echo "FAIL: $name: said $said, in the trace $held, counted as lost $dropped" >&2; exit 1; }
        [ "$complete $status" = "$([ "$dropped" = 0 ] && echo 1 0 || echo 0 3)" ] ||
            { echo "FAIL: $name: $dropped lost, complete $complete, status $status" >&2; exit 1; }
        lost+=" $dropped"
    done
    [ "$dropped" = 0 ] || { echo "FAIL: $name: $dropped lost with memory for all" >&2; exit 1; }
done
[ "${lost// 0/}" != "" ] || { echo "FAIL: nothing was ever lost: the limit has no effect" >&2; exit 1; }
