/* SPDX-License-Identifier: Apache-2.0
 *
 * The tree against a sorted array that is searched from end to end, over random inserts, changes and removals.
 */
#include "base/tree.h"
#include "support/suites.h"

#include <check.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#define NODES 300

static nm_tree tree;
static nm_tree_node nodes[NODES];
static bool is_in[NODES];
static uint64_t random_state = 88172645463325252u;

static uint64_t next_random(uint64_t below)
{
    random_state ^= random_state << 13;
    random_state ^= random_state >> 7;
    random_state ^= random_state << 17;
    return random_state % below;
}

/* Checks order, heights, links and the largest value of a subtree; returns its count. */
static size_t check_subtree(const nm_tree_node *node)
{
    uint64_t largest;
    int left_height, right_height;
    size_t count;

    if (node == NULL)
        return 0;
    left_height = node->child[0] == NULL ? 0 : node->child[0]->height;
    right_height = node->child[1] == NULL ? 0 : node->child[1]->height;
    ck_assert_int_le(abs(left_height - right_height), 1);
    ck_assert_int_eq(node->height, 1 + (left_height > right_height ? left_height : right_height));
    ck_assert(node->child[0] == NULL || (node->child[0]->parent == node && node->child[0]->key <= node->key));
    ck_assert(node->child[1] == NULL || (node->child[1]->parent == node && node->child[1]->key >= node->key));
    count = check_subtree(node->child[0]) + check_subtree(node->child[1]) + 1;
    largest = node->value;
    if (node->child[0] != NULL && node->child[0]->largest > largest)
        largest = node->child[0]->largest;
    if (node->child[1] != NULL && node->child[1]->largest > largest)
        largest = node->child[1]->largest;
    ck_assert_uint_eq(node->largest, largest);
    return count;
}

/* The best node by a full search: the last key <= at (is_holding: whose value is above at), or the first >= at. */
static uint64_t slow_key(uint64_t at, bool is_floor, bool is_holding)
{
    uint64_t best = UINT64_MAX;

    for (size_t i = 0; i < NODES; i++) {
        uint64_t key = nodes[i].key;

        if (!is_in[i] || (is_floor ? key > at : key < at) || (is_holding && nodes[i].value <= at))
            continue;
        if (best == UINT64_MAX || (is_floor ? key > best : key < best))
            best = key;
    }
    return best;
}

static uint64_t key_of(const nm_tree_node *node)
{
    return node == NULL ? UINT64_MAX : node->key;
}

static void check_queries(void)
{
    uint64_t at = next_random(1100);
    const nm_tree_node *holding = nm_tree_holding(&tree, at);

    ck_assert_uint_eq(key_of(nm_tree_floor(&tree, at)), slow_key(at, true, false));
    ck_assert_uint_eq(key_of(nm_tree_ceiling(&tree, at)), slow_key(at, false, false));
    ck_assert_uint_eq(key_of(holding), slow_key(at, true, true));
    ck_assert(holding == NULL || holding->value > at);
}

/* The last node before this one that reaches behind its key, by walking back. */
static void check_reaching(const nm_tree_node *node)
{
    const nm_tree_node *want = nm_tree_previous(node);

    while (want != NULL && want->value <= node->key)
        want = nm_tree_previous(want);
    ck_assert_ptr_eq(nm_tree_reaching(node), want);
}

static void check_walk(void)
{
    size_t count = 0;
    const nm_tree_node *last = NULL;

    for (const nm_tree_node *node = nm_tree_first(&tree); node != NULL; node = nm_tree_next(node)) {
        ck_assert(last == NULL || last->key <= node->key);
        ck_assert_ptr_eq(nm_tree_previous(node), last);
        last = node;
        count++;
    }
    ck_assert_uint_eq(count, tree.count);
}

static void change_one(nm_tree_node *node)
{
    const nm_tree_node *before = nm_tree_previous(node);
    const nm_tree_node *after = nm_tree_next(node);
    uint64_t lowest = before == NULL ? 0 : before->key;
    uint64_t highest = after == NULL ? 1000 : after->key;

    nm_tree_change(node, lowest + next_random(highest - lowest + 1), next_random(1100));
}

START_TEST(random_changes_keep_order_balance_and_answers)
{
    for (int round = 0; round < 8000; round++) {
        size_t i = next_random(NODES);

        if (!is_in[i]) {
            nodes[i].key = next_random(1000);
            nodes[i].value = nodes[i].key + next_random(50) * next_random(3);
            nm_tree_insert(&tree, &nodes[i]);
            is_in[i] = true;
        } else if (next_random(2) == 0) {
            change_one(&nodes[i]);
        } else {
            nm_tree_remove(&tree, &nodes[i]);
            is_in[i] = false;
        }
        check_queries();
        if (is_in[i])
            check_reaching(&nodes[i]);
        if (round % 16 == 0) {
            ck_assert_uint_eq(check_subtree(tree.root), tree.count);
            check_walk();
        }
    }
}
END_TEST

START_TEST(an_empty_tree_answers_nothing)
{
    nm_tree empty = {0};

    ck_assert_ptr_null(nm_tree_floor(&empty, 5));
    ck_assert_ptr_null(nm_tree_ceiling(&empty, 5));
    ck_assert_ptr_null(nm_tree_holding(&empty, 5));
    ck_assert_ptr_null(nm_tree_first(&empty));
    ck_assert_uint_eq(nm_tree_largest(&empty), 0);
}
END_TEST

TEST_SUITE(test_tree)
{
    Suite *suite = suite_create("tree");
    TCase *tests = tcase_create("tree");

    tcase_set_timeout(tests, 60);
    tcase_add_test(tests, random_changes_keep_order_balance_and_answers);
    tcase_add_test(tests, an_empty_tree_answers_nothing);
    suite_add_tcase(suite, tests);
    return suite;
}
