/* SPDX-License-Identifier: Apache-2.0
 *
 * Words are cut at ':', ',', '[' and ']', as torch_npu cuts them; spaces count for nothing.
 */
#include "whatif/settings.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/number.h"
#include "base/quantity.h"

#define WORD_BYTES_MAX 64
#define SIZE_BYTES_MAX (UINT64_C(1) << 59)
#define MIB            (UINT64_C(1) << 20)
#define GIB            (UINT64_C(1) << 30)

typedef struct words {
    const char *at; /* what has not been read */
    char word[WORD_BYTES_MAX];
    bool has_page; /* segment_size_mb has been read */
} words;

/* ---- Words and numbers ------------------------------------------------------------------------------------------- */

static bool is_separator(char c)
{
    return c == ':' || c == ',' || c == '[' || c == ']';
}

/* Reads the next word; an empty one at the end of the text. */
static nm_status next_word(words *text, nm_error *err)
{
    size_t len = 0;

    text->at += strspn(text->at, " ");
    if (is_separator(*text->at))
        text->word[len++] = *text->at++;
    else
        for (; *text->at != 0 && !is_separator(*text->at); text->at++) {
            if (len + 1 >= WORD_BYTES_MAX)
                return nm_fail(err, NM_ERR_USAGE, NM_NO_OFFSET, "a word of more than %d characters", WORD_BYTES_MAX);
            if (*text->at != ' ')
                text->word[len++] = *text->at;
        }
    text->word[len] = 0;
    return NM_OK;
}

static bool comes(const words *text, char begin)
{
    return text->at[strspn(text->at, " ")] == begin;
}

static nm_status expect(words *text, char separator, nm_error *err)
{
    nm_status status = next_word(text, err);

    if (status == NM_OK && (text->word[0] != separator || text->word[1] != 0))
        return nm_fail(err, NM_ERR_USAGE, NM_NO_OFFSET, "expected '%c' and not '%s'", separator, text->word);
    return status;
}

/* The next word as a whole number without sign. */
static nm_status next_number(words *text, const char *name, uint64_t most, uint64_t *number, nm_error *err)
{
    nm_status status = next_word(text, err);

    if (status == NM_OK && !nm_number_read(text->word, most, number))
        return nm_fail(err, NM_ERR_USAGE, NM_NO_OFFSET, "%s needs a number up to %" PRIu64 ", not '%s'", name, most,
                       text->word);
    return status;
}

/* The next word as a share: more than 0, and less than 1 (or 1, where that may be). */
static nm_status next_share(words *text, const char *name, bool may_be_one, double *share, nm_error *err)
{
    nm_status status = next_word(text, err);
    char *end;

    if (status != NM_OK)
        return status;
    *share = strtod(text->word, &end);
    if (end == text->word || *end != 0 || !(*share > 0) || !(may_be_one ? *share <= 1 : *share < 1))
        return nm_fail(err, NM_ERR_USAGE, NM_NO_OFFSET, "%s needs a number between 0 and 1, not '%s'", name,
                       text->word);
    return NM_OK;
}

nm_status nm_settings_size(const char *text, size_t len, uint64_t *bytes, nm_error *err)
{
    char copy[WORD_BYTES_MAX];

    snprintf(copy, sizeof copy, "%.*s", (int)(len < sizeof copy ? len : sizeof copy - 1), text);
    if (nm_quantity_bare_size(copy, bytes, NULL) == NM_OK && *bytes <= SIZE_BYTES_MAX)
        return NM_OK;
    return nm_fail(err, NM_ERR_USAGE, NM_NO_OFFSET, "'%s' is not a size: a number and B, KiB, MiB, GiB or TiB", copy);
}

static nm_status next_size(words *text, uint64_t *bytes, nm_error *err)
{
    nm_status status = next_word(text, err);

    return status == NM_OK ? nm_settings_size(text->word, strlen(text->word), bytes, err) : status;
}

/* ---- The caching allocator --------------------------------------------------------------------------------------- */

nm_caching_settings nm_caching_settings_default(bool is_npu)
{
    return (nm_caching_settings){
        .max_split_bytes = NM_NO_SPLIT_LIMIT,
        .alignment_bytes = is_npu ? 16384 : 0,
        .large_segment_bytes = NM_LARGE_SEGMENT_BYTES,
        .page_bytes = NM_LARGE_SEGMENT_BYTES,
        .spare_bytes = NM_LARGE_SEGMENT_BYTES,
        .pad_bytes = is_npu ? 32 : 0,
        .is_npu = is_npu,
    };
}

static bool is_power_of_two(uint64_t number)
{
    return number != 0 && (number & (number - 1)) == 0;
}

static nm_status next_divisions(words *text, uint64_t *divisions, nm_error *err)
{
    nm_status status = next_number(text, "roundup_power2_divisions", 1 << 20, divisions, err);

    if (status == NM_OK && *divisions != 0 && !is_power_of_two(*divisions))
        return nm_fail(err, NM_ERR_USAGE, NM_NO_OFFSET, "roundup_power2_divisions needs powers of two");
    return status;
}

static void fill_divisions(nm_caching_settings *settings, size_t from, size_t to, uint64_t divisions)
{
    for (size_t i = from; i < to && i < NM_DIVISION_INTERVALS; i++)
        settings->divisions[i] = divisions;
}

/* "256:1" or ">:4" inside the brackets. *next is the interval behind the last one that was named; 0: none was. */
static nm_status take_interval(words *text, nm_caching_settings *settings, size_t *next, nm_error *err)
{
    uint64_t from_mib = 0, divisions;
    bool is_rest = comes(text, '>');
    nm_status status =
        is_rest ? next_word(text, err) : next_number(text, "roundup_power2_divisions", UINT32_MAX, &from_mib, err);

    if (status == NM_OK && !is_rest && !is_power_of_two(from_mib))
        return nm_fail(err, NM_ERR_USAGE, NM_NO_OFFSET, "roundup_power2_divisions needs intervals of powers of two");
    if (status == NM_OK)
        status = expect(text, ':', err);
    if (status == NM_OK)
        status = next_divisions(text, &divisions, err);
    if (status != NM_OK)
        return status;
    if (is_rest) {
        fill_divisions(settings, *next > 0 ? *next : 1, NM_DIVISION_INTERVALS, divisions);
        return NM_OK;
    }
    size_t interval = (size_t)nm_log2(from_mib);

    interval = interval < NM_DIVISION_INTERVALS ? interval : NM_DIVISION_INTERVALS - 1;
    fill_divisions(settings, *next == 0 ? 0 : interval, interval + 1, divisions);
    *next = interval + 1;
    return NM_OK;
}

static nm_status take_divisions(words *text, nm_caching_settings *settings, nm_error *err)
{
    uint64_t divisions;
    size_t next = 0;
    nm_status status;

    if (!comes(text, '[')) {
        status = next_divisions(text, &divisions, err);
        if (status == NM_OK)
            fill_divisions(settings, 0, NM_DIVISION_INTERVALS, divisions);
        return status;
    }
    status = expect(text, '[', err);
    while (status == NM_OK && !comes(text, ']')) {
        status = take_interval(text, settings, &next, err);
        if (status == NM_OK && !comes(text, ']'))
            status = expect(text, ',', err);
    }
    return status == NM_OK ? expect(text, ']', err) : status;
}

/* Sizes in MiB (one in KiB), and what torch_npu takes for them. */
static const struct sized {
    const char *name;
    uint64_t least, most;
    size_t place; /* in nm_caching_settings */
    uint64_t unit_bytes;
} sized_options[] = {
    {"max_split_size_mb", 21, 1 << 20, offsetof(nm_caching_settings, max_split_bytes), MIB},
    {"base_addr_aligned_kb", 0, 16, offsetof(nm_caching_settings, alignment_bytes), 1024},
    {"segment_size_mb", 20, 512, offsetof(nm_caching_settings, page_bytes), MIB},
    {"large_segment_size_mb", 11, 1 << 20, offsetof(nm_caching_settings, large_segment_bytes), MIB},
    {"max_non_split_rounding_mb", 21, 1 << 20, offsetof(nm_caching_settings, spare_bytes), MIB},
};

static const struct sized *find_sized(const char *name)
{
    for (size_t i = 0; i < sizeof sized_options / sizeof sized_options[0]; i++)
        if (strcmp(sized_options[i].name, name) == 0)
            return &sized_options[i];
    return NULL;
}

static nm_status take_sized(words *text, const struct sized *option, nm_caching_settings *settings, nm_error *err)
{
    uint64_t number = 0;
    nm_status status = next_number(text, option->name, 1 << 20, &number, err);

    if (status != NM_OK)
        return status;
    if (number < option->least || number > option->most)
        return nm_fail(err, NM_ERR_USAGE, NM_NO_OFFSET, "%s is %" PRIu64 " to %" PRIu64, option->name, option->least,
                       option->most);
    number *= option->unit_bytes;
    memcpy((char *)settings + option->place, &number, sizeof number);
    text->has_page = text->has_page || strcmp(option->name, "segment_size_mb") == 0;
    return NM_OK;
}

static nm_status take_expandable(words *text, nm_caching_settings *settings, nm_error *err)
{
    nm_status status = next_word(text, err);

    if (status != NM_OK)
        return status;
    settings->is_expandable = strcmp(text->word, "True") == 0;
    if (!settings->is_expandable && strcmp(text->word, "False") != 0)
        return nm_fail(err, NM_ERR_USAGE, NM_NO_OFFSET, "expandable_segments is True or False, not '%s'", text->word);
    return NM_OK;
}

static bool is_without_influence(const char *name)
{
    return strncmp(name, "pinned_", 7) == 0 || strncmp(name, "pin_memory_", 11) == 0 ||
           strncmp(name, "release_lock_on_", 16) == 0 || strcmp(name, "multi_stream_lazy_reclaim") == 0 ||
           strcmp(name, "throw_on_npumalloc_oom") == 0;
}

/* The value of the option `name`; the text stands behind its ':'. */
static nm_status take_value(words *text, const char *name, nm_caching_settings *settings, nm_error *err)
{
    const struct sized *option = find_sized(name);
    nm_status status;

    if (option != NULL)
        return take_sized(text, option, settings, err);
    if (strcmp(name, "garbage_collection_threshold") == 0)
        return next_share(text, name, false, &settings->collect_threshold, err);
    if (strcmp(name, "per_process_memory_fraction") == 0)
        return next_share(text, name, true, &settings->memory_fraction, err);
    if (strcmp(name, "expandable_segments") == 0)
        return take_expandable(text, settings, err);
    if (strcmp(name, "roundup_power2_divisions") == 0)
        return take_divisions(text, settings, err);
    if (!is_without_influence(name) && strcmp(name, "page_size") != 0)
        return nm_fail(err, NM_ERR_USAGE, NM_NO_OFFSET, "option '%s' is not one that is simulated", name);
    status = next_word(text, err);
    if (status == NM_OK && strcmp(name, "page_size") == 0) {
        settings->has_gigabyte_pages = strcmp(text->word, "1g") == 0;
        if (!settings->has_gigabyte_pages)
            return nm_fail(err, NM_ERR_USAGE, NM_NO_OFFSET, "page_size is 1g, not '%s'", text->word);
    }
    return status;
}

static nm_status check_legal(const nm_caching_settings *settings, nm_error *err)
{
    if (settings->is_npu && settings->is_expandable && settings->max_split_bytes != NM_NO_SPLIT_LIMIT)
        return nm_fail(err, NM_ERR_USAGE, NM_NO_OFFSET, "expandable_segments excludes max_split_size_mb");
    if (settings->is_npu && settings->is_expandable && settings->collect_threshold > 0)
        return nm_fail(err, NM_ERR_USAGE, NM_NO_OFFSET, "expandable_segments excludes garbage_collection_threshold");
    if (settings->max_split_bytes < settings->large_segment_bytes)
        return nm_fail(err, NM_ERR_USAGE, NM_NO_OFFSET, "max_split_size_mb is less than large_segment_size_mb");
    return NM_OK;
}

nm_status nm_caching_settings_parse(const char *text, nm_caching_settings *settings, nm_error *err)
{
    words rest = {.at = text};
    char name[WORD_BYTES_MAX];
    nm_status status = NM_OK;

    while (status == NM_OK && rest.at[strspn(rest.at, " ")] != 0) {
        status = next_word(&rest, err);
        memcpy(name, rest.word, sizeof name);
        if (status == NM_OK)
            status = expect(&rest, ':', err);
        if (status == NM_OK)
            status = take_value(&rest, name, settings, err);
        if (status == NM_OK && rest.at[strspn(rest.at, " ")] != 0)
            status = expect(&rest, ',', err);
    }
    if (!rest.has_page)
        settings->page_bytes = settings->large_segment_bytes;
    return status == NM_OK ? check_legal(settings, err) : status;
}

/* ---- The text of settings ---------------------------------------------------------------------------------------- */

__attribute__((format(printf, 2, 3))) static void append(char *out, const char *format, ...)
{
    size_t len = strlen(out);
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(out + len, NM_SETTINGS_BYTES - len, format, arguments);
    va_end(arguments);
}

static void append_option(char *out, const char *name)
{
    append(out, "%s%s:", out[0] == 0 ? "" : ",", name);
}

static void append_divisions(const nm_caching_settings *settings, char *out)
{
    bool is_uniform = true;

    for (size_t i = 1; i < NM_DIVISION_INTERVALS; i++)
        is_uniform = is_uniform && settings->divisions[i] == settings->divisions[0];
    if (is_uniform && settings->divisions[0] == 0)
        return;
    append_option(out, "roundup_power2_divisions");
    if (is_uniform) {
        append(out, "%" PRIu64, settings->divisions[0]);
        return;
    }
    for (size_t i = 0; i < NM_DIVISION_INTERVALS; i++)
        append(out, "%s%" PRIu64 ":%" PRIu64, i == 0 ? "[" : ",", UINT64_C(1) << i, settings->divisions[i]);
    append(out, "]");
}

void nm_caching_settings_write(const nm_caching_settings *settings, char out[NM_SETTINGS_BYTES])
{
    nm_caching_settings usual = nm_caching_settings_default(settings->is_npu);

    out[0] = 0;
    if (settings->is_expandable) {
        append_option(out, "expandable_segments");
        append(out, "True");
    }
    if (settings->max_split_bytes != NM_NO_SPLIT_LIMIT) {
        append_option(out, "max_split_size_mb");
        append(out, "%" PRIu64, settings->max_split_bytes / MIB);
    }
    if (settings->collect_threshold > 0) {
        append_option(out, "garbage_collection_threshold");
        append(out, "%g", settings->collect_threshold);
    }
    if (settings->memory_fraction > 0) {
        append_option(out, "per_process_memory_fraction");
        append(out, "%g", settings->memory_fraction);
    }
    append_divisions(settings, out);
    if (settings->large_segment_bytes != usual.large_segment_bytes) {
        append_option(out, "large_segment_size_mb");
        append(out, "%" PRIu64, settings->large_segment_bytes / MIB);
    }
    if (settings->spare_bytes != usual.spare_bytes) {
        append_option(out, "max_non_split_rounding_mb");
        append(out, "%" PRIu64, settings->spare_bytes / MIB);
    }
    if (settings->page_bytes != settings->large_segment_bytes) {
        append_option(out, "segment_size_mb");
        append(out, "%" PRIu64, settings->page_bytes / MIB);
    }
    if (settings->alignment_bytes != usual.alignment_bytes) {
        append_option(out, "base_addr_aligned_kb");
        append(out, "%" PRIu64, settings->alignment_bytes / 1024);
    }
    if (settings->has_gigabyte_pages) {
        append_option(out, "page_size");
        append(out, "1g");
    }
}

/* ---- What the settings make of sizes ----------------------------------------------------------------------------- */

static uint64_t round_up(uint64_t bytes, uint64_t unit)
{
    return (bytes + unit - 1) / unit * unit;
}

/* To the next of the `divisions` equal parts between two powers of two. */
static uint64_t round_up_to_division(uint64_t bytes, uint64_t divisions)
{
    uint64_t floor = UINT64_C(1) << nm_log2(bytes);
    uint64_t part = floor >> nm_log2(divisions);

    return floor == bytes ? bytes : part == 0 ? floor * 2 : round_up(bytes, part);
}

uint64_t nm_caching_block_bytes(const nm_caching_settings *settings, uint64_t bytes, bool is_block_bytes)
{
    uint64_t padded = bytes + (is_block_bytes ? 0 : settings->pad_bytes);

    if (padded < NM_BLOCK_UNIT_BYTES)
        return NM_BLOCK_UNIT_BYTES;
    if (!is_block_bytes) {
        int interval = nm_log2(padded) > 20 ? nm_log2(padded) - 20 : 0;
        uint64_t divisions =
            settings->divisions[interval < NM_DIVISION_INTERVALS ? interval : NM_DIVISION_INTERVALS - 1];

        if (divisions > 1 && padded > NM_BLOCK_UNIT_BYTES * divisions)
            return round_up_to_division(padded, divisions);
    }
    return round_up(padded, NM_BLOCK_UNIT_BYTES);
}

uint64_t nm_caching_segment_bytes(const nm_caching_settings *settings, uint64_t block_bytes)
{
    if (block_bytes <= NM_SMALL_BYTES_MAX)
        return NM_SMALL_SEGMENT_BYTES;
    if (settings->has_gigabyte_pages)
        return round_up(block_bytes, GIB);
    if (block_bytes < NM_OWN_SEGMENT_BYTES)
        return settings->large_segment_bytes;
    return round_up(block_bytes, NM_OWN_SEGMENT_UNIT);
}

/* ---- The size-bucket pool ---------------------------------------------------------------------------------------- */

enum { CLASS_LOG2_MAX = 26 }; /* of classes:power2 */

static void set_power2_classes(nm_bucket_settings *settings)
{
    settings->class_count = 0;
    for (uint64_t bytes = settings->alignment_bytes; bytes <= UINT64_C(1) << CLASS_LOG2_MAX; bytes *= 2)
        settings->class_bytes[settings->class_count++] = bytes;
}

nm_bucket_settings nm_bucket_settings_default(void)
{
    nm_bucket_settings settings = {
        .maximum_bytes = UINT64_MAX,
        .alignment_bytes = NM_BLOCK_UNIT_BYTES,
        .slab_bytes = NM_SMALL_SEGMENT_BYTES,
    };

    set_power2_classes(&settings);
    return settings;
}

static nm_status take_classes(words *text, nm_bucket_settings *settings, nm_error *err)
{
    nm_status status;

    if (!comes(text, '[')) {
        status = next_word(text, err);
        if (status == NM_OK && strcmp(text->word, "power2") != 0)
            return nm_fail(err, NM_ERR_USAGE, NM_NO_OFFSET, "classes is power2 or [SIZE,...], not '%s'", text->word);
        return status;
    }
    status = expect(text, '[', err);
    while (status == NM_OK && !comes(text, ']')) {
        if (settings->class_count == NM_BUCKET_CLASSES_MAX)
            return nm_fail(err, NM_ERR_USAGE, NM_NO_OFFSET, "more than %d classes", NM_BUCKET_CLASSES_MAX);
        status = next_size(text, &settings->class_bytes[settings->class_count++], err);
        if (status == NM_OK && !comes(text, ']'))
            status = expect(text, ',', err);
    }
    return status == NM_OK ? expect(text, ']', err) : status;
}

static nm_status take_bucket_value(words *text, const char *name, nm_bucket_settings *settings, nm_error *err)
{
    if (strcmp(name, "classes") == 0)
        return take_classes(text, settings, err);
    if (strcmp(name, "initial") == 0)
        return next_size(text, &settings->initial_bytes, err);
    if (strcmp(name, "maximum") == 0)
        return next_size(text, &settings->maximum_bytes, err);
    if (strcmp(name, "alignment") == 0)
        return next_size(text, &settings->alignment_bytes, err);
    if (strcmp(name, "slab") == 0)
        return next_size(text, &settings->slab_bytes, err);
    return nm_fail(err, NM_ERR_USAGE, NM_NO_OFFSET, "option '%s' is none of initial, maximum, alignment, slab, classes",
                   name);
}

/* Classes are multiples of the alignment and ascend. */
static nm_status check_buckets(nm_bucket_settings *settings, nm_error *err)
{
    if (!is_power_of_two(settings->alignment_bytes) || settings->alignment_bytes > MIB)
        return nm_fail(err, NM_ERR_USAGE, NM_NO_OFFSET, "alignment must be a power of two up to 1 MiB");
    if (settings->slab_bytes == 0)
        return nm_fail(err, NM_ERR_USAGE, NM_NO_OFFSET, "slab must be more than 0");
    if (settings->initial_bytes > settings->maximum_bytes)
        return nm_fail(err, NM_ERR_USAGE, NM_NO_OFFSET, "initial is more than maximum");
    if (settings->class_count == 0)
        set_power2_classes(settings);
    for (size_t i = 0; i < settings->class_count; i++) {
        settings->class_bytes[i] = round_up(settings->class_bytes[i], settings->alignment_bytes);
        if (settings->class_bytes[i] <= (i == 0 ? 0 : settings->class_bytes[i - 1]))
            return nm_fail(err, NM_ERR_USAGE, NM_NO_OFFSET, "classes must ascend, also when they are aligned");
    }
    return NM_OK;
}

nm_status nm_bucket_settings_parse(const char *text, nm_bucket_settings *settings, nm_error *err)
{
    words rest = {.at = text};
    char name[WORD_BYTES_MAX];
    nm_status status = NM_OK;

    settings->class_count = 0; /* they follow from the alignment, unless they are given */
    while (status == NM_OK && rest.at[strspn(rest.at, " ")] != 0) {
        status = next_word(&rest, err);
        memcpy(name, rest.word, sizeof name);
        if (status == NM_OK)
            status = expect(&rest, ':', err);
        if (status == NM_OK)
            status = take_bucket_value(&rest, name, settings, err);
        if (status == NM_OK && rest.at[strspn(rest.at, " ")] != 0)
            status = expect(&rest, ',', err);
    }
    return status == NM_OK ? check_buckets(settings, err) : status;
}
