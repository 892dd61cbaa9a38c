#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Runs the code blocks of README.md, Docs/USER_GUIDE.md and CONTRIBUTING.md in order, and the lines of Python in their text;
checks that each command of ./pmb that the text names exists.

usage: run_code_blocks.py [--build FOLDER | --fresh FOLDER]
  --build FOLDER   with what FOLDER has built: nothing is configured, compiled or installed on this machine (for ctest)
  --fresh FOLDER   in a clone of the last commit, made in FOLDER; the first block builds for all later ones
Without either: in this checkout, with its build folder.

Commands in SKIPPED are not run but read by `sh -n`, and their programs must exist. All others must exit with 0 and no error.
"""
import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import time

TOP = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
DOCUMENTS = ("README.md", "Docs/USER_GUIDE.md", "CONTRIBUTING.md")
SKIPPED = (  # the beginning of a command, and why it is not run
    ("sudo ", "needs root"),
    ("./pmb test", "the quick tests: about five minutes"),
    ("./pmb package", "builds for every GPU; the test package.deb has what it makes"),
    ("./pmb gui", "needs a person; the tests plugin_gui have what it opens"),
    ("./pmb bench", "needs a GPU, or minutes"),
    ("bash Testing/GPU/", "needs a GPU"),
    ("Testing/GPU/", "for a machine with a GPU"),
    ("bash Testing/Papers/run.sh", "needs nvcc, and builds for two minutes"),
    ("PMB_CPU_PATH=portable gdb ", "needs a person"),
    ("Testing/test_debian.sh FOLDER", "needs root, and fills a folder with a Debian system"),
    ("cp FOLDER/", "copies what that made"),
    ("git archive ", "the copy that is tried here has no history"),
    ("build/asan/", "minutes, and a build of .ci/run; the tests filters.Fuzz have the same in short"),
)
SAYS_ERROR = re.compile(r"Traceback|\b(ERROR|Error|error|Warning|WARNING)\b")


def blocks(text):
    """(line number, language, text) of each code block, and of each line of Python in the text, in order."""
    found, fence, indented, before = [], None, None, ""
    for number, line in enumerate(text.splitlines() + [""], 1):
        if fence is not None:
            if line.startswith("```"):
                found.append(fence)
                fence = None
            else:
                fence = (*fence[:2], fence[2] + line + "\n")
        elif line.startswith("```"):
            fence = (number, line[3:].strip() or "sh", "")
        elif line.startswith("    ") and (indented or not before or before.startswith("#")):
            indented = (*(indented or (number, "sh", ""))[:2], (indented[2] if indented else "") + line[4:] + "\n")
        else:
            if indented:
                found.append(indented)
                indented = None
            found += [(number, "python", code + "\n") for code in re.findall(r"`((?:from|import) [^`]+)`", line)]
        before = line
    return found


class Runner:
    """Runs blocks in a copy of the checkout's layout, with its own home folder and installation prefix."""

    def __init__(self, top, work, build):
        self.top, self.work, self.build = top, work, build
        self.prefix, self.desk = os.path.join(work, "some folder"), os.path.join(work, "desk")
        self.environment = {name: value for name, value in os.environ.items() if not name.startswith(("PV_", "PYTHONPATH"))}
        self.environment.update(HOME=os.path.join(work, "home"), PYTHONDONTWRITEBYTECODE="1")
        if build:
            self.environment.update(PMB_BUILD_DIR=build, PATH=f"{self.builds_nothing()}:{os.environ['PATH']}")
        os.makedirs(self.environment["HOME"])
        os.mkdir(self.desk)
        for name in os.listdir(top):
            if name not in ("build", "script.py", ".git"):
                os.symlink(os.path.join(top, name), os.path.join(self.desk, name))
        self.script = None  # the file name for the next block of Python
        self.run_lines = self.skipped_lines = self.failed = 0

    def builds_nothing(self):
        """A folder of fake programs: for ./pmb everything is built and installed."""
        folder = os.path.join(self.work, "bin")
        os.mkdir(folder)
        cmake = (f'[ "$2" = "{self.build}" ] && [ "$1" = --build ] || [ "$4" = "{self.build}" ] || '
                 f'exec "{shutil.which("cmake")}" "$@"')
        for name, text in (("dpkg-query", "printf installed"), ("cmake", cmake)):
            with open(os.path.join(folder, name), "w", encoding="utf-8") as stream:
                stream.write(f"#!/bin/sh\n{text}\n")
            os.chmod(stream.name, 0o755)
        return folder

    def here(self, text):
        return text.replace("/some/folder", shlex.quote(self.prefix))

    def command(self, what, arguments, **options):
        started = time.monotonic()
        # In its own process group, to end all processes of a failed block.
        with subprocess.Popen(arguments, cwd=options.get("cwd", self.desk), env=self.environment, text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, stdin=subprocess.DEVNULL,
                              start_new_session=True) as process:
            try:
                out, err = process.communicate(timeout=3600)
            except subprocess.TimeoutExpired:
                os.killpg(process.pid, signal.SIGKILL)
                out, err = process.communicate()
        good = process.returncode == 0 and not SAYS_ERROR.search(err)
        self.failed += not good
        print(f"{'passed' if good else 'FAILED'} {time.monotonic() - started:5.1f} s  {what}", flush=True)
        if not good:
            print(f"exit code {process.returncode}; it said:\n{out}{err}", flush=True)
        return out

    def fail(self, what):
        self.failed += 1
        print(f"FAILED          {what}", flush=True)

    def sh(self, where, text):
        for line in text.splitlines():
            command = re.sub(r"(^|\s)#.*", "", line).strip()
            if not command:
                continue
            if subprocess.run(["sh", "-n", "-c", command], check=False).returncode:
                self.fail(f"{where}: sh cannot read '{command}'")
            why = next((why for start, why in SKIPPED if command.startswith(start)), None)
            program = next(word for word in command.split() if word not in ("sudo", "bash"))
            if why:
                self.skipped_lines += 1
                print(f"not run          {where}: {command}: {why}")
                in_build = program.startswith("build/")
                if "/" in program and not in_build and not os.path.exists(os.path.join(self.top, program)):
                    self.fail(f"{where}: there is no {program}")
                continue
            self.run_lines += 1
            self.shell_line(f"{where}: {command}", self.here(command))

    def shell_line(self, what, command):
        script = re.search(r"\./pmb pvpython (\w+\.py)$", command)
        export = re.match(r"export (\w+)=(.*)", command)
        if script and not os.path.exists(os.path.join(self.desk, script[1])):
            self.script = script[1]  # the next block is its text
        elif export:
            value = self.command(what, ["bash", "-c", f"{command}; printf %s \"${export[1]}\""])
            self.environment[export[1]] = value
            if not os.path.isdir(value):
                self.fail(f"{what}: there is no folder {value}")
            elif export[1] == "PV_PLUGIN_PATH":
                self.command(f"{what}: and ParaView has the filter",
                             ["pvpython", "-c", "from paraview.simple import *; PMBContour"])
        else:
            self.command(what, ["bash", "-c", command])

    def python(self, where, text):
        name, self.script = self.script or "script.py", None
        self.run_lines += 1
        with open(os.path.join(self.desk, name), "w", encoding="utf-8") as stream:
            stream.write(self.here(text))
        self.command(f"{where}: ./pmb pvpython {name} of {len(text.splitlines())} lines", ["./pmb", "pvpython", name])

    def cmake(self, where, text):
        """Builds and runs a program with the installed headers that its comments name."""
        self.run_lines += 1
        folder = tempfile.mkdtemp(dir=self.work)
        headers = re.findall(r"#.*?\b(\w+\.h)\b", text)
        with open(os.path.join(folder, "main.cxx"), "w", encoding="utf-8") as stream:
            stream.write("".join(f'#include "{header}"\n' for header in headers) + "int main()\n{\n"
                         + "  vtkPMBContourFilter::New()->Delete();\n" * ("vtkPMBContourFilter.h" in headers)
                         + "  return pmb_create(nullptr, nullptr) == PMB_OK;\n" * ("pmb.h" in headers) + "}\n")
        with open(os.path.join(folder, "CMakeLists.txt"), "w", encoding="utf-8") as stream:
            stream.write("cmake_minimum_required(VERSION 3.18)\nproject(mine C CXX)\nadd_executable(mine main.cxx)\n" + text)
        for step in (["cmake", "-S", folder, "-B", f"{folder}/b", f"-DCMAKE_PREFIX_PATH={self.prefix}"],
                     ["cmake", "--build", f"{folder}/b"], [f"{folder}/b/mine"]):
            self.command(f"{where}: {os.path.basename(step[0])} with {', '.join(headers)}", step)

    def named_commands(self, document, text):
        """Each ./pmb WORD in the text is a command of the script."""
        known = set(re.findall(r"^  (\w+)", self.command(f"{document}: ./pmb help", ["./pmb", "help"]), flags=re.MULTILINE))
        for name in sorted(set(re.findall(r"`\./pmb (\w+)", text))):
            if name not in known:
                self.fail(f"{document}: ./pmb has no command {name}")

    def document(self, name):
        with open(os.path.join(self.top, name), encoding="utf-8") as stream:
            text = stream.read()
        found = blocks(text)
        if not found:
            self.fail(f"{name}: no code block was found")
        for number, language, block in found:
            way = {"sh": self.sh, "python": self.python, "cmake": self.cmake}.get(language)
            if way:
                way(f"{name}:{number}", block)
            else:
                self.fail(f"{name}:{number}: a block of {language}, which this script cannot run")
        self.named_commands(name, text)


def main(arguments):
    options = dict(zip(arguments[::2], map(os.path.abspath, arguments[1::2])))
    if len(arguments) % 2 or set(options) - {"--build", "--fresh"}:
        sys.exit(__doc__)
    top = TOP
    if "--fresh" in options:
        top = options["--fresh"]
        subprocess.run(["git", "clone", "--quiet", TOP, top], check=True)
    started = time.monotonic()
    with tempfile.TemporaryDirectory() as work:
        runner = Runner(top, work, options.get("--build"))
        for document in DOCUMENTS:
            runner.document(document)
    print(f"{runner.run_lines} run, {runner.skipped_lines} not run, {runner.failed} failed, "
          f"{time.monotonic() - started:.0f} s")
    return 1 if runner.failed or not runner.run_lines else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
