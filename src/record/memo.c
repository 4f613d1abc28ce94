/* SPDX-License-Identifier: Apache-2.0
 *
 * Filling and growth of what a thread remembers; see memo.h. No level is ever unmapped: a handler's victim may be reading it.
 */
#include "record/memo.h"

#include <string.h>

#include "record/system.h"

#define GROW_COUNT 224 /* walks that were pushed out: twice as many as level 0 holds */

const uint32_t nm_memo_set_counts[NM_MEMO_LEVELS] = {28, 84};

_Static_assert(sizeof(nm_memo_set) == 576 && (28 + 84) * sizeof(nm_memo_set) <= 65536, "64 KiB a thread");
_Static_assert(offsetof(nm_memo_set, slots) == 64, "a set's head is a cache line");

/* Any odd numbers, so that what differs at two places does not cancel out. */
const uint64_t nm_memo_factors[NM_MEMO_PLACES_MAX] = {
    0x6cc6be1805fdf179, 0x4ba71ab7ac0504a5, 0xdae85d0928398f9f, 0x0b8e90e9f6466d5f, 0x4e6980ee651011cb,
    0xc4e08e67b822b63b, 0x28b58ab4d47a9a79, 0xa02bff2f31bfa6af, 0x1414f6b506d002db, 0x25318bf27b885975,
    0x3d3db70b0d99ed21, 0x87a152f460ca36ff, 0x167dd69a83f614dd, 0xe7fb3f46c9374389, 0xfda536a3a434d6f9,
    0x9d4615766cd44f91, 0x9d97fce60131d9b7, 0x9eb22b5a9059e86b, 0x0d8eb596c8965f79, 0x3ddab6b5edb6ce2f,
    0x70cc76289bd7f38b, 0x3ce1b34701879c05, 0xb450d4a77def588b, 0x0e8a1ab6642c2eb7, 0x9088f20a05dbb51b,
    0xd78217876fdc5385, 0x806aab3ffd83b569, 0xf094cd4b002b68c9, 0xa717f50a7dc5226f, 0x4a8f8e618cb298dd,
    0x0445af0491d64485, 0x37c6f9aa9a1dfac5, 0xd031f0fbc96d793f, 0x0aa6453f95c43055, 0x58e62fd8bbacb7e9,
    0xe3aeb30e796319f1, 0x385fcabd6f12bbaf, 0x99359b3699408f87, 0xfde2dfc709984e97, 0x060fb4dbf2e2e083,
    0xcf3bcbb2ea20d69f, 0xce9562fc814297bd, 0xc194cd4e28a64a15, 0x55cc5d616e736005, 0xa8b8d0c191fe710d,
    0x17f11a8ac4abf0ad, 0x652b142abca8e5f5, 0x47691992bb288feb, 0x46d273d347ce4769, 0x031dd09cba422f7d,
    0xe056f073ac39f6e7, 0x0c70d625eb12d315, 0xb93f53d645ba422d, 0x979ba5b254a0941b, 0x3731936a228f7d5b,
    0x8db4a13e04cb788d, 0xeb270e4273aaeae1, 0xaaa4f008ad944f0d, 0x7e0cb49451cf9057, 0x6cb360aa2e7a82c1,
    0x76fb66e635c62f4b, 0x32a6a300394f635b, 0xaaacf5ae4d812a25, 0x6bd2f78c1f78eafd, 0xe07e4c75d7863aad,
    0x40a317d7bc60fc6d, 0xa6d5afed352c43fb, 0xe7724ec101c7ee45, 0x5a1f899a2dbc4935, 0xa0703b2afa517f0f,
    0xd0caf8f83972ba4b, 0x3da561c3a2b360d7, 0x0956a4e4816cc88b, 0x755719bfb13a68a1, 0x8f33c204519fdaf5,
    0x93e8e040ce561fcf, 0x54ed04a89a1b7d41, 0x4b8d4b032fb277b7, 0x5df8650c067fd22f, 0x84a288e97cab3d91,
    0xf4aea2076618ad45, 0x8032c115fe5d2a15, 0xc587479b5149fbf9, 0x307c828e2fb16969, 0x56e2b7c6a77a64b5,
    0xacbdc0579cb38933, 0xd1e3a2a76cbd1d7f, 0xae46e15c4d955a99, 0x2ce4bda4d6014eb9, 0x44eb2f7920bf32ef,
    0xbf739763af2f6885, 0xcaf70a7d66208af7, 0x6dce9d53299655c3, 0x6377bc097a64bf6f, 0x21b982261dabe1ef,
    0xba0fcc07c66dfd51, 0x0d95712bb5233117, 0xcd392a95b0238287, 0x43e03daacec36d1b, 0x63c2074da52b9f4d,
    0x4e55f7e6ed1f7c47, 0x90b9882bb72833b1, 0xe9f02273a44f6ed1, 0xb9a38201ae2d4b45, 0x96d89eef7792850b,
    0x968021b0ca4b3653, 0x41e09e0e576922bf, 0x48ddeb00fbf9090b, 0x4ed40f3390b89c8d, 0x4bca0680de4b5981,
    0x9e6f51fdbe30f443, 0x72a8959644567887, 0x9c98f8384db77035, 0xa45fdd6752217b6b, 0xb84907b86d877111,
    0x231a39c791d38acd, 0x0aa21c5e072022b9, 0xc52bbc8ceee7f9a3, 0x23ba957021ea48df, 0x573781a874b28ef1,
};

static size_t bytes_of_level(uint32_t level)
{
    return nm_memo_set_counts[level] * sizeof(nm_memo_set);
}

/* False: no memory. */
static bool prepare(nm_memo *memo)
{
    uint32_t level = memo->level;

    if (memo->evicted_count >= GROW_COUNT && level + 1 < NM_MEMO_LEVELS) {
        level++;
        memo->evicted_count = 0;
    }
    if (memo->levels[level] == NULL)
        memo->levels[level] = nm_system_memory(bytes_of_level(level));
    if (memo->levels[level] == NULL)
        return memo->levels[memo->level] != NULL;
    memo->level = level;
    return true;
}

/* The slot's walk is known no longer, nor one that goes on in it. */
static void forget(nm_memo_set *set, unsigned index)
{
    set->frames[index] = 0;
    if (index % 2 == 1 && set->counts[index - 1] > NM_MEMO_PLACES)
        set->frames[index - 1] = 0;
}

static bool is_free(const nm_memo_set *set, unsigned index)
{
    bool is_tail = index % 2 == 1 && set->frames[index - 1] != 0 && set->counts[index - 1] > NM_MEMO_PLACES;

    return set->frames[index] == 0 && !is_tail;
}

static unsigned choose(nm_memo *memo, nm_memo_set *set, bool is_long, uint32_t kind)
{
    unsigned step = is_long ? 2 : 1, index;

    for (index = 0; index < NM_MEMO_WAYS; index += step) {
        if (is_free(set, index) && (!is_long || is_free(set, index + 1)))
            return index;
    }
    index = set->next / step * step % NM_MEMO_WAYS;
    set->next = (uint8_t)((index + step) % NM_MEMO_WAYS);
    memo->evicted_count += set->kinds[index] >> 1 == kind >> 1;
    return index;
}

void nm_memo_put(nm_memo *memo, uintptr_t frame, uint32_t kind, const uint16_t *places, unsigned count, uint64_t sum,
                 uint64_t hash)
{
    bool is_long = count > NM_MEMO_PLACES;
    nm_memo_set *set = prepare(memo) ? nm_memo_set_of(memo, frame) : NULL;
    unsigned index;

    if (set == NULL || count > NM_MEMO_PLACES_MAX)
        return;
    index = choose(memo, set, is_long, kind);
    forget(set, index);
    if (is_long)
        forget(set, index + 1);
    __asm__ volatile("" : : : "memory"); /* for handlers of this thread, which is all that looks */
    set->kinds[index] = kind;
    set->counts[index] = (uint8_t)count;
    set->slots[index].sum = sum;
    set->slots[index].hash = hash;
    memcpy((char *)set + offsetof(nm_memo_set, slots) + index * sizeof(nm_memo_slot) + offsetof(nm_memo_slot, places),
           places, count * sizeof *places);
    __asm__ volatile("" : : : "memory");
    set->frames[index] = frame;
}

void nm_memo_clear(nm_memo *memo)
{
    for (uint32_t level = 0; level < NM_MEMO_LEVELS; level++) {
        if (memo->levels[level] != NULL)
            nm_system_forget(memo->levels[level], bytes_of_level(level));
    }
    memo->evicted_count = 0;
}
