/* SPDX-License-Identifier: Apache-2.0
 *
 * Questions go to the threads of symbol/ and answers are fetched when the drain asks for them, so that no pass waits for
 * debug information.
 */
#include "tool/record/names.h"

#include <stdlib.h>
#include <string.h>

#include "symbol/symbol.h"

struct record_names {
    nm_symbols *symbols;
    nm_namer namer;
    nm_namer_place places[NM_SYMBOL_DEPTH_MAX]; /* of the last answer */
};

static nm_status ask(void *context, const nm_namer_question *question, nm_error *err)
{
    record_names *names = context;
    nm_symbols_question asked = {.ticket = question->ticket,
                                 .path = question->path,
                                 .inode = question->inode,
                                 .is_module = question->is_module,
                                 .offset = question->offset};

    return nm_symbols_ask(names->symbols, &asked, err);
}

static nm_bytes text_of(const char *text)
{
    return text == NULL ? (nm_bytes){0} : (nm_bytes){(const uint8_t *)text, strlen(text)};
}

static bool poll(void *context, nm_namer_answer *answer)
{
    record_names *names = context;
    nm_symbols_answer found;

    if (!nm_symbols_poll(names->symbols, &found))
        return false;
    for (size_t i = 0; i < found.places.count; i++) {
        const nm_symbol *symbol = &found.places.items[i];

        names->places[i] = (nm_namer_place){text_of(symbol->function), text_of(symbol->file), symbol->line};
    }
    *answer = (nm_namer_answer){.ticket = found.ticket,
                                .is_module = found.is_module,
                                .places = names->places,
                                .place_count = found.places.count,
                                .build_id = found.build_id};
    return true;
}

static size_t waiting(void *context)
{
    record_names *names = context;

    return nm_symbols_waiting(names->symbols);
}

nm_status record_names_new(record_names **out, nm_error *err)
{
    record_names *names = calloc(1, sizeof *names);

    *out = NULL;
    if (names == NULL)
        return nm_fail(err, NM_ERR_MEMORY, NM_NO_OFFSET, "out of memory at the names");
    names->namer = (nm_namer){.context = names, .ask = ask, .poll = poll, .waiting = waiting};
    nm_status status = nm_symbols_new(&names->symbols, err);
    if (status == NM_OK)
        *out = names;
    else
        free(names);
    return status;
}

void record_names_free(record_names *names)
{
    /* A large library's debug information may still be read: at the end of the program nobody waits for that. */
    if (names == NULL || nm_symbols_waiting(names->symbols) > 0)
        return;
    nm_symbols_free(names->symbols);
    free(names);
}

const nm_namer *record_names_namer(const record_names *names)
{
    return &names->namer;
}
