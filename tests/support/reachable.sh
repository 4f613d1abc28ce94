#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# reachable.sh FOLDER... -- COMMAND...: runs COMMAND where a program that has given up root comes to the folders by their own paths.
# A clone below /root lies behind a door that is root's alone: COMMAND then gets mounts of its own, with an open folder over the
# closed one, and in it nothing but these. Where that is not to be had COMMAND runs all the same, and says what it leaves out.
set -eu
folders=()
while [ "$1" != -- ]; do
    folders+=("$1")
    shift
done
shift

# closed_above FOLDER: the uppermost of the folders around it that others cannot enter.
closed_above() {
    local folder=$1 closed=
    while folder=$(dirname "$folder") && [ "$folder" != / ]; do
        setpriv --reuid 65534 --regid 65534 --clear-groups test -x "$folder" 2>/dev/null || closed=$folder
    done
    echo "$closed"
}

# uncover FOLDER DESCRIPTOR: by its name the folder is not found any more once what is around it is covered.
uncover() {
    local closed
    if [ -e "$1" ]; then
        closed=$(closed_above "$1")
        [ -n "$closed" ] || return 0
        mount -t tmpfs -o mode=755 tmpfs "$closed"
    fi
    (umask 022 && mkdir -p "$1")
    mount --no-canonicalize --bind "/proc/self/fd/$2" "$1"
}

if [ "${NPUMEM_UNCOVER:-}" = yes ]; then
    unset NPUMEM_UNCOVER
    descriptors=()
    for folder in "${folders[@]}"; do
        exec {descriptor}<"$folder"
        descriptors+=("$descriptor")
    done
    for i in "${!folders[@]}"; do
        uncover "${folders[i]}" "${descriptors[i]}"
        descriptor=${descriptors[i]}
        exec {descriptor}<&-
    done
    cd "$PWD" 2>/dev/null || cd /
else
    for folder in "${folders[@]}"; do
        if [ "$(id -u)" = 0 ] && [ -n "$(closed_above "$folder")" ] && unshare --mount true 2>/dev/null; then
            NPUMEM_UNCOVER=yes exec unshare --mount bash "$0" "${folders[@]}" -- "$@"
        fi
    done
fi
exec "$@"
