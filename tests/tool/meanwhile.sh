#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# --report while the program runs: at a failed allocation, an alert and a snapshot; as a whole, one at a time, and nobody waits
# for it. First with npumem-ingest, then with one of the test's own, which is as slow as the test wants it.
#
#     meanwhile.sh FOLDER_OF_THE_PROGRAMS FOLDER_OF_THE_HOOK SERVER FOLDER
set -eu
bin=$1 hook=$2 server=$3 folder=$4

rm -rf "$folder"
mkdir -p "$folder/bin"
cd "$folder"
export NPUMEM_LIBRARY_DIR=$hook NPUMEM_CANN_CAPACITY_BYTES=1G

fail() { echo "FAIL: $*" >&2; exit 1; }

# until WHAT COMMAND...: within a minute the command succeeds.
until_true() {
    local what=$1
    shift
    for _ in $(seq 600); do
        ! "$@" || return 0
        sleep 0.1
    done
    fail "$what"
}

# begin NAME RECORDER [OPTION...]: a server in a recording; its words go to descriptor 3, what it has done comes from 4.
begin() {
    local name=$1 recorder=$2
    shift 2
    mkfifo "$name.in" "$name.out"
    "$recorder" -q -o "$name.zst" --report "$name.txt" "$@" -- "$server" <"$name.in" >"$name.out" 2>"$name.err" &
    recording=$!
    exec 3>"$name.in" 4<"$name.out"
    tell drop # it runs
}

tell() {
    local done
    echo "$1" >&3
    read -r -t 60 done <&4 || fail "the server does not do '$1'"
}

end() {
    exec 3>&-
    wait "$recording" || fail "$1: ended with $?: $(cat "$1.err")"
    exec 4<&-
    [ -z "$(ls ./*.tmp 2>/dev/null)" ] || fail "$1: left behind: $(ls ./*.tmp)"
}

# ---- The answers ----------------------------------------------------------------------------------------------------

says() { grep -q "$@" 2>/dev/null; }

begin plain "$bin/npumem-record"
sleep 1
[ ! -e plain.txt ] || fail "there are answers before anything has happened"
tell fill
until_true "no answers after a failure" says ASKED plain.txt
kill -0 "$recording" || fail "the recording has ended"
says 'still recording' plain.txt || fail "the answers do not say that they are of so far: $(cat plain.txt)"
[ "$(sqlite3 plain.db 'SELECT count(*) FROM failure')" = 1 ] || fail "the failure is not in the database"
cp plain.txt first.txt
exec 5<plain.txt
"$bin/npumem-record" --ctl plain.zst snapshot half way || fail "no snapshot"
is_marked() { [ "$(sqlite3 plain.db "SELECT count(*) FROM moment WHERE name = 'half way'")" = 1 ]; }
until_true "no answers after a snapshot" is_marked
end plain
cmp first.txt - <&5 || fail "who reads answers does not find them whole"
says 'ended by itself (0)' plain.txt || fail "the last answers are not those of the end: $(cat plain.txt)"
"$bin/npumem-ingest" --force -o plain.db plain.zst | cmp - plain.txt || fail "a later ingest says something else"

begin alert "$bin/npumem-record" --alert 'live_bytes > 32MiB' --keep last:1MiB
tell hold
until_true "no answers at an alert" says 'still recording' alert.txt
[ "$(sqlite3 alert.db "SELECT count(*) FROM moment WHERE name LIKE 'alert: %'")" = 1 ] || fail "the alert is not in the database"
end alert

# A pipe gets the last ones alone.
mkfifo pipe.txt
cat pipe.txt >pipe.got &
begin pipe "$bin/npumem-record"
tell fill
sleep 1
end pipe
wait
[ "$(grep -c ASKED pipe.got)" = 1 ] && says 'ended by itself (0)' pipe.got || fail "a pipe does not get the answers: $(cat pipe.got)"

# ---- One at a time --------------------------------------------------------------------------------------------------

# In place of npumem-ingest: says when it begins, and waits until it is let to end.
cp "$bin/npumem-record" bin
cat >bin/npumem-ingest <<'END'
#!/bin/bash
exec 9>lock
flock -n 9 || echo "two at a time" >>faults
echo x >>begun
number=$(wc -l <begun)
trap 'echo "$number" >>stopped; kill $!; exit 143' TERM
while [ ! -e "let.$number" ] && [ ! -e let.all ]; do sleep 0.1 9>&- & wait $!; done
echo "answers $number"
END
chmod +x bin/npumem-ingest

begun() { [ "$(cat begun 2>/dev/null | wc -l)" = "$1" ]; }

begin slow bin/npumem-record --alert 'live_bytes > 32MiB' --watch
tell fill
until_true "nothing is begun after a failure" begun 1
for _ in 1 2; do # what comes meanwhile: alerts, failures, snapshots; and all goes on
    tell hold
    until_true "no alert" grep -q 'alert: ' slow.err
    tell drop
    tell fill
    "$bin/npumem-record" --ctl slow.zst snapshot || fail "no snapshot while answers are written"
done
sleep 1
begun 1 || fail "others are begun while some are written"
[ ! -e slow.txt ] || fail "answers that are no more than begun are there"
touch let.1
until_true "what came meanwhile has no answers" begun 2
says '^answers 1$' slow.txt || fail "the first answers are not there: $(cat slow.txt)"
touch let.2
until_true "the second answers are not there" says '^answers 2$' slow.txt
tell fill
sleep 2
begun 2 || fail "there is no rest between two, or one too many"
"$bin/npumem-record" --ctl slow.zst snapshot || fail "no snapshot"
until_true "no answers after a snapshot" begun 3
(until_true "the last ones are not begun" begun 4 && touch let.all) 3>&- &
end slow
wait
[ "$(cat stopped)" = 3 ] || fail "what was being written at the end was not stopped"
says '^answers 4$' slow.txt || fail "the last answers are not those of the end: $(cat slow.txt)"
[ ! -e faults ] || fail "$(cat faults)"

# What cannot be written is said once, and the program runs on.
printf '#!/bin/sh\nwc -l <begun >tried\necho x >>begun\nexit 1\n' >bin/npumem-ingest
begin failing bin/npumem-record
for count in 4 5; do
    "$bin/npumem-record" --ctl failing.zst snapshot || fail "no snapshot"
    until_true "it is not tried again" grep -qs "^$count$" tried
    sleep 0.5
done
tell hold
end failing
[ "$(grep -c 'could not be written while' failing.err)" = 1 ] || fail "is not said once: $(cat failing.err)"
[ ! -e failing.txt ] || fail "answers without npumem-ingest"
