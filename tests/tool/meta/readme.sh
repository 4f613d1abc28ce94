#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# readme.sh BIN_FOLDER SAMPLE_FOLDER SCRATCH: runs README's session (its block marked `console`) and compares what comes
# out, line by line; times may differ, so they are masked. Then holds the table of views to the views of the database,
# and every file that README names must exist.
set -u
. "${0%/*}/common.sh"
bin=$1 samples=$2 scratch=$3
root=$PWD

# Masked: times, the space that columns take up for them, and the trace's own size and rate.
mask() {
    sed -E -e 's/[0-9][0-9,.]* (ns|us|ms|s|min|h)\b/TIME/g' -e 's/ +/ /g' -e 's/ +$//'
}

block_after() {
    awk -v fence="$1" '$0 == "```" fence { inside = 1; next } /^```$/ { if (inside) exit } inside' README.md
}

rm -rf "$scratch"
mkdir -p "$scratch"
block_after console >"$scratch/wanted"
[ -s "$scratch/wanted" ] || fail "README has no console block"
(
    cd "$scratch" || exit 1
    ln -s "$root/fixtures" fixtures
    export PATH="$bin:$samples:$PATH"
    sed -n 's/^\$ //p' wanted | while read -r command; do
        printf '$ %s\n' "$command"
        bash -c "$command" </dev/null 2>&1 || printf 'ends with %s\n' $?
    done
) >"$scratch/seen"
diff -u <(mask <"$scratch/wanted") <(mask <"$scratch/seen") >"$scratch/difference" || {
    cat "$scratch/difference" >&2
    fail "README's session looks different now"
}

# The table of views: each with the first sentence of its own comment, in the order of the schema.
print_views() {
    sqlite3 "$1" "SELECT sql FROM sqlite_master WHERE type = 'view' ORDER BY rowid" | awk '
        /^CREATE VIEW / { name = $3; text = ""; inside = 1; next }
        inside && /^ *-- / { sub(/^ *-- /, ""); text = text (text == "" ? "" : " ") $0; next }
        inside { inside = 0
            if (match(text, /\. /)) text = substr(text, 1, RSTART - 1)
            sub(/\.$/, "", text); printf "| `%s` | %s |\n", name, text }'
}

db=$(find "$scratch" -name '*.db' | head -n 1)
if [ -n "$db" ]; then
    print_views "$db" >"$scratch/views"
    awk '/^\| view \|/ { inside = 1; getline; next } inside && !/^\|/ { exit } inside' README.md >"$scratch/table"
    diff "$scratch/table" "$scratch/views" >&2 || fail "README's table of views (<) and the database (>) differ"
else
    fail "README's session leaves no database"
fi

cd "$root" || exit 1
grep -oE '`(docs|queries|src|fixtures|bench|tests)/[A-Za-z0-9_./-]+`' README.md CONTRIBUTING.md docs/recorder.md |
    tr -d '`' | while IFS=: read -r document file; do
    [ -e "$file" ] || [[ $file = *MODULE* ]] || echo "$document names $file, which is not there"
done | grep . >&2 && fail "a named file is missing"
finish
