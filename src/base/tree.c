/* SPDX-License-Identifier: Apache-2.0
 *
 * Height-balanced: the heights of a node's two sides differ by at most one. After a change the way up is mended until a
 * subtree has the height and the largest value that it had before. The two children are an array, so that the way down
 * picks one by a comparison's result and not by a branch that the processor would guess wrong half of the time.
 */
#include "base/tree.h"

#include <assert.h>
#include <stdbool.h>

enum { BEFORE = 0, BEHIND = 1 };

static int height_of(const nm_tree_node *node)
{
    return node == NULL ? 0 : node->height;
}

static uint64_t largest_of(const nm_tree_node *node)
{
    return node == NULL ? 0 : node->largest;
}

static inline void refresh(nm_tree_node *node)
{
    int before = height_of(node->child[BEFORE]);
    int behind = height_of(node->child[BEHIND]);
    uint64_t largest_before = largest_of(node->child[BEFORE]);
    uint64_t largest_behind = largest_of(node->child[BEHIND]);
    uint64_t largest = largest_before > largest_behind ? largest_before : largest_behind;

    node->height = 1 + (before > behind ? before : behind);
    node->largest = node->value > largest ? node->value : largest;
}

/* Puts `node` (or nothing) where `old` hangs. */
static void replace_child(nm_tree *tree, nm_tree_node *old, nm_tree_node *node)
{
    nm_tree_node *parent = old->parent;

    if (parent == NULL)
        tree->root = node;
    else
        parent->child[parent->child[BEHIND] == old] = node;
    if (node != NULL)
        node->parent = parent;
}

/* The node goes down on `side`, and its other child takes its place; returned. */
static nm_tree_node *rotate(nm_tree *tree, nm_tree_node *node, int side)
{
    nm_tree_node *up = node->child[!side];

    replace_child(tree, node, up);
    node->child[!side] = up->child[side];
    if (node->child[!side] != NULL)
        node->child[!side]->parent = node;
    up->child[side] = node;
    node->parent = up;
    refresh(node);
    refresh(up);
    return up;
}

/* One side of the node is too high by one: rotates, and returns what stands in its place. */
static nm_tree_node *balance(nm_tree *tree, nm_tree_node *node, int heavy)
{
    nm_tree_node *child = node->child[heavy];

    if (height_of(child->child[heavy]) < height_of(child->child[!heavy]))
        rotate(tree, child, heavy);
    return rotate(tree, node, !heavy);
}

/* Above a leaf that has come. A value is the largest of fewer and fewer nodes, and heights are as before above the first node
 * that was as high already, or that is rotated. */
static void grow_upwards(nm_tree *tree, nm_tree_node *leaf)
{
    for (nm_tree_node *node = leaf->parent; node != NULL && node->largest < leaf->value; node = node->parent)
        node->largest = leaf->value;
    for (nm_tree_node *below = leaf, *node = leaf->parent; node != NULL && node->height == below->height;
         below = node, node = node->parent) {
        int side = node->child[BEHIND] == below;

        if (height_of(node->child[!side]) + 1 < below->height) {
            balance(tree, node, side);
            return;
        }
        node->height++;
    }
}

/* Above where a node has gone. */
static void mend_upwards(nm_tree *tree, nm_tree_node *node)
{
    while (node != NULL) {
        int height = node->height;
        uint64_t largest = node->largest;
        int lean = height_of(node->child[BEHIND]) - height_of(node->child[BEFORE]);

        if (lean < -1 || lean > 1)
            node = balance(tree, node, lean > 0 ? BEHIND : BEFORE);
        else
            refresh(node);
        if (node->height == height && node->largest == largest)
            return;
        node = node->parent;
    }
}

void nm_tree_insert(nm_tree *tree, nm_tree_node *node)
{
    nm_tree_node *parent = NULL;
    nm_tree_node **link = &tree->root;

    while (*link != NULL) {
        parent = *link;
        link = &parent->child[node->key >= parent->key];
    }
    node->parent = parent;
    node->child[BEFORE] = NULL;
    node->child[BEHIND] = NULL;
    node->height = 1;
    node->largest = node->value;
    *link = node;
    tree->count++;
    grow_upwards(tree, node);
}

/* The outermost node of a subtree on a side. */
static nm_tree_node *outermost(nm_tree_node *node, int side)
{
    while (node->child[side] != NULL)
        node = node->child[side];
    return node;
}

/* Takes out a node with two children: its successor takes its place. */
static void remove_inner(nm_tree *tree, nm_tree_node *node)
{
    nm_tree_node *heir = outermost(node->child[BEHIND], BEFORE);
    nm_tree_node *lowest = heir->parent == node ? heir : heir->parent; /* where the way up begins */

    if (heir->parent != node) {
        replace_child(tree, heir, heir->child[BEHIND]);
        heir->child[BEHIND] = node->child[BEHIND];
        heir->child[BEHIND]->parent = heir;
    }
    replace_child(tree, node, heir);
    heir->child[BEFORE] = node->child[BEFORE];
    heir->child[BEFORE]->parent = heir;
    heir->height = node->height;
    heir->largest = node->largest;
    mend_upwards(tree, lowest);
    /* That way may have ended early, below the heir, whose own value is new in this place. */
    mend_upwards(tree, heir);
}

void nm_tree_remove(nm_tree *tree, nm_tree_node *node)
{
    assert(tree->count > 0);
    tree->count--;
    if (node->child[BEFORE] != NULL && node->child[BEHIND] != NULL) {
        remove_inner(tree, node);
        return;
    }

    nm_tree_node *parent = node->parent;
    replace_child(tree, node, node->child[node->child[BEHIND] != NULL]);
    mend_upwards(tree, parent);
}

void nm_tree_change(nm_tree_node *node, uint64_t key, uint64_t value)
{
    assert(nm_tree_previous(node) == NULL || nm_tree_previous(node)->key <= key);
    assert(nm_tree_next(node) == NULL || nm_tree_next(node)->key >= key);
    node->key = key;
    if (node->value == value)
        return;
    node->value = value;
    for (; node != NULL; node = node->parent) {
        uint64_t largest = node->largest;

        refresh(node);
        if (node->largest == largest)
            return;
    }
}

nm_tree_node *nm_tree_floor(const nm_tree *tree, uint64_t key)
{
    nm_tree_node *found = NULL;

    for (nm_tree_node *node = tree->root; node != NULL;) {
        bool is_before = node->key <= key;

        found = is_before ? node : found;
        node = node->child[is_before];
    }
    return found;
}

nm_tree_node *nm_tree_ceiling(const nm_tree *tree, uint64_t key)
{
    nm_tree_node *found = NULL;

    for (nm_tree_node *node = tree->root; node != NULL;) {
        bool is_before = node->key < key;

        found = is_before ? found : node;
        node = node->child[is_before];
    }
    return found;
}

/* From `node` back to the nearest one with a value above `at`. The largest values tell which subtrees to skip. */
static nm_tree_node *back_to(nm_tree_node *node, uint64_t at)
{
    while (node != NULL && node->value <= at) {
        if (largest_of(node->child[BEFORE]) > at) {
            node = node->child[BEFORE];
            while (largest_of(node->child[BEHIND]) > at)
                node = node->child[BEHIND];
            continue;
        }
        while (node->parent != NULL && node->parent->child[BEFORE] == node)
            node = node->parent;
        node = node->parent;
    }
    return node;
}

nm_tree_node *nm_tree_holding(const nm_tree *tree, uint64_t at)
{
    return back_to(nm_tree_floor(tree, at), at);
}

nm_tree_node *nm_tree_reaching(const nm_tree_node *node)
{
    return back_to(nm_tree_previous(node), node->key);
}

nm_tree_node *nm_tree_first(const nm_tree *tree)
{
    return tree->root == NULL ? NULL : outermost(tree->root, BEFORE);
}

/* The neighbour on a side. */
static nm_tree_node *neighbour(const nm_tree_node *node, int side)
{
    if (node->child[side] != NULL)
        return outermost(node->child[side], !side);
    while (node->parent != NULL && node->parent->child[side] == node)
        node = node->parent;
    return node->parent;
}

nm_tree_node *nm_tree_next(const nm_tree_node *node)
{
    return neighbour(node, BEHIND);
}

nm_tree_node *nm_tree_previous(const nm_tree_node *node)
{
    return neighbour(node, BEFORE);
}

uint64_t nm_tree_largest(const nm_tree *tree)
{
    return largest_of(tree->root);
}
