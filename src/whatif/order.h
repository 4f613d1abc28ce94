/* SPDX-License-Identifier: Apache-2.0
 *
 * A set in the order of two numbers (a block's size, then its address), whose nodes live inside the caller's own structs.
 * The simulated allocators ask it for "the smallest block that is large enough, and of these the lowest". A treap: each
 * node's priority is a hash of its numbers, so the same blocks give the same shape, and it is balanced for any input that
 * was not made against this very hash.
 */
#ifndef NM_WHATIF_ORDER_H
#define NM_WHATIF_ORDER_H

#include <stdint.h>

typedef struct nm_order_node {
    struct nm_order_node *parent;
    struct nm_order_node *child[2]; /* 0: before, 1: behind */
    uint64_t major, minor;          /* no two nodes of a set have both alike */
    uint64_t priority;              /* kept by the set */
} nm_order_node;

typedef struct nm_order { /* a zeroed one is empty */
    nm_order_node *root;
} nm_order;

/* The caller has set major and minor, which may change later as long as the order of the nodes does not. */
void nm_order_insert(nm_order *order, nm_order_node *node);
void nm_order_remove(nm_order *order, nm_order_node *node); /* the node is in this set */

/* All give NULL when there is none. */
nm_order_node *nm_order_ceiling(const nm_order *order, uint64_t major, uint64_t minor); /* the first that is not less */
nm_order_node *nm_order_first(const nm_order *order);
nm_order_node *nm_order_last(const nm_order *order);
nm_order_node *nm_order_next(const nm_order_node *node);

#endif
