#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# What each folder of src/ may include, and what its target may link: arrows only go down (CONTRIBUTING.md).
set -u
. "${0%/*}/common.sh"

# FOLDER: the folders that it may use beside itself.
allowed='
base:
trace: base
record: base trace
hook: base trace record
drain: base trace
symbol: base trace
source: base trace
rows: base trace
steps: base trace rows
replay: base trace rows
analysis: base trace rows replay
sites: base trace
sums: base trace rows sites
say: base
store: base trace rows sites sums say
report: base trace say store
screen: base trace say store report
page: base trace say store report
export: base trace say store report
watch: base trace rows replay analysis
whatif: base trace rows replay
tool: base trace drain symbol source rows steps replay analysis sites say store report screen page export watch whatif
'

# FILE FOLDER: a line for each folder of which FILE includes something; FILE FOLDER/REST below tool/. All files are read at once: a
# process a file takes minutes where many tests run.
includes=$(source_files 'src/*.c' 'src/*.h' | grep '^src/' | xargs grep -HoE '^ *# *include "[a-z]*/[^"]*"' |
    sed -E 's|^([^:]*):.*"(.*)"$|\1 \2|' | sort -u)
[ "$(wc -l <<<"$includes")" -gt 500 ] || fail "too few includes were found"

declare -A may_use=()
while IFS=: read -r folder names; do
    [ -n "$folder" ] || continue
    may_use[$folder]=" $names $folder "
    for used in $(find "src/$folder" -name CMakeLists.txt -exec grep -ho 'nm_[a-z]*' {} + | sed 's/nm_//' | sort -u); do
        [ ! -d "src/$used" ] || [[ ${may_use[$folder]} = *" $used "* ]] ||
            fail "a CMakeLists.txt of src/$folder/ names nm_$used, which $folder/ may not use"
    done
done <<<"$allowed"

while read -r file path; do
    folder=${file#src/} folder=${folder%%/*} used=${path%%/*}
    [[ ! $file = src/*/* ]] || [[ ${may_use[$folder]:-} = *" $used "* ]] ||
        fail "$file includes $path, which $folder/ may not use"
done <<<"$includes"

for folder in src/*/; do
    folder=${folder#src/} folder=${folder%/}
    [ -n "${may_use[$folder]:-}" ] || fail "src/$folder/ is not in the list of arrows"
done

# Below tool/ each program is a folder: it uses what they share and never another program. selfcheck/ is no program but what
# `npumem-record --selfcheck` does and compares; record/ starts it, so it stands below record/.
allowed_tools='
common:
selfcheck: common
record: common selfcheck
ingest: common
check: common
diff: common
top: common
whatif: common
stack: common
export: common
report: common
bundle: common
mcp: common
npumem: common
'

declare -A tool_may_use=()
while IFS=: read -r folder names; do
    [ -z "$folder" ] || tool_may_use[$folder]=" $names $folder "
done <<<"$allowed_tools"

while read -r file path; do
    folder=${file#src/tool/} folder=${folder%%/*} used=${path#tool/}
    [[ ! $file = src/tool/* || ! $path = tool/* ]] || [[ ${tool_may_use[$folder]:-} = *" ${used%%/*} "* ]] ||
        fail "$file includes $path, which tool/$folder/ may not use"
done <<<"$includes"

for file in $(source_files 'src/tool/*.c' 'src/tool/*.h' | grep '^src/tool/'); do
    folder=${file#src/tool/}
    [ -n "${tool_may_use[${folder%%/*}]:-}" ] || fail "$file is in no folder of the list of programs"
done

# Samples and benchmarks see the SDK and ACL alone, as any user's program does.
while read -r file used; do
    [ ! -d "src/$used" ] || fail "$file includes $used/: fixtures/, examples/ and bench/ may use npumem.h and ACL only"
done < <(source_files 'fixtures/*.c' 'fixtures/*.h' 'bench/*.c' 'examples/*.c' | grep -E '^(fixtures|bench|examples)/' |
    xargs grep -HoE '^ *# *include "[a-z]*/' | sed -E 's|^([^:]*):.*"(.*)/$|\1 \2|')
finish
