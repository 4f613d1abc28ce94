/* SPDX-License-Identifier: Apache-2.0 */
#include "inline_chain.h"

#include <stddef.h>

#define INLINED static inline __attribute__((always_inline))

__attribute__((noinline)) const void *address_behind_call(void);
__attribute__((noinline)) const void *address_behind_call(void)
{
    return __builtin_return_address(0);
}

INLINED const void *innermost(int lines[INLINE_CHAIN_LINES])
{
    lines[0] = __LINE__ + 1;
    const void *address = address_behind_call();
    __asm__ volatile("" ::: "memory"); /* no tail call */
    return address;
}

INLINED const void *middle(int lines[INLINE_CHAIN_LINES])
{
    lines[1] = __LINE__ + 1;
    return innermost(lines);
}

INLINED const void *outer(int lines[INLINE_CHAIN_LINES])
{
    const void *address = NULL;

    if (lines != NULL) {
        lines[2] = __LINE__ + 1;
        address = middle(lines);
    }
    return address;
}

__attribute__((noinline, visibility("default"))) const void *inline_chain(int lines[INLINE_CHAIN_LINES])
{
    lines[3] = __LINE__ + 1;
    return outer(lines);
}

#ifdef OTHER_CHAIN /* another build: its code lies elsewhere */
const void *before_deep_chain(const char *text);
__attribute__((noinline, visibility("default"))) const void *before_deep_chain(const char *text)
{
    return text[0] == 'x' ? address_behind_call() : text + 1;
}
#endif

INLINED const void *deep_0(void)
{
    const void *address = address_behind_call();
    __asm__ volatile("" ::: "memory");
    return address;
}

#define DEEPER(n, m)                                                                                                   \
    INLINED const void *deep_##n(void)                                                                                 \
    {                                                                                                                  \
        return deep_##m();                                                                                             \
    }
DEEPER(1, 0)
DEEPER(2, 1)
DEEPER(3, 2)
DEEPER(4, 3)
DEEPER(5, 4)
DEEPER(6, 5)
DEEPER(7, 6)
DEEPER(8, 7)
DEEPER(9, 8)
DEEPER(10, 9)
DEEPER(11, 10)
DEEPER(12, 11)
DEEPER(13, 12)
DEEPER(14, 13)
DEEPER(15, 14)
DEEPER(16, 15)
DEEPER(17, 16)
DEEPER(18, 17)
DEEPER(19, 18)
DEEPER(20, 19)
DEEPER(21, 20)
DEEPER(22, 21)
DEEPER(23, 22)
DEEPER(24, 23)
DEEPER(25, 24)
DEEPER(26, 25)
DEEPER(27, 26)
DEEPER(28, 27)
DEEPER(29, 28)
DEEPER(30, 29)
DEEPER(31, 30)
DEEPER(32, 31)
DEEPER(33, 32)
DEEPER(34, 33)
DEEPER(35, 34)
DEEPER(36, 35)
DEEPER(37, 36)
DEEPER(38, 37)
DEEPER(39, 38)

__attribute__((noinline, visibility("default"))) const void *deep_chain(int *line)
{
    *line = __LINE__ + 1;
    return deep_39();
}
