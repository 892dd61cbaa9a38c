# SPDX-License-Identifier: BSD-3-Clause
"""A client with a pvserver of its own: the plugin is loaded on both sides and the filter runs on the server."""
import os
import re
import subprocess
import sys
import tempfile
import time

from paraview import servermanager, simple

from plugin_testing import counts, equal, load_plugin, output, run, true


def start_server():
    """The process and the port it listens on."""
    log = tempfile.NamedTemporaryFile(mode="w+", suffix=".log")
    process = subprocess.Popen(["pvserver", "--server-port=0"], stdout=log,
                               stderr=subprocess.STDOUT)
    for _ in range(300):
        time.sleep(0.1)
        with open(log.name, encoding="utf-8") as text:
            found = re.search(r"Accepting connection\(s\): \S+:(\d+)", text.read())
        if found:
            return process, int(found.group(1)), log
        if process.poll() is not None:
            break
    process.kill()
    with open(log.name, encoding="utf-8") as text:
        raise AssertionError(f"pvserver did not start: {text.read()}")


def client():
    """What the client does; the server ends when this process has ended."""
    simple.Connect("127.0.0.1", int(sys.argv[1]))
    true(servermanager.ActiveConnection.IsRemote(), "the connection is not remote")
    simple.LoadPlugin(os.environ["PMB_PLUGIN"], remote=False)  # the class of the proxy
    load_plugin(remote=True)  # the client has the panel's definitions from the server
    wavelet = simple.Wavelet(WholeExtent=[-50, 50, -50, 50, -50, 50])
    proxy = simple.PMBContour(Input=wavelet, ContourBy=["POINTS", "RTData"], Isosurfaces=[157.0],
                              RemoveDegenerateTriangles=0)
    proxy.UpdatePipeline()
    equal(proxy.GetDataInformation().GetNumberOfCells(), 168292, "triangles on the server")
    equal(counts(output(proxy))[1], 168292, "triangles that came over")
    proxy.Isosurfaces = [200.0]
    proxy.UpdatePipeline()
    changed = proxy.GetDataInformation().GetNumberOfCells()
    true(0 < changed != 168292, f"{changed} triangles after a change of the isovalue")
    true(f" {changed} triangles" in proxy.LastRun, f"{changed} triangles, but the last run is {proxy.LastRun!r}")


def session():
    process, port, log = start_server()
    try:
        result = subprocess.run(["pvpython", __file__, str(port)], capture_output=True, text=True, timeout=120,
                                check=False)
        equal(result.returncode, 0, f"exit code of the client; it said {result.stdout} {result.stderr}")
        equal(process.wait(timeout=30), 0, "exit code of pvserver")
    finally:
        if process.poll() is None:
            process.kill()
        log.close()


run(client if len(sys.argv) > 1 else session)
