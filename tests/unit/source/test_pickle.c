/* SPDX-License-Identifier: Apache-2.0
 *
 * The pickle machine on pickles written out byte by byte. A handler that logs all it is told stands in for the snapshot
 * reader: containers are numbered by how deep they are, from 3; "b" begins, "p" is a pair, "a" an item, "e" ends.
 */
#include "source/pickle.h"

#include <check.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "support/pickle_builder.h"
#include "support/suites.h"

typedef struct log_state {
    nm_strings strings;
    char text[8192];
    size_t len;
    int64_t ended;    /* containers so far: the value of the next one */
    uint32_t taken;   /* a bit for each role that is TAKEN */
    uint32_t misfits; /* a bit for each role whose lists hold no container */
    bool is_quiet;
    uint64_t item_count;
} log_state;

typedef struct outcome {
    nm_status status;
    nm_error err;
    uint64_t steps;
} outcome;

static log_state state;

static void note(const char *format, ...) __attribute__((format(printf, 1, 2)));

static void note(const char *format, ...)
{
    va_list arguments;

    if (state.is_quiet || state.len + 64 > sizeof state.text)
        return;
    va_start(arguments, format);
    state.len += (size_t)vsnprintf(state.text + state.len, sizeof state.text - state.len, format, arguments);
    va_end(arguments);
}

static void note_cell(const nm_pickle_cell *cell)
{
    switch ((nm_pickle_tag)cell->tag) {
    case NM_PICKLE_IGNORED:
        note("? ");
        break;
    case NM_PICKLE_NONE:
        note("none ");
        break;
    case NM_PICKLE_BOOL:
        note("%s ", cell->integer ? "true" : "false");
        break;
    case NM_PICKLE_INT:
        note("%" PRId64 " ", cell->integer);
        break;
    case NM_PICKLE_UNSIGNED:
        note("%" PRIu64 "u ", (uint64_t)cell->integer);
        break;
    case NM_PICKLE_FLOAT:
        note("%gr ", cell->real);
        break;
    case NM_PICKLE_TEXT:
        note("'%.30s' ", (const char *)nm_strings_get(&state.strings, (uint32_t)cell->integer).data);
        break;
    case NM_PICKLE_PAIR:
        note("(%d,%d) ", cell->pair[0], cell->pair[1]);
        break;
    case NM_PICKLE_VALUE:
        note("v%u.%" PRId64 " ", cell->kind, cell->integer);
        break;
    case NM_PICKLE_TAKEN:
        note("taken ");
        break;
    case NM_PICKLE_OPEN:
        ck_abort_msg("a container under way was shown");
    }
}

static uint32_t log_begin(void *context, uint32_t parent, uint32_t key, bool is_dict)
{
    (void)context;
    if (key == 0 && parent != NM_PICKLE_OUTSIDE && (state.misfits >> parent & 1) != 0)
        return NM_PICKLE_MISFIT;
    if (key != 0 && strcmp((const char *)nm_strings_get(&state.strings, key).data, "skip") == 0)
        return NM_PICKLE_SKIP;
    if (parent > 20)
        return NM_PICKLE_SKIP;
    note("b%u%c ", parent + 1, is_dict ? 'd' : 'l');
    return parent + 1;
}

static nm_status log_pair(void *context, uint32_t role, uint32_t key, const nm_pickle_cell *value, nm_error *err)
{
    (void)context;
    (void)err;
    note("p%u.%s=", role, key == 0 ? "?" : (const char *)nm_strings_get(&state.strings, key).data);
    note_cell(value);
    return NM_OK;
}

static nm_status log_item(void *context, uint32_t role, const nm_pickle_cell *value, nm_error *err)
{
    (void)context;
    (void)err;
    state.item_count++;
    note("a%u=", role);
    note_cell(value);
    return NM_OK;
}

static nm_status log_end(void *context, uint32_t role, nm_pickle_cell *value, nm_error *err)
{
    (void)context;
    (void)err;
    note("e%u ", role);
    *value = (nm_pickle_cell){.tag = NM_PICKLE_VALUE, .kind = role & 7, .integer = state.ended++};
    if ((state.taken >> role & 1) != 0)
        value->tag = NM_PICKLE_TAKEN;
    return NM_OK;
}

static int file_of(const void *bytes, size_t len)
{
    int fd = memfd_create("pickle", MFD_CLOEXEC);

    ck_assert_int_ge(fd, 0);
    ck_assert_int_eq(write(fd, bytes, len), (ssize_t)len);
    return fd;
}

/* Reads the bytes to the end or the first failure. The first string, and so the only known key, is "known". */
static outcome read_bytes(const void *bytes, size_t len)
{
    nm_pickle_handler handler = {NULL, log_begin, log_pair, log_item, log_end};
    outcome result = {.err = {.offset = NM_NO_OFFSET}};
    nm_pickle *pickle;
    uint32_t number;
    int fd = file_of(bytes, len);

    nm_strings_free(&state.strings);
    state.len = 0;
    state.text[0] = 0;
    state.ended = 0;
    state.item_count = 0;
    ck_assert_int_eq(nm_strings_intern(&state.strings, (nm_bytes){(const uint8_t *)"known", 5}, &number, NULL), NM_OK);
    ck_assert_int_eq(nm_pickle_new(fd, len, &handler, &state.strings, 1, &pickle, &result.err), NM_OK);
    while ((result.status = nm_pickle_step(pickle, &result.err)) == NM_OK)
        result.steps++;
    nm_pickle_free(pickle);
    close(fd);
    return result;
}

static outcome read_built(pickle_builder *builder)
{
    outcome result;

    pickle_stop(builder);
    result = read_bytes(builder->bytes.data, builder->bytes.len);
    pickle_free(builder);
    return result;
}

#define READ(literal) read_bytes(literal, sizeof(literal) - 1)

static void expect_log(outcome result, const char *log)
{
    ck_assert_msg(result.status == NM_END, "byte %" PRIu64 ": %s", result.err.offset, result.err.text);
    ck_assert_str_eq(state.text, log);
}

static void expect_failure(outcome result, nm_status status, uint64_t offset, const char *text)
{
    ck_assert_int_eq(result.status, status);
    ck_assert_msg(strstr(result.err.text, text) != NULL, "'%s' does not hold '%s'", result.err.text, text);
    ck_assert_uint_eq(result.err.offset, offset);
}

static void reset(void)
{
    state.taken = 0;
    state.misfits = 0;
    state.is_quiet = false;
}

/* ---- What is read ---- */

START_TEST(every_form_of_a_number_is_read)
{
    expect_log(READ("\x80\x02]("
                    "K\xff"
                    "M\xff\xff"
                    "J\xfe\xff\xff\xff"
                    "\x8a\x01\xff"
                    "\x8a\x00"
                    "\x8a\x05\x00\x00\x00\x00\x01"
                    "\x8a\x08\x00\x00\x00\x00\x00\x00\x00\x80"
                    "\x8a\x09\x00\x00\x00\x00\x00\x00\x00\x80\x00"
                    "\x8b\x02\x00\x00\x00\x00\x01"
                    "G\x3f\xf8\x00\x00\x00\x00\x00\x00"
                    "\x88\x89N"
                    "\x8a\x0a\x00\x00\x00\x00\x00\x00\x00\x00\x00\x01"
                    "\x8a\x09\x00\x00\x00\x00\x00\x00\x00\x00\x01"
                    "e."),
               "b3l a3=255 a3=65535 a3=-2 a3=-1 a3=0 a3=4294967296 a3=-9223372036854775808 "
               "a3=9223372036854775808u a3=256 a3=1.5r a3=true a3=false a3=none a3=? a3=? e3 ");
}
END_TEST

START_TEST(every_form_of_a_text_is_read)
{
    expect_log(READ("\x80\x04]("
                    "\x8c\x02"
                    "ab"
                    "X\x01\x00\x00\x00"
                    "c"
                    "\x8d\x03\x00\x00\x00\x00\x00\x00\x00"
                    "def"
                    "\x8c\x00"
                    "C\x02xy"
                    "B\x01\x00\x00\x00z"
                    "e."),
               "b3l a3='ab' a3='c' a3='def' a3='' a3=? a3=? e3 ");
}
END_TEST

/* 4096 bytes stay; of more, 4093 and the mark. The rest is passed over, more than the buffer holds too. */
START_TEST(a_text_that_is_too_long_is_cut_and_marked)
{
    static const size_t lengths[] = {4096, 4097, 300000};
    nm_buffer pickle = {0};

    ck_assert_int_eq(nm_buffer_append(&pickle, "\x80\x04](", 4, NULL), NM_OK);
    for (size_t i = 0; i < 3; i++) {
        uint8_t head[5] = {'X'};

        nm_put_u32(head + 1, (uint32_t)lengths[i]);
        ck_assert_int_eq(nm_buffer_append(&pickle, head, sizeof head, NULL), NM_OK);
        ck_assert_int_eq(nm_buffer_reserve(&pickle, lengths[i], NULL), NM_OK);
        memset(pickle.data + pickle.len, 'p' + (int)i, lengths[i]);
        pickle.len += lengths[i];
    }
    ck_assert_int_eq(nm_buffer_append(&pickle, "e.", 2, NULL), NM_OK);
    ck_assert_int_eq(read_bytes(pickle.data, pickle.len).status, NM_END);
    for (size_t i = 0; i < 3; i++) {
        nm_bytes text = nm_strings_get(&state.strings, (uint32_t)(state.strings.count - 2 + i));

        ck_assert_uint_eq(text.len, 4096);
        ck_assert_int_eq(text.data[0], 'p' + (int)i);
        ck_assert_int_eq(text.data[4092], 'p' + (int)i);
        ck_assert_int_eq(memcmp(text.data + 4093, "...", 3) == 0, i > 0);
    }
    nm_buffer_free(&pickle);
}
END_TEST

/* On a stack that has nothing yet: no address may be made of what is not there. */
START_TEST(an_empty_tuple_comes_first)
{
    expect_log(READ("\x80\x02)."), "");
}
END_TEST

START_TEST(tuples_of_two_small_numbers_are_pairs_and_others_are_ignored)
{
    expect_log(READ("\x80\x02]("
                    "K\x01"
                    "J\xff\xff\xff\xff\x86"
                    ")"
                    "K\x01\x85"
                    "K\x01K\x02K\x03\x87"
                    "(K\x01K\x02K\x03K\x04t"
                    "(K\x05K\x06t"
                    "N\x88\x86"
                    "e."),
               "b3l a3=(1,-1) a3=? a3=? a3=? a3=? a3=(5,6) a3=? e3 ");
}
END_TEST

START_TEST(the_memo_gives_back_what_was_put)
{
    static const char log[] = "b3l b4l a4=7 e4 a3='text' a3='text' a3=(1,2) a3=(1,2) a3=v4.0 a3=v4.0 a3=9 a3=9 e3 ";

    /* Python's way: a container is remembered at its birth. */
    expect_log(READ("\x80\x04]\x94("
                    "\x8c\x04text\x94h\x01"
                    "K\x01K\x02\x86\x94h\x02"
                    "]\x94K\x07"
                    "ah\x03"
                    "K\x09\x94h\x04"
                    "e."),
               log);
    /* The C++ writer's: when it is whole. */
    expect_log(READ("\x80\x02]("
                    "X\x04\x00\x00\x00textq\x00h\x00"
                    "K\x01K\x02\x86q\x01h\x01"
                    "](K\x07"
                    "eq\x02h\x02"
                    "K\x09r\x03\x00\x00\x00j\x03\x00\x00\x00"
                    "e."),
               log);
}
END_TEST

/* {"a": [[], [5], {}], "b": {"skip": {"x": [1, {}], "y": 1}, "c": [6]}} in the forms of all writers. */
static void build_nested(pickle_builder *builder)
{
    pickle_dict(builder, 2);
    pickle_text(builder, "a");
    pickle_list(builder, 3);
    pickle_list(builder, 0);
    pickle_end(builder);
    pickle_list(builder, 1);
    pickle_int(builder, 5);
    pickle_end(builder);
    pickle_dict(builder, 0);
    pickle_end(builder);
    pickle_end(builder);
    pickle_text(builder, "b");
    pickle_dict(builder, 2);
    pickle_text(builder, "skip");
    pickle_dict(builder, 2);
    pickle_text(builder, "x");
    pickle_list(builder, 2);
    pickle_int(builder, 1);
    pickle_dict(builder, 0);
    pickle_end(builder);
    pickle_end(builder);
    pickle_text(builder, "y");
    pickle_int(builder, 1);
    pickle_end(builder);
    pickle_text(builder, "c");
    pickle_list(builder, 1);
    pickle_int(builder, 6);
    pickle_end(builder);
    pickle_end(builder);
    pickle_end(builder);
}

START_TEST(a_tree_is_seen_alike_in_every_protocol)
{
    static const int protocols[] = {2, 3, 4, 5, PICKLE_JIT};

    state.misfits = 1u << 5; /* lists of the third level hold no containers, so [], [5] and {} are beside each other */
    for (size_t i = 0; i < sizeof protocols / sizeof protocols[0]; i++) {
        pickle_builder builder = pickle_new(protocols[i]);
        outcome result;

        build_nested(&builder);
        result = read_built(&builder);
        ck_assert_msg(result.status == NM_END, "protocol %d, byte %" PRIu64 ": %s", protocols[i], result.err.offset,
                      result.err.text);
        /* When a container ends depends on the writer; what it holds and where it stands does not. */
        ck_assert_ptr_nonnull(strstr(state.text, "b3d b4l b5l "));
        ck_assert_ptr_nonnull(strstr(state.text, "a5=5 "));
        ck_assert_ptr_nonnull(strstr(state.text, "b5d "));
        ck_assert_ptr_nonnull(strstr(state.text, "p3.a=v4"));
        ck_assert_ptr_nonnull(strstr(state.text, "p4.skip=? "));
        ck_assert_ptr_nonnull(strstr(state.text, "p4.c=v5"));
        ck_assert_ptr_nonnull(strstr(state.text, "p3.b=v4"));
        ck_assert_ptr_null(strstr(state.text, "b6"));
        ck_assert_ptr_null(strstr(state.text, "=1 "));
    }
}
END_TEST

START_TEST(an_empty_list_before_a_key_is_complete)
{
    /* {"a": [], "b": [], "c": {"d": 1}} with the keys next to the containers, as Python writes them. */
    expect_log(READ("\x80\x04}("
                    "\x8c\x01"
                    "a]"
                    "\x8c\x01"
                    "b]"
                    "\x8c\x01"
                    "c}\x8c\x01"
                    "dK\x01s"
                    "u."),
               "b3d b4l e4 b4l e4 b4d p4.d=1 e4 p3.a=v4.0 p3.b=v4.1 p3.c=v4.2 e3 ");
}
END_TEST

START_TEST(a_frame_that_stands_twice_in_a_row_is_shared)
{
    /* [X, X, X] where X is a dictionary: the reference shows that X is complete. */
    expect_log(READ("\x80\x04](}\x94\x8c\x01kK\x01sh\x00h\x00"
                    "e."),
               "b3l b4d p4.k=1 e4 a3=v4.0 a3=v4.0 a3=v4.0 e3 ");
}
END_TEST

START_TEST(texts_under_keys_that_nobody_knows_can_be_named_again)
{
    pickle_builder builder = pickle_new(4);
    size_t kept;

    pickle_dict(&builder, 4);
    pickle_text(&builder, "known");
    pickle_fresh_text(&builder, "kept");
    pickle_text(&builder, "other");
    pickle_fresh_text(&builder, "beside");
    pickle_text(&builder, "list");
    pickle_list(&builder, 1);
    pickle_fresh_text(&builder, "kept too");
    pickle_end(&builder);
    pickle_text(&builder, "another");
    pickle_fresh_text(&builder, "beside too");
    pickle_end(&builder);
    ck_assert_int_eq(read_built(&builder).status, NM_END);
    kept = state.strings.count; /* known, kept, other, beside, list, kept too, another, beside too */
    ck_assert_uint_eq(kept, 8);
    ck_assert_ptr_nonnull(strstr(state.text, "p3.known='kept' "));
    ck_assert_ptr_nonnull(strstr(state.text, "p3.other='beside' "));
    ck_assert_ptr_nonnull(strstr(state.text, "a4='kept too' "));
    ck_assert_ptr_nonnull(strstr(state.text, "p3.another='beside too' "));
}
END_TEST

START_TEST(taken_items_do_not_pile_up_between_one_mark_and_its_appends)
{
    enum { ITEMS = NM_PICKLE_STACK_MAX + 10 };
    pickle_builder builder = pickle_new(PICKLE_JIT);
    outcome result;

    state.taken = 1u << 4;
    state.is_quiet = true;
    pickle_list(&builder, ITEMS);
    for (int i = 0; i < ITEMS; i++) {
        pickle_dict(&builder, 1);
        pickle_text(&builder, "k");
        pickle_int(&builder, i);
        pickle_end(&builder);
    }
    pickle_end(&builder);
    result = read_built(&builder);
    ck_assert_msg(result.status == NM_END, "%s", result.err.text);
    ck_assert_int_eq(state.ended, ITEMS + 1);
    ck_assert_uint_eq(state.item_count, 0);
}
END_TEST

/* ---- What is refused ---- */

START_TEST(opcodes_that_name_a_class_or_call_are_refused_by_name)
{
    static const struct {
        uint8_t byte;
        const char *text;
    } refused[] = {
        {'c', "opcode GLOBAL would name a class: refused"},
        {0x93, "opcode STACK_GLOBAL would name a class: refused"},
        {'i', "opcode INST would name a class: refused"},
        {0x82, "opcode EXT1 would name a class: refused"},
        {0x83, "opcode EXT2 would name a class: refused"},
        {0x84, "opcode EXT4 would name a class: refused"},
        {'R', "opcode REDUCE would call code: refused"},
        {'b', "opcode BUILD would call code: refused"},
        {'o', "opcode OBJ would call code: refused"},
        {0x81, "opcode NEWOBJ would call code: refused"},
        {0x92, "opcode NEWOBJ_EX would call code: refused"},
        {'P', "opcode PERSID refers to something outside the file: refused"},
        {'Q', "opcode BINPERSID refers to something outside the file: refused"},
        {0x97, "opcode NEXT_BUFFER refers to something outside the file: refused"},
        {'0', "opcode POP does not occur in a memory snapshot: refused"},
        {0xff, "0xff is no pickle opcode"},
    };

    for (size_t i = 0; i < sizeof refused / sizeof refused[0]; i++) {
        uint8_t bytes[] = {0x80, 4, ']', '(', 'N', 'N', refused[i].byte, 'e', '.'};

        expect_failure(read_bytes(bytes, sizeof bytes), NM_ERR_FORMAT, 6, refused[i].text);
    }
}
END_TEST

START_TEST(lengths_that_lie_are_refused_before_anything_is_read)
{
    expect_failure(READ("\x80\x02X\xff\xff\xff\xff"
                        "a."),
                   NM_ERR_FORMAT, 2, "a text of 4294967295 bytes runs past the end");
    expect_failure(READ("\x80\x04\x8d\xff\xff\xff\xff\xff\xff\xff\xff"
                        "a."),
                   NM_ERR_FORMAT, 2, "a text of 18446744073709551615 bytes");
    expect_failure(READ("\x80\x04\x8c\x09"
                        "abc."),
                   NM_ERR_FORMAT, 2, "a text of 9 bytes");
    expect_failure(READ("\x80\x04\x95\x00\x00\x00\x00\x00\x00\x00\x01]."), NM_ERR_FORMAT, 2, "a frame of");
    expect_failure(READ("\x80\x02\x8b\xff\xff\xff\xff."), NM_ERR_FORMAT, 2, "a number of 4294967295 bytes");
    expect_failure(READ("\x80\x04\x8e\x00\x00\x00\x00\x01\x00\x00\x00."), NM_ERR_FORMAT, 2, "a byte string of");
    expect_failure(READ("\x80\x02]r\xff\xff\xff\xff."), NM_ERR_FORMAT, 3, "memo entry 4294967295 is out of range");
}
END_TEST

START_TEST(what_is_nested_too_deep_is_refused)
{
    enum { DEPTH = 400000 };
    uint8_t *bytes = malloc(DEPTH);
    outcome result;

    ck_assert_ptr_nonnull(bytes);
    memcpy(bytes, "\x80\x02", 2);
    memset(bytes + 2, ']', DEPTH - 2);
    result = read_bytes(bytes, DEPTH);
    ck_assert_int_eq(result.status, NM_ERR_LIMIT);
    ck_assert_ptr_nonnull(strstr(result.err.text, "nested too deep"));

    memset(bytes + 2, '(', DEPTH - 2);
    expect_failure(read_bytes(bytes, DEPTH), NM_ERR_LIMIT, 2 + NM_PICKLE_DEPTH_MAX, "nested too deep");

    memset(bytes + 2, 'N', DEPTH - 2);
    expect_failure(read_bytes(bytes, DEPTH), NM_ERR_LIMIT, 2 + NM_PICKLE_STACK_MAX, "nested too deep");

    for (size_t i = 2; i + 1 < DEPTH; i += 2)
        memcpy(bytes + i, "](", 2);
    result = read_bytes(bytes, DEPTH);
    ck_assert_int_eq(result.status, NM_ERR_LIMIT);
    ck_assert_uint_le(result.err.offset, 3 * NM_PICKLE_DEPTH_MAX);
    free(bytes);
}
END_TEST

START_TEST(a_machine_that_runs_out_of_values_is_refused)
{
    static const struct {
        const char *bytes;
        const char *text;
    } refused[] = {
        {"\x80\x02.", "STOP with something left over"},
        {"\x80\x02NN.", "STOP with something left over"},
        {"\x80\x02N(.", "STOP with something left over"},
        {"\x80\x02"
         "a",
         "takes more values"},
        {"\x80\x02N"
         "a",
         "takes more values"},
        {"\x80\x02NNa", "not a container"},
        {"\x80\x02]Ns", "takes more values"},
        {"\x80\x02]NNs", "puts a key into a list"},
        {"\x80\x02}Na", "appends to a dictionary"},
        {"\x80\x02]Ne", "there is no MARK"},
        {"\x80\x02(Ne", "there is no container"},
        {"\x80\x02}(Nu", "a key has no value"},
        {"\x80\x02](N(e", "not a container"},
        {"\x80\x02N\x86", "a tuple takes more"},
        {"\x80\x02N(\x85", "a tuple takes more"},
        {"\x80\x02t", "there is no MARK"},
        {"\x80\x02h\x05", "memo entry 5 was never set"},
        {"\x80\x02q\x01", "there is nothing to remember"},
        {"\x80\x02Nq\x01Nq\x01", "set twice"},
        {"\x80\x02]q\x01q\x02", "two memo entries"},
        {"\x80\x02]q\x01(h\x01", "not complete"},
    };

    for (size_t i = 0; i < sizeof refused / sizeof refused[0]; i++) {
        size_t len = strlen(refused[i].bytes + 2) + 2;
        outcome result = read_bytes(refused[i].bytes, len);

        ck_assert_msg(result.status == NM_ERR_FORMAT, "case %zu gives status %d, %s", i, result.status,
                      result.err.text);
        ck_assert_msg(strstr(result.err.text, refused[i].text) != NULL, "case %zu: %s", i, result.err.text);
        ck_assert_uint_le(result.err.offset, len);
    }
}
END_TEST

START_TEST(protocols_other_than_2_to_5_are_refused)
{
    for (int protocol = 0; protocol < 256; protocol++) {
        uint8_t bytes[] = {0x80, (uint8_t)protocol, ']', '.'};
        nm_status expected = protocol < 2 ? NM_ERR_FORMAT : protocol > 5 ? NM_ERR_VERSION : NM_END;

        ck_assert_int_eq(read_bytes(bytes, sizeof bytes).status, expected);
    }
}
END_TEST

START_TEST(cut_at_every_byte_it_fails_inside_the_file)
{
    pickle_builder builder = pickle_new(4);

    build_nested(&builder);
    pickle_stop(&builder);
    for (size_t len = 0; len < builder.bytes.len; len++) {
        outcome result = read_bytes(builder.bytes.data, len);

        ck_assert_msg(result.status == NM_ERR_FORMAT, "cut at %zu gives status %d", len, result.status);
        ck_assert_uint_le(result.err.offset, len);
    }
    pickle_free(&builder);
}
END_TEST

START_TEST(every_byte_changed_to_every_value_neither_crashes_nor_hangs)
{
    pickle_builder builder = pickle_new(2);
    uint8_t *bytes;

    build_nested(&builder);
    pickle_stop(&builder);
    bytes = malloc(builder.bytes.len);
    ck_assert_ptr_nonnull(bytes);
    for (size_t i = 0; i < builder.bytes.len; i++) {
        memcpy(bytes, builder.bytes.data, builder.bytes.len);
        for (int value = 0; value < 256; value++) {
            outcome result;

            bytes[i] = (uint8_t)value;
            result = read_bytes(bytes, builder.bytes.len);
            ck_assert_msg(result.status != NM_OK && result.steps <= builder.bytes.len, "byte %zu, value %d", i, value);
            ck_assert(result.status == NM_END || result.err.offset <= builder.bytes.len);
        }
    }
    free(bytes);
    pickle_free(&builder);
}
END_TEST

TEST_SUITE(test_pickle)
{
    Suite *suite = suite_create("pickle");
    TCase *reads = tcase_create("reads");
    TCase *refuses = tcase_create("refuses");

    tcase_add_checked_fixture(reads, reset, NULL);
    tcase_set_timeout(reads, 30);
    tcase_add_test(reads, every_form_of_a_number_is_read);
    tcase_add_test(reads, every_form_of_a_text_is_read);
    tcase_add_test(reads, a_text_that_is_too_long_is_cut_and_marked);
    tcase_add_test(reads, an_empty_tuple_comes_first);
    tcase_add_test(reads, tuples_of_two_small_numbers_are_pairs_and_others_are_ignored);
    tcase_add_test(reads, the_memo_gives_back_what_was_put);
    tcase_add_test(reads, a_tree_is_seen_alike_in_every_protocol);
    tcase_add_test(reads, an_empty_list_before_a_key_is_complete);
    tcase_add_test(reads, a_frame_that_stands_twice_in_a_row_is_shared);
    tcase_add_test(reads, texts_under_keys_that_nobody_knows_can_be_named_again);
    tcase_add_test(reads, taken_items_do_not_pile_up_between_one_mark_and_its_appends);
    suite_add_tcase(suite, reads);

    tcase_add_checked_fixture(refuses, reset, NULL);
    tcase_set_timeout(refuses, 60);
    tcase_add_test(refuses, opcodes_that_name_a_class_or_call_are_refused_by_name);
    tcase_add_test(refuses, lengths_that_lie_are_refused_before_anything_is_read);
    tcase_add_test(refuses, what_is_nested_too_deep_is_refused);
    tcase_add_test(refuses, a_machine_that_runs_out_of_values_is_refused);
    tcase_add_test(refuses, protocols_other_than_2_to_5_are_refused);
    tcase_add_test(refuses, cut_at_every_byte_it_fails_inside_the_file);
    tcase_add_test(refuses, every_byte_changed_to_every_value_neither_crashes_nor_hangs);
    suite_add_tcase(suite, refuses);
    return suite;
}
