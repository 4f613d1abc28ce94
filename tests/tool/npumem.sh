#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# npumem.sh BIN_FOLDER SCRATCH: "npumem NAME ..." is the program npumem-NAME beside it, with arguments, streams, environment,
# signals and exit status as they are; help opens a man page where man has it; what is no command is said.
set -u
bin=$1 scratch=$2 failures=0
unset "${!NPUMEM@}" # of whoever runs the tests: what the program adds is counted

fail() {
    echo "$*" >&2
    failures=$((failures + 1))
}

# expect STATUS TEXT COMMAND...: its exit status, and a part of what it prints on either stream.
expect() {
    local wanted=$1 text=$2 said status
    shift 2
    said=$("$@" 2>&1 </dev/null)
    status=$?
    [ $status = "$wanted" ] || fail "$*: ends with $status, not $wanted: $said"
    case $said in
    *"$text"*) ;;
    *) fail "$*: says '$said', not '$text'" ;;
    esac
}

rm -rf "$scratch"
mkdir -p "$scratch/bin" "$scratch/man" "$scratch/away"
cp "$bin/npumem" "$scratch/bin/"
cat >"$scratch/bin/npumem-tell" <<'END'
#!/bin/sh
printf '%s|' "$0" "$@"
cat
env | grep -c ^NPUMEM
exit "${1:-0}"
END
printf '#!/bin/sh\nkill -TERM $$\n' >"$scratch/bin/npumem-die"
for name in check mute; do
    printf '#!/bin/sh\necho help of %s: "$@"\n' $name >"$scratch/bin/npumem-$name"
done
: >"$scratch/bin/npumem-plain"
chmod +x "$scratch/bin/npumem-tell" "$scratch/bin/npumem-die" "$scratch/bin/npumem-check" "$scratch/bin/npumem-mute"
npumem=$scratch/bin/npumem

expect 0 'usage: npumem COMMAND' "$npumem"
expect 0 '  record ' "$npumem" help
expect 0 'usage: npumem COMMAND' "$npumem" --help
expect 0 'npumem ' "$npumem" --version

expect 7 "$scratch/bin/npumem-tell|7|--help|-x|a b||0" "$npumem" tell 7 --help -x 'a b' ''
[ "$(echo in | "$npumem" tell 3 | head -n 1)" = "$scratch/bin/npumem-tell|3|in" ] || fail "standard input does not arrive"
sh -c '"$1" die; exit $?' sh "$npumem" >/dev/null 2>&1
[ $? = 143 ] || fail "a signal does not arrive as one"
# A link to it finds the programs beside the file itself; so does another name.
ln -s "$npumem" "$scratch/away/np"
expect 5 "$scratch/bin/npumem-tell|5|" "$scratch/away/np" tell 5

expect 2 'npumem: chekc: no such command; did you mean check?' "$npumem" chekc
expect 2 'npumem: frobnicate: no such command (--help' "$npumem" frobnicate
expect 2 'npumem: record: npumem-record is not beside this program' "$npumem" record -- true
expect 2 'npumem: ../bin/npumem-tell: no such command' "$npumem" ../bin/npumem-tell
expect 2 "npumem: '': no such command" "$npumem" ''
expect 2 'npumem: ?[1m: no such command' "$npumem" $'\e[1m'
expect 2 '--frobnicate: no such option' "$npumem" --frobnicate tell
expect 1 'npumem-plain: cannot run: Permission denied' "$npumem" plain
expect 2 'did you mean check?' "$npumem" help chekc

# man says where a page is: it is opened. Where man is missing, or is none, or has no such page, the program speaks.
cat >"$scratch/man/man" <<'END'
#!/bin/sh
case $1 in
-w) case $2 in npumem | npumem-check) echo "/somewhere/$2.1" ;; *) exit 16 ;; esac ;;
*) echo "the page $1, $MANPATH" ;;
esac
END
chmod +x "$scratch/man/man"
PATH=$scratch/man:$PATH MANPATH='' expect 0 "the page npumem-check, $scratch/bin/../share/man:" "$npumem" help check
PATH=$scratch/man:$PATH MANPATH=/mine expect 0 "$scratch/bin/../share/man:/mine" "$npumem" help check
PATH=$scratch/man:$PATH expect 0 'the page npumem,' "$npumem" help npumem
PATH=$scratch/man:$PATH expect 0 'help of mute: --help' "$npumem" help mute
mkdir -p "$scratch/none"
for tool in sh env grep wc cat; do ln -s "$(command -v $tool)" "$scratch/none/"; done
(
    # shellcheck disable=SC2123 # it is meant
    PATH=$scratch/none
    expect 0 'help of check: --help' "$npumem" help check
    expect 0 'usage: npumem COMMAND' "$npumem" help npumem
    exit $failures
) || fail "without man"
printf '#!/bin/sh\necho this system is small\n' >"$scratch/man/man"
PATH=$scratch/man:$PATH expect 0 'help of check: --help' "$npumem" help check

"$npumem" --help >/dev/full 2>"$scratch/full"
[ $? = 1 ] && grep -q 'standard output: cannot write' "$scratch/full" || fail "a full disk is not said"

# Completion of "npumem NAME ..." is that of npumem-NAME.
complete_words() (
    COMP_WORDS=("$@")
    COMP_CWORD=$(($# - 1))
    COMP_LINE="$*"
    COMP_POINT=${#COMP_LINE}
    PATH=$bin:$PATH
    eval "$(npumem --describe bash)"
    _npumem
    printf '%s\n' "${COMPREPLY[@]}" | sort -u | tr '\n' ' '
)
expect_words() {
    local wanted=$1 seen
    shift
    seen=$(complete_words "$@" 2>&1)
    [ "$seen" = "$wanted " ] || fail "bash completes '$*' to '$seen', not '$wanted'"
}
expect_words 'record' npumem rec
expect_words 'check' npumem help ch
expect_words '--stack-depth --stacks --start-paused' npumem record --st
expect_words 'native none' npumem record --stacks n
expect_words 'native none' npumem record --stacks = n
expect_words '--max-reserved' npumem check --max-r
expect_words '' npumem frobnicate --st

[ $failures = 0 ] || exit 1
