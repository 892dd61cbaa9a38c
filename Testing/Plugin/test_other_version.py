# SPDX-License-Identifier: BSD-3-Clause
"""A plugin that was built for another ParaView: an error that names the missing library or symbol, or both versions; the
session works. The plugins of another version are copies of this one in which names of libraries, of a symbol or the version are
changed."""
import os
import re
import subprocess
import tempfile

from paraview import simple

from plugin_testing import Messages, counts, equal, load_plugin, output, run, true

PLUGIN = os.environ["PMB_PLUGIN"]
NAME = "ParallelMarchingBlocks"
# Names of ParaView's libraries, such as "libvtkRemotingCore-pv5.11.so.1"; they may have no version.
VERSION = re.compile(rb"(libvtk[A-Za-z]+-pv)[0-9]+\.[0-9]+(\.so)")
# A function of ParaView that the plugin calls directly, not through a table: vtkSMSourceProxy::PostUpdateData(bool).
SYMBOL = b"_ZN16vtkSMSourceProxy14PostUpdateDataEb"


def changed(folder, change):
    """Writes a changed copy of the plugin below the folder; returns its path."""
    with open(PLUGIN, "rb") as stream:
        before = stream.read()
    after = change(before)
    true(after != before and len(after) == len(before), "the copy differs from the plugin, in place")
    path = os.path.join(folder, NAME, NAME + ".so")
    os.makedirs(os.path.dirname(path))
    with open(path, "wb") as stream:
        stream.write(after)
    return path


def of_other_version(plugin):
    def digits_to_nines(match):
        return match[1] + re.sub(rb"[0-9]", b"9", match[0][len(match[1]):-len(match[2])]) + match[2]
    return VERSION.sub(digits_to_nines, plugin)


def refused(path, pattern):
    """Loading it fails with one error, which names the file and matches the pattern."""
    with Messages() as log:
        try:
            simple.LoadPlugin(path, remote=False, ns={})
            raise AssertionError("it was loaded")
        except RuntimeError as error:
            true(path in str(error), f"the exception names the file: {error}")
        said = log.text()
    true(path in said and re.search(pattern, said), f"the error names the file and {pattern}: {said!r}")
    load_plugin()
    surface = simple.PMBContour(Input=simple.Wavelet(), ContourBy=["POINTS", "RTData"], Isosurfaces=[157.0])
    true(counts(output(surface))[1] > 0, "the right one, after it")


def missing_libraries():
    with tempfile.TemporaryDirectory() as folder:
        refused(changed(folder, of_other_version), "-pv9[.]?9+.*[.]so.*No such file")


def missing_symbol():
    with tempfile.TemporaryDirectory() as folder:
        path = changed(folder, lambda plugin: plugin.replace(SYMBOL, SYMBOL.replace(b"PostUpdate", b"LastUpdate")))
        refused(path, "undefined symbol.*LastUpdateData")


def version_alone():
    """Both versions are named. ParaView from 6.1 on does not register the plugin."""
    with tempfile.TemporaryDirectory() as folder:
        path = changed(folder, lambda plugin: re.sub(rb"(ParaView )\d(\.\d+ with VTK \d)", rb"\g<1>0\2", plugin))
        script = os.path.join(folder, "load.py")
        with open(script, "w", encoding="utf-8") as stream:
            stream.write("from paraview import simple\n"
                         f"simple.LoadPlugin({path!r}, ns=vars(simple))\n"
                         "print(hasattr(simple, 'PMBContour'))\n")
        result = subprocess.run(["pvpython", script], capture_output=True, text=True, check=False)
    here = simple.GetParaViewVersion()
    equal((result.returncode, result.stdout), (0, f"{here < (6, 1)}\n"),
          f"code, and whether the plugin is there; it said {result.stderr!r}")
    said = re.findall(rf"was built for ParaView 0\.\d+ with VTK \S+, and this is ParaView {here.major}.{here.minor} with", result.stderr)
    equal(len(said), 1, f"messages with both versions in {result.stderr!r}")


with open(PLUGIN, "rb") as binary:
    has_version = VERSION.search(binary.read())
tests = [missing_symbol, version_alone]
if has_version:
    tests += [missing_libraries]
else:
    print("skipped: ParaView's libraries have no version in their names")
run(*tests)
