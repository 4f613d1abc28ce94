/* SPDX-License-Identifier: Apache-2.0
 *
 * A chain of functions that are inlined into one, compiled with optimisation: what test_symbol must find at an address is
 * written down by the chain itself.
 */
#ifndef INLINE_CHAIN_H
#define INLINE_CHAIN_H

#define INLINE_CHAIN_LINES 4

/* The address behind a call in the innermost function. lines[]: of that call, and of the calls that lead to it, outwards. */
const void *inline_chain(int lines[INLINE_CHAIN_LINES]);

/* The same, 40 functions deep: innermost `deep_0`, outermost inlined `deep_39`. *line: in `deep_chain`. */
const void *deep_chain(int *line);

#endif
