/* SPDX-License-Identifier: Apache-2.0
 *
 * A table of options: what each kind makes of its argument, what is said of a wrong one, and how the table looks as help,
 * as a man page and as completion.
 */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/suites.h"
#include "tool/common/options.h"
#include "tool/common/options_describe.h"
#include "tool/common/options_help.h"

#define WORDS_MAX 8

typedef struct values {
    bool is_forced, has_rank;
    unsigned mode;
    int64_t rank, wait_ns;
    uint32_t depth;
    uint64_t size_bytes;
    double share_ratio;
    const char *name, *folder;
    int action;
    unsigned even_count, seen_count;
    char seen[64];
} values;

static nm_status take_even(const option_row *row, const char *argument, void *into, nm_error *err)
{
    values *out = into;

    (void)row;
    if (strcmp(argument, "full") == 0)
        return nm_fail(err, NM_ERR_MEMORY, NM_NO_OFFSET, "out of memory");
    if (atoi(argument) % 2 != 0)
        return nm_fail(err, NM_ERR_USAGE, NM_NO_OFFSET, "must be even");
    out->even_count++;
    return NM_OK;
}

static nm_status note(const option_row *row, const char *argument, void *into, nm_error *err)
{
    values *out = into;

    (void)argument, (void)err;
    strcat(out->seen, row->name);
    strcat(out->seen, " ");
    return NM_OK;
}

static const char *const modes[] = {"none", "some", "all", NULL};

static const option_row rows[] = {
    {.name = "force", .kind = OPTION_FLAG, .help = "replace what is there", .field = OPTION_FIELD(values, is_forced)},
    {.name = "start", .kind = OPTION_FLAG, .help = "begin", .code = 7, .field = OPTION_FIELD(values, action)},
    {.name = "mode",
     .letter = 'm',
     .kind = OPTION_CHOICE,
     .argument = "MODE",
     .words = modes,
     .help = "none, some or all",
     .fallback = "some",
     .field = OPTION_FIELD(values, mode)},
    {.name = "rank",
     .kind = OPTION_COUNT,
     .argument = "N",
     .help = "one rank alone",
     .field = OPTION_FIELD(values, rank),
     .given = OPTION_FIELD(values, has_rank)},
    {.name = "depth",
     .kind = OPTION_COUNT,
     .argument = "N",
     .help = "frames",
     .fallback = "64",
     .min = 1,
     .max = 255,
     .field = OPTION_FIELD(values, depth)},
    {.name = "size",
     .kind = OPTION_SIZE,
     .argument = "SIZE",
     .help = "leave out less",
     .min = 1024,
     .max = 3 << 20,
     .field = OPTION_FIELD(values, size_bytes)},
    {.name = "wait",
     .kind = OPTION_TIME,
     .argument = "TIME",
     .help = "wait so long: a text that is as long as it takes to be broken into two lines, of which one is this",
     .fallback = "2.5",
     .max = 10,
     .field = OPTION_FIELD(values, wait_ns)},
    {.name = "share",
     .kind = OPTION_RATIO,
     .argument = "RATIO",
     .help = "a part",
     .field = OPTION_FIELD(values, share_ratio)},
    {.name = "name", .kind = OPTION_TEXT, .argument = "NAME", .help = "a name", .field = OPTION_FIELD(values, name)},
    {.name = "folder",
     .kind = OPTION_FOLDER,
     .argument = "DIR",
     .help = "a folder; it's read",
     .field = OPTION_FIELD(values, folder),
     .section = "PLACES"},
    {.name = "even",
     .kind = OPTION_TEXT,
     .argument = "N",
     .help = "an even number",
     .take = take_even,
     .section = "PLACES",
     .is_repeatable = true},
    {.name = "secret", .kind = OPTION_FLAG, .is_hidden = true, .field = OPTION_FIELD(values, action)},
    OPTIONS_HELP_AND_VERSION,
};

static const options_program program = {
    .name = "npumem-test",
    .usage = "npumem-test [options]",
    .about = "Tests options.",
    OPTIONS_ROWS(rows),
    .ends = {"yes", "no", [EXIT_UNUSABLE] = "failed"},
    .seen = note,
};

static options_program with_command;

static char *said;
static size_t said_bytes;

/* The line, word by word; NULL at the end. What is said on standard error is in `said`, up to the next call, as are the words. */
static options_outcome read_words(const options_program *of, values *out, char ***operands, const char *const *line)
{
    static char *argv[WORDS_MAX + 2];
    static int argc;
    FILE *usual = stderr;

    while (argc > 0)
        free(argv[--argc]);
    free(said);
    *out = (values){0};
    argv[argc++] = strdup("npumem-test");
    for (; *line != NULL && argc <= WORDS_MAX; line++)
        argv[argc++] = strdup(*line);
    argv[argc] = NULL;
    stderr = open_memstream(&said, &said_bytes);
    options_outcome outcome = options_read(of, argc, argv, out, operands);
    fclose(stderr);
    stderr = usual;
    return outcome;
}

#define READ(...) read_words(&program, &out, &operands, (const char *const[]){__VA_ARGS__, NULL})

START_TEST(each_kind_fills_its_field)
{
    values out;
    char **operands;

    ck_assert_int_eq(READ("--force", "--start", "-mall", "--rank=0", "--depth", "255", "--size=2KiB", "--wait=0.5"),
                     OPTIONS_READ);
    ck_assert(out.is_forced && out.has_rank);
    ck_assert_int_eq(out.action, 7);
    ck_assert_uint_eq(out.mode, 2);
    ck_assert_int_eq(out.rank, 0);
    ck_assert_uint_eq(out.depth, 255);
    ck_assert_uint_eq(out.size_bytes, 2048);
    ck_assert_int_eq(out.wait_ns, 500000000);
    ck_assert_ptr_null(out.name);
    ck_assert_ptr_null(operands[0]);
    ck_assert_int_eq(READ("--share", "15%", "--wait", "100ms"), OPTIONS_READ);
    ck_assert_int_eq(out.wait_ns, 100000000);
    ck_assert_double_eq_tol(out.share_ratio, 0.15, 1e-12);
    ck_assert_int_eq(READ("--name", "x y", "--folder=", "--even=2", "--even=4"), OPTIONS_READ);
    ck_assert_str_eq(out.name, "x y");
    ck_assert_str_eq(out.folder, "");
    ck_assert_uint_eq(out.even_count, 2);
    ck_assert_str_eq(out.seen, "name folder even even ");
}
END_TEST

START_TEST(what_is_not_given_has_its_default)
{
    values out;
    char **operands;

    ck_assert_int_eq(READ("one", "two"), OPTIONS_READ);
    ck_assert_uint_eq(out.mode, 1);
    ck_assert_uint_eq(out.depth, 64);
    ck_assert_int_eq(out.wait_ns, 2500000000);
    ck_assert(!out.is_forced && !out.has_rank);
    ck_assert_str_eq(out.seen, "");
    ck_assert_str_eq(operands[1], "two");
    ck_assert_ptr_null(operands[2]);
}
END_TEST

START_TEST(a_wrong_line_is_said_in_one_line)
{
    static const struct {
        const char *words[3];
        options_outcome outcome;
        const char *text;
    } cases[] = {
        {{"--forse"}, OPTIONS_WRONG, "--forse: no such option; did you mean --force?"},
        {{"--nmae=1"}, OPTIONS_WRONG, "--nmae=1: no such option; did you mean --name?"},
        {{"--frobnicate"}, OPTIONS_WRONG, "--frobnicate: no such option"},
        {{"--a-word-that-is-longer-than-any-name-there-is"},
         OPTIONS_WRONG,
         "--a-word-that-is-longer-than-any-name-there-is: no such option"},
        {{"--secrets"}, OPTIONS_WRONG, "--secrets: no such option"},
        {{"--s"}, OPTIONS_WRONG, "--s: may be --start, --size or --share"},
        {{"-x"}, OPTIONS_WRONG, "-x: no such option"},
        {{"--f"}, OPTIONS_WRONG, "--f: may be --force or --folder"},
        {{"--mode"}, OPTIONS_WRONG, "--mode: needs MODE"},
        {{"-m"}, OPTIONS_WRONG, "--mode: needs MODE"},
        {{"--force=1"}, OPTIONS_WRONG, "--force: takes no argument"},
        {{"--mode", "most"}, OPTIONS_WRONG, "--mode most: must be none, some or all"},
        {{"--mode", ""}, OPTIONS_WRONG, "--mode '': must be none, some or all"},
        {{"--rank", "-1"}, OPTIONS_WRONG, "--rank -1: must be a number"},
        {{"--depth", "0"}, OPTIONS_WRONG, "--depth 0: must be a number, 1 to 255"},
        {{"--depth", "256"}, OPTIONS_WRONG, "--depth 256: must be a number, 1 to 255"},
        {{"--depth", "1x"}, OPTIONS_WRONG, "--depth 1x: must be a number, 1 to 255"},
        {{"--size", "12XB"}, OPTIONS_WRONG, "--size 12XB: needs a size: 60GiB, 512M or 4096B"},
        {{"--size", "60"}, OPTIONS_WRONG, "--size 60: needs a size with its unit: 60GiB, or 60B for bytes"},
        {{"--size", "1023B"}, OPTIONS_WRONG, "--size 1023B: must be a size, 1KiB to 3MiB"},
        {{"--size", "3145729"}, OPTIONS_WRONG, "--size 3145729: must be a size, 1KiB to 3MiB"},
        {{"--share", "15"}, OPTIONS_WRONG, "--share 15: needs a share: 0.15 or 15%; 15 of a hundred is 15%"},
        {{"--wait", "11"}, OPTIONS_WRONG, "--wait 11: must be a time, 0s to 10s"},
        {{"--wait", "nan"}, OPTIONS_WRONG, "--wait nan: needs a time: 10s, 5m or 100ms"},
        {{"--wait", "\033[1m"}, OPTIONS_WRONG, "--wait ?[1m: needs a time: 10s, 5m or 100ms"},
        {{"--even", "3"}, OPTIONS_WRONG, "--even 3: must be even"},
        {{"--describe", "me"}, OPTIONS_WRONG, "--describe me: must be man, bash, zsh or fish"},
    };
    values out;
    char **operands, line[256];

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        ck_assert_int_eq(read_words(&program, &out, &operands, cases[i].words), cases[i].outcome);
        snprintf(line, sizeof line, "npumem-test: %s (--help says more)\n", cases[i].text);
        ck_assert_str_eq(said, line);
    }
    ck_assert_int_eq(READ("--even", "full"), OPTIONS_NO_MEMORY);
    ck_assert_str_eq(said, "npumem-test: out of memory\n");
    ck_assert_int_eq(options_refuse(&program, "%d inputs", 3), OPTIONS_WRONG);
}
END_TEST

START_TEST(a_command_keeps_its_own_options)
{
    values out;
    char **operands;

    with_command = program;
    with_command.takes_command = true;
    ck_assert_int_eq(
        read_words(&with_command, &out, &operands, (const char *const[]){"--force", "run", "--mode", "x", NULL}),
        OPTIONS_READ);
    ck_assert(out.is_forced);
    ck_assert_str_eq(operands[0], "run");
    ck_assert_str_eq(operands[2], "x");
    ck_assert_int_eq(read_words(&with_command, &out, &operands, (const char *const[]){"--", "--force", NULL}),
                     OPTIONS_READ);
    ck_assert(!out.is_forced);
    ck_assert_str_eq(operands[0], "--force");
    ck_assert_int_eq(READ("run", "--force"), OPTIONS_READ);
    ck_assert(out.is_forced);
}
END_TEST

/* What the function prints, as text. */
static char *described(const char *what)
{
    char *text = NULL;
    size_t bytes = 0;
    FILE *out = open_memstream(&text, &bytes);

    if (what == NULL)
        options_print_help(&program, out);
    else
        ck_assert(options_describe(&program, what, out));
    fclose(out);
    return text;
}

START_TEST(help_has_a_column_of_terms_and_one_of_words)
{
    char *text = described(NULL);

    ck_assert_str_eq(
        text, "usage: npumem-test [options]\n"
              "\n"
              "Tests options.\n"
              "\n"
              "      --force        replace what is there\n"
              "      --start        begin\n"
              "  -m, --mode MODE    none, some or all (default some)\n"
              "      --rank N       one rank alone\n"
              "      --depth N      frames (default 64)\n"
              "      --size SIZE    leave out less\n"
              "      --wait TIME    wait so long: a text that is as long as it takes to be broken into two "
              "lines,\n"
              "                     of which one is this (default 2.5)\n"
              "      --share RATIO  a part\n"
              "      --name NAME    a name\n"
              "\n"
              "      --folder DIR   a folder; it's read\n"
              "      --even N       an even number; may be given several times\n"
              "\n"
              "  -h, --help         print this help, and end\n"
              "  -V, --version      print the version, and end\n"
              "\n"
              "A SIZE is a number with B, K, M, G, T or P; KB and KiB are the same as K: all are powers of 1024. A\n"
              "number alone is bytes, and has to be 1M or more. A RATIO is a number from 0 to 1, or a percentage:\n"
              "0.15, 15%. A TIME is a number with ns, us, ms, s, m, h or d; without one it is seconds, where\n"
              "nothing else is said.\n"
              "\n"
              "Exit status: 0 yes; 1 no; 4 failed.\n");
    free(text);
}
END_TEST

static void expect_part(const char *what, const char *part)
{
    char *text = described(what);

    ck_assert_msg(strstr(text, part) != NULL, "%s lacks \"%s\":\n%s", what, part, text);
    ck_assert_msg(strstr(text, "secret") == NULL, "%s has what is hidden", what);
    free(text);
}

START_TEST(others_are_told_the_same)
{
    expect_part("man", ".\\\" --mode\n.TP\n\\fB\\-m\\fR, \\fB\\-\\-mode\\fR \\fIMODE\\fR\n"
                       "None, some or all (default some).\n.\\\" .\n");
    expect_part("man", ".\\\" = exit 4\n.TP\n.B 4\nFailed.\n.\\\" .\n");
    expect_part("bash", "    -m|--mode)\n        mapfile -t COMPREPLY < <(compgen -W 'none some all' -- \"$word\")\n");
    expect_part("bash", "    --rank|--depth|--size|--wait|--share|--name|--even) return ;;\n");
    expect_part("zsh", "'(-m --mode)'{-m+,--mode=}'[none, some or all]:MODE:(none some all)'");
    expect_part("zsh", "'*--even=[an even number]:N:'");
    expect_part("fish", "complete -c npumem-test -s m -l mode -x -a 'none some all' -d 'none, some or all'\n");
}
END_TEST

TEST_SUITE(test_options)
{
    Suite *suite = suite_create("options");
    TCase *tests = tcase_create("tables");

    tcase_add_test(tests, each_kind_fills_its_field);
    tcase_add_test(tests, what_is_not_given_has_its_default);
    tcase_add_test(tests, a_wrong_line_is_said_in_one_line);
    tcase_add_test(tests, a_command_keeps_its_own_options);
    tcase_add_test(tests, help_has_a_column_of_terms_and_one_of_words);
    tcase_add_test(tests, others_are_told_the_same);
    suite_add_tcase(suite, tests);
    return suite;
}
