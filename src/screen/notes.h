/* SPDX-License-Identifier: Apache-2.0
 *
 * Parts of the notes on the screen that have files of their own.
 */
#ifndef NM_SCREEN_NOTES_H
#define NM_SCREEN_NOTES_H

#include "screen/screen.h"

/* Whether stacks were recorded, how much of the peaks has whole ones, and how much has a line of Python. */
nm_status nm_screen_stack_notes(nm_screen *s, nm_error *err);

#endif
