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
replay: base trace rows
sites: base trace
store: base trace rows replay sites
report: base trace store
watch: base trace rows replay
whatif: base trace rows replay
tool: base trace drain symbol source rows replay sites store report watch whatif
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
    for used in $(grep -ho 'nm_[a-z]*' "src/$folder/CMakeLists.txt" 2>/dev/null | sed 's/nm_//' | sort -u); do
        [ -d "src/$used" ] || continue
        case " $names $folder " in
        *" $used "*) ;;
        *) fail "src/$folder/CMakeLists.txt names nm_$used, which $folder/ may not use" ;;
        esac
    done
done <<<"$allowed"

for folder in src/*/; do
    folder=$(basename "$folder")
    grep -q "^$folder:" <<<"$allowed" || fail "src/$folder/ is not in the list of arrows"
done

# Samples and benchmarks see the SDK and ACL alone, as any user's program does.
for file in $(source_files 'fixtures/*.c' 'fixtures/*.h' 'bench/*.c' | grep -E '^(fixtures|bench)/'); do
    sed -n 's|^ *# *include "\([a-z]*\)/.*|\1|p' "$file" | while read -r used; do
        [ ! -d "src/$used" ] || echo "$file includes $used/"
    done
done | grep . >&2 && fail "fixtures/ and bench/ may use npumem.h and ACL only"
finish
