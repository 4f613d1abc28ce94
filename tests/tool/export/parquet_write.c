/* SPDX-License-Identifier: Apache-2.0
 *
 * parquet_write <ROWS >FILE: a file of Parquet from lines of text, for tests. The first line has the name and type of each column
 * ("a INTEGER b TEXT"), behind "long" or "short"; each line after it the values of a row: "-" is NULL, an integer is decimal, a real
 * its 64 bits in hexadecimal digits, a text those of its bytes behind an "x".
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "export/parquet.h"

#define COLUMNS_MAX 64

static nm_parquet_column columns[COLUMNS_MAX];
static size_t column_count;

static void read_columns(char *line)
{
    for (char *name = strtok(line, " \n"); name != NULL; name = strtok(NULL, " \n")) {
        const char *type = strtok(NULL, " \n");

        columns[column_count++] = (nm_parquet_column){strdup(name), type[0] == 'I'   ? NM_PARQUET_INTEGER
                                                                    : type[0] == 'R' ? NM_PARQUET_REAL
                                                                                     : NM_PARQUET_TEXT};
    }
}

static void put_text(nm_parquet *parquet, char *digits)
{
    size_t len = strlen(digits) / 2;

    for (size_t i = 0; i < len; i++) {
        const char pair[3] = {digits[2 * i], digits[2 * i + 1], 0};

        digits[i] = (char)strtoul(pair, NULL, 16);
    }
    nm_parquet_text(parquet, (nm_bytes){(const uint8_t *)digits, len});
}

static void put_value(nm_parquet *parquet, nm_parquet_type type, char *text)
{
    uint64_t bits = strtoull(text, NULL, 16);
    double real;

    memcpy(&real, &bits, sizeof real);
    if (strcmp(text, "-") == 0)
        nm_parquet_null(parquet);
    else if (type == NM_PARQUET_INTEGER)
        nm_parquet_integer(parquet, strtoll(text, NULL, 10));
    else if (type == NM_PARQUET_REAL)
        nm_parquet_real(parquet, real);
    else
        put_text(parquet, text + 1);
}

int main(void)
{
    const nm_parquet_fact facts[] = {{"test.key", "value"}};
    nm_parquet *parquet = NULL;
    nm_error err = {0};
    char *line = NULL;
    size_t room = 0;

    if (getline(&line, &room, stdin) < 6)
        return 2;
    bool is_long = line[0] == 'l';
    char *head = strdup(strchr(line, ' '));
    read_columns(head);
    nm_status status = nm_parquet_open(stdout, columns, column_count, is_long, &parquet, &err);
    while (status == NM_OK && getline(&line, &room, stdin) > 0) {
        char *text = strtok(line, " \n");

        for (size_t i = 0; i < column_count; i++, text = strtok(NULL, " \n"))
            put_value(parquet, columns[i].type, text);
        status = nm_parquet_row_end(parquet, &err);
    }
    if (status == NM_OK)
        status = nm_parquet_finish(parquet, facts, 1, &err);
    nm_parquet_free(parquet);
    free(line);
    free(head);
    if (status != NM_OK)
        fprintf(stderr, "parquet_write: %s\n", err.text);
    return status == NM_OK ? 0 : 1;
}
