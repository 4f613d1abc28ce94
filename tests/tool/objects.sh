#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Objects of the runtime are counted to the last, whoever makes and destroys them, and however the program ends: objects.c prints what it
# did. Those that it leaves are told by the line that makes them, and not by that whose are all destroyed.
#
#     objects.sh FOLDER_OF_THE_PROGRAMS OBJECTS FOLDER
set -eu
bin=$1 program=$2 folder=$3

rm -rf "$folder"
mkdir -p "$folder"
cd "$folder"

fail() { echo "FAIL: $*" >&2; exit 1; }

# Whether they become more is seen by looks at the counters: on a busy machine the program waits longer for them.
record() {
    for wait_ms in 20 50 200 1000; do
        "$bin/npumem-record" --force -q -o $1.zst -- "$program" $1 $wait_ms >$1.txt 2>$1.err || [ $1 = kill ] || fail "$(cat $1.err)"
        "$bin/npumem-ingest" --force --lang en $1.zst >$1.screen || fail "ingest of $1"
        [ "$(sqlite3 $1.db "SELECT verdict FROM object_count WHERE object = 'aclTensor'")" = kept ] || break
    done
}

for end in exit kill; do
    record $end
    sqlite3 $end.db 'SELECT object, made_count, gone_count FROM object_count' | LC_ALL=C sort >got
    LC_ALL=C sort $end.txt | diff - got || fail "$end: the program's counts (<) are not the database's (>)"
    [ "$(wc -l <got)" = 11 ] || fail "$end: not all kinds: $(cat got)"
    # 6,000 kept and 10 made apart; from 1,000 on one of 64 is told, so that of the rest some 80 were.
    sqlite3 $end.db "SELECT left_count, verdict, site GLOB 'objects.c:* keep_tensor', site_ratio > 0.95 FROM object_count WHERE object = 'aclTensor'" >got
    [ "$(cat got)" = '6010|leak|1|1' ] || fail "$end: tensors: $(cat got)"
    sqlite3 $end.db "SELECT sum(made_count - gone_count) BETWEEN 2500 AND 7500, sum(made_count) BETWEEN 25000 AND 55000 FROM z_object_site" >got
    [ "$(cat got)" = '1|1' ] || fail "$end: told: $(sqlite3 $end.db 'SELECT * FROM z_object_site')"
    grep -q '6,010 aclTensor were not destroyed, and still more are made' $end.screen || fail "$end: $(cat $end.screen)"
    [ "$(sqlite3 $end.db "SELECT count(*) FROM object_count WHERE verdict = 'leak'")" = 1 ] || fail "$end: more than one leak"
done
# No event for each: all of it are some 700 of those that were told, and some 60 looks at a kind.
events=$(sqlite3 exit.db 'SELECT events_seen FROM input')
[ "$events" -lt 2000 ] || fail "$events events"
echo "objects: as the program counts them"
