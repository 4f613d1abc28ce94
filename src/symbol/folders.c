/* SPDX-License-Identifier: Apache-2.0
 *
 * A walk through the folders in the order of names, so that the same folders give the same answers, and a table from
 * build id to the first file of the best kind that has it. What a file is identity.c finds out, without a library. One
 * that cannot be used is told to the listener and passed over: a bad file must not hide a good one.
 */
#include "symbol/folders.h"

#include <errno.h>
#include <fts.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/buffer.h"
#include "base/door.h"
#include "base/strings.h"

typedef struct known_file { /* the best one of a build id */
    uint32_t path;          /* string */
    int worth;
} known_file;

struct nm_symbol_folders {
    nm_symbol_listener listener;
    nm_strings build_ids, paths;
    known_file *files; /* by number of the build id - 1 */
    size_t capacity;
};

nm_status nm_symbol_folders_new(const nm_symbol_listener *listener, nm_symbol_folders **out, nm_error *err)
{
    *out = calloc(1, sizeof **out);
    if (*out == NULL)
        return nm_fail(err, NM_ERR_MEMORY, NM_NO_OFFSET, "out of memory at the folders of symbols");
    (*out)->listener = *listener;
    return NM_OK;
}

void nm_symbol_folders_free(nm_symbol_folders *folders)
{
    if (folders == NULL)
        return;
    nm_strings_free(&folders->build_ids);
    nm_strings_free(&folders->paths);
    free(folders->files);
    free(folders);
}

static nm_status add_file(nm_symbol_folders *folders, const char *path, nm_error *err)
{
    nm_symbol_identity identity;
    nm_error why = {0};
    uint32_t number = 0;
    nm_status status = nm_symbol_identify(path, &identity, &why);

    if (status != NM_OK && status != NM_END)
        folders->listener.tell(folders->listener.context, path, why.text);
    if (status != NM_OK)
        return NM_OK;
    status =
        nm_strings_intern(&folders->build_ids, (nm_bytes){identity.build_id, identity.build_id_bytes}, &number, err);
    if (status == NM_OK)
        status = nm_array_grow(&folders->files, &folders->capacity, number, sizeof *folders->files, err);
    if (status != NM_OK)
        return status;

    known_file *known = &folders->files[number - 1];
    if (known->path != 0 && known->worth >= identity.worth)
        return NM_OK;
    known->worth = identity.worth;
    return nm_strings_intern(&folders->paths, (nm_bytes){(const uint8_t *)path, strlen(path)}, &known->path, err);
}

static int by_name(const FTSENT **left, const FTSENT **right)
{
    return strcmp((*left)->fts_name, (*right)->fts_name);
}

/* In the order of names, so that the same folders give the same answers. */
nm_status nm_symbol_folders_add(nm_symbol_folders *folders, const char *path, nm_error *err)
{
    char *roots[] = {strdup(path), NULL};
    FTS *walk = roots[0] == NULL ? NULL : fts_open(roots, FTS_PHYSICAL | FTS_COMFOLLOW | FTS_NOCHDIR, by_name);
    nm_status status = NM_OK;
    struct stat info;
    FTSENT *entry;

    if (walk == NULL)
        status = nm_fail_errno(err, errno, "cannot look through the folder");
    while (status == NM_OK && (entry = fts_read(walk)) != NULL) {
        if (entry->fts_info == FTS_F || (entry->fts_info == FTS_SL && nm_door_look(entry->fts_path, &info)))
            status = add_file(folders, entry->fts_path, err);
        else if (entry->fts_info == FTS_DNR || entry->fts_info == FTS_ERR || entry->fts_info == FTS_NS)
            folders->listener.tell(folders->listener.context, entry->fts_path, strerror(entry->fts_errno));
    }
    if (walk != NULL)
        fts_close(walk);
    free(roots[0]);
    return status;
}

const char *nm_symbol_folders_find(nm_symbol_folders *folders, nm_bytes build_id)
{
    uint32_t number = 0;

    if (nm_strings_intern(&folders->build_ids, build_id, &number, NULL) != NM_OK || number == 0 ||
        number > folders->capacity)
        return NULL;
    return (const char *)nm_strings_get(&folders->paths, folders->files[number - 1].path).data;
}
