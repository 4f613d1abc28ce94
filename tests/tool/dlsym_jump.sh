#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# The machine code of dlsym: RTLD_NEXT goes on by a jump, with the stack as it came and nothing called before, since the
# loader takes the address that it returns to for the caller. Follows the code as the processor would, instruction by
# instruction, and knows only the few that may stand there.
#
#     dlsym_jump.sh OBJDUMP LIBRARY
set -u
objdump=${1:?} library=${2:?}
command -v "$objdump" >/dev/null || { echo "skipped: no $objdump here"; exit 77; }

"$objdump" -d --no-show-raw-insn "$library" | awk '
    /^[0-9a-f]+ <dlsym>:/ { is_inside = 1; next }
    /^[0-9a-f]+ </ { is_inside = 0 }
    is_inside && /^ *[0-9a-f]+:/ {
        address = $1; sub(/:$/, "", address)
        text = $0; sub(/^ *[0-9a-f]+:[ \t]*/, "", text); sub(/[ \t]+(# |\/\/).*/, "", text); gsub(/[ \t]+/, " ", text)
        order[++count] = address; code[address] = text; place[address] = count
    }
    function fail(why) { print "dlsym: " why ": " at ": " code[at]; is_bad = 1; exit 1 }
    function go_on() { at = order[place[at] + 1] }
    END {
        if (is_bad) exit 1
        if (count == 0) { print "no dlsym"; exit 1 }
        at = order[1]
        for (step = 0; step < 20; step++) {
            n = split(code[at], part, " ")
            operands = part[2]
            if (part[1] == "endbr64" || code[at] == "bti c" || part[1] ~ /^hint/) go_on()
            # The handle is compared with -1, and it is -1.
            else if (code[at] ~ /^cmp \$0xffffffffffffffff,%rdi/ || code[at] ~ /^cmn x0, #0x1/) { is_compared = 1; go_on() }
            else if (is_compared && (part[1] == "je" || part[1] == "b.eq")) { at = part[2]; is_compared = 0; is_next = 1 }
            # From here on: the next in line is loaded, is there, and is jumped to.
            else if (is_next && code[at] ~ /^mov 0x[0-9a-f]+\(%rip\),%rax/) { is_loaded = 1; go_on() }
            else if (is_loaded && code[at] == "test %rax,%rax") go_on()
            else if (is_loaded && part[1] == "je") go_on()
            else if (is_loaded && code[at] == "jmp *%rax") { print "jumps after " step " instructions"; exit 0 }
            else if (is_next && code[at] ~ /^adrp x16, /) go_on()
            else if (is_next && code[at] ~ /^ldr x16, \[x16/) { is_loaded = 1; go_on() }
            else if (is_loaded && part[1] == "cbz" && part[2] == "x16,") go_on()
            else if (is_loaded && code[at] == "br x16") { print "jumps after " step " instructions"; exit 0 }
            else fail("not on the way of RTLD_NEXT")
        }
        fail("no jump")
    }'
