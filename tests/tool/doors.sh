#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# doors.sh BUILD PROGRAMS SOURCE SCRATCH: the doors of README.md, each walked as it is written by somebody who has installed
# npumem and knows its env.sh alone; then the blocks of docs/session.md. Every line of their blocks runs in the shell, and
# ends and prints as is known here beforehand: of train.py (doors/train.py) it is known what it leaks and where it dies.
set -u
build=$1 programs=$2 source=$3 scratch=$4
command -v sqlite3 >/dev/null || { echo "skipped: no sqlite3 here" && exit 77; }
command -v pkg-config >/dev/null || { echo "skipped: no pkg-config here" && exit 77; }
status=0

fail() {
    echo "FAIL: $*" >&2
    status=1
}

rm -rf "$scratch" && mkdir -p "$scratch/bin" && cd "$scratch" || exit 1
scratch=$PWD
cmake --install "$build" --prefix "$scratch/first" >install.log 2>&1 || { cat install.log && exit 1; }
mv first npumem
examples=$(find npumem -path '*/examples/own_pool.c' -printf '%h\n')
documents=${examples%/examples}
[ -s "$documents/README.md" ] || fail "README is not installed beside the examples"
# pyenv's python3 is a shell script that starts many programs.
python=$(python3 -c 'import sys; print(sys.executable)' 2>/dev/null) && ln -s "$python" bin/python3 || { echo "skipped: no python3 here" && exit 77; }

# block_of FILE HEADING: the block of commands behind that heading.
block_of() {
    awk -v heading="$2" '/^##+ / { at = $0 == heading } /^```/ { inside = at && $0 == "```sh"; next } inside' "$1"
}

# as_user COMMAND: in a shell that has read env.sh, with a small device. Its words are in `said`, its status is its own.
as_user() {
    env -i HOME="$HOME" PATH="$scratch/bin:/usr/local/bin:/usr/bin:/bin" TRAIN_LIBRARY="$programs/libtorch_like.so" \
        TRAIN_KEPT="${kept:-0}" TRAIN_STEPS="${steps:-20}" NPUMEM_CANN_CAPACITY_BYTES="${capacity:-96M}" \
        bash -c ". $scratch/npumem/share/npumem/env.sh; $1" >said 2>&1 </dev/null
}

# walk FILE HEADING: each line of the block against the next line of what is expected, which is read from standard input:
# a status, a blank, and an extended regular expression that something said must match (-: nothing is said).
walk() {
    local command want pattern got count=0
    mapfile -t commands < <(block_of "$1" "$2")
    while read -r want pattern; do
        command=${commands[count]:-}
        count=$((count + 1))
        [ -n "$command" ] || { fail "$2 has less than $count lines" && return; }
        as_user "$command"
        got=$?
        [ "$got" = "$want" ] || fail "$2: '$command' ends with $got, not $want: $(cat said)"
        if [ "$pattern" = - ]; then
            [ ! -s said ] || fail "$2: '$command' says: $(cat said)"
            continue
        fi
        grep -qE -- "$pattern" said || fail "$2: '$command' does not say '$pattern' but: $(cat said)"
    done
    [ "$count" = "${#commands[@]}" ] || fail "$2 has ${#commands[@]} lines, of which $count were walked"
}

enter() {
    mkdir "$scratch/$1" && cd "$scratch/$1" || exit 1
    cp "$source/tests/tool/doors/train.py" .
}

# It forgets 3,000,000 bytes a step, and dies when 96 MiB are full.
enter died
kept=3000000 steps=100
walk "$scratch/$documents/README.md" '### My job died' <<'END_OF_DOOR'
1 error code is 207001
0 ptaCaching
0 train.py:[0-9]+ collate
0 train.py:[0-9]+ collate
1 no setting is better than what was recorded
END_OF_DOOR
line=$(grep -n 'torch_like_alloc(KEPT_BYTES)' train.py | cut -d: -f1)
[ "$(sqlite3 run.db 'SELECT site FROM leak_by_site')" = "train.py:$line collate" ] || fail "the leak is not in line $line alone"
[ "$(sqlite3 run.db 'SELECT count(*) FROM out_of_memory WHERE verdict = '"'leak'")" = 1 ] ||
    fail "the cause is $(sqlite3 run.db 'SELECT * FROM out_of_memory')"

enter pool
cp "$scratch/$examples"/* .
walk "$scratch/$documents/README.md" '### I write a pool' <<'END_OF_DOOR'
0 -
0 hits [0-9]+
0 pool\.db
0 hit_rate = 0\.[0-9]+
0 my pool
END_OF_DOOR
[ "$(sqlite3 pool.db "SELECT allocation_count || ' ' || hit_count FROM pool_hit_rate WHERE bucket = 'all' AND heap = 'my pool'")" = \
    "$(./own_pool | sed -n 's/^requests //p; s/^hits //p' | paste -sd' ')" ] || fail "the pool counts otherwise than the view"

# Last week's run leaked nothing, tonight's forgets 8 MiB a step: its peak is 160 MiB more than last week's.
enter gates
steps=20 kept=0 capacity=1G
as_user 'npumem record -q -o last-week.zst -- python3 train.py && npumem ingest -q last-week.zst' || fail "last week: $(cat said)"
kept=8388608
walk "$scratch/$documents/README.md" '### I run gates' <<'END_OF_DOOR'
0 0 dropped|nothing lost
0 leaks +[0-9]+ allocations|LEAK
1 FAIL +no-leak .*collate
1 FAIL +baseline
1 collate
END_OF_DOOR
# The same gates let last week's run pass.
cp last-week.db good.db
as_user 'npumem check good.db --max-peak 60GiB --max-fragmentation 100% --no-leak --no-oom --baseline last-week.db:+5%' ||
    fail "a good run does not pass: $(cat said)"
walk "$source/docs/session.md" '## Gates' <<'END_OF_DOOR'
1 FAIL +no-growth
1 collate
0 device
END_OF_DOOR

cd "$scratch/gates" && cp tonight.db run.db && cp tonight.zst run.zst || exit 1
walk "$source/docs/session.md" '## Stacks, moments, a run that goes on' <<'END_OF_DOOR'
0 ptaCaching
0 collate
0 ptaCaching
1 collate
0 collate
END_OF_DOOR

for rank in 0 1; do
    as_user "RANK=$rank WORLD_SIZE=2 npumem record -q -o rank$rank.zst -- python3 train.py" || fail "rank $rank: $(cat said)"
done
mkdir shared
block_of "$source/docs/session.md" '## More than one process' >blocks
walk <(printf '## Ranks\n```sh\n%s\n```\n' "$(sed "s|/shared/|$PWD/shared/|" blocks)") '## Ranks' <<'END_OF_DOOR'
0 job.db
0 +1 +[0-9]+ +device memory +[0-9]+
0 -
END_OF_DOOR
walk "$source/docs/session.md" '## Long jobs' <<'END_OF_DOOR'
0 0 dropped|nothing lost
0 collate
END_OF_DOOR
exit $status
