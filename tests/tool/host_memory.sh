#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# The last samples of a process's host memory: host_memory.c prints what the kernel says of it just before it ends, and the
# last row of each kind in memory_sample must say the same, to a mebibyte.
#
#     host_memory.sh FOLDER_OF_THE_PROGRAMS HOST_MEMORY FOLDER
set -eu
bin=$1 program=$2 folder=$3

rm -rf "$folder"
mkdir -p "$folder"
cd "$folder"

fail() { echo "FAIL: $*" >&2; exit 1; }

# record NAME END [OPTION...]: the program's figures into NAME.txt; what the database says last of each kind into NAME.got.
record() {
    local name=$1 end=$2
    shift 2
    "$bin/npumem-record" -q -o "$name.zst" "$@" -- "$program" "$end" >"$name.txt" 2>"$name.err" || true
    "$bin/npumem-ingest" --quiet "$name.zst"
    sqlite3 "$name.db" "SELECT k.name, s.used_bytes FROM memory_sample AS s JOIN z_memory_kind AS k USING (kind)
                        WHERE s.seq = (SELECT max(seq) FROM memory_sample AS l WHERE l.kind = s.kind AND l.process_id = 1)
                        AND s.kind BETWEEN 100 AND 104 ORDER BY s.kind" >"$name.got"
}

# near NAME KIND...: these kinds are as the program said.
near() {
    local name=$1 kind want got
    shift
    for kind; do
        want=$(sed -n "s/^host $kind|//p" "$name.txt")
        got=$(sed -n "s/^host $kind|//p" "$name.got")
        [ -n "$want" ] && [ -n "$got" ] || fail "$name: host $kind is '$want' for the program, '$got' in the database"
        [ $((want > got ? want - got : got - want)) -le 1048576 ] || fail "$name: host $kind is $got, not $want"
    done
}

# The first look is the only other one: none comes by itself within the hour.
for end in exit leave; do
    record $end $end --sample-interval 3600
    near $end resident anonymous shared stack peak
    got=$(sqlite3 $end.db "SELECT count(*), max(s.seq) < (SELECT count(*) FROM memory_sample) + 1000,
                           min(s.ns) = max(s.ns), max(s.ns) = (SELECT end_ns FROM process WHERE process_id = 1),
                           min(s.total_bytes) = max(s.total_bytes) AND min(s.total_bytes) > 0
                           FROM memory_sample AS s WHERE s.seq > (SELECT min(seq) + 4 FROM memory_sample WHERE kind >= 100)
                           AND kind BETWEEN 100 AND 104")
    [ "$got" = '5|1|1|1|1' ] || fail "$end: the samples at the end are $got"
done

# A process that was killed says nothing; who waits for it learns what it had at most.
record kill kill --sample-interval 3600
near kill peak
[ "$(sqlite3 kill.db 'SELECT count(*) FROM memory_sample WHERE kind <= 104')" = 6 ] || fail "a killed process has more than its peak"
# With recorded children the kernel's figure may be theirs: nothing is said.
record child child --sample-interval 3600
[ "$(sqlite3 child.db 'SELECT count(*) FROM memory_sample WHERE process_id = 1 AND kind <= 104')" = 5 ] || fail "a figure of children's"
# After an exec it is another program's memory.
record exec exec --sample-interval 3600
[ "$(sqlite3 exec.db 'SELECT count(*) FROM memory_sample WHERE process_id = 1 AND kind <= 104')" = 5 ] || fail "a figure after exec"
# The recording ends first, long after the memory has moved.
record wait wait --sample-interval 3600 --duration 4
near wait resident anonymous shared stack peak
# Looks in between show the peak too, for those that nobody waits for.
record often kill --sample-interval 0.01
near often peak
# Switched off.
record never exit --sample-interval 0
[ ! -s never.got ] || fail "samples although they are switched off"
echo "host memory at the end: as the kernel says"
