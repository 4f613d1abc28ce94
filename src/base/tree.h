/* SPDX-License-Identifier: Apache-2.0
 *
 * An ordered tree whose nodes live inside the caller's own structs: it never allocates. Each node has a key (an address)
 * and a value (where the range that begins there ends, or how large it is), and the tree knows the largest value below
 * every node. So besides "the last range that begins at or before x" it answers "the last one that holds x" and "the
 * largest of all", each in logarithmic time. Equal keys are allowed; a later one stands behind the earlier ones.
 */
#ifndef NM_BASE_TREE_H
#define NM_BASE_TREE_H

#include <stddef.h>
#include <stdint.h>

typedef struct nm_tree_node {
    struct nm_tree_node *parent;
    struct nm_tree_node *child[2]; /* 0: keys before, 1: keys behind */
    uint64_t key;
    uint64_t value;
    uint64_t largest; /* value of this node and all below it; kept by the tree */
    int height;       /* of the subtree; 1 for a leaf */
} nm_tree_node;

typedef struct nm_tree { /* a zeroed one is empty */
    nm_tree_node *root;
    size_t count;
} nm_tree;

/* The struct of type T whose member M the node is. */
#define NM_TREE_ITEM(node, T, M) ((T *)(void *)((char *)(node)-offsetof(T, M)))

/* Adds the node, whose key and value the caller has set. */
void nm_tree_insert(nm_tree *tree, nm_tree_node *node);
void nm_tree_remove(nm_tree *tree, nm_tree_node *node); /* the node is in this tree */

/* Changes key and value of a node in place; the new key keeps its place between its neighbours. */
void nm_tree_change(nm_tree_node *node, uint64_t key, uint64_t value);

/* All give NULL when there is none. */
nm_tree_node *nm_tree_floor(const nm_tree *tree, uint64_t key);   /* the last with a key <= key */
nm_tree_node *nm_tree_ceiling(const nm_tree *tree, uint64_t key); /* the first with a key >= key */
nm_tree_node *nm_tree_holding(const nm_tree *tree, uint64_t at);  /* the last with a key <= at and a value > at */
nm_tree_node *nm_tree_reaching(const nm_tree_node *node); /* the last one before `node` with a value > node->key */
nm_tree_node *nm_tree_first(const nm_tree *tree);
nm_tree_node *nm_tree_next(const nm_tree_node *node);
nm_tree_node *nm_tree_previous(const nm_tree_node *node);
uint64_t nm_tree_largest(const nm_tree *tree); /* the largest value, 0 when empty */

#endif
