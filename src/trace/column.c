/* SPDX-License-Identifier: Apache-2.0
 *
 * How a column is chosen: one value, or few runs, are seen in one pass. Otherwise the candidates are made and a part of
 * each is compressed, quickly: what repeats over thousands of values (the steps of a training loop) decides, and no count
 * of distinct values or bits would show it. That is most of the work, and what a field was best written as it mostly is
 * again: so it is tried at the first columns, then ever more seldom, and again as soon as values have another width.
 */
#include "trace/column.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include <zstd.h>

#define SAMPLE_VALUES   16384 /* of the end of the column; at its beginning nothing can repeat yet */
#define SAMPLE_LEVEL    1
#define TRUST_MAX       15   /* columns between two trials */
#define CUT_PLANE_BYTES 4096 /* smaller planes are not worth statistics of their own */

/* ---- Writing ---- */

/* A column in one encoding, before it is chosen: `head`, then planes, then `tail`. */
typedef struct candidate {
    nm_encoding encoding;
    unsigned width;
    nm_buffer bytes;
    size_t planes_at, tail_at; /* into bytes */
} candidate;

struct nm_column_writer {
    candidate candidates[NM_ENCODING_COUNT]; /* of the last column; unused ones have old contents */
    ZSTD_CCtx *zstd;
    nm_buffer sample;
    uint64_t *work; /* transformed values */
    size_t work_capacity;
    uint32_t *places; /* of each value in planes that are ordered by kind */
    size_t place_capacity;
    uint32_t *slots; /* hash table: index of the last place of a value + 1 */
    size_t slot_capacity;
    size_t *cuts;
    size_t cut_count, cut_capacity;
};

/* What one pass over the values tells. */
typedef struct survey {
    size_t run_count;
    uint64_t value_bits; /* all values, or-ed: its length is the width */
    uint64_t delta_bits;
} survey;

nm_status nm_column_writer_new(nm_column_writer **out, nm_error *err)
{
    nm_column_writer *writer = calloc(1, sizeof *writer);

    *out = NULL;
    if (writer != NULL)
        writer->zstd = ZSTD_createCCtx();
    if (writer == NULL || writer->zstd == NULL) {
        nm_column_writer_free(writer);
        return nm_fail(err, NM_ERR_MEMORY, NM_NO_OFFSET, "out of memory at a trace writer");
    }
    *out = writer;
    return NM_OK;
}

void nm_column_writer_free(nm_column_writer *writer)
{
    if (writer == NULL)
        return;
    for (int i = 0; i < NM_ENCODING_COUNT; i++)
        nm_buffer_free(&writer->candidates[i].bytes);
    ZSTD_freeCCtx(writer->zstd);
    nm_buffer_free(&writer->sample);
    free(writer->work);
    free(writer->places);
    free(writer->slots);
    free(writer->cuts);
    free(writer);
}

static unsigned width_of(uint64_t bits)
{
    unsigned width = 1;

    while (width < 8 && bits >> (8 * width) != 0)
        width++;
    return width;
}

static survey survey_values(const uint64_t *values, size_t count)
{
    survey result = {.run_count = 1, .value_bits = values[0]};

    for (size_t i = 1; i < count; i++) {
        result.run_count += values[i] != values[i - 1];
        result.value_bits |= values[i];
        result.delta_bits |= nm_zigzag((int64_t)(values[i] - values[i - 1]));
    }
    return result;
}

static void append_planes(candidate *made, const uint64_t *values, size_t count, unsigned width)
{
    uint8_t *p = made->bytes.data + made->bytes.len;

    made->planes_at = made->bytes.len;
    made->width = width;
    for (unsigned shift = 0; shift < 8 * width; shift += 8)
        for (size_t i = 0; i < count; i++)
            *p++ = (uint8_t)(values[i] >> shift);
    made->bytes.len += count * width;
    made->tail_at = made->bytes.len;
}

static void append_width(candidate *made, unsigned width)
{
    made->bytes.data[made->bytes.len++] = (uint8_t)width;
}

static void append_number(candidate *made, uint64_t value)
{
    made->bytes.len += nm_put_varint(made->bytes.data + made->bytes.len, value);
}

/* An empty candidate with room for the worst case of its encoding. */
static candidate *begin_candidate(nm_column_writer *writer, nm_encoding encoding, size_t bytes_max, nm_error *err)
{
    candidate *made = &writer->candidates[encoding];

    made->encoding = encoding;
    made->width = 0;
    made->planes_at = made->tail_at = made->bytes.len = 0;
    return nm_buffer_reserve(&made->bytes, bytes_max, err) == NM_OK ? made : NULL;
}

static candidate *make_constant(nm_column_writer *writer, uint64_t value, nm_error *err)
{
    candidate *made = begin_candidate(writer, NM_ENCODING_CONSTANT, NM_VARINT_BYTES_MAX, err);

    if (made != NULL)
        append_number(made, value);
    return made;
}

static candidate *make_runs(nm_column_writer *writer, const uint64_t *values, size_t count, size_t run_count,
                            nm_error *err)
{
    candidate *made = begin_candidate(writer, NM_ENCODING_RUNS, run_count * 2 * NM_VARINT_BYTES_MAX, err);
    size_t begin = 0;

    for (size_t i = 1; made != NULL && i <= count; i++) {
        if (i < count && values[i] == values[begin])
            continue;
        append_number(made, values[begin]);
        append_number(made, i - begin);
        begin = i;
    }
    return made;
}

static candidate *make_planes(nm_column_writer *writer, const uint64_t *values, size_t count, const survey *found,
                              nm_error *err)
{
    unsigned width = width_of(found->value_bits);
    candidate *made = begin_candidate(writer, NM_ENCODING_PLANES, 1 + count * width, err);

    if (made != NULL) {
        append_width(made, width);
        append_planes(made, values, count, width);
    }
    return made;
}

static candidate *make_delta(nm_column_writer *writer, const uint64_t *values, size_t count, const survey *found,
                             nm_error *err)
{
    unsigned width = width_of(found->delta_bits);
    candidate *made = begin_candidate(writer, NM_ENCODING_DELTA, NM_VARINT_BYTES_MAX + 1 + count * width, err);

    if (made == NULL)
        return NULL;
    writer->work[0] = 0;
    for (size_t i = 1; i < count; i++)
        writer->work[i] = nm_zigzag((int64_t)(values[i] - values[i - 1]));
    append_number(made, values[0]);
    append_width(made, width);
    append_planes(made, writer->work, count, width);
    return made;
}

/* The slot of the value's last place, or the empty one where it goes. */
static uint32_t *slot_of(nm_column_writer *writer, size_t slot_count, const uint64_t *values, uint64_t value)
{
    uint64_t hash = (value ^ value >> 32) * 0x9E3779B97F4A7C15u;
    size_t mask = slot_count - 1;
    size_t at = (size_t)(hash >> 32) & mask;

    while (writer->slots[at] != 0 && values[writer->slots[at] - 1] != value)
        at = (at + 1) & mask;
    return &writer->slots[at];
}

/* Fills `work` with the distance of each value to the same value before, 0 where there is none near; returns how many
 * of those there are, or count when they are too many for the encoding to pay. */
static size_t find_distances(nm_column_writer *writer, const uint64_t *values, size_t count, size_t slot_count,
                             uint64_t *largest)
{
    size_t new_count = 0;

    *largest = 0;
    memset(writer->slots, 0, slot_count * sizeof *writer->slots);
    for (size_t i = 0; i < count; i++) {
        uint32_t *slot = slot_of(writer, slot_count, values, values[i]);
        size_t distance = *slot == 0 ? 0 : i + 1 - *slot;

        if (distance > NM_BACK_DISTANCE_MAX)
            distance = 0;
        new_count += distance == 0;
        if (new_count > count / 4 + 8)
            return count;
        *largest |= distance;
        writer->work[i] = distance;
        *slot = (uint32_t)i + 1;
    }
    return new_count;
}

/* NM_OK with *out NULL: too few values come again. */
static nm_status make_back(nm_column_writer *writer, const uint64_t *values, size_t count, candidate **out,
                           nm_error *err)
{
    size_t slot_count = 16;
    uint64_t largest, before = 0;

    *out = NULL;
    while (slot_count < count * 2)
        slot_count *= 2;
    nm_status status = nm_array_grow(&writer->slots, &writer->slot_capacity, slot_count, sizeof *writer->slots, err);
    if (status != NM_OK)
        return status;
    size_t new_count = find_distances(writer, values, count, slot_count, &largest);
    if (new_count == count)
        return NM_OK;

    unsigned width = width_of(largest);
    *out = begin_candidate(writer, NM_ENCODING_BACK, 1 + count * width + new_count * NM_VARINT_BYTES_MAX, err);
    if (*out == NULL)
        return NM_ERR_MEMORY;
    append_width(*out, width);
    append_planes(*out, writer->work, count, width);
    for (size_t i = 0; i < count; i++) {
        if (writer->work[i] != 0)
            continue;
        append_number(*out, nm_zigzag((int64_t)(values[i] - before)));
        before = values[i];
    }
    return NM_OK;
}

static size_t compressed_bytes(nm_column_writer *writer, const uint8_t *data, size_t len)
{
    size_t bytes = ZSTD_compressCCtx(writer->zstd, writer->sample.data, writer->sample.cap, data, len, SAMPLE_LEVEL);
    return ZSTD_isError(bytes) ? len : bytes;
}

/* About the size of the candidate after zstd, by the end of each of its planes. */
static uint64_t estimate(nm_column_writer *writer, const candidate *made, size_t count)
{
    size_t sample = count < SAMPLE_VALUES ? count : SAMPLE_VALUES;
    const uint8_t *plane_end = made->bytes.data + made->planes_at;
    uint64_t bytes = 0;

    for (unsigned i = 0; i < made->width; i++) {
        plane_end += count;
        bytes += compressed_bytes(writer, plane_end - sample, sample);
    }
    return bytes * count / sample + (made->bytes.len - made->tail_at);
}

static nm_status make(nm_column_writer *writer, nm_encoding encoding, const uint64_t *values, size_t count,
                      const survey *found, candidate **out, nm_error *err)
{
    if (encoding == NM_ENCODING_BACK)
        return make_back(writer, values, count, out, err);
    *out = encoding == NM_ENCODING_PLANES ? make_planes(writer, values, count, found, err)
                                          : make_delta(writer, values, count, found, err);
    return *out == NULL ? NM_ERR_MEMORY : NM_OK;
}

/* The best of the encodings in planes. */
static nm_status try_all(nm_column_writer *writer, const uint64_t *values, size_t count, const survey *found,
                         candidate **best, nm_error *err)
{
    static const nm_encoding encodings[] = {NM_ENCODING_PLANES, NM_ENCODING_DELTA, NM_ENCODING_BACK};
    uint64_t best_bytes = UINT64_MAX;
    nm_status status = nm_buffer_reserve(&writer->sample, ZSTD_COMPRESSBOUND(SAMPLE_VALUES), err);

    for (size_t i = 0; status == NM_OK && i < sizeof encodings / sizeof *encodings; i++) {
        candidate *tried = NULL;

        status = make(writer, encodings[i], values, count, found, &tried, err);
        uint64_t bytes = status != NM_OK || tried == NULL ? UINT64_MAX : estimate(writer, tried, count);
        if (bytes >= best_bytes)
            continue;
        best_bytes = bytes;
        *best = tried;
    }
    return status;
}

static bool is_trusted(const nm_column_habit *habit, const survey *found)
{
    return habit->left > 0 && habit->value_width == width_of(found->value_bits) &&
           habit->delta_width == width_of(found->delta_bits);
}

static void learn(nm_column_habit *habit, nm_encoding encoding, const survey *found)
{
    if (habit->encoding != encoding || habit->left > 0)
        habit->trust = 0;
    else if (habit->trust < TRUST_MAX)
        habit->trust = (uint8_t)(2 * habit->trust + 1);
    habit->left = habit->trust;
    habit->encoding = (uint8_t)encoding;
    habit->value_width = (uint8_t)width_of(found->value_bits);
    habit->delta_width = (uint8_t)width_of(found->delta_bits);
}

static nm_status choose_planes(nm_column_writer *writer, const uint64_t *values, size_t count, const survey *found,
                               nm_column_habit *habit, candidate **best, nm_error *err)
{
    nm_status status = nm_array_grow(&writer->work, &writer->work_capacity, count, sizeof *writer->work, err);

    if (status == NM_OK && is_trusted(habit, found)) {
        habit->left--;
        status = make(writer, (nm_encoding)habit->encoding, values, count, found, best, err);
    }
    if (status != NM_OK || *best != NULL)
        return status;
    status = try_all(writer, values, count, found, best, err);
    if (status == NM_OK)
        learn(habit, (*best)->encoding, found);
    return status;
}

static nm_status choose(nm_column_writer *writer, const uint64_t *values, size_t count, nm_column_habit *habit,
                        candidate **best, nm_error *err)
{
    survey found = survey_values(values, count);

    if (found.run_count == 1)
        *best = make_constant(writer, values[0], err);
    else if (found.run_count < count / 32)
        *best = make_runs(writer, values, count, found.run_count, err);
    else
        return choose_planes(writer, values, count, &found, habit, best, err);
    return *best == NULL ? NM_ERR_MEMORY : NM_OK;
}

/* Fills writer->places with where each value goes when those of one kind stand together, and `ends` with where each kind
 * ends; returns the number of kinds. */
static unsigned find_places(nm_column_writer *writer, nm_column_events events, uint32_t ends[NM_BLOCK_KINDS_MAX])
{
    uint32_t next[NM_BLOCK_KINDS_MAX] = {0};
    unsigned kind_count = 0;
    uint32_t sum = 0;
    size_t value = 0;

    for (size_t i = 0; i < events.count; i++)
        next[events.kinds[i]] += (uint32_t)(events.members >> events.kinds[i] & 1);
    for (unsigned k = 0; k < NM_BLOCK_KINDS_MAX; k++) {
        uint32_t count = next[k];
        next[k] = sum;
        sum += count;
        if (count > 0)
            ends[kind_count++] = sum;
    }
    for (size_t i = 0; i < events.count; i++)
        if ((events.members >> events.kinds[i] & 1) != 0)
            writer->places[value++] = next[events.kinds[i]]++;
    return kind_count;
}

/* Orders each plane by kind. */
static nm_status group_planes(nm_column_writer *writer, candidate *made, size_t count, nm_column_events events,
                              uint32_t ends[NM_BLOCK_KINDS_MAX], unsigned *kind_count, nm_error *err)
{
    nm_status status = nm_array_grow(&writer->places, &writer->place_capacity, count, sizeof *writer->places, err);

    if (status == NM_OK)
        status = nm_buffer_reserve(&writer->sample, count, err);
    if (status != NM_OK)
        return status;
    *kind_count = find_places(writer, events, ends);
    for (unsigned i = 0; i < made->width; i++) {
        uint8_t *plane = made->bytes.data + made->planes_at + i * count;

        memcpy(writer->sample.data, plane, count);
        for (size_t j = 0; j < count; j++)
            plane[writer->places[j]] = writer->sample.data[j];
    }
    return NM_OK;
}

/* Notes the end of each part of each plane that is large enough. */
static nm_status note_cuts(nm_column_writer *writer, size_t planes_at, unsigned width, const uint32_t *ends,
                           unsigned end_count, nm_error *err)
{
    nm_status status = nm_array_grow(&writer->cuts, &writer->cut_capacity,
                                     writer->cut_count + (size_t)width * end_count, sizeof *writer->cuts, err);
    size_t count = ends[end_count - 1];

    for (unsigned i = 0; status == NM_OK && i < width; i++)
        for (unsigned k = 0; k < end_count; k++)
            if (ends[k] - (k == 0 ? 0 : ends[k - 1]) >= CUT_PLANE_BYTES || (k + 1 == end_count && k > 0))
                writer->cuts[writer->cut_count++] = planes_at + i * count + ends[k];
    return status;
}

/* *planes_at: where the candidate's planes are now. */
static nm_status append_candidate(const candidate *best, nm_buffer *out, size_t *planes_at, nm_error *err)
{
    uint8_t head[5];

    head[0] = (uint8_t)best->encoding;
    nm_put_u32(head + 1, (uint32_t)best->bytes.len);
    nm_status status = nm_buffer_append(out, head, sizeof head, err);
    *planes_at = out->len + best->planes_at;
    return status == NM_OK ? nm_buffer_append(out, best->bytes.data, best->bytes.len, err) : status;
}

nm_status nm_column_write(nm_column_writer *writer, const uint64_t *values, size_t count, nm_column_events events,
                          nm_column_habit *habit, nm_buffer *out, nm_error *err)
{
    candidate *best = NULL;
    uint32_t ends[NM_BLOCK_KINDS_MAX] = {(uint32_t)count};
    unsigned end_count = 1;
    size_t planes_at = 0;
    nm_status status = choose(writer, values, count, habit, &best, err);

    if (status == NM_OK && best->encoding == NM_ENCODING_DELTA && events.count > 0)
        status = group_planes(writer, best, count, events, ends, &end_count, err);
    if (status == NM_OK)
        status = append_candidate(best, out, &planes_at, err);
    return status == NM_OK ? note_cuts(writer, planes_at, best->width, ends, end_count, err) : status;
}

nm_status nm_column_write_constant(nm_column_writer *writer, uint64_t value, nm_buffer *out, nm_error *err)
{
    candidate *made = make_constant(writer, value, err);
    size_t planes_at;

    return made == NULL ? NM_ERR_MEMORY : append_candidate(made, out, &planes_at, err);
}

const size_t *nm_column_cuts(const nm_column_writer *writer, size_t *count)
{
    *count = writer->cut_count;
    return writer->cuts;
}

void nm_column_reset_cuts(nm_column_writer *writer)
{
    writer->cut_count = 0;
}

/* ---- Reading ---- */

static bool check_runs(nm_cursor cursor, size_t count)
{
    size_t seen = 0;

    while (seen < count && !cursor.is_bad) {
        nm_read_varint(&cursor);
        uint64_t length = nm_read_varint(&cursor);

        if (length == 0 || length > count - seen)
            return false;
        seen += (size_t)length;
    }
    return !cursor.is_bad && nm_cursor_left(&cursor) == 0;
}

/* Takes planes of the width that stands before them. */
static bool take_planes(nm_column_reader *reader, nm_cursor *cursor)
{
    unsigned width = nm_read_u8(cursor);

    if (width < 1 || width > 8)
        return false;
    reader->width = (uint8_t)width;
    reader->planes = nm_read_bytes(cursor, (uint64_t)reader->count * width).data;
    return !cursor->is_bad;
}

/* The value that begins at `at` in its lowest plane, of planes of `count` bytes. Few are wider than three bytes. */
static inline uint64_t plane_value(const uint8_t *at, size_t count, unsigned width)
{
    uint64_t value = *at;

    if (width == 1)
        return value;
    value |= (uint64_t)at[count] << 8;
    if (width == 2)
        return value;
    for (unsigned i = 2; i < width; i++)
        value |= (uint64_t)at[i * count] << (8 * i);
    return value;
}

/* Does no distance lead before the first value? *new_count: those that are none. */
static inline bool check_distances(const nm_column_reader *reader, unsigned width, size_t *new_count)
{
    const uint8_t *planes = reader->planes;
    size_t count = reader->count;

    *new_count = 0;
    for (size_t i = 0; i < count; i++) {
        uint64_t distance = plane_value(planes + i, count, width);

        if (distance > i)
            return false;
        *new_count += distance == 0;
    }
    return true;
}

/* For each distance of 0 there is a new value. */
static bool check_back(const nm_column_reader *reader)
{
    nm_cursor more = reader->more;
    size_t new_count;

    static_assert(NM_BACK_DISTANCE_MAX == UINT16_MAX, "two planes hold no more");
    if (!(reader->width == 1 ? check_distances(reader, 1, &new_count) : check_distances(reader, 2, &new_count)))
        return false;
    for (size_t i = 0; i < new_count && !more.is_bad; i++)
        nm_read_varint(&more);
    return !more.is_bad && nm_cursor_left(&more) == 0;
}

static nm_status open_back(nm_column_reader *reader, nm_cursor *cursor, bool *is_right, nm_error *err)
{
    size_t ring = 1;

    *is_right = take_planes(reader, cursor) && reader->width <= 2;
    reader->more = *cursor;
    *is_right = *is_right && check_back(reader);
    if (!*is_right)
        return NM_OK;
    while (ring < reader->count && ring <= NM_BACK_DISTANCE_MAX)
        ring *= 2;
    reader->seen_mask = ring - 1;
    return nm_array_grow(&reader->seen, &reader->seen_capacity, ring, sizeof *reader->seen, err);
}

static void count_values(nm_column_reader *reader, const uint32_t counts[NM_BLOCK_KINDS_MAX])
{
    for (unsigned k = 0; k < NM_BLOCK_KINDS_MAX; k++) {
        reader->places[k] = (uint32_t)reader->count;
        reader->count += counts[k];
    }
}

nm_status nm_column_open(nm_column_reader *reader, unsigned encoding, nm_bytes data,
                         const uint32_t counts[NM_BLOCK_KINDS_MAX], uint64_t offset, nm_error *err)
{
    nm_cursor cursor = nm_cursor_over(data.data, data.len);
    nm_status status = NM_OK;
    bool is_right = false;

    *reader =
        (nm_column_reader){.encoding = (uint8_t)encoding, .seen = reader->seen, .seen_capacity = reader->seen_capacity};
    count_values(reader, counts);
    switch (encoding) {
    case NM_ENCODING_CONSTANT:
        reader->value = nm_read_varint(&cursor);
        is_right = !cursor.is_bad && nm_cursor_left(&cursor) == 0;
        break;
    case NM_ENCODING_RUNS:
        reader->more = cursor;
        is_right = check_runs(cursor, reader->count);
        break;
    case NM_ENCODING_DELTA:
        reader->value = nm_read_varint(&cursor);
        /* fall through */
    case NM_ENCODING_PLANES:
        is_right = take_planes(reader, &cursor) && nm_cursor_left(&cursor) == 0;
        break;
    case NM_ENCODING_BACK:
        status = open_back(reader, &cursor, &is_right, err);
        break;
    default:
        return nm_fail(err, NM_ERR_FORMAT, offset, "a column has the unknown encoding %u", encoding);
    }
    if (status == NM_OK && !is_right)
        status = nm_fail(err, NM_ERR_FORMAT, offset, "a column does not hold its %zu values", reader->count);
    return status;
}

static inline void read_back_of(nm_column_reader *reader, unsigned width, size_t count, uint64_t *values)
{
    const uint8_t *planes = reader->planes;
    size_t plane_bytes = reader->count;
    uint64_t *seen = reader->seen;
    size_t seen_mask = reader->seen_mask;
    size_t end = reader->at + count;

    for (size_t index = reader->at; index < end; index++) {
        uint64_t distance = plane_value(planes + index, plane_bytes, width);

        if (distance == 0)
            reader->value += (uint64_t)nm_unzigzag(nm_read_varint(&reader->more));
        *values = distance == 0 ? reader->value : seen[(index - distance) & seen_mask];
        seen[index & seen_mask] = *values++;
    }
}

static void read_back(nm_column_reader *reader, size_t count, uint64_t *values)
{
    if (reader->width == 1)
        read_back_of(reader, 1, count, values);
    else
        read_back_of(reader, 2, count, values);
}

static void read_runs(nm_column_reader *reader, size_t count, uint64_t *values)
{
    while (count > 0) {
        if (reader->run_left == 0) {
            reader->value = nm_read_varint(&reader->more);
            reader->run_left = nm_read_varint(&reader->more);
        }
        size_t length = reader->run_left < count ? (size_t)reader->run_left : count;
        for (size_t i = 0; i < length; i++)
            *values++ = reader->value;
        reader->run_left -= length;
        count -= length;
    }
}

/* Most values are read here and below: for a width that is known the loops have no question in them. */
static inline void read_planes_of(const nm_column_reader *reader, unsigned width, size_t count, uint64_t *values)
{
    const uint8_t *at = reader->planes + reader->at;
    size_t plane_bytes = reader->count;

    for (size_t i = 0; i < count; i++)
        values[i] = plane_value(at + i, plane_bytes, width);
}

static void read_planes(const nm_column_reader *reader, size_t count, uint64_t *values)
{
    switch (reader->width) {
    case 1:
        read_planes_of(reader, 1, count, values);
        break;
    case 2:
        read_planes_of(reader, 2, count, values);
        break;
    case 3:
        read_planes_of(reader, 3, count, values);
        break;
    case 4:
        read_planes_of(reader, 4, count, values);
        break;
    default:
        read_planes_of(reader, reader->width, count, values);
        break;
    }
}

/* The values of each kind stand together: most columns that vary are such. */
static inline void read_deltas_of(nm_column_reader *reader, unsigned width, const uint8_t *kinds, size_t count,
                                  uint64_t *values)
{
    const uint8_t *planes = reader->planes;
    size_t plane_bytes = reader->count;
    uint64_t value = reader->value;

    for (size_t i = 0; i < count; i++) {
        uint32_t place = reader->places[kinds[i]]++;

        assert(place < plane_bytes);
        value += (uint64_t)nm_unzigzag(plane_value(planes + place, plane_bytes, width));
        values[i] = value;
    }
    reader->value = value;
}

static void read_deltas(nm_column_reader *reader, const uint8_t *kinds, size_t count, uint64_t *values)
{
    switch (reader->width) {
    case 1:
        read_deltas_of(reader, 1, kinds, count, values);
        break;
    case 2:
        read_deltas_of(reader, 2, kinds, count, values);
        break;
    case 3:
        read_deltas_of(reader, 3, kinds, count, values);
        break;
    case 4:
        read_deltas_of(reader, 4, kinds, count, values);
        break;
    default:
        read_deltas_of(reader, reader->width, kinds, count, values);
        break;
    }
}

void nm_column_read(nm_column_reader *reader, const uint8_t *kinds, size_t count, uint64_t *values)
{
    assert(count <= reader->count - reader->at);
    switch (reader->encoding) {
    case NM_ENCODING_DELTA:
        read_deltas(reader, kinds, count, values);
        break;
    case NM_ENCODING_RUNS:
        read_runs(reader, count, values);
        break;
    case NM_ENCODING_PLANES:
        read_planes(reader, count, values);
        break;
    case NM_ENCODING_BACK:
        read_back(reader, count, values);
        break;
    default:
        for (size_t i = 0; i < count; i++)
            values[i] = reader->value;
        break;
    }
    reader->at += count;
}

void nm_column_reader_free(nm_column_reader *reader)
{
    free(reader->seen);
    *reader = (nm_column_reader){0};
}
