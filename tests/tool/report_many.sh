#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# report_many.sh BIN_FOLDER TEXT2TRACE PAGE_TABLES.py SCRATCH: pages of several ranks, of two runs beside each other, and of more blocks than
# a page has room for. What the tables of a page say is compared with what plain sqlite3 says of the databases.
set -u
bin=$1 text2trace=$2 tables=$3 scratch=$4 failures=0
report=$bin/npumem-report

fail() {
    echo "$*" >&2
    failures=$((failures + 1))
}

# expect STATUS ARG... <<WANTED: the exit status and all that is printed.
expect() {
    local wanted=$1 got
    shift
    timeout 250 "$report" "$@" >out 2>&1
    got=$?
    [ $got = "$wanted" ] || fail "$*: ends with $got, not $wanted"
    diff - out >&2 || fail "$*: prints other lines (< wanted, > has)"
}

# table PAGE NAME COLUMN...
table() {
    python3 "$tables" "$@"
}

# same WHAT LEFT RIGHT: both are the same text, and not empty.
same() {
    [ -n "$2" ] || fail "$1: nothing to compare"
    [ "$2" = "$3" ] || fail "$1 (< page, > SQL): $(diff <(echo "$2") <(echo "$3"))"
}

rm -rf "$scratch"
mkdir -p "$scratch"
cd "$scratch" || exit 1

# make_rank RANK PEAK_BLOCKS [leak|dies]: 12 steps of blocks of 1,024 bytes; with all of its blocks it peaks in step 6.
make_rank() {
    local rank=$1 blocks=$2 at=0 step i size=$((262144 + 1024 * $2))
    {
        echo "process 1 pid=$((100 + rank)) host=h$((rank / 8)) rank=$rank local_rank=$((rank % 8)) world_size=64 run_mode=1 begin=0 command=\"train\""
        echo "device 1 process=1 ordinal=$((rank % 8)) physical=$((rank % 8)) kind=npu name=Ascend910B capacity=1048576"
        echo 'heap 1 process=1 device=1 level=driver basis=block name="NPU memory"'
        echo 'heap 2 process=1 device=1 level=pool basis=block name="caching pool" small=100 large=1000'
        echo "thread 1 process=1 tid=$((100 + rank)) name=main"
        echo 'stack 1: /src/model.py:10:weights < /src/train.py:5:main'
        echo 'stack 2: /src/model.py:88:forward < /src/train.py:9:main'
        echo 'stack 3: /src/data.py:41:collate < /src/train.py:8:main'
        echo "@$((at += 10)) alloc heap=1 address=0x100000 requested=$size block=$size thread=1 stack=1"
        for ((step = 1; step <= 12; step++)); do
            echo "@$((at += 10)) step number=$step thread=1"
            for ((i = 0; i < (step == 6 ? blocks : 4); i++)); do
                echo "@$((at += 10)) alloc heap=2 address=$((0x100000 + 1024 * i)) requested=1000 block=1024 thread=1 stack=2"
            done
            for ((i--; i >= 0; i--)); do
                echo "@$((at += 10)) free heap=2 address=$((0x100000 + 1024 * i)) thread=1"
            done
            [ "${3:-}" != leak ] || echo "@$((at += 10)) alloc heap=2 address=$((0x130000 + 512 * step)) requested=500 block=512 thread=1 stack=3"
        done
        if [ "${3:-}" = dies ]; then
            echo "@$((at += 10)) alloc_failed heap=2 requested=900000 thread=1 stack=2 error=207001 free=1000 total=1048576"
            echo "@$((at += 10)) process_end process=1 thread=1 detail=exit error=1"
        else
            echo "@$((at += 10)) process_end process=1 thread=1 detail=exit error=0"
        fi
    } >rank$rank.txt
    "$text2trace" rank$rank.txt rank$rank.zst && "$bin/npumem-ingest" --quiet rank$rank.zst || fail "rank $rank cannot be loaded"
}

# Every figure that a page has of its ranks, from the databases of each one alone and by tables alone.
facts_of_ranks() {
    local name
    for name; do
        sqlite3 -csv "$name" "SELECT p.rank, p.pid, (SELECT sum(h.peak_bytes) FROM heap AS a JOIN z_heap_sum AS h ON h.heap_id = a.heap_id JOIN heap_level AS l ON l.level = a.level WHERE l.name = 'pool'),
            (SELECT count(*) FROM z_out_of_memory_chain), (SELECT coalesce(sum(size_bytes), 0) FROM leak)
            FROM process AS p"
    done | sort -n
}

# The same of a page: peaks of pools, failures and leaks, by rank.
facts_of_page() {
    python3 - "$tables" "$1" <<'PYTHON'
import subprocess, sys
def rows(*words):
    text = subprocess.run([sys.executable, sys.argv[1], sys.argv[2], *words], capture_output=True, text=True, check=True).stdout
    return [line.split(",") for line in text.splitlines()]
peaks, failures, leaks = {}, {}, {}
for rank, level, peak in rows("peak", "rank", "level", "peak_bytes"):
    peaks[rank] = peaks.get(rank, 0) + (int(peak) if level == "pool" else 0)
for (rank,) in rows("oom", "rank"):
    failures[rank] = failures.get(rank, 0) + 1
for rank, leak in rows("leak", "rank", "leak_bytes"):
    leaks[rank] = leaks.get(rank, 0) + int(leak)
for rank, pid in sorted(rows("rank", "rank", "pid"), key=lambda row: int(row[0])):
    print(rank, pid, peaks[rank], failures.get(rank, 0), leaks.get(rank, 0), sep=",")
PYTHON
}

# Ranks of a page that have cells, from the numbers of heaps.
ranks_with_maps() {
    python3 "$tables" "$1" - | sed -n 's/^cells \([0-9]*\) $/\1/p' | sort >cells
    table "$1" heap heap_id rank | tr , ' ' | sort | join - cells | cut -d ' ' -f 2 | sort -nu | tr '\n' ' '
}

# ---- Four ranks: the first has the highest peak, the second leaks, the third dies, the last is the median ----

make_rank 0 90
make_rank 1 20 leak
make_rank 2 30 dies
make_rank 3 40
four=(rank0.db rank1.db rank2.db rank3.db)
expect 0 "${four[@]}" -o four.html </dev/null
same "facts of four ranks" "$(facts_of_page four.html)" "$(facts_of_ranks "${four[@]}")"
same "maps" "$(ranks_with_maps four.html)" "0 2 "
"$bin/npumem-ingest" --quiet -o four.db "${four[@]}" || fail "four ranks cannot be loaded into one"
expect 0 four.db -o one.html </dev/null
same "facts of one database of four ranks" "$(facts_of_page one.html)" "$(facts_of_ranks "${four[@]}")"
same "maps of one database" "$(ranks_with_maps one.html)" "0 1 2 3 "
table four.html - >four.tables
for name in usage gap step moment health leak oom rank peak_site; do
    grep -q "^table $name " four.tables || fail "no table $name"
done
same "buckets of all ranks" "$(table four.html usage heap_id first_seq last_seq max_seq max_live_bytes live_bytes live_count reserved_bytes)" \
    "$(sqlite3 -csv four.db 'SELECT heap_id, first_seq, last_seq, max_seq, max_live_bytes, live_bytes, live_count, reserved_bytes FROM usage ORDER BY heap_id, last_seq')"
same "gaps of all ranks" "$(table four.html gap heap_id last_seq reserved_bytes free_bytes stuck_bytes)" \
    "$(sqlite3 -csv four.db 'SELECT heap_id, last_seq, reserved_bytes, free_bytes, stuck_bytes FROM z_fragmentation_usage WHERE part_id IS NULL ORDER BY heap_id, last_seq')"
same "blocks of a rank with a map" "$(table four.html block heap_id address size_bytes born | sort)" \
    "$(sqlite3 -csv four.db "SELECT a.heap_id, a.address, a.size_bytes, a.alloc_seq FROM allocation AS a JOIN heap AS h ON h.heap_id = a.heap_id JOIN process AS p ON p.process_id = h.process_id WHERE a.is_segment = 0 AND p.rank IN (0, 2)" | sort)"
for file in *.tmp ./*.html.db; do
    [ ! -e "$file" ] || fail "$file is left"
done
TMPDIR=$PWD "$report" "${four[@]}" -o - | cmp - four.html || fail "what goes to standard output is another page"
[ "$(head -c 100000 four.html | grep -c '<title>rank0\.db and 3 more - npumem</title>')" = 1 ] || fail "the title does not say how many"

# ---- What cannot be put together ----

sed 's/requested=1000/requested=1001/' rank1.txt >again.txt # another recording of the same process
"$text2trace" again.txt again.zst && "$bin/npumem-ingest" --quiet -o copy.db again.zst || fail "the copy cannot be loaded"
cp rank3.db other.db
sqlite3 other.db 'PRAGMA user_version = 1; UPDATE meta SET value = 1 WHERE key = "schema_version"'
expect 2 rank0.db rank1.db <<<'npumem-report: 2 databases need -o FILE.html (--help says more)'
expect 2 rank0.db rank1.db ./rank0.db -o no.html <<<'npumem-report: ./rank0.db is given twice (--help says more)'
expect 1 rank0.db gone.db -o no.html <<<'npumem-report: gone.db: cannot open: no such file'
expect 1 rank0.db rank1.zst -o no.html <<<'npumem-report: rank1.zst: not a database of npumem-ingest but a trace; first: npumem ingest rank1.zst'
expect 1 rank0.db rank1.db copy.db -o no.html <<<'npumem-report: copy.db: has a process of the same host, rank and number as rank1.db'
"$report" other.db >one 2>&1 && fail "a database of another version has a page"
expect 1 rank0.db other.db -o no.html <one
grep -q 'version' one || fail "nothing is said of the version: $(cat one)"
expect 2 rank0.db rank1.db --against rank2.db -o no.html <<<'npumem-report: --against takes one run beside another: load the ranks of one into a database first (npumem-ingest -o) (--help says more)'
expect 2 rank0.db --against ./rank0.db -o no.html <<<'npumem-report: rank0.db cannot be compared with itself (--help says more)'
expect 1 rank0.db --against gone.db -o no.html <<<'npumem-report: gone.db: cannot open: no such file'
"$report" rank0.db rank1.db -o rank1.db --force 2>out && fail "a page replaces one of its databases"
"$report" rank0.db --against rank1.db -o rank1.db --force 2>out && fail "a page replaces the other run"
sqlite3 rank1.db 'SELECT count(*) FROM process' >/dev/null || fail "rank1.db is no database any more"
[ ! -e no.html ] || fail "something is left of a page that was not written"

# ---- Two runs beside each other ----

expect 0 rank0.db --against rank1.db -o against.html </dev/null
"$bin/npumem-diff" --quiet --csv csv rank0.db rank1.db
# Without the quotes of CSV, of which these files need none.
plain() {
    tail -n +2 "$1" | tr -d '"\r' | cut -d, -f "$2"
}
same "figures" "$(table against.html against_figure figure level unit base_value run_value change_value)" "$(plain csv/diff_figures.csv 1-6)"
same "sites" "$(table against.html against_site moment level path function line base_bytes run_bytes change_bytes)" "$(plain csv/diff.csv 1,3,5-10)"
same "the other's buckets" "$(table against.html against_usage heap_id last_seq max_live_bytes live_bytes)" \
    "$(sqlite3 -csv rank1.db 'SELECT heap_id, last_seq, max_live_bytes, live_bytes FROM usage ORDER BY heap_id, last_seq')"
same "both runs" "$(table against.html against_run letter name process_count step_count)" "$(printf 'A,rank0.db,1,12\nB,rank1.db,1,12')"
expect 0 rank0.db -o alone.html </dev/null
table alone.html - >alone.tables
grep -q against alone.tables && fail "a page without another run speaks of one"

# ---- 64 ranks ----

for ((rank = 4; rank < 64; rank++)); do
    make_rank $rank $((20 + rank % 7))
done
began=$(date +%s%N)
expect 0 rank?.db rank??.db -o job.html </dev/null
echo "64 ranks: $(($(date +%s%N) / 1000000 - began / 1000000)) ms, $(wc -c <job.html) bytes"
[ "$(wc -c <job.html)" -le 16777216 ] || fail "64 ranks have $(wc -c <job.html) bytes"
same "facts of 64 ranks" "$(facts_of_page job.html)" "$(facts_of_ranks rank?.db rank??.db)"
median=$(for name in rank?.db rank??.db; do sqlite3 "$name" 'SELECT peak_bytes, rank FROM (SELECT max(peak_bytes) AS peak_bytes FROM z_heap_sum), process' | tr '|' ' '; done | sort -n -k 1,1 -k 2,2 | sed -n 32p | cut -d ' ' -f 2)
same "maps of 64 ranks" "$(ranks_with_maps job.html)" "$(printf '%s\n' 0 2 "$median" | sort -nu | tr '\n' ' ')"
[ "$(table job.html usage heap_id | sort -u | wc -l)" = 128 ] || fail "a heap has no curve"

# ---- More blocks than there is room for ----

{
    sed '/^@/d' rank0.txt
    echo '@10 alloc heap=1 address=0x100000 requested=1073741824 block=1073741824 thread=1 stack=1'
    awk 'BEGIN {
        srand(7)
        for (i = 1; i <= 110000; i++) {
            at = 20 + 10 * i
            slot = int(rand() * 4096)
            if (slot in live)
                printf "@%d free heap=2 address=%d thread=1\n", at, live[slot]
            live[slot] = 1048576 + 262144 * slot + 512 * int(rand() * 100)
            printf "@%d alloc heap=2 address=%d requested=%d block=%d thread=1 stack=%d\n", at, live[slot], 1 + int(rand() * 200000), 1 + int(rand() * 200000), 1 + int(rand() * 3)
        }
    }'
} >large.txt
"$text2trace" large.txt large.zst && "$bin/npumem-ingest" --quiet large.zst || fail "the large run cannot be loaded"
for size in 1024 16384; do
    expect 0 --max-size ${size}KiB large.db -o large$size.html </dev/null
    echo "at most $size KiB: $(wc -c <large$size.html) bytes, blocks $(table large$size.html kept kept_count reach)"
    [ "$(wc -c <large$size.html)" -le $((size * 1024)) ] || fail "a page of at most $size KiB has $(wc -c <large$size.html) bytes"
done
same "all of them" "$(table large16384.html kept block_count kept_count reach)" "$(sqlite3 large.db 'SELECT count(*) || "," || count(*) || "," FROM allocation WHERE is_segment = 0')"

# Of each window every block is there, as SQL has it.
check_windows() {
    local page=$1 reach last_kind heap kind seq count=0
    IFS=, read -r reach last_kind <<<"$(table "$page" kept reach kind_last)"
    [ -n "$reach" ] || { fail "$page has no window" && return; }
    table "$page" block heap_id allocation_id born life >blocks
    while IFS=, read -r heap kind seq; do
        [ "$kind" -le "$last_kind" ] || continue
        awk -F, -v heap="$heap" -v from=$((seq - reach)) -v to=$((seq + reach)) '$1 == heap && $3 <= to && ($4 == "" || $3 + $4 >= from) { print $2 }' blocks | sort -n >has
        sqlite3 large.db "SELECT allocation_id FROM allocation WHERE is_segment = 0 AND heap_id = $heap AND coalesce(alloc_seq, -1) <= $((seq + reach)) AND (free_seq IS NULL OR free_seq >= $((seq - reach))) ORDER BY 1" >wanted
        cmp -s has wanted || fail "$page: $(wc -l <has) blocks round event $seq of heap $heap, not the $(wc -l <wanted) of SQL"
        count=$((count + $(wc -l <has)))
    done < <(table "$page" anchor heap_id kind seq)
    [ $count -gt 1000 ] || fail "$page has $count blocks in its windows"
    [ "$(table "$page" kept kept_count)" = "$(wc -l <blocks)" ] || fail "$page says another number of blocks than it has"
    [ "$(wc -l <blocks)" -lt 110000 ] || fail "$page has all blocks, so that it tests nothing"
}
check_windows large1024.html
[ $failures = 0 ] || exit 1
