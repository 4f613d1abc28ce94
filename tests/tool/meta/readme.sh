#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# readme.sh BIN_FOLDER SAMPLE_FOLDER SCRATCH [--update]: runs README's session (its block marked `console`) and compares
# what comes out, line by line; times may differ, so they are masked. Then holds the table of views to the views of the
# database, and every file that the documents name must exist. With --update it first writes session and table into
# README.md as they are now.
set -u
. "${0%/*}/common.sh"
bin=$1 samples=$2 scratch=$3 mode=${4:-}
root=$PWD

# Times differ from run to run, and with them how often memory was sampled; lines from edit to edit, and with them the space that a column takes up.
mask() {
    sed -E -e 's/[0-9][0-9,]* events/COUNT events/g' -e 's/[0-9][0-9,.]* (ns|us|ms|s|min|h)\b/TIME/g' -e "s/(less than )?[0-9.]+ % of the threads' time/SHARE of the threads' time/" -e 's/\.c:[0-9]+/.c:LINE/g' -e 's/--+/--/g' -e 's/ +/ /g' \
        -e 's/ +$//'
}

# What README.md has behind the first line that is $1, up to a line that is $2.
between() {
    awk -v first="$1" -v last="$2" 'inside && $0 == last { exit } inside; $0 == first { inside = 1 }' README.md
}

# Puts standard input in the place of it.
put_between() {
    awk -v first="$1" -v last="$2" '
        FNR == NR { text = text $0 "\n"; next }
        inside && $0 == last { inside = 0 }
        !inside
        $0 == first { inside = 1; printf "%s", text }' - README.md >"$scratch/README.md" &&
        cp "$scratch/README.md" README.md
}

run_session() {
    rm -rf "$scratch/run"
    mkdir "$scratch/run"
    cd "$scratch/run" || exit 1
    ln -s "$root/fixtures" fixtures
    PATH=$bin:$samples:$PATH
    sed -n 's/^\$ //p' ../wanted | while read -r command; do
        printf '$ %s\n' "$command"
        bash -c "$command" </dev/null 2>&1 || printf 'ends with %s\n' $?
    done
}

# Each view with the first sentence of its own comment, in the order of the schema.
print_views() {
    sqlite3 "$1" "SELECT sql FROM sqlite_master WHERE type = 'view' ORDER BY rowid" | awk '
        /^CREATE VIEW / { name = $3; text = ""; inside = 1; next }
        inside && /^ *-- / { sub(/^ *-- /, ""); text = text (text == "" ? "" : " ") $0; next }
        inside { inside = 0
            if (match(text, /\. /)) text = substr(text, 1, RSTART - 1)
            sub(/\.$/, "", text); printf "| `%s` | %s |\n", name, text }'
}

rm -rf "$scratch"
mkdir -p "$scratch"
between '```console' '```' >"$scratch/wanted"
# A machine that is too busy for the recorder to keep up makes events drop, which says nothing of README.
for _ in 1 2 3 4 5; do
    (run_session) | sed 's/ *$//' >"$scratch/seen"
    ! grep -q '^npumem-record: .* [1-9][0-9,]* dropped' "$scratch/seen" || continue
    break
done
db=$(find "$scratch" -name '*.db' | head -n 1)
[ -n "$db" ] || fail "README's session leaves no database"
print_views "${db:-/dev/null}" >"$scratch/views"

if [ "$mode" = --update ]; then
    put_between '```console' '```' <"$scratch/seen"
    put_between '|---|---|' '' <"$scratch/views"
fi

diff <(between '```console' '```' | mask) <(mask <"$scratch/seen") >&2 || fail "README's session (<) and a run (>) differ"
diff <(between '|---|---|' '') "$scratch/views" >&2 || fail "README's table of views (<) and the database (>) differ"

grep -oE '`(docs|queries|src|fixtures|bench|tests)/[A-Za-z0-9_./-]+`' README.md CONTRIBUTING.md docs/recorder.md |
    tr -d '`' | while IFS=: read -r document file; do
    [ -e "$file" ] || [[ $file = *MODULE* ]] || echo "$document names $file, which is not there"
done | grep . >&2 && fail "a named file is missing"
finish
