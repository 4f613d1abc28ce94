/* SPDX-License-Identifier: Apache-2.0
 *
 * Filling and growth of what a thread remembers; see memo.h. No level is ever unmapped: a handler's victim may be reading it.
 */
#include "record/memo.h"

#include <string.h>

#include "record/system.h"

#define WAIT_COUNT 1024 /* there was no memory: so many walks later it is tried again */
#define GROW_COUNT 224  /* walks that were pushed out: twice as many as level 0 holds */

const uint32_t nm_memo_set_counts[NM_MEMO_LEVELS] = {28, 80};

_Static_assert(sizeof(nm_memo_set) == 576 && (28 + 80) * sizeof(nm_memo_set) + sizeof(nm_memo) <= 64512,
               "64 KiB a thread, with 1 for nm_modules_open");
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
    0x2caf300d76f5af1f, 0xde80046445f61609, 0x6f4ccd0a43610e2f, 0x5818dc9e20a4d74f, 0x9e88cc046ea24599,
    0x6c3eb14ba66c0639, 0x729356136914ac9d, 0x9b669740cc3ad521, 0x2eec9e6867dacac3, 0xea4ed8bb019144cb,
    0x29c2211199d4333b, 0x3de4bb79c48858b5, 0x00f35c934831254d, 0x38fb0bd871fb7917, 0x00bb30a691c06bcf,
    0x7ee15d8b7be52d7d, 0xba8f558aee5918af, 0xdbd9f21bbdef25b9, 0xa6dea517fd76ac3f, 0x6f55614cb88156af,
    0x237fc08a93086a7d, 0xb90a9fcf7163aafd, 0x63908e16041f09b7, 0x8faf8652991ed4c7, 0x5c31ab91092cfb49,
    0xc3c4bab47767f43b, 0xee24dd823a877f55, 0x40e76b701e55cff3, 0x3ba78735e760d70b, 0x86a5042037da3585,
    0xf8f612b7d5a911f3, 0x3e4a881a01b7b677, 0x899b729ed9d56f4f, 0x2ef686346233ea69, 0xb4a0b2d9ed33ac5d,
    0xde91f872cac5008b, 0x242e95407587f4a9, 0xeb1f52449f0ac8c5, 0x64d988e83ac11b7f, 0xa99a86d26716fd4b,
    0x99a11b86f54f5029, 0xb8ffd930c51b5a9b, 0x0a628f7df5f99b9b, 0x8e51b152306ba0e1, 0x8d128b7263255cfd,
    0x79a5479045eb9809, 0x207c9ee2ec2880d3, 0x748229a3f682b97d, 0xb5cb7b1015c33c8b, 0xd046502e88143905,
    0xac648c1995104c8f, 0x08092a68c964977f, 0xb090f1b5d9f1c4a9, 0x1602690e0251f2b7, 0x0e1f1aa3defb2c53,
    0x452f8bb51b34a85b, 0x9f773c8c8e256503, 0xa132db2e1a3d0993, 0x626f71f4859ac2c9, 0x1ea80e0c98594f81,
    0x2413c3fc64963d49, 0x5283ca9ccb4de3c3, 0xfcec982455554fa7, 0xcaeea1e9540d73fb, 0x0c9aa690b57e3637,
    0xdc948c7106feeeb7, 0x6b6f96577d454b3b, 0x5077921fc8b0a10b, 0xb3537901983eed9f, 0x612165a0f376359d,
    0xc77113d85c269303, 0xe05f39eeebd3dbc5, 0xb7e5c7fc31996b81, 0xa60f5d51e8c3a785, 0x5b8741e6c0225c91,
    0x38177e2b98751dd3, 0xeeb4ef877f152bbd, 0x023e5613367bbc4f, 0x799b485b3c7cdb53, 0x2310a24a78ae8c05,
    0x12d75d31109b0a0f, 0x1216035ce278424f, 0x6de926b13da86145, 0xb3d24deba8df5905, 0x0707af0f3e0132f9,
    0xbd40dfbdf460bc01, 0x496180128079dfc7, 0x1e73c03c1986d94b, 0x2f29b40759ce41dd, 0xb199d4aa724e2ab1,
    0xff4417ff02f0a421, 0x7ffb2e798a50314b, 0x1e535657c2ced447, 0x9816638c9d175b07, 0x3971121d76286ffb,
    0x466b3c2462524cef, 0x95a721ad70ce8d03, 0xda09a0ac2397a319, 0xb0aa60e2e6e18763, 0xafa446dcbf85929b,
    0xc048acd8a9f6a677, 0xa777f6ee04edf289, 0x39f8fb4ad063a297, 0xee3b772a0fe1e1d7, 0xcea6fd4b16cf1317,
    0x580da49cef8da4a5, 0x4f0ad8972e24168b, 0x8ed4e04b346d0fc7, 0xc70fd31c95b77fbd, 0x5edd62339f815c31,
    0x529e78fb83bdbe99, 0x4a9c455de48190b9, 0xd89a416d891feee7, 0x943af0631cfb7bdb, 0xcd15daa2b0668aef,
    0xa48b99270b279ffb, 0xd06197a87aa801b9, 0x4865c663744a171b, 0xea4c427d38a22809, 0xd13468b476bbae9d,
    0xf88e3018b55ef45f, 0x56a72701f24bc0c1, 0x422d311bab1f04fd, 0xceb6da69626159b5, 0x4a8ff2c9d7ec7ad3,
    0x66aaec18010198f5, 0x5d97ff03515a12f5, 0x610ca2280b9e17ef,
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
    if (memo->levels[level] == NULL && memo->wait_count-- == 0)
        memo->levels[level] = nm_system_memory(bytes_of_level(level));
    if (memo->levels[level] == NULL) {
        memo->wait_count = memo->wait_count > WAIT_COUNT ? WAIT_COUNT : memo->wait_count;
        return memo->levels[memo->level] != NULL;
    }
    memo->wait_count = 0;
    memo->level = level;
    return true;
}

/* Slots of a walk; it begins at a multiple of them. */
static unsigned span_of(unsigned place_count)
{
    return place_count <= NM_MEMO_PLACES ? 1 : place_count <= NM_MEMO_PLACES_TWO ? 2 : 4;
}

/* The walk that has the slot, by the slot that it begins in; NM_MEMO_WAYS: none. */
static unsigned owner_of(const nm_memo_set *set, unsigned index)
{
    for (unsigned i = 0; i <= index; i++) {
        if (set->frames[i] != 0 && i + span_of(set->counts[i]) > index)
            return i;
    }
    return NM_MEMO_WAYS;
}

static bool is_free(const nm_memo_set *set, unsigned index, unsigned span)
{
    for (unsigned i = index; i < index + span; i++) {
        if (owner_of(set, i) != NM_MEMO_WAYS)
            return false;
    }
    return true;
}

/* Slots for a walk, which are nobody's then. */
static unsigned make_room(nm_memo *memo, nm_memo_set *set, unsigned span, uint32_t kind)
{
    unsigned index = 0;

    while (index < NM_MEMO_WAYS && !is_free(set, index, span))
        index += span;
    if (index < NM_MEMO_WAYS)
        return index;
    index = set->next / span * span % NM_MEMO_WAYS;
    set->next = (uint8_t)((index + span) % NM_MEMO_WAYS);
    for (unsigned i = index; i < index + span; i++) {
        unsigned owner = owner_of(set, i);

        if (owner == NM_MEMO_WAYS)
            continue;
        memo->evicted_count += set->kinds[owner] >> 1 == kind >> 1;
        set->frames[owner] = 0;
    }
    return index;
}

void nm_memo_put(nm_memo *memo, uintptr_t frame, uint32_t kind, const uint16_t *places, unsigned count, uint64_t sum,
                 uint64_t hash)
{
    nm_memo_set *set = prepare(memo) ? nm_memo_set_of(memo, frame) : NULL;
    unsigned index;

    if (set == NULL || count > NM_MEMO_PLACES_MAX)
        return;
    index = make_room(memo, set, span_of(count), kind);
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
