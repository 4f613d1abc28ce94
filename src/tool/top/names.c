/* SPDX-License-Identifier: Apache-2.0
 *
 * Definitions are kept as they came, with their texts in one buffer. The work of nm_sites is on a copy, since it adds stacks
 * for inlined functions whose numbers the stream may give to others later. The patterns of plumbing are those of schema/,
 * read by SQLite from a table in memory.
 */
#include "tool/top/names.h"

#include <sqlite3.h>
#include <stdlib.h>
#include <string.h>

#include "base/strings.h"
#include "sites/attribution.h"
#include "sites/cut.h"
#include "sites/inlined.h"
#include "store/database.h"
#include "store/plumbing.h"
#include "store/schema.h"

typedef struct kept_definition {
    nm_definition definition; /* a string's text is in `texts` */
    size_t text_at;
} kept_definition;

struct top_names {
    nm_patterns plumbing;
    kept_definition *kept; /* owned */
    size_t kept_count, kept_capacity;
    nm_buffer texts;
    bool is_stale; /* more has come since the sites were worked out */
    nm_definitions definitions;
    nm_sites sites;
    nm_strings words;
    nm_map words_of; /* stack -> number in `words`, as of the last resolve */
};

static nm_status read_patterns(nm_patterns *out, nm_error *err)
{
    sqlite3 *db = NULL;
    nm_status status = nm_db_open(":memory:", &db, err);

    if (status == NM_OK)
        status = nm_schema_apply_table(db, "plumbing", err);
    if (status == NM_OK)
        status = nm_plumbing_read(db, out, err);
    sqlite3_close(db);
    return status;
}

nm_status top_names_new(top_names **out, nm_error *err)
{
    top_names *names = calloc(1, sizeof *names);
    nm_status status = names == NULL ? nm_fail(err, NM_ERR_MEMORY, NM_NO_OFFSET, "out of memory")
                                     : read_patterns(&names->plumbing, err);

    if (status != NM_OK) {
        top_names_free(names);
        names = NULL;
    }
    *out = names;
    return status;
}

static void forget_sites(top_names *names)
{
    nm_sites_close(&names->sites);
    names->sites = (nm_sites){0};
    nm_definitions_free(&names->definitions);
    names->definitions = (nm_definitions){0};
    nm_map_free(&names->words_of);
}

void top_names_free(top_names *names)
{
    if (names == NULL)
        return;
    forget_sites(names);
    nm_patterns_free(&names->plumbing);
    nm_strings_free(&names->words);
    nm_buffer_free(&names->texts);
    free(names->kept);
    free(names);
}

static bool is_kept(uint64_t kind)
{
    return kind == NM_DEFINE_STRING || kind == NM_DEFINE_FRAME || kind == NM_DEFINE_STACK;
}

nm_status top_names_take(top_names *names, const nm_definition *definition, nm_error *err)
{
    size_t text_at = names->texts.len;
    nm_status status;

    if (!is_kept(definition->kind))
        return NM_OK;
    status = nm_array_grow(&names->kept, &names->kept_capacity, names->kept_count + 1, sizeof *names->kept, err);
    if (status == NM_OK && definition->kind == NM_DEFINE_STRING)
        status = nm_buffer_append(&names->texts, definition->string.data, definition->string.len, err);
    if (status == NM_OK)
        names->kept[names->kept_count++] = (kept_definition){*definition, text_at};
    names->is_stale = true;
    return status;
}

/* ---- All anew ------------------------------------------------------------------------------------------------------ */

static nm_status define_all(top_names *names, nm_error *err)
{
    nm_status status = NM_OK;

    for (size_t i = 0; i < names->kept_count && status == NM_OK; i++) {
        nm_definition definition = names->kept[i].definition;

        if (definition.kind == NM_DEFINE_STRING)
            definition.string.data = names->texts.data + names->kept[i].text_at;
        status = nm_definitions_add(&names->definitions, &definition, err);
    }
    return status == NM_OK ? nm_definitions_sort(&names->definitions, err) : status;
}

nm_status top_names_resolve(top_names *names, uint64_t native_depth, nm_error *err)
{
    nm_status status;

    if (!names->is_stale)
        return NM_OK;
    forget_sites(names);
    status = define_all(names, err);
    if (status == NM_OK)
        status = nm_cuts_mark(&names->definitions, native_depth, err);
    if (status == NM_OK)
        status = nm_inlined_expand(&names->definitions, err);
    if (status == NM_OK)
        status = nm_sites_open(&names->plumbing, &names->definitions, &names->sites, err);
    if (status == NM_OK)
        nm_sites_resolve(&names->sites, &names->definitions);
    names->is_stale = status != NM_OK;
    return status;
}

/* ---- Words --------------------------------------------------------------------------------------------------------- */

static nm_status put_site(const top_names *names, size_t stack, nm_buffer *out, nm_error *err)
{
    nm_attribution attribution = nm_attribution_of(&names->definitions, &names->sites, stack);
    size_t site = names->definitions.stacks.items[stack].site;

    if (attribution.name.len > 0)
        return nm_buffer_append(out, attribution.name.data, attribution.name.len, err);
    if (site == 0)
        return nm_buffer_append(out, "(no stack)", strlen("(no stack)"), err);
    return nm_site_label(&names->definitions, &names->definitions.frames.items[site - 1], out, err);
}

static nm_status intern(top_names *names, const char *text, uint32_t *number, nm_error *err)
{
    return nm_strings_intern(&names->words, (nm_bytes){(const uint8_t *)text, strlen(text)}, number, err);
}

nm_status top_names_site(top_names *names, uint64_t stack_id, bool is_baseline, uint32_t *number, nm_error *err)
{
    nm_key key = {0, stack_id};
    const uint64_t *known = nm_map_get(&names->words_of, key);
    size_t place = nm_id_map_find(&names->definitions.stacks.by_id, stack_id);
    nm_buffer text = {0};
    nm_status status;

    if (is_baseline && stack_id == 0)
        return intern(names, "(baseline)", number, err);
    if (stack_id == 0 || place == NM_ID_MAP_NONE)
        return intern(names, "(no stack)", number, err);
    if (known != NULL) {
        *number = (uint32_t)*known;
        return NM_OK;
    }
    status = put_site(names, place, &text, err);
    if (status == NM_OK)
        status = nm_strings_intern(&names->words, (nm_bytes){text.data, text.len}, number, err);
    if (status == NM_OK)
        status = nm_map_put(&names->words_of, key, *number, err);
    nm_buffer_free(&text);
    return status;
}

nm_bytes top_names_text(const top_names *names, uint32_t number)
{
    return nm_strings_get(&names->words, number);
}
