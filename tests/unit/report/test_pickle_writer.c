/* SPDX-License-Identifier: Apache-2.0
 *
 * Pickles as they are written, against bytes worked out by hand from the list of opcodes (Python's pickletools).
 */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/suites.h"
