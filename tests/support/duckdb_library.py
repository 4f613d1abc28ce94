# SPDX-License-Identifier: Apache-2.0
"""DuckDB by its C interface, out of npm's package, which is its shared library: no module of Python is needed.

    ask = duckdb_library.open("build/node")     None: it is not here
    ask("SELECT ...")                           rows of texts; None for NULL
    ask("SELECT ...", is_typed=True)            rows of numbers and texts
"""
import ctypes
import glob
import os


class Result(ctypes.Structure):
    _fields_ = [("numbers", ctypes.c_uint64 * 3), ("pointers", ctypes.c_void_p * 3)]


def open(folder):
    found = glob.glob(os.path.join(folder, "node_modules/@duckdb/node-bindings-linux-*/libduckdb.so"))
    if not found:
        return None
    lib = ctypes.CDLL(found[0])
    for name, kind in (("value_varchar", ctypes.c_void_p), ("result_error", ctypes.c_char_p), ("row_count", ctypes.c_uint64),
                       ("column_count", ctypes.c_uint64), ("value_is_null", ctypes.c_bool), ("column_type", ctypes.c_int)):
        getattr(lib, "duckdb_" + name).restype = kind
    for name in ("value_varchar", "value_is_null"):
        getattr(lib, "duckdb_" + name).argtypes = [ctypes.c_void_p, ctypes.c_uint64, ctypes.c_uint64]
    lib.duckdb_column_type.argtypes = [ctypes.c_void_p, ctypes.c_uint64]
    lib.duckdb_free.argtypes = [ctypes.c_void_p]
    database, connection = ctypes.c_void_p(), ctypes.c_void_p()
    if lib.duckdb_open(None, ctypes.byref(database)) or lib.duckdb_connect(database, ctypes.byref(connection)):
        raise RuntimeError("DuckDB does not open")

    def text(result, column, row):
        if lib.duckdb_value_is_null(result, column, row):
            return None
        value = lib.duckdb_value_varchar(result, column, row)
        got = ctypes.string_at(value).decode()
        lib.duckdb_free(value)
        return got

    def ask(sql, is_typed=False):
        result = Result()
        at = ctypes.byref(result)
        if lib.duckdb_query(connection, sql.encode(), at):
            error = lib.duckdb_result_error(at).decode()
            lib.duckdb_destroy_result(at)
            raise RuntimeError(error)
        columns = lib.duckdb_column_count(at)
        rows = [[text(at, column, row) for column in range(columns)] for row in range(lib.duckdb_row_count(at))]
        kinds = [{10: float, 11: float, 17: str}.get(lib.duckdb_column_type(at, column), int) for column in range(columns)]
        lib.duckdb_destroy_result(at)
        if is_typed:
            rows = [[kind(cell) if cell is not None else None for kind, cell in zip(kinds, row)] for row in rows]
        return rows

    ask("SET enable_external_file_cache = false")  # a file that is written anew within a second is taken for the old one
    return ask
