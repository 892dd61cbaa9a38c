#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Usage: check_messages.py: checks that the user's guide has every message of the sources, word for word.

A message is searched for in pieces: the texts between its values. In C and C++ files the pieces are string literals of four
words or more; in the script pmb, the arguments of say and die. Texts that begin with the name of a function or a struct of
the C library (pmb_...) report a wrong call to programmers; the guide has one line for all of them.
"""
import pathlib
import re
import sys

TOP = pathlib.Path(__file__).resolve().parent.parent
GUIDE = TOP / "Docs" / "USER_GUIDE.md"
WORDS = 4
# Wrong calls of the C library; assembler of the GPU; shaders; XML; headings of PrintSelf; descriptions of classes.
SILENT = re.compile(r"(pmb_\w+(\.\w+)?|%s|%s\.struct_size)[: ]|.*::c(ta|luster)\b|(\s*([A-Z][\w-]*|\d+)\b:?)+\s*$|"
                    r".*by Parallel Marching Blocks$|//VTK::.*|<(Added|VTKFile)\b.*")
# In front of reasons; the guide has it once.
BEGINNING = "no GPU can be used: "
LITERAL = re.compile(r'(?:"(?:[^"\\\n]|\\.)*"(?:\s*(?:PRI[du]64\s*)?(?="))?)+')
VALUES = re.compile(r"%[-+ #0]*[\d*]*(?:\.[\d*]+)?(?:hh|h|ll|l|z|j|t)?[diouxXeEfgGcsp]")


def plain(text):
    """The words of a text, without differences between Markdown and the sources."""
    return " ".join(text.replace("`", "").replace("\\|", "|").split())


def literals(text):
    """(line, string) of each string literal; adjacent ones are joined."""
    code = re.sub(r"//[^\n]*|/\*.*?\*/", lambda found: re.sub(r"[^\n]", " ", found.group(0)),
                  re.sub(r'"(?:[^"\\\n]|\\.)*"', lambda found: found.group(0).replace("//", "/\x00/"), text),
                  flags=re.DOTALL)
    # Messages of the compiler.
    code = re.sub(r"\bstatic_assert\b[^;]*;", lambda found: re.sub(r"[^\n]", " ", found.group(0)), code)
    for found in LITERAL.finditer(code):
        joined = "".join(re.findall(r'"((?:[^"\\\n]|\\.)*)"', found.group(0))).replace("/\x00/", "//")
        yield code.count("\n", 0, found.start()) + 1, joined.replace('\\"', '"').replace("\\n", " ")


def pieces_of_c(path):
    for line, text in literals(path.read_text(encoding="utf-8")):
        if not SILENT.match(text):
            for piece in VALUES.split(text.replace("%%", "%")):
                yield line, piece


def pieces_of_script(path):
    for line, text in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        text = re.sub(r"\$\((?:[^()]|\([^()]*\))*\)", "$value", text)
        found = re.search(r"""(?:\b(?:say|die|why=)\s*)(["'])(.*?)\1(?:$|[\s;)])""", text)
        if found:
            for piece in re.split(r"\$\{[^}]*\}|\$\w+|\\n|%s", found.group(2)):
                yield line, piece


def sources():
    for folder, suffixes in (("Kernels", ("*.c", "*.cu")), ("Filters", ("*.cxx", "*.h")), ("Plugin", ("*.cxx",)),
                             ("Rendering", ("*.cxx",))):
        for suffix in suffixes:
            paths = (TOP / folder).glob(suffix) if folder == "Plugin" else (TOP / folder).rglob(suffix)
            for path in sorted(paths):
                yield path, pieces_of_c(path)
    yield TOP / "pmb", pieces_of_script(TOP / "pmb")


def main():
    guide = plain(GUIDE.read_text(encoding="utf-8"))
    looked_at = faults = 0
    for path, pieces in sources():
        for line, piece in pieces:
            words = plain(piece).removeprefix(BEGINNING).strip(" .,:;()'\"")
            if len(re.findall(r"[A-Za-z]{2,}", words)) >= WORDS and " " in words:
                looked_at += 1
                if words not in guide:
                    faults += 1
                    print(f"{path.relative_to(TOP)}:{line}: not in Docs/USER_GUIDE.md: {words}")
    print(f"check_messages: {looked_at} pieces of messages looked at, {faults} faults")
    return 1 if faults or not looked_at else 0


if __name__ == "__main__":
    sys.exit(main())
