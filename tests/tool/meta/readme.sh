#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# readme.sh BIN_FOLDER SAMPLE_FOLDER SCRATCH [--update]: runs the sessions of README, docs/session.md and docs/tutorial.md (the blocks marked
# `console`) and compares what comes out, line by line; times may differ, so they are masked. The Chinese of a page shows its own.
# With --update it first writes them into the documents as they are now. And README is short enough to be read.
set -u
. "${0%/*}/common.sh"
bin=$1 samples=$2 scratch=$3 mode=${4:-}
root=$PWD

# Times differ from run to run, and with them how often memory was sampled and where a row of the screen ends; lines from edit to
# edit, and with them the space that a column takes up. What calls cost is judged by times too, so where it is said is not compared.
mask() {
    sed -z 's/ *\n         / /g' | sed -E -e 's/[0-9][0-9,]* events/COUNT events/g' -e 's/[0-9][0-9,.]* (ns|us|ms|s|min|h)\b/TIME/g' -e "s/, (less than )?[0-9.]+ % of the threads' time//" -e 's/\.c:[0-9]+/.c:LINE/g' -e 's/pid [0-9]+/pid N/g' -e 's/, +allocation cost TIME//' -e 's/--+/--/g' -e 's/ +/ /g' \
        -e 's/ +$//'
}

# between FILE: what its console blocks hold.
between() {
    awk 'inside && $0 == "```" { inside = 0 } inside; $0 == "```console" { inside = 1 }' "$1"
}

# put_between FILE: standard input in the place of that, each block from its first command on.
put_between() {
    awk '
        FNR == NR { text[NR] = $0; count = NR; next }
        inside && $0 == "```" { inside = 0 }
        inside && /^\$ / {
            while (at < count && text[at + 1] != $0) print text[++at]
            print text[++at]
            while (at < count && text[at + 1] !~ /^\$ /) print text[++at]
        }
        !inside
        $0 == "```console" { inside = 1 }' - "$1" >"$scratch/document" &&
        cp "$scratch/document" "$1"
}

# run_session WANTED: its lines that begin with `$ `, in a folder of their own.
run_session() {
    rm -rf "$scratch/run"
    mkdir "$scratch/run"
    cd "$scratch/run" || exit 1
    ln -s "$root/fixtures" fixtures
    PATH=$bin:$samples:$PATH
    sed -n 's/^\$ //p' "$1" | while read -r command; do
        printf '$ %s\n' "$command"
        bash -c "$command" </dev/null 2>&1 || printf 'ends with %s\n' $?
    done
}

# hold FILE: its session is what comes out.
hold() {
    between "$1" >"$scratch/wanted"
    [ -s "$scratch/wanted" ] || fail "$1 has no session"
    # A machine that is too busy for the recorder to keep up makes events drop, which says nothing of the document.
    for _ in 1 2 3 4 5; do
        (run_session ../wanted) | sed 's/ *$//' >"$scratch/seen"
        ! grep -q '^npumem-record: .* [1-9][0-9,]* dropped' "$scratch/seen" || continue
        break
    done
    [ -n "$(find "$scratch/run" -name '*.db')" ] || fail "the session of $1 leaves no database"
    [ "$mode" != --update ] || put_between "$1" <"$scratch/seen"
    diff <(between "$1" | mask) <(mask <"$scratch/seen") >&2 || fail "the session of $1 (<) and a run (>) differ"
    chinese=${1%.md}.zh-CN.md
    [ -e "$chinese" ] || return 0
    [ "$mode" != --update ] || put_between "$chinese" <"$scratch/seen"
    diff <(between "$1") <(between "$chinese") >&2 || fail "the screens of $1 (<) and $chinese (>) differ"
}

rm -rf "$scratch"
mkdir -p "$scratch"
scratch=$(cd "$scratch" && pwd)
hold docs/session.md
hold docs/tutorial.md
hold README.md
for document in README.md README.zh-CN.md; do
    [ "$(wc -l <"$document")" -le 150 ] || fail "$document has more than 150 lines"
done
finish
