#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# jobs.sh INGEST TEXT2TRACE SCALE_TRACE SQL_FOLDER SCRATCH: several inputs come to the same database, the same words and the same
# failure, however many are read at a time; what ends a process that reads is said; and whoever ends npumem-ingest ends all of
# them, and finds no part of theirs.
set -u
ingest=$1 text2trace=$2 scale_trace=$3 sql=$4 scratch=$5 failures=0

command -v sqlite3 >/dev/null || { echo "skipped: no sqlite3 here" && exit 77; }
rm -rf "$scratch" && mkdir -p "$scratch" && cd "$scratch" || exit 1

fail() {
    echo "$*" >&2
    failures=$((failures + 1))
}

# until_true COMMAND...: for at most a minute.
until_true() {
    for _ in $(seq 600); do
        "$@" && return 0
        sleep 0.1
    done
    return 1
}

inputs=()
for name in heap_place leak fragmentation_verdict graph_memory out_of_memory step_places misuse; do
    "$text2trace" "$sql/$name/trace.txt" "$name.zst" || fail "$name: no trace"
    inputs+=("$name.zst")
done
"$ingest" --quiet -o one.db "${inputs[0]}"
"$text2trace" "$sql/peak_by_site/trace.txt" cut.zst 3 && truncate -s -20 cut.zst
cp "${inputs[1]}" again.zst && truncate -s -20 again.zst
inputs+=(one.db cut.zst again.zst "${inputs[2]}.copy.zst") && cp "${inputs[2]}" "${inputs[2]}.copy.zst"

# ---- The same, however many.
for jobs in 1 2 5 0; do
    "$ingest" --force -o job.db --jobs $jobs "${inputs[@]}" >out.$jobs 2>err.$jobs
    echo "exit $?" >>out.$jobs
    sqlite3 job.db .dump >dump.$jobs
    cmp -s out.1 out.$jobs || fail "--jobs $jobs prints otherwise: $(diff out.1 out.$jobs | head -5)"
    cmp -s err.1 err.$jobs || fail "--jobs $jobs says otherwise: $(cat err.$jobs)"
    cmp -s dump.1 dump.$jobs || fail "--jobs $jobs has another dump"
done
[ -s dump.1 ] && grep -q 'not complete' err.1 && [ "$(grep -c 'left out' err.1)" = 3 ] || fail "nothing to compare: $(cat err.1)"

# ---- The first failure is told, and nothing is left.
head -c 300 /dev/urandom >noise.zst
printf 'npumem\0' >short.zst
for jobs in 1 4; do
    "$ingest" --force -o bad.db --jobs $jobs "${inputs[0]}" noise.zst "${inputs[1]}" short.zst >out 2>bad.$jobs
    [ $? = 1 ] || fail "--jobs $jobs: a bad input is no failure"
    [ "$(wc -l <bad.$jobs)" = 1 ] && grep -q 'noise.zst' bad.$jobs || fail "--jobs $jobs: $(cat bad.$jobs)"
done
cmp -s bad.1 bad.4 || fail "--jobs 4 fails otherwise: $(cat bad.4)"
[ -z "$(find . -name 'bad.db*')" ] || fail "left: $(find . -name 'bad.db*')"

# ---- Long enough to be ended while they read.
for n in 1 2; do
    "$scale_trace" -n 300000$n -t 7 -k 977 -l 10007 >long$n.zst || fail "no long trace"
done

# Of a process, by what /proc says: whose name is in brackets and may hold anything.
children_of() { awk -v parent="$1" '{ sub(/.*[)] /, ""); if ($2 == parent) { split(FILENAME, part, "/"); print part[3] } }' /proc/[0-9]*/stat 2>/dev/null; }
two_work() {
    children=$(children_of $parent)
    [ "$(wc -w <<<"$children")" = 2 ] || ! kill -0 $parent 2>/dev/null
}

begin_long() {
    rm -f long.db*
    "$ingest" --quiet -o long.db --jobs 2 long1.zst long2.zst 2>said &
    parent=$!
    until_true two_work || fail "no two processes: $(cat said)"
}
gone() { ! kill -0 $children 2>/dev/null; }
no_parts() { [ -z "$(find . -name 'long.db.[0-9].*')" ]; }

begin_long
kill -9 $(echo "$children" | head -1)
wait $parent
[ $? = 1 ] || fail "a process that was ended is no failure"
grep -q '^npumem-ingest: long[12].zst: the process that read it was ended by signal 9$' said || fail "said: $(cat said)"
until_true gone || fail "others are still there"
[ -z "$(find . -name 'long.db*')" ] || fail "left: $(find . -name 'long.db*')"

# One that has said all and waits to be added: its part is there to be added, and goes.
is_asleep() { [ "$(sed 's/.*[)] //; s/ .*//' "/proc/$1/stat" 2>/dev/null)" = S ]; }
rm -f long.db*
"$ingest" --quiet -o long.db --jobs 2 long1.zst heap_place.zst 2>said &
parent=$!
until_true two_work || fail "no two processes: $(cat said)"
last=$(sort -n <<<"$children" | tail -1)
until_true is_asleep "$last" && sleep 0.3 && kill -9 "$last"
wait $parent
status=$?
if [ $status = 0 ]; then
    [ "$(sqlite3 long.db 'SELECT group_concat(path) FROM input')" = long1.zst,heap_place.zst ] || fail "it was not added"
    [ "$(find . -name 'long.db*')" = ./long.db ] || fail "left: $(find . -name 'long.db*')"
else
    grep -q 'was ended by signal 9$' said || fail "status $status: $(cat said)"
    [ -z "$(find . -name 'long.db*')" ] || fail "left: $(find . -name 'long.db*')"
fi

begin_long
kill -TERM $parent
wait $parent
until_true gone || fail "SIGTERM: processes are still there"
until_true no_parts || fail "SIGTERM: left: $(find . -name 'long.db*')"
[ -z "$(find . -name 'long.db*')" ] || fail "SIGTERM: left: $(find . -name 'long.db*')"

begin_long
kill -9 $parent
wait $parent 2>/dev/null
until_true gone || fail "SIGKILL: processes are still there"
until_true no_parts || fail "SIGKILL: parts are left: $(find . -name 'long.db*')"

[ $failures = 0 ] && cd / && rm -rf "$scratch"
exit $((failures > 0))
