#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# No column of a row and no parameter of a statement is named by a number that is written down: a column more, or two exchanged,
# would go unseen. src/store/question.h says how they are named. What is left out is listed, with its reason, and every line of
# the list is still needed.
#
#     columns.sh [FOLDER]     (of the sources; to be tested itself)
set -u
. "${0%/*}/common.sh"
root=${1:-src}

exempt='
store/database.c      what gives the one value that a statement answers with
'

read_calls='sqlite3_column_[a-z0-9]+|nm_db_(text|is_null)'
bind_calls='sqlite3_bind_(blob|double|int|null|text|value|pointer|zeroblob)[a-z0-9]*'
argument='([^,()]|\([^()]*\))'

# The second argument is a number, or has one in it: column + 5.
found=$(source_files "$root/*.c" "$root/*.h" | grep "^$root/" |
    xargs grep -nE "\b($read_calls|$bind_calls)\($argument+, *([^,()]*[^A-Za-z0-9_,()])?[0-9]+\b" | sed "s|^$root/||")

while read -r file reason; do
    [ -z "$file" ] && continue
    grep -q "^$file:" <<<"$found" || [ "$root" != src ] || fail "nothing needs to be left out for: $file ($reason)"
    found=$(grep -v "^$file:" <<<"$found")
done <<<"$exempt"
while IFS= read -r line; do
    [ -z "$line" ] || fail "$root/$line: a number where a name is to stand (src/store/question.h)"
done <<<"$found"
finish
