#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# How a program ended, in the recorder's words and in the answers: killed because its cgroup ran out of memory (the kernel's
# files are played by a library), killed by somebody, with a status, and as programs end.
#
#     ends.sh SHIM RECORD INGEST PROGRAM FIRST_THREAD FOLDER
set -u
shim=$1 record=$2 ingest=$3 program=$4 first_thread=$5 folder=$6

fail() { echo "FAIL: $*" >&2; exit 1; }

rm -rf "$folder" && mkdir -p "$folder/proc/self" "$folder/sys/fs/cgroup/job" && cd "$folder" || exit 1
echo 0::/job >proc/self/cgroup
echo 17179869184 >sys/fs/cgroup/job/memory.max
printf 'oom 1\noom_kill 1\n' >sys/fs/cgroup/job/memory.events

# run NAME COMMAND: records the shell that runs it, and says what recorder and answers say.
run() {
    OTHER_CGROUP=$folder LD_PRELOAD=$shim "$record" -o "$1.zst" -- sh -c "$2" >/dev/null 2>"$1.err"
    status=$?
    "$ingest" "$1.zst" >"$1.txt" || fail "$1: cannot be read"
}
said='host out of memory: process [0-9]+ was killed by the kernel; limit of its cgroup 16\.0 GiB, its peak RSS [0-9.]+ [KMG]iB'

run oom "$program --events 5; printf 'oom 2\noom_kill 2\n' >sys/fs/cgroup/job/memory.events; kill -KILL \$\$"
[ $status = 137 ] || fail "status $status"
grep -Eq "^npumem-record: $said\$" oom.err || fail "the recorder: $(cat oom.err)"
tr -s '\n ' ' ' <oom.txt | grep -Eq "ENDED process [0-9]+ was killed by signal 9: $said" || fail "the answers: $(cat oom.txt)"

run killed "$program --events 5; kill -KILL \$\$"
grep -q "host out of memory" killed.err killed.txt && fail "killed by itself, and called out of memory"
grep -Eq '^ENDED    process [0-9]+ was killed by signal 9$' killed.txt || fail "the answers: $(cat killed.txt)"

run status "$program --events 5; exit 3"
grep -Eq '^ENDED    process [0-9]+ ended with status 3$' status.txt || fail "the answers: $(cat status.txt)"

run good "$program --events 5; exit 0"
grep -E '^ENDED' good.txt && fail "an end that nobody asks about is told"

# Who outlives its parent ends as it ends. The kernel shows no memory of a process that ends, nor of one whose first thread has
# ended: that is no other program.
run orphan "$first_thread & sleep 0.2"
grep -q "became a program" orphan.err && fail "the recorder: $(cat orphan.err)"
[ "$(sqlite3 orphan.db "SELECT end_kind, end_status FROM process WHERE command LIKE '%first_thread'")" = 'exit|0' ] ||
    fail "a child that outlived its parent: $(sqlite3 orphan.db 'SELECT command, end_kind, end_status FROM process')"

# It may come to be recorded through others, of which some are not: a moment without any is not the end. On a machine that is
# busy with others it may be too long once.
for _ in 1 2 3 4 5; do
    rm -f late.*
    run late "(sleep 0.4; p=\$LD_PRELOAD; exec env -u LD_PRELOAD sh -c \"sleep 0.12; exec env LD_PRELOAD=\$p $program --events 5\") & sleep 0.1"
    ends=$(sqlite3 late.db "SELECT end_kind, end_status FROM process WHERE command LIKE '%--events 5' AND command NOT LIKE '%env%'")
    [ "$ends" != 'exit|0' ] || break
done
[ "$ends" = 'exit|0' ] || fail "a child that came late: $(sqlite3 late.db 'SELECT command, end_kind, end_status FROM process')"
exit 0
