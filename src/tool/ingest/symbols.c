/* SPDX-License-Identifier: Apache-2.0
 *
 * Answers come from files that anybody may have made, so they are read in a process of their own (symbol/apart.c). A file
 * that cannot be read is said in a line and costs its names, never the load.
 */
#include "tool/ingest/symbols.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/shown.h"
#include "symbol/folders.h"

struct ingest_symbols {
    nm_symbol_folders *folders;
    nm_frame_namer namer;
};

static void say(void *context, const char *path, const char *why)
{
    (void)context;
    char shown[PATH_MAX];

    fprintf(stderr, "npumem-ingest: %s: %s\n", nm_shown_text(shown, sizeof shown, path), why);
}

static nm_bytes text_of(const char *text)
{
    return text == NULL ? (nm_bytes){0} : (nm_bytes){(const uint8_t *)text, strlen(text)};
}

static nm_status put(nm_frame_answers *answers, size_t index, const nm_symbol_list *list, nm_error *err)
{
    nm_frame_place places[NM_SYMBOL_DEPTH_MAX];

    for (size_t i = 0; i < list->count; i++)
        places[i] =
            (nm_frame_place){text_of(list->items[i].function), text_of(list->items[i].file), list->items[i].line};
    return nm_frame_answers_put(answers, index, places, list->count, err);
}

static nm_status ask(void *context, const nm_frame_question *question, nm_frame_answers *answers, nm_error *err)
{
    ingest_symbols *symbols = context;
    const char *path = nm_symbol_folders_find(symbols->folders, question->build_id);
    nm_symbol_list *lists = path == NULL ? NULL : calloc(question->count, sizeof *lists);
    nm_error why = {0};
    nm_status status = NM_OK;

    if (path == NULL)
        return NM_OK;
    if (lists == NULL)
        return nm_fail(err, NM_ERR_MEMORY, NM_NO_OFFSET, "out of memory");
    if (nm_symbol_find_apart(path, question->offsets, question->count, lists, &why) != NM_OK)
        say(NULL, path, why.text); /* its frames stay as they are */
    for (size_t i = 0; i < question->count; i++) {
        if (status == NM_OK)
            status = put(answers, i, &lists[i], err);
        nm_symbol_list_clear(&lists[i]);
    }
    free(lists);
    return status;
}

nm_status ingest_symbols_new(const char *const *folders, size_t count, ingest_symbols **out, nm_error *err)
{
    static const nm_symbol_listener listener = {.tell = say};
    ingest_symbols *symbols = calloc(1, sizeof *symbols);

    *out = symbols;
    if (symbols == NULL)
        return nm_fail(err, NM_ERR_MEMORY, NM_NO_OFFSET, "out of memory");
    symbols->namer = (nm_frame_namer){.context = symbols, .ask = ask};
    nm_status status = nm_symbol_folders_new(&listener, &symbols->folders, err);
    for (size_t i = 0; i < count && status == NM_OK; i++)
        status = nm_symbol_folders_add(symbols->folders, folders[i], err);
    return status;
}

void ingest_symbols_free(ingest_symbols *symbols)
{
    if (symbols == NULL)
        return;
    nm_symbol_folders_free(symbols->folders);
    free(symbols);
}

const nm_frame_namer *ingest_symbols_namer(const ingest_symbols *symbols)
{
    return symbols == NULL ? NULL : &symbols->namer;
}
