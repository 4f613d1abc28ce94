#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# languages.sh SCRATCH: README.md and README.zh-CN.md are one document in two languages: the same kinds of lines in the same
# order (headings, blocks, lists, tables, paragraphs), the same commands, the same links, the same code and figures.
set -u
. "${0%/*}/common.sh"
scratch=$1
rm -rf "$scratch"
mkdir -p "$scratch"

# FILE: a word for each line that has a kind: what a block holds stands there as it is, without a command's remark.
outline() {
    awk '
        /^```/ { inside = !inside; print; next }
        inside { print; next }
        /^    [^ ]/ { line = substr($0, 5); sub(/   +.*/, "", line); print "    " line; next }
        /^#+ / { print $1; next }
        /^- / { print "item"; next }
        /^\|/ { print "row " gsub(/\|/, "|"); next }
        /^$/ { print ""; next }
        { print "text" }' "$1" | uniq
}

# FILE: where its links lead, in their order, without the one to the other language.
links() {
    grep -oE '\]\([^)]+\)' "$1" | grep -vE 'README(\.zh-CN)?\.md\)$' | tr -d '])('
}

# FILE: what stands in backquotes, each once: names are not translated.
names() {
    sed '/^```/,/^```/d' "$1" | grep -oE '`[^`]+`' | sort -u
}

for part in outline links names; do
    for document in README.md README.zh-CN.md; do "$part" "$document" >"$scratch/$part.$document"; done
    [ -s "$scratch/$part.README.md" ] || fail "README.md has no $part"
    diff "$scratch/$part.README.md" "$scratch/$part.README.zh-CN.md" >&2 || fail "$part: README.md (<) and README.zh-CN.md (>) differ"
done

# Cells of the table: versions and figures are the same, and so is each yes and no.
cells() {
    grep '^|' "$1" | tail -n +3 | sed -E 's/是/yes/g; s/否/no/g' | awk -F'|' '{ print $4, $5, $6 }' | tr -s ' '
}
diff <(cells README.md) <(cells README.zh-CN.md) >&2 || fail "what it ran on: README.md (<) and README.zh-CN.md (>) differ"

# Every figure of one is in the other: the digits of both, outside of blocks.
figures() {
    sed -E '/^```/,/^```/d; /^    /d; s/300 万/3 million/g; s/双核/2-core/' "$1" | grep -oE '[0-9]+(\.[0-9]+)?' | sort | uniq -c
}
diff <(figures README.md) <(figures README.zh-CN.md) >&2 || fail "figures: README.md (<) and README.zh-CN.md (>) differ"
finish
