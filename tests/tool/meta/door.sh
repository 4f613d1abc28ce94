#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# One door to the file system (src/base/door.h): elsewhere in src/ no call names a file by its path, nor by a folder and a name
# without the door's rules. What is left out is listed, with its reason, and every line of the list is still needed.
#
#     door.sh [FOLDER]     (of the sources; to be tested itself)
set -u
. "${0%/*}/common.sh"
root=${1:-src}

# FILE, or FILE: and what else the line has in it.
exempt='
base/door.                             the door
base/io.c                              what it is made of; a temporary file, which has no name once it is open
record/                                in the recorded program: rules and system calls of its own (base/trust.h, docs/recorder.md)
symbol/folders.c: fts_open(            folders that the user named, to read what is in them
"/dev/null"                            nobody but root can exchange it
"/proc/                                the kernel'"'"'s: no user can exchange what it shows of a process
'

calls='stat|stat64|lstat|fstatat|statx|access|eaccess|euidaccess|faccessat|open|open64|openat|openat2|creat|fopen|fopen64|freopen
opendir|scandir|ftw|nftw|fts_open|glob|unlink|unlinkat|remove|rmdir|rename|renameat|renameat2|mkdir|mkdirat|mkdtemp|mkstemp|mkostemp
mktemp|tmpfile|tempnam|tmpnam|mkfifo|mknod|link|linkat|symlink|symlinkat|readlink|realpath|canonicalize_file_name|truncate|chmod|chown
lchown|fchmodat|fchownat|utime|utimes|utimensat|statfs|statvfs|chdir|chroot|acct|inotify_add_watch|name_to_handle_at'
calls=$(tr '\n' '|' <<<"$calls")
calls=${calls%|}

# A call, or its name handed on: not a member (db.open), not a declaration of a word, not in a comment.
found=$(source_files "$root/*.c" "$root/*.h" | grep "^$root/" | xargs grep -nE "(^|[^A-Za-z0-9_.>\"])($calls)\(" |
    grep -vE '^[^:]*:[0-9]+: *(\*|/\*|//)' | sed "s|^$root/||")

needed=
while IFS= read -r line; do
    [ -n "$line" ] || continue
    file=${line%%:*} is_left_out=
    while IFS= read -r rule; do
        [ -n "$rule" ] || continue
        what=$(sed 's/   .*//' <<<"$rule")
        case $what in
        \"*) case $line in *"$what"*) is_left_out=1 ;; esac ;;
        *:*) case $line in "${what%%:*}":*"${what#*: }"*) is_left_out=1 ;; esac ;;
        *) case $file in "$what"*) is_left_out=1 ;; esac ;;
        esac
        [ -n "$is_left_out" ] && needed="$needed$what
" && break
    done <<<"$exempt"
    [ -n "$is_left_out" ] || fail "src/$line: goes past the door (src/base/door.h)"
done <<<"$found"

if [ "$root" = src ]; then
    while IFS= read -r rule; do
        what=$(sed 's/   .*//' <<<"$rule")
        [ -z "$what" ] || grep -qxF -- "$what" <<<"$needed" || fail "nothing needs to be left out for: $what"
    done <<<"$exempt"
fi
finish
