#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# options.sh BIN_FOLDER COMPLETION_FOLDER SCRATCH [--update]: what each program declares of its options, its man page, its
# help and the completion of shells say alike, and a wrong command line is refused. With --update the man pages get the
# entries that the programs print now; what stands behind an entry is left as it is.
set -u
. "${0%/*}/common.sh"
bin=$1 completions=$2 scratch=$3 mode=${4:-}
programs='npumem-record npumem-ingest npumem-check npumem-diff npumem-whatif npumem-stack npumem-export npumem-report npumem-bundle npumem-top npumem-mcp npumem'

rm -rf "$scratch"
mkdir -p "$scratch"

# The page with each place, which is between `.\" --NAME` and `.\" .`, filled by that entry of the first file.
renew_page() {
    awk '
        FNR == NR { if ($0 ~ /^\.\\" [-=]/) name = $0; entries[name] = entries[name] $0 "\n"; next }
        inside && $0 == ".\\\" ." { inside = 0; next }
        inside { next }
        $0 in entries { printf "%s", entries[$0]; inside = 1; next }
        { print }' "$1" "$2"
}

check_page() {
    local program=$1 page=man/$1.1 entry
    "$bin/$program" --describe man >"$scratch/$program.entries" || fail "$program --describe man ends with $?"
    renew_page "$scratch/$program.entries" "$page" >"$scratch/$program.1"
    [ "$mode" != --update ] || cp "$scratch/$program.1" "$page"
    cmp -s "$scratch/$program.1" "$page" || {
        diff "$page" "$scratch/$program.1" | head -n 20 >&2
        fail "$page says other than $program declares: cmake --build build/dev --target update_man"
    }
    grep '^\.\\" [-=]' "$scratch/$program.entries" | sort >"$scratch/declared"
    grep '^\.\\" [-=]' "$page" | sort >"$scratch/told"
    diff "$scratch/declared" "$scratch/told" >&2 || fail "$program declares the options (<), $page has places for (>): a place is that line and one that is .\\\" ."
    if command -v groff >/dev/null; then
        entry=$(groff -man -Tutf8 -ww "$page" 2>&1 >/dev/null) || true
        [ -z "$entry" ] || fail "$page: $entry"
    else
        leave_out "no groff here: it does not read the man pages"
    fi
}

# Each option begins one line of the help, with its letter before it where it has one.
check_help() {
    local program=$1 name count
    "$bin/$program" --help >"$scratch/$program.help" || fail "$program --help ends with $?"
    head -n 1 "$scratch/$program.help" | grep -q "^usage: $program" || fail "$program --help does not begin with its usage"
    [ "$(wc -L <"$scratch/$program.help")" -le 100 ] || fail "$program --help is wider than 100 columns"
    sed -n 's/^\.\\" -/-/p' "$scratch/$program.entries" | while read -r name; do
        count=$(grep -cE -- "^  (-[A-Za-z], |    )?$name( |\$)" "$scratch/$program.help")
        [ "$count" = 1 ] || echo "$program --help has $name $count times"
    done | grep . >&2 && fail "$program --help is not what it declares"
}

# expect_refusal TEXT WORD...: exit status 2, one line that has TEXT, nothing on standard output.
expect_refusal() {
    local text=$1 program=$2
    shift
    "$bin/$program" "${@:2}" >"$scratch/out" 2>"$scratch/err" </dev/null
    [ $? = 2 ] || fail "$*: is not refused with 2"
    [ ! -s "$scratch/out" ] || fail "$*: prints on standard output"
    [ "$(wc -l <"$scratch/err")" = 1 ] || fail "$*: does not say it in one line: $(cat "$scratch/err")"
    grep -q "^$program: .*$text" "$scratch/err" || fail "$*: says $(cat "$scratch/err")"
}

# What every program has, and as far as they print by themselves the map of them, npumem, and npumem-mcp, whose output is a protocol.
check_family() {
    local program=$1 name letter
    while read -r name letter; do
        [[ $program = npumem || $program = npumem-mcp ]] && [ "$name" != --help ] && [ "$name" != --version ] && continue
        grep -qE -- "^  ${letter:-   } *$name( |\$)" "$scratch/$program.help" || fail "$program has no $name like the others"
    done <<'END'
--help -h,
--version -V,
--output -o,
--quiet -q,
--force
END
}

check_refusals() {
    local program option
    for program in $programs; do
        expect_refusal "--frobnicate: no such option" "$program" --frobnicate
        expect_refusal "--versoin: no such option; did you mean --version?" "$program" --versoin
        expect_refusal "-?: no such option" "$program" "-?"
        for option in $(sed -n 's/^\\fB\\-\\-\(.*\)\\fR \\fI.*/\1/p' "$scratch/$program.entries" | sed 's/\\-/-/g'); do
            expect_refusal "--$option: needs " "$program" "--$option"
        done
    done
    expect_refusal "--buffer 12K: must be a size, 64KiB to 1GiB" npumem-record --buffer 12K -- true
    expect_refusal "--sync soon: needs a time: 10s, 5m or 100ms" npumem-record --sync soon -- true
    expect_refusal "--stacks most: must be none, caller" npumem-record --stacks most -- true
    expect_refusal "--max-peak 60: needs a size with its unit: 60GiB, or 60B for bytes" npumem-check --max-peak 60 no.db
    expect_refusal "--threshold much: needs a size" npumem-diff --threshold much a.db b.db
    expect_refusal "--capacity 1e: needs a size" npumem-whatif --capacity 1e no.zst
    expect_refusal "--server-after 0: must be whole minutes" npumem-ingest --server-after 0 no.zst
}

# complete WORD...: the completions of the last word, one a line.
complete_words() (
    COMP_WORDS=("$@")
    COMP_CWORD=$(($# - 1))
    # shellcheck disable=SC1090 # it is made by the build
    . "$completions/$1.bash"
    "_${1//-/_}"
    printf '%s\n' "${COMPREPLY[@]}" | sort -u
)

# expect_words WANTED WORD...
expect_words() {
    local seen wanted=$1
    shift
    seen=$(complete_words "$@" 2>&1 | tr '\n' ' ')
    [ "$seen" = "$wanted " ] || fail "bash completes '$*' to '$seen', not '$wanted'"
}

check_completion() {
    local program shell
    for program in $programs; do
        bash -n "$completions/$program.bash" || fail "$program.bash is no program of bash"
        for shell in zsh fish; do
            [ -s "$completions/$program.$shell" ] || fail "there is no $program.$shell"
        done
        complete_words "$program" -- | grep -E '^-' >"$scratch/completed"
        sed -n 's/^\.\\" //p' "$scratch/$program.entries" | grep '^--' | sort | diff - "$scratch/completed" >&2 ||
            fail "$program declares (<), bash completes (>)"
    done
    mkdir -p "$scratch/here/folder"
    : >"$scratch/here/file"
    : >"$scratch/here/a run.db"
    cd "$scratch/here" || exit 1
    expect_words '--stack-depth --stacks --start-paused' npumem-record --st
    expect_words '--stacks' npumem-record --sta --stacks
    expect_words 'native none' npumem-record --stacks n
    expect_words 'native' npumem-record --stacks = na
    expect_words 'both caller native none python' npumem-record --stacks =
    expect_words 'folder' npumem-record --ring-dir f
    expect_words 'file folder' npumem-record -o f
    expect_words '' npumem-record --stack-depth 1
    expect_words 'expect_words' npumem-record --stacks none -- expect_wo
    expect_words 'file folder' npumem-record -q bash f
    expect_words 'file' npumem-record --quiet -- bash --norc 'fi'
    expect_words 'a run.db' npumem-check --max-peak 1GiB a
}

# What zsh and fish complete each line to, one a line, and "." behind those of each.
complete_in_zsh() {
    local program
    mkdir -p "$scratch/zsh"
    for program in $programs; do
        cp "$completions/$program.zsh" "$scratch/zsh/_$program"
    done
    timeout 60 zsh -f "$root/tests/tool/meta/complete.zsh" "$scratch/zsh" "$scratch/zsh.said" "$@" >/dev/null
    sed 's/\\ / /g' "$scratch/zsh.said"
}

complete_in_fish() {
    HOME=$scratch fish --no-config -c 'set -p fish_complete_path $argv[1]
        for line in $argv[2..-1]; complete -C $line; echo .; end' "$completions" "$@" | sed 's/\t.*//; s/^--[a-z-]*=//; s,/$,,'
}

# In the folder of check_completion: zsh and fish complete as bash does, each program's options and what stands behind them.
check_other_shells() {
    local shell program line lines=("npumem re" "npumem help re" "npumem record --sta" "npumem-record --st" "npumem-record --stacks n"
        "npumem-record --stacks=na" "npumem-record --stacks=" "npumem-record --ring-dir f" "npumem-record -o f" "npumem-record --stack-depth 1"
        "npumem-record -q bash f" "npumem-record --quiet -- bash --norc fi" "npumem-check --max-peak 1GiB a" "npumem check --no-l")
    for program in $programs; do
        lines+=("$program --")
    done
    local PATH=$bin:$PATH
    for line in "${lines[@]}"; do
        IFS=' ' read -ra words <<<"${line/=/ = }"
        [[ $line != *= ]] || words+=('')
        complete_words "${words[@]}" | grep . || true
        echo .
    done >"$scratch/bash.words"
    for shell in zsh fish; do
        command -v $shell >/dev/null || { leave_out "no $shell here: nothing is completed in it" && continue; }
        "complete_in_$shell" "${lines[@]}" | awk '$0 != "." { print | "sort -u" } $0 == "." { close("sort -u"); print; fflush() }' >"$scratch/$shell.words"
        diff "$scratch/bash.words" "$scratch/$shell.words" >&2 || fail "bash completes lines to (<), $shell to (>)"
    done
}

root=$PWD
bin=$(realpath "$bin")
completions=$(realpath "$completions" 2>/dev/null || echo "$completions")
scratch=$(realpath "$scratch")
for program in $programs; do
    check_page "$program"
    [ "$mode" = --update ] || { check_help "$program"; check_family "$program"; }
done
[ "$mode" = --update ] || {
    check_refusals
    check_completion
    check_other_shells
}
finish
