#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# npumem-record --selfcheck: with modules that pass for torch and torch_npu (modules/), with its own program on the stand-in for
# CANN, installed, and where there is nothing; agreeing, disagreeing and failing as planned. It leaves one file, and nothing else.
#
#     selfcheck.sh torch | own BUILD STANDIN TORCH_LIKE FOLDER NEWER
set -u
here=$(cd "$(dirname "$0")" && pwd)
part=$1 build=$2 standin=$3 torch_like=$4 folder=$5 newer=$6
record=$build/bin/npumem-record

rm -rf "$folder"
mkdir -p "$folder/bin"
cd "$folder" || exit 1
folder=$PWD

status=0
fail() {
    echo "FAIL: $*" >&2
    status=1
}

# A python3 without anything of the user's; pyenv's is a shell script that starts many programs.
python=$(python3 -c 'import sys; print(sys.executable)' 2>/dev/null)
[ -n "$python" ] && ln -s "$python" bin/python3

# check NAME WANTED_STATUS [VARIABLE=VALUE...] -- [OPTION...]: runs it in a folder of its own, with one for temporary files and
# one for rings; the report is NAME/report.txt, what is said NAME.out and NAME.err.
check() {
    local name=$1 wanted=$2 variables=() got
    shift 2
    while [ "$1" != -- ]; do
        variables+=("$1")
        shift
    done
    shift
    mkdir -p "$name" "$name.tmp" "$name.rings"
    (cd "$name" && env -u PYTHONPATH -u LD_LIBRARY_PATH -u LD_PRELOAD PATH="$folder/bin:/usr/bin:/bin" TMPDIR="$folder/$name.tmp" \
        FAKE_TORCH_LIBRARY="$torch_like" PYTHONNOUSERSITE=1 PYTHONDONTWRITEBYTECODE=1 "${variables[@]}" "${binary:-$record}" --selfcheck -o report.txt \
        --ring-dir "$folder/$name.rings" --buffer 16M "$@" >"../$name.out" 2>"../$name.err")
    got=$?
    [ "$got" = "$wanted" ] || fail "$name: ended with $got, not $wanted: $(cat "$name.err")"
    [ -z "$(ls -A "$name.tmp")" ] || fail "$name: left in its temporary folder: $(ls "$name.tmp")"
    [ -z "$(ls -A "$name.rings")" ] || fail "$name: left rings: $(ls "$name.rings")"
    [ "$(ls -A "$name")" = report.txt ] || fail "$name: wrote more than its report, or none: $(ls -A "$name" | tr '\n' ' ')"
}

# has NAME TEXT...: each stands in the report.
has() {
    local name=$1 text
    shift
    for text; do
        grep -qF -- "$text" "$name/report.txt" || fail "$name: no \"$text\" in the report: $(head -12 "$name/report.txt")"
    done
}

# says NAME TEXT: the one line on standard error has it, and the report's first line too.
says() {
    [ "$(wc -l <"$1.err")" = 1 ] || fail "$1: more than one line: $(cat "$1.err")"
    grep -qF -- "$2" "$1.err" || fail "$1: \"$2\" is not said: $(cat "$1.err")"
    head -1 "$1/report.txt" | grep -qF -- "$2" || fail "$1: \"$2\" is not the reason: $(head -1 "$1/report.txt")"
}

# ---- torch_npu ----

fake=PYTHONPATH=$here/modules
if [ "$part" = torch ]; then
    [ -n "$python" ] || {
        echo "skipped: no python3 here"
        exit 77
    }
    check torch 0 "$fake" --
    has torch 'npumem self-check: AGREES' 'recorded: tensors of torch_npu' 'pool "ptaCaching"' 'torch_npu 2.1.0.post3+fake' \
        'torch 2.1.0+fake' 'device a fake NPU' "npumem $("$record" --version | cut -d' ' -f2)" 'its loop' 'the whole run' \
        'nothing was noted' 'complete, ' 'all of them in the list' 'Answers of npumem-ingest' 'npumem_selfcheck.py:'
    [ "$(grep -c '  same' torch/report.txt)" = 4 ] || fail "torch: not all figures are the same: $(cat torch/report.txt)"
    grep -q 'AGREES' torch.out || fail "torch: nothing on standard output"
    # The figures are those of the program: the client's own books, printed by it, digits with commas in the report.
    for pair in 'max_memory_allocated allocated_peak_bytes' 'max_memory_reserved reserved_peak_bytes' \
        'memory_stats allocation_count'; do
        said=$(sed -n "s/^npumem-selfcheck ${pair#* } //p" torch/report.txt | sed ':a;s/^\([0-9]*[0-9]\)\([0-9]\{3\}\)/\1,\2/;ta')
        [ -n "$said" ] && [ "$(grep "${pair% *}" torch/report.txt | tr -s ' ' | grep -o "$said" | wc -l)" = 2 ] ||
            fail "torch: $said is not what ${pair% *} and npumem say"
    done

    check lie 1 "$fake" FAKE_TORCH=lie -- --quiet
    says lie 'most allocated of the pool: max_memory_allocated says'
    has lie 'DISAGREES' 'DIFFERS' 'Answers of npumem-ingest'
    [ ! -s lie.out ] || fail "lie: --quiet is not"
    check no_events 1 "$fake" -- --quiet --no-pool-events
    says no_events 'the recorder saw no pool'
    check stats 0 "$fake" "FAKE_TORCH=no stats" -- --quiet --stacks none
    has stats 'not said'
    check changed 1 "$fake" "FAKE_TORCH=other when recorded" -- --quiet
    says changed 'recorded, the program itself counts otherwise'
    has changed 'FAILED' 'Not seen'
    check crash 1 "$fake" FAKE_TORCH=crash -- --quiet
    says crash 'recorded, the program ended with status 134: something is wrong with me'
    # torch_npu that is there and does not work is told of; then the other program is taken.
    for fault in unimportable 'no device' 'no torch_npu'; do
        check "${fault// /_}" 0 "$fake" "FAKE_TORCH=$fault" -- --quiet
        has "${fault// /_}" 'not used: ' 'AGREES' "npumem's stand-in"
    done
    has unimportable 'torch_npu is there, but cannot be imported: OSError: libhccl.so'
    has no_device 'torch_npu is there, but sees no NPU'

    # Asked to end in the middle: not even the report stays.
    mkdir -p ended ended.tmp ended.rings
    (cd ended && exec env PATH="$folder/bin:/usr/bin:/bin" TMPDIR="$folder/ended.tmp" FAKE_TORCH_LIBRARY="$torch_like" "$fake" \
        FAKE_TORCH=sleep PYTHONDONTWRITEBYTECODE=1 "$record" --selfcheck -q -o report.txt --ring-dir "$folder/ended.rings") &
    pid=$!
    for ((i = 0; i < 200; i++)); do
        [ -s ended.tmp/*/npumem_selfcheck.py ] 2>/dev/null && break
        sleep 0.05
    done
    sleep 0.3
    kill -TERM $pid
    wait $pid
    [ $? = 143 ] || fail "ended: it did not end by SIGTERM"
    [ -z "$(ls -A ended ended.tmp ended.rings | grep -v ':$' | grep .)" ] || fail "ended: left something: $(ls -A ended ended.tmp)"
    exit $status
fi

# ---- npumem's own program ----

check own 0 --
has own 'AGREES' "This is no NPU: it was recorded on npumem's stand-in" 'not used: ' 'pool "self-check pool"' 'aclrtGetMemInfo' \
    'selfcheck_program.c:'
[ "$(grep -c '  same' own/report.txt)" = 4 ] || fail "own: not all figures are the same: $(cat own/report.txt)"
# What a step takes, by hand: 500 steps of nine blocks and twelve at the end; the most at once are those twelve.
has own '4,512' '75,503,104'

# Installed, with CANN where the loader finds it; and without.
cmake --install "$build" --prefix "$folder/prefix" >/dev/null || fail "not installed"
binary=$folder/prefix/bin/npumem-record
check installed 0 LD_LIBRARY_PATH="$standin" --
has installed 'AGREES' 'pool "self-check pool"'
has installed "against the list of CANN's runtime 20" 'installed: version not known' 'all of them in the list'
grep -q 'new in this CANN' installed.err && fail "installed: $(cat installed.err)"
grep -q 'stand-in' installed/report.txt && fail "installed: says that it ran on the stand-in"

# A CANN that has more than the list: what speaks of memory, and nothing else, is named; beside it lies half a library.
mkdir -p cann/lib64
cp "$newer" cann/lib64
head -c 1000 "$newer" >cann/lib64/libacl_half.so
echo 'version=9.9.T1' >cann/ascend_toolkit_install.info
check newer 0 LD_LIBRARY_PATH="$folder/cann/lib64:$standin" --
has newer 'AGREES' 'installed: CANN 9.9.T1' '2 not in the list: what they do with memory may be unseen' \
    "cannot be read: $folder/cann/lib64/libacl_half.so"
[ "$(sed -n 's/^ *new: //p' newer/report.txt | tr '\n' ' ')" = 'aclrtMallocSparkling halMemPoolSparkle ' ] ||
    fail "newer: other functions are new: $(grep 'new: ' newer/report.txt)"
grep -qF 'the figures agree; 2 functions of memory are new in this CANN, ' newer.err || fail "newer: $(cat newer.err)"
check nothing 1 -- --quiet
says nothing 'there is nothing to record here: neither libascendcl.so nor libacl_rt.so can be loaded'
has nothing 'FAILED'
mkdir -p 'with space'
cp -r prefix 'with space'
binary=$folder/with\ space/prefix/bin/npumem-record
check space 1 LD_LIBRARY_PATH="$standin" -- --quiet
says space 'LD_PRELOAD cannot name a path with a space'
mv prefix/bin/npumem-ingest prefix/bin/elsewhere
binary=$folder/prefix/bin/npumem-record
check no_ingest 1 LD_LIBRARY_PATH="$standin" PATH="$folder/bin" -- --quiet # where npumem is installed, PATH has one
says no_ingest 'the trace cannot be loaded'
binary=

# ---- What it refuses ----

check off 1 NPUMEM=off -- --quiet
says off 'NPUMEM=off is set'
# What a shell was prepared for by --print-env is not what is checked.
check prepared 0 NPUMEM_OUTPUT=/nonexistent/x.zst NPUMEM_SESSION=/nonexistent -- --quiet
for wrong in '-- true' '--report a.txt' '--keep steps:3' '--start-paused' '--duration 3' '-o -' '--ctl x'; do
    "$record" --selfcheck $wrong >/dev/null 2>wrong.err
    [ $? = 2 ] && [ "$(wc -l <wrong.err)" = 1 ] || fail "--selfcheck $wrong: is taken: $(cat wrong.err)"
done
"$record" --selfcheck -o /nonexistent/a.txt 2>wrong.err
[ $? = 1 ] && [ "$(wc -l <wrong.err)" = 1 ] || fail "a report that cannot be written: $(cat wrong.err)"
# Streams that are closed.
"$record" --selfcheck -q -o closed.txt <&- >&- 2>&- || fail "closed streams: $(cat closed.txt)"
[ "$(grep -c '^npumem self-check: ' closed.txt)" = 1 ] || fail "closed streams: written twice"
# Its name, and one that exists.
mkdir names
(cd names && "$record" --selfcheck -q && "$record" --selfcheck -q -o a.txt && "$record" --selfcheck -q -o a.txt) 2>names.err ||
    fail "names: $(cat names.err)"
ls names | tr '\n' ' ' | grep -qE "^a-1.txt a.txt npumem-selfcheck-$(uname -n)-[0-9]{8}-[0-9]{6}.txt $" || fail "names: $(ls names)"
exit $status
