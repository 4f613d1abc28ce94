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
store/sql_header.c: fopen(path, "       of a checkout, by the build
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

# Of the exempt list, what stands before three blanks is the rule.
while IFS= read -r line; do
    fail "$line"
done < <(awk -v exempt="$exempt" -v is_whole="$([ "$root" = src ] && echo 1)" '
    BEGIN {
        count = split(exempt, lines, "\n")
        for (i = 1; i <= count; i++) { sub(/   .*/, "", lines[i]); if (lines[i] != "") rules[++rule_count] = lines[i] }
    }
    $0 == "" { next }
    {
        for (i = 1; i <= rule_count; i++) {
            at = index(rules[i], ": ")
            file = at > 0 ? substr(rules[i], 1, at - 1) ":" : rules[i]
            text = at > 0 ? substr(rules[i], at + 2) : ""
            if (rules[i] ~ /^"/ ? index($0, rules[i]) > 0 : index($0, file) == 1 && (text == "" || index($0, text) > 0)) {
                is_needed[i] = 1
                next
            }
        }
        print "src/" $0 ": goes past the door (src/base/door.h)"
    }
    END {
        for (i = 1; i <= rule_count && is_whole; i++)
            if (!is_needed[i]) print "nothing needs to be left out for: " rules[i]
    }' <<<"$found")
finish
