/* SPDX-License-Identifier: Apache-2.0
 *
 * Which site each stack stands for, for passes that add up what is known of stacks.
 */
#ifndef NM_VERDICTS_SITES_OF_STACKS_H
#define NM_VERDICTS_SITES_OF_STACKS_H

#include "store/verdicts/verdicts.h"

/* Fills settings->rows->site_of from stack. */
nm_status nm_sites_of_stacks_read(sqlite3 *db, const nm_verdict_settings *settings, nm_error *err);

static inline uint64_t nm_site_of_stack(const nm_map *site_of, uint64_t stack_id) /* 0: none is known */
{
    const uint64_t *site = nm_map_get(site_of, (nm_key){0, stack_id});

    return site == NULL ? 0 : *site;
}

#endif
