#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""wheel.py WHEEL TARBALL FOLDER ARCH: unpacks a wheel of npumem and holds it to what wheels are (PyPA's binary distribution format),
to its own list of files, and to the tarball: the same files, programs that may be run, nothing left
out but what names the tarball's folders."""
import base64
import csv
import hashlib
import os
import subprocess
import sys
import zipfile

wheel, tarball, folder, arch = sys.argv[1:]
name = os.path.basename(wheel)[:-4]
version = name.split("-")[1]
info, data = "npumem-%s.dist-info/" % version, "npumem-%s.data/" % version

with zipfile.ZipFile(wheel) as archive:
    archive.extractall(folder)
    entries = {entry.filename: entry for entry in archive.infolist()}
    texts = {part: archive.read(info + part).decode() for part in ("METADATA", "WHEEL", "RECORD", "LICENSE")}
    contents = {entry: archive.read(entry) for entry in entries}
assert len(entries) == len(archive.infolist()), "a name twice"

rows = list(csv.reader(texts["RECORD"].splitlines()))
assert sorted(row[0] for row in rows) == sorted(entries), "RECORD has other files"
for path, digest, size in rows:
    if path == info + "RECORD":
        assert (digest, size) == ("", "")
        continue
    wanted = base64.b64encode(hashlib.sha256(contents[path]).digest(), b"-_").strip(b"=").decode()
    assert (digest, int(size)) == ("sha256=" + wanted, len(contents[path])), path

said = dict(line.split(": ", 1) for line in (texts["METADATA"] + texts["WHEEL"]).splitlines())
assert (said["Name"], said["Version"], said["Root-Is-Purelib"]) == ("npumem", version, "false"), said
assert "-".join(["npumem", version, said["Tag"]]) == name, said
assert "Apache License" in texts["LICENSE"]

modes = {}
for line in subprocess.check_output(["tar", "tvzf", tarball], universal_newlines=True).splitlines():
    mode, path = line.split()[0], line.split()[5].split("/", 1)[1]
    if mode[0] != "d" and path not in ("env.sh", "lib/pkgconfig/npumem.pc"):
        modes[path] = mode
assert len(modes) > 100
scripts, libraries = data + "scripts/", data + "data/lib64/"
places = {path: "npumem.py" if path.endswith("/npumem.py") else path.replace("bin/", scripts, 1) if path.startswith("bin/")
          else path.replace("lib/", libraries, 1) if path.startswith("lib/") else data + "data/" + path for path in modes}
assert set(places.values()) == {entry for entry in entries if not entry.startswith(info)}, set(places.values()) ^ set(entries)
subprocess.check_call(["tar", "xzf", tarball, "-C", folder, "--strip-components=1", "--one-top-level=tarball"])
for path, entry in places.items():
    mode = entries[entry].external_attr >> 16
    assert mode == (0o100755 if os.access(os.path.join(folder, "tarball", path), os.X_OK) else 0o100644), (entry, oct(mode))
    with open(os.path.join(folder, "tarball", path), "rb") as file:
        assert contents[entry] == file.read(), entry
machine = subprocess.check_output(["readelf", "-h", os.path.join(folder, data, "scripts/npumem-record")], universal_newlines=True)
assert {"x86_64": "X86-64", "aarch64": "AArch64"}[arch] in machine, machine
