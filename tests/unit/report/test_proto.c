/* SPDX-License-Identifier: Apache-2.0
 *
 * The wire format of protocol buffers, against bytes worked out by hand (those of its documentation among them).
 */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "support/suites.h"
