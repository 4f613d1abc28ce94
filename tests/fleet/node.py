#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
#
# One ClickHouse server on loopback, out of npm's libchdb.so: clickhouse-local of that version knows SYSTEM START LISTEN. For tests
# alone: it has no users and no password. Runs until it is killed, or until what it reads from ends: with the test that started it.
#
# usage: node.py LIBRARY FOLDER TCP_PORT HTTP_PORT CONFIG.xml
import ctypes
import os
import sys
import threading

library, folder, tcp, http, config = sys.argv[1:]


def end_with_parent():
    sys.stdin.buffer.read()
    os._exit(0)


threading.Thread(target=end_with_parent, daemon=True).start()
chdb = ctypes.CDLL(library)
chdb.chdb_query_cmdline.restype = ctypes.c_void_p
chdb.chdb_result_error.restype = ctypes.c_char_p
chdb.chdb_result_error.argtypes = [ctypes.c_void_p]
forever = ("SELECT sleepEachRow(1) FROM numbers(86400) SETTINGS max_block_size = 1, "
           "function_sleep_max_microseconds_per_block = 0 FORMAT Null")
words = ["clickhouse", "--config-file", config, "--path", folder, "--listen_host", "127.0.0.1", "--tcp_port", tcp,
         "--http_port", http, "--query", "SYSTEM START LISTEN TCP; SYSTEM START LISTEN HTTP; " + forever]
line = (ctypes.c_char_p * (len(words) + 1))(*[word.encode() for word in words], None)
result = chdb.chdb_query_cmdline(len(words), line)
error = chdb.chdb_result_error(result) if result else b"no result"
sys.exit(error.decode() if error else 0)
