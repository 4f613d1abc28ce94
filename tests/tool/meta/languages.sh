#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# languages.sh: README.md, and each page of docs/ that has a PAGE.zh-CN.md, is one document in two languages: the same kinds of
# lines in the same order (headings, blocks, lists, tables, paragraphs), the same commands, the same links, the same code and figures.
# A link leads to a page in the language of the document where there is one.
set -u
. "${0%/*}/common.sh"

# FILE: a word for each line that has a kind: what a block holds stands there as it is, without a command's remark, and of a row
# what stands in backquotes.
outline() {
    awk '
        /^```/ { inside = !inside; print; next }
        inside { print; next }
        /^    [^ ]/ { line = substr($0, 5); sub(/   +.*/, "", line); print "    " line; next }
        /^#+ / { print $1; next }
        /^- / { print "item"; next }
        /^  [^ ]/ { next }
        /^\|/ {
            printf "row %d", gsub(/\|/, "|")
            for (; match($0, /`[^`]+`/); $0 = substr($0, RSTART + RLENGTH)) printf " %s", substr($0, RSTART, RLENGTH)
            print ""
            next
        }
        /^$/ { print ""; next }
        { print "text" }' "$1" | uniq
}

# FILE: where its links lead, in their order, without the one to the other language: a page, and the number of the heading there.
links() {
    local target page file heading
    while read -r target; do
        page=${target%%#*} file=$1 heading=
        [ "${page%%.*}" != "$(basename "${1%%.*}")" ] || continue
        [ -z "$page" ] || file=$(dirname "$1")/$page
        [[ $target != *#* ]] || heading=" heading $(anchors_of "$file" | grep -nxF "${target#*#}" | cut -d: -f1)"
        printf '%s%s\n' "${page/.zh-CN.md/.md}" "$heading"
    done < <(grep -oE '\]\([^)]+\)' "$1" | tr -d '])(')
}

# FILE: what stands in backquotes, each once: names are not translated, but for a page's that is there in Chinese.
names() {
    sed '/^```/,/^```/d' "$1" | grep -oE '`[^`]+`' | sed 's/\.zh-CN\.md`$/.md`/' | sort -u
}

# FILE: each figure outside of blocks, and how often.
figures() {
    sed -E '/^```/,/^```/d; /^    /d; s/300 万/3 million/g; s/双核/2-core/' "$1" | grep -oE '[0-9]+(\.[0-9]+)?' | sort | uniq -c
}

pairs=0
for chinese in *.zh-CN.md docs/*.zh-CN.md; do
    english=${chinese%.zh-CN.md}.md pairs=$((pairs + 1))
    for part in outline links names figures; do
        diff <("$part" "$english") <("$part" "$chinese") >&2 || fail "$part: $english (<) and $chinese (>) differ"
    done
    grep -qxF "[中文]($(basename "$chinese"))" "$english" || fail "$english does not lead to $chinese"
    grep -qxF "[English]($(basename "$english"))" "$chinese" || fail "$chinese does not lead to $english"
    while read -r page; do
        [ "$page" = "$(basename "$english")" ] || [ ! -e "$(dirname "$chinese")/${page%.md}.zh-CN.md" ] ||
            fail "$chinese leads to $page, which is there in Chinese"
    done < <(grep -oE '\]\([^)#]+\.md' "$chinese" | sed 's/^](//' | grep -v '\.zh-CN\.md$')
done
[ "$pairs" -ge 6 ] || fail "only $pairs documents were found in Chinese"

# Cells of the table: versions and figures are the same, and so is each yes and no.
cells() {
    grep '^|' "$1" | tail -n +3 | sed -E 's/是/yes/g; s/否/no/g' | awk -F'|' '{ print $4, $5, $6 }' | tr -s ' '
}
diff <(cells README.md) <(cells README.zh-CN.md) >&2 || fail "what it ran on: README.md (<) and README.zh-CN.md (>) differ"
finish
