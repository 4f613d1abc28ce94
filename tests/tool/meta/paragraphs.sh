#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Each .c of src/ begins with its paragraph: the first comment says more than the licence.
set -u
. "${0%/*}/common.sh"

# FILE...: those whose first comment has fewer than 8 words beside the licence. One that is empty has none.
without_paragraph() {
    awk 'FNR == 1 { is_over = !/^\/\*/; text = "" }
         is_over { next }
         { text = text " " $0 }
         /\*\// {
             is_over = 1
             gsub(/SPDX-License-Identifier: Apache-2.0|[\/*]/, "", text)
             if (split(text, words, " ") >= 8) print FILENAME
         }' "$@" | comm -23 <(printf '%s\n' "$@") -
}

mapfile -t files < <(source_files 'src/*.c' | grep '^src/' | LC_ALL=C sort)
[ ${#files[@]} -gt 0 ] || fail "no file was found"
while read -r file; do
    fail "$file does not begin with what it is for"
done < <(LC_ALL=C without_paragraph "${files[@]}")

echo "${#files[@]} files, each of which is to begin with its paragraph"
finish
