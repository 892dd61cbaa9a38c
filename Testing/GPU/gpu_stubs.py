#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Usage: gpu_stubs.py FOLDER COMMAND...: replaces the shared libraries that COMMAND loads but never calls.

pvpython loads several hundred libraries (readers, codecs, databases), of which a script uses a few dozen. This script writes
a stub for each system library that COMMAND maps: same name, same symbols, and each function ends the process with a message
that names the library. Then it runs COMMAND with the stubs first in the search path, and removes the stub that each message
names until COMMAND succeeds. FOLDER then holds the stubs, and FOLDER/replaced the paths that they replace.
Linux on x86-64; needs gcc and binutils."""
import collections
import concurrent.futures
import os
import pathlib
import re
import subprocess
import sys

EXIT_CODE = 99  # of a process that called into a stub
# Never replaced: the loader's libraries, the language runtimes, and libraries of the GPU's driver.
KEEP = re.compile(r"(ld-linux|libc\.|libm\.|libdl|librt|libpthread|libutil|libresolv|libgcc_s|libstdc\+\+|libpython|"
                  r"libcuda|libnvidia|libffi|libvtkPMB|ParallelMarching)")
CODE = """  .text
stub:
  mov $1, %eax
  mov $2, %edi
  lea message(%rip), %rsi
  mov $message_size, %edx
  syscall
  mov $231, %eax
  mov $exit_code, %edi
  syscall
  .section .rodata
message:
  .ascii "stub library called: NAME\\n"
  .set message_size, . - message
  .section .note.GNU-stack,"",@progbits
"""


def read(tool, *arguments):
    return subprocess.run([tool, *arguments], check=True, capture_output=True, text=True).stdout


def mapped(command, folder):
    """The shared objects that a command and its children load, as the loader reports."""
    environment = dict(os.environ, LD_DEBUG="files", LD_DEBUG_OUTPUT=str(folder / "loader"))
    result = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    if result.returncode:
        sys.exit(f"gpu_stubs: without stubs the command ends with {result.returncode}:\n{result.stdout}{result.stderr}")
    names = {name for path in folder.glob("loader.*") for name in
             re.findall(r"calling init: (/\S+)", path.read_text(encoding="utf-8", errors="replace"))}
    # One program may find a library as /lib/..., another as /usr/lib/...
    return sorted({os.path.join(os.path.realpath(os.path.dirname(name)), os.path.basename(name)) for name in names})


def replaceable(path):
    return not KEEP.match(os.path.basename(path)) and "/python3" not in path


Symbol = collections.namedtuple("Symbol", "name version default kind size binding")


def symbols(library):
    """The symbols that a library defines, and those that it needs."""
    defined, taken = [], set()
    for line in read("readelf", "--wide", "--dyn-syms", library).splitlines():
        part = line.split()
        if len(part) < 8 or not part[0][:-1].isdigit() or part[4] == "LOCAL" or part[6] == "ABS":
            continue
        name, _, version = part[7].partition("@")
        if part[6] != "UND":
            size = int(part[2], 0)
            defined.append(Symbol(name, version.lstrip("@"), version.startswith("@"), part[3], size, part[4]))
        elif part[4] == "GLOBAL":
            taken.add(name)
    return defined, taken


def assembly(library, defined, taken):
    """A stub's source and its version script. Most weak symbols are inline functions that each user has as well, and
    the loader would take the stub's: only those that some library takes from another are there."""
    lines, versions = [f"  .set exit_code, {EXIT_CODE}"], set()
    for number, (name, version, default, kind, size, binding) in enumerate(defined):
        if binding != "GLOBAL" and name not in taken:
            continue
        label = name
        if version:
            label = f"s{number}"
            versions.add(version)
            lines.append(f"  .symver {label}, {name}{'@@' if default else '@'}{version}")
        lines.append(f"  .globl {label}")
        if kind in ("OBJECT", "TLS"):
            section, what = ('.tbss,"awT"', "tls_object") if kind == "TLS" else ('.bss,"aw"', "object")
            lines += [f"  .section {section},@nobits", "  .balign 32", f"  .type {label}, @{what}",
                      f"  .size {label}, {size}", f"{label}: .zero {max(size, 1)}"]
        else:
            lines.append(f"  .type {label}, @function\n  .set {label}, stub")
    script = "".join(f"{version} {{ }};\n" for version in sorted(versions))
    return "\n".join(lines) + "\n" + CODE.replace("NAME", os.path.basename(library)), script


def soname(library):
    found = re.search(r"\(SONAME\).*\[(.*)\]", read("readelf", "--wide", "--dynamic", library))
    return found.group(1) if found else os.path.basename(library)


def make_stub(library, folder, defined, taken):
    """Writes folder/soname; returns its path, or None if no stub can replace the library."""
    source, script = assembly(library, defined, taken)
    target = folder / soname(library)
    base = folder / "source" / target.name
    base.with_suffix(".s").write_text(source)
    base.with_suffix(".map").write_text(script)
    command = ["gcc", "-shared", "-nostdlib", "-Wl,-z,noseparate-code,--build-id=none,--hash-style=gnu", "-s",
               f"-Wl,-soname,{target.name}", "-o", str(target), str(base.with_suffix(".s"))]
    if script:
        command.append(f"-Wl,--version-script,{base.with_suffix('.map')}")
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    if result.returncode:
        print(f"gpu_stubs: {target.name} stays as it is: {result.stderr.splitlines()[0]}")
        return None
    return target


def wanted(result, stubs, tables):
    """The stubs at which a run failed: it called their functions, or they lack a symbol."""
    text = result.stdout + result.stderr
    called = set(re.findall(r"stub library called: (\S+)", text))
    missing = set(re.findall(r"undefined symbol: (\w+)", text))
    return {library for library in stubs if os.path.basename(library) in called
            or missing & {symbol.name for symbol in tables[library][0]}}


def main():
    folder, command = pathlib.Path(sys.argv[1]), sys.argv[2:]
    (folder / "source").mkdir(parents=True)
    objects = mapped(command, folder / "source")
    with concurrent.futures.ThreadPoolExecutor() as pool:
        tables = dict(zip(objects, pool.map(symbols, objects)))
        taken = set().union(*(names for _, names in tables.values()))
        libraries = [path for path in objects if replaceable(path)]
        made = pool.map(lambda path: make_stub(path, folder, tables[path][0], taken), libraries)
        stubs = {path: stub for path, stub in zip(libraries, made) if stub}
    environment = dict(os.environ, LD_LIBRARY_PATH=f"{folder}:{os.environ.get('LD_LIBRARY_PATH', '')}")
    while True:
        result = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
        if result.returncode == 0:
            break
        needed = wanted(result, stubs, tables)
        if not needed:
            sys.exit(f"gpu_stubs: with stubs the command ends with {result.returncode} and names none:\n"
                     f"{result.stdout}{result.stderr}")
        for library in needed:
            stubs.pop(library).unlink()
    (folder / "replaced").write_text("".join(f"{library} {stub.name}\n" for library, stub in sorted(stubs.items())))
    print(f"gpu_stubs: {len(stubs)} of {len(libraries)} libraries are stubs")


if __name__ == "__main__":
    main()
