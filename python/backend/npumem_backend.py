# SPDX-License-Identifier: Apache-2.0
"""What pip asks to make a wheel of this tree (PEP 517). The wheel is the tarball of `cmake --build BUILD --target tarball` in another
dress: npumem.py is the module, and all else lies below the prefix nearly as it does there, so that programs and libraries find each
other. Nothing is fetched; CMake and what docs/install.md names have to be there.

Where the tarball comes from is said by pip's --config-settings, or by the variable in brackets, for a pip that has none:
    tarball=FILE    one that is made already, of any architecture     (NPUMEM_WHEEL_TARBALL)
    preset=NAME     another preset than release, such as aarch64      (NPUMEM_WHEEL_PRESET)
"""

import base64
import glob
import hashlib
import os
import re
import shutil
import struct
import subprocess
import tarfile
import zipfile

_ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
_MACHINES = {62: "x86_64", 183: "aarch64"}  # e_machine
# What is linked as a tarball asks for no newer libc, and for no other library: meta.packages and meta.wheel look.
_LIBC = "manylinux_2_25"
_METADATA = """Metadata-Version: 2.1
Name: npumem
Version: {}
Summary: Records the memory of NPU programs and answers questions about it
License: Apache-2.0
Requires-Python: >=3.8
"""
_WHEEL = """Wheel-Version: 1.0
Generator: npumem_backend
Root-Is-Purelib: false
Tag: {}
"""


class UnsupportedOperation(Exception):
    """Named by PEP 517."""


def build_sdist(sdist_directory, config_settings=None):
    raise UnsupportedOperation("npumem has no sdist: build a wheel of a clone")


def prepare_metadata_for_build_wheel(metadata_directory, config_settings=None):
    name = "npumem-{}.dist-info".format(_version())
    os.makedirs(os.path.join(metadata_directory, name))
    with open(os.path.join(metadata_directory, name, "METADATA"), "w", encoding="utf-8") as file:
        file.write(_METADATA.format(_version()))
    return name


def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    tarball = _setting(config_settings, "tarball")
    tree = _read_tarball(os.path.join(_ROOT, tarball) if tarball else _make_tarball(_setting(config_settings, "preset") or "release"))
    machine = _MACHINES[struct.unpack_from("<H", tree["bin/npumem-record"][0], 18)[0]]
    return _write_wheel(wheel_directory, tree, "py3-none-{}_{}".format(_LIBC, machine))


def _setting(settings, name):
    return (settings or {}).get(name) or os.environ.get("NPUMEM_WHEEL_" + name.upper())


def _version():
    with open(os.path.join(_ROOT, "CMakeLists.txt"), encoding="utf-8") as file:
        return re.search(r"^project\(npumem VERSION ([0-9.]+)", file.read(), re.MULTILINE).group(1)


def _make_tarball(preset):
    """In build/wheel/PRESET, which stays: a second wheel builds what has changed. Tests are left out."""
    build = os.path.join(_ROOT, "build", "wheel", preset)
    ninja = [] if os.path.exists(os.path.join(build, "CMakeCache.txt")) or not shutil.which("ninja") else ["-G", "Ninja"]
    for command in (["cmake", "--preset", preset, "-B", build, "-DNPUMEM_BUILD_TESTS=OFF"] + ninja,
                    ["cmake", "--build", build, "--target", "tarball"]):
        subprocess.run(command, cwd=_ROOT, check=True)
    return glob.glob(os.path.join(build, "npumem-{}-linux-*.tar.gz".format(_version())))[0]


def _read_tarball(path):
    """Bytes and mode by the name below the top. Wheels know no links: what is one, of a library, becomes a copy."""
    with tarfile.open(path) as tar:
        return {member.name.split("/", 1)[1]: (tar.extractfile(member).read(), 0o644 if member.issym() else member.mode)
                for member in tar if not member.isdir()}


def _place(name):
    """Where a file of the tarball lies in the wheel; None: it names folders of the tarball. Libraries are in lib64, where programs
    look, too: of lib `pip install --target` takes nothing but modules."""
    if name == "share/npumem/python/npumem.py":
        return "npumem.py"
    if name == "env.sh" or name.startswith("lib/pkgconfig/"):
        return None
    folder, below = name.split("/", 1)
    return "npumem-{}.data/{}/{}".format(_version(), {"bin": "scripts", "lib": "data/lib64"}.get(folder, "data/" + folder), below)


def _write_wheel(folder, tree, tag):
    info = "npumem-{}.dist-info/".format(_version())
    files = [(_place(name), data, mode) for name, (data, mode) in sorted(tree.items()) if _place(name)]
    files += [(info + "LICENSE", tree["share/doc/npumem/LICENSE"][0], 0o644),
              (info + "METADATA", _METADATA.format(_version()).encode(), 0o644),
              (info + "WHEEL", _WHEEL.format(tag).encode(), 0o644)]
    lines = ["{},sha256={},{}\n".format(name, base64.urlsafe_b64encode(hashlib.sha256(data).digest()).decode().rstrip("="), len(data))
             for name, data, _ in files]
    files.append((info + "RECORD", ("".join(lines) + info + "RECORD,,\n").encode(), 0o644))
    wheel = "npumem-{}-{}.whl".format(_version(), tag)
    with zipfile.ZipFile(os.path.join(folder, wheel), "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data, mode in files:  # of no time, so that the same files are the same wheel
            entry = zipfile.ZipInfo(name)
            entry.compress_type, entry.external_attr = zipfile.ZIP_DEFLATED, (0o100000 | mode) << 16
            archive.writestr(entry, data)
    return wheel
