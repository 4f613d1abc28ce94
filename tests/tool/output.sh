#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# output.sh BIN_FOLDER TEXT2TRACE TRACE.txt SCRATCH: -o of the programs that print an answer. What they print goes into the
# file to the letter, is there whole or not at all, and replaces nothing that it must not.
set -u
bin=$1 text2trace=$2 text=$3 scratch=$4 failures=0
PATH=$bin:$PATH

fail() {
    echo "$*" >&2
    failures=$((failures + 1))
}

# expect STATUS MESSAGE COMMAND...: one line on standard error, or with an empty MESSAGE none; nothing on standard output.
expect() {
    local wanted=$1 message=$2 got
    shift 2
    "$@" >out 2>err </dev/null
    got=$?
    [ $got = "$wanted" ] || fail "$*: ends with $got, not $wanted: $(cat err)"
    [ ! -s out ] || fail "$*: prints $(head -n 1 out)"
    [ "$(wc -l <err)" = $((${#message} > 0)) ] || fail "$*: says $(cat err)"
    grep -qF -e "$message" err || [ -z "$message" ] || fail "$*: says $(cat err), not $message"
}

# into COMMAND...: prints the same into a file and, with -o -, on standard output, and ends as without.
into() {
    local plain status
    "$@" >plain 2>plain.err
    status=$?
    rm -f answer
    expect $status "$(head -n 1 plain.err)" "$@" -o answer
    cmp plain answer || fail "$*: prints other into a file"
    expect $status "$(head -n 1 plain.err)" "$@" -q --output answer --force
    cmp plain answer || fail "$* -q: prints other into a file"
    "$@" -o - 2>err | cmp plain - || fail "$* -o -: prints other"
    expect "${failed[$1]}" "$1: answer: is already there (--force replaces it)" "$@" -o answer
    expect "${failed[$1]}" "$1: nowhere/answer: " "$@" -o nowhere/answer
    ln -sf plain link
    expect "${failed[$1]}" "$1: link: is a symbolic link" "$@" --force -o link
    expect "${failed[$1]}" "$1: folder: is a folder" "$@" --force -o folder
    (ulimit -f 0; exec "$@" -o none 2>&1) | cat >err
    [ "${PIPESTATUS[0]}" = "${failed[$1]}" ] && [ "$(grep -c "$1: .*none.*: File too large\|$1: .*cannot write to none" err)" = 1 ] ||
        fail "$*: a full disk is $(cat err)"
    [ ! -e none ] && [ -z "$(find . -name '*.tmp')" ] || fail "$*: leaves $(ls)"
}

declare -A failed=([npumem-check]=4 [npumem-diff]=4 [npumem-stack]=4 [npumem-whatif]=4 [npumem-top]=1)
rm -rf "$scratch"
mkdir -p "$scratch/folder"
cd "$scratch" || exit 1
"$text2trace" "$text" run.zst && npumem-ingest -q run.zst && cp run.db old.db && cp run.db kept.db || exit 1
sed 's/requested=\([0-9]*\)/requested=1\1/; s/block=\([0-9]*\)/block=1\1/' "$text" >larger.txt
"$text2trace" larger.txt larger.zst && npumem-ingest -q larger.zst || exit 1

into npumem-check run.db --max-peak 1TiB
into npumem-check run.db --max-peak 1B --json
into npumem-stack run.db leak
into npumem-stack run.db nowhere
into npumem-diff run.db old.db
into npumem-diff run.db larger.db
into npumem-whatif --capacity 1TiB run.zst
into npumem-whatif --capacity 1B run.db
into npumem-top --once run.zst
into npumem-top --once --json run.zst

# No answer, no file; and no input is lost.
expect 4 'npumem-check: run.zst: ' npumem-check run.zst --complete -o answer2
expect 4 'npumem-stack: run.zst: ' npumem-stack run.zst -o answer2
expect 4 'npumem-diff: run.zst: ' npumem-diff run.db run.zst -o answer2
expect 2 'npumem-diff: old.db: has no rank 77' npumem-diff old.db run.db --rank 77 -o answer2
expect 4 'npumem-whatif: larger.txt: ' npumem-whatif larger.txt -o answer2
expect 1 'npumem-top: larger.txt: ' npumem-top --once larger.txt -o answer2
expect 2 'npumem-top: -o needs --once' npumem-top run.zst -o answer2
expect 2 'npumem-whatif: --csv and -o cannot be the same file' npumem-whatif run.zst -o answer2 --csv answer2
[ ! -e answer2 ] && [ -z "$(find . -name '*.tmp')" ] || fail "there is something of an answer that there was not"
expect 2 'npumem-check: ./run.db: is the input itself' npumem-check run.db --complete -o ./run.db --force
expect 2 'npumem-check: old.db: is the input itself' npumem-check run.db --baseline old.db -o old.db --force
expect 2 'npumem-stack: run.db: is the input itself' npumem-stack run.db -o run.db --force
expect 2 'npumem-diff: old.db: is the input itself' npumem-diff run.db old.db -o old.db --force
expect 2 'npumem-diff: run.db: is the input itself' npumem-diff run.db old.db -o run.db --force
expect 2 'npumem-whatif: run.db: is the input itself' npumem-whatif run.db -o run.db --force
expect 2 'npumem-top: run.zst: is the input itself' npumem-top --once run.zst -o run.zst --force
cmp run.db kept.db && cmp old.db kept.db || fail "an input has changed"

# What a program that is no more left beside the output goes; what belongs to one that lives stays.
true &
dead=$!
wait $dead
: >answer3.$dead.tmp
: >answer3.$$.tmp
expect 1 '' npumem-stack run.db nowhere -o answer3
[ ! -e answer3.$dead.tmp ] && [ -e answer3.$$.tmp ] || fail "what lies beside the output: $(ls answer3*)"
[ $failures = 0 ] || exit 1
