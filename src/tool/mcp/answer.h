/* SPDX-License-Identifier: Apache-2.0
 *
 * The answer of a tool: an object of JSON that a model reads, so it has a bound, and what does not fit is had by asking again with
 * the cursor `more`. Texts of a recording are data of somebody else: they are cut, and what is not safe to show is out of them.
 */
#ifndef NM_TOOL_MCP_ANSWER_H
#define NM_TOOL_MCP_ANSWER_H

#include <sqlite3.h>

#include "base/json.h"

#define MCP_ANSWER_BYTES_MAX 8000 /* some 2,000 tokens */
#define MCP_TAIL_BYTES       1000 /* of these, for what stands behind the rows: what to ask next */
#define MCP_TEXT_COLUMNS     200  /* characters of one text of a recording */
#define MCP_SENTENCE_COLUMNS 600  /* of what we say ourselves, with such texts in it */

/* ---- Room ---------------------------------------------------------------------------------------------------------------- */

typedef struct mcp_mark {
    size_t len;
    bool has_one;
} mcp_mark;

mcp_mark mcp_mark_here(const nm_json *json);
void mcp_go_back(nm_json *json, mcp_mark mark); /* what was written since was not */
bool mcp_has_room(const nm_json *json);

/* ---- Texts --------------------------------------------------------------------------------------------------------------- */

/* NULL: null. `columns` is how many characters of it are kept; of a longer one the last is a mark for what is left out. */
void mcp_put_text(nm_json *json, const char *name, const char *text, size_t columns);

/* A value that is JSON already, each text of it as above; members of the name `skipped` are left out. */
nm_status mcp_put_json(nm_json *json, const char *name, nm_bytes value, const char *skipped, size_t columns,
                       nm_error *err);

/* A text of many lines, from the byte `from` on, as far as there is room; *more is where the rest begins, 0: there is none. */
void mcp_put_lines(nm_json *json, const char *name, nm_bytes text, size_t from, int64_t *more);

/* The member `more`, the cursor; nothing for 0. */
void mcp_put_more(nm_json *json, int64_t more);

/* What is asked for by the cursor that somebody gives. NM_ERR_USAGE: it is none of ours. NULL: 0. */
nm_status mcp_read_more(const char *cursor, int64_t *from, nm_error *err);

/* ---- Rows ---------------------------------------------------------------------------------------------------------------- */

typedef struct mcp_rows {
    int64_t from;      /* so many rows are passed over */
    int64_t count_max; /* 0: as many as there is room for */
    int64_t count;     /* written */
    bool is_cut;       /* there are more: from + count is where the next one would be */
} mcp_rows;

/*
 * {"columns":["site",...],"rows":[["a.py:3 f",...],...]}: the names once, the rows as lists; without a name the two members alone. A
 * number beyond 2^53 is a text, a blob says how long it is. Does not finalize the statement, which knows if it failed.
 */
void mcp_put_rows(nm_json *json, const char *name, sqlite3_stmt *statement, mcp_rows *rows);

/* A list of objects, without what is NULL. */
void mcp_put_objects(nm_json *json, const char *name, sqlite3_stmt *statement, mcp_rows *rows);

/* ---- Several lists as one ------------------------------------------------------------------------------------------------ */

/* A cursor is the letter of the list that the next page begins in, and how many of its rows were shown: "f12". */
typedef struct mcp_place {
    const char *parts; /* letters of the lists that are still to come */
    int64_t from;      /* rows of the first of them that were shown */
} mcp_place;

/* NM_ERR_USAGE: it is none of ours. NULL: as it is. */
nm_status mcp_read_place(const char *cursor, mcp_place *place, nm_error *err);

/* Behind the rows of a list, which began at `place`: its cursor, if they were cut. */
void mcp_put_place(nm_json *json, const mcp_place *place, const mcp_rows *rows);

/* ---- What to ask next -------------------------------------------------------------------------------------------------- */

/* A call with texts as its arguments, in pairs, NULL at the end: mcp_put_next(json, "query", "handle", handle, "topic", "catalog",
 * NULL). Between nm_json_begin(json, "next", '[') and nm_json_end. */
void mcp_put_next(nm_json *json, const char *tool, ...) __attribute__((sentinel));

#endif
