/* SPDX-License-Identifier: Apache-2.0
 *
 * No program is asked: a version is read from what stands beside the library that a process has mapped (the install and
 * version files of CANN and of the driver, a package's dist-info), or from its file's name. Definitions of modules are
 * noted as the drain writes them, which has to be quick and may not fail the recording; files are opened later, between two
 * passes.
 */
#include "tool/common/versions.h"

#include <ctype.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/buffer.h"
#include "base/door.h"
#include "base/io.h"
#include "base/map.h"

#define VERSION_BYTES_MAX RECORD_VERSION_BYTES
#define FILE_BYTES_MAX    4096

typedef bool find_version(const char *path, char version[VERSION_BYTES_MAX]);

static find_version find_cann, find_driver, find_torch, find_torch_npu, find_python;

/* Libraries (by the beginning of their file's name) and what they tell. */
static const struct {
    const char *library;
    const char *name;
    find_version *find;
} tellers[] = {
    {"libascendcl.so", "CANN", find_cann},
    {"libacl_rt.so", "CANN", find_cann},
    {"libascend_hal.so", "driver", find_driver},
    {"libtorch_cpu.so", "torch", find_torch},
    {"libtorch_npu.so", "torch_npu", find_torch_npu},
    {"libpython3.", "Python", find_python},
    {"python3.", "Python", find_python},
};

#define TELLER_COUNT (sizeof tellers / sizeof *tellers)

typedef struct found_library {
    uint64_t process_id;
    size_t teller;
    char *path; /* owned */
} found_library;

struct record_versions {
    nm_map paths; /* string -> index of a candidate */
    char **candidates;
    size_t candidate_count, candidate_capacity;
    nm_map told; /* (process, teller's name) -> 1 */
    found_library *found;
    size_t found_count, found_capacity;
    bool has_failed;
};

/* ---- Where versions stand ------------------------------------------------------------------------------------------ */

/* The value of the first line `version=...` of a file, whatever the case of the word. */
static bool read_version_line(const char *path, char version[VERSION_BYTES_MAX])
{
    char text[FILE_BYTES_MAX];
    struct stat info;
    size_t got = 0;
    int fd;

    if (nm_door_open_file(path, &fd, &info, NULL) != NM_OK)
        return false;
    if (nm_io_read(fd, text, sizeof text - 1, &got, NULL) != NM_OK)
        got = 0;
    nm_io_close(fd);
    text[got] = 0;
    for (const char *line = text; line != NULL && *line != 0;
         line = strchr(line, '\n') ? strchr(line, '\n') + 1 : NULL) {
        if (strncasecmp(line, "version=", 8) != 0)
            continue;
        size_t len = strcspn(line + 8, "\r\n");
        if (len == 0 || len >= VERSION_BYTES_MAX)
            return false;
        memcpy(version, line + 8, len);
        version[len] = 0;
        return true;
    }
    return false;
}

/* Tries files whose names are given from the folder of the library on. */
static bool try_files(const char *path, const char *const *below, size_t count, char version[VERSION_BYTES_MAX])
{
    const char *slash = strrchr(path, '/');
    char tried[PATH_MAX];

    for (size_t i = 0; slash != NULL && i < count; i++) {
        int len = below[i][0] == '/' ? snprintf(tried, sizeof tried, "%s", below[i])
                                     : snprintf(tried, sizeof tried, "%.*s/%s", (int)(slash - path), path, below[i]);

        if (len < (int)sizeof tried && read_version_line(tried, version))
            return true;
    }
    return false;
}

static bool find_cann(const char *path, char version[VERSION_BYTES_MAX])
{
    static const char *const below[] = {"../ascend_toolkit_install.info", "../../ascend_toolkit_install.info",
                                        "../../runtime/version.info", "../version.info", "../../compiler/version.info"};

    return try_files(path, below, sizeof below / sizeof *below, version);
}

static bool find_driver(const char *path, char version[VERSION_BYTES_MAX])
{
    static const char *const below[] = {"../../version.info", "../version.info",
                                        "/usr/local/Ascend/driver/version.info"};

    return try_files(path, below, sizeof below / sizeof *below, version);
}

/* `PACKAGE/lib/library` in a folder with `PACKAGE-VERSION.dist-info`, as pip leaves it. */
static bool find_package(const char *path, const char *package, char version[VERSION_BYTES_MAX])
{
    char folder[PATH_MAX];
    size_t package_bytes = strlen(package);
    struct dirent *entry;
    bool is_found = false;
    DIR *list;

    if (snprintf(folder, sizeof folder, "%s", path) >= (int)sizeof folder)
        return false;
    for (int level = 0; level < 3; level++) {
        char *slash = strrchr(folder, '/');

        if (slash == NULL)
            return false;
        *slash = 0;
    }
    list = nm_door_list(folder);
    while (list != NULL && !is_found && (entry = readdir(list)) != NULL) {
        const char *name = entry->d_name, *end = strstr(name, ".dist-info");
        size_t len;

        if (strncmp(name, package, package_bytes) != 0 || name[package_bytes] != '-' || end == NULL)
            continue;
        len = (size_t)(end - name) - package_bytes - 1;
        is_found = len > 0 && len < VERSION_BYTES_MAX;
        if (is_found)
            snprintf(version, VERSION_BYTES_MAX, "%.*s", (int)len, name + package_bytes + 1);
    }
    if (list != NULL)
        closedir(list);
    return is_found;
}

static bool find_torch(const char *path, char version[VERSION_BYTES_MAX])
{
    return find_package(path, "torch", version);
}

static bool find_torch_npu(const char *path, char version[VERSION_BYTES_MAX])
{
    return find_package(path, "torch_npu", version);
}

/* The name says it: libpython3.11.so.1.0, python3.11. */
static bool find_python(const char *path, char version[VERSION_BYTES_MAX])
{
    const char *slash = strrchr(path, '/');
    const char *digits = strstr(slash != NULL ? slash : path, "python3.");
    size_t len = 2;

    if (digits == NULL)
        return false;
    digits += strlen("python");
    while (isdigit((unsigned char)digits[len]) && len < VERSION_BYTES_MAX - 1)
        len++;
    snprintf(version, VERSION_BYTES_MAX, "%.*s", (int)len, digits);
    return len > 2;
}

/* ---- Looking on ---------------------------------------------------------------------------------------------------- */

nm_status record_versions_new(record_versions **out, nm_error *err)
{
    *out = calloc(1, sizeof **out);
    return *out != NULL ? NM_OK : nm_fail(err, NM_ERR_MEMORY, NM_NO_OFFSET, "out of memory");
}

void record_versions_free(record_versions *versions)
{
    if (versions == NULL)
        return;
    for (size_t i = 0; i < versions->candidate_count; i++)
        free(versions->candidates[i]);
    for (size_t i = 0; i < versions->found_count; i++)
        free(versions->found[i].path);
    free(versions->candidates);
    free(versions->found);
    nm_map_free(&versions->paths);
    nm_map_free(&versions->told);
    free(versions);
}

/* TELLER_COUNT: none. */
static size_t teller_of(const char *path, size_t len)
{
    const char *slash = memrchr(path, '/', len);
    const char *name = slash == NULL ? path : slash + 1;
    size_t name_bytes = len - (size_t)(name - path), i = 0;

    while (i < TELLER_COUNT && (name_bytes < strlen(tellers[i].library) ||
                                memcmp(name, tellers[i].library, strlen(tellers[i].library)) != 0))
        i++;
    return i;
}

const char *record_versions_of(const char *path, char version[RECORD_VERSION_BYTES])
{
    size_t teller = teller_of(path, strlen(path));

    return teller < TELLER_COUNT && tellers[teller].find(path, version) ? tellers[teller].name : NULL;
}

static nm_status note_string(record_versions *versions, const nm_definition *string)
{
    const char *text = (const char *)string->string.data;
    nm_status status;

    if (string->string.len == 0 || text[0] != '/' || teller_of(text, string->string.len) == TELLER_COUNT)
        return NM_OK;
    status = nm_array_grow(&versions->candidates, &versions->candidate_capacity, versions->candidate_count + 1,
                           sizeof *versions->candidates, NULL);
    if (status == NM_OK)
        status = nm_map_put(&versions->paths, (nm_key){0, string->id}, versions->candidate_count, NULL);
    if (status != NM_OK)
        return status;
    versions->candidates[versions->candidate_count] = strndup(text, string->string.len);
    return versions->candidates[versions->candidate_count++] != NULL ? NM_OK : NM_ERR_MEMORY;
}

static nm_status note_module(record_versions *versions, const nm_definition *module)
{
    const uint64_t *candidate = nm_map_get(&versions->paths, (nm_key){0, module->module.path});
    found_library library = {.process_id = module->module.process_id};
    nm_status status;

    if (candidate == NULL)
        return NM_OK;
    library.path = strdup(versions->candidates[*candidate]);
    if (library.path == NULL)
        return NM_ERR_MEMORY;
    library.teller = teller_of(library.path, strlen(library.path));
    status = nm_array_grow(&versions->found, &versions->found_capacity, versions->found_count + 1,
                           sizeof *versions->found, NULL);
    if (status == NM_OK)
        versions->found[versions->found_count++] = library;
    else
        free(library.path);
    return status;
}

void record_versions_take(void *context, const nm_record *record)
{
    record_versions *versions = context;
    nm_status status = NM_OK;

    if (versions->has_failed || record->kind != NM_RECORD_DEFINITION)
        return;
    if (record->definition.kind == NM_DEFINE_STRING)
        status = note_string(versions, &record->definition);
    else if (record->definition.kind == NM_DEFINE_MODULE)
        status = note_module(versions, &record->definition);
    versions->has_failed = status != NM_OK;
}

static nm_status tell(record_versions *versions, const found_library *library, nm_drain *drain, nm_error *err)
{
    const char *name = tellers[library->teller].name;
    nm_key key = {library->process_id, (uint64_t)(uintptr_t)name};
    char version[VERSION_BYTES_MAX];
    nm_status status;

    if (nm_map_get(&versions->told, key) != NULL || !tellers[library->teller].find(library->path, version))
        return NM_OK;
    status = nm_map_put(&versions->told, key, 1, err);
    return status == NM_OK ? nm_drain_attribute(drain, library->process_id, NM_ATTRIBUTE_VERSION, name, version, err)
                           : status;
}

nm_status record_versions_tell(record_versions *versions, nm_drain *drain, nm_error *err)
{
    nm_status status = NM_OK;

    /* What is told defines strings, which come back here and may be noted: the list is not read twice. */
    for (size_t i = 0; i < versions->found_count && status == NM_OK; i++) {
        found_library library = versions->found[i];

        status = tell(versions, &library, drain, err);
    }
    for (size_t i = 0; i < versions->found_count; i++)
        free(versions->found[i].path);
    versions->found_count = 0;
    return status;
}
