#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# No function has more than 80 lines, and in src/ at least 95 of 100 have at most 40.
set -u
. "${0%/*}/common.sh"

command -v ctags >/dev/null || skip "no ctags here"
ctags --version | grep -qi 'universal' || skip "universal-ctags is wanted"

# LINES FILE FUNCTION, of each function in the files named on standard input.
measure() {
    ctags -L - -f - --languages=C --map-C=+.h --kinds-C=f --fields=+ne --excmd=number |
        awk -F'\t' '{ first = last = 0
            for (i = 4; i <= NF; i++) { if ($i ~ /^line:/) first = substr($i, 6); if ($i ~ /^end:/) last = substr($i, 5) }
            print last - first + 1, $2, $1 }'
}

while read -r lines file function; do
    fail "$file: $function has $lines lines"
done < <(source_files '*.c' '*.h' | measure | awk '$1 > 80')

read -r total over < <(source_files 'src/*.c' 'src/*.h' | grep '^src/' | measure |
    awk '{ total++; over += $1 > 40 } END { print total + 0, over + 0 }')
echo "$over of $total functions in src/ have more than 40 lines"
[ "$total" -gt 0 ] || fail "no function was found"
if [ $((over * 100)) -gt $((total * 5)) ]; then
    fail "more than 5 of 100:"
    source_files 'src/*.c' | grep '^src/' | measure | awk '$1 > 40' | sort -rn >&2
fi
finish
