/* SPDX-License-Identifier: Apache-2.0
 *
 * Rules out of tables that are written here by hand, byte by byte, and what is made of damaged ones: no rule or any rule, but never a
 * read outside of what is mapped. Tables lie between pages that cannot be read.
 */
#include <check.h>
#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "record/unwind_rule.h"
#include "support/suites.h"

#define PAGE        4096u
#define CODE_OFFSET 2048 /* of the function, which is never run, in the image */

/* ---- Memory with an end ------------------------------------------------------------------------------------------- */

typedef struct fenced {
    uint8_t *begin;
    size_t bytes, mapped_bytes;
} fenced;

/* So that its last byte lies before a page that cannot be read; and a page before it cannot be, too. */
static fenced fence(size_t bytes)
{
    size_t pages = (bytes + PAGE - 1) / PAGE;
    uint8_t *memory = mmap(NULL, (pages + 2) * PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    ck_assert_ptr_ne(memory, MAP_FAILED);
    ck_assert_int_eq(mprotect(memory + PAGE, pages * PAGE, PROT_READ | PROT_WRITE), 0);
    return (fenced){memory + PAGE + pages * PAGE - bytes, bytes, (pages + 2) * PAGE};
}

static void unfence(fenced *memory)
{
    size_t pages = memory->mapped_bytes / PAGE - 2;

    munmap(memory->begin + memory->bytes - (pages + 1) * PAGE, memory->mapped_bytes);
}

/* ---- A table by hand ------------------------------------------------------------------------------------------------ */

typedef struct table {
    uint8_t bytes[PAGE];
    size_t used;
} table;

static void put(table *t, const void *data, size_t bytes)
{
    memcpy(t->bytes + t->used, data, bytes);
    t->used += bytes;
}

static void put_word(table *t, uint32_t word)
{
    put(t, &word, sizeof word);
}

#if defined(__x86_64__)
/* version 1, "zR", code 1, data -8, return address 16, 1 byte: pcrel sdata4. CFA = rsp + 8, return address at CFA - 8. */
static const uint8_t common[] = {1, 'z', 'R', 0, 1, 0x78, 16, 1, 0x1b, 0x0c, 7, 8, 0x90, 1, 0, 0};
static const uint8_t program[] = {
    0x41, 0x0e, 16,   0x86, 2,                                     /* 1: push rbp */
    0x43, 0x0d, 6,                                                 /* 4: mov rbp, rsp */
    0x46, 0x0a, 0x0c, 7,    8,    0xc6,                            /* 10: an epilogue */
    0x41, 0x0b,                                                    /* 11: back again */
    0x41, 0x0f, 3,    0x76, 0x70, 0x06, 0x10, 6,    2,    0x76, 0, /* 12: aligned anew: CFA at rbp - 16, rbp at rbp */
    0x41, 0x07, 16,                                                /* 13: no caller */
    0x41, 0x08, 16,   0x90, 1,    0x0c, 10,   0,                   /* 14: CFA in r10 */
    0x41, 0x0f, 11,   0x77, 8,    0x80, 0,    0x3f, 0x1a, 0x3b, 0x2a, 0x33, 0x24, 0x22, /* 15: a stub of the linker's */
    0x41, 0x3f,                                                                         /* 16: nobody knows */
};
#else
/* version 1, "zRB", code 4, data -8, return address 30. CFA = sp. */
static const uint8_t common[] = {1, 'z', 'R', 'B', 0, 4, 0x78, 30, 1, 0x1b, 0x0c, 31, 0, 0, 0, 0};
static const uint8_t program[] = {
    0x41, 0x2d,                                  /* 4: paciasp */
    0x41, 0x0e, 32,   0x9d, 4, 0x9e, 3,          /* 8: stp x29, x30, [sp, -32]! */
    0x43, 0x0d, 29,                              /* 20: by x29 */
    0x41, 0x0a, 0x0c, 31,   0, 0xdd, 0xde,       /* 24: an epilogue */
    0x41, 0x0b,                                  /* 28: back again */
    0x41, 0x07, 30,                              /* 32: no caller */
    0x41, 0x08, 30,   0x9e, 3, 0xdd, 0x0c, 9, 0, /* 36: CFA in x9, x30 saved, x29 not */
    0x41, 0x3f,                                  /* 40: nobody knows */
};
#endif

/* .eh_frame_hdr of one function, then .eh_frame, and a function of 100 bytes at CODE_OFFSET. `index` is the table's place in it. */
static size_t make_table(table *t, nm_unwind_image *image)
{
    size_t frames = 24, function;

    memset(t, 0, sizeof *t);
    put(t, (const uint8_t[]){1, 0x1b, 0x03, 0x3b}, 4);
    put_word(t, (uint32_t)(frames - 4));
    put_word(t, 1);
    put_word(t, CODE_OFFSET);
    put_word(t, 0); /* the function's description, below */
    put_word(t, 0);
    put_word(t, sizeof common + 4);
    put_word(t, 0);
    put(t, common, sizeof common);
    function = t->used;
    put_word(t, sizeof program + 13);
    put_word(t, (uint32_t)(t->used - frames));
    put_word(t, (uint32_t)(CODE_OFFSET - t->used));
    put_word(t, 100);
    put(t, "", 1);
    put(t, program, sizeof program);
    memcpy(t->bytes + 16, &function, 4);
    image->index_bytes = 20;
    return t->used;
}

/* `bytes` of it, in fenced memory. */
static fenced place_table(const table *t, size_t bytes, nm_unwind_image *image)
{
    fenced memory = fence(bytes);

    memcpy(memory.begin, t->bytes, bytes);
    image->begin = image->index = (uintptr_t)memory.begin;
    image->end = image->begin + bytes;
    return memory;
}

static void check_rule(const nm_unwind_image *image, unsigned offset, nm_unwind_kind kind, unsigned number, int64_t cfa,
                       bool has_fp, int64_t fp, bool has_ra, int64_t ra)
{
    nm_unwind_rule rule = nm_unwind_describe(image, image->begin + CODE_OFFSET + offset);

    ck_assert_int_eq(nm_unwind_kind_of(rule), kind);
    ck_assert_uint_eq(nm_unwind_register_of(rule), number);
    ck_assert_int_eq(nm_unwind_cfa_offset(rule), cfa);
    ck_assert_int_eq((rule & NM_UNWIND_HAS_FP) != 0, has_fp);
    ck_assert_int_eq((rule & NM_UNWIND_HAS_RA) != 0, has_ra);
    if (has_fp)
        ck_assert_int_eq(nm_unwind_fp_offset(rule), fp);
    if (has_ra && ra != -8)
        ck_assert_int_eq(nm_unwind_ra_offset(rule), ra);
}

static void check_none(const nm_unwind_image *image, long offset)
{
    ck_assert_uint_eq(nm_unwind_describe(image, image->begin + CODE_OFFSET + (uintptr_t)offset), NM_UNWIND_NONE);
}

START_TEST(each_place_in_a_function_has_its_rule)
{
    table t;
    nm_unwind_image image;
    size_t bytes = make_table(&t, &image);
    fenced memory = place_table(&t, bytes, &image);

#if defined(__x86_64__)
    check_rule(&image, 0, NM_UNWIND_FRAME, 7, 8, false, 0, true, -8);
    check_rule(&image, 1, NM_UNWIND_FRAME, 7, 16, true, -16, true, -8);
    check_rule(&image, 4, NM_UNWIND_FRAME, 6, 16, true, -16, true, -8);
    check_rule(&image, 9, NM_UNWIND_FRAME, 6, 16, true, -16, true, -8);
    check_rule(&image, 10, NM_UNWIND_FRAME, 7, 8, false, 0, true, -8);
    check_rule(&image, 11, NM_UNWIND_FRAME, 6, 16, true, -16, true, -8);
    check_rule(&image, 12, NM_UNWIND_STORED, 6, -16, true, 0, true, -8);
    ck_assert(nm_unwind_describe(&image, image.begin + CODE_OFFSET + 12) & NM_UNWIND_FP_BY_FP);
    check_rule(&image, 13, NM_UNWIND_END, 0, 0, false, 0, false, 0);
    check_rule(&image, 14, NM_UNWIND_FRAME, 10, 0, true, 0, true, -8);
    check_rule(&image, 15, NM_UNWIND_PLT, 7, 11 * 8, true, 0, true, -8);
    check_none(&image, 16);
#else
    check_rule(&image, 0, NM_UNWIND_FRAME, 31, 0, false, 0, false, 0);
    check_rule(&image, 4, NM_UNWIND_FRAME, 31, 0, false, 0, false, 0);
    check_rule(&image, 8, NM_UNWIND_FRAME, 31, 32, true, -32, true, -24);
    check_rule(&image, 20, NM_UNWIND_FRAME, 29, 32, true, -32, true, -24);
    check_rule(&image, 24, NM_UNWIND_FRAME, 31, 0, false, 0, false, 0);
    check_rule(&image, 28, NM_UNWIND_FRAME, 29, 32, true, -32, true, -24);
    check_rule(&image, 32, NM_UNWIND_END, 0, 0, false, 0, false, 0);
    check_rule(&image, 36, NM_UNWIND_FRAME, 9, 0, false, 0, true, -24);
    check_none(&image, 40);
#endif
    check_none(&image, -1);
    check_none(&image, 100);
    check_none(&image, -CODE_OFFSET);
    unfence(&memory);
}
END_TEST

/* ---- Damage ---------------------------------------------------------------------------------------------------------- */

static void describe_all(const nm_unwind_image *image)
{
    for (uintptr_t offset = 0; offset < 110; offset += 3)
        nm_unwind_describe(image, image->begin + CODE_OFFSET - 5 + offset);
    for (uintptr_t i = 0; i < 8; i++)
        nm_unwind_describe(image, i * (UINTPTR_MAX / 7));
}

START_TEST(a_table_that_is_cut_at_any_byte_is_read_no_further)
{
    table t;
    nm_unwind_image image;
    size_t bytes = make_table(&t, &image);

    for (size_t kept = 1; kept < bytes; kept++) {
        fenced memory = place_table(&t, kept, &image);

        image.index_bytes = kept < 20 ? kept : 20;
        describe_all(&image);
        image.index_bytes = 20; /* or so its program header says */
        describe_all(&image);
        image.index_bytes = UINTPTR_MAX;
        describe_all(&image);
        unfence(&memory);
    }
}
END_TEST

START_TEST(any_byte_that_is_another_does_no_harm)
{
    static const uint8_t values[] = {0x00, 0x01, 0x7f, 0x80, 0xff, 0x0f, 0x0a, 0x50, 0x9b};
    table t;
    nm_unwind_image image;
    size_t bytes = make_table(&t, &image);
    fenced memory = place_table(&t, bytes, &image);

    for (size_t at = 0; at < bytes; at++) {
        uint8_t before = memory.begin[at];

        for (size_t i = 0; i < sizeof values; i++) {
            memory.begin[at] = values[i];
            describe_all(&image);
            if (at + 4 <= bytes) { /* a length, or an offset */
                uint8_t word[4];

                memcpy(word, memory.begin + at, 4);
                memset(memory.begin + at, values[i], 4);
                describe_all(&image);
                memcpy(memory.begin + at, word, 4);
            }
        }
        memory.begin[at] = before;
    }
    unfence(&memory);
}
END_TEST

/* ---- Real tables ------------------------------------------------------------------------------------------------------ */

typedef struct real_image {
    nm_unwind_image image;
    uintptr_t base, code, code_end;
} real_image;

static int take_first(struct dl_phdr_info *info, size_t bytes, void *out)
{
    real_image *real = out;

    (void)bytes;
    *real = (real_image){.image.begin = UINTPTR_MAX, .base = info->dlpi_addr};
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *part = &info->dlpi_phdr[i];
        uintptr_t begin = info->dlpi_addr + part->p_vaddr, end = begin + part->p_memsz;

        if (part->p_type == PT_LOAD && (part->p_flags & PF_W) == 0) {
            real->image.begin = begin < real->image.begin ? begin : real->image.begin;
            real->image.end = end > real->image.end ? end : real->image.end;
        }
        if (part->p_type == PT_LOAD && (part->p_flags & PF_X)) {
            real->code = begin;
            real->code_end = end;
        }
        if (part->p_type == PT_GNU_EH_FRAME) {
            real->image.index = begin;
            real->image.index_bytes = part->p_memsz;
        }
    }
    return 1;
}

/* By the kernel: sanitizers put fences between what the program knows of. */
static void copy_image(uint8_t *to, uintptr_t from, size_t bytes)
{
    int fd = open("/proc/self/mem", O_RDONLY | O_CLOEXEC);

    ck_assert_int_ge(fd, 0);
    for (size_t done = 0; done < bytes;) {
        ssize_t got = pread(fd, to + done, bytes - done, (off_t)(from + done));

        ck_assert_int_gt(got, 0);
        done += (size_t)got;
    }
    close(fd);
}

/* This program's own tables, copied, with the same distances. */
START_TEST(damage_of_real_tables_does_no_harm)
{
    real_image real;
    unsigned state = 1;
    size_t rule_count = 0;

    dl_iterate_phdr(take_first, &real);
    size_t bytes = real.image.end - real.image.begin, index = real.image.index - real.image.begin;
    fenced memory = fence(bytes);
    nm_unwind_image copy = {(uintptr_t)memory.begin, (uintptr_t)memory.begin + bytes, (uintptr_t)memory.begin + index,
                            real.image.index_bytes};

    copy_image(memory.begin, real.image.begin, bytes);
    for (unsigned round = 0; round < 20000; round++) {
        uintptr_t pc = copy.begin + (real.code - real.image.begin);

        state = state * 1664525u + 1013904223u;
        pc += (state >> 4) % (real.code_end - real.code);
        if (round > 2000) {
            state = state * 1664525u + 1013904223u;
            memory.begin[index + (state >> 4) % (bytes - index)] ^= (uint8_t)(1u << (state & 7));
        }
        rule_count += nm_unwind_describe(&copy, pc) != NM_UNWIND_NONE && round <= 2000;
    }
    ck_assert_uint_gt(rule_count, 1000); /* before that, most places have a rule; there is data beside the code, too */
    unfence(&memory);
}
END_TEST

START_TEST(the_index_is_found_by_the_header_alone)
{
    real_image real;
    uintptr_t index_bytes = 0, found;
    uint8_t head[1024];
    unsigned state = 7;

    dl_iterate_phdr(take_first, &real);
    memcpy(head, (const void *)real.image.begin, sizeof head);
    found = nm_unwind_find_index(&real.image, head, sizeof head, real.image.begin, &index_bytes);
    ck_assert_uint_eq(found, real.image.index);
    ck_assert_uint_eq(index_bytes, real.image.index_bytes);
    for (size_t kept = 0; kept < 64; kept++)
        ck_assert_uint_eq(nm_unwind_find_index(&real.image, head, kept, real.image.begin, &index_bytes), 0);
    for (unsigned round = 0; round < 20000; round++) { /* wherever it points then, that is inside */
        state = state * 1664525u + 1013904223u;
        memcpy(head, (const void *)real.image.begin, sizeof head);
        head[(state >> 12) % sizeof head] ^= (uint8_t)(1u << (state >> 8 & 7));
        found = nm_unwind_find_index(&real.image, head, sizeof head, real.image.begin, &index_bytes);
        ck_assert(found == 0 ||
                  (found >= real.image.begin && found < real.image.end && index_bytes <= real.image.end - found));
    }
}
END_TEST

TEST_SUITE(test_unwind_rule)
{
    Suite *suite = suite_create("unwind_rule");
    TCase *tests = tcase_create("unwind_rule");

    tcase_set_timeout(tests, 60);
    tcase_add_test(tests, each_place_in_a_function_has_its_rule);
    tcase_add_test(tests, a_table_that_is_cut_at_any_byte_is_read_no_further);
    tcase_add_test(tests, any_byte_that_is_another_does_no_harm);
    tcase_add_test(tests, damage_of_real_tables_does_no_harm);
    tcase_add_test(tests, the_index_is_found_by_the_header_alone);
    suite_add_tcase(suite, tests);
    return suite;
}
