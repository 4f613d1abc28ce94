/* SPDX-License-Identifier: Apache-2.0
 *
 * Height-balanced: the heights of a node's two sides differ by at most one. After a change the way up is mended until a
 * subtree has the height and the largest value that it had before.
 */
#include "base/tree.h"

#include <stdbool.h>

static int height_of(const nm_tree_node *node)
{
    return node == NULL ? 0 : node->height;
}

static void refresh(nm_tree_node *node)
{
    const nm_tree_node *left = node->left;
    const nm_tree_node *right = node->right;
    int left_height = height_of(left);
    int right_height = height_of(right);

    node->height = 1 + (left_height > right_height ? left_height : right_height);
    node->largest = node->value;
    if (left != NULL && left->largest > node->largest)
        node->largest = left->largest;
    if (right != NULL && right->largest > node->largest)
        node->largest = right->largest;
}

/* Puts `node` (or nothing) where `old` hangs. */
static void replace_child(nm_tree *tree, nm_tree_node *old, nm_tree_node *node)
{
    nm_tree_node *parent = old->parent;

    if (parent == NULL)
        tree->root = node;
    else if (parent->left == old)
        parent->left = node;
    else
        parent->right = node;
    if (node != NULL)
        node->parent = parent;
}

/* The right child takes the node's place; returned. */
static nm_tree_node *rotate_left(nm_tree *tree, nm_tree_node *node)
{
    nm_tree_node *up = node->right;

    replace_child(tree, node, up);
    node->right = up->left;
    if (node->right != NULL)
        node->right->parent = node;
    up->left = node;
    node->parent = up;
    refresh(node);
    refresh(up);
    return up;
}

static nm_tree_node *rotate_right(nm_tree *tree, nm_tree_node *node)
{
    nm_tree_node *up = node->left;

    replace_child(tree, node, up);
    node->left = up->right;
    if (node->left != NULL)
        node->left->parent = node;
    up->right = node;
    node->parent = up;
    refresh(node);
    refresh(up);
    return up;
}

/* Mends one node, whose sides are in order; returns what stands in its place. */
static nm_tree_node *balance(nm_tree *tree, nm_tree_node *node)
{
    int lean = height_of(node->left) - height_of(node->right);

    if (lean > 1) {
        if (height_of(node->left->left) < height_of(node->left->right))
            rotate_left(tree, node->left);
        return rotate_right(tree, node);
    }
    if (lean < -1) {
        if (height_of(node->right->right) < height_of(node->right->left))
            rotate_right(tree, node->right);
        return rotate_left(tree, node);
    }
    refresh(node);
    return node;
}

static void mend_upwards(nm_tree *tree, nm_tree_node *node)
{
    while (node != NULL) {
        int height = node->height;
        uint64_t largest = node->largest;

        node = balance(tree, node);
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
        link = node->key < parent->key ? &parent->left : &parent->right;
    }
    node->parent = parent;
    node->left = NULL;
    node->right = NULL;
    node->height = 1;
    node->largest = node->value;
    *link = node;
    tree->count++;
    mend_upwards(tree, parent);
}

void nm_tree_remove(nm_tree *tree, nm_tree_node *node)
{
    nm_tree_node *lowest; /* where the way up begins */

    tree->count--;
    if (node->left == NULL || node->right == NULL) {
        lowest = node->parent;
        replace_child(tree, node, node->left != NULL ? node->left : node->right);
        mend_upwards(tree, lowest);
        return;
    }

    nm_tree_node *heir = node->right;
    while (heir->left != NULL)
        heir = heir->left;
    lowest = heir->parent == node ? heir : heir->parent;
    if (heir->parent != node) {
        replace_child(tree, heir, heir->right);
        heir->right = node->right;
        heir->right->parent = heir;
    }
    replace_child(tree, node, heir);
    heir->left = node->left;
    heir->left->parent = heir;
    heir->height = node->height;
    heir->largest = node->largest;
    mend_upwards(tree, lowest);
    /* The first way up may have ended early, below the heir, whose own value is new in this place. */
    mend_upwards(tree, heir);
}

void nm_tree_change(nm_tree_node *node, uint64_t key, uint64_t value)
{
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
        if (node->key <= key) {
            found = node;
            node = node->right;
        } else {
            node = node->left;
        }
    }
    return found;
}

nm_tree_node *nm_tree_ceiling(const nm_tree *tree, uint64_t key)
{
    nm_tree_node *found = NULL;

    for (nm_tree_node *node = tree->root; node != NULL;) {
        if (node->key >= key) {
            found = node;
            node = node->left;
        } else {
            node = node->right;
        }
    }
    return found;
}

nm_tree_node *nm_tree_holding(const nm_tree *tree, uint64_t at)
{
    nm_tree_node *node = nm_tree_floor(tree, at);

    /* Everything before the floor has a key that fits: go back to the nearest value that does, by the largest below. */
    while (node != NULL && node->value <= at) {
        bool is_in_left = node->left != NULL && node->left->largest > at;

        if (is_in_left) {
            for (node = node->left; node->right != NULL && node->right->largest > at;)
                node = node->right;
            continue;
        }
        while (node->parent != NULL && node->parent->left == node)
            node = node->parent;
        node = node->parent;
    }
    return node;
}

nm_tree_node *nm_tree_first(const nm_tree *tree)
{
    nm_tree_node *node = tree->root;

    while (node != NULL && node->left != NULL)
        node = node->left;
    return node;
}

nm_tree_node *nm_tree_next(const nm_tree_node *node)
{
    if (node->right != NULL) {
        for (node = node->right; node->left != NULL;)
            node = node->left;
        return (nm_tree_node *)node;
    }
    while (node->parent != NULL && node->parent->right == node)
        node = node->parent;
    return node->parent;
}

nm_tree_node *nm_tree_previous(const nm_tree_node *node)
{
    if (node->left != NULL) {
        for (node = node->left; node->right != NULL;)
            node = node->right;
        return (nm_tree_node *)node;
    }
    while (node->parent != NULL && node->parent->left == node)
        node = node->parent;
    return node->parent;
}

uint64_t nm_tree_largest(const nm_tree *tree)
{
    return tree->root == NULL ? 0 : tree->root->largest;
}
