#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# What of src/ a build with coverage has run, by gcov's own count: a line counts once, in however many programs and libraries it stands, and
# has run if it has in one of them; a file that nothing ran counts with all its lines. Fails where src/ as a whole or a file is below
# the floor that coverage.txt names.
set -euo pipefail

usage() {
    cat <<'END'
usage: tests/coverage.sh BUILD [--missing FILE]

    --missing FILE   instead, the lines of this file of src/ that did not run
END
}

[ $# = 1 ] || { [ $# = 3 ] && [ "$2" = --missing ]; } || { usage >&2 && exit 2; }
root=$(dirname "$(dirname "$(realpath "$0")")")
build=$(realpath -e -- "$1") missing=${3:-}
counts=$(mktemp -d)
trap 'rm -rf "$counts"' EXIT

# FILE LINE HAS_RUN, from each object that has lines of it. Names of files are from the build folder on where ccache compiled them.
cd "$build"
find . -name '*.gcno' -print0 | xargs -0 -n 32 -P "$(nproc)" sh -c 'gcov -t "$@" 2>/dev/null >"$0/$$"' "$counts"
cat "$counts"/* | awk -v root="$root/" '
    {
        mark = index($0, ":")
        count = substr($0, 1, mark - 1)
        rest = substr($0, mark + 1)
        line = substr(rest, 1, index(rest, ":") - 1) + 0
    }
    line == 0 && match(rest, /^ *0:Source:/) {
        file = substr(rest, RLENGTH + 1)
        while (sub(/^\.\.\//, "", file)) { }
        if (index(file, root) == 1)
            file = substr(file, length(root) + 1)
        is_ours = file ~ /^src\//
        next
    }
    is_ours && line > 0 && count !~ /-$/ {
        has_run[file "\t" line] += count !~ /[#=]$/
    }
    END {
        for (key in has_run)
            print key "\t" (has_run[key] > 0)
    }' | sort -t "$(printf '\t')" -k1,1 -k2,2n >"$counts/lines"

cd "$root"
if [ -n "$missing" ]; then
    awk -F '\t' -v file="$missing" '$1 == file && !$3 { print $2 }' "$counts/lines" |
        while read -r line; do printf '%s:%d:%s\n' "$missing" "$line" "$(sed -n "${line}p" "$missing")"; done
    exit 0
fi

# A file that is gone may have left its object. What is made of SQL has a line or two, and is the SQL's.
awk -F '\t' '
    function is_there(file, text, answer) {
        answer = (getline text < file) >= 0
        close(file)
        return answer
    }
    function share(file) {
        return 100 * ran[file] / lines[file]
    }
    function complain(text) {
        print "below its floor: " text | "sort"
        has_failed = 1
    }
    FILENAME == "tests/coverage.txt" && /^[^#]/ {
        split($0, word, / +/)
        floor[word[1]] = word[2]
    }
    FILENAME == "tests/coverage.txt" || (!($1 in lines) && !is_there($1)) { next }
    {
        lines[$1]++
        ran[$1] += $3
        lines["src/"]++
        ran["src/"] += $3
    }
    END {
        if (!lines["src/"]) {
            print "nothing was counted"
            exit 1
        }
        for (file in lines)
            printf "%6.1f %%  %5d  %s\n", share(file), lines[file], file | "sort -k4"
        close("sort -k4")
        for (file in lines) {
            least = file in floor ? floor[file] : floor["each"]
            if (share(file) < least && file !~ /\.sql\.h$/)
                complain(sprintf("%s, %.1f %% where tests/coverage.txt says %d", file, share(file), least))
            else if (file in floor && file != "src/" && share(file) >= floor["each"])
                print "tests/coverage.txt need not name " file
        }
        for (file in floor)
            if (file != "each" && !(file in lines))
                complain(file ", which tests/coverage.txt names, is not there")
        close("sort")
        exit has_failed
    }' tests/coverage.txt "$counts/lines"
