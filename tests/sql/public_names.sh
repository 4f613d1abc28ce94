#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# public_names.sh SOURCE_DIR: what a user is told to look at is there and is public. No document, man page, sentence, head of a
# query or comment of a public table or view names an internal one, and each "view NAME" and "queries/NAME.sql" is one.
set -u
cd "$1" || exit 1
status=0
fail() {
    echo "$*" >&2
    status=1
}

internals=$(sed -nE 's/^CREATE (TABLE|VIEW) z_([a-z_]+) .*/\2/p' schema/*.sql | paste -sd'|')
public=$(sed -nE 's/^CREATE (TABLE|VIEW) ([a-z_]+) .*/\2/p' schema/*.sql | grep -v '^z_')
hidden=$(tr '|' '\n' <<<"$internals" | grep -vxF "$public" | paste -sd'|') # without z_ they have no meaning
[ -n "$internals" ] && [ -n "$public" ] || fail "the schema has no names"
texts=(README.md README.zh-CN.md CHANGELOG.md schema/intro.md examples/README.md man/*.1 src/say/*.def src/tool/*/options.c)
for document in docs/*.md docs/sentences.txt; do
    [ "$document" = docs/database.md ] || texts+=("$document") # it is made of intro.md and of the comments, internals last
done

# With z_ anywhere; without it where a table or view is meant.
grep -nE "(^|[^A-Za-z0-9_])z_($internals)([^A-Za-z0-9_]|\$)" "${texts[@]}" && fail "the lines above name what is internal"
grep -nE "([Vv]iews?|[Tt]able|视图) \`?($hidden)([^A-Za-z0-9_]|\$)|FROM ($hidden)([^A-Za-z0-9_]|\$)" "${texts[@]}" |
    grep -vE '([Vv]iew|[Tt]able) (of|that|module|note)' && fail "the lines above name what has another name now"
awk '/^--/' queries/*.sql | grep -nE "(^|[^A-Za-z0-9_])z_($internals)([^A-Za-z0-9_]|\$)" &&
    fail "the lines above, of heads of queries, name what is internal"

# Comments of public tables and views, which .schema shows.
awk '/^CREATE (TABLE|VIEW) [a-z]/ && $3 !~ /^z_/ { inside = 1 } /^\)/ { inside = 0 } inside && /^ *--/ { print FILENAME ": " $0 }' schema/*.sql |
    grep -E "(^|[^A-Za-z0-9_])z_($internals)([^A-Za-z0-9_]|\$)" && fail "the lines above, of public names, name what is internal"

# What is named is there.
said=$(cat "${texts[@]}" queries/*.sql schema/*.sql | grep -oE "\b[Vv]iews? \`?[a-z]+_[a-z_]+\b|视图 [a-z_]+" | sed -E 's/.*[ `]//' | sort -u)
[ "$(wc -w <<<"$said")" -gt 10 ] || fail "no view is named anywhere: this test finds nothing"
for name in $said; do
    grep -qx "$name" <<<"$public" || grep -qxE "z_($internals)" <<<"$name" || [ -f "queries/$name.sql" ] || fail "view $name is named and is not there, or is internal"
done
for query in $(cat "${texts[@]}" schema/*.sql | grep -oE "queries/[a-z_]+\.sql" | sort -u); do
    [ -f "$query" ] || fail "$query is named and is not there"
done
exit $status
