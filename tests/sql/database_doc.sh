#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# database_doc.sh SCHEMA_DOC SOURCE_DIR: every column of the schema has its comment, and docs/database.md is made from them.
set -u
"$1" "$2/schema/intro.md" >database.md || exit 1
diff -u "$2/docs/database.md" database.md || {
    echo "docs/database.md is stale: cmake --build BUILD --target docs" >&2
    exit 1
}
