#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
#
# fleet.py MODULES EXPORTED WORK RANKS: the second half of fleet.sh.
import os
import re
import subprocess
import sys
import time

modules, exported, work, ranks = sys.argv[1], sys.argv[2], sys.argv[3], int(sys.argv[4])
source = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
sys.path.insert(0, os.path.join(source, 'tests/fleet'))
from engines import Cluster, read_list  # noqa: E402

keys, tables = read_list(os.path.join(source, 'src/export/fleet.def'))
views = open(os.path.join(source, 'examples/fleet/views.sql'), encoding='utf-8').read()
LIMITS = {'fleet_regression': 5, 'fleet_imbalance': 15}


def multiply(cluster, table, columns, times):
    """The rows of eight ranks TIMES times, with other ranks, hosts and sizes; at the peak with five times as many sites."""
    changed = {'rank': 'rank + 8 * n', 'host': "host || toString(intDiv(n, 2))", 'world_size': f'world_size * {times + 1}',
               'live_bytes': 'live_bytes + cityHash64(n, m, coalesce(site, \'\')) % 1048576',
               'site': "if(m = 0, site, site || ' ' || toString(m))", 'pid': 'pid + 8 * n'}
    if table != 'peak_site':
        changed.pop('site'), changed.pop('live_bytes')
    names = [name for name, *_ in keys + columns]
    asked = ', '.join(f'{changed.get(name, name)} AS c_{name}' for name in names)
    sites = 5 if table == 'peak_site' else 1
    cluster.ask(f"INSERT INTO npumem.{table} ({', '.join(names)}, file, file_hash) SELECT {asked}, concat('many', toString(n)), '' "
                f'FROM (SELECT * FROM npumem.{table}) AS t CROSS JOIN (SELECT number + 1 AS n FROM numbers({times})) AS a '
                f'CROSS JOIN (SELECT number AS m FROM numbers({sites})) AS b', distributed_foreground_insert=1)


def bytes_received(cluster):
    return cluster.ask("SELECT sum(value) FROM system.events WHERE event = 'NetworkReceiveBytes'")[0][0]


def main():
    cluster = Cluster(os.path.join(modules, '@chdb/lib-linux-x64-gnu/libchdb.so'), work)
    too_slow = 0
    try:
        subprocess.run(['bash', os.path.join(source, 'examples/fleet/load.sh'), '--tables', exported, *cluster.urls], check=True,
                       stdout=subprocess.DEVNULL)
        row_count = 0
        for table, (_, _, columns) in tables.items():
            if re.search(rf'FROM {table}\b', views):
                multiply(cluster, table, columns, ranks // 8 - 1)
                row_count += cluster.ask(f'SELECT count() FROM {table}')[0][0]
        (stored,), = cluster.ask("SELECT sum(bytes_on_disk) FROM clusterAllReplicas('npumem', system.parts) WHERE active AND database = 'npumem_local'")
        print(f'{ranks} ranks, 4 runs: {row_count} rows, {stored / 1e6:.1f} MB on disk')
        for name in re.findall(r'CREATE VIEW (\w+)', views):
            took = []
            for _ in range(3):
                before, begin = bytes_received(cluster), time.monotonic()
                rows = len(cluster.ask(f'SELECT * FROM {name} LIMIT 1000000'))
                took.append((time.monotonic() - begin, bytes_received(cluster) - before))
            seconds, received = sorted(took)[1]
            is_slow = seconds > LIMITS.get(name, 2)
            too_slow += is_slow
            print(f'{name:20} {seconds:6.2f} s {received / 1e6:8.2f} MB {rows:7} rows{"  TOO SLOW" if is_slow else ""}', flush=True)
    finally:
        cluster.end()
    sys.exit(1 if too_slow else 0)


main()
