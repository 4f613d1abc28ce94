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
store: base trace rows sites sums
report: base trace store
screen: base trace store report
page: base trace store report
export: base trace store report
watch: base trace rows replay analysis
whatif: base trace rows replay
tool: base trace drain symbol source rows steps replay analysis sites store report screen page export watch whatif
'

while IFS=: read -r folder names; do
    [ -n "$folder" ] || continue
    for file in $(source_files "src/$folder/*.c" "src/$folder/*.h" | grep "^src/$folder/"); do
        for used in $(sed -n 's|^ *# *include "\([a-z]*\)/.*|\1|p' "$file" | sort -u); do
            case " $names $folder " in
            *" $used "*) ;;
            *) fail "$file includes $used/, which $folder/ may not use" ;;
            esac
        done
    done
    for used in $(find "src/$folder" -name CMakeLists.txt -exec grep -ho 'nm_[a-z]*' {} + | sed 's/nm_//' | sort -u); do
        [ -d "src/$used" ] || continue
        case " $names $folder " in
        *" $used "*) ;;
        *) fail "a CMakeLists.txt of src/$folder/ names nm_$used, which $folder/ may not use" ;;
        esac
    done
done <<<"$allowed"

for folder in src/*/; do
    folder=$(basename "$folder")
    grep -q "^$folder:" <<<"$allowed" || fail "src/$folder/ is not in the list of arrows"
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
npumem: common
'

while IFS=: read -r folder names; do
    [ -n "$folder" ] || continue
    for file in $(source_files "src/tool/$folder/*.c" "src/tool/$folder/*.h" | grep "^src/tool/$folder/"); do
        for used in $(sed -n 's|^ *# *include "tool/\(.*\)"|\1|p' "$file" | sort -u); do
            case " $names $folder " in
            *" ${used%%/*} "*) ;;
            *) fail "$file includes tool/$used, which tool/$folder/ may not use" ;;
            esac
        done
    done
done <<<"$allowed_tools"

for file in $(source_files 'src/tool/*.c' 'src/tool/*.h' | grep '^src/tool/'); do
    folder=${file#src/tool/}
    grep -q "^${folder%%/*}:" <<<"$allowed_tools" || fail "$file is in no folder of the list of programs"
done

# Samples and benchmarks see the SDK and ACL alone, as any user's program does.
for file in $(source_files 'fixtures/*.c' 'fixtures/*.h' 'bench/*.c' 'examples/*.c' | grep -E '^(fixtures|bench|examples)/'); do
    sed -n 's|^ *# *include "\([a-z]*\)/.*|\1|p' "$file" | while read -r used; do
        [ ! -d "src/$used" ] || echo "$file includes $used/"
    done
done | grep . >&2 && fail "fixtures/, examples/ and bench/ may use npumem.h and ACL only"
finish
