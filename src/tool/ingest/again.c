/* SPDX-License-Identifier: Apache-2.0
 *
 * What a trace beside the database is called is known twice: the database names its inputs, and one that was made without -o
 * has the name of its trace. A name that a shell would not take for one word is never put into a command.
 */
#include "tool/ingest/again.h"

#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/door.h"
#include "base/shown.h"
#include "base/spoken.h"
#include "store/database.h"
#include "tool/ingest/input_paths.sql.h"

#define INPUTS_MAX 64 /* that are looked for */

/* ---- Opening ------------------------------------------------------------------------------------------------------- */

/* NULL: none was given. */
static const char *option_of_loading(const ingest_options *options)
{
    return nm_thresholds_are_set(&options->thresholds) ? "threshold"
           : options->server_minutes != 0              ? "server-after"
           : options->rules_path != NULL               ? "site-rules"
           : options->step_at != NULL                  ? "step-at"
           : options->symbol_folders.count > 0         ? "symbols"
                                                       : NULL;
}

nm_status ingest_again(ingest *run, nm_error *err)
{
    const ingest_options *options = run->options;
    const char *path = run->inputs.items[0].paths[0], *option = option_of_loading(options);
    nm_csv_options csv_options = {.is_forced = options->is_forced,
                                  .has_all = options->has_csv_all,
                                  .has_internal = options->has_csv_internal,
                                  .has_bom = options->has_csv_bom};
    nm_status status = NM_OK;

    run->subject = path;
    if (options->is_redacted || options->detail != NM_RETENTION_ALL)
        return nm_fail(err, NM_ERR_USAGE, NM_NO_OFFSET, "is a database already: --%s needs -o FILE.db",
                       options->is_redacted ? "redact" : "detail");
    if (option != NULL)
        return nm_fail(err, NM_ERR_USAGE, NM_NO_OFFSET, "is a database already: --%s is for loading its trace", option);
    if (options->csv_folder != NULL) {
        run->subject = options->csv_folder;
        status = nm_csv_open(options->csv_folder, &csv_options, &run->csv, err);
    }
    if (status == NM_OK) {
        run->subject = options->report_path;
        status = ingest_page_open(&run->page, options->report_path, options->is_forced, err);
    }
    if (status != NM_OK)
        return status;
    run->subject = path;
    status = nm_foreign_open(path, options->csv_folder != NULL || options->report_path != NULL, &run->database, err);
    if (status == NM_OK)
        run->db = nm_foreign_db(run->database);
    return status;
}

/* ---- A newer trace ------------------------------------------------------------------------------------------------- */

static bool is_newer(const char *path, const struct stat *database)
{
    struct stat info;

    if (!nm_door_look(path, &info) || !S_ISREG(info.st_mode) || info.st_ino == database->st_ino)
        return false;
    return info.st_mtim.tv_sec != database->st_mtim.tv_sec ? info.st_mtim.tv_sec > database->st_mtim.tv_sec
                                                           : info.st_mtim.tv_nsec > database->st_mtim.tv_nsec;
}

/* What NAME of a folder was given as, in the folder of the database. */
static void name_beside(char out[PATH_MAX], const char *database, const char *input)
{
    const char *slash = strrchr(database, '/'), *name = strrchr(input, '/');

    snprintf(out, PATH_MAX, "%.*s%s", slash == NULL ? 0 : (int)(slash + 1 - database), database,
             name == NULL ? input : name + 1);
}

static bool is_plain(const char *text)
{
    return text[0] != '-' &&
           strspn(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._/+%=:@-") == strlen(text);
}

/* Would the trace's database have this name by itself? */
static bool has_same_stem(const char *trace, const char *database)
{
    const char *dot = strrchr(trace, '.'), *slash = strrchr(trace, '/');
    size_t length = dot == NULL || (slash != NULL && dot < slash) ? strlen(trace) : (size_t)(dot - trace);

    return strncmp(trace, database, length) == 0 && strcmp(database + length, ".db") == 0;
}

static void say(const ingest *run, const char *trace, bool is_alone)
{
    char shown[PATH_MAX];
    const char *database = run->output_path;

    if (run->options->is_quiet)
        return;
    fprintf(stderr, nm_spoken("npumem-ingest: %s is newer than this database"),
            nm_shown_text(shown, sizeof shown, trace));
    if (!is_alone || !is_plain(trace) || !is_plain(database))
        fputs(nm_spoken(": ingest it again\n"), stderr);
    else if (has_same_stem(trace, database))
        fprintf(stderr, nm_spoken(": npumem ingest --force %s\n"), trace);
    else
        fprintf(stderr, nm_spoken(": npumem ingest --force -o %s %s\n"), database, trace);
}

/* The first of the inputs that is newer. False: none is known to be. */
static bool say_newer_input(const ingest *run, const struct stat *database, int64_t input_count)
{
    char beside[PATH_MAX];
    sqlite3_stmt *rows = NULL;
    nm_input_paths_row row;
    bool is_said = false;

    if (nm_input_paths_ask(run->db, INPUTS_MAX, &rows, NULL) != NM_OK)
        return false;
    while (!is_said && nm_input_paths_next(rows, &row)) {
        name_beside(beside, run->output_path, row.path);
        is_said = row.path[0] != 0 && (is_newer(row.path, database) || is_newer(beside, database));
        if (is_said)
            say(run, is_newer(row.path, database) ? row.path : beside, input_count == 1);
    }
    sqlite3_finalize(rows);
    return is_said;
}

void ingest_say_newer(const ingest *run)
{
    static const char *const suffixes[] = {".zst", ".pickle"};
    const char *path = run->output_path;
    size_t length = strlen(path);
    struct stat database;
    char trace[PATH_MAX];
    int64_t input_count = 0;

    if (!nm_door_look(path, &database) ||
        nm_db_get_int(run->db, "SELECT count(*) FROM input", &input_count, NULL) != NM_OK)
        return;
    if (say_newer_input(run, &database, input_count) || input_count != 1 || length < 4 ||
        strcmp(path + length - 3, ".db") != 0)
        return;
    for (size_t i = 0; i < sizeof suffixes / sizeof *suffixes; i++) {
        snprintf(trace, sizeof trace, "%.*s%s", (int)(length - 3), path, suffixes[i]);
        if (is_newer(trace, &database)) {
            say(run, trace, true);
            return;
        }
    }
}
