/* SPDX-License-Identifier: Apache-2.0
 *
 * Kills for want of memory, from files laid out as the kernel lays out cgroups of both versions.
 */
#include <check.h>

#include "support/machine.h"
#include "support/suites.h"
#include "tool/record/oom.h"

START_TEST(a_new_kill_is_told_once_with_the_least_limit)
{
    record_oom oom;

    machine_lay("echo 0::/job/step > proc/self/cgroup; mkdir -p sys/fs/cgroup/job/step; echo max > "
                "sys/fs/cgroup/job/step/memory.max;"
                "echo 1048576 > sys/fs/cgroup/job/memory.max;"
                "printf 'low 0\\noom 5\\noom_kill 4\\noom_group_kill 9\\n' > sys/fs/cgroup/job/step/memory.events");
    record_oom_begin(&oom);
    ck_assert_uint_eq(oom.limit_bytes, 1048576);
    ck_assert(!record_oom_has_killed(&oom));
    machine_lay("printf 'low 0\\noom 6\\noom_kill 4\\noom_group_kill 10\\n' > sys/fs/cgroup/job/step/memory.events");
    ck_assert(!record_oom_has_killed(&oom));
    machine_lay("printf 'low 0\\noom 6\\noom_kill 5\\noom_group_kill 9\\n' > sys/fs/cgroup/job/step/memory.events");
    ck_assert(record_oom_has_killed(&oom));
    ck_assert(!record_oom_has_killed(&oom));
}
END_TEST

START_TEST(the_older_version_counts_elsewhere)
{
    record_oom oom;

    machine_lay(
        "printf '9:cpu:/\\n4:memory:/docker/1\\n0::/other\\n' > proc/self/cgroup; mkdir -p sys/fs/cgroup/memory;"
        "echo 9223372036854771712 > sys/fs/cgroup/memory/memory.limit_in_bytes;"
        "printf 'oom_kill_disable 0\\nunder_oom 0\\noom_kill 0\\n' > sys/fs/cgroup/memory/memory.oom_control");
    record_oom_begin(&oom); /* of a container: its own path is not there, and it sees its own as the root */
    ck_assert(oom.limit_bytes == RECORD_OOM_UNLIMITED);
    machine_lay("printf 'oom_kill_disable 0\\nunder_oom 0\\noom_kill 1\\n' > sys/fs/cgroup/memory/memory.oom_control");
    ck_assert(record_oom_has_killed(&oom));
}
END_TEST

START_TEST(without_a_cgroup_nothing_is_said)
{
    record_oom oom;

    record_oom_begin(&oom);
    ck_assert(!record_oom_has_killed(&oom));
    machine_lay("echo 0::/ > proc/self/cgroup");
    record_oom_begin(&oom);
    machine_lay("echo oom_kill 5 > sys/fs/cgroup/memory.events");
    ck_assert(!record_oom_has_killed(&oom)); /* what it was before is not known */
}
END_TEST

TEST_SUITE(test_record_oom)
{
    Suite *suite = suite_create("record_oom");
    TCase *tests = tcase_create("record_oom");

    tcase_add_checked_fixture(tests, machine_set_up, machine_tear_down);
    tcase_add_test(tests, a_new_kill_is_told_once_with_the_least_limit);
    tcase_add_test(tests, the_older_version_counts_elsewhere);
    tcase_add_test(tests, without_a_cgroup_nothing_is_said);
    suite_add_tcase(suite, tests);
    return suite;
}
