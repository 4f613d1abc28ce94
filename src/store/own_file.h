/* SPDX-License-Identifier: Apache-2.0
 *
 * SQLite opens files by their names. Where the file is one that we have made and hold open, it must be that very one, whatever
 * has come to have its name.
 */
#ifndef NM_STORE_OWN_FILE_H
#define NM_STORE_OWN_FILE_H

#include <sqlite3.h>

#include "base/error.h"

/* As nm_db_open, of a file that is open as `fd`. */
nm_status nm_db_open_own(const char *path, int fd, sqlite3 **out, nm_error *err);

/* From now on, until the end, SQLite opens this file of ours (NM_ERR_IO: what has the name is not), or files that it makes. */
nm_status nm_own_file_begin(const char *path, nm_error *err);
void nm_own_file_end(void);

#endif
