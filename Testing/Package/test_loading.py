# SPDX-License-Identifier: BSD-3-Clause
"""Errors when ParaView loads the plugin: test_loading.py PART, with the plugin in $PMB_PLUGIN.

versions  the plugin as for another ParaView (other libraries, another function, another version), and half installed
twice     the same file, and a copy of it in another folder
sides     on the client alone, on the server alone, and on both in either order

Each fault is a pvpython of its own: it says one line that tells what is wrong, and the session goes on. Exits with 77
(skipped) where pvserver is not on PATH.
"""
import os
import re
import shutil
import subprocess
import sys
import tempfile
import threading

PLUGIN = os.environ["PMB_PLUGIN"]
SKIPPED = 77
# Loads files one after another and makes a surface; then makes a Sphere, even after errors.
LOCAL = """
import sys
from paraview import simple
for file in sys.argv[1:]:
    try:
        simple.LoadPlugin(file, remote=False, ns=vars(simple))
    except RuntimeError as error:
        print("raised:", error)
if hasattr(simple, "PMBContour"):
    surface = simple.PMBContour(Input=simple.Wavelet(), ContourBy=["POINTS", "RTData"], Isosurfaces=[157.0])
    surface.UpdatePipeline()
    print("triangles:", surface.GetDataInformation().GetNumberOfCells())
sphere = simple.Sphere()
sphere.UpdatePipeline()
print("sphere:", sphere.GetDataInformation().GetNumberOfCells())
"""
# Connects and does the steps: s and c load the plugin on the server or client, w makes a source, p a surface.
REMOTE = """
import sys
from paraview import simple
plugin, port, steps = sys.argv[1], int(sys.argv[2]), sys.argv[3]
simple.Connect("127.0.0.1", port)
for step in steps:
    try:
        if step in "sc":
            simple.LoadPlugin(plugin, remote=step == "s", ns=vars(simple))
        elif step == "w":
            wavelet = simple.Wavelet()
        else:
            surface = simple.PMBContour(Input=wavelet, ContourBy=["POINTS", "RTData"], Isosurfaces=[157.0])
            surface.UpdatePipeline()
            print("triangles:", surface.GetDataInformation().GetNumberOfCells())
    except (AttributeError, TypeError, RuntimeError) as error:
        print("raised:", error)
sphere = simple.Sphere()
sphere.UpdatePipeline()
print("sphere:", sphere.GetDataInformation().GetNumberOfCells())
"""


def messages(text):
    """The errors and warnings of ParaView."""
    return [line for line in text.splitlines() if re.search(r"(ERR|WARN|FATL)\|", line)]


def check(value, what, said):
    if not value:
        print(f"FAILED: {what}; it said:\n{said}")
        sys.stdout.flush()
        sys.exit(1)


def pvpython(script, *arguments):
    """The output of a script in a separate pvpython, which must work to its end and exit with 0."""
    result = subprocess.run([sys.executable if "pvpython" in sys.executable else "pvpython", "/dev/stdin", *arguments],
                            input=script, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                            check=False)
    said = re.sub(r"\x1b\[[0-9;]*m", "", result.stdout)  # without colours
    check(result.returncode == 0, f"exit code {result.returncode}", said)
    check("sphere: 96" in said, "the session is of no use afterwards", said)
    check("Traceback" not in said, "a traceback", said)
    return said


def one_line(what, said, *patterns, raised=None):
    """One message of ParaView's that has all of the patterns."""
    found = messages(said)
    check(len(found) == 1, f"{what}: {len(found)} messages", said)
    for pattern in patterns:
        check(re.search(pattern, found[0]), f"{what}: no '{pattern}'", said)
    if raised:
        check(re.search("raised: .*" + raised, said), f"{what}: raised something else", said)
    print(f"passed: {what}")


def copy_tree(folder):
    """Copies the plugin and its libraries with their relative paths; returns the copy's file."""
    top = os.path.dirname(PLUGIN)
    while not any(name.startswith("libvtkPMB") for name in os.listdir(top)):
        top = os.path.dirname(top)
    for name in os.listdir(top):
        if name.startswith("libvtkPMB"):
            shutil.copy(os.path.join(top, name), folder)
    copy = os.path.join(folder, os.path.relpath(PLUGIN, top))
    os.makedirs(os.path.dirname(copy))
    shutil.copy(PLUGIN, copy)
    return copy


def versions(folder):
    with open(PLUGIN, "rb") as stream:
        plugin = stream.read()
    function = b"_ZN16vtkSMSourceProxy14PostUpdateDataEb"  # PostUpdateData(bool), which the plugin calls directly
    changes = [("function", plugin.replace(function, function.replace(b"Post", b"Last")), "undefined symbol.*LastUpdate"),
               ("libraries", re.sub(rb"(libvtk\w+-pv)\d", rb"\g<1>0", plugin), r"-pv0\..*\.so.*No such file"),
               ("half", plugin.replace(b"libvtkPMBContour.so", b"libvtkPMBMissing.so"), "libvtkPMBMissing.*: cannot open"),
               ("version", re.sub(rb"(ParaView )\d(\.\d+ with VTK)", rb"\g<1>0\2", plugin),
                r"was built for ParaView 0\.\d+ with VTK \S+, and this is ParaView [1-9]")]
    for name, content, words in changes:
        if content == plugin and name == "libraries":
            print("skipped: ParaView's libraries have no version in their names")
            continue
        check(content != plugin, f"{name}: nothing is changed", "nothing")
        path = os.path.join(folder, f"{name}.so")
        with open(path, "wb") as stream:
            stream.write(content)
        refused = name != "version"
        said = pvpython(LOCAL, path, *([PLUGIN] if refused else []))
        one_line(name, said, words, raised=path if refused else None)
        version = re.search(r"this is ParaView (\d+)\.(\d+)", said)
        works = refused or (int(version[1]), int(version[2])) < (6, 1)
        check(("triangles: 5504" in said) == works, f"{name}: the filter", said)


def twice(folder):
    link = os.path.join(folder, "link.so")
    os.symlink(PLUGIN, link)
    said = pvpython(LOCAL, PLUGIN, PLUGIN, link)
    check(not messages(said) and "triangles: 5504" in said, "the same file twice, and a link to it", said)
    copy = copy_tree(folder)
    said = pvpython(LOCAL, PLUGIN, copy)
    one_line("a copy in another folder", said, "is loaded already, from " + re.escape(os.path.realpath(PLUGIN)),
             re.escape(os.path.realpath(copy)) + " is ignored", "restart ParaView")
    check("triangles: 5504" in said, "the filter after a copy", said)


def remote(steps):
    """The output of a client that does these steps with its own server."""
    with subprocess.Popen(["pvserver", "--server-port=0"], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                          start_new_session=True) as server:
        port = next(filter(None, (re.search(r"Accepting connection\(s\): \S+:(\d+)", line) for line in server.stdout)), None)
        check(port, "pvserver does not start", steps)
        threading.Thread(target=server.stdout.read, daemon=True).start()
        try:
            return pvpython(REMOTE, PLUGIN, port.group(1), steps)
        finally:
            server.terminate()


def sides(_):
    if not shutil.which("pvserver"):
        print("skipped: 'pvserver' is not on PATH (Debian: paraview)")
        sys.exit(SKIPPED)
    for steps in ("cswp", "scwp"):
        said = remote(steps)
        check(not messages(said) and "triangles: 5504" in said, f"loaded on both sides ({steps})", said)
    print("passed: loaded on both sides, in either order")
    said = remote("cwpswp")
    one_line("on the client alone", said, "is loaded on the client, but not on the server", "load it there too",
             raised="no attribute 'PMBContour'")
    check("triangles: 5504" in said, "on the client, then on the server too", said)
    # The client has no code of this project: ParaView's own messages.
    said = remote("swp")
    one_line("on the server alone", said, "Error while loading filters PMBContour", raised="")
    check("triangles" not in said, "a surface without the client's side", said)


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as work:
        {"versions": versions, "twice": twice, "sides": sides}[sys.argv[1]](work)
