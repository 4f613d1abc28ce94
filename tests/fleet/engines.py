# SPDX-License-Identifier: Apache-2.0
#
# What the tests of a fleet share: the list of tables, files of SQL, and a ClickHouse cluster of server processes on loopback (node.py),
# which gives rows as lists of None, int, float and str.
import json
import os
import re
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.parse
import urllib.request


def read_list(path):
    """The tables of src/export/fleet.def: {table: (view, rows, [(column, type, column of the view)])}."""
    keys, tables = [], {}
    for line in open(path, encoding='utf-8'):
        if found := re.match(r'FLEET_KEY\((\w+), (\w+)\)', line):
            keys.append((found[1], found[2]))
        elif found := re.match(r'FLEET_TABLE\((\w+), (\w+), (\w+)\)', line):
            tables[found[1]] = (found[2], found[3], [])
        elif found := re.match(r'FLEET_COLUMN(?:_OF)?\((\w+), (\w+), (\w+)(?:, (\w+))?\)', line):
            tables[found[1]][2].append((found[2], found[3], found[4] or found[2]))
    return keys, tables


def statements(path):
    """Those of a file of SQL, without lines that are comments."""
    text = ''.join(line for line in open(path, encoding='utf-8') if not line.lstrip().startswith('--'))
    return [one.strip() for one in text.split(';\n') if one.strip()]


class Cluster:
    """ClickHouse servers, a shard each, on ports that are free."""

    def __init__(self, library, folder, node_count=2):
        holders = [socket.socket() for _ in range(2 * node_count)]
        for holder in holders:
            holder.bind(('127.0.0.1', 0))
        ports = [holder.getsockname()[1] for holder in holders]
        for holder in holders:
            holder.close()
        self.tcp, self.http = ports[:node_count], ports[node_count:]
        shards = ''.join(f'<shard><replica><host>127.0.0.1</host><port>{port}</port></replica></shard>' for port in self.tcp)
        config = os.path.join(folder, 'cluster.xml')
        with open(config, 'w', encoding='utf-8') as file:
            file.write(f'<clickhouse><remote_servers><npumem>{shards}</npumem></remote_servers></clickhouse>\n')
        node = os.path.join(os.path.dirname(os.path.abspath(__file__)), 'node.py')
        self.nodes = [
            subprocess.Popen([sys.executable, node, library, os.path.join(folder, f'node{n}'), str(self.tcp[n]), str(self.http[n]), config],
                             stdin=subprocess.PIPE, stdout=open(os.path.join(folder, f'node{n}.log'), 'w'), stderr=subprocess.STDOUT)
            for n in range(node_count)]
        self.urls = [f'http://127.0.0.1:{port}' for port in self.http]
        for n in range(node_count):
            self.wait(n, folder)

    def wait(self, n, folder):
        for _ in range(600):
            try:
                return urllib.request.urlopen(self.urls[n] + '/ping').read()
            except OSError:
                time.sleep(0.1)
            if self.nodes[n].poll() is not None:
                break
        raise RuntimeError('no ClickHouse: ' + open(os.path.join(folder, f'node{n}.log')).read()[-500:])

    def ask(self, sql, node=0, database='npumem', **settings):
        # An answer that fails when its first rows are out would be one of status 200, cut off.
        settings = dict(settings, database=database, wait_end_of_query=1, default_format='JSONCompactEachRowWithNamesAndTypes',
                        output_format_json_quote_64bit_integers=0, output_format_json_quote_denormals=1)
        request = urllib.request.Request(self.urls[node] + '/?' + urllib.parse.urlencode(settings), data=sql.encode())
        try:
            lines = urllib.request.urlopen(request).read().decode().splitlines()
        except urllib.error.HTTPError as error:
            raise RuntimeError(f'ClickHouse: {error.read().decode()[:600]}: {sql}') from None
        kinds = json.loads(lines[1]) if lines else []
        return [[float(cell) if cell is not None and 'Float' in kind else cell for cell, kind in zip(json.loads(line), kinds)]
                for line in lines[2:]]

    def end(self):
        for node in self.nodes:
            node.kill()
            node.wait()


def in_order(rows):
    """The same rows in one order."""
    return sorted(rows, key=lambda row: [(cell is not None, str(type(cell)), cell) for cell in row])
