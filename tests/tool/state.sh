#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# state.sh BIN_FOLDER PROGRAM_FOLDER PAGE_TABLES SCRATCH: what has become of a recording, told in the same words by ingest, check, top,
# report, bundle and --finish: to its owner, and (run by root) to a user who may read the trace and not the rings. Nothing here
# counts on how long things take: the recorder is stopped while it is asked about, so that the trace is the same for all.
set -u
bin=$1 programs=$2 tables=$3 scratch=$4 failures=0
nobody=65534
recorder= program=
umask 022

fail() {
    echo "FAIL: $*" >&2
    failures=$((failures + 1))
}

finish() {
    [ -z "$recorder$program" ] || kill -9 $recorder $program 2>/dev/null
    wait 2>/dev/null
    chmod -R u+rwx "$scratch" 2>/dev/null
}
trap finish EXIT

# soon COMMAND...: runs it until it succeeds.
soon() {
    for _ in $(seq 600); do
        "$@" 2>/dev/null && return 0
        sleep 0.1
    done
    fail "never: $*"
    exit 1
}

as() {
    if [ "$1" = other ]; then
        shift
        setpriv --reuid=$nobody --regid=$nobody --clear-groups "$@"
    else
        shift
        "$@"
    fi
}

# expect NAME GOT WANTED
expect() { [ "$2" = "$3" ] || fail "$1: '$2', not '$3'"; }

# says WHO TRACE STATUS STATE CHECK_STATUS TOP_WORD SENTENCE: all programs, as WHO sees the trace. An empty SENTENCE: it is whole.
says() {
    local who=$1 trace=$2 status=$3 state=$4 checked=$5 word=$6 sentence=$7 what="$1, $2" got
    rm -rf $who && mkdir $who && chmod 777 $who
    as $who "$bin/npumem-ingest" --force --lang en -o $who/a.db $trace >$who/screen 2>$who/line
    expect "$what: ingest ends" $? $status
    expect "$what: input" "$(sqlite3 $who/a.db 'SELECT state, is_complete FROM input')" "$state|$((status == 0))"
    as $who "$bin/npumem-check" --complete $who/a.db >$who/check
    expect "$what: check ends" $? $checked
    as $who "$bin/npumem-check" --no-leak --allow-partial $who/a.db >$who/leaks
    as $who "$bin/npumem-top" --once --json $trace >$who/top 2>$who/top.line
    got=$?
    expect "$what: top ends" $got "$(case $word in killed | 'cut off') echo 3 ;; *) echo 0 ;; esac)"
    grep -q "\"state\":\"$word\"" $who/top || fail "$what: top: $(head -c 200 $who/top)"
    tr -s '\n ' ' ' <$who/screen >$who/words
    if [ -z "$sentence" ]; then
        grep -q 'nothing lost' $who/words && grep -q '^ok    complete' $who/check && [ ! -s $who/line ] ||
            fail "$what is whole: $(cat $who/line $who/check $who/words)"
        return
    fi
    grep -q ": not complete:.*$sentence\$" $who/line || fail "$what: line: $(cat $who/line)"
    grep -q "($sentence)\$" $who/check || fail "$what: check: $(cat $who/check)"
    grep -q "$sentence, so that less may be called so" $who/leaks || fail "$what: check of leaks: $(cat $who/leaks)"
    grep -q 'nothing lost\|no leak' $who/words && fail "$what: good news: $(cat $who/screen)"
    grep -q "^not judged  leaks" $who/screen || fail "$what: leaks are judged: $(cat $who/screen)"
}

# sent WHO STATE: the page and the bundle of what was said last.
sent() {
    local who=$1 state=$2
    as $who "$bin/npumem-report" -o $who/a.html $who/a.db || fail "$who: report"
    expect "$who: the page's head" "$(python3 "$tables" $who/a.html input state verdict)" "$state,$state"
    as $who "$bin/npumem-bundle" -q -o $who/a.tar $who/a.db && tar -xf $who/a.tar -C $who || fail "$who: bundle"
    diff <(head -n 2 $who/screen) <(head -n 2 $who/*/screen.txt) >&2 || fail "$who: the bundle says another thing"
    grep -q ": $state, " $who/*/selfcheck.txt || fail "$who: bundle: $(cat $who/*/selfcheck.txt)"
}

# never WHO WORD...: nothing that was said to WHO holds it.
never() {
    local who=$1 word
    shift
    for word; do
        grep -iq "$word" $who/words $who/line $who/check $who/top.line && fail "$who is told '$word'"
    done
}

finish_says() {
    got=$("$bin/npumem-record" --finish "$1" 2>&1)
    expect "--finish ends" "$?: $got" "$2"
}

rm -rf "$scratch"
mkdir -p "$scratch"
cd "$scratch" || exit 1
chmod 755 .
who=owner
if [ "$(id -u)" != 0 ]; then
    echo "skipped in part: root alone can ask as another user"
elif ! as other "$bin/npumem-ingest" --version >/dev/null 2>&1 || ! as other test -x .; then
    echo "skipped in part: user $nobody cannot come to $bin or $scratch"
else
    who="owner other"
fi
everybody() { for one in $who; do says $one "$@"; done; }

so_far='still recording: figures so far'
theirs='its rings belong to another user: whether it still runs cannot be seen'

# A program that frees what it took, so that it leaks nothing; its events go on into the rings while the recorder is stopped.
"$bin/npumem-record" -q --sample-interval 0 -o run.zst -- sh -c "echo \$\$ >pid; exec '$programs/spin_events' --events 0 --pace-ns 5000000 --ack ack" >/dev/null &
recorder=$!
soon test -s ack
soon test -s run.zst
soon "$bin/npumem-record" --ctl run.zst snapshot >/dev/null
program=$(cat pid)
chmod 644 run.zst

# It runs, and goes on meanwhile: what its owner's ingest finds in rings would not make it whole.
says owner run.zst 3 running 1 recording "$so_far"
kill -STOP $recorder
cp run.zst copy.zst
everybody run.zst 3 running 1 recording "$so_far"
never owner killed cut unrecovered
sent owner running
if [ "$who" != owner ]; then
    never other killed cut unrecovered
    for one in owner other; do sqlite3 $one/a.db 'SELECT events_seen, events_ingested, events_unrecovered FROM input'; done >counts
    expect "both see as much" "$(uniq counts | wc -l)" 1
fi
finish_says run.zst "1: npumem-record: run.zst: is being recorded"

# A copy of what runs: the rings tell; whom they do not, knows nothing.
says owner copy.zst 3 running 1 recording "$so_far"
finish_says copy.zst "1: npumem-record: copy.zst: is being recorded"
if [ "$who" != owner ]; then
    says other copy.zst 3 unreadable 1 'not readable' "$theirs"
    never other killed 'cut off' 'still recording'
    sent other unreadable
fi

# Through a pipe.
cat run.zst | "$bin/npumem-ingest" -q --force -o piped.db -
expect "a pipe ends" $? 3
expect "a pipe" "$(sqlite3 piped.db 'SELECT state, is_complete FROM input')" "running|0"

# The recorder is killed, the program goes on; then it is, too.
kill -9 $recorder
wait $recorder 2>/dev/null
says owner run.zst 3 killed 1 killed 'its recorder was killed: figures so far'
finish_says run.zst "1: npumem-record: run.zst: its recorder was killed, and a recorded process still runs: wait for its end"
[ "$who" = owner ] || says other run.zst 3 unreadable 1 'not readable' "$theirs"
kill -9 "$program"
gone() { ! kill -0 "$program" || grep -q '^State:.[ZX]' "/proc/$program/status"; }
soon gone
recorder= program=
says owner run.zst 0 recovered 0 killed ''
if [ "$who" != owner ]; then
    says other run.zst 3 unreadable 1 'not readable' "$theirs"
    never other killed 'cut off' 'still recording'
fi
"$bin/npumem-record" -q --finish run.zst || fail "--finish"
everybody run.zst 0 recovered 0 recovered ''

# Its rings are gone: the copy ends where it ends.
everybody copy.zst 3 cut 1 'cut off' 'the recording was cut off before its end'
finish_says copy.zst "1: npumem-record: copy.zst: is cut, and its rings are not on this machine any more"

# One that ended as it should; and what came of a pipe that broke, of which nothing tells more.
"$bin/npumem-record" -q --sample-interval 0 -o whole.zst -- "$programs/spin_events" --events 500 >/dev/null
everybody whole.zst 0 ended 0 ended ''
"$bin/npumem-record" -q --sample-interval 0 -o - -- "$programs/spin_events" --events 5000 2>/dev/null >through.zst
head -c $(($(stat -c %s through.zst) / 2)) through.zst | cat >piped.zst
"$bin/npumem-ingest" -q -o unseen.db piped.zst
expect "a broken pipe ends" $? 3
expect "a broken pipe" "$(sqlite3 unseen.db 'SELECT state, is_complete FROM input')" "unseen|0"

# Several: one that runs is enough; and what was ingested while it ran is whole when it is ingested again.
"$bin/npumem-record" -q --sample-interval 0 -o again.zst -- sh -c "'$programs/spin_events' --events 500 >/dev/null; : >said; until [ -e go ]; do sleep 0.05; done" &
recorder=$!
soon test -e said
soon "$bin/npumem-record" --ctl again.zst snapshot >/dev/null
"$bin/npumem-ingest" --lang en -o both.db whole.zst again.zst >both 2>both.line
expect "two inputs end" $? 3
tr -s '\n ' ' ' <both | grep -q "$so_far" && grep -q "again.zst: not complete: $so_far" both.line || fail "two inputs: $(cat both both.line)"
"$bin/npumem-check" --complete both.db | grep -q "($so_far)" || fail "check of two"
"$bin/npumem-ingest" -q again.zst
expect "while it runs it ends" $? 3
: >go
wait $recorder
recorder=
"$bin/npumem-ingest" -q --force again.zst
expect "after it" "$?: $(sqlite3 again.db 'SELECT state, is_complete FROM input')" "0: ended|1"

# In parts, of which the last one is written.
"$bin/npumem-record" -q --sample-interval 0 --keep last:64K -o parts.zst -- sh -c "'$programs/spin_events' --events 5000 >/dev/null; : >kept; until [ -e on ]; do sleep 0.05; done" &
recorder=$!
soon test -e kept
for one in $who; do
    as $one "$bin/npumem-ingest" -q --force -o $one/parts.db parts.zst
    expect "$one: parts" "$?: $(sqlite3 $one/parts.db 'SELECT state, is_complete FROM input')" "3: running|0"
done
: >on
wait $recorder
recorder=
"$bin/npumem-ingest" -q --force -o owner/parts.db parts.zst
expect "parts that ended" "$?: $(sqlite3 owner/parts.db 'SELECT state, is_complete FROM input')" "0: ended|1"

[ $failures = 0 ] || exit 1
