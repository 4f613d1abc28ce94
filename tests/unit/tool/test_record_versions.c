/* SPDX-License-Identifier: Apache-2.0
 *
 * Versions of what a process runs on, from files laid out as CANN, its driver and pip lay them out.
 */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/drain_bench.h"
#include "support/run.h"
#include "support/suites.h"
#include "tool/common/versions.h"

static char folder[64];
static drain_bench bench;
static record_versions *versions;
static uint64_t string_count;

static void write_file(const char *path, const char *text)
{
    char command[1024];

    snprintf(command, sizeof command, "mkdir -p $(dirname %s/%s) && printf '%s' > %s/%s", folder, path, text, folder,
             path);
    nm_run run = run_shell(command, 10);
    ck_assert_int_eq(run.exit_code, 0);
    run_free(&run);
}

static void load(uint64_t process, const char *path)
{
    char full[256];
    nm_record string = {.kind = NM_RECORD_DEFINITION, .definition = {.kind = NM_DEFINE_STRING, .id = ++string_count}};
    nm_record module = {.kind = NM_RECORD_DEFINITION, .definition = {.kind = NM_DEFINE_MODULE, .id = string_count}};

    snprintf(full, sizeof full, "%s/%s", folder, path);
    string.definition.string = (nm_bytes){(const uint8_t *)full, strlen(full)};
    module.definition.module.process_id = process;
    module.definition.module.path = string_count;
    record_versions_take(versions, &string);
    record_versions_take(versions, &module);
}

static void expect_version(const trace_content *content, uint64_t process, const char *name, const char *version)
{
    size_t count = 0;

    for (size_t i = 0; i < content->definition_count; i++) {
        const nm_definition *known = &content->definitions[i];

        if (known->kind != NM_DEFINE_ATTRIBUTE || known->attribute.process_id != process ||
            !trace_content_text_is(content, known->attribute.name, name))
            continue;
        ck_assert_uint_eq(known->attribute.source, NM_ATTRIBUTE_VERSION);
        ck_assert_msg(trace_content_text_is(content, known->attribute.value, version), "%s is not %s", name, version);
        count++;
    }
    ck_assert_msg(count == (version != NULL), "%s is told %zu times", name, count);
}

START_TEST(each_version_stands_where_its_maker_puts_it)
{
    trace_content content;
    nm_error err = {0};

    run_make_folder(folder);
    drain_bench_open(&bench);
    ck_assert_int_eq(record_versions_new(&versions, &err), NM_OK);
    write_file("cann/aarch64-linux/lib64/libascendcl.so", "");
    write_file("cann/aarch64-linux/ascend_toolkit_install.info", "package_name=x\\nversion=8.1.RC1\\n");
    write_file("driver/lib64/driver/libascend_hal.so", "");
    write_file("driver/version.info", "Version=24.1.0\\nascendhal_version=7\\n");
    write_file("site/torch/lib/libtorch_cpu.so", "");
    write_file("site/torch-2.5.1+cpu.dist-info/METADATA", "");
    write_file("site/torch_npu-2.5.1.post1.dist-info/METADATA", "");
    write_file("site/torch_npu/lib/libtorch_npu.so", "");
    load(1, "cann/aarch64-linux/lib64/libascendcl.so");
    load(1, "driver/lib64/driver/libascend_hal.so");
    load(1, "site/torch/lib/libtorch_cpu.so");
    load(1, "site/torch_npu/lib/libtorch_npu.so");
    load(1, "lib/libpython3.11.so.1.0");
    load(1, "lib/libc.so.6");
    load(2, "bin/python3.8");
    load(2, "elsewhere/libascendcl.so"); /* no file says it */
    ck_assert_int_eq(record_versions_tell(versions, bench.drain, &err), NM_OK);
    load(1, "cann/aarch64-linux/lib64/libascendcl.so"); /* again: it is known */
    ck_assert_int_eq(record_versions_tell(versions, bench.drain, &err), NM_OK);
    drain_bench_finish(&bench, &content);

    expect_version(&content, 1, "CANN", "8.1.RC1");
    expect_version(&content, 1, "driver", "24.1.0");
    expect_version(&content, 1, "torch", "2.5.1+cpu");
    expect_version(&content, 1, "torch_npu", "2.5.1.post1");
    expect_version(&content, 1, "Python", "3.11");
    expect_version(&content, 2, "Python", "3.8");
    expect_version(&content, 2, "CANN", NULL);
    trace_content_free(&content);
    record_versions_free(versions);
    drain_bench_close(&bench);
    run_remove_folder(folder);
}
END_TEST

TEST_SUITE(test_record_versions)
{
    Suite *suite = suite_create("record_versions");
    TCase *tests = tcase_create("record_versions");

    tcase_add_test(tests, each_version_stands_where_its_maker_puts_it);
    suite_add_tcase(suite, tests);
    return suite;
}
