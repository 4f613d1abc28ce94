/* SPDX-License-Identifier: Apache-2.0
 *
 * A client says names. Where they lead to is compared with the resolved names of the folders, letter by letter, and then held by a
 * walk down from the folder, which follows no link: whoever exchanges what lies there meanwhile leads nowhere.
 */
#include "tool/mcp/places.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/buffer.h"
#include "base/door.h"
#include "base/io.h"
#include "base/shown.h"
#include "tool/mcp/answer.h"

#define LISTED_MAX 500 /* names of a folder */

/* ---- The command line -------------------------------------------------------------------------------------------------- */

static nm_status open_place(const char *path, bool is_folder, mcp_root *out, nm_error *err)
{
    char resolved[PATH_MAX];

    out->name = "";
    out->folder = -1;
    if (!nm_door_resolve(path, resolved))
        return nm_fail_errno(err, errno, "cannot open");
    if (is_folder && !nm_door_leads_to(resolved, S_IFDIR))
        return nm_fail(err, NM_ERR_IO, NM_NO_OFFSET, "not a folder");
    out->path = strdup(resolved);
    if (out->path == NULL)
        return nm_fail(err, NM_ERR_MEMORY, NM_NO_OFFSET, "out of memory");
    out->folder = is_folder ? nm_door_folder(out->path) : nm_door_folder_of(out->path, &out->name);
    return out->folder < 0 ? nm_fail_errno(err, errno, "cannot open") : NM_OK;
}

nm_status mcp_places_open(const mcp_options *options, mcp_places *out, const char **subject, nm_error *err)
{
    nm_status status = NM_OK;

    *out = (mcp_places){0};
    for (size_t i = 0; status == NM_OK && i < options->folders.count; i++) {
        *subject = options->folders.items[i];
        status = nm_array_grow(&out->folders.items, &out->folders.capacity, out->folders.count + 1,
                               sizeof *out->folders.items, err);
        if (status == NM_OK)
            status = open_place(*subject, true, &out->folders.items[out->folders.count++], err);
    }
    for (const char *const *file = options->files; status == NM_OK && *file != NULL; file++) {
        *subject = *file;
        status =
            nm_array_grow(&out->files.items, &out->files.capacity, out->files.count + 1, sizeof *out->files.items, err);
        if (status == NM_OK)
            status = open_place(*subject, false, &out->files.items[out->files.count++], err);
    }
    if (status == NM_OK && options->write_folder != NULL) {
        *subject = options->write_folder;
        status = open_place(*subject, true, &out->pages, err);
    }
    return status;
}

static void close_place(mcp_root *place)
{
    if (place->path != NULL)
        nm_io_close(place->folder);
    free(place->path);
}

void mcp_places_free(mcp_places *places)
{
    for (size_t i = 0; i < places->folders.count; i++)
        close_place(&places->folders.items[i]);
    for (size_t i = 0; i < places->files.count; i++)
        close_place(&places->files.items[i]);
    close_place(&places->pages);
    free(places->folders.items);
    free(places->files.items);
}

/* ---- A path of the client ------------------------------------------------------------------------------------------------ */

/* What a path without links is below the folder; NULL: it is not. */
static const char *find_below(const char *folder, const char *path)
{
    size_t len = strlen(folder);

    len -= folder[len - 1] == '/'; /* the root */
    return strncmp(path, folder, len) == 0 && (path[len] == '/' || path[len] == 0) ? path + len : NULL;
}

/* What has been exchanged since the path was resolved is not there. */
static int hold(const mcp_places *places, const char *resolved)
{
    const char *below;
    int held = -1;

    for (size_t i = 0; held < 0 && i < places->files.count; i++)
        if (strcmp(places->files.items[i].path, resolved) == 0)
            held = nm_door_hold_below(places->files.items[i].folder, places->files.items[i].name);
    for (size_t i = 0; held < 0 && i < places->folders.count; i++)
        if ((below = find_below(places->folders.items[i].path, resolved)) != NULL)
            held = nm_door_hold_below(places->folders.items[i].folder, below);
    return held;
}

nm_status mcp_places_hold(const mcp_places *places, const char *path, char resolved[PATH_MAX], int *held, nm_error *err)
{
    char joined[2 * PATH_MAX];

    for (size_t i = 0; path[0] != '/' && path[0] != 0 && i < places->folders.count; i++)
        if (snprintf(joined, sizeof joined, "%s/%s", places->folders.items[i].path, path) < PATH_MAX &&
            nm_door_resolve(joined, resolved) && (*held = hold(places, resolved)) >= 0)
            return NM_OK;
    if (path[0] != 0 && nm_door_resolve(path, resolved) && (*held = hold(places, resolved)) >= 0)
        return NM_OK;
    *held = -1;
    return nm_fail(err, NM_ERR_USAGE, NM_NO_OFFSET,
                   "no such file in what this server may open; open without a path lists that");
}

nm_status mcp_places_page(const mcp_places *places, const char *name, char path[PATH_MAX], char handed[PATH_MAX],
                          nm_error *err)
{
    static const char suffix[] = ".html";
    char folder[NM_DOOR_HANDED_BYTES];
    size_t len = strlen(name);
    struct stat info;

    if (places->pages.path == NULL)
        return nm_fail(err, NM_ERR_USAGE, NM_NO_OFFSET,
                       "this server writes nothing: it was started without --write DIR");
    if (len < sizeof suffix || strcmp(name + len - (sizeof suffix - 1), suffix) != 0 || strchr(name, '/') != NULL ||
        name[0] == '.' || name[0] == '-')
        return nm_fail(err, NM_ERR_USAGE, NM_NO_OFFSET, "path must be a name that ends in .html, without a folder");
    nm_door_hand(places->pages.folder, folder);
    if (snprintf(path, PATH_MAX, "%s/%s", places->pages.path, name) >= PATH_MAX ||
        snprintf(handed, PATH_MAX, "%s/%s", folder, name) >= PATH_MAX)
        return nm_fail(err, NM_ERR_USAGE, NM_NO_OFFSET, "path is too long");
    if (nm_door_look_at(places->pages.folder, name, &info))
        return nm_fail(err, NM_ERR_EXISTS, NM_NO_OFFSET, "is there already: choose another name");
    return NM_OK;
}

/* ---- What there is -------------------------------------------------------------------------------------------------------- */

static bool is_safe(const char *name)
{
    uint32_t character;

    for (size_t len = strlen(name), bytes; len > 0; name += bytes, len -= bytes) {
        bytes = nm_shown_next(name, len, &character);
        if (!nm_shown_is_safe(character))
            return false;
    }
    return true;
}

/* One that is not safe to show is not listed: it is somebody's trick. */
static bool has_our_name(const char *name)
{
    static const char *const suffixes[] = {".db", ".zst", ".pickle", ".pkl"};
    size_t len = strlen(name);

    for (size_t i = 0; i < sizeof suffixes / sizeof *suffixes; i++)
        if (len > strlen(suffixes[i]) && strcmp(name + len - strlen(suffixes[i]), suffixes[i]) == 0)
            return name[0] != '.' && is_safe(name);
    return false;
}

static int compare_names(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

/* What has room. */
static bool put_path(nm_json *json, const char *folder, const char *name)
{
    char path[2 * PATH_MAX];
    mcp_mark mark = mcp_mark_here(json);

    snprintf(path, sizeof path, "%s%s%s", folder, folder[0] == 0 ? "" : "/", name);
    nm_json_text(json, NULL, path);
    if (mcp_has_room(json))
        return true;
    mcp_go_back(json, mark);
    return false;
}

/* In the order of their names. */
static nm_status put_folder(nm_json *json, const mcp_root *folder, bool *is_whole, nm_error *err)
{
    char *names[LISTED_MAX];
    size_t count = 0;
    DIR *list = nm_door_list_at(folder->folder);

    if (list == NULL)
        return nm_fail_errno(err, errno, "cannot list a folder of this server");
    for (struct dirent *entry; count < LISTED_MAX && (entry = readdir(list)) != NULL;)
        if (has_our_name(entry->d_name) && (names[count] = strdup(entry->d_name)) != NULL)
            count++;
    closedir(list);
    *is_whole &= count < LISTED_MAX;
    qsort(names, count, sizeof *names, compare_names);
    for (size_t i = 0; i < count; i++) {
        *is_whole = *is_whole && put_path(json, folder->path, names[i]);
        free(names[i]);
    }
    return NM_OK;
}

nm_status mcp_places_list(const mcp_places *places, nm_json *json, nm_error *err)
{
    nm_status status = NM_OK;
    bool is_whole = true;

    nm_json_begin(json, "files", '[');
    for (size_t i = 0; i < places->files.count; i++)
        is_whole = is_whole && put_path(json, "", places->files.items[i].path);
    for (size_t i = 0; status == NM_OK && i < places->folders.count; i++)
        status = put_folder(json, &places->folders.items[i], &is_whole, err);
    nm_json_end(json, ']');
    nm_json_begin(json, "folders", '[');
    for (size_t i = 0; i < places->folders.count; i++)
        nm_json_text(json, NULL, places->folders.items[i].path);
    nm_json_end(json, ']');
    nm_json_bool(json, "is_whole", is_whole);
    return status;
}
