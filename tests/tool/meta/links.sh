#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# links.sh: what a link of a document leads to is there, its heading too; docs/README.md, the index, has every page; and
# each program has its page in `man npumem` and a page that leads back.
set -u
. "${0%/*}/common.sh"

declare -A anchors=()
checked=0
while IFS=: read -r document target; do
    case $target in http://* | https://* | mailto:*) continue ;; esac
    checked=$((checked + 1))
    file=${target%%#*} anchor=
    [[ $target != *#* ]] || anchor=${target#*#}
    if [ -n "$file" ]; then file=${document%/*}/$file && [[ $document = */* ]] || file=${target%%#*}; else file=$document; fi
    [ -e "$file" ] || { fail "$document leads to $target, which is not there" && continue; }
    [ -n "$anchor" ] || continue
    [ -n "${anchors[$file]:-}" ] || anchors[$file]=$'\n'$(anchors_of "$file")$'\n'
    [[ ${anchors[$file]} = *$'\n'"$anchor"$'\n'* ]] || fail "$document leads to $target: no such heading"
done < <(source_files '*.md' | xargs awk '
    FNR == 1 { inside = 0 }
    /^```/ { inside = !inside; next }
    inside { next }
    { for (; match($0, /\]\([^) ]+\)/); $0 = substr($0, RSTART + RLENGTH)) print FILENAME ":" substr($0, RSTART + 2, RLENGTH - 3) }')
[ "$checked" -gt 40 ] || fail "only $checked links were found"

for page in docs/*.md docs/*.txt; do
    [ "$page" = docs/README.md ] || grep -qF "](${page#docs/})" docs/README.md || fail "docs/README.md does not have $page"
done

for page in man/npumem-*.1; do
    name=${page##*/npumem-} name=${name%.1}
    grep -qE "^\.B[RI]? *npumem (\\\\)?$name|npumem $name" man/npumem.1 || fail "man npumem does not have npumem $name"
    grep -q "npumem[\\\\-]*$name *(1)\|npumem[\\\\-]*$name (1)" man/npumem.1 || fail "man npumem does not lead to npumem-$name(1)"
    grep -q '^\.BR npumem (1)\|BR npumem (1)' "$page" || fail "npumem-$name(1) does not lead to npumem(1)"
done
echo "$checked links"
finish
