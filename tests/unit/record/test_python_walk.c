/* SPDX-License-Identifier: Apache-2.0
 *
 * The walk over Python frames on hand-made memory: right images of each version, wrong layouts, rings of frames, pointers
 * to anywhere, and images in which random words were changed. Nothing may crash, and every walk must end.
 */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fake_python.h"
#include "record/python_walk.h"
#include "support/suites.h"

#define VERSION_COUNT (NM_PYTHON_VERSION_MAX - NM_PYTHON_VERSION_MIN + 1)
#define LIMIT         40
#define DAMAGE_ROUNDS 30000

static fake_python fake;
static nm_python_place places[LIMIT];
static nm_python_text text;

static void open_version(int index)
{
    fake_open(&fake, (unsigned)(NM_PYTHON_VERSION_MIN + index));
}

static void teardown(void)
{
    fake_close(&fake);
}

/* `depth` frames: the innermost is of f0 at line 101, its caller of f1 at line 111, ... */
static uintptr_t make_chain(unsigned depth, uintptr_t *frames)
{
    uintptr_t file = fake_string(&fake, "/home/someone/program.py"), lines = fake_next_line(&fake), frame = 0;

    for (unsigned i = depth; i-- > 0;) {
        char name[16];

        snprintf(name, sizeof name, "f%u", i);
        frame = fake_frame(&fake, frame, fake_code(&fake, file, fake_string(&fake, name), 100 + 10 * i, lines), 20);
        if (frames != NULL)
            frames[i] = frame;
    }
    return fake_thread(&fake, frame);
}

static nm_python_walk collect(uintptr_t thread)
{
    return nm_python_collect(&fake.model, thread, LIMIT, places);
}

static void hold_chain(nm_python_walk walk, unsigned depth)
{
    ck_assert(walk.is_sound);
    ck_assert_uint_eq(walk.count, depth);
    for (unsigned i = 0; i < depth; i++) {
        char name[16];

        nm_python_describe(&fake.model, &places[i], &text);
        snprintf(name, sizeof name, "f%u", i);
        ck_assert_uint_eq(text.line, 101 + 10 * i);
        ck_assert_uint_eq(text.function_bytes, strlen(name));
        ck_assert_mem_eq(text.text, name, text.function_bytes);
        ck_assert_uint_eq(text.file_bytes, strlen("/home/someone/program.py"));
        ck_assert_mem_eq(text.text + text.function_bytes, "/home/someone/program.py", text.file_bytes);
    }
}

START_TEST(frames_of_each_version_are_read)
{
    uintptr_t thread;

    open_version(_i);
    thread = make_chain(12, NULL);
    hold_chain(collect(thread), 12);
    ck_assert(nm_python_has_frames(&fake.model, thread));
    ck_assert_uint_ne(nm_python_hash(&fake.model, thread, LIMIT), 0);
    thread = fake_thread(&fake, 0);
    hold_chain(collect(thread), 0);
    ck_assert(!nm_python_has_frames(&fake.model, thread));
    ck_assert_uint_eq(nm_python_hash(&fake.model, thread, LIMIT), 0);
    teardown();
}
END_TEST

START_TEST(more_frames_than_wanted_are_cut_at_the_outside)
{
    uintptr_t thread;

    open_version(_i);
    thread = make_chain(LIMIT + 20, NULL);
    hold_chain(collect(thread), LIMIT);
    teardown();
}
END_TEST

/* Everything that makes two stacks differ must make their hashes differ. */
START_TEST(the_hash_changes_with_each_part)
{
    uintptr_t frames[4], thread, code, lines;
    uint64_t before;
    static const uint8_t other_lines[] = {0x80 | 11 << 3 | 7, 2, 2, 0x80 | 10 << 3 | 7, 1, 1};

    open_version(_i);
    const nm_python_layout *layout = &fake.model.layout;
    thread = make_chain(4, frames);
    before = nm_python_hash(&fake.model, thread, LIMIT);
    ck_assert_uint_eq(nm_python_hash(&fake.model, thread, LIMIT), before);
    ck_assert_uint_ne(nm_python_hash(&fake.model, thread, 3), before);

    memcpy(&code, (char *)frames[1] + layout->frame_code, sizeof code);
    const struct {
        uintptr_t object;
        unsigned offset;
        uintptr_t value;
    } changes[] = {
        {frames[1], layout->frame_instruction,
         layout->instruction_kind == NM_PYTHON_ADDRESS ? code + layout->code_first_instruction + 40 : 40},
        {frames[1], layout->frame_previous, frames[3]},
        {code, layout->code_file, fake_string(&fake, "/home/someone/program.py")},
        {code, layout->code_function, fake_string(&fake, "f1")},
        {code, layout->code_lines, fake_bytes(&fake, other_lines, sizeof other_lines)},
    };
    for (size_t i = 0; i < sizeof changes / sizeof *changes; i++) {
        uintptr_t old;

        memcpy(&old, (char *)changes[i].object + changes[i].offset, sizeof old);
        fake_set_word(changes[i].object, changes[i].offset, changes[i].value);
        ck_assert_msg(nm_python_hash(&fake.model, thread, LIMIT) != before, "change %zu is not seen", i);
        fake_set_word(changes[i].object, changes[i].offset, old);
    }
    ck_assert_uint_eq(nm_python_hash(&fake.model, thread, LIMIT), before);

    /* In the place of one code object another one, whose names lie where those of the first lay. */
    memcpy(&lines, (char *)code + layout->code_file, sizeof lines);
    memcpy((char *)lines + layout->string_narrow + strlen("/home/someone/prog"), "RAM.py", 6);
    ck_assert_uint_ne(nm_python_hash(&fake.model, thread, LIMIT), before);
    teardown();
}
END_TEST

START_TEST(code_made_at_run_time_is_known_by_its_whole_table)
{
    uint8_t data[64];
    uintptr_t table, code, thread;
    uint64_t before;

    open_version(_i);
    memset(data, 0x80, sizeof data);
    table = fake_bytes(&fake, data, sizeof data);
    code = fake_code(&fake, fake_string(&fake, "<string>"), fake_string(&fake, "<module>"), 1, table);
    thread = fake_thread(&fake, fake_frame(&fake, 0, code, 8));
    before = nm_python_hash(&fake.model, thread, LIMIT);
    for (size_t i = 0; i < sizeof data; i++) {
        ((uint8_t *)table)[NM_PYTHON_BYTES_DATA + i] ^= 1;
        ck_assert_msg(nm_python_hash(&fake.model, thread, LIMIT) != before, "byte %zu", i);
        ((uint8_t *)table)[NM_PYTHON_BYTES_DATA + i] ^= 1;
    }
    teardown();
}
END_TEST

/* ---- What is no image ---------------------------------------------------------------------------------------------- */

START_TEST(a_ring_of_frames_ends)
{
    uintptr_t frames[5], thread;

    open_version(_i);
    thread = make_chain(5, frames);
    for (unsigned to = 0; to < 5; to++) {
        fake_set_word(frames[4], fake.model.layout.frame_previous, frames[to]);
        ck_assert_uint_eq(collect(thread).count, LIMIT);
        ck_assert_uint_ne(nm_python_hash(&fake.model, thread, LIMIT), 0);
    }
    /* A ring of frames without code, where there are such frames. */
    if (fake.model.layout.frame_owner != 0) {
        uintptr_t none = fake_string(&fake, "None"), first = fake_frame(&fake, 0, none, 0),
                  second = fake_frame(&fake, first, none, 0);
        fake_set_word(first, fake.model.layout.frame_previous, second);
        nm_python_walk walk = collect(fake_thread(&fake, first));
        ck_assert_uint_eq(walk.count, 0);
        ck_assert(!walk.is_sound);
        ck_assert_uint_eq(nm_python_hash(&fake.model, fake_thread(&fake, first), LIMIT), 0);
    }
    teardown();
}
END_TEST

START_TEST(pointers_to_nowhere_end_the_walk)
{
    uintptr_t frames[4], thread, code;

    open_version(_i);
    thread = make_chain(4, frames);
    const nm_python_layout *layout = &fake.model.layout;
    memcpy(&code, (char *)frames[1] + layout->frame_code, sizeof code);
    const struct {
        uintptr_t object;
        unsigned offset, kept;
    } places_to_break[] = {
        {thread, layout->thread_frame, 0}, {frames[0], layout->frame_previous, 1}, {frames[1], layout->frame_code, 1},
        {code, layout->code_file, 1},      {code, layout->code_function, 1},       {code, layout->code_lines, 1},
        {code, NM_PYTHON_TYPE, 1},
    };
    uintptr_t nowhere[] = {8,
                           0x1234567,
                           0xdeadbeef00,
                           (uintptr_t)fake.memory + FAKE_BYTES,
                           (uintptr_t)fake.memory + FAKE_BYTES - 8,
                           UINTPTR_MAX - 7,
                           UINTPTR_MAX,
                           0x8000000000000000u,
                           frames[2] + 1,
                           frames[2] + 4};

    for (size_t i = 0; i < sizeof places_to_break / sizeof *places_to_break; i++) {
        uintptr_t old, *word = (uintptr_t *)(places_to_break[i].object + places_to_break[i].offset);

        memcpy(&old, word, sizeof old);
        for (size_t j = 0; j < sizeof nowhere / sizeof *nowhere; j++) {
            *word = nowhere[j];
            nm_python_walk walk = collect(thread);
            ck_assert_msg(walk.count <= places_to_break[i].kept + 3, "place %zu, pointer %zu", i, j);
            ck_assert_msg(!walk.is_sound || places_to_break[i].offset == NM_PYTHON_TYPE ||
                              places_to_break[i].offset == layout->frame_code,
                          "place %zu, pointer %zu", i, j);
        }
        *word = old;
    }
    hold_chain(collect(thread), 4);
    for (size_t j = 0; j < sizeof nowhere / sizeof *nowhere; j++)
        ck_assert(!collect(nowhere[j]).is_sound);
    ck_assert(!collect(0).is_sound);
    teardown();
}
END_TEST

START_TEST(the_layout_of_another_version_reads_no_garbage)
{
    open_version(_i);
    uintptr_t thread = make_chain(6, NULL);
    nm_python_layout right = fake.model.layout;

    for (unsigned version = NM_PYTHON_VERSION_MIN; version <= NM_PYTHON_VERSION_MAX; version++) {
        nm_python_layout_of(version, NULL, &fake.model.layout);
        nm_python_walk walk = collect(thread);
        for (unsigned i = 0; i < walk.count; i++)
            nm_python_describe(&fake.model, &places[i], &text);
    }
    fake.model.layout = right;
    teardown();
}
END_TEST

static uint64_t state = 88172645463325252u;

static uint64_t next_random(void)
{
    state ^= state << 13;
    state ^= state >> 7;
    return state ^= state << 17;
}

/* What a torn or foreign memory might hold: small numbers, addresses inside, behind and far away, other objects. */
static uintptr_t random_word(void)
{
    switch (next_random() % 6) {
    case 0:
        return next_random() % 4096;
    case 1:
        return (uintptr_t)fake.memory + next_random() % (FAKE_BYTES + 8192);
    case 2:
        return ((uintptr_t)fake.memory + next_random() % fake.used_bytes) & ~(uintptr_t)15;
    case 3:
        return next_random();
    case 4:
        return fake.model.code_type;
    default:
        return 0;
    }
}

START_TEST(damaged_images_crash_nothing)
{
    uint8_t *whole = malloc(FAKE_BYTES);
    uintptr_t thread;

    open_version(_i);
    thread = make_chain(10, NULL);
    memcpy(whole, fake.memory, fake.used_bytes);
    for (unsigned round = 0; round < DAMAGE_ROUNDS; round++) {
        unsigned changes = 1 + (unsigned)(next_random() % 8);
        for (unsigned i = 0; i < changes; i++) {
            size_t at = next_random() % (fake.used_bytes / 8) * 8;
            fake_set_word((uintptr_t)fake.memory + at, 0, random_word());
        }
        nm_python_walk walk = collect(thread);
        ck_assert_uint_le(walk.count, LIMIT);
        for (unsigned i = 0; i < walk.count; i++) {
            nm_python_describe(&fake.model, &places[i], &text);
            ck_assert_uint_le(text.function_bytes, NM_PYTHON_FUNCTION_BYTES_MAX);
            ck_assert_uint_le(text.file_bytes, NM_PYTHON_FILE_BYTES_MAX);
        }
        memcpy(fake.memory, whole, fake.used_bytes);
    }
    hold_chain(collect(thread), 10);
    free(whole);
    teardown();
}
END_TEST

/* ---- Lines and names ----------------------------------------------------------------------------------------------- */

START_TEST(random_line_tables_are_read_to_their_end)
{
    for (unsigned round = 0; round < 200000; round++) {
        size_t bytes = next_random() % 40;
        uint8_t *table = malloc(bytes + (bytes == 0)); /* exactly: the sanitizer sees a read behind it */

        for (size_t i = 0; i < bytes; i++)
            table[i] = (uint8_t)next_random();
        nm_python_line((nm_python_lines)(1 + round % 3), table, bytes, 7, (int64_t)(next_random() % 300) - 3);
        free(table);
    }
}
END_TEST

static void hold_name(uintptr_t function, const char *expected)
{
    uintptr_t code = fake_code(&fake, fake_string(&fake, "a.py"), function, 1, fake_next_line(&fake));
    nm_python_walk walk = collect(fake_thread(&fake, fake_frame(&fake, 0, code, 0)));

    ck_assert_uint_eq(walk.count, 1);
    nm_python_describe(&fake.model, &places[0], &text);
    ck_assert_uint_eq(text.function_bytes, strlen(expected));
    ck_assert_mem_eq(text.text, expected, text.function_bytes);
    ck_assert_mem_eq(text.text + text.function_bytes, "a.py", 4);
}

START_TEST(names_of_all_widths_become_utf_8)
{
    static const uint32_t latin[] = {'g', 'r', 0xf6, 0xdf, 'e'}, wide[] = {0x5927, 0x5c0f}, wider[] = {'x', 0x1f40d};
    char name[1000], cut[NM_PYTHON_FUNCTION_BYTES_MAX + 1];

    open_version(_i);
    hold_name(fake_string(&fake, "plain"), "plain");
    hold_name(fake_wide(&fake, 1, latin, 5), "gr\xc3\xb6\xc3\x9f"
                                             "e");
    hold_name(fake_wide(&fake, 2, wide, 2), "\xe5\xa4\xa7\xe5\xb0\x8f");
    hold_name(fake_wide(&fake, 4, wider, 2), "x\xf0\x9f\x90\x8d");
    memset(name, 'a', sizeof name);
    memcpy(name + sizeof name - 6, "tail!", 6);
    snprintf(cut, sizeof cut, "...%s", name + sizeof name - 1 - (NM_PYTHON_FUNCTION_BYTES_MAX - 3));
    hold_name(fake_string(&fake, name), cut);
    teardown();
}
END_TEST

TEST_SUITE(test_python_walk)
{
    Suite *suite = suite_create("python_walk");
    TCase *tcase = tcase_create("all");

    tcase_set_timeout(tcase, 120);
    tcase_add_loop_test(tcase, frames_of_each_version_are_read, 0, VERSION_COUNT);
    tcase_add_loop_test(tcase, more_frames_than_wanted_are_cut_at_the_outside, 0, VERSION_COUNT);
    tcase_add_loop_test(tcase, the_hash_changes_with_each_part, 0, VERSION_COUNT);
    tcase_add_loop_test(tcase, code_made_at_run_time_is_known_by_its_whole_table, 0, VERSION_COUNT);
    tcase_add_loop_test(tcase, a_ring_of_frames_ends, 0, VERSION_COUNT);
    tcase_add_loop_test(tcase, pointers_to_nowhere_end_the_walk, 0, VERSION_COUNT);
    tcase_add_loop_test(tcase, the_layout_of_another_version_reads_no_garbage, 0, VERSION_COUNT);
    tcase_add_loop_test(tcase, damaged_images_crash_nothing, 0, VERSION_COUNT);
    tcase_add_test(tcase, random_line_tables_are_read_to_their_end);
    tcase_add_loop_test(tcase, names_of_all_widths_become_utf_8, 0, VERSION_COUNT);
    suite_add_tcase(suite, tcase);
    return suite;
}
