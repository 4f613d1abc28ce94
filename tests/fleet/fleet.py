#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
#
# fleet.py SOURCE MODULES NPUMEM TRAIN: the second half of fleet.sh, in its scratch folder. SQLite is asked by the views of the databases; DuckDB
# and ClickHouse have what was exported of them. What was planted (nights.py) is written down here, by hand, as answers of the views.
import functools
import glob
import json
import os
import re
import resource
import shutil
import sqlite3
import subprocess
import sys

source, modules, npumem, train = sys.argv[1:]
sys.path.insert(0, os.path.join(source, 'tests/fleet'))
sys.path.insert(0, os.path.join(source, 'tests/support'))
import duckdb_library  # noqa: E402
from xxh64 import xxh64  # noqa: E402
from engines import Cluster, in_order, read_list, statements  # noqa: E402

EXAMPLES = os.path.join(source, 'examples/fleet')
KEYS, ALL_TABLES = read_list(os.path.join(source, 'src/export/fleet.def'))
TABLES = {name: table for name, table in ALL_TABLES.items() if table[1] != 'DETAIL'}
VIEWS = statements(os.path.join(EXAMPLES, 'views.sql'))
VIEW_NAMES = re.findall(r'CREATE VIEW (\w+)', '\n'.join(VIEWS))
DAY_NS, FIRST_NS, MIB = 86400 * 10**9, 1764000000 * 10**9, 1 << 20
JOB = 'train it'
failures = []


def check(is_so, what):
    if not is_so:
        failures.append(what)
        print('FAIL:', what[:1000], file=sys.stderr)


def same(got, expected, what):
    got, expected = in_order(map(list, got)), in_order(map(list, expected))
    if got != expected:
        check(False, f'{what}: {len(expected)} rows expected, {len(got)} there; missing '
                     f'{[row for row in expected if row not in got][:2]}, too many {[row for row in got if row not in expected][:2]}')


def signed(value):
    return value - (value >> 63 << 64)


def column_list(table):
    return ', '.join(f'"{name}"' for name, *_ in KEYS + ALL_TABLES[table][2])


def of_databases(paths, tables):
    """All that is exported, as views of the databases say it, as tables of one database."""
    all_of = sqlite3.connect(':memory:')
    for table, (_, _, columns) in tables.items():
        kinds = ', '.join(f'"{name}" {"INTEGER" if kind == "STACK" else kind}' for name, kind, *_ in KEYS + columns)
        all_of.execute(f'CREATE TABLE {table} ({kinds})')
    for path in paths:
        one = sqlite3.connect(f'file:{path}?mode=ro', uri=True)
        stacks = dict(one.execute('SELECT stack_id, text FROM stack_text'))
        one.create_function('hash_of', 1, lambda stack_id, stacks=stacks: stack_id and signed(xxh64(stacks[stack_id].encode())))
        (start_ns,) = one.execute('SELECT min(start_realtime_ns) FROM input').fetchone()
        for table, (view, _, columns) in tables.items():
            asked = ', '.join(f'hash_of("{of}")' if kind == 'STACK' else f'"{of}"' for _, kind, of in columns)
            rows = one.execute(f'SELECT {asked} FROM {view}').fetchall()
            all_of.executemany(f'INSERT INTO {table} VALUES ({", ".join("?" * (len(columns) + 3))})',
                               [(JOB, path.split('.')[0], start_ns, *row) for row in rows])
    return all_of


def same_as(ask, expected, what):
    for table in TABLES:
        same(ask(f'SELECT {column_list(table)} FROM {table}'), expected[table], f'{what}: table {table}')


def same_answers(ask, answers, what):
    for name in VIEW_NAMES:
        same(ask(f'SELECT * FROM {name}'), answers[name], f'{what}: {name}')


def check_planted(ask):
    """By hand, from nights.py."""
    def first(night):
        return FIRST_NS + (night - 1) * DAY_NS

    for question, expected in (
            ('SELECT run, start_ns, previous_run, world_count, rank_count, host_count, failed_count, most_rank FROM fleet_run',
             [['night1', first(1), '', 8, 8, 2, 0, 5], ['night2', first(2), 'night1', 9, 8, 2, 0, 5],
              ['night3', first(3), 'night2', 8, 8, 2, 1, 5], ['night4', first(4), 'night3', 8, 8, 2, 0, 5]]),
            ('SELECT * FROM fleet_leak',
             [[JOB, 'data.py:41 collate', 2, 4, 'night3', first(3), 'night4', 1, 8, 96 * MIB, MIB]]),
            ('SELECT run, host, rank, device, capacity_bytes FROM fleet_full',
             [[f'night{night}', 'node1', 5, 1, 16200 * MIB] for night in (1, 2, 3, 4)]),
            ('SELECT run, host, rank, device, outcome, tried_bytes, asking_site, holding_site, held_bytes FROM fleet_out_of_memory',
             [['night3', 'node1', 6, 2, 'fatal', 12 << 30, 'model.py:88 forward', 'model.py:20 embedding', 1600 * MIB]]),
            ("SELECT run, rank_count, most_rank, most_bytes, mean_bytes FROM fleet_imbalance WHERE site = 'model.py:20 embedding'",
             [[f'night{night}', 8, 5, 12800 * MIB, 3000.0 * MIB] for night in (1, 2, 3, 4)]),
            ("SELECT run, measure, previous_value, value FROM fleet_regression WHERE measure IN ('leaked bytes', 'failed ranks')",
             [['night3', 'failed ranks', 0.0, 1.0], ['night3', 'leaked bytes', 0.0, 96.0 * MIB]]),
            ('SELECT run, site FROM fleet_new_site', [['night4', 'moe.py:7 route'], ['night4', 'log.py:5 keep']]),
            ("SELECT name, value, run_count, failed_run_count, leaking_run_count FROM fleet_setting",
             [['CANN', '8.0.0', 2, 0, 0], ['CANN', '8.1.0', 2, 1, 2]]),
            ('SELECT host, rank_run_count, failed_count, out_of_memory_count, failed_ratio_of_all FROM fleet_host',
             [['node0', 16, 0, 0, 1 / 32], ['node1', 16, 1, 1, 1 / 32]]),
            ('SELECT run, world_count, first_missing, last_missing FROM fleet_missing', [['night2', 9, 4, 4]]),
            ('SELECT run, state_count, is_whole FROM (SELECT run, SUM(input_count) AS state_count, '
             "MIN(CASE WHEN verdict = 'complete' THEN 1 ELSE 0 END) AS is_whole FROM fleet_trust GROUP BY run) AS t",
             [['night1', 8, 0], ['night2', 8, 1], ['night3', 8, 1], ['night4', 8, 1]]),
            ('SELECT run, kind, place, rank_count, sum_bytes FROM fleet_growth',
             [['night3', 'leak', 'data.py:41 collate', 8, 96 * MIB], ['night4', 'leak', 'data.py:41 collate', 8, 96 * MIB],
              ['night4', 'host growth', '', 1, 800 * MIB]]),
            ("SELECT SUM(run_count), COUNT(*) FROM fleet_hit_rate WHERE bucket = 'all' AND hit_ratio BETWEEN 0.7 AND 0.9", [[4, 2]]),
            ('SELECT run, most_rank FROM fleet_idle WHERE unused_ratio > 0.05', [['night4', 1]])):
        same(ask(question), expected, f'planted: {question}')


def load(cluster, folder, *options):
    result = subprocess.run(['bash', os.path.join(EXAMPLES, 'load.sh'), *options, *([folder] if folder else []), *cluster.urls],
                            capture_output=True, text=True)
    return result.returncode, result.stdout + result.stderr


def load_well(cluster, folder, *options):
    status, said = load(cluster, folder, *options)
    check(status == 0, f'load.sh {options} {folder}: {said}')
    return said


def forget_loading(cluster):
    for node in range(2):
        cluster.ask('TRUNCATE TABLE npumem_local.loaded', node)


def row_counts(cluster):
    return [cluster.ask(f'SELECT count() FROM npumem_local.{table}', node) for table in TABLES for node in range(2)]


def check_loading_again(cluster, expected, folder):
    counts = row_counts(cluster)
    check('files' not in load_well(cluster, folder), 'what is in is loaded again')
    forget_loading(cluster)  # as where it was interrupted before it could say that it was done
    check('files' in load_well(cluster, folder), 'nothing is loaded again')
    check(row_counts(cluster) == counts, 'loading again changes rows')
    same_as(cluster.ask, expected, 'loaded again')


def check_replacing(cluster, expected):
    """A file takes the place of another of its name, and gives it back."""
    of = f'job={JOB.replace(" ", "%20")}/run=night4'
    for table in ('leak', 'peak_site', 'finding'):
        os.makedirs(f'newer/{table}/{of}')
        shutil.copy(glob.glob(f'fleet/{table}/{of}/node1-*.parquet')[0], f'older.{table}.parquet')
    subprocess.run([npumem, 'export', '--quiet', '--redact', '--job-name', JOB, '--run-name', 'night4', '-o', 'redacted', 'parquet', 'night4.node1.db'],
                   check=True)
    for table in ('leak', 'peak_site', 'finding'):
        name, = glob.glob(f'redacted/{table}/{of}/*.parquet')
        shutil.copy(name, f'newer/{table}/{of}/node1-r4-7.parquet')
    said = load_well(cluster, 'newer')
    check('3 files' in said, f'replacing says {said}')
    for table in ('leak', 'peak_site', 'finding'):
        (count, host_count), = cluster.ask(f"SELECT count(), countIf(host = 'node1') FROM {table} WHERE run = 'night4'")
        check(count == len([row for row in expected[table] if row[1] == 'night4']), f'{table}: {count} rows after a file was replaced')
        check(host_count == 0, f'{table}: rows of the file that was replaced are there')
    load_well(cluster, 'fleet')
    same_as(cluster.ask, expected, 'replaced and put back')


def check_detail(cluster):
    """Single allocations and stacks come as files beside those that are in; the others are the same to the byte."""
    subprocess.run([npumem, 'export', '--quiet', '--allocations', '--job-name', JOB, '--run-name', 'night4', '-o', 'detail', 'parquet',
                    'night4.node1.db'], check=True)
    said = load_well(cluster, 'detail')
    check('2 files' in said, f'loading single allocations says {said}')
    detail = {name: table for name, table in ALL_TABLES.items() if table[1] == 'DETAIL'}
    expected = of_databases(['night4.node1.db'], detail)
    for table in detail:
        rows = expected.execute(f'SELECT * FROM {table}').fetchall()
        check(rows, f'{table}: no rows to compare')
        same(cluster.ask(f'SELECT {column_list(table)} FROM {table}'), rows, f'ClickHouse: table {table}')


def check_other_order(cluster, expected):
    """Later nights first, of the tables that views ask; then all of it once more."""
    for node in range(2):
        for database in ('npumem', 'npumem_local'):
            cluster.ask(f'DROP DATABASE {database} SYNC', node, database='default')
    load_well(cluster, None, '--tables')
    asked = {table: rows for table, rows in expected.items() if re.search(rf'FROM {table}\b', '\n'.join(VIEWS))}
    for night in (4, 2, 1, 3):
        for table in asked:
            of = f'{table}/job={JOB.replace(" ", "%20")}/run=night{night}'
            shutil.copytree(f'fleet/{of}', f'part/{of}')
        load_well(cluster, 'part')
    same_as(cluster.ask, dict.fromkeys(expected, []) | asked, 'loaded in another order')
    check_loading_again(cluster, dict.fromkeys(expected, []) | asked, 'part')


def received_bytes(cluster, question):
    def so_far():
        return cluster.ask("SELECT sum(value) FROM system.events WHERE event = 'NetworkReceiveBytes'")[0][0]
    idle = -so_far() + so_far()
    before = so_far()
    cluster.ask(question)
    return so_far() - before - idle


def check_wire(cluster):
    for name in VIEW_NAMES:
        took = received_bytes(cluster, f'SELECT * FROM {name}')
        check(0 < took < 1000000, f'{name}: {took} bytes came over the wire')


def panels(variables):
    """Each query of the dashboard: (panel, SQL), with VARIABLES in place of their names."""
    board = json.load(open(os.path.join(EXAMPLES, 'grafana/npumem.json'), encoding='utf-8'))
    found = [(f'variable {one["name"]}', one['query']) for one in board['templating']['list']]
    found += [(panel['title'], target['rawSql']) for panel in board['panels'] for target in panel.get('targets', [])]
    check({one['name'] for one in board['templating']['list']} == set(variables), 'the dashboard has other variables')
    for title, sql in found:
        sql = re.sub(r'\$\{(\w+)(?::\w+)?\}|\$(job|run|rank)\b', lambda match: variables[match[1] or match[2]], sql)
        check('$' not in sql, f'dashboard, {title}: a variable that nobody knows: {sql}')
        yield title, sql


def check_dashboard(cluster):
    count = 0
    for title, sql in panels({'job': f"'{JOB}'", 'run': "'night1','night2','night3','night4'", 'rank': ','.join(map(str, range(9)))}):
        count += 1
        rows = cluster.ask(sql, database='default')
        check(len(rows) > 0, f'dashboard, {title}: no rows')
    check(count >= 11, f'the dashboard has {count} queries')


def check_walk(cluster):
    """The block of docs/fleet.md, line by line, as it stands there, but for the program and the ports; then the dashboard of that job."""
    text = open(os.path.join(source, 'docs/fleet.md'), encoding='utf-8').read()
    lines = re.search(r'## A walk\n.*?```sh\n(.*?)```', text, re.S)[1].splitlines()
    os.mkdir('walk')
    os.symlink(os.path.join(source, 'examples'), 'walk/examples')
    environment = dict(os.environ, PATH=os.path.dirname(npumem) + ':' + os.environ['PATH'])
    said = []
    for line in lines:
        line = line.replace('python3 train.py', f'{train} --steps 30 --leak')
        line = line.replace('127.0.0.1:8123', f'127.0.0.1:{cluster.http[0]}').replace('127.0.0.1:8124', f'127.0.0.1:{cluster.http[1]}')
        result = subprocess.run(['bash', '-c', line], cwd='walk', env=environment, capture_output=True, text=True)
        check(result.returncode == 0, f'walk: {line}: {result.returncode}: {result.stdout[-300:]}{result.stderr[-300:]}')
        said.append(result.stdout)
    leaked = sum(map(int, re.findall(r'^leak.bytes (\d+)$', said[0], re.M)))
    check(leaked > 0, f'walk: the program leaks {leaked} bytes')
    check(said[-2] == f'2026-01-31\t8\t0\t{leaked}\n', f'walk: a run with {leaked} bytes leaked is {said[-2]!r}')
    check(re.fullmatch(r'train_faults\.c:\d+ leak_one_buffer\t1\t2026-01-31\t8\n', said[-1]), f'walk: the leak is {said[-1]!r}')
    for title, sql in panels({'job': "'nightly'", 'run': "'2026-01-31'", 'rank': '0,1,2,3,4,5,6,7'}):
        rows = cluster.ask(sql, database='default')
        check(rows or title not in ('Runs', 'Leaks by site', 'Peak, share of the device', 'Completeness'), f'walk: dashboard, {title}: no rows')


def check_dead_node(cluster):
    cluster.nodes[1].kill()
    cluster.nodes[1].wait()
    for name in VIEW_NAMES:
        try:
            rows = cluster.ask(f'SELECT * FROM {name}')
            check(False, f'{name}: an answer of {len(rows)} rows with a node dead')
        except RuntimeError as error:
            check('ALL_CONNECTION_TRIES_FAILED' in str(error), f'{name}: with a node dead: {error}')
    status, said = load(cluster, 'newer')
    check(status != 0 and 'ALL_CONNECTION_TRIES_FAILED' in said, f'load.sh with a node dead: {status}: {said}')


def main():
    databases = of_databases(sorted(glob.glob('night?.node?.db')), TABLES)
    for view in VIEWS:
        databases.execute(view)

    def of_sqlite(sql):
        return [list(row) for row in databases.execute(sql)]
    expected = {table: of_sqlite(f'SELECT * FROM {table}') for table in TABLES}
    answers = {name: of_sqlite(f'SELECT * FROM {name}') for name in VIEW_NAMES}
    for table in TABLES:
        check(table in ('suspect',) or expected[table], f'{table}: no rows to compare')
    for name in VIEW_NAMES:
        check(answers[name], f'{name}: no rows to compare')
    check_planted(of_sqlite)

    scratch = os.getcwd()
    ask_files = functools.partial(duckdb_library.open(os.path.dirname(modules)), is_typed=True)
    os.chdir('fleet')
    for statement in statements(os.path.join(EXAMPLES, 'duckdb.sql')) + VIEWS:
        ask_files(statement)
    same_as(ask_files, expected, 'DuckDB')
    same_answers(ask_files, answers, 'DuckDB')
    os.chdir(scratch)

    cluster = Cluster(os.path.join(modules, '@chdb/lib-linux-x64-gnu/libchdb.so'), scratch)
    try:
        load_well(cluster, 'fleet', '--tables')
        check(all(cluster.ask('SELECT count() FROM npumem_local.rank', node)[0][0] > 0 for node in range(2)), 'a shard is empty')
        same_as(cluster.ask, expected, 'ClickHouse')
        same_answers(cluster.ask, answers, 'ClickHouse')
        check_dashboard(cluster)
        check_wire(cluster)
        check_replacing(cluster, expected)
        check_detail(cluster)
        check_other_order(cluster, expected)
        check_walk(cluster)
        check_dead_node(cluster)
    finally:
        cluster.end()
        used = resource.getrusage(resource.RUSAGE_CHILDREN)
        print(f'servers and loading took {used.ru_utime + used.ru_stime:.0f} s of processors')
    sys.exit(1 if failures else 0)


main()
