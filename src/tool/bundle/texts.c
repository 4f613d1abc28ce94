/* SPDX-License-Identifier: Apache-2.0
 *
 * A section is a heading and a question whose rows are its lines.
 */
#include "tool/bundle/texts.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zstd.h>

#include "base/shown.h"
#include "tool/bundle/bundle_lines.sql.h"

typedef struct section {
    const char *heading;
    const char *none; /* the line where there are none */
} section;

/* Their places are the numbers in bundle_lines.sql; a text has some that follow each other. */
static const section sections[] = {
    {"The database", "not known"},
    {"What was loaded", "nothing"},
    {"What the recorded processes ran on, as files of their hosts say", "not known"},
    {"Devices", "none"},
    {"Programs", "none"},
    {"Variables of their environment that are recorded (docs/security.md lists them)", "none was set"},
    {"Below so much a measure of view health is 'minor'", "not known"},
    {"Rules for sites of its own (npumem-ingest --site-rules)", "none"},
    {"Where steps begin", "no steps are known"},
    {"The recording", "nothing is loaded"},
    {"What the recorder could not see", "nothing was noted"},
    {"What a correct program does not do (view misuse)", "nothing of that was seen"},
};
#define VERSIONS_BEGIN 0
#define SETTINGS_BEGIN 4
#define CHECKS_BEGIN   9
#define CHECKS_END     12

static nm_status add(nm_buffer *out, const char *text, nm_error *err)
{
    return nm_buffer_append(out, text, strlen(text), err);
}

/* A line of it, two spaces in; a newline in a text begins no other line. */
static nm_status add_line(nm_buffer *out, const char *text, nm_error *err)
{
    size_t begin;
    nm_status status = add(out, "  ", err);

    begin = out->len;
    if (status == NM_OK)
        status = add(out, text, err);
    if (status == NM_OK)
        out->len = begin + nm_shown_make((char *)out->data + begin, out->len - begin, "");
    return status == NM_OK ? add(out, "\n", err) : status;
}

static nm_status add_section(sqlite3 *db, int number, nm_buffer *out, nm_error *err)
{
    sqlite3_stmt *rows = NULL;
    nm_bundle_lines_row row;
    int count = 0;
    nm_status status = add(out, sections[number].heading, err);

    if (status == NM_OK)
        status = add(out, "\n", err);
    if (status == NM_OK)
        status = nm_bundle_lines_ask(db, number, &rows, err);
    for (; status == NM_OK && nm_bundle_lines_next(rows, &row); count++)
        status = add_line(out, row.text, err);
    status = nm_question_end(rows, status, err);
    if (status == NM_OK && count == 0)
        status = add_line(out, sections[number].none, err);
    return status == NM_OK ? add(out, "\n", err) : status;
}

static nm_status add_sections(sqlite3 *db, int begin, int end, nm_buffer *out, nm_error *err)
{
    nm_status status = NM_OK;

    for (int i = begin; i < end && status == NM_OK; i++)
        status = add_section(db, i, out, err);
    return status;
}

nm_status bundle_write_readme(bool is_redacted, bool is_compressed, nm_buffer *out, nm_error *err)
{
    static const char contents[] =
        "A run of a program on NPUs, as npumem recorded its memory (npumem bundle).\n\n"
        "  screen.txt     the verdicts: what is wrong, worst first, and the peak. Begin here\n"
        "  findings.json  the same for programs: docs/json.md\n"
        "  run.db         the database, SQLite: allocations that were live at a peak, a mark, a failed allocation or "
        "the end\n"
        "                 (npumem ingest --detail live); all answers are those of the whole recording\n"
        "  versions.txt   what made it, and what the program ran on\n"
        "  settings.txt   commands, variables of the environment, floors and rules\n"
        "  selfcheck.txt  whether the recording is whole, and whether the recorder was checked on that machine\n\n";
    static const char use[] =
        "npumem ingest run.db, npumem stack run.db and the other commands take the database. Without npumem:\n"
        "sqlite3 -safe run.db 'SELECT * FROM catalog' lists what can be asked.\n\n";
    nm_status status = add(out, contents, err);

    if (status == NM_OK)
        status = add(out, is_compressed ? "Unpacked by: tar --zstd -xf FILE\n" : "Unpacked by: tar -xf FILE\n", err);
    if (status == NM_OK)
        status = add(out, use, err);
    if (status == NM_OK)
        status = add(out,
                     is_redacted ? "Hosts, users, paths and arguments are replaced (host-1, /path-1/file-1.py); names "
                                   "of functions stay.\n"
                                 : "Nothing is replaced in it: it names hosts, users, paths and arguments.\n",
                     err);
    return status;
}

nm_status bundle_write_versions(sqlite3 *db, nm_buffer *out, nm_error *err)
{
    char text[200];
    nm_status status;

    snprintf(text, sizeof text, "What made this bundle\n  npumem %s\n  SQLite %s\n  zstd %s\n\n",
             NPUMEM_PROJECT_VERSION, sqlite3_libversion(), ZSTD_versionString());
    status = add(out, text, err);
    return status == NM_OK ? add_sections(db, VERSIONS_BEGIN, SETTINGS_BEGIN, out, err) : status;
}

nm_status bundle_write_settings(sqlite3 *db, nm_buffer *out, nm_error *err)
{
    return add_sections(db, SETTINGS_BEGIN, CHECKS_BEGIN, out, err);
}

nm_status bundle_write_selfcheck(sqlite3 *db, nm_bytes report, nm_buffer *out, nm_error *err)
{
    static const char database[] =
        "The database\n  is as npumem-ingest makes it: tables, pages and the numbers of rows were looked at\n\n";
    static const char no_report[] =
        "The recorder on that machine\n  no report: npumem-record --selfcheck -o REPORT writes one there, and"
        " npumem bundle --selfcheck REPORT takes it in\n";
    nm_status status = add(out, database, err);

    if (status == NM_OK)
        status = add_sections(db, CHECKS_BEGIN, CHECKS_END, out, err);
    if (status != NM_OK || report.len == 0)
        return status == NM_OK ? add(out, no_report, err) : status;
    status = add(out, "The recorder on that machine, by npumem-record --selfcheck\n\n", err);
    return status == NM_OK ? nm_buffer_append(out, report.data, report.len, err) : status;
}
