/* SPDX-License-Identifier: Apache-2.0
 *
 * All databases are looked at before one is written: they are one run, which has one name and one begin. Of each, all tables are
 * written into a folder of its own in the one that was named, synced, and moved when they are whole; the folders on the way to a
 * table are made then.
 */
#include "tool/export/fleet.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/door.h"
#include "base/io.h"
#include "base/strings.h"
#include "base/text.h"
#include "export/fleet.h"
#include "store/database.h"
#include "store/publish.h"
#include "tool/export/load.h"

#define SUFFIX  ".parquet"
#define LEVELS  3 /* of folders: TABLE/job=J/run=R */
#define UNKNOWN "unknown"

typedef struct source { /* a database */
    const char *path;
    export_input input;
    nm_fleet_facts facts;
} source;

typedef struct fleet {
    const export_options *options;
    const char **subject;
    char *folder;    /* owned: the one that was named, without a slash at its end */
    source *sources; /* owned */
    size_t source_count;
    char start_text[32];
    nm_fleet_run run;
    nm_buffer job_folder, run_folder;
} fleet;

/* ---- What is to be written -------------------------------------------------------------------------------------------- */

/* The input's own name, where no host is known: it says which it is. */
static nm_status look(fleet *all, source *from, nm_error *err)
{
    const char *base = nm_path_name(from->path);
    char *name = strndup(base, strcspn(base, ".") > 0 ? strcspn(base, ".") : strlen(base));
    nm_status status = name != NULL ? NM_OK : nm_fail(err, NM_ERR_MEMORY, NM_NO_OFFSET, "out of memory");

    if (status == NM_OK)
        status = export_input_open(&from->input, all->options->has_allocations, err);
    if (status == NM_OK)
        status = nm_fleet_look(nm_foreign_db(from->input.database), all->options->is_redacted ? UNKNOWN : name,
                               &from->facts, err);
    if (all->source_count > 1)
        export_input_shut(&from->input);
    free(name);
    return status;
}

static nm_status look_at_all(fleet *all, bool *is_said, bool *is_partial, nm_error *err)
{
    nm_status status = NM_OK;

    for (size_t i = 0; i < all->source_count && status == NM_OK; i++) {
        source *from = &all->sources[i];

        from->path = *all->subject = all->options->databases[i];
        status = export_input_load(from->path, all->options->is_redacted, &from->input, is_said, err);
        if (status == NM_OK)
            status = look(all, from, err);
        *is_partial = *is_partial || from->input.is_partial;
    }
    return status;
}

static nm_status name_job(fleet *all, nm_error *err)
{
    const char *job = all->options->job_name;

    for (size_t i = 0; i < all->source_count && all->options->job_name == NULL; i++) {
        const char *recorded = (const char *)all->sources[i].facts.job.data;

        if (recorded != NULL && job != NULL && strcmp(recorded, job) != 0)
            return nm_fail(err, NM_ERR_USAGE, NM_NO_OFFSET,
                           "is of another job than those before it: one run at a time");
        job = recorded == NULL ? job : recorded;
    }
    if (job == NULL)
        return nm_fail(err, NM_ERR_USAGE, NM_NO_OFFSET, "no name of a job was recorded: give --job-name");
    all->run.job = job;
    return nm_fleet_folder_name("job=", job, &all->job_folder, err);
}

static nm_status name_run(fleet *all, nm_error *err)
{
    struct tm parts;
    time_t seconds;

    all->run.start_ns = NM_NULL;
    for (size_t i = 0; i < all->source_count; i++) {
        int64_t start_ns = all->sources[i].facts.start_ns;

        if (start_ns != NM_NULL && (all->run.start_ns == NM_NULL || start_ns < all->run.start_ns))
            all->run.start_ns = start_ns;
    }
    seconds = (time_t)(all->run.start_ns / 1000000000);
    all->run.run = all->options->run_name;
    if (all->run.run == NULL && (all->run.start_ns == NM_NULL || gmtime_r(&seconds, &parts) == NULL))
        return nm_fail(err, NM_ERR_USAGE, NM_NO_OFFSET, "when the run began is not known: give --run-name");
    if (all->run.run == NULL) {
        strftime(all->start_text, sizeof all->start_text, "%Y%m%dT%H%M%SZ", &parts);
        all->run.run = all->start_text;
    }
    return nm_fleet_folder_name("run=", all->run.run, &all->run_folder, err);
}

static nm_status check_parts(fleet *all, nm_error *err)
{
    nm_strings parts = {0};
    uint32_t number = 0;
    nm_status status = NM_OK;

    for (size_t i = 0; i < all->source_count && status == NM_OK; i++) {
        nm_bytes part = {all->sources[i].facts.part.data, all->sources[i].facts.part.len};

        *all->subject = all->sources[i].path;
        status = nm_strings_intern(&parts, part, &number, err);
        if (status == NM_OK && number != i + 1)
            status = nm_fail(err, NM_ERR_USAGE, NM_NO_OFFSET, "is of the same hosts and ranks as %s: one run at a time",
                             all->sources[number - 1].path);
    }
    nm_strings_free(&parts);
    return status;
}

static nm_status name_all(fleet *all, nm_error *err)
{
    nm_status status = name_job(all, err);

    if (status == NM_OK)
        status = name_run(all, err);
    if (status == NM_OK)
        status = nm_buffer_append(&all->job_folder, "", 1, err);
    if (status == NM_OK)
        status = nm_buffer_append(&all->run_folder, "", 1, err);
    return status == NM_OK ? check_parts(all, err) : status;
}

/* ---- Files ---------------------------------------------------------------------------------------------------------- */

/* A table that is to be written; NULL: there are no more. */
static const char *next_table(const fleet *all, unsigned *number)
{
    while (nm_fleet_table(*number) != NULL && nm_fleet_is_detail(*number) && !all->options->has_allocations)
        ++*number;
    return nm_fleet_table(*number);
}

static nm_status check_is_new(const fleet *all, const source *from, nm_error *err)
{
    struct stat info;
    const char *name;
    nm_status status = NM_OK;

    for (unsigned number = 0; status == NM_OK && (name = next_table(all, &number)) != NULL; number++) {
        char *path = NULL;

        if (asprintf(&path, "%s/%s/%s/%s/%s" SUFFIX, all->folder, name, (const char *)all->job_folder.data,
                     (const char *)all->run_folder.data, (const char *)from->facts.part.data) < 0)
            return nm_fail(err, NM_ERR_MEMORY, NM_NO_OFFSET, "out of memory");
        if (!all->options->is_forced && nm_door_look(path, &info))
            status = nm_fail(err, NM_ERR_EXISTS, NM_NO_OFFSET, "%s of this run is already there (--force replaces it)",
                             nm_path_name(path));
        free(path);
    }
    return status;
}

static nm_status write_table(const fleet *all, source *from, unsigned number, const nm_draft *draft, nm_error *err)
{
    FILE *file = nm_draft_file(draft, nm_fleet_table(number));
    nm_fleet_run run = all->run;

    if (file == NULL)
        return nm_fail_write(err, errno);
    run.inputs = from->facts.inputs;
    run.has_all_steps = all->options->has_all_steps;
    nm_status status = nm_fleet_write(nm_foreign_db(from->input.database), number, &run, file, err);
    if (status == NM_OK)
        status = fflush(file) == 0 && !ferror(file) ? nm_io_sync(fileno(file), err) : nm_fail_write(err, errno);
    if (fclose(file) != 0 && status == NM_OK)
        status = nm_fail_write(err, errno);
    return status;
}

/* The folder of a name in another, made where it is not there; -1: errno. */
static int step_into(int folder, const char *name)
{
    return nm_door_make_folder_at(folder, name, 0777) != 0 && errno != EEXIST ? -1 : nm_door_folder_at(folder, name);
}

static nm_status publish_table(const fleet *all, const source *from, const char *table, int top, const nm_draft *draft,
                               nm_error *err)
{
    const char *const names[LEVELS] = {table, (const char *)all->job_folder.data, (const char *)all->run_folder.data};
    int folders[LEVELS + 1] = {top, -1, -1, -1};
    char *name = NULL;
    nm_status status = NM_OK;

    for (int level = 0; level < LEVELS && status == NM_OK; level++)
        if ((folders[level + 1] = step_into(folders[level], names[level])) < 0)
            status = nm_fail_write(err, errno);
    if (status == NM_OK && asprintf(&name, "%s" SUFFIX, (const char *)from->facts.part.data) < 0)
        status = nm_fail(err, NM_ERR_MEMORY, NM_NO_OFFSET, "out of memory");
    if (status == NM_OK)
        status = nm_door_move(draft->fd, table, folders[LEVELS], name, all->options->is_forced, err);
    for (int level = LEVELS; level > 0; level--) {
        if (status == NM_OK)
            status = nm_io_sync(folders[level], err);
        nm_io_close(folders[level]);
    }
    free(name);
    return status;
}

static nm_status make_top(const fleet *all, int *top, nm_error *err)
{
    const char *name;
    int above = nm_door_folder_of(all->folder, &name);
    nm_status status = NM_OK;
    bool is_link;

    if (above < 0 || (nm_door_make_folder_at(above, name, 0777) != 0 && errno != EEXIST))
        status = nm_fail_write(err, errno);
    if (status == NM_OK)
        status = nm_door_open_named(above, name, O_PATH | O_DIRECTORY, 0, &is_link, top, err);
    nm_io_close(above);
    return status;
}

static nm_status write_tables(fleet *all, source *from, int top, nm_error *err)
{
    nm_draft draft = {0};
    char *path = NULL;
    const char *name;
    nm_status status = NM_OK;

    if (asprintf(&path, "%s/%s", all->folder, (const char *)from->facts.part.data) < 0)
        return nm_fail(err, NM_ERR_MEMORY, NM_NO_OFFSET, "out of memory");
    status = nm_name_written(nm_draft_begin_folder(path, &draft, err), all->folder, err);
    for (unsigned number = 0; status == NM_OK && next_table(all, &number) != NULL; number++)
        status = write_table(all, from, number, &draft, err);
    for (unsigned number = 0; status == NM_OK && (name = next_table(all, &number)) != NULL; number++)
        status = publish_table(all, from, name, top, &draft, err);
    nm_draft_end(&draft);
    free(path);
    return nm_name_written(status, all->folder, err);
}

static nm_status write_all(fleet *all, nm_error *err)
{
    int top = -1;
    nm_status status = NM_OK;

    *all->subject = all->options->output;
    for (size_t i = 0; i < all->source_count && status == NM_OK; i++)
        status = check_is_new(all, &all->sources[i], err);
    if (status == NM_OK)
        status = nm_name_written(make_top(all, &top, err), all->folder, err);
    for (size_t i = 0; i < all->source_count && status == NM_OK; i++) {
        source *from = &all->sources[i];

        *all->subject = from->path;
        if (from->input.database == NULL)
            status = export_input_open(&from->input, all->options->has_allocations, err);
        if (status == NM_OK)
            status = write_tables(all, from, top, err);
        export_input_shut(&from->input);
    }
    nm_io_close(top);
    return status;
}

/* ---- All of it ------------------------------------------------------------------------------------------------------ */

static nm_status open_fleet(fleet *all, nm_error *err)
{
    size_t len = strlen(all->options->output);

    while (len > 1 && all->options->output[len - 1] == '/')
        len--;
    while (all->options->databases[all->source_count] != NULL)
        all->source_count++;
    all->folder = strndup(all->options->output, len);
    all->sources = calloc(all->source_count, sizeof *all->sources);
    return all->folder != NULL && all->sources != NULL ? NM_OK
                                                       : nm_fail(err, NM_ERR_MEMORY, NM_NO_OFFSET, "out of memory");
}

static void close_fleet(fleet *all)
{
    for (size_t i = 0; all->sources != NULL && i < all->source_count; i++) {
        export_input_close(&all->sources[i].input);
        nm_fleet_facts_free(&all->sources[i].facts);
    }
    free(all->sources);
    free(all->folder);
    nm_buffer_free(&all->job_folder);
    nm_buffer_free(&all->run_folder);
}

nm_status export_fleet(const export_options *options, const char **subject, bool *is_said, bool *is_partial,
                       nm_error *err)
{
    fleet all = {.options = options, .subject = subject};
    nm_status status = open_fleet(&all, err);

    if (status == NM_OK)
        status = look_at_all(&all, is_said, is_partial, err);
    if (status == NM_OK)
        status = name_all(&all, err);
    if (status == NM_OK)
        status = write_all(&all, err);
    if (status == NM_ERR_WRITE && err->written[0] == 0)
        *subject = options->output;
    close_fleet(&all);
    return status;
}
