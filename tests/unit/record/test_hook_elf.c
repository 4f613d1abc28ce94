/* SPDX-License-Identifier: Apache-2.0
 *
 * What a loaded module imports, read from a module that is made by hand, and from the same with every word of its tables
 * broken in turn: nothing outside of its segments is ever read. It ends where memory ends.
 */
#include "hook/elf.h"
#include "support/suites.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define MODULE_BYTES  ((size_t)4096)
#define DYNAMIC_COUNT 12

#if defined(__x86_64__)
#define CALL    R_X86_64_JUMP_SLOT
#define GLOBAL  R_X86_64_GLOB_DAT
#define POINTER R_X86_64_64
#define OTHER   R_X86_64_COPY
#else
#define CALL    R_AARCH64_JUMP_SLOT
#define GLOBAL  R_AARCH64_GLOB_DAT
#define POINTER R_AARCH64_ABS64
#define OTHER   R_AARCH64_COPY
#endif

typedef struct module {
    ElfW(Dyn) dynamic[DYNAMIC_COUNT];
    ElfW(Sym) symbols[5];
    ElfW(Rela) relocations[4];
    ElfW(Rela) calls[2];
    uint32_t gnu_hash[4];
    char strings[64];
    uintptr_t words[6];
} module;

static ElfW(Phdr) segments[3];
static struct dl_phdr_info info;

static ElfW(Rela) relocation(const module *made, const uintptr_t *word, size_t symbol, uint64_t type, long addend)
{
    return (ElfW(Rela)){
        .r_offset = (uintptr_t)word - (uintptr_t)made, .r_info = symbol << 32 | type, .r_addend = addend};
}

static void fill_tables(module *made)
{
    static const char strings[] = "\0aclrtMalloc\0aclnnAdd\0own\0hal";

    memcpy(made->strings, strings, sizeof strings);
    made->symbols[1] = (ElfW(Sym)){.st_name = 1, .st_info = STB_WEAK << 4};
    made->symbols[2] = (ElfW(Sym)){.st_name = 13, .st_info = STB_GLOBAL << 4};
    made->symbols[3] = (ElfW(Sym)){.st_name = 26, .st_info = STB_GLOBAL << 4};
    made->symbols[4] = (ElfW(Sym)){.st_name = 22, .st_shndx = 7};
    made->gnu_hash[1] = 4;
    made->relocations[0] = relocation(made, &made->words[0], 1, GLOBAL, 0);
    made->relocations[1] = relocation(made, &made->words[1], 2, POINTER, 0);
    made->relocations[2] = relocation(made, &made->words[2], 2, POINTER, 8);
    made->relocations[3] = relocation(made, &made->words[3], 2, OTHER, 0);
    made->calls[0] = relocation(made, &made->words[4], 2, CALL, 0);
    made->calls[1] = relocation(made, &made->words[5], 3, CALL, 0);
}

#define OFFSET(field) offsetof(module, field)

/* The module at the end of a page with nothing behind it. */
static module *make_module(void)
{
    char *pages = mmap(NULL, 2 * MODULE_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    module *made = (module *)(pages + MODULE_BYTES - sizeof *made);
    const ElfW(Dyn) dynamic[DYNAMIC_COUNT] = {
        {DT_SYMTAB, {OFFSET(symbols)}},
        {DT_STRTAB, {OFFSET(strings)}},
        {DT_STRSZ, {31}},
        {DT_GNU_HASH, {OFFSET(gnu_hash)}},
        {DT_RELA, {OFFSET(relocations)}},
        {DT_RELASZ, {sizeof made->relocations}},
        {DT_JMPREL, {OFFSET(calls)}},
        {DT_PLTRELSZ, {sizeof made->calls}},
        {DT_PLTREL, {DT_RELA}},
        {DT_RPATH, {1}},
        {DT_NULL, {0}},
    };

    ck_assert_ptr_ne(pages, MAP_FAILED);
    ck_assert_int_eq(mprotect(pages + MODULE_BYTES, MODULE_BYTES, PROT_NONE), 0);
    memcpy(made->dynamic, dynamic, sizeof dynamic);
    fill_tables(made);
    segments[0] = (ElfW(Phdr)){.p_type = PT_LOAD, .p_flags = PF_R | PF_W, .p_memsz = sizeof *made};
    segments[1] = (ElfW(Phdr)){.p_type = PT_DYNAMIC, .p_memsz = sizeof made->dynamic};
    segments[2] = (ElfW(Phdr)){.p_type = PT_GNU_STACK};
    info = (struct dl_phdr_info){.dlpi_addr = (uintptr_t)made, .dlpi_name = "", .dlpi_phdr = segments, .dlpi_phnum = 3};
    return made;
}

static void drop_module(module *made)
{
    munmap((char *)made + sizeof *made - MODULE_BYTES, 2 * MODULE_BYTES);
}

START_TEST(imports_and_their_words_are_found)
{
    module *made = make_module();
    bool is_call;
    nm_elf elf;

    ck_assert(nm_elf_read(&info, false, &elf));
    ck_assert_uint_eq(elf.import_end, 4);
    ck_assert(elf.has_search_path);
    ck_assert_str_eq(nm_elf_import(&elf, 1), "aclrtMalloc");
    ck_assert_str_eq(nm_elf_import(&elf, 2), "aclnnAdd");
    ck_assert_str_eq(nm_elf_import(&elf, 3), "hal");
    ck_assert(nm_elf_is_weak(&elf, 1) && !nm_elf_is_weak(&elf, 2));
    ck_assert_uint_eq(elf.relocations.count, 4);
    ck_assert_uint_eq(elf.calls.count, 2);
    ck_assert_ptr_eq(nm_elf_slot(&elf, &elf.relocations.entries[0], &is_call), &made->words[0]);
    ck_assert(!is_call);
    ck_assert_ptr_eq(nm_elf_slot(&elf, &elf.relocations.entries[1], &is_call), &made->words[1]);
    ck_assert_ptr_null(nm_elf_slot(&elf, &elf.relocations.entries[2], &is_call)); /* not the function's own address */
    ck_assert_ptr_null(nm_elf_slot(&elf, &elf.relocations.entries[3], &is_call));
    ck_assert_ptr_eq(nm_elf_slot(&elf, &elf.calls.entries[1], &is_call), &made->words[5]);
    ck_assert(is_call);
    ck_assert_uint_eq(nm_elf_symbol(&elf.calls.entries[1]), 3);
    drop_module(made);
}
END_TEST

START_TEST(what_is_not_ended_or_not_imported_has_no_name)
{
    module *made = make_module();
    nm_elf elf;

    made->dynamic[2].d_un.d_val = 29; /* the last text loses its end */
    made->symbols[1].st_shndx = 3;
    made->symbols[2].st_name = 500;
    ck_assert(nm_elf_read(&info, false, &elf));
    for (size_t i = 1; i < elf.import_end; i++)
        ck_assert_ptr_null(nm_elf_import(&elf, i));
    drop_module(made);
}
END_TEST

START_TEST(words_that_may_not_be_written_are_left)
{
    module *made = make_module();
    bool is_call;
    nm_elf elf;

    segments[0].p_flags = PF_R;
    ck_assert(nm_elf_read(&info, false, &elf));
    ck_assert_ptr_null(nm_elf_slot(&elf, &elf.calls.entries[0], &is_call));
    segments[0].p_flags = PF_R | PF_W;
    made->calls[0].r_offset += 3;
    ck_assert_ptr_null(nm_elf_slot(&elf, &elf.calls.entries[0], &is_call));
    drop_module(made);
}
END_TEST

/* All that is ever done with a module. */
static void use_module(bool is_program)
{
    uintptr_t begin, end;
    bool is_call;
    nm_elf elf;

    if (!nm_elf_read(&info, is_program, &elf))
        return;
    for (size_t i = 1; i < elf.import_end; i++) {
        const char *name = nm_elf_import(&elf, i);

        if (name != NULL)
            ck_assert_uint_lt(strlen(name), sizeof(module));
    }
    for (size_t i = 0; i < elf.relocations.count; i++)
        nm_elf_slot(&elf, &elf.relocations.entries[i], &is_call);
    for (size_t i = 0; i < elf.calls.count; i++)
        nm_elf_slot(&elf, &elf.calls.entries[i], &is_call);
    nm_elf_sealed(&elf, &begin, &end);
}

START_TEST(nothing_behind_a_broken_module_is_read)
{
    module *made = make_module();
    const uint64_t values[] = {0,
                               1,
                               7,
                               8,
                               sizeof *made - 8,
                               sizeof *made - 1,
                               sizeof *made,
                               4096,
                               UINT32_MAX,
                               INT64_MAX,
                               UINT64_MAX,
                               UINT64_MAX - 7,
                               (uintptr_t)made + sizeof *made - 8,
                               (uintptr_t)made + sizeof *made};
    uint64_t *words = (uint64_t *)made;

    for (size_t i = 0; i < sizeof *made / sizeof *words; i++)
        for (size_t k = 0; k < sizeof values / sizeof *values; k++) {
            uint64_t kept = words[i];

            words[i] = values[k];
            use_module(false);
            use_module(true);
            words[i] = kept;
        }
    drop_module(made);
}
END_TEST

START_TEST(segments_that_lie_are_not_believed)
{
    module *made = make_module();

    segments[1].p_memsz = 1 << 20;
    use_module(false);
    segments[1].p_vaddr = UINT64_MAX - 16;
    use_module(false);
    segments[1] = (ElfW(Phdr)){.p_type = PT_DYNAMIC, .p_memsz = 8};
    use_module(false);
    segments[2] = (ElfW(Phdr)){.p_type = PT_GNU_RELRO, .p_vaddr = 4, .p_memsz = UINT64_MAX};
    use_module(true);
    info.dlpi_phnum = 0;
    use_module(true);
    drop_module(made);
}
END_TEST

TEST_SUITE(test_hook_elf)
{
    Suite *suite = suite_create("hook_elf");
    TCase *tests = tcase_create("elf");

    tcase_add_test(tests, imports_and_their_words_are_found);
    tcase_add_test(tests, what_is_not_ended_or_not_imported_has_no_name);
    tcase_add_test(tests, words_that_may_not_be_written_are_left);
    tcase_add_test(tests, nothing_behind_a_broken_module_is_read);
    tcase_add_test(tests, segments_that_lie_are_not_believed);
    suite_add_tcase(suite, tests);
    return suite;
}
