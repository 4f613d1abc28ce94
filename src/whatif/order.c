/* SPDX-License-Identifier: Apache-2.0
 *
 * A treap without any memory of its own: a node is lifted over parents of a lower priority and put in the place of what
 * it replaces. Depth is logarithmic on average, and equal sets have equal shapes whatever the order of insertion, so
 * that a run can be repeated to the byte.
 */
#include "whatif/order.h"

#include <assert.h>
#include <stdbool.h>
#include <stddef.h>

enum { BEFORE = 0, BEHIND = 1 };

static uint64_t mix(uint64_t major, uint64_t minor)
{
    uint64_t hash = (major ^ minor << 32 ^ minor >> 32) * UINT64_C(0x9E3779B97F4A7C15);

    hash = (hash ^ hash >> 29) * UINT64_C(0xBF58476D1CE4E5B9);
    return hash ^ hash >> 32;
}

/* Both numbers as one: which side a search goes on to cannot be foretold, and a comparison without a branch need not be. */
static bool is_less(const nm_order_node *node, uint64_t major, uint64_t minor)
{
    return ((unsigned __int128)node->major << 64 | node->minor) < ((unsigned __int128)major << 64 | minor);
}

/* Puts `node` (or nothing) where `old` hangs. */
static void replace(nm_order *order, const nm_order_node *old, nm_order_node *node)
{
    nm_order_node *parent = old->parent;

    if (parent == NULL)
        order->root = node;
    else
        parent->child[parent->child[BEHIND] == old] = node;
    if (node != NULL)
        node->parent = parent;
}

/* Lifts the child on that side above its parent. */
static void lift(nm_order *order, nm_order_node *parent, int side)
{
    nm_order_node *node = parent->child[side];
    nm_order_node *between = node->child[!side];

    replace(order, parent, node);
    node->child[!side] = parent;
    parent->parent = node;
    parent->child[side] = between;
    if (between != NULL)
        between->parent = parent;
}

void nm_order_insert(nm_order *order, nm_order_node *node)
{
    nm_order_node **link = &order->root;
    nm_order_node *parent = NULL;

    node->priority = mix(node->major, node->minor);
    node->child[BEFORE] = node->child[BEHIND] = NULL;
    while (*link != NULL) {
        parent = *link;
        link = &parent->child[is_less(parent, node->major, node->minor)];
    }
    *link = node;
    node->parent = parent;
    while (node->parent != NULL && node->parent->priority < node->priority)
        lift(order, node->parent, node->parent->child[BEHIND] == node);
}

void nm_order_remove(nm_order *order, nm_order_node *node)
{
    assert(order->root != NULL && (node->parent != NULL || order->root == node)); /* it is in there */
    while (node->child[BEFORE] != NULL && node->child[BEHIND] != NULL)
        lift(order, node, node->child[BEHIND]->priority > node->child[BEFORE]->priority);
    replace(order, node, node->child[node->child[BEFORE] == NULL]);
}

nm_order_node *nm_order_ceiling(const nm_order *order, uint64_t major, uint64_t minor)
{
    nm_order_node *best = NULL;

    for (nm_order_node *node = order->root; node != NULL;) {
        bool is_before = is_less(node, major, minor);

        best = is_before ? best : node;
        node = node->child[is_before];
    }
    return best;
}

static nm_order_node *outermost(nm_order_node *node, int side)
{
    while (node != NULL && node->child[side] != NULL)
        node = node->child[side];
    return node;
}

nm_order_node *nm_order_first(const nm_order *order)
{
    return outermost(order->root, BEFORE);
}

nm_order_node *nm_order_last(const nm_order *order)
{
    return outermost(order->root, BEHIND);
}

static nm_order_node *step(const nm_order_node *node, int side)
{
    if (node->child[side] != NULL)
        return outermost(node->child[side], !side);
    while (node->parent != NULL && node->parent->child[side] == node)
        node = node->parent;
    return node->parent;
}

nm_order_node *nm_order_next(const nm_order_node *node)
{
    return step(node, BEHIND);
}
