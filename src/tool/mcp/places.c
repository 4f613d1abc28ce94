/* SPDX-License-Identifier: Apache-2.0
 *
 * A client says names; what they lead to is compared with the resolved names of the folders, letter by letter.
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
#include "base/shown.h"
#include "tool/mcp/answer.h"

#define LISTED_MAX 500 /* names of a folder */

/* ---- The command line -------------------------------------------------------------------------------------------------- */

static nm_status resolve(const char *path, mode_t type, char **out, nm_error *err)
{
    char resolved[PATH_MAX];
    struct stat info;

    if (!nm_door_resolve(path, resolved) || !nm_door_look(resolved, &info))
        return nm_fail_errno(err, errno, "cannot open");
    if (type != 0 && (info.st_mode & S_IFMT) != type)
        return nm_fail(err, NM_ERR_IO, NM_NO_OFFSET, "not a folder");
    *out = strdup(resolved);
    return *out == NULL ? nm_fail(err, NM_ERR_MEMORY, NM_NO_OFFSET, "out of memory") : NM_OK;
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
            status = resolve(*subject, S_IFDIR, &out->folders.items[out->folders.count], err);
        out->folders.count += status == NM_OK;
    }
    for (const char *const *file = options->files; status == NM_OK && *file != NULL; file++) {
        *subject = *file;
        status =
            nm_array_grow(&out->files.items, &out->files.capacity, out->files.count + 1, sizeof *out->files.items, err);
        if (status == NM_OK)
            status = resolve(*subject, 0, &out->files.items[out->files.count], err);
        out->files.count += status == NM_OK;
    }
    if (status == NM_OK && options->write_folder != NULL) {
        *subject = options->write_folder;
        status = resolve(*subject, S_IFDIR, &out->write_folder, err);
    }
    return status;
}

void mcp_places_free(mcp_places *places)
{
    for (size_t i = 0; i < places->folders.count; i++)
        free(places->folders.items[i]);
    for (size_t i = 0; i < places->files.count; i++)
        free(places->files.items[i]);
    free(places->folders.items);
    free(places->files.items);
    free(places->write_folder);
}

/* ---- A path of the client ------------------------------------------------------------------------------------------------ */

static bool is_in(const char *folder, const char *path)
{
    size_t len = strlen(folder);

    len -= folder[len - 1] == '/'; /* the root */
    return strncmp(path, folder, len) == 0 && (path[len] == '/' || path[len] == 0);
}

static bool may_open(const mcp_places *places, const char *resolved)
{
    for (size_t i = 0; i < places->files.count; i++)
        if (strcmp(places->files.items[i], resolved) == 0)
            return true;
    for (size_t i = 0; i < places->folders.count; i++)
        if (is_in(places->folders.items[i], resolved))
            return true;
    return false;
}

nm_status mcp_places_find(const mcp_places *places, const char *path, char resolved[PATH_MAX], nm_error *err)
{
    char joined[2 * PATH_MAX];

    for (size_t i = 0; path[0] != '/' && path[0] != 0 && i < places->folders.count; i++)
        if (snprintf(joined, sizeof joined, "%s/%s", places->folders.items[i], path) < PATH_MAX &&
            nm_door_resolve(joined, resolved) && may_open(places, resolved))
            return NM_OK;
    if (path[0] != 0 && nm_door_resolve(path, resolved) && may_open(places, resolved))
        return NM_OK;
    return nm_fail(err, NM_ERR_USAGE, NM_NO_OFFSET,
                   "no such file in what this server may open; open without a path lists that");
}

nm_status mcp_places_page(const mcp_places *places, const char *name, char path[PATH_MAX], nm_error *err)
{
    static const char suffix[] = ".html";
    size_t len = strlen(name);
    struct stat info;

    if (places->write_folder == NULL)
        return nm_fail(err, NM_ERR_USAGE, NM_NO_OFFSET,
                       "this server writes nothing: it was started without --write DIR");
    if (len < sizeof suffix || strcmp(name + len - (sizeof suffix - 1), suffix) != 0 || strchr(name, '/') != NULL ||
        name[0] == '.' || name[0] == '-')
        return nm_fail(err, NM_ERR_USAGE, NM_NO_OFFSET, "path must be a name that ends in .html, without a folder");
    if (snprintf(path, PATH_MAX, "%s/%s", places->write_folder, name) >= PATH_MAX)
        return nm_fail(err, NM_ERR_USAGE, NM_NO_OFFSET, "path is too long");
    if (nm_door_look(path, &info))
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
static nm_status put_folder(nm_json *json, const char *folder, bool *is_whole, nm_error *err)
{
    char *names[LISTED_MAX];
    size_t count = 0;
    DIR *list = nm_door_list(folder);

    if (list == NULL)
        return nm_fail_errno(err, errno, "cannot list a folder of this server");
    for (struct dirent *entry; count < LISTED_MAX && (entry = readdir(list)) != NULL;)
        if (has_our_name(entry->d_name) && (names[count] = strdup(entry->d_name)) != NULL)
            count++;
    closedir(list);
    *is_whole &= count < LISTED_MAX;
    qsort(names, count, sizeof *names, compare_names);
    for (size_t i = 0; i < count; i++) {
        *is_whole = *is_whole && put_path(json, folder, names[i]);
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
        is_whole = is_whole && put_path(json, "", places->files.items[i]);
    for (size_t i = 0; status == NM_OK && i < places->folders.count; i++)
        status = put_folder(json, places->folders.items[i], &is_whole, err);
    nm_json_end(json, ']');
    nm_json_begin(json, "folders", '[');
    for (size_t i = 0; i < places->folders.count; i++)
        nm_json_text(json, NULL, places->folders.items[i]);
    nm_json_end(json, ']');
    nm_json_bool(json, "is_whole", is_whole);
    return status;
}
