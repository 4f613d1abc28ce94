#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Each .c of src/ begins with its paragraph: the first comment says more than the licence. Folders that are not done yet
# stand in a list, from which a folder goes when all its files have one.
set -u
. "${0%/*}/common.sh"

not_done='replay sites store report tool'

# FILE: how many words its first comment has beside the licence.
words_of() {
    awk 'NR == 1 && !/^\/\*/ { exit }
         { text = text " " $0 }
         /\*\// { exit }
         END { gsub(/SPDX-License-Identifier: Apache-2.0|[\/*]/, "", text); print split(text, words, " ") }' "$1"
}

checked=0
for file in $(source_files 'src/*.c' | grep '^src/'); do
    folder=${file#src/}
    folder=${folder%%/*}
    case " $not_done " in *" $folder "*) continue ;; esac
    checked=$((checked + 1))
    [ "$(words_of "$file")" -ge 8 ] || fail "$file does not begin with what it is for"
done
[ "$checked" -gt 0 ] || fail "no file was found"

# A folder whose files all have one is done.
for folder in $not_done; do
    [ -d "src/$folder" ] || continue
    lacking=0
    for file in $(source_files "src/$folder/*.c" | grep "^src/$folder/"); do
        [ "$(words_of "$file")" -ge 8 ] || lacking=$((lacking + 1))
    done
    [ "$lacking" -gt 0 ] || fail "every file of src/$folder/ has its paragraph: take it off the list"
done
echo "$checked files begin with their paragraph; not done: $not_done"
finish
