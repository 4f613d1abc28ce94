/* SPDX-License-Identifier: Apache-2.0
 *
 * What --redact makes of a text: hosts, users, paths and arguments have numbers, the same one the same number; what
 * everybody has stays.
 */
#include "store/redact_text.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "support/foreign.h"
#include "support/suites.h"

static nm_redact redact;
static nm_buffer out;

static void set_up(void)
{
    redact = (nm_redact){0};
    out = (nm_buffer){0};
}

static void tear_down(void)
{
    nm_redact_free(&redact);
    nm_buffer_free(&out);
}

static void check_becomes(nm_redact_role role, const char *text, const char *expected)
{
    nm_error err = {0};

    ck_assert_int_eq(nm_redact_text(&redact, role, (nm_bytes){(const uint8_t *)text, strlen(text)}, &out, &err), NM_OK);
    ck_assert_msg(out.len == strlen(expected) && memcmp(out.data, expected, out.len) == 0,
                  "'%s' became '%.*s', not '%s'", text, (int)out.len, (const char *)out.data, expected);
}

START_TEST(paths_are_folders_and_files)
{
    check_becomes(NM_REDACT_PATH, "/home/alice/acme/model.py", "/path-1/file-1.py");
    check_becomes(NM_REDACT_PATH, "/home/alice/acme/data.py", "/path-1/file-2.py");
    check_becomes(NM_REDACT_PATH, "/data/acme/model.py", "/path-2/file-1.py");
    check_becomes(NM_REDACT_PATH, "/home/alice/acme/model.py", "/path-1/file-1.py");
    check_becomes(NM_REDACT_PATH, "train.py", "file-3.py");
    check_becomes(NM_REDACT_PATH, "/data/acme/libacme.so.1.2", "/path-2/file-4.so");
    check_becomes(NM_REDACT_PATH, "/data/acme/", "/path-2");
    check_becomes(NM_REDACT_PATH, "/acme", "/file-5");
    check_becomes(NM_REDACT_PATH, "runs/acme.secret", "/path-3/file-6");
    check_becomes(NM_REDACT_PATH, "", "");
}
END_TEST

START_TEST(what_everybody_has_stays)
{
    check_becomes(NM_REDACT_PATH, "/usr/lib/x86_64-linux-gnu/libc.so.6", "/usr/lib/x86_64-linux-gnu/libc.so.6");
    check_becomes(NM_REDACT_PATH, "/home/a/env/lib/python3.11/site-packages/torch/nn/x.py", "/path-1/torch/nn/x.py");
    check_becomes(NM_REDACT_PATH, "/home/a/env/lib/python3.11/site-packages/acme/x.py", "/path-2/file-1.py");
    check_becomes(NM_REDACT_PATH, "/home/a/env/lib/python3.11/threading.py", "/path-3/python3.11/threading.py");
    check_becomes(NM_REDACT_PATH, "/usr/local/Ascend/cann/lib64/libascendcl.so",
                  "/path-4/Ascend/cann/lib64/libascendcl.so");
    check_becomes(NM_REDACT_PATH, "/opt/x/lib/libnpumem.so", "/path-5/libnpumem.so");
    check_becomes(NM_REDACT_PATH, "/usr/local/acme/x.py", "/path-6/file-1.py");
    check_becomes(NM_REDACT_PATH, "<string>", "<string>");
    check_becomes(NM_REDACT_PATH, "python3.11", "python3.11");
    check_becomes(NM_REDACT_PATH, "[vdso]", "[vdso]");
    check_becomes(NM_REDACT_PATH, "-", "-");
}
END_TEST

START_TEST(what_was_met_is_known_in_other_texts)
{
    check_becomes(NM_REDACT_HOST, "node17.acme.com", "host-1");
    check_becomes(NM_REDACT_PATH, "/home/alice/model.py", "/path-1/file-1.py");
    check_becomes(NM_REDACT_COMMAND, "python3 /home/alice/model.py --run acme-7 --epochs 5",
                  "python3 /path-1/file-1.py arg-1 arg-2 arg-3 arg-4");
    check_becomes(NM_REDACT_TEXT, "worker_alice on node17, run acme-7", "worker_user-1 on host-1, run arg-2");
    check_becomes(NM_REDACT_TEXT, "alices and node171 and 5", "alices and node171 and 5");
    check_becomes(NM_REDACT_TEXT, "saw /home/alice/model.py:8", "saw /path-1/file-1.py:8");
    check_becomes(NM_REDACT_TEXT, "a:/data/x:/usr/lib/y", "a:/path-2/file-2:/usr/lib/y");
    check_becomes(NM_REDACT_TEXT, "bob@node18 at 10.1.2.3", "user-2@host-2 at host-3");
    check_becomes(NM_REDACT_TEXT, "http://node17.acme.com/secret/x?a=b", "http://host-1/path-3");
    check_becomes(NM_REDACT_TEXT, "1/2 of loss/train 1.2.3", "1/2 of loss/train 1.2.3");
    check_becomes(NM_REDACT_FUNCTION, "run acme-7 of alice", "run acme-7 of user-1");
    check_becomes(NM_REDACT_FUNCTION, "(anonymous struct at /home/alice/model.py:3)",
                  "(anonymous struct at /path-1/file-1.py:3)");
    check_becomes(NM_REDACT_FUNCTION, "operator/ <int>", "operator/ <int>");
}
END_TEST

START_TEST(what_was_met_is_known_in_other_ways_of_writing_it)
{
    check_becomes(NM_REDACT_HOST, "Node17.Acme.com", "host-1");
    check_becomes(NM_REDACT_HOST, "NODE17.ACME.COM", "host-1");
    check_becomes(NM_REDACT_PATH, "/home/alice/llama-secret/v2/x_model.py", "/path-1/file-1.py");
    check_becomes(NM_REDACT_TEXT, "on NODE17 of acme.com", "on host-1 of host-1");
    check_becomes(NM_REDACT_TEXT, "loading llama-secret, then Llama-Secret.net", "loading folder-1, then folder-1.net");
    check_becomes(NM_REDACT_TEXT, "x_model of ALICE at home", "file-1 of user-1 at home");
    check_becomes(NM_REDACT_FUNCTION, "llama-secret::run", "llama-secret::run");
    check_becomes(NM_REDACT_TEXT, "saw runs/acme7/data.json, loss/train", "saw /path-2/file-2.json, loss/train");
}
END_TEST

START_TEST(paths_of_servers_and_drives_are_paths)
{
    check_becomes(NM_REDACT_TEXT, "saved //filer9/share/a.pt, \\\\filer9\\share\\b.pt",
                  "saved /path-1/file-1, /path-2/file-2");
    check_becomes(NM_REDACT_TEXT, "FILER9 is full", "host-1 is full");
    check_becomes(NM_REDACT_TEXT, "C:\\Users\\carol\\acme\\x.py of carol", "/path-3/file-3.py of user-1");
    check_becomes(NM_REDACT_PATH, "//filer9/share/x.py", "/path-1/file-3.py");
    check_becomes(NM_REDACT_PATH, "<string of carol>", "<string of user-1>");
    check_becomes(NM_REDACT_PATH, "python3.11/carol/x.py", "/path-4/file-3.py");
}
END_TEST

START_TEST(addresses_of_machines_are_hosts)
{
    check_becomes(NM_REDACT_TEXT, "10.1.2.3 fe80::1 2001:db8::5054:ff:1 52:54:00:12:34:56",
                  "host-1 host-2 host-3 host-4");
    check_becomes(NM_REDACT_TEXT, "[FE80::1]:29500, fe80::1%eth0.", "[host-2]:29500, host-2%eth0.");
    check_becomes(NM_REDACT_TEXT, "52-54-00-12-34-57 5254.0012.3458 1:2:3:4:5:6:7:8", "host-5 host-6 host-7");
    check_becomes(NM_REDACT_TEXT, "http://[2001:db8::9]:80/x?token=a", "http://[host-8]:80/path-1");
    check_becomes(NM_REDACT_TEXT, "http://wiki.acme.com:8080?q=a b", "http://host-9:8080/path-2 b");
    check_becomes(NM_REDACT_TEXT, "12:34:56 c10::add at::aa::b aten::add face::add 0000:81:00.0 1.2.3",
                  "12:34:56 c10::add at::aa::b aten::add face::add 0000:81:00.0 1.2.3");
}
END_TEST

START_TEST(secrets_go_from_all_that_stays)
{
    check_becomes(NM_REDACT_TEXT, "run --api-key abc", "run --api-key ***");
    check_becomes(NM_REDACT_TEXT, "key AKIAIOSFODNN7EXAMPLE of x", "key *** of x");
    check_becomes(NM_REDACT_FUNCTION, "auth::Session key=1 ghp_0123456789abcdefghij0123", "auth::Session key=1 ***");
}
END_TEST

/* Nothing is known of it from another text. */
static void check_gone(const foreign_line *line)
{
    nm_error err = {0};
    nm_bytes text = {(const uint8_t *)line->texts[0], line->lens[0]};

    tear_down();
    set_up();
    ck_assert_int_eq(nm_redact_text(&redact, NM_REDACT_TEXT, text, &out, &err), NM_OK);
    ck_assert_int_eq(nm_buffer_append(&out, "", 1, &err), NM_OK);
    ck_assert_msg(strcasestr((const char *)out.data, "planted") == NULL, "'%s' became '%s'", line->texts[0],
                  (const char *)out.data);
}

START_TEST(each_secret_goes_by_itself)
{
    ck_assert_uint_gt(foreign_each(FOREIGN_PATH, "secret", check_gone), 50);
}
END_TEST

START_TEST(names_of_programs_are_known_as_threads_have_them)
{
    check_becomes(NM_REDACT_COMMAND, "/opt/acme_trainer_of_models -x", "/path-1/file-1 arg-1");
    check_becomes(NM_REDACT_TEXT, "acme_trainer_of", "file-1");
    check_becomes(NM_REDACT_COMMAND, "python3.11 x.py", "python3.11 file-2.py");
    check_becomes(NM_REDACT_COMMAND, "", "");
}
END_TEST

/* Whatever is in a text. */
START_TEST(any_bytes_are_survived)
{
    static const char pieces[] = "/:@.-=_ aB1'\0\377/home/";
    uint64_t x = 1;

    for (int round = 0; round < 20000; round++) {
        char text[40] = "";
        nm_error err = {0};
        size_t len = (size_t)(round % 39);

        for (size_t i = 0; i < len; i++) {
            x = x * 6364136223846793005u + 1442695040888963407u;
            text[i] = pieces[(x >> 33) % (sizeof pieces - 1)];
        }
        ck_assert_int_eq(nm_redact_text(&redact, (nm_redact_role)(round % NM_REDACT_ROLE_COUNT),
                                        (nm_bytes){(const uint8_t *)text, len}, &out, &err),
                         NM_OK);
    }
}
END_TEST

TEST_SUITE(test_redact)
{
    Suite *suite = suite_create("redact");
    TCase *tests = tcase_create("redact");

    tcase_add_checked_fixture(tests, set_up, tear_down);
    tcase_add_test(tests, paths_are_folders_and_files);
    tcase_add_test(tests, what_everybody_has_stays);
    tcase_add_test(tests, what_was_met_is_known_in_other_texts);
    tcase_add_test(tests, what_was_met_is_known_in_other_ways_of_writing_it);
    tcase_add_test(tests, paths_of_servers_and_drives_are_paths);
    tcase_add_test(tests, addresses_of_machines_are_hosts);
    tcase_add_test(tests, secrets_go_from_all_that_stays);
    tcase_add_test(tests, each_secret_goes_by_itself);
    tcase_add_test(tests, names_of_programs_are_known_as_threads_have_them);
    tcase_add_test(tests, any_bytes_are_survived);
    suite_add_tcase(suite, tests);
    return suite;
}
