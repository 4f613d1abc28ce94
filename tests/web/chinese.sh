#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# chinese.sh NODE BIN_FOLDER TEXT2TRACE SOURCE_DIR SCRATCH: pages of traces with leaks, suspects, misuse, failed requests, several ranks and another run,
# read in Chinese by chinese.mjs. For who has no script each has the summary in both languages, that of who makes it first.
set -u
node=$1 bin=$2 text2trace=$3 source=$4 scratch=$5 here=$(cd "${0%/*}" && pwd)

die() {
    echo "$*" >&2
    exit 1
}

rm -rf "$scratch"
mkdir -p "$scratch"
cd "$scratch" || exit 1
"$node" "$here/groups.mjs" >groups.txt || die "groups.mjs prints no trace"
cp "$here/hostile.txt" hostile.txt
for name in suspect_by_site misuse out_of_memory leak_by_site health finding finding_ranks finding_growth uneven_rank_alike graph_memory peak_by_module; do
    cp "$source/tests/sql/$name/trace.txt" $name.txt || die "there is no trace of $name"
done
for text in *.txt; do
    name=${text%.txt}
    "$text2trace" "$text" "$name.zst" && "$bin/npumem-ingest" --quiet "$name.zst" && "$bin/npumem-report" --no-sql "$name.db" || die "$name has no page"
done
"$bin/npumem-report" --no-sql leak_by_site.db --against hostile.db -o against.html || die "there is no page of two runs"
"$node" "$here/chinese.mjs" ./*.html || die "English in a page that is read in Chinese"
for locale in C:en zh_CN.UTF-8:zh; do
    LC_ALL=${locale%:*} "$bin/npumem-report" --force --no-sql -o both.html out_of_memory.db || die "no page in ${locale%:*}"
    case ${locale#*:} in en) order="en zh" ;; *) order="zh en" ;; esac
    [ "$(grep -o '<pre class="summary" lang="[a-z]*"' both.html | cut -d'"' -f4 | xargs)" = "$order" ] || die "the summaries of ${locale%:*} are not: $order"
    for language in en zh; do
        LC_ALL=C "$bin/npumem-ingest" --lang $language --force out_of_memory.zst -o said.db 2>/dev/null | grep -v 'said.db' >screen.txt
        sed -n "/<pre class=\"summary\" lang=\"$language\">/,/<\/pre>/p" both.html | sed 's/<[^>]*>//g; s/&lt;/</g; s/&gt;/>/g; s/&quot;/"/g; s/&amp;/\&/g' | grep -v '^$' >summary.txt
        [ -s screen.txt ] && head -n 3 screen.txt | while read -r line; do grep -qF -- "$line" summary.txt || exit 1; done || die "the summary in $language is not the screen: $(cat screen.txt summary.txt)"
    done
done
