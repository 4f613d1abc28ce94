#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# parquet.sh BIN_FOLDER TEXT2TRACE PARQUET_WRITE SOURCE SCRATCH: npumem-export parquet. With PARQUET_WRITE values of every kind
# (parquet_values.py); without (-) the tables of every trace in text against the rows of SQLite (parquet_rows.py), names of folders
# and files, what is refused, what is left behind, and --redact.
set -u
bin=$1 text2trace=$2 writer=$3 source=$4 scratch=$5 failures=0
export=$bin/npumem-export here=$source/tests/tool/export modules=$source/build/node
command -v python3 >/dev/null || { echo "skipped: no python3 here: tables of Parquet are not looked at" && exit 77; }

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

# same DATABASE...: the tables hold what they should; `counts` has how many rows.
same() {
    python3 "$here/parquet_rows.py" "$export" "$source" "$modules" "$scratch" "$@" >counts || fail "tables of $1 ... differ"
}

rm -rf "$scratch"
mkdir -p "$scratch/values"
cd "$scratch" || exit 1
if [ "$writer" != - ]; then # alone, for it takes as long as all else
    python3 "$here/parquet_values.py" "$writer" "$modules" values || fail 'values are written wrong'
    exit $((failures > 0))
fi

# Every trace in text, and those of each version; several ranks in one database; more steps and points than leave; names that are no UTF-8 and from anywhere.
mkdir all
for text in "$source"/tests/sql/*/trace.txt; do
    name=$(basename "${text%/trace.txt}")
    cp "$text" "all/$name.txt" && (cd all && load "$name")
done
for trace in "$source"/fixtures/traces/*.zst; do
    "$bin/npumem-ingest" --quiet -o "all/trace-$(basename "$trace" .zst).db" "$trace" || [ $? = 3 ] || fail "$trace cannot be loaded"
done
cp all/heap_place.txt run.txt
for rank in 0 1 2; do
    sed "s/rank=0 local_rank=0/rank=$rank local_rank=0/; s/host=h1/host=h$((rank / 2))/" run.txt >rank$rank.txt
    echo "attribute 1 process=1 source=environment name=SLURM_JOB_NAME value=\"night run\"" >>rank$rank.txt
    load rank$rank
done
"$bin/npumem-ingest" --quiet -o all/ranks.db rank0.db rank1.db rank2.db || fail 'ranks cannot be joined'
awk 'BEGIN {
    print "process 1 pid=7 rank=0\ndevice 1 process=1 ordinal=1 kind=npu\nthread 1 process=1 tid=7"
    print "heap 1 process=1 device=1 level=driver basis=block name=memory\nheap 2 process=1 device=1 level=pool basis=block name=pool"
    print "stack 1: a.py:1:f\n@0 alloc heap=1 address=0x100000 block=1048576 thread=1"
    for (step = 1; step <= 1300; step++) {
        print "@" 10 * step " step number=" step " thread=1"
        print "@" 10 * step + 1 " alloc heap=2 address=0x100000 block=" 512 * (1 + step * 7919 % 97) " thread=1 stack=1"
        if (step % 13 == 0) print "@" 10 * step + 1 " alloc heap=1 address=0x900000 block=4096 thread=1\n@" 10 * step + 2 " free heap=1 address=0x900000 thread=1"
        print "@" 10 * step + 3 " free heap=2 address=0x100000 thread=1"
    }
}' >all/long.txt
(cd all && load long)
cp all/heap_place.db all/odd.db
sqlite3 all/odd.db "UPDATE frame SET label = CAST(x'61ff62c3' AS TEXT) WHERE frame_id = 1; UPDATE frame SET label = 'é' || char(10, 27, 128512)
                    WHERE frame_id = 2; UPDATE thread SET name = ''"
same all/*.db
while read -r table rows; do
    [ "$rows" -gt 0 ] || fail "no trace has rows of table $table"
done <counts

# What a folder is called, and a file.
name() { (cd "$1" && find rank -type f); }
expect 2 parquet all/long.db -o tables <<<'npumem-export: all/long.db: no name of a job was recorded: give --job-name'
[ ! -e tables ] || fail 'a folder was made for nothing'
expect 0 parquet rank0.db -o tables/ </dev/null
[ "$(name tables)" = 'rank/job=night%20run/run=19700101T000000Z/h0-r0.parquet' ] || fail "it is called $(name tables)"
expect 0 parquet all/ranks.db -o hosts --job-name ../.. --run-name "$(printf 'a/b\\c\n=')" </dev/null
[ "$(name hosts)" = 'rank/job=..%2F../run=a%2Fb%5Cc%0A%3D/h0+1-r0-2.parquet' ] || fail "it is called $(name hosts)"
expect 0 parquet all/long.db --job-name j -o own </dev/null
[ "$(name own)" = rank/job=j/run=19700101T000000Z/long-r0.parquet ] || fail "it is called $(name own)"
sed 's/rank=0 local_rank=0 world_size=1//; s|host=h1|host="a/b é"|' run.txt >alone.txt
load alone
expect 0 parquet alone.db --job-name j --run-name r -o alone </dev/null
[ "$(name alone)" = rank/job=j/run=r/a_b___-p100.parquet ] || fail "it is called $(name alone)"
expect 2 parquet rank0.db -o long --run-name "$(printf '%081d' 0 | tr 0 ' ')" <<<'npumem-export: rank0.db: the name of a job or run is too long'

# Of several databases of one run each has its files, and all of them the first one's begin.
expect 0 parquet rank0.db rank1.zst rank2.db -o three </dev/null
[ "$(find three/leak -type f -printf '%f\n' | sort | tr '\n' ' ')" = 'h0-r0.parquet h0-r1.parquet h1-r2.parquet ' ] ||
    fail "three ranks are called $(find three/leak -type f)"
expect 2 parquet rank0.db rank1.db rank0.zst -o twice <<<'npumem-export: rank0.zst: is of the same hosts and ranks as rank0.db: one run at a time'
sed 's/night run/day run/; s/rank=1/rank=3/' rank1.txt >day.txt
load day
expect 2 parquet rank0.db day.db -o twice <<<'npumem-export: day.db: is of another job than those before it: one run at a time'
[ ! -e twice ] || fail 'a folder was made for nothing'

# A file that is there stays, or is replaced; what comes in between is not left behind.
expect 1 parquet rank0.db -o tables <<<'npumem-export: tables: h0-r0.parquet of this run is already there (--force replaces it)'
cp -r tables kept
echo old >"tables/$(name tables)"
rm -r tables/peak
expect 0 parquet rank0.db -o tables --force </dev/null
diff -r kept tables || fail '--force writes other files'
[ -z "$(find . -name '*.tmp')" ] || fail 'something is left behind'
mv tables/leak tables/leak.was && ln -s "$scratch/kept/leak" tables/leak
expect 1 parquet rank0.db -o tables --force <<<'npumem-export: tables: cannot write: Not a directory'
rm tables/leak && mv tables/leak.was tables/leak
expect 1 parquet rank0.db -o rank0.db <<<'npumem-export: rank0.db: cannot open: Not a directory'
expect 1 parquet rank0.db -o none/of/these <<<'npumem-export: none/of/these: cannot write: No such file or directory'
expect 1 parquet none.db -o none <<<'npumem-export: none.db: cannot open: no such file'
[ ! -e none ] || fail 'a folder was made for nothing'

# Options.
expect 2 parquet -o tables <<<'npumem-export: no database (--help says more)'
expect 2 parquet rank0.db <<<'npumem-export: parquet is a folder of files: give -o DIR (--help says more)'
expect 2 parquet rank0.db -o - <<<'npumem-export: parquet is a folder of files: give -o DIR (--help says more)'
expect 2 parquet rank0.db -o tables --job-name '' <<<'npumem-export: the name of a job or run is empty (--help says more)'
for option in '--job-name j' '--run-name r' --allocations --all-steps --redact; do
    # shellcheck disable=SC2086 # an option and its value
    expect 2 folded rank0.db $option <<<"npumem-export: ${option%% *}: goes with parquet alone (--help says more)"
done

# Nothing of who recorded it leaves with --redact, and what is called so is the same everywhere; a database is as it was.
sed 's|/src/|/home/planteduser/plantedproject/|g; s/host=h1/host=plantedhost/; s/command="train /command="\/home\/planteduser\/train --token plantedtoken /' \
    run.txt >planted.txt
echo 'attribute 1 process=1 source=environment name=SLURM_JOB_NAME value="/home/planteduser/job"' >>planted.txt
load planted
cp planted.db planted.was
expect 0 parquet planted.db -o plain --allocations </dev/null
expect 0 parquet planted.db -o redacted --allocations --redact </dev/null
cmp planted.db planted.was || fail 'a database has changed'
texts() { find "$1" -type f && find "$1" -type f -exec python3 "$source/tests/support/parquet_file.py" {} +; }
texts plain >plain.words && grep -q plantedhost plain.words && grep -q planteduser plain.words ||
    fail 'what is planted is not in the plain tables'
texts redacted >redacted.words || fail 'redacted tables cannot be read'
! grep -i planted redacted.words || fail 'what is planted is in redacted tables'
! grep -r -l -a planted redacted || fail 'what is planted is in redacted files'
grep -q 'host-1' redacted.words || fail 'the host has no other name'
exit $((failures > 0))
