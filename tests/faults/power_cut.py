# SPDX-License-Identifier: Apache-2.0
"""What a power cut leaves, played from a log of what npumem-ingest and npumem-record did to their files: what was synced is there;
of what was not, each write has reached the disk, or has not, or garbage stands in its place, and of the names that were changed
since their folder was synced the first so many have. A database is the old one or the new one, to the byte, or not there where none
was. A trace has every event of the blocks that were synced, says what is missing, and has nothing twice."""
import os
import shutil
import sqlite3
import struct

from trial import IS_WHOLE, begin, check_numbers, clear, content, events_of, expect, finish, leave_out, paths, run, told

LOG = "log"


class File:
    def __init__(self):
        self.synced, self.pending = b"", []

    def sync(self):
        self.synced, self.pending = self.after(self.pending), []

    def after(self, changes):
        data = bytearray(self.synced)
        for kind, at, piece in changes:
            if kind == "cut":
                data = data[:at] + bytes(max(0, at - len(data)))
            else:
                data += bytes(max(0, at - len(data)))
                data[at:at + len(piece)] = piece
        return bytes(data)

    def left(self, random, mode):
        """What a cut leaves of it."""
        changes = []
        for kind, at, piece in self.pending:
            fate = mode if mode != "any" else random.choice(("written", "lost", "garbled"))
            if fate == "garbled" and kind == "write":
                piece = random.randbytes(len(piece))
            if fate == "lost" and kind == "write" and random.random() < 0.5:
                continue
            if fate == "lost":  # its length has reached the disk
                if kind == "cut":
                    continue
                piece = bytes(len(piece))
            changes.append((kind, at, piece))
        return self.after(changes)


class Disk:
    """Files by number, and names: those that are sure, and changes of names since."""

    def __init__(self):
        self.files, self.names, self.changes = {}, {}, []

    def play(self, entry):
        kind, name, *rest = entry
        if kind == "open":
            now = self.named(len(self.changes))
            if now.get(rest[0]) != name:
                if name not in now.values():
                    self.files[name] = File()
                self.changes.append(("add", rest[0], name))
        elif kind in ("write", "cut"):
            self.files.setdefault(name, File()).pending.append((kind, *rest))
        elif kind == "sync" and name in self.files:
            self.files[name].sync()
        elif kind == "move":
            self.changes.append(("move", name, rest[0]))
        elif kind == "remove":
            self.changes.append(("remove", name, None))

    def sync_folder(self):
        self.names, self.changes = self.named(len(self.changes)), []

    def named(self, count):
        names = dict(self.names)
        for kind, name, other in self.changes[:count]:
            if kind == "add":
                names[name] = other
            elif kind == "move":
                names[other] = names.pop(name, None)
            else:
                names.pop(name, None)
        return names


def entries(path):
    """(kind, file or name, ...) of each call, in their order."""
    data, at = content(path), 0
    while at < len(data):
        end = data.index(b"\n", at)
        kind, _, rest = data[at:end].decode().partition(" ")
        at = end + 1
        if kind == "write":
            name, offset, count = rest.split(" ")
            yield kind, name, int(offset), data[at:at + int(count)]
            at += int(count)
        elif kind == "cut":
            name, count = rest.split(" ")
            yield kind, name, int(count), b""
        elif kind == "open":
            yield kind, *rest.split(" ", 1)
        elif kind == "move":
            yield kind, *rest.split("\t")
        else:
            yield kind, rest


def folder_number(path):
    info = os.stat(path)
    return f"{info.st_dev:x}.{info.st_ino:x}"


# ---- A database


def cut_the_power(random, old, what):
    """At each call: what would be found under the name."""
    place, cuts, found = os.path.abspath("place/run.db"), 0, {"old": 0, "new": 0}
    new, before = content(place), content(old) if old else None
    disk, folder = Disk(), folder_number("place")
    if old:
        disk.files["old"] = File()
        disk.files["old"].synced = before
        disk.names[place] = "old"
    calls = list(entries(LOG))
    expect(any(entry[0] == "move" for entry in calls) and sum(entry[0] == "sync" for entry in calls) >= 2,
           f"{what}: {len(calls)} calls: neither moved nor synced")
    for number, entry in enumerate(calls):
        if entry[0] == "open" and entry[2] == place and old:
            continue  # looked at, not made
        if entry[:2] == ("sync", folder):
            disk.sync_folder()
        else:
            disk.play(entry)
        is_near = entry[0] in ("sync", "move", "remove") or len(calls) - number < 30
        if not (is_near or IS_WHOLE or number % 7 == 0):
            continue
        for mode in ("written", "lost", "garbled") + ("any",) * (10 if IS_WHOLE else 3):
            names = disk.named(random.randint(0, len(disk.changes)))
            cuts += 1
            if place not in names:
                expect(not old, f"{what}, call {number} {entry[0]}: what stood there is gone")
                continue
            left = disk.files[names[place]].left(random, mode)
            kind = "new" if left == new else "old" if left == before else None
            if expect(kind, f"{what}, call {number} {entry[0]}, {mode}: {len(left)} bytes that are neither the old database nor the new"):
                found[kind] += 1
    expect(disk.named(len(disk.changes)).get(place) and not disk.changes and found["new"] > 0,
           f"{what}: at the end the new database is not sure: {found}, {disk.changes}")
    print(f"{what}: {len(calls)} calls, {cuts} power cuts: {found}")


def databases(random):
    run(paths.text2trace, paths.trace, "run.zst")
    run(paths.ingest, "--quiet", "--detail", "none", "-o", "other.db", "run.zst")
    for what, old, options in (("nothing there", None, ()), ("over another", "other.db", ()), ("by inserts", "other.db", ("--safe-load",))):
        clear("place")
        os.mkdir("place")
        if old:
            shutil.copy(old, "place/run.db")
        ended = run(paths.ingest, "--quiet", "--force", *options, "-o", "place/run.db", "run.zst", LD_PRELOAD=paths.at_call, AT_CALL_LOG=LOG)
        expect(ended[0] == 0, f"with the shim it ends with {ended}")
        cut_the_power(random, old, what)


# ---- A trace


def events_in(data):
    """Of the whole blocks in front, by their headers alone (docs/trace-format.md)."""
    at = count = 0
    while len(data) - at >= 8:
        magic, header_bytes = struct.unpack_from("<II", data, at)
        if magic != 0x184d2a5e or len(data) - at - 8 < header_bytes:
            break
        events, = struct.unpack_from("<I", data, at + 8 + 64)
        frame_bytes, = struct.unpack_from("<I", data, at + 8 + 80)
        if len(data) - at - 8 - header_bytes < frame_bytes:
            break
        at += 8 + header_bytes + frame_bytes
        count += events
    return count


def check_left(what, left, sure, end):
    """The events of what was synced, none torn or twice; whole is what is as at the end alone."""
    with open("left.zst", "wb") as file:
        file.write(left)
    status, _, err = run(paths.ingest, "--quiet", "--force", "-o", "left.db", "left.zst")
    if status == 1 and sure == 0:
        return 0
    if not expect(status == (0 if left == end else 3), f"{what}: npumem-ingest ends with {status}: {err}"):
        return 0
    with sqlite3.connect("file:left.db?mode=ro", uri=True) as database:
        ingested, = database.execute("SELECT events_ingested FROM input").fetchone()
        found = events_of(database)
    expect(ingested >= sure, f"{what}: {sure} events were synced, {ingested} are there")
    for thread, kinds in found.items():
        for kind, numbers in zip(("allocations", "frees"), kinds):
            check_numbers(what, thread, kind, numbers, 0, False)
    return ingested


def traces(random):
    run(paths.record, "-q", "--ring-dir", os.getcwd(), "--sync", "0.2s", "--sample-interval", "0", "-o", "t.zst", "--", paths.spin_events, "--ack",
        "ack", "--threads", "2", "--events", "2400", "--pace-ns", "1000000", LD_PRELOAD=paths.at_call, AT_CALL_LOG=LOG)
    place, end, disk, cuts, syncs = os.path.abspath("t.zst"), content("t.zst"), Disk(), 0, 0
    expect(sum(map(sum, told("ack"))) == 9600 and events_in(end) >= 9600, f"{told('ack')} acknowledged, {events_in(end)} in the file")
    for number, entry in enumerate(entries(LOG)):
        disk.play(entry)
        name = disk.named(len(disk.changes)).get(place)
        if name is None or entry[1] != name or entry[0] == "open":
            continue
        syncs += entry[0] == "sync"
        file = disk.files[name]
        for mode in ("written", "lost", "garbled") + ("any",) * (20 if IS_WHOLE else 1):
            cuts += 1
            check_left(f"trace, call {number} {entry[0]}, {mode}", file.left(random, mode), events_in(file.synced), end)
    expect(syncs >= 4 and file.synced == end, f"{syncs} syncs; at the end {len(file.synced)} of {len(end)} bytes are sure")
    print(f"trace: {syncs} syncs, {cuts} power cuts")


seeded = begin()
leave_out("calls that write one page after another")
databases(seeded)
traces(seeded)
finish()
