# SPDX-License-Identifier: Apache-2.0
"""Questions to the database that was made last. SQLite reads all views before the first one, which takes longer than most
questions do: that is done once a database."""
import sqlite3

opened = {}


def forget():
    """Before a database is made anew."""
    while opened:
        opened.popitem()[1].close()


def rows(database, sql):
    if database not in opened:
        forget()
        opened[database] = sqlite3.connect(database)
    return opened[database].execute(sql).fetchall()
