#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# third_party.sh SCRATCH: what third_party/ holds is what its packages published: each file has the sum that SOURCE states, no file is
# without one, and where npm can be asked each is compared with the tarball byte by byte.
set -u
. "${0%/*}/common.sh"
scratch=$1 root=$PWD/third_party compared=0 checked=0

# word FILE NAME: the value of a line of SOURCE.
word() {
    sed -n "s/^$2 //p" "$1"
}

# check_form SOURCE: each line is of one of the four kinds.
check_form() {
    local name
    for name in package version licence; do
        [ "$(word "$1" $name | wc -l)" = 1 ] && [ -n "$(word "$1" $name)" ] || fail "$1 has not one line of '$name'"
    done
    if grep -vE '^((package|version|licence) [^ ]+|sha256 [0-9a-f]{64} [^ /]+ [^ ]+)$' "$1" >&2; then
        fail "$1 has a line of another kind"
    fi
    [ -n "$(word "$1" sha256)" ] || fail "$1 names no file"
    word "$1" sha256 | grep -q ' LICENSE ' || fail "$1 names no LICENSE"
}

# check_sums FOLDER: every file there but SOURCE has its sum.
check_sums() {
    local sum file path
    while read -r sum file path; do
        [ "$(sha256sum <"$1/$file" | cut -d' ' -f1)" = "$sum" ] || fail "$1/$file is not what SOURCE says"
        checked=$((checked + 1))
    done < <(word "$1/SOURCE" sha256)
    for path in "$1"/* "$1"/.[!.]*; do
        file=${path##*/}
        [ ! -e "$path" ] || [ "$file" = SOURCE ] || word "$1/SOURCE" sha256 | grep -qF " $file " || fail "$path is not in SOURCE"
    done
}

# fetch PACKAGE VERSION: the published files, unpacked in the working folder; false where npm cannot be asked.
fetch() {
    command -v npm >/dev/null || return 1
    timeout 60 npm pack --silent --fetch-retries 0 "$1@$2" >tarball.name 2>npm.log && tar xzf "$(tail -n 1 tarball.name)"
}

# compare FOLDER: with the tarball, where there is one.
compare() {
    local sum file path place=$scratch/${1##*/} package version
    package=$(word "$1/SOURCE" package) version=$(word "$1/SOURCE" version)
    mkdir -p "$place"
    (cd "$place" && fetch "$package" "$version") || {
        echo "skipped: npm does not give $package $version here: it is compared with its sums alone"
        return
    }
    while read -r sum file path; do
        cmp "$1/$file" "$place/$path" || fail "$1/$file is not $path of $package $version"
        compared=$((compared + 1))
    done < <(word "$1/SOURCE" sha256)
}

rm -rf "$scratch"
mkdir -p "$scratch"
for folder in "$root"/*/; do
    folder=${folder%/}
    [ -s "$folder/SOURCE" ] || {
        fail "$folder has no SOURCE"
        continue
    }
    check_form "$folder/SOURCE"
    check_sums "$folder"
    compare "$folder"
    grep -q "\`${folder##*/}/\`" "$root/README.md" || fail "third_party/README.md does not name ${folder##*/}/"
done
[ $checked -gt 0 ] || fail "no file was checked"

echo "$checked files have their sums, $compared are those of npm"
finish
