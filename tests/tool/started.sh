#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# What a recorded program starts with another LD_PRELOAD: recorded where that was set to something else, left alone where it
# was taken away or recording is off, and named where it uses a device all the same. Programs print what they print without us.
#
#     started.sh RECORD INGEST FOLDER_OF_STARTED OTHER_LIBRARY LIBRARY_FOLDER FOLDER
set -u
record=$1 ingest=$2 programs=$3 other=$4 libraries=$5 folder=$6
export PATH=$programs:$PATH

fail() { echo "FAIL: $*" >&2; exit 1; }
ask() { sqlite3 run.db "$1"; }

rm -rf "$folder" && mkdir -p "$folder/dev" && cd "$folder" || exit 1
: >dev/davinci0

# both WORDS...: runs them without us and with us; what they print is the same. The trace is in run.db, how it was read in $loss.
both() {
    "$@" >plain.out 2>plain.err
    echo "status $?" >>plain.out
    "$record" --force --no-pool-events -o run.zst -- "$@" >with.out 2>with.all
    echo "status $?" >>with.out
    grep -v '^npumem-record: ' with.all >with.err
    cmp plain.out with.out || fail "$*: prints $(diff plain.out with.out)"
    cmp plain.err with.err || fail "$*: complains $(diff plain.err with.err)"
    "$ingest" --force run.zst >answers.txt 2>answers.err
    loss=$?
}

# The child's five allocations, of which four are freed, in a process of its own, behind the parent that made none.
is_recorded() {
    [ "$loss" = 0 ] || fail "$1: npumem-ingest ends with $loss: $(cat answers.txt)"
    [ "$(ask "SELECT allocation_count, free_count FROM heap_total WHERE level = 'driver' AND heap = 'device memory'")" = '5|4' ] ||
        fail "$1: $(ask 'SELECT * FROM heap_total')"
    [ "$(ask "SELECT count(*) FROM process WHERE command LIKE '%started child'")" -ge 1 ] ||
        fail "$1: $(ask 'SELECT command FROM process')"
    [ "$(ask "SELECT count(*) FROM misuse")" = 0 ] || fail "$1: $(ask 'SELECT * FROM misuse')"
}

# One that has the library, does not join and keeps a device open for more than ten seconds: looked at in the end.
"$record" --force --no-pool-events -o long.zst -- sh -c "NPUMEM_SESSION= exec $programs/started child 12500 dev/davinci0" \
    >/dev/null 2>long.err &
long=$!

all="execve execvpe execle fexecve execveat posix_spawn posix_spawnp vfork"
for way in $all execv execvp execl execlp; do
    both started $way "$other"
    is_recorded "$way"
    grep -q "^preloaded $other\$" with.out || fail "$way: $(cat with.out)"
done

# Of an environment that was made anew nothing is left but what it sets.
for way in execve execvpe posix_spawn; do
    both started $way "$other" bare
    is_recorded "$way bare"
done
both started execve keep bare
is_recorded "kept bare"

# As a framework starts its workers beside a memory saver: by the environment of its own process.
if command -v python3 >/dev/null; then
    for way in "subprocess.run(['started', 'child'])" "os.spawnvp(os.P_WAIT, 'started', ['started', 'child'])" \
        "subprocess.run(['started', 'child'], env={'LD_PRELOAD': '$other', 'PATH': os.environ['PATH']})"; do
        both python3 -c "import os, subprocess
os.environ['LD_PRELOAD'] = '$other'
$way"
        is_recorded "python3: $way"
    done
else
    echo "skipped: no python3 here"
fi

# What cannot be started cannot be started with us neither, for the same reason.
both started nowhere "$other"
grep -q 'nowhere: errno 2' with.out || fail "nowhere: $(cat with.out)"
for way in execve execvpe execle execveat posix_spawn posix_spawnp execv execvp execl execlp; do
    both started $way "$other" lost
    grep -Eq "^$way: err(no|or) 2\$" with.out || fail "$way of no program: $(cat with.out)"
done
both started fexecve "$other" lost
grep -q '^fexecve: errno 13$' with.out || fail "fexecve of no program: $(cat with.out)"

# ---- Not put back -------------------------------------------------------------------------------------------------------

# is_left WHAT: no process of that kind is in the recording.
is_left() {
    [ "$(ask "SELECT count(*) FROM heap_total WHERE level = 'driver'")" = 0 ] || fail "$1 was recorded"
}

# Waits until a look of the recorder's has seen it.
waiting="$programs/started child 2000" # some looks, also where they are few

# names WHAT PATTERN: one process used a device unrecorded; the recorder, the answers and the query say who and why.
names() {
    [ "$loss" = 3 ] || fail "$1: npumem-ingest ends with $loss"
    [ "$(ask 'SELECT processes_unjoined, is_complete FROM input')" = '1|0' ] || fail "$1: $(ask 'SELECT * FROM input')"
    [ "$(ask "SELECT count(*) FROM z_unseen WHERE kind = 'unseen process' AND text LIKE 'pid %'")" = 1 ] || fail "$1: $(ask 'SELECT * FROM z_unseen')"
    grep -Eq "^npumem-record: unrecorded: pid [0-9]+, $2\$" with.all || fail "$1: $(cat with.all)"
    grep -q '1 process used a device unrecorded, ' with.all || fail "$1: $(cat with.all)"
    sqlite3 run.db <"$queries/unseen.sql" | grep -Eq "unseen process\|pid [0-9]+, $2\|" || fail "$1: $(ask 'SELECT * FROM z_unseen')"
    tr -s '\n ' ' ' <answers.txt | grep -Eq "not seen, a process: pid [0-9]+, $2" || fail "$1: $(cat answers.txt)"
    is_left "$1"
}
queries=$(dirname "$0")/../../queries

both started execve "$other" off
is_left "NPUMEM=off"
both started execve none
is_left "none"
both started raw "$other"
is_left "a call of its own"

both env -u LD_PRELOAD $waiting
names "taken away" "$waiting: loaded libascendcl\.so[.0-9]*; LD_PRELOAD was taken from its environment"
both env -i PATH="$PATH" $waiting
names "no environment" "$waiting: loaded libascendcl\.so[.0-9]*; LD_PRELOAD was taken from its environment"
both sh -c "NPUMEM=off LD_PRELOAD= $waiting"
[ "$loss" = 0 ] || fail "off: $(cat answers.txt)"
is_left "off"

# A device is enough; and who has neither device nor runtime is not named.
both "$programs/started_static" child 2000 dev/davinci0
names "static" "$programs/started_static child 2000 dev/davinci0: opened /dev/davinci0; it is static"
both sh -c "$programs/started child; $programs/started_static child 1000; :"
grep -q unrecorded: with.all && fail "a static program that does nothing: $(cat with.all)"
is_recorded "beside a static one"

# The library is where the process cannot open it: it is not put back, since the loader would complain.
mkdir own && cp "$libraries"/libnpumem*.so* own/
STARTED_GONE=own NPUMEM_LIBRARY_DIR=$PWD/own "$record" -q --force --no-pool-events -o run.zst -- started execve "$other" \
    >with.out 2>with.err
[ -d own.gone ] || fail "the library is where it was"
grep -v '^npumem-record: ' with.err && fail "the library is gone"
grep -q "^preloaded $other\$" with.out && grep -q 'execve: status 7' with.out || fail "the library is gone: $(cat with.out)"
"$ingest" --quiet --force run.zst
is_left "a library that is gone"

# It has the library and may join yet: the runtime alone says nothing.
both sh -c "NPUMEM_SESSION= exec $waiting"
grep -q unrecorded: with.all && fail "one that may join yet: $(cat with.all)"
is_left "one that may join yet"
wait "$long"
grep -Eq "^npumem-record: unrecorded: pid [0-9]+, $programs/started child 12500 dev/davinci0: opened /dev/davinci0; it loaded the recorder, but NPUMEM_SESSION did not reach it\$" long.err ||
    fail "one that never joins: $(cat long.err)"

# Its word of a secret is not told.
both env -u LD_PRELOAD "$programs/started" child 700 --token=hush-hush-hush
grep -qF 'hush' with.all answers.txt && fail "a secret: $(cat with.all)"
zstd -dc run.zst | grep -qaF 'hush' && fail "a secret stands in the trace"
exit 0
