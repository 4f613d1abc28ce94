#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# What several files of SQL say alike stands in each of them, so that they are whole, and by hand in one: between the lines
# `-- begin NAME ARGUMENT; ...` and `-- end NAME` is blocks/NAME.sql of the same folder, or else of schema/, as far to the right as the lines,
# with the arguments for $1, $2. A line `-- begin` in such a file stands for the whole of another.
#
#     blocks.sh [--update]     --update: writes them (the target sql)
set -u
. "${0%/*}/common.sh"

source_files 'schema/*.sql' 'queries/*.sql' 'src/*.sql' | xargs awk -v update="${1:-}" '
    function wrong(what) { print "FAIL: " what >"/dev/stderr"; failed = 1 }
    # The text for a line `-- begin`, behind what is made; the name.
    function fill(marker, indent,    at, name, words, line, path, i) {
        at = index(marker, "-- begin ") + 9
        name = substr(marker, at)
        sub(/ .*/, "", name)
        split(substr(marker, at + length(name) + 1), words, /; /)
        for (i in words) gsub(/&/, "\\\\&", words[i])
        path = file
        sub(/[^\/]*$/, "blocks/" name ".sql", path)
        if (!(path in masters)) path = schema "blocks/" name ".sql"
        uses[path]++
        if ((getline line <path) <= 0) wrong(file ": no " path)
        else do {
            for (i in words) gsub("[$]" i, words[i], line)
            if (line ~ /[$][0-9]/) wrong(file ": " path " has no argument for: " line)
            if (line ~ /^ *-- begin /) { i = line; sub(/-- begin .*/, "", i); fill(line, indent i) }
            else made = made (line == "" ? "" : indent line) "\n"
        } while ((getline line <path) > 0)
        close(path)
        return name
    }
    function finish_file() {
        if (open != "") wrong(file ": no \"" open "\"")
        else if (made != had && update == "--update" && !failed) { printf "%s", made >file; close(file) }
        else if (made != had) wrong(file ": a block is not what the target sql makes of it")
        open = made = had = ""
    }
    BEGIN {
        for (i = 1; i < ARGC; i++)
            if (ARGV[i] ~ /\/blocks\/[^\/]*$/) { masters[ARGV[i]]; ARGV[i] = "" }
        for (path in masters) if (path ~ /(^|\/)schema\/blocks\//) { schema = path; sub(/blocks\/[^\/]*$/, "", schema) }
    }
    FNR == 1 { if (NR > 1) finish_file(); file = FILENAME }
    { had = had $0 "\n" }
    /^ *-- begin / && open != "" { wrong(file ":" FNR ": before \"" open "\"") }
    /^ *-- end / && $0 != open { wrong(file ":" FNR ": of nothing that has begun") }
    $0 == open { open = "" }
    open == "" { made = made $0 "\n" }
    open == "" && /^ *-- begin / {
        open = $0
        sub(/-- begin .*/, "", open)
        open = open "-- end " fill($0, open)
    }
    END {
        finish_file()
        for (path in masters) if (uses[path] < 2) wrong(path ": does not stand in two places")
        exit failed
    }' || exit 1
