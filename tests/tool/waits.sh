#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# waits.sh BIN_FOLDER TEXT2TRACE TRACE.txt SCRATCH: npumem check and npumem diff say on a terminal that they work, once that takes a
# second, and before what they print; elsewhere they print what they print there. The second comes of strace, which holds back a read.
set -u
bin=$1 text2trace=$2 text=$3 scratch=$4 failures=0

fail() {
    echo "$*" >&2
    failures=$((failures + 1))
}

rm -rf "$scratch"
mkdir -p "$scratch"
cd "$scratch" || exit 1
"$text2trace" "$text" run.zst && "$bin/npumem-ingest" --quiet run.zst || exit 1
if ! which strace script >/dev/null || ! strace -o calls true; then
    echo "skipped: nothing here can hold back a program"
    exit 0
fi

# expect LINE WORD...: a program that prints on a terminal what it prints into a pipe, behind LINE, which is wiped.
expect() {
    local line=$1 wipe=$'\r\033[K' words shown
    shift
    "$bin/$1" "${@:2}" 2>&1 | cat >plain
    words="strace -o calls -e trace=pread64 -e inject=pread64:delay_enter=1200000:when=4 $bin/$*"
    script -qec "$words" /dev/null </dev/null | sed 's/\r$//' >shown
    grep -qF "$wipe$line$wipe" shown || fail "$*: no line '$line': $(cat -v shown)"
    shown=$(cat shown)
    diff plain <(echo "${shown##*"$line$wipe"}") || fail "$*: prints other lines (< into a pipe, > on a terminal)"
}

expect checking npumem-check run.db --no-leak
expect comparing npumem-diff run.db run.db
[ $failures = 0 ]
