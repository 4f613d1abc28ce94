#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# stack.sh BIN_FOLDER TEXT2TRACE TRACE.txt SCRATCH: what npumem-stack prints of each word, the site of a stack, colours, and
# stacks of strange databases, which have no end.
set -u
bin=$1 text2trace=$2 text=$3 scratch=$4 failures=0
stack=$bin/npumem-stack

fail() {
    echo "$*" >&2
    failures=$((failures + 1))
}

# expect STATUS ARG... <<WANTED: the exit status and all that is printed.
expect() {
    local wanted=$1 got
    shift
    "$stack" "$@" >out 2>&1
    got=$?
    [ $got = "$wanted" ] || fail "$*: ends with $got, not $wanted"
    diff - out >&2 || fail "$*: prints other lines (< wanted, > has)"
}

# load NAME: NAME.db of NAME.txt.
load() {
    "$text2trace" "$1.txt" "$1.zst" && "$bin/npumem-ingest" --quiet "$1.zst" || fail "$1 cannot be loaded"
}

rm -rf "$scratch"
mkdir -p "$scratch"
cd "$scratch" || exit 1
cp "$text" run.txt
load run

leak='1.5 KiB in 3 allocations, leaked (growing); stack 2, rank 0, NPU 2, caching pool
  > data.py:41 collate
    train.py:8 main'
expect 0 run.db leak <<<"$leak"
expect 0 run.db <<<"$leak"
expect 0 run.db leak --rank 0 <<<"$leak"
expect 1 run.db leak --rank 1 <<<'nothing leaked'
expect 0 run.db peak --top 2 <<'END'
8.0 KiB in 1 allocation, live at the peak; stack 1, rank 0, NPU 2, NPU memory
  > model.py:10 weights
    train.py:5 main

4.0 KiB in 1 allocation, live at the peak; stack 3, rank 0, NPU 2, NPU memory
2.5 KiB in 1 allocation, live at the peak; stack 3, rank 0, NPU 2, caching pool
    functional.py:20 linear
  > model.py:88 forward
    train.py:9 main

and 3 more (--top)
END
expect 0 run.db oom --top 1 <<'END'
8.8 KiB, asked for: out of memory, fatal; stack 3, rank 0, NPU 2, caching pool
2.5 KiB in 1 allocation, held when it failed; stack 3, rank 0, NPU 2, caching pool
    functional.py:20 linear
  > model.py:88 forward
    train.py:9 main

and 2 more (--top)
END
expect 0 run.db 2 <<'END'
1.5 KiB in 3 allocations, allocated; stack 2, rank 0, NPU 2, caching pool
1.5 KiB in 3 allocations, leaked (growing); stack 2, rank 0, NPU 2, caching pool
1.5 KiB in 3 allocations, live at the peak; stack 2, rank 0, NPU 2, caching pool
  > data.py:41 collate
    train.py:8 main
END
expect 0 run.db pin <<'END'
100 B in 1 allocation, allocated; stack 4, rank 0, pinned memory
    libtorch_npu.so+0x40
  > train.py:12 pin
END
expect 1 run.db nowhere <<'END'
nothing was allocated at a site of that name
there are leak, peak, reserve, oom, the number of a stack, or a part of a site's name, as model.py:10 weights; model.py:88 forward; data.py:41 collate
END
expect 1 run.db 77 <<<'there is no stack of that number'
expect 0 -q run.db leak </dev/null
expect 1 --quiet run.db 77 </dev/null
expect 2 run.db leak peak <<<'npumem-stack: one word behind the database: leak, peak, reserve, oom, STACK_ID or SITE (--help says more)'
expect 2 run.db leak --color red <<<'npumem-stack: --color red: must be auto, always or never (--help says more)'
expect 4 run.txt <<<'npumem-stack: run.txt: not a database of npumem-ingest: file is not a database'

# Nothing failed and nothing leaked: the peak. What has no stack says so.
cat >bare.txt <<'END'
process 1 pid=7
device 1 process=1 ordinal=1 kind=npu
heap 1 process=1 device=1 level=driver basis=block name=memory
thread 1 process=1 tid=7
@0 alloc heap=1 address=0x1000 block=1024 thread=1
END
load bare
expect 1 bare.db oom <<<'no request for memory failed'
expect 0 bare.db <<<'1.0 KiB in 1 allocation, live at the peak; no stack was recorded, pid 7, NPU 1, memory'
# What the device is called, here as in exports, is what its kind is; where that is not known it is a device.
for kind in gpu:GPU device:device; do
    name=${kind%:*} word=${kind#*:}
    sed "s/kind=npu/kind=$name/" bare.txt >"$name.txt"
    load "$name"
    expect 0 "$name.db" <<<"1.0 KiB in 1 allocation, live at the peak; no stack was recorded, pid 7, $word 1, memory"
    "$bin/npumem-export" folded "$name.db" -o "$name.folded" && grep -q "pid 7, $word 1, memory;" "$name.folded" ||
        fail "folded: $(cat "$name.folded")"
done

# What lived before the recording is live at the peak: by its stack, or without one.
cat >older.txt <<'END'
process 1 pid=7
device 1 process=1 ordinal=1 kind=npu
heap 1 process=1 device=1 level=driver basis=block name=memory
thread 1 process=1 tid=7
stack 1: /src/model.py:10:weights
stack 2: /src/model.py:20:gone
- alloc baseline heap=1 address=0x1000 block=2048 stack=1
- alloc baseline heap=1 address=0x2000 block=1024
- alloc baseline heap=1 address=0x3000 block=512 stack=2
@0 free heap=1 address=0x3000 thread=1
@1 alloc heap=1 address=0x4000 block=1024 thread=1 stack=1
END
load older
expect 0 older.db peak <<'END'
3.0 KiB in 2 allocations, live at the peak; stack 1, pid 7, NPU 1, memory
  > model.py:10 weights

1.0 KiB in 1 allocation, live at the peak, from before the recording; no stack was recorded, pid 7, NPU 1, memory
END
expect 0 older.db model.py <<'END'
2.0 KiB in 1 allocation, from before the recording; stack 1, pid 7, NPU 1, memory
1.0 KiB in 1 allocation, allocated; stack 1, pid 7, NPU 1, memory
  > model.py:10 weights

512 B in 1 allocation, from before the recording; stack 2, pid 7, NPU 1, memory
  > model.py:20 gone
END
expect 0 older.db 2 <<'END'
512 B in 1 allocation, from before the recording; stack 2, pid 7, NPU 1, memory
  > model.py:20 gone
END

# What was live when the pool held most, which was long after its peak.
cp "$(dirname "$text")/../device_part_of_reserve/trace.txt" most.txt
load most
expect 0 most.db reserve <<<'9.0 MiB in 2 allocations, live when the pool held most; no stack was recorded, rank 0, NPU 0, pool'

# Plumbing is dim and the site bold, where that is asked for; a pipe has no colours by itself.
"$stack" run.db --color always pin | tail -n 2 >out
printf '    \033[2mlibtorch_npu.so+0x40\033[0m\n  > \033[1mtrain.py:12 pin\033[0m\n' | cmp - out || fail "colours are others"
if command -v script >/dev/null; then
    for setting in '' NO_COLOR=1 TERM=dumb; do
        wanted=1
        [ -z "$setting" ] || wanted=0
        # shellcheck disable=SC2086 # a setting, or none
        got=$(TERM=xterm script -qc "env -u NO_COLOR $setting $stack run.db pin" /dev/null </dev/null | grep -c $'\e\\[2m')
        [ "$got" = $wanted ] || fail "on a terminal with '$setting' $got lines are dim"
    done
else
    echo "skipped: no script here: nothing is printed on a terminal"
fi

# A site that is no frame of its stack stands before it; a cut stack says so; names cannot move the cursor.
cp run.db odd.db
sqlite3 odd.db "UPDATE stack SET site_frame_id = (SELECT frame_id FROM frame WHERE label = 'train.py:12 pin'), is_cut = 1
                WHERE stack_id = 2; UPDATE frame SET label = 'a' || char(27) || 'b' WHERE label = 'train.py:8 main'"
"$stack" odd.db 2 | tail -n 4 >out
printf '  > train.py:12 pin\n    data.py:41 collate\n    a?b\n    (cut: callers are missing)\n' | diff - out >&2 ||
    fail "an odd stack is other"

# Stacks that lead back into themselves, to nowhere, or from no number.
cp run.db loop.db
sqlite3 loop.db 'UPDATE stack SET parent_id = stack_id WHERE stack_id = 1; UPDATE stack SET parent_id = 999 WHERE stack_id = 2;
                 UPDATE stack SET parent_id = 4, frame_id = 999 WHERE stack_id = 3; UPDATE stack SET parent_id = 3 WHERE stack_id = 4'
for word in 1 2 3 4 peak leak oom pin; do
    timeout 60 "$stack" loop.db $word >out 2>err
    [ $? = 0 ] || fail "$word of a strange database: $(cat err)"
    [ "$(grep -c '^  [ >] ' out)" -le $((5 * 4098)) ] || fail "$word of a strange database has no end"
done
"$stack" loop.db 1 | tail -n 1 | grep -qxF '    ...' || fail "a stack without an end does not say so"
"$stack" loop.db 3 | grep -qx '    ??' || fail "a frame that is not there is not shown as one"
[ "$(timeout 60 sqlite3 loop.db 'SELECT stack_id, depth, length(text) > 0 FROM stack_text WHERE stack_id < 5' | tr '\n' ' ')" = \
    '1|4096|1 2|1|1 3|4096|1 4|4096|1 ' ] || fail "view stack_text has no end, or another"

# An answer that could not be written is none.
if [ -e /dev/full ]; then
    "$stack" run.db peak >/dev/full 2>err
    [ $? = 4 ] && grep -q '^npumem-stack: .*: cannot write: No space left on device$' err || fail "a full disk: $(cat err)"
fi

# Wrong usage; and no limit to the rows.
expect 2 <<<'npumem-stack: no database (--help says more)'
expect 2 '' <<<'npumem-stack: no database (--help says more)'
expect 2 run.db '' <<<'npumem-stack: the site has no name (--help says more)'
"$stack" run.db peak --top 100 >out 2>&1
expect 0 run.db peak --top 0 <<<"$(cat out)"
[ $failures = 0 ] || exit 1
