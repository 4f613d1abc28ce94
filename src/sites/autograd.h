/* SPDX-License-Identifier: Apache-2.0
 *
 * What the names of PyTorch's C++ functions say of a backward pass. Its threads run no line of Python: what a person can
 * make use of is the node of the graph whose gradient is computed, and otherwise that it is a backward pass.
 */
#ifndef NM_SITES_AUTOGRAD_H
#define NM_SITES_AUTOGRAD_H

#include <stddef.h>

#define NM_AUTOGRAD_NAME "autograd (backward)" /* the site of what a backward pass takes outside of all nodes */

typedef enum nm_autograd {
    NM_AUTOGRAD_NONE = 0,
    NM_AUTOGRAD_ENGINE, /* what runs the nodes */
    NM_AUTOGRAD_NODE,   /* "apply" of a node */
} nm_autograd;

/* `name` is a function without its return type. *length: of the name alone, without its arguments. */
nm_autograd nm_autograd_of(const char *name, size_t *length);

#endif
