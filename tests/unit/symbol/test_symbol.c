/* SPDX-License-Identifier: Apache-2.0
 *
 * Names of this very program's functions, with and without debug information, and the thread that answers questions.
 */
#include <check.h>
#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "symbol/symbol.h"

#include "inline_chain.h"
#include "support/suites.h"

/* Not static, and called through a pointer: it stays a function of its own with a name in the symbol table. */
__attribute__((noinline)) int function_to_be_found(int value);
int line_to_be_found;
__attribute__((noinline)) int function_to_be_found(int value)
{
    line_to_be_found = __LINE__ + 1;
    return value * 3 + 1;
}

static int find_base(struct dl_phdr_info *info, size_t size, void *context)
{
    (void)size;
    for (int i = 0; i < info->dlpi_phnum; i++)
        if (info->dlpi_phdr[i].p_type == PT_LOAD) {
            *(uint64_t *)context = info->dlpi_addr + info->dlpi_phdr[i].p_vaddr - info->dlpi_phdr[i].p_offset;
            break;
        }
    return 1; /* the first one is the program itself */
}

/* As the recorder counts: from where file offset 0 is loaded. */
static uint64_t offset_of(const void *address)
{
    uint64_t base = 0;

    dl_iterate_phdr(find_base, &base);
    return (uint64_t)(uintptr_t)address - base;
}

static uint64_t offset_in_function(void)
{
    int (*volatile function)(int) = function_to_be_found;

    ck_assert_int_eq(function(1), 4);
    return offset_of((const void *)function_to_be_found) + 4;
}

static nm_symbol_file *open_self(void)
{
    nm_symbol_file *file = NULL;
    nm_error err;

    ck_assert_int_eq(nm_symbol_file_open("/proc/self/exe", &file, &err), NM_OK);
    return file;
}

START_TEST(function_file_and_line_of_a_place)
{
    nm_symbol_file *file = open_self();
    nm_symbol_list places;

    nm_symbol_file_find(file, offset_in_function(), &places);
    ck_assert_str_eq(places.items[0].function, "function_to_be_found");
    ck_assert_ptr_nonnull(places.items[0].file);
    ck_assert_ptr_nonnull(strstr(places.items[0].file, "tests/unit/symbol/test_symbol.c"));
    ck_assert_int_eq(places.items[0].file[0], '/');
    ck_assert_int_ge((int)places.items[0].line, line_to_be_found - 3);
    ck_assert_int_le((int)places.items[0].line, line_to_be_found + 1);
    nm_symbol_list_clear(&places);
    nm_symbol_file_free(file);
}
END_TEST

static void check_place(const nm_symbol *symbol, const char *function, int line)
{
    ck_assert_str_eq(symbol->function, function);
    ck_assert_int_eq((int)symbol->line, line);
    ck_assert_ptr_nonnull(strstr(symbol->file, "tests/unit/symbol/inline_chain.c"));
}

START_TEST(inlined_functions_stand_before_the_one_they_were_inlined_into)
{
    static const char *const names[] = {"innermost", "middle", "outer", "inline_chain"};
    int lines[INLINE_CHAIN_LINES] = {0};
    const void *address = inline_chain(lines);
    nm_symbol_file *file = open_self();
    nm_symbol_list places;

    nm_symbol_file_find(file, offset_of(address) - 1, &places);
    ck_assert_uint_eq(places.count, 4);
    for (size_t i = 0; i < places.count; i++)
        check_place(&places.items[i], names[i], lines[i]);
    nm_symbol_list_clear(&places);
    nm_symbol_file_free(file);
}
END_TEST

START_TEST(a_chain_that_is_too_long_keeps_its_inner_part_and_the_function_itself)
{
    int line = 0;
    const void *address = deep_chain(&line);
    nm_symbol_file *file = open_self();
    nm_symbol_list places;
    char name[16];

    nm_symbol_file_find(file, offset_of(address) - 1, &places);
    ck_assert_uint_eq(places.count, NM_SYMBOL_DEPTH_MAX);
    for (int i = 0; i < NM_SYMBOL_DEPTH_MAX - 1; i++) {
        snprintf(name, sizeof name, "deep_%d", i);
        ck_assert_str_eq(places.items[i].function, name);
    }
    check_place(&places.items[NM_SYMBOL_DEPTH_MAX - 1], "deep_chain", line);
    nm_symbol_list_clear(&places);
    nm_symbol_file_free(file);
}
END_TEST

START_TEST(a_place_outside_of_all_functions_has_no_name)
{
    nm_symbol_file *file = open_self();
    nm_symbol_list places;

    nm_symbol_file_find(file, UINT64_C(1) << 40, &places);
    ck_assert_uint_eq(places.count, 0);
    nm_symbol_list_clear(&places);
    nm_symbol_file_free(file);
}
END_TEST

START_TEST(without_debug_information_the_symbol_table_names_the_function)
{
    uint64_t offset = offset_in_function();
    nm_symbol_file *file = NULL;
    nm_symbol_list places;
    nm_error err;

    ck_assert_int_eq(nm_symbol_file_open(STRIPPED_COPY, &file, &err), NM_OK);
    nm_symbol_file_find(file, offset, &places);
    ck_assert_str_eq(places.items[0].function, "function_to_be_found");
    ck_assert_ptr_null(places.items[0].file);
    nm_symbol_list_clear(&places);
    nm_symbol_file_free(file);
}
END_TEST

/* The name that a C++ compiler gives to app::Pool::take(int) const. */
__attribute__((noinline)) int mangled(int value) __asm__("_ZNK3app4Pool4takeEi");
int mangled(int value)
{
    return value * 5 + 2;
}

START_TEST(names_of_cplusplus_are_shown_as_written)
{
    int (*volatile function)(int) = mangled;
    nm_symbol_file *file = NULL;
    nm_symbol_list places;
    nm_error err;

    ck_assert_int_eq(function(1), 7);
    ck_assert_int_eq(nm_symbol_file_open(STRIPPED_COPY, &file, &err), NM_OK);
    nm_symbol_file_find(file, offset_of((const void *)mangled) + 4, &places);
    ck_assert_str_eq(places.items[0].function, "app::Pool::take(int) const");
    nm_symbol_list_clear(&places);
    nm_symbol_file_free(file);
}
END_TEST

START_TEST(the_build_id_is_the_one_in_the_notes)
{
    nm_symbol_file *file = open_self();
    nm_bytes build_id = nm_symbol_file_build_id(file);
    char text[129] = "", line[256], shown[129] = "";
    FILE *notes = popen("readelf -n " SELF_PATH, "r");

    for (size_t i = 0; i < build_id.len && i < 64; i++)
        snprintf(text + 2 * i, 3, "%02x", build_id.data[i]);
    ck_assert_ptr_nonnull(notes);
    while (fgets(line, sizeof line, notes) != NULL)
        sscanf(line, " Build ID: %128[0-9a-f]", shown);
    pclose(notes);
    ck_assert_str_eq(text, shown);
    nm_symbol_file_free(file);
}
END_TEST

START_TEST(what_is_no_elf_file_is_refused)
{
    nm_symbol_file *file = NULL;
    nm_error err;

    ck_assert_int_eq(nm_symbol_file_open("/proc/self/status", &file, &err), NM_ERR_FORMAT);
    ck_assert_int_eq(nm_symbol_file_open("/nowhere/at/all", &file, &err), NM_ERR_FORMAT);
    ck_assert_ptr_null(file);
}
END_TEST

static nm_bytes bytes_of(const char *text)
{
    return (nm_bytes){(const uint8_t *)text, strlen(text)};
}

START_TEST(every_question_is_answered_once)
{
    uint64_t offset = offset_in_function();
    nm_symbols *symbols;
    nm_symbols_answer answer;
    nm_error err;
    int answered = 0, named = 0, ids = 0;

    ck_assert_int_eq(nm_symbols_new(&symbols, &err), NM_OK);
    for (uint64_t i = 0; i < 300; i++) {
        nm_symbols_question question = {.ticket = i,
                                        .path = bytes_of(i % 3 == 0 ? "/nowhere" : SELF_PATH),
                                        .offset = offset,
                                        .is_module = i % 3 == 1};
        ck_assert_int_eq(nm_symbols_ask(symbols, &question, &err), NM_OK);
    }
    while (answered < 300) {
        if (!nm_symbols_poll(symbols, &answer)) {
            nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
            continue;
        }
        ck_assert_uint_eq(answer.ticket, (uint64_t)answered++);
        named += answer.places.count == 1 && strcmp(answer.places.items[0].function, "function_to_be_found") == 0;
        ids += answer.is_module && answer.build_id.len >= 8;
    }
    ck_assert_int_eq(named, 100);
    ck_assert_int_eq(ids, 100);
    ck_assert_uint_eq(nm_symbols_waiting(symbols), 0);
    nm_symbols_free(symbols);
}
END_TEST

START_TEST(a_file_replaced_since_it_was_loaded_gives_no_names)
{
    char path[] = "/tmp/npumem-symbol-XXXXXX", command[512];
    int fd = mkstemp(path);
    nm_symbols *symbols;
    nm_symbols_answer answer;
    nm_error err;

    ck_assert_int_ge(fd, 0);
    close(fd);
    ck_assert_int_eq(nm_symbols_new(&symbols, &err), NM_OK);
    nanosleep(&(struct timespec){.tv_sec = 1, .tv_nsec = 100000000}, NULL); /* change times count whole seconds here */
    snprintf(command, sizeof command, "cp %s %s", SELF_PATH, path);
    ck_assert_int_eq(system(command), 0);
    nm_symbols_question question = {.path = bytes_of(path), .inode = 1, .offset = offset_in_function()};
    ck_assert_int_eq(nm_symbols_ask(symbols, &question, &err), NM_OK);
    while (!nm_symbols_poll(symbols, &answer))
        nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
    ck_assert_uint_eq(answer.places.count, 0);
    nm_symbols_free(symbols);
    unlink(path);
}
END_TEST

TEST_SUITE(test_symbol)
{
    Suite *suite = suite_create("symbol");
    TCase *tests = tcase_create("symbol");

    tcase_set_timeout(tests, 60);
    tcase_add_test(tests, function_file_and_line_of_a_place);
    tcase_add_test(tests, inlined_functions_stand_before_the_one_they_were_inlined_into);
    tcase_add_test(tests, a_chain_that_is_too_long_keeps_its_inner_part_and_the_function_itself);
    tcase_add_test(tests, a_place_outside_of_all_functions_has_no_name);
    tcase_add_test(tests, without_debug_information_the_symbol_table_names_the_function);
    tcase_add_test(tests, names_of_cplusplus_are_shown_as_written);
    tcase_add_test(tests, the_build_id_is_the_one_in_the_notes);
    tcase_add_test(tests, what_is_no_elf_file_is_refused);
    tcase_add_test(tests, every_question_is_answered_once);
    tcase_add_test(tests, a_file_replaced_since_it_was_loaded_gives_no_names);
    suite_add_tcase(suite, tests);
    return suite;
}
