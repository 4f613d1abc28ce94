/* SPDX-License-Identifier: Apache-2.0
 *
 * Folders of symbol files: which file is found for a build id, that a debug file names places as the unstripped library
 * does, and that no file, however broken, harms the one who reads it.
 */
#include <check.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/io.h"
#include "support/suites.h"
#include "symbol/folders.h"

static char folder[] = "/tmp/npumem-folders-XXXXXX";
static int told_count;
static char told_path[512];

static void count_words(void *context, const char *path, const char *why)
{
    (void)context;
    ck_assert_str_ne(why, "");
    told_count++;
    snprintf(told_path, sizeof told_path, "%s", path);
}

static const nm_symbol_listener listener = {.tell = count_words};

/* A shell command in the folder of the test. */
static void shell(const char *command)
{
    char line[2048];

    snprintf(line, sizeof line, "cd %s && %s", folder, command);
    ck_assert_int_eq(system(line), 0);
}

static void make_folder(void)
{
    strcpy(folder + sizeof folder - 7, "XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(folder));
    told_count = 0;
}

static void remove_folder(void)
{
    char command[128];

    snprintf(command, sizeof command, "rm -rf %s", folder);
    ck_assert_int_eq(system(command), 0);
}

static nm_symbol_folders *look_through(void)
{
    nm_symbol_folders *folders;

    ck_assert_int_eq(nm_symbol_folders_new(&listener, &folders, NULL), NM_OK);
    ck_assert_int_eq(nm_symbol_folders_add(folders, folder, NULL), NM_OK);
    return folders;
}

static nm_symbol_identity identity_of(const char *path)
{
    nm_symbol_identity identity;

    ck_assert_int_eq(nm_symbol_identify(path, &identity, NULL), NM_OK);
    return identity;
}

/* What is found for the library's build id, without the test's folder; "" for nothing. */
static const char *found(nm_symbol_folders *folders)
{
    nm_symbol_identity identity = identity_of(LIBRARY);
    const char *path = nm_symbol_folders_find(folders, (nm_bytes){identity.build_id, identity.build_id_bytes});

    return path == NULL ? "" : path + strlen(folder) + 1;
}

START_TEST(a_file_is_known_by_its_notes)
{
    nm_symbol_identity whole = identity_of(LIBRARY), debug = identity_of(LIBRARY ".debug");
    nm_symbol_identity bare = identity_of(LIBRARY ".stripped"), other;
    nm_bytes build_id;
    nm_symbol_file *file;

    ck_assert_int_eq(nm_symbol_file_open(LIBRARY, &file, NULL), NM_OK);
    build_id = nm_symbol_file_build_id(file);
    ck_assert_uint_eq(build_id.len, whole.build_id_bytes);
    ck_assert_mem_eq(build_id.data, whole.build_id, build_id.len);
    ck_assert_mem_eq(debug.build_id, whole.build_id, sizeof whole.build_id);
    ck_assert_mem_eq(bare.build_id, whole.build_id, sizeof whole.build_id);
    ck_assert_int_eq(whole.worth, 2);
    ck_assert_int_eq(debug.worth, 2);
    ck_assert_int_eq(bare.worth, 0);
    nm_symbol_file_free(file);
    ck_assert_int_eq(nm_symbol_identify("/proc/self/status", &other, NULL), NM_END);
    ck_assert_int_eq(nm_symbol_identify("/dev/null", &other, NULL), NM_END);
    ck_assert_int_eq(nm_symbol_identify("/nowhere", &other, NULL), NM_ERR_IO);
}
END_TEST

START_TEST(a_build_id_is_found_in_any_layout)
{
    static const char *const layouts[][2] = {
        {"cp " LIBRARY ".debug any.name", "any.name"},
        {"mkdir -p a/b/c && cp " LIBRARY " a/b/c/lib.so", "a/b/c/lib.so"},
        {"mkdir -p .build-id/ab && cp " LIBRARY ".debug .build-id/ab/cdef.debug", ".build-id/ab/cdef.debug"},
        {"ln -s " LIBRARY ".debug link", "link"},
        {"cp " LIBRARY ".stripped a && cp " LIBRARY ".debug b", "b"},
        {"cp " LIBRARY ".debug a && cp " LIBRARY ".stripped b", "a"},
        {"cp " LIBRARY ".stripped only", "only"},
        {"true", ""},
        {"mkfifo pipe && ln -s nowhere lost && ln -s . loop && echo text >text", ""},
        {OBJCOPY " --remove-section .note.gnu.build-id " LIBRARY " none", ""},
    };

    for (size_t i = 0; i < sizeof layouts / sizeof *layouts; i++) {
        make_folder();
        shell(layouts[i][0]);
        nm_symbol_folders *folders = look_through();
        ck_assert_str_eq(found(folders), layouts[i][1]);
        ck_assert_int_eq(told_count, 0);
        nm_symbol_folders_free(folders);
        remove_folder();
    }
}
END_TEST

START_TEST(another_build_of_the_same_library_is_not_taken)
{
    make_folder();
    shell("cp " OTHER_LIBRARY " $(basename " LIBRARY ")");
    nm_symbol_folders *folders = look_through();
    ck_assert_str_eq(found(folders), "");
    nm_symbol_folders_free(folders);
    remove_folder();
}
END_TEST

START_TEST(a_file_that_cannot_be_used_is_told_of_and_passed_over)
{
    make_folder();
    shell("head -c 5000 " LIBRARY " >cut.so && cp " LIBRARY " whole.so");
    nm_symbol_folders *folders = look_through();
    ck_assert_str_eq(found(folders), "whole.so");
    ck_assert_int_eq(told_count, 1);
    ck_assert_ptr_nonnull(strstr(told_path, "/cut.so"));
    nm_symbol_folders_free(folders);
    remove_folder();
}
END_TEST

/* All offsets of the library's code, some of them inside inlined functions. */
static size_t all_offsets(uint64_t *offsets, size_t room)
{
    struct stat info;
    size_t count = 0;

    ck_assert_int_eq(stat(LIBRARY ".stripped", &info), 0);
    for (uint64_t at = 0; at < (uint64_t)info.st_size && count < room; at++)
        offsets[count++] = at;
    return count;
}

static bool is_same_text(const char *a, const char *b)
{
    return a == NULL || b == NULL ? a == b : strcmp(a, b) == 0;
}

START_TEST(a_debug_file_read_apart_names_places_as_the_whole_library_does)
{
    static uint64_t offsets[32768];
    static nm_symbol_list apart[32768];
    size_t count = all_offsets(offsets, sizeof offsets / sizeof *offsets), named = 0, deepest = 0;
    nm_symbol_file *file;

    ck_assert_int_eq(nm_symbol_find_apart(LIBRARY ".debug", offsets, count, apart, NULL), NM_OK);
    ck_assert_int_eq(nm_symbol_file_open(LIBRARY, &file, NULL), NM_OK);
    for (size_t i = 0; i < count; i++) {
        nm_symbol_list places;

        nm_symbol_file_find(file, offsets[i], &places);
        ck_assert_uint_eq(places.count, apart[i].count);
        for (size_t at = 0; at < places.count; at++) {
            ck_assert(is_same_text(places.items[at].function, apart[i].items[at].function));
            ck_assert(is_same_text(places.items[at].file, apart[i].items[at].file));
            ck_assert_uint_eq(places.items[at].line, apart[i].items[at].line);
        }
        named += places.count > 0;
        deepest = places.count > deepest ? places.count : deepest;
        nm_symbol_list_clear(&places);
        nm_symbol_list_clear(&apart[i]);
    }
    ck_assert_uint_gt(named, 50);
    ck_assert_uint_eq(deepest, NM_SYMBOL_DEPTH_MAX);
    nm_symbol_file_free(file);
}
END_TEST

/* ---- Broken files ---- */

#define OFFSETS    66
#define CODE_BEGIN 0x1000 /* where linkers put the code of a small library */

static void write_file(const char *path, const uint8_t *data, size_t len)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);

    ck_assert_int_ge(fd, 0);
    ck_assert_int_eq(nm_io_write(fd, data, len, NULL), NM_OK);
    close(fd);
}

static nm_buffer read_debug_file(void)
{
    nm_buffer content = {0};
    int fd = open(LIBRARY ".debug", O_RDONLY);

    ck_assert_int_ge(fd, 0);
    ck_assert_int_eq(nm_io_read_all(fd, 1 << 24, &content, NULL), NM_OK);
    close(fd);
    return content;
}

/* Whatever it is, it is read or refused. */
static void try_file(const char *path)
{
    uint64_t offsets[OFFSETS] = {0, UINT64_MAX};
    nm_symbol_list places[OFFSETS];
    size_t count = OFFSETS;

    for (size_t i = 2; i < count; i++)
        offsets[i] = CODE_BEGIN + (i - 2) * 8;

    nm_error err = {0};
    nm_status status = nm_symbol_find_apart(path, offsets, count, places, &err);

    ck_assert(status == NM_OK || status == NM_ERR_FORMAT);
    ck_assert(status == NM_OK || err.text[0] != 0);
    for (size_t i = 0; i < count; i++)
        nm_symbol_list_clear(&places[i]);
}

START_TEST(a_debug_file_cut_anywhere_harms_nobody)
{
    nm_buffer content = read_debug_file();
    nm_symbol_identity identity;
    char path[64];

    make_folder();
    snprintf(path, sizeof path, "%s/cut", folder);
    for (size_t len = 0; len < content.len; len++) {
        write_file(path, content.data, len);
        nm_status status = nm_symbol_identify(path, &identity, NULL);
        ck_assert(status == NM_OK || status == NM_END || status == NM_ERR_FORMAT);
        if (len % 101 == 0)
            try_file(path);
    }
    nm_buffer_free(&content);
    remove_folder();
}
END_TEST

START_TEST(a_debug_file_with_changed_bytes_harms_nobody)
{
    nm_buffer content = read_debug_file();
    nm_symbol_identity identity;
    uint64_t random = 88172645463325252u;
    char path[64];

    make_folder();
    snprintf(path, sizeof path, "%s/changed", folder);
    for (int round = 0; round < 600; round++) {
        uint8_t *copy = malloc(content.len);

        ck_assert_ptr_nonnull(copy);
        memcpy(copy, content.data, content.len);
        for (int i = 0; i < 1 + round % 8; i++) {
            random ^= random << 13, random ^= random >> 7, random ^= random << 17;
            copy[random % (round % 3 == 0 ? 1024 : content.len)] = (uint8_t)(random >> 56);
        }
        write_file(path, copy, content.len);
        nm_symbol_identify(path, &identity, NULL);
        try_file(path);
        free(copy);
    }
    nm_buffer_free(&content);
    remove_folder();
}
END_TEST

START_TEST(no_file_at_all_is_an_error_and_no_harm)
{
    uint64_t offset = 0;
    nm_symbol_list places;

    ck_assert_int_eq(nm_symbol_find_apart("/nowhere", &offset, 1, &places, NULL), NM_ERR_FORMAT);
    ck_assert_int_eq(nm_symbol_find_apart("/proc/self/status", &offset, 1, &places, NULL), NM_ERR_FORMAT);
    ck_assert_uint_eq(places.count, 0);
}
END_TEST

TEST_SUITE(test_symbol_folders)
{
    Suite *suite = suite_create("symbol folders");
    TCase *tests = tcase_create("symbol folders");

    tcase_set_timeout(tests, 280);
    tcase_add_test(tests, a_file_is_known_by_its_notes);
    tcase_add_test(tests, a_build_id_is_found_in_any_layout);
    tcase_add_test(tests, another_build_of_the_same_library_is_not_taken);
    tcase_add_test(tests, a_file_that_cannot_be_used_is_told_of_and_passed_over);
    tcase_add_test(tests, a_debug_file_read_apart_names_places_as_the_whole_library_does);
    tcase_add_test(tests, a_debug_file_cut_anywhere_harms_nobody);
    tcase_add_test(tests, a_debug_file_with_changed_bytes_harms_nobody);
    tcase_add_test(tests, no_file_at_all_is_an_error_and_no_harm);
    suite_add_tcase(suite, tests);
    return suite;
}
