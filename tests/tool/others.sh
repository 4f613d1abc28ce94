#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# others.sh BIN_FOLDER SCRATCH [SAMPLES]: databases and folders of other tools, and real files of theirs in SAMPLES, are called by their
# names in one line and with status 1, by npumem-ingest and by what opens databases; nothing is left behind.
set -u
bin=$1 scratch=$2 samples=${3:-} failures=0

fail() {
    echo "FAIL: $*" >&2
    failures=$((failures + 1))
}

# expect SAID FILE
expect() {
    local said
    said=$("$bin/npumem-ingest" -o new.db "$2" 2>&1)
    [ $? = 1 ] || fail "$2: ends otherwise than with 1"
    [[ $said == "npumem-ingest: $2: "*"$1"* && $said != *$'\n'* ]] || fail "$2: '$said', and not one line with '$1'"
    [ ! -e new.db ] || fail "$2 leaves a database"
}

rm -rf "$scratch"
mkdir -p "$scratch"
cd "$scratch" || exit 1

# table SAID NAME
table() {
    rm -f other.db
    sqlite3 other.db "CREATE TABLE StringIds (id, value); CREATE TABLE $2 (a, b)" || fail "there is no sqlite3"
    expect "not a database of npumem-ingest but $1" other.db
    said=$("$bin/npumem-stack" other.db 2>&1)
    [[ $said == *"not a database of npumem-ingest but $1"* ]] || fail "npumem-stack says '$said'"
}
table 'an export of Nsight Systems: not read' CUDA_GPU_MEMORY_USAGE_EVENTS
table 'an export of Nsight Systems, without memory' META_DATA_EXPORT
table 'a database of rocprof' rocpd_string
table 'cluster_analysis.db' ClusterStepTraceTime
table 'a database of the Ascend PyTorch Profiler, without memory' PYTORCH_API
table 'a database of msprof, without memory' SESSION_TIME_INFO
rm other.db && sqlite3 other.db 'CREATE TABLE memscope_dump (a)'
said=$("$bin/npumem-stack" other.db 2>&1)
[[ $said == *'a dump of msMemScope, which npumem ingest reads'* ]] || fail "npumem-stack says '$said' of a dump"
rm other.db && sqlite3 other.db 'CREATE TABLE StringIds (id, value)'
said=$("$bin/npumem-ingest" -o new.db other.db 2>&1)
[ "$said" = 'npumem-ingest: other.db: not a database of npumem-ingest' ] || fail "of a plain database: $said"
mkdir -p x_ascend_pt/ASCEND_PROFILER_OUTPUT empty
expect 'memory was not profiled: profile_memory was off' x_ascend_pt
expect 'there is no trace in this folder' empty

if [ -d "$samples/imports/refused" ]; then
    ln -s "$samples" samples
    expect 'a recording of heaptrack' samples/imports/refused/heaptrack.embedded_lsan_suppressions.84207.zst
    expect 'an export of Nsight Systems: not read' samples/imports/refused/gemm_db_10000_10_100.sqlite
    expect 'an export of Nsight Systems, without memory' samples/imports/refused/spmm_ecology1_no_memory_table.sqlite
    expect 'a database of rocprof or rpd' samples/imports/refused/matmul_result.rpd
    expect 'a memory timeline of torch.profiler' samples/imports/refused/memory_timeline.raw.gz
    expect 'a module of XLA' samples/imports/refused/profile_demo.memory_viewer.json
    expect 'a profile of pprof' samples/imports/refused/tpu_memory.prof
    expect 'does not say what was held' samples/imports/ascend_pt/text_level0_rank0/profiler_info_0.json
else
    echo "skipped: no samples here: real files of other tools"
fi
exit $((failures > 0))
