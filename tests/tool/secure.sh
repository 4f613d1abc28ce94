#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# What an attacker gets from a program that is linked with our libraries: nothing. Run by root, else most of it is skipped:
# setuid and setgid copies of secure_probe are run by a user who owns nothing, with an environment that would like to be obeyed.
#
#     secure.sh FOLDER_OF_THE_PROGRAMS FOLDER_OF_THE_LIBRARIES SECURE_PROBE FOLDER     (the probe looks for its libraries in FOLDER/lib)
set -eu
bin=$1 lib=$2 probe=$3 folder=$4
nobody=65534

fail() { echo "FAIL: $*" >&2; exit 1; }

rm -rf "$folder"
mkdir -p "$folder/lib" "$folder/plant" "$folder/open"
cp -L "$lib/libnpumem.so.0" "$lib/libnpumem_hook.so" "$folder/lib/"
cp "$probe" "$folder/plain"
chmod 1777 "$folder/open"
cd "$folder"

# Would leave its mark as whoever runs it.
printf '#!/bin/sh\nid -u >>%s/open/mark\n' "$folder" >plant/npumem-record
chmod 755 plant/npumem-record
no_mark() { [ ! -e "$folder/open/mark" ] || fail "$1: npumem-record on PATH was run, by user $(cat "$folder/open/mark")"; }

# Beside the library there is none: the one on PATH is not taken instead, in no way of starting.
PATH=$folder/plant:$PATH ./plain probe out.zst >plain.txt
grep -q "works 1 heap 0 started -1" plain.txt || fail "without npumem-record: $(cat plain.txt)"
grep -q "^there is no npumem-record beside libnpumem.so.0 or in /" plain.txt || fail "without npumem-record: $(cat plain.txt)"
PATH=$folder/plant:$PATH NPUMEM_OUTPUT=$folder/host.zst ./plain probe >/dev/null
no_mark "a plain program"

[ "$(id -u)" = 0 ] || { echo "skipped: root alone can make a setuid program"; exit 77; }
install -m 4755 plain setuid
install -m 2755 plain setgid
attack() { ./plain as $nobody env PATH="$folder/plant:$PATH" "$@"; }
attack ./setuid probe >try.txt || { echo "skipped: user $nobody cannot come to $folder"; exit 77; }
grep -q "^privileged 1" try.txt || { echo "skipped: a setuid program gets no rights here"; exit 77; }

# The genuine one beside the library, which would run with the rights of the program.
mkdir bin
cp "$bin/npumem-record" bin/
echo secret >victim
chmod 600 victim
for program in setuid setgid; do
    rm -rf open/* && mkdir open/mine && chown $nobody open/mine
    for place in NPUMEM_OUTPUT="$folder/victim" NPUMEM_OUTPUT="$folder/open/mine/out.zst"; do
        attack "$place" NPUMEM_OPTIONS=--force TMPDIR="$folder/open" MSTX_INJECTION_PATH="$folder/open/mine/none.so" \
            ./$program probe >got.txt
        [ "$(cat got.txt)" = "privileged 1 works 1 heap 0 started 1 recording 0" ] || fail "$program, $place: $(cat got.txt)"
        attack "$place" NPUMEM_OPTIONS=--force ./$program probe "$folder/victim" >got.txt
        grep -qx "privileged 1 works 1 heap 0 started -1 recording 0" got.txt || fail "$program, npumem_start: $(cat got.txt)"
        grep -q "rights that its caller has not" got.txt || fail "$program, npumem_start: $(cat got.txt)"
    done
    no_mark $program
    [ "$(cat victim)" = secret ] || fail "$program: root's file was written to"
    [ -z "$(find open -mindepth 1 ! -path open/mine)" ] || fail "$program left $(find open -mindepth 1)"
done

# In the middle of a recording of root's own, whose folder and library its environment names.
"$bin/npumem-record" -o around.zst -- ./plain as $nobody ./setuid probe >got.txt 2>around.txt || fail "$(cat around.txt)"
grep -q "^privileged 1 works 1 heap 0" got.txt || fail "under npumem-record: $(cat got.txt)"
"$bin/npumem-ingest" --quiet -o around.db around.zst
[ "$(sqlite3 around.db 'SELECT count(*) FROM heap')" = 0 ] || fail "it was recorded"

# Somebody else's folder for the rings, or one that others can write to, is refused in one line.
mkdir theirs shared sticky
chown $nobody theirs
chmod 777 shared
chmod 1777 sticky
for place in theirs shared; do
    "$bin/npumem-record" --required --ring-dir "$folder/$place" -o no.zst -- touch ran 2>got.txt && status=0 || status=$?
    [ "$status" = 1 ] && [ ! -e ran ] || fail "--required --ring-dir $place: status $status"
    [ "$(wc -l <got.txt)" = 1 ] && grep -q "others must not write to it" got.txt || fail "--ring-dir $place: $(cat got.txt)"
    "$bin/npumem-record" --best-effort --ring-dir "$folder/$place" -o no.zst -- true 2>got.txt || fail "--ring-dir $place: the program did not run"
    [ ! -e no.zst ] && [ -z "$(ls $place)" ] || fail "--ring-dir $place was used"
done
"$bin/npumem-record" --required --ring-dir "$folder/sticky" -o yes.zst -- true || fail "--ring-dir sticky"
