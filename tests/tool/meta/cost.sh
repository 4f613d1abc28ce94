#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# cost.sh [--update]: what README says an event costs, in either language, is what docs/cost.md has measured. --update writes it there.
set -u
. "${0%/*}/common.sh"

# row TEXT: its figures, the least and the most.
row() {
    grep -F "$1" docs/cost.md | awk -F'|' -v text="$1" '
        { for (i = 3; i < NF; i++) if ($i + 0 > 0) { if (!count++ || $i + 0 < least) least = $i + 0; if ($i + 0 > most) most = $i + 0 } }
        END { if (NR != 1 || !count) exit 1; print least, most }' || fail "docs/cost.md has no one row '$1'"
}

read -r event_least event_most <<<"$(row '| the same, `--stacks native`')"
read -r acl_least acl_most <<<"$(row '| `aclrtMalloc`, `aclrtFree`, default')"
acl_call=$(sed -nE 's/^\| `aclrtMalloc`.*the call itself takes ([0-9]+) .*/\1/p' docs/cost.md)
read -r bare _ <<<"$(row '`--stacks none` |')"
read -r python_least python_most <<<"$(row '| from Python')"
idle=$(sed -nE 's/^\| an SDK call while nothing records \| ([0-9to ]+[0-9]) \|.*/\1/p' docs/cost.md)
bytes=$(sed -nE 's/^On disk an event takes ([0-9.]+) bytes.*/\1/p' docs/cost.md)
[ -n "$acl_call" ] && [ -n "$idle" ] && [ -n "$bytes" ] || fail "docs/cost.md: a figure is missing"

# Each figure by the words around it, English and Chinese; a text in which they are not found is not what this was made for.
acl="$((acl_least - acl_call)) to $((acl_most - acl_call))"
made=$(mktemp)
trap 'rm -f "$made"' EXIT
for readme in README.md README.zh-CN.md; do
    sed -E \
        -e "s/[0-9]+ to [0-9]+( ns for an event that a C program tells), [0-9]+ to [0-9]+/$event_least to $event_most\1, $acl/" \
        -e "s/[0-9]+( ns without stacks; )[0-9]+ to [0-9]+( ns from Python; )[0-9to ]+( ns for a call)/$bare\1$python_least to $python_most\2$idle\3/" \
        -e "s/^- [0-9.]+( bytes of trace for an event)/- $bytes\1/" \
        -e "s/(上报一个事件 )[0-9]+ 到 [0-9]+( ns.*增加 )[0-9]+ 到 [0-9]+/\1$event_least 到 $event_most\2${acl/to/到}/" \
        -e "s/^  [0-9]+( ns；Python )[0-9]+ 到 [0-9]+( ns；.*一次调用 )[0-9到 ]+( ns)/  $bare\1$python_least 到 $python_most\2${idle/to/到}\3/" \
        -e "s/(在 trace 中占 )[0-9.]+/\1$bytes/" "$readme" >"$made"
    [ "$(grep -cE "$event_least (to|到) $event_most ns|$python_least (to|到) $python_most ns|$bytes (bytes of trace|字节)" "$made")" = 3 ] ||
        fail "$readme: what an event costs stands there in other words"
    [ "${1:-}" != --update ] || cp "$made" "$readme"
    diff "$readme" "$made" >&2 || fail "$readme (<) says another cost than docs/cost.md (>); bash tests/tool/meta/cost.sh --update"
done
finish
