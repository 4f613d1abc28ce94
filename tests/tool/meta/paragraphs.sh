#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Each .c of src/ begins with its paragraph: the first comment says more than the licence.
set -u
. "${0%/*}/common.sh"

# FILE: how many words its first comment has beside the licence.
words_of() {
    awk 'NR == 1 && !/^\/\*/ { exit }
         { text = text " " $0 }
         /\*\// { exit }
         END { gsub(/SPDX-License-Identifier: Apache-2.0|[\/*]/, "", text); print split(text, words, " ") }' "$1"
}

checked=0
for file in $(source_files 'src/*.c' | grep '^src/'); do
    checked=$((checked + 1))
    [ "$(words_of "$file")" -ge 8 ] || fail "$file does not begin with what it is for"
done
[ "$checked" -gt 0 ] || fail "no file was found"

echo "$checked files begin with their paragraph"
finish
