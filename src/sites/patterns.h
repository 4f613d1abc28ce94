/* SPDX-License-Identifier: Apache-2.0
 *
 * Patterns by which frames are judged: a word that says what of a frame is looked at, and a GLOB of SQLite. Most say what is
 * plumbing; three say of files of Python whose they are.
 */
#ifndef NM_SITES_PATTERNS_H
#define NM_SITES_PATTERNS_H

#include <stdbool.h>
#include <stddef.h>

#include "base/buffer.h"
#include "base/bytes.h"
#include "base/error.h"

#define NM_SITE_RULES_BYTES_MAX (1u << 20)

typedef enum nm_pattern_target {
    NM_PATTERN_FUNCTION, /* without its return type */
    NM_PATTERN_FILE,
    NM_PATTERN_MODULE,
    NM_PATTERN_NAME,     /* of the file, without folders */
    NM_PATTERN_PYTHON,   /* the function of a frame of Python */
    NM_PATTERN_COMPILED, /* the file: plumbing too, written by a compiler of graphs */
    NM_PATTERN_LIBRARY,  /* the file: not plumbing, but it gives way to the program's own code */
    NM_PATTERN_OWN,      /* the package of such a file: the program's own */
    NM_PATTERN_TARGET_COUNT
} nm_pattern_target;

typedef struct nm_pattern {
    nm_pattern_target target;
    bool is_native;      /* frames of Python are not looked at */
    size_t offset, size; /* of its text in nm_patterns.texts, where a zero byte follows it */
    size_t plain_offset; /* there too: a part of it, maybe empty, that stands in all that matches it */
    size_t next;         /* index + 1 of the next with its target; 0: it is the last */
} nm_pattern;

typedef struct nm_patterns { /* a zeroed one is empty */
    nm_pattern *items;       /* owned */
    size_t count, capacity;
    size_t first[NM_PATTERN_TARGET_COUNT], last[NM_PATTERN_TARGET_COUNT]; /* index + 1, by target; 0: there is none */
    nm_buffer texts;
} nm_patterns;

typedef struct nm_pattern_subject {             /* a frame; borrowed */
    const char *texts[NM_PATTERN_TARGET_COUNT]; /* what each target looks at; NULL: the frame has none */
    bool is_python;
} nm_pattern_subject;

/* Adds one. NM_END: `target` is none of the words that nm_pattern_word gives. */
nm_status nm_patterns_add(nm_patterns *patterns, nm_bytes target, nm_bytes text, bool is_built_in, nm_error *err);

#define NM_PATTERNS_OF_PLUMBING ((1u << NM_PATTERN_LIBRARY) - 1)

const char *
nm_pattern_word(nm_pattern_target target); /* "function", "file", and so on: the enumeration's in small letters */
nm_bytes nm_pattern_text(const nm_patterns *patterns, const nm_pattern *pattern);

/*
 * Adds the patterns of a text: lines of a word (nm_pattern_word) and a GLOB; empty lines and those
 * that begin with # are skipped. NM_ERR_FORMAT: err->offset is the byte at which the bad line begins.
 */
nm_status nm_patterns_parse(nm_patterns *patterns, nm_bytes text, nm_error *err);

/* Does one match whose target is in the set, a bit for each? */
bool nm_patterns_match(const nm_patterns *patterns, unsigned targets, const nm_pattern_subject *subject);

void nm_patterns_free(nm_patterns *patterns);

#endif
