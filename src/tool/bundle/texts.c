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
#include "store/database.h"

typedef struct section {
    const char *heading;
    const char *sql;  /* one column: a line; NULL is none */
    const char *none; /* the line where there are none */
} section;

#define OF_PROCESSES " || CASE count(*) WHEN 1 THEN '' ELSE '  (' || count(*) || ' processes)' END"

static const section versions[] = {
    {"The database",
     "SELECT 'schema ' || s.value || coalesce(', by ' || t.value || coalesce(' ' || v.value, ''), '') FROM meta AS s"
     " LEFT JOIN meta AS t ON t.key = 'tool' LEFT JOIN meta AS v ON v.key = 'tool_version'"
     " WHERE s.key = 'schema_version'",
     "not known"},
    {"What was loaded", "SELECT kind || ' ' || path FROM input ORDER BY input_id", "nothing"},
    {"What the recorded processes ran on, as files of their hosts say",
     "SELECT coalesce(name, '') || ' ' || coalesce(value, '')" OF_PROCESSES " FROM _process_environment"
     " WHERE source = 'version' GROUP BY name, value ORDER BY name, value",
     "not known"},
    {"Devices",
     "SELECT coalesce(kind, 'device') || coalesce(' ' || name, '') || CASE count(*) WHEN 1 THEN '' ELSE"
     " '  (' || count(*) || ' as processes see them)' END FROM device GROUP BY kind, name ORDER BY kind, name",
     "none"},
};

static const section settings[] = {
    {"Programs",
     "SELECT coalesce(command, 'a process without a known command')" OF_PROCESSES " FROM process GROUP BY command"
     " ORDER BY min(process_id)",
     "none"},
    {"Variables of their environment that are recorded (docs/security.md lists them)",
     "SELECT coalesce(name, '') || '=' || coalesce(value, '')" OF_PROCESSES " FROM _process_environment"
     " WHERE source = 'environment' GROUP BY name, value ORDER BY name, value",
     "none was set"},
    {"Below so much a measure of view health is 'minor'",
     "SELECT measure || ' ' || floor || ' ' || unit || CASE WHEN capacity_ratio > 0 THEN ', or '"
     " || (100 * capacity_ratio) || ' % of the device if that is more' ELSE '' END FROM _threshold ORDER BY measure",
     "not known"},
    {"Rules for sites of its own (npumem-ingest --site-rules)",
     "SELECT target || ' ' || pattern FROM plumbing WHERE origin = 'site rules' ORDER BY plumbing_id", "none"},
    {"Where steps begin",
     "SELECT source || CASE count(*) WHEN 1 THEN ', 1 step' ELSE ', ' || count(*) || ' steps' END FROM step"
     " GROUP BY source ORDER BY source",
     "no steps are known"},
};

static const section checks[] = {
    {"The recording",
     "SELECT path || ': ' || verdict || ', ' || events_ingested || ' of ' || events_seen || ' events here'"
     " || CASE WHEN events_dropped > 0 THEN ', ' || events_dropped || ' dropped' ELSE '' END"
     " || CASE WHEN events_damaged > 0 THEN ', ' || events_damaged || ' damaged' ELSE '' END"
     " || CASE WHEN events_unrecovered > 0 THEN ', ' || events_unrecovered || ' unrecovered' ELSE '' END"
     " || CASE WHEN events_unkept > 0 THEN ', ' || events_unkept || ' kept as sums' ELSE '' END"
     " || CASE WHEN events_without_stack > 0 THEN ', ' || events_without_stack || ' without their stack' ELSE '' END"
     " || CASE WHEN bytes_cut > 0 THEN ', ' || bytes_cut || ' bytes cut' ELSE '' END"
     " || CASE WHEN processes_unjoined > 0 THEN ', ' || processes_unjoined || ' processes not joined' ELSE '' END"
     " || CASE WHEN is_loss_exact = 0 THEN ', at least' ELSE '' END FROM completeness",
     "nothing is loaded"},
    {"What the recorder could not see",
     "SELECT kind || coalesce(': ' || text, '') || ' (' || unseen_count || ')' FROM _unseen ORDER BY first_seq, kind, "
     "text",
     "nothing was noted"},
    {"What a correct program does not do (view misuse)",
     "SELECT k.name || ' (' || count(*) || ')' FROM anomaly AS a JOIN anomaly_kind AS k ON k.kind = a.kind"
     " GROUP BY k.name ORDER BY k.name",
     "nothing of that was seen"},
};

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

static nm_status add_section(sqlite3 *db, const section *asked, nm_buffer *out, nm_error *err)
{
    sqlite3_stmt *rows = NULL;
    int count = 0, code = SQLITE_DONE;
    nm_status status = add(out, asked->heading, err);

    if (status == NM_OK)
        status = add(out, "\n", err);
    if (status == NM_OK)
        status = nm_db_prepare(db, asked->sql, &rows, err);
    for (; status == NM_OK && (code = sqlite3_step(rows)) == SQLITE_ROW; count++)
        status = add_line(out, nm_db_text(rows, 0), err);
    if (status == NM_OK && code != SQLITE_DONE)
        status = nm_db_fail(db, err);
    sqlite3_finalize(rows);
    if (status == NM_OK && count == 0)
        status = add_line(out, asked->none, err);
    return status == NM_OK ? add(out, "\n", err) : status;
}

static nm_status add_sections(sqlite3 *db, const section *sections, size_t count, nm_buffer *out, nm_error *err)
{
    nm_status status = NM_OK;

    for (size_t i = 0; i < count && status == NM_OK; i++)
        status = add_section(db, &sections[i], out, err);
    return status;
}

#define ADD_SECTIONS(db, list, out, err) add_sections(db, list, sizeof(list) / sizeof *(list), out, err)

nm_status bundle_write_readme(bool is_redacted, bool is_compressed, nm_buffer *out, nm_error *err)
{
    static const char contents[] =
        "A run of a program on NPUs, as npumem recorded its memory (npumem bundle).\n\n"
        "  screen.txt     the verdicts: what is wrong, worst first, and the peak. Begin here\n"
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
    return status == NM_OK ? ADD_SECTIONS(db, versions, out, err) : status;
}

nm_status bundle_write_settings(sqlite3 *db, nm_buffer *out, nm_error *err)
{
    return ADD_SECTIONS(db, settings, out, err);
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
        status = ADD_SECTIONS(db, checks, out, err);
    if (status != NM_OK || report.len == 0)
        return status == NM_OK ? add(out, no_report, err) : status;
    status = add(out, "The recorder on that machine, by npumem-record --selfcheck\n\n", err);
    return status == NM_OK ? nm_buffer_append(out, report.data, report.len, err) : status;
}
