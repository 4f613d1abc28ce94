#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# export.sh BIN_FOLDER TEXT2TRACE TRACE.txt EXPORT.py SCRATCH: the formats of npumem-export against the rows of databases (by
# export.py), and against go's pprof and protoc where they are here; hostile names, databases with nothing in them, and where
# a file may be written.
set -u
bin=$1 text2trace=$2 text=$3 checker=$4 scratch=$5 failures=0
export=$bin/npumem-export
has_python=1
command -v python3 >/dev/null || { has_python=0 && echo "skipped: no python3 here: exports are not compared with the rows"; }

fail() {
    echo "$*" >&2
    failures=$((failures + 1))
}

# expect STATUS ARG... <<WANTED: the exit status and all that is printed.
expect() {
    local wanted=$1 got
    shift
    timeout 60 "$export" "$@" >out 2>&1
    got=$?
    [ $got = "$wanted" ] || fail "$*: ends with $got, not $wanted"
    diff - out >&2 || fail "$*: prints other lines (< wanted, > has)"
}

# load NAME [OPTION...]: NAME.db of NAME.txt.
load() {
    local name=$1
    shift
    "$text2trace" "$name.txt" "$name.zst" && "$bin/npumem-ingest" --quiet "$@" "$name.zst" || fail "$name cannot be loaded"
}

check() {
    [ $has_python = 1 ] || return 0
    python3 "$checker" "$export" "$@" || fail "$1 is exported wrong"
}

rm -rf "$scratch"
mkdir -p "$scratch"
cd "$scratch" || exit 1
cp "$text" run.txt
load run

# Worked out by hand from the trace.
expect 0 folded run.db -o - <<'END'
rank 0, NPU 2, NPU memory;train.py:5 main;model.py:10 weights 8192
rank 0, NPU 2, NPU memory;train.py:9 main;model.py:88 forward 4096
rank 0, NPU 2, caching pool;train.py:5 main;model.py:10 weights 2048
rank 0, NPU 2, caching pool;train.py:8 main;data.py:41 collate 1536
rank 0, NPU 2, caching pool;train.py:9 main;model.py:88 forward 2560
rank 0, pinned memory;train.py:12 pin 100
END
expect 0 folded run.db -o - --at 'after two' --raw-stacks <<'END'
rank 0, NPU 2, NPU memory;train.py:5 main;model.py:10 weights 8192
rank 0, NPU 2, caching pool;train.py:5 main;model.py:10 weights 2048
rank 0, NPU 2, caching pool;train.py:8 main;data.py:41 collate 1024
rank 0, NPU 2, caching pool;train.py:9 main;model.py:88 forward;functional.py:20 linear 1024
END
expect 0 folded run.db -o - --at 10ns <<'END'
rank 0, NPU 2, NPU memory;train.py:5 main;model.py:10 weights 8192
rank 0, NPU 2, caching pool;train.py:5 main;model.py:10 weights 2048
END
"$export" folded run.db -o - --at 10 | diff out - >&2 || fail "10 are no nanoseconds"
expect 0 folded run.db -o - --at begin </dev/null
"$export" folded run.db -o - --at peak >peak && "$export" folded run.db -o - --at reserve | diff peak - >&2 || fail "the pool held most at its peak"
check run.db

# Files.
expect 0 folded run.db </dev/null
expect 0 pprof run.db </dev/null
"$export" folded run.db -o - | cmp - run.folded || fail "run.folded is another"
"$export" pprof run.db -o - | cmp - run.pb || fail "run.pb is another"
expect 1 folded run.db <<<'npumem-export: run.folded: is already there (--force replaces it)'
echo old >run.folded
expect 0 folded run.db --force </dev/null
grep -q '^rank 0' run.folded || fail "--force replaces nothing"
expect 2 folded run.db --force -o run.db <<<'npumem-export: run.db: is the input itself'
expect 1 folded run.db -o . <<<'npumem-export: .: is a folder, not a file'
[ "$(find . -name '*.tmp')" = '' ] || fail "something is left behind"
"$export" pprof run.db -o - >/dev/full 2>out && fail "a full disk is none"
grep -qx 'npumem-export: standard output: cannot write: No space left on device' out || fail "a full disk: $(cat out)"

# What is not to be had.
expect 2 folded run.db -o - --at x <<'END'
npumem-export: run.db: has no moment x: peak, reserve, end, seq:N, a time as 10s, or a mark: after two
END
expect 2 <<<'npumem-export: no format: pprof, folded, perfetto, snapshot, svg or parquet (--help says more)'
expect 2 folded <<<'npumem-export: no database (--help says more)'
expect 2 folded '' <<<'npumem-export: no database (--help says more)'
expect 2 folded - <<<'npumem-export: what comes from standard input has no name: give -o (--help says more)'
expect 2 folded run.db --job-name x <<<'npumem-export: --job-name: goes with parquet alone (--help says more)'
expect 2 parquet run.db <<<'npumem-export: parquet is a folder of files: give -o DIR (--help says more)'
expect 2 parquet run.db -o folder --job-name '' <<<'npumem-export: the name of a job or run is empty (--help says more)'
expect 2 svgz run.db <<<'npumem-export: svgz: no such format: pprof, folded, perfetto, snapshot, svg or parquet (--help says more)'
expect 2 folded run.db run.db <<<'npumem-export: one database at a time (--help says more)'
expect 1 folded none.db <<<'npumem-export: none.db: cannot open: no such file'
[ ! -e none.folded ] || fail "something is left of none.db"

# Databases that tell of less.
for detail in live none; do
    cp run.txt $detail.txt
    load $detail --detail $detail
    expect 2 folded $detail.db -o - --at seq:3 <<<"npumem-export: $detail.db: $(
        [ $detail = none ] && echo 'has no rows of allocations (--detail none): it tells of --at peak alone' ||
            echo 'has rows of peaks, marks and the end alone (--detail live): it does not tell of --at'
    )"
done
"$export" folded run.db -o - --at end >out
"$export" folded live.db -o - --at end | diff out - >&2 || fail "--detail live has another end"
check none.db peak
"$export" folded none.db -o - | diff run.folded - >&2 || fail "--detail none has another peak"

# Nothing in it; no stacks; several ranks, of which two have the same of all names.
echo 'process 1 pid=7' >empty.txt
load empty
expect 0 folded empty.db -o - </dev/null
check empty.db
cat >bare.txt <<'END'
process 1 pid=7
device 1 process=1 ordinal=1 kind=npu
heap 1 process=1 device=1 level=driver basis=block name=memory
thread 1 process=1 tid=7
@0 alloc heap=1 address=0x1000 block=1024 thread=1
END
load bare
expect 0 folded bare.db -o - <<<'pid 7, NPU 1, memory;(no stack) 1024'
check bare.db
for rank in 1 2 3; do
    sed "s/rank=0 local_rank=0/rank=$((rank / 2)) local_rank=0/; s/host=h1/host=h$rank/" run.txt >rank$rank.txt
    "$text2trace" rank$rank.txt rank$rank.zst || fail "rank$rank has no trace"
done
"$bin/npumem-ingest" --quiet -o ranks.db rank1.zst rank2.zst rank3.zst || fail "ranks cannot be loaded"
check ranks.db

# A trace is read by npumem-ingest, which lies beside it.
mkdir alone && cp "$export" alone/
alone/npumem-export folded run.zst -o - >out 2>err
[ $? = 1 ] && [ "$(cat err)" = 'npumem-export: run.zst: is no database, and npumem-ingest is not beside this program' ] ||
    fail "without npumem-ingest: $(cat err)"

# A block of which a part went to another, and driver memory in which workspaces lie.
for case in graph_memory operation_memory; do
    cp "${text%/*/*}/$case/trace.txt" "$case.txt"
    load $case
    check $case.db
done
"$export" folded ranks.db -o - | grep -qx 'rank 1, pinned memory, h3, pid 100, heap 9;train.py:12 pin 100' || fail "names of heaps are not apart"

# Names that would be markup, lines or frames elsewhere; a site that is no frame; a cut stack; plumbing alone.
cp run.db odd.db
sqlite3 odd.db "UPDATE stack SET site_frame_id = (SELECT frame_id FROM frame WHERE label = 'train.py:12 pin'), is_cut = 1
                WHERE stack_id = 2; UPDATE frame SET label = 'a;b' || char(10) || 'c' || char(27) || '</script>', function = char(10)
                WHERE label = 'train.py:8 main'; UPDATE heap SET name = 'x;y' || char(10, 8238) || 'z' WHERE heap_id = 3;
                UPDATE frame SET is_plumbing = 1 WHERE label IN ('model.py:10 weights', 'train.py:5 main')"
"$export" folded odd.db -o - >out || fail "an odd database is not exported"
grep -qx 'rank 0, NPU 2, caching pool;(callers are missing);a,b?c?</script>;data.py:41 collate;train.py:12 pin 1536' out &&
    grep -qx 'rank 0, x,y??z;train.py:12 pin 100' out && grep -qx 'rank 0, NPU 2, caching pool;model.py:10 weights 2048' out ||
    fail "odd names are written as $(cat out)"

# Stacks that lead back into themselves, to nowhere, or from no number.
cp run.db loop.db
sqlite3 loop.db 'UPDATE stack SET parent_id = stack_id WHERE stack_id = 1; UPDATE stack SET parent_id = 999 WHERE stack_id = 2;
                 UPDATE stack SET parent_id = 4, frame_id = 999 WHERE stack_id = 3; UPDATE stack SET parent_id = 3 WHERE stack_id = 4;
                 UPDATE stack SET site_frame_id = 4 WHERE stack_id = 1'
for format in folded pprof; do
    for raw in '' --raw-stacks; do
        # shellcheck disable=SC2086 # an option, or none
        timeout 60 "$export" $format loop.db -o - $raw >out 2>err || fail "$format $raw of a strange database: $(cat err)"
        [ "$(wc -c <out)" -lt 500000 ] || fail "$format $raw of a strange database has no end"
    done
done
"$export" folded loop.db -o - --raw-stacks | grep -q ';(callers are missing);.*;?? ' || fail "a strange stack does not say so"

# The tools of others.
if command -v protoc >/dev/null; then
    protos=$(dirname "$checker")
    protoc --decode=Profile --proto_path="$protos" "$protos/profile.proto" <run.pb >out || fail "protoc cannot read run.pb"
    [ "$(grep -c '^sample {' out)" = 9 ] && grep -qx 'string_table: "peak_space"' out || fail "protoc reads another profile"
    ! grep -q '^ *[0-9]' out || fail "fields that profile.proto does not have: $(grep '^ *[0-9]' out)"
else
    echo "skipped: no protoc here: what it reads is not tested"
fi
# pprof_says TYPE SUM OPTION...: what it prints of this type of values, whose sum is asked of plain sqlite3.
pprof_says() {
    local type=$1 wanted
    wanted=$(sqlite3 run.db "SELECT $2")
    shift 2
    HOME=$PWD go tool pprof -top -unit=B "-sample_index=$type" "$@" run.pb >out 2>err || fail "pprof: $(cat err)"
    [ "$(sed -n 's/^Showing nodes.* of \(.*\)B total$/\1/p' out)" = "$wanted" ] || fail "pprof has another sum of $type than $wanted: $(cat out)"
}
if command -v go >/dev/null && go tool -n pprof >/dev/null 2>&1; then
    HOME=$PWD go tool pprof -top -sample_index=peak_space run.pb >out 2>err || fail "pprof: $(cat err)"
    grep -q '^ *10kB .* model.py:weights$' out && grep -qx 'File: train' out || fail "pprof says $(cat out)"
    pprof_says alloc_objects 'sum(allocation_count) FROM heap_total'
    pprof_says alloc_space 'sum(allocated_bytes) FROM heap_total'
    pprof_says inuse_objects 'sum(live_count) FROM peak'
    pprof_says inuse_space 'sum(peak_bytes) FROM peak'
    pprof_says peak_space 'sum(peak_bytes) FROM peak'
    pprof_says leak_space 'sum(leak_bytes) FROM leak_by_site'
    pprof_says leak_space "leak_bytes FROM leak_by_site WHERE heap = 'caching pool'" -tagfocus=heap=caching
    grep -q '1536B .* data.py:collate$' out || fail "pprof has another leak: $(cat out)"
    "$export" pprof run.db --at 'after two' -o two.pb || fail "no profile of a mark"
    HOME=$PWD go tool pprof -top -unit=B -diff_base two.pb run.pb 2>/dev/null >out
    grep -q '5632B .* model.py:forward$' out && grep -q ' 512B .* data.py:collate$' out || fail "pprof has another difference: $(cat out)"
else
    echo "skipped: no go tool pprof here: what it says is not tested"
fi

# The same rows the other way round: what happened is told in its order wherever it lies, by one pass over rows that lie in it or by
# sorting; and of some that lie in it where more wait for their end than are kept, by both.
reverse_rows() {
    cp "$1" reversed.db
    sqlite3 reversed.db "CREATE TEMP TABLE last AS SELECT max(allocation_id) + 1 AS id FROM allocation;
        UPDATE z_allocation SET allocation_id = -allocation_id;
        UPDATE z_allocation SET allocation_id = (SELECT id FROM last) + allocation_id,
            segment_id = (SELECT id FROM last) - segment_id, split_from_id = (SELECT id FROM last) - split_from_id"
    "$export" snapshot "$1" -o - >forth.pickle && "$export" snapshot reversed.db -o - | cmp forth.pickle - ||
        fail "$1: a snapshot depends on where rows lie"
}
reverse_rows run.db
cp run.db many.db
sqlite3 many.db "WITH RECURSIVE number (i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM number WHERE i < 600000)
    INSERT INTO z_allocation (allocation_id, heap_id, address, size_bytes, stream_number, alloc_seq, alloc_ns, free_requested_seq,
        free_seq, lived_ns, end_kind, is_segment)
    SELECT 1000 + i, (SELECT heap_id FROM heap WHERE level = 2), 4096 * (i + 1), 512, 99, 1000 + i, 1000 + i,
        1300000 - i * 7 % 600001 + i % 3, 2000000 - i, 1999000 - 2 * i, 1, 0
    FROM number;
    INSERT INTO z_stream_number VALUES (99, NULL, 1)"
reverse_rows many.db
rm -f many.db reversed.db forth.pickle

# Snapshots, where samples are.
for sample in torch/one_forward_12_layers.pickle torch_npu/snapshot_expandable.pkl; do
    [ -n "${NPUMEM_SAMPLES_DIR:-}" ] && [ -f "$NPUMEM_SAMPLES_DIR/$sample" ] || continue
    "$bin/npumem-ingest" --quiet --force -o sample.db "$NPUMEM_SAMPLES_DIR/$sample" || fail "$sample cannot be loaded"
    check sample.db peak_and_end
    reverse_rows sample.db
done
[ $failures = 0 ] || exit 1
