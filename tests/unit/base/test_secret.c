/* SPDX-License-Identifier: Apache-2.0
 *
 * What is taken for a secret, and what of a text is left then.
 */
#include "base/secret.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/foreign.h"
#include "support/suites.h"

START_TEST(names_of_secrets_are_known)
{
    static const char *const names[] = {
        "api-key",         "--api-key",    "API_KEY",         "apiKey",           "APIKey",
        "HF_TOKEN",        "access_token", "token",           "model.auth.token", "password",
        "PGPASSWORD",      "db-passwd",    "clientSecret",    "client_secret",    "SECRET_ID",
        "AUTH_HEADER",     "auth",         "Authorization",   "credentials",      "AWS_SECRET_ACCESS_KEY",
        "WANDB_API_KEY_2", "token-value",  "api-keys",        "MYSQL_PWD",        "db_pass",
        "X-Amz-Signature", "authtoken",    "ssh_key",         "passphrase",       "pat",
        "GITHUB_PAT",      "sas",          "kubeconfig-data", "netrc_content",    "OBS_SK",
        "AccountKey",      "webhook-url",  "sshpass",
    };

    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        ck_assert_msg(nm_secret_is_name(names[i], strlen(names[i])), "%s", names[i]);
}
END_TEST

START_TEST(names_that_only_look_so_are_none)
{
    static const char *const names[] = {
        "keyframe-interval",
        "tokenizer",
        "max-tokens",
        "num-key-value-heads",
        "key-dim",
        "author",
        "authors",
        "monkey",
        "token-limit",
        "tokens",
        "pad-token-id",
        "keys",
        "PWD",
        "OLDPWD",
        "passes",
        "bypass",
        "num_kv_heads",
        "keyboard",
        "",
        "-",
        "secretary",
        "HCCL_WHITELIST_DISABLE",
        "compass",
        "authoring",
        "pattern",
        "path",
        "compat",
        "kubeconfig",
        "keytab",
        "data",
        "proxy-user",
        "risk",
        "break",
    };

    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        ck_assert_msg(!nm_secret_is_name(names[i], strlen(names[i])), "%s", names[i]);
}
END_TEST

static void check_text(const char *text, const char *expected)
{
    char copy[1024];
    size_t len;

    strcpy(copy, text);
    len = nm_secret_mask_text(copy, strlen(copy));
    copy[len] = 0;
    ck_assert_str_eq(copy, expected);
    ck_assert_int_eq(nm_secret_is_in_text(text, strlen(text)), strcmp(text, expected) != 0);
}

static void check_secret(const foreign_line *line)
{
    check_text(line->texts[0], line->texts[1]);
    ck_assert(strcasestr(line->texts[0], "planted") != NULL && strcasestr(line->texts[1], "planted") == NULL);
}

static void check_plain(const foreign_line *line)
{
    check_text(line->texts[0], line->texts[0]);
}

START_TEST(secrets_of_all_kinds_go_and_nothing_else)
{
    ck_assert_uint_gt(foreign_each(FOREIGN_PATH, "secret", check_secret), 50);
    ck_assert_uint_gt(foreign_each(FOREIGN_PATH, "plain", check_plain), 20);
}
END_TEST

START_TEST(what_follows_a_secret_s_name_goes)
{
    check_text("--api-key=abcdef", "--api-key=***");
    check_text("API_KEY=abcdef", "API_KEY=***");
    check_text("-DAPI_KEY=abcdef", "-DAPI_KEY=***");
    check_text("--env=HF_TOKEN=abcdef", "--env=HF_TOKEN=***");
    check_text("trainer.wandb.api_key=abc, def", "trainer.wandb.api_key=***");
    check_text("{\"lr\": 1, \"password\": \"x y\"}", "{\"lr\": 1, \"password\": \"***");
    check_text("Authorization: Bearer abcdef", "Authorization: ***");
    check_text("x Bearer abcdef", "x Bearer ***");
    check_text("run.py --steps 3 --token abcdef --x", "run.py --steps 3 --token ***");
    check_text("run.py --token\tabcdef", "run.py --token\t***");
    check_text("[\"--steps\", \"3\", \"--api-key\",\"abcdef\"]", "[\"--steps\", \"3\", \"--api-key\",\"***");
    check_text("['--token', 'abcdef']", "['--token', '***");
    check_text("--weights=token,key", "--weights=token,key");
    check_text("--token=a", "--token=*");
    check_text("--token=", "--token=");
    check_text("--max-tokens=100", "--max-tokens=100");
    check_text("--num-key-value-heads=8", "--num-key-value-heads=8");
    check_text("the key is here", "the key is here");
    check_text("https://host/login?user=me&token=abc", "https://host/login?user=me&token=***");
}
END_TEST

START_TEST(users_of_urls_go)
{
    check_text("https://me:pass@host:80/path", "https://***@host:80/path");
    check_text("--proxy=http://me:p@ss@host", "--proxy=http://***@host");
    check_text("http://me:p/ss@host/x", "http://***@host/x");
    check_text("a http://u:v@h b ftp://w:x@i c", "a http://***@h b ftp://***@i c");
    check_text("https://abcdef@github.com/x", "https://***@github.com/x");
    check_text("https://host:8080/path@v1", "https://host:8080/path@v1");
    check_text("https://host/path", "https://host/path");
    check_text("me@host:/path", "me@host:/path");
    check_text("://", "://");
}
END_TEST

static void check_list(const char *list, size_t len, const char *expected, size_t expected_len)
{
    char copy[256];

    memcpy(copy, list, len);
    ck_assert_uint_eq(nm_secret_mask_arguments(copy, len), expected_len);
    ck_assert_mem_eq(copy, expected, expected_len);
}

#define CHECK_LIST(list, expected) check_list(list, sizeof list, expected, sizeof expected)

START_TEST(the_argument_behind_a_name_goes)
{
    CHECK_LIST("python\0train.py\0--api-key\0abcdef\0--steps\0"
               "5",
               "python\0train.py\0--api-key\0***\0--steps\0"
               "5");
    CHECK_LIST("p\0--password\0-begins\0x", "p\0--password\0***\0x");
    CHECK_LIST("p\0--private-key\0-----BEGIN PRIVATE KEY-----\nabcdef\0x", "p\0--private-key\0***\0x");
    CHECK_LIST("p\0--use-auth\0--steps\0"
               "5",
               "p\0--use-auth\0--steps\0"
               "5");
    CHECK_LIST("p\0--token=abcdef\0next", "p\0--token=***\0next");
    CHECK_LIST("p\0--max-tokens\0"
               "100\0--tokenizer\0path",
               "p\0--max-tokens\0"
               "100\0--tokenizer\0path");
    CHECK_LIST("p\0-p8080\0\0x", "p\0-p8080\0\0x");
    CHECK_LIST("p\0--token", "p\0--token");
    CHECK_LIST("p\0--pat\0abc\0--proxy-user\0me:pw\0-u\0me:pw\0-u\0x.py\0--user\0"
               "1:2",
               "p\0--pat\0***\0--proxy-user\0***\0-u\0***\0-u\0x.py\0--user\0"
               "1:2");
    CHECK_LIST("p\0--kubeconfig-data\0abc\0--kubeconfig\0/x\0ghp_0123456789012345678901",
               "p\0--kubeconfig-data\0***\0--kubeconfig\0/x\0***");
}
END_TEST

START_TEST(a_list_that_is_cut_keeps_no_half_of_a_secret)
{
    check_list("p\0--token\0abc", 13, "p\0--token\0***", 13);
    check_list("p\0http://me:pass", 16, "p\0http://", 9);
    check_list("p\0a me:pass", 11, "p\0a ", 4);
    check_list("p\0x=ghp_01234", 13, "p\0x=", 4);
    check_list("p\0x", 3, "p\0x", 3);
    check_list("", 0, "", 0);
}
END_TEST

/* Whatever is in a text: nothing outside of it is touched, and it grows no longer. */
START_TEST(any_bytes_are_survived)
{
    static const char pieces[] = "=: -\"'\0@/token:key=://Bearer a-----BEGIN PRIVATE KEY eyJsk-hf_0 user";
    uint64_t x = 1;

    for (int round = 0; round < 20000; round++) {
        char text[34];
        size_t len = (size_t)(round % 33);

        memset(text, 'Z', sizeof text);
        for (size_t i = 0; i < len; i++) {
            x = x * 6364136223846793005u + 1442695040888963407u;
            text[1 + i] = pieces[(x >> 33) % (sizeof pieces - 1)];
        }
        ck_assert_uint_le(nm_secret_mask_arguments(text + 1, len), len);
        ck_assert(text[0] == 'Z' && text[1 + len] == 'Z');
    }
}
END_TEST

/* What stands between backquotes in a cell of the table: the name of a secret, or with a blank or a colon of full width a
 * text that has one. How many there are. */
static size_t check_cell(char *cell, bool is_secret)
{
    size_t count = 0;

    for (char *begin = strchr(cell, '`'), *end; begin != NULL; begin = strchr(end + 1, '`'), count++) {
        end = strchr(begin + 1, '`');
        ck_assert_ptr_nonnull(end);
        size_t len = (size_t)(end - begin - 1);
        bool is_text = memchr(begin, ' ', len) != NULL || memmem(begin, len, "\xef\xbc\x9a", 3) != NULL;

        ck_assert_msg((is_text ? nm_secret_is_in_text : nm_secret_is_name)(begin + 1, len) == is_secret, "%.*s",
                      (int)len, begin + 1);
    }
    return count;
}

START_TEST(the_table_of_the_documents_is_so)
{
    FILE *file = fopen(SECURITY_PATH, "r");
    char line[4096];
    size_t secret_count = 0, plain_count = 0;
    bool is_table = false;

    ck_assert_ptr_nonnull(file);
    while (fgets(line, sizeof line, file) != NULL) {
        char *cells[4] = {NULL};

        is_table = line[0] == '|' && (is_table || strstr(line, "| secret | not secret |") != NULL);
        if (!is_table || strchr(line, '`') == NULL)
            continue;
        cells[0] = line + 1;
        for (size_t i = 1; i < 4; i++) {
            char *bar = strchr(cells[i - 1], '|');

            ck_assert_ptr_nonnull(bar);
            *bar = 0;
            cells[i] = bar + 1;
        }
        secret_count += check_cell(cells[2], true);
        plain_count += check_cell(cells[3], false);
    }
    fclose(file);
    ck_assert_uint_gt(secret_count, 15);
    ck_assert_uint_gt(plain_count, 15);
}
END_TEST

/* Once through a text, whatever is in it: otherwise this takes minutes. */
START_TEST(a_long_text_takes_no_longer_than_its_length)
{
    static const char *const pieces[] = {
        " ", "a ", "=", "://a:b", "a://b@c ", "user=", "a:b", "token ", "://", "ghp_", "@", "-----BEGIN"};
    const size_t len = 1 << 18;
    char *text = malloc(len);

    ck_assert_ptr_nonnull(text);
    for (size_t i = 0; i < sizeof pieces / sizeof *pieces; i++) {
        for (size_t at = 0; at < len; at++)
            text[at] = pieces[i][at % strlen(pieces[i])];
        ck_assert_uint_le(nm_secret_mask_text(text, len), len);
    }
    free(text);
}
END_TEST

TEST_SUITE(test_secret)
{
    Suite *suite = suite_create("secret");
    TCase *tests = tcase_create("secret");

    tcase_add_test(tests, names_of_secrets_are_known);
    tcase_add_test(tests, names_that_only_look_so_are_none);
    tcase_set_timeout(tests, 20);
    tcase_add_test(tests, secrets_of_all_kinds_go_and_nothing_else);
    tcase_add_test(tests, a_long_text_takes_no_longer_than_its_length);
    tcase_add_test(tests, the_table_of_the_documents_is_so);
    tcase_add_test(tests, what_follows_a_secret_s_name_goes);
    tcase_add_test(tests, users_of_urls_go);
    tcase_add_test(tests, the_argument_behind_a_name_goes);
    tcase_add_test(tests, a_list_that_is_cut_keeps_no_half_of_a_secret);
    tcase_add_test(tests, any_bytes_are_survived);
    suite_add_tcase(suite, tests);
    return suite;
}
