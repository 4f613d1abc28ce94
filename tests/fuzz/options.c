/* SPDX-License-Identifier: Apache-2.0
 *
 * Command lines: a word a line, the first the program's name. And what options name files for: rules of npumem-check, floors.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fuzz/target.h"
#include "tool/check/options.h"
#include "tool/ingest/options.h"
#include "tool/mcp/options.h"
#include "tool/whatif/options.h"

#define WORDS_MAX 64

/* What they say goes nowhere: libFuzzer says much itself. */
static FILE *said[2];

static void begin_silence(void)
{
    static FILE *nowhere;

    if (nowhere == NULL)
        nowhere = fopen("/dev/null", "we");
    FUZZ_REQUIRE(nowhere != NULL);
    said[0] = stdout;
    said[1] = stderr;
    stdout = stderr = nowhere;
}

static void end_silence(void)
{
    stdout = said[0];
    stderr = said[1];
}

static int cut_words(char *text, char *words[WORDS_MAX + 1])
{
    int count = 0;

    while (count < WORDS_MAX && text != NULL)
        words[count++] = strsep(&text, "\n");
    words[count] = NULL;
    return count;
}

static void read_words(int count, char **words)
{
    ingest_options ingest = {0};
    check_options check = {0};
    whatif_options whatif = {0};
    mcp_options mcp = {0};

    if (strcmp(words[0], "npumem-ingest") == 0)
        ingest_options_read(count, words, &ingest);
    else if (strcmp(words[0], "npumem-check") == 0)
        check_options_read(count, words, &check);
    else if (strcmp(words[0], "npumem-whatif") == 0)
        whatif_options_read(count, words, &whatif);
    else
        mcp_options_read(count, words, &mcp);
    ingest_options_free(&ingest);
    check_options_free(&check);
    whatif_options_free(&whatif);
    mcp_options_free(&mcp);
}

static void take_options(nm_bytes input)
{
    char *text = malloc(input.len + 1), *words[WORDS_MAX + 1];

    FUZZ_REQUIRE(text != NULL);
    if (input.len > 0)
        memcpy(text, input.data, input.len);
    text[input.len] = 0;
    begin_silence();
    read_words(cut_words(text, words), words);
    end_silence();
    free(text);
}

static void take_files(nm_bytes input)
{
    char path[512];
    char *check[] = {"npumem-check", "--rules", path, "run.db", NULL};
    char *ingest[] = {"npumem-ingest", "--thresholds", path, "run.zst", NULL};

    snprintf(path, sizeof path, "%s/rules", fuzz_folder());
    fuzz_write_file(path, input);
    begin_silence();
    read_words(4, check);
    read_words(4, ingest);
    end_silence();
}

FUZZ_TARGET(options, .run = take_options)
FUZZ_TARGET(rule_files, .run = take_files)
