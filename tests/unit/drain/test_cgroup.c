/* SPDX-License-Identifier: Apache-2.0
 *
 * What a memory cgroup leaves, from files laid out as the kernel lays out both versions.
 */
#include <check.h>

#include "drain/cgroup.h"
#include "support/machine.h"
#include "support/suites.h"

static void expect_left(uint64_t used_bytes, uint64_t limit_bytes)
{
    nm_cgroup cgroup;
    uint64_t used = 0, limit = 0;

    ck_assert(nm_cgroup_find("7", &cgroup));
    ck_assert(nm_cgroup_memory(&cgroup, &used, &limit));
    ck_assert_uint_eq(used, used_bytes);
    ck_assert_uint_eq(limit, limit_bytes);
}

/* 900 of 1000 are used here, of which 300 are files that can go; around it 5000 of 5300: 300 are left, not 400. */
START_TEST(the_one_that_leaves_least_counts)
{
    nm_cgroup cgroup;

    machine_lay("cd sys/fs/cgroup; echo 0::/pod/step >../../../proc/7/cgroup; mkdir -p pod/step; echo oom_kill 0 "
                ">pod/step/memory.events;"
                "echo 1000 >pod/step/memory.max; echo 900 >pod/step/memory.current;"
                "printf 'anon 500\\ninactive_file 300\\nactive_file 77\\n' >pod/step/memory.stat;"
                "echo 5300 >pod/memory.max; echo 5000 >pod/memory.current");
    expect_left(5000, 5300);
    ck_assert(nm_cgroup_find("7", &cgroup));
    ck_assert_uint_eq(nm_cgroup_limit(&cgroup), 1000);
    machine_lay("cd sys/fs/cgroup; echo 5500 >pod/memory.max");
    expect_left(600, 1000);
    machine_lay("cd sys/fs/cgroup; echo max >pod/step/memory.max");
    expect_left(5000, 5500);
}
END_TEST

START_TEST(the_older_version_has_other_names)
{
    machine_lay(
        "cd sys/fs/cgroup; printf '9:cpu:/\\n4:memory:/docker/1\\n0::/other\\n' >../../../proc/7/cgroup; mkdir memory;"
        "echo oom_kill 0 >memory/memory.oom_control; echo 2000 >memory/memory.limit_in_bytes;"
        "echo 1500 >memory/memory.usage_in_bytes; printf 'cache 9\\ninactive_file 11\\ntotal_inactive_file 100\\n' "
        ">memory/memory.stat");
    expect_left(1400, 2000); /* of a container: its own path is not there, and it sees its own as the root */
}
END_TEST

START_TEST(without_a_limit_nothing_is_told)
{
    nm_cgroup cgroup;
    uint64_t used = 0, limit = 0;

    ck_assert(!nm_cgroup_find("7", &cgroup));
    machine_lay("cd sys/fs/cgroup; echo 0::/ >../../../proc/7/cgroup");
    ck_assert(!nm_cgroup_find("7", &cgroup)); /* the root of all */
    machine_lay("cd sys/fs/cgroup; echo oom_kill 0 >memory.events; echo max >memory.max; echo 5 >memory.current");
    ck_assert(nm_cgroup_find("7", &cgroup));
    ck_assert(!nm_cgroup_memory(&cgroup, &used, &limit));
    ck_assert(nm_cgroup_limit(&cgroup) == NM_CGROUP_UNLIMITED);
    machine_lay("cd sys/fs/cgroup; echo 9223372036854771712 >memory.max"); /* what version 1 says */
    ck_assert(!nm_cgroup_memory(&cgroup, &used, &limit));
    machine_lay("cd sys/fs/cgroup; echo 10 >memory.max; rm memory.current");
    ck_assert(!nm_cgroup_memory(&cgroup, &used, &limit));
}
END_TEST

TEST_SUITE(test_cgroup)
{
    Suite *suite = suite_create("cgroup");
    TCase *tests = tcase_create("cgroup");

    tcase_add_checked_fixture(tests, machine_set_up, machine_tear_down);
    tcase_add_test(tests, the_one_that_leaves_least_counts);
    tcase_add_test(tests, the_older_version_has_other_names);
    tcase_add_test(tests, without_a_limit_nothing_is_told);
    suite_add_tcase(suite, tests);
    return suite;
}
