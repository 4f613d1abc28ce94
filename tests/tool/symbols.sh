#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Names in optimised and in stripped code: `inlined` says itself through which functions and lines it takes memory. The
# database must say the same, whether the recorder named them or npumem-ingest --symbols did; and symbols of another build
# are never used.
#
#     symbols.sh FOLDER_OF_THE_PROGRAMS OBJCOPY INLINED OTHER_BUILD FOLDER
set -eu
bin=$1 objcopy=$2 program=$3 other=$4 folder=$5

fail() {
    echo "FAIL: $*" >&2
    exit 1
}

# The stack of the program's one allocation, innermost first: the labels of frames in its own code.
stack_of() {
    sqlite3 "$1" "WITH RECURSIVE walk (place, stack_id) AS (
                      SELECT 0, stack_id FROM allocation JOIN z_heap_place USING (heap_id) WHERE level = 'driver'
                      UNION ALL SELECT place + 1, parent_id FROM walk JOIN stack USING (stack_id)
                      WHERE parent_id IS NOT NULL)
                  SELECT label FROM walk JOIN stack USING (stack_id) JOIN frame USING (frame_id)
                  WHERE module LIKE '%/inlined%' AND function <> '_start' OR function IS NULL AND module LIKE '%/inlined%'
                  ORDER BY place"
}

site_of() {
    sqlite3 "$1" "SELECT site FROM outstanding WHERE level = 'driver'"
}

rm -rf "$folder"
mkdir -p "$folder"
cd "$folder"

# As built: the recorder finds the names.
"$bin/npumem-record" -o whole.zst -- "$program" >books
"$bin/npumem-ingest" --quiet whole.zst
[ "$(wc -l <books)" = 5 ] || fail "the program's books: $(cat books)"
stack_of whole.db | head -n 5 | diff books - || fail "the stack is not what the program says"
[ "$(site_of whole.db)" = "$(head -n 1 books)" ] || fail "the site is $(site_of whole.db)"
[ "$(sqlite3 whole.db 'SELECT count(*) FROM frame WHERE inlined_in IS NOT NULL')" = 3 ] || fail "not three were inlined"

# Stripped before it is recorded: places in a module.
"$objcopy" --only-keep-debug "$program" kept
"$objcopy" --only-keep-debug "$other" other.kept
mkdir bare right right/deep wrong
mv kept right/deep/any.name
mv other.kept wrong/inlined.debug
"$objcopy" --strip-all "$program" bare/inlined
"$bin/npumem-record" -o bare.zst -- bare/inlined >bare.books
cmp books bare.books
"$bin/npumem-ingest" --quiet bare.zst
stack_of bare.db | grep -q '^inlined+0x' || fail "a stripped program has names: $(stack_of bare.db)"

# named NAME OPTION...: the same trace with symbols; says the line on names.
named() {
    name=$1
    shift
    "$bin/npumem-ingest" -o "$name.db" "$@" bare.zst >"$name.out" 2>"$name.err" || fail "$name: $(cat "$name.err")"
    grep '^symbols ' "$name.out"
}

# lacking NAME: how many modules still lack symbols, by that line. libc is one where its own are not installed.
lacking() {
    sed -nE '/^symbols .* frames named$/s/.*/0/p; s/^symbols .* frames named, ((1) module still lacks|([0-9]+) modules still lack) symbols .*/\2\3/p' "$1.line"
}

named right --symbols right >right.line
[ -n "$(lacking right)" ] || fail "nothing said of names: $(cat right.line)"
stack_of right.db | head -n 5 | diff books - || fail "--symbols gives other names than the recorder"
[ "$(site_of right.db)" = "$(head -n 1 books)" ] || fail "the site by symbols is $(site_of right.db)"
[ ! -s right.err ] || fail "$(cat right.err)"

named wrong --symbols wrong >wrong.line
[ "$(lacking wrong)" = $(($(lacking right) + 1)) ] || fail "a lack of symbols is not said: $(cat right.line wrong.line)"
stack_of wrong.db | diff <(stack_of bare.db) - || fail "symbols of another build were used"

# A broken file beside it is one line and no failure; folders add up.
mkdir broken
head -c 3000 right/deep/any.name >broken/cut
named both --symbols wrong --symbols broken --symbols right >both.line
stack_of both.db | head -n 5 | diff books - || fail "several folders give other names"
[ "$(cat both.err)" = "npumem-ingest: broken/cut: an ELF file without its end" ] || fail "said: $(cat both.err)"

# A file with the right build id that cannot be read: headers whole, the rest turned over.
mkdir upset
{
    head -c 2000 right/deep/any.name
    tail -c +2001 right/deep/any.name | head -c 3000 | tr '\000-\377' '\001-\377\000'
    tail -c +5001 right/deep/any.name
} >upset/any.name
named upset --symbols upset >upset.line
[ "$(wc -l <upset.err)" -le 1 ] || fail "more than a line on a file that is upset: $(cat upset.err)"

# Wrong usage.
for arguments in "--symbols" "--symbols nowhere" "--symbols books"; do
    status=0
    # shellcheck disable=SC2086
    "$bin/npumem-ingest" -o no.db bare.zst $arguments 2>usage.err || status=$?
    [ "$status" = 2 ] || fail "'$arguments' ended with $status"
    [ ! -e no.db ] || fail "'$arguments' left a database"
done
