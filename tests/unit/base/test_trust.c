/* SPDX-License-Identifier: Apache-2.0
 *
 * Which files and folders are believed: every owner and mode that matters, by hand.
 */
#include "base/trust.h"
#include "support/suites.h"

#include <check.h>
#include <errno.h>
#include <stdlib.h>

#define USER  ((uid_t)1000)
#define OTHER ((uid_t)1001)
#define ROOT  ((uid_t)0)

static struct stat of(mode_t mode, uid_t owner, nlink_t links)
{
    return (struct stat){.st_mode = mode, .st_uid = owner, .st_nlink = links};
}

START_TEST(own_is_this_users_closed_and_without_a_second_name)
{
    static const struct {
        mode_t mode;
        uid_t owner;
        nlink_t links;
        mode_t type;
        bool is_own;
    } cases[] = {
        {S_IFREG | 0600, USER, 1, S_IFREG, true},  {S_IFREG | 0600, USER, 2, S_IFREG, false},
        {S_IFREG | 0640, USER, 1, S_IFREG, false}, {S_IFREG | 0601, USER, 1, S_IFREG, false},
        {S_IFREG | 0600, ROOT, 1, S_IFREG, false}, {S_IFREG | 0600, OTHER, 1, S_IFREG, false},
        {S_IFDIR | 0700, USER, 5, S_IFDIR, true},  {S_IFDIR | 0710, USER, 2, S_IFDIR, false},
        {S_IFLNK | 0700, USER, 1, S_IFDIR, false}, {S_IFDIR | 0700, USER, 1, S_IFREG, false},
    };

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct stat info = of(cases[i].mode, cases[i].owner, cases[i].links);

        ck_assert_msg(nm_trust_is_own(&info, cases[i].type, USER) == cases[i].is_own, "case %zu", i);
    }
}
END_TEST

START_TEST(a_safe_folder_is_this_users_or_roots_and_not_written_by_others_unless_sticky)
{
    static const struct {
        const char *path;
        mode_t mode;
        uid_t owner;
        bool is_safe;
    } cases[] = {
        {"/home/me", S_IFDIR | 0755, USER, true},      {"/var", S_IFDIR | 0755, ROOT, true},
        {"/home/me", S_IFDIR | 0775, USER, false},     {"/home/me", S_IFDIR | 0757, USER, false},
        {"/scratch", S_IFDIR | 01777, ROOT, true},     {"/scratch", S_IFDIR | 01777, OTHER, false},
        {"/home/other", S_IFDIR | 0755, OTHER, false}, {"/tmp", S_IFDIR | 01777, OTHER, true},
        {"/tmp", S_IFDIR | 0777, OTHER, false},        {"/dev/shm", S_IFDIR | 01777, 65534, true},
        {"/tmp/x", S_IFDIR | 01777, OTHER, false},     {"/home/me", S_IFREG | 0600, USER, false},
    };

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct stat info = of(cases[i].mode, cases[i].owner, 1);

        ck_assert_msg(nm_trust_is_safe_folder(cases[i].path, &info, USER) == cases[i].is_safe, "case %zu", i);
    }
}
END_TEST

START_TEST(ours_is_this_users_or_roots_and_not_everybodys_to_write)
{
    static const struct {
        mode_t mode;
        uid_t owner;
        bool is_ours;
    } cases[] = {
        {S_IFREG | 0644, USER, true},  {S_IFREG | 0664, USER, true},   {S_IFREG | 0666, USER, false},
        {S_IFREG | 0644, ROOT, true},  {S_IFREG | 0644, OTHER, false}, {S_IFREG | 0600, OTHER, false},
        {S_IFDIR | 0777, ROOT, false}, {S_IFDIR | 01777, ROOT, true},  {S_IFDIR | 01777, OTHER, false},
    };

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct stat info = of(cases[i].mode, cases[i].owner, 1);

        ck_assert_msg(nm_trust_is_ours(&info, USER) == cases[i].is_ours, "case %zu", i);
    }
}
END_TEST

START_TEST(the_parent_is_what_stands_before_the_last_slash)
{
    char parent[8];

    ck_assert(nm_trust_parent("/tmp/x", parent, sizeof parent));
    ck_assert_str_eq(parent, "/tmp");
    ck_assert(nm_trust_parent("/x", parent, sizeof parent));
    ck_assert_str_eq(parent, "/");
    ck_assert(nm_trust_parent("x", parent, sizeof parent));
    ck_assert_str_eq(parent, ".");
    ck_assert(nm_trust_parent("1234567/x", parent, sizeof parent));
    ck_assert_str_eq(parent, "1234567");
    ck_assert(!nm_trust_parent("/1234567/x", parent, sizeof parent));
}
END_TEST

START_TEST(errno_stays)
{
    struct stat info = of(S_IFDIR | 0755, OTHER, 1);
    char parent[2];

    errno = 12345;
    nm_trust_is_own(&info, S_IFDIR, USER);
    nm_trust_is_safe_folder("/none", &info, USER);
    nm_trust_parent("/too/long", parent, sizeof parent);
    ck_assert_int_eq(errno, 12345);
}
END_TEST

TEST_SUITE(test_trust)
{
    Suite *suite = suite_create("trust");
    TCase *tcase = tcase_create("trust");

    tcase_add_test(tcase, own_is_this_users_closed_and_without_a_second_name);
    tcase_add_test(tcase, a_safe_folder_is_this_users_or_roots_and_not_written_by_others_unless_sticky);
    tcase_add_test(tcase, ours_is_this_users_or_roots_and_not_everybodys_to_write);
    tcase_add_test(tcase, the_parent_is_what_stands_before_the_last_slash);
    tcase_add_test(tcase, errno_stays);
    suite_add_tcase(suite, tcase);
    return suite;
}
