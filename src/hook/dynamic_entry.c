/* SPDX-License-Identifier: Apache-2.0
 *
 * The entries of dlsym and dlopen, in assembly because they go on by a jump: what they jump to finds the stack, the
 * arguments and the return address as the program left them. RTLD_NEXT is handed on before anything else is done. A call
 * of our own in between keeps the arguments; its frame is gone before the jump.
 *
 * dlsym: on to the next in line, at once for RTLD_NEXT, else unless nm_dynamic_answer gives an answer. dlopen: to
 * nm_dynamic_dlopen if nm_dynamic_is_called says so, else to the next in line. NULL where there is no next.
 */
#if defined(__x86_64__)
#define FUNCTION "@function"

#define KEEP_ARGUMENTS                                                                                                 \
    " pushq %rdi\n"                                                                                                    \
    " pushq %rsi\n"                                                                                                    \
    " subq $8, %rsp\n"                                                                                                 \
    " .cfi_adjust_cfa_offset 24\n"

#define TAKE_ARGUMENTS                                                                                                 \
    " addq $8, %rsp\n"                                                                                                 \
    " popq %rsi\n"                                                                                                     \
    " popq %rdi\n"                                                                                                     \
    " .cfi_adjust_cfa_offset -24\n"

#define JUMP_OR(next, label)                                                                                           \
    " movq " next "(%rip), %rax\n"                                                                                     \
    " testq %rax, %rax\n"                                                                                              \
    " je " label "\n"                                                                                                  \
    " jmp *%rax\n"

#define DLSYM                                                                                                          \
    " endbr64\n"                                                                                                       \
    " cmpq $-1, %rdi\n"                                /* RTLD_NEXT */                                                 \
    " je 1f\n" KEEP_ARGUMENTS " movq 24(%rsp), %rdx\n" /* where the program goes on */                                 \
    " call nm_dynamic_answer\n" TAKE_ARGUMENTS " testq %rdx, %rdx\n"                                                   \
    " je 1f\n"                                                                                                         \
    " ret\n"                                                                                                           \
    "1:" JUMP_OR("nm_linker_next_dlsym",                                                                               \
                 "2f") "2:" KEEP_ARGUMENTS /* the first call of all, or no loader */                                   \
                       " call nm_linker_resolve\n" TAKE_ARGUMENTS JUMP_OR("nm_linker_next_dlsym", "3f") "3: ret\n"

#define DLOPEN                                                                                                         \
    " endbr64\n" KEEP_ARGUMENTS " call nm_dynamic_is_called\n" TAKE_ARGUMENTS " testq %rax, %rax\n"                    \
    " jne nm_dynamic_dlopen\n" JUMP_OR("nm_linker_next_dlopen", "1f") "1: ret\n"

#else
#define FUNCTION "%function"

#define KEEP_ARGUMENTS                                                                                                 \
    " stp x29, x30, [sp, #-32]!\n"                                                                                     \
    " .cfi_def_cfa_offset 32\n"                                                                                        \
    " .cfi_offset 29, -32\n"                                                                                           \
    " .cfi_offset 30, -24\n"                                                                                           \
    " mov x29, sp\n"                                                                                                   \
    " stp x0, x1, [sp, #16]\n"

#define TAKE_ARGUMENTS                                                                                                 \
    " ldp x0, x1, [sp, #16]\n"                                                                                         \
    " ldp x29, x30, [sp], #32\n"                                                                                       \
    " .cfi_restore 30\n"                                                                                               \
    " .cfi_restore 29\n"                                                                                               \
    " .cfi_def_cfa_offset 0\n"

#define JUMP_OR(next, label)                                                                                           \
    " adrp x16, " next "\n"                                                                                            \
    " ldr x16, [x16, :lo12:" next "]\n"                                                                                \
    " cbz x16, " label "\n"                                                                                            \
    " br x16\n"

#define DLSYM                                                                                                          \
    " hint #34\n"                                /* bti c */                                                           \
    " cmn x0, #1\n"                              /* RTLD_NEXT */                                                       \
    " b.eq 1f\n" KEEP_ARGUMENTS " mov x2, x30\n" /* where the program goes on */                                       \
    " bl nm_dynamic_answer\n"                                                                                          \
    " mov x16, x0\n"                                                                                                   \
    " mov x17, x1\n" TAKE_ARGUMENTS " cbz x17, 1f\n"                                                                   \
    " mov x0, x16\n"                                                                                                   \
    " ret\n"                                                                                                           \
    "1:" JUMP_OR("nm_linker_next_dlsym", "2f") "2:" KEEP_ARGUMENTS /* the first call of all, or no loader */           \
                                               " bl nm_linker_resolve\n" TAKE_ARGUMENTS JUMP_OR(                       \
                                                   "nm_linker_next_dlsym", "3f") "3: mov x0, xzr\n"                    \
                                                                                 " ret\n"

#define DLOPEN                                                                                                         \
    " hint #34\n" KEEP_ARGUMENTS " bl nm_dynamic_is_called\n"                                                          \
    " mov x17, x0\n" TAKE_ARGUMENTS " cbz x17, 1f\n"                                                                   \
    " b nm_dynamic_dlopen\n"                                                                                           \
    "1:" JUMP_OR("nm_linker_next_dlopen", "2f") "2: mov x0, xzr\n"                                                     \
                                                " ret\n"
#endif

#define ENTRY(name, code)                                                                                              \
    ".balign 16\n"                                                                                                     \
    ".globl " name "\n"                                                                                                \
    ".type " name ", " FUNCTION "\n" name ":\n"                                                                        \
    ".cfi_startproc\n" code ".cfi_endproc\n"                                                                           \
    ".size " name ", . - " name "\n"

__asm__(".pushsection .text.nm_dynamic_entries, \"ax\", %progbits\n" ENTRY("dlsym", DLSYM)
            ENTRY("dlopen", DLOPEN) ".popsection\n");

typedef int nm_dynamic_entry; /* a source of assembly alone is none for C */
