# SPDX-License-Identifier: BSD-3-Clause
"""State files: all properties are restored; files that differ from those of this version: messages, and what is loaded."""
import os
import re
import tempfile

from paraview import simple

from plugin_testing import Messages, counts, equal, flying_edges, load_plugin, output, run, true

ISOVALUE = 157.0
LOADED = {"ContourBy": ["POINTS", "RTData"], "Isosurfaces": [ISOVALUE], "ComputeNormals": 0}


def state():
    """The text of a state file with a Wavelet, and the filter 'surface' on it."""
    wavelet = simple.Wavelet(registrationName="wavelet")
    wavelet.UpdatePipeline()
    simple.PMBContour(registrationName="surface", Input=wavelet, RemoveDegenerateTriangles=0, **LOADED)
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "saved.pvsm")
        simple.SaveState(path)
        with open(path, encoding="utf-8") as stream:
            text = stream.read()
    simple.ResetSession()
    return text


def load(text):
    """Loads a state; returns its filter and the messages."""
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "state.pvsm")
        with open(path, "w", encoding="utf-8") as stream:
            stream.write(text)
        with Messages() as log:
            simple.LoadState(path)
        return simple.FindSource("surface"), log.text()


def expected():
    wavelet = simple.Wavelet()
    return counts(flying_edges(output(wavelet), ISOVALUE))


def check_surface(surface):
    true(surface, "the filter is there")
    for name, value in LOADED.items():
        data = surface.GetPropertyValue(name)
        equal(list(data) if isinstance(value, list) else data, value, name)
    with Messages() as log:
        equal(counts(output(surface)), expected(), "points and triangles")
    equal(log.text(), "", "messages of the update")


def changed(text, pattern, replacement):
    """The text with one change in the filter's part."""
    begin = text.index('type="PMBContour"')
    end = text.index("</Proxy>", begin)
    part, times = re.subn(pattern, replacement, text[begin:end], count=1, flags=re.DOTALL)
    equal(times, 1, f"places that match {pattern}")
    return text[:begin] + part + text[end:]


def every_property():
    """Saved, the session cleared, loaded: the same properties and the same mesh."""
    settings = {"ContourBy": ["POINTS", "RTData"], "Isosurfaces": [157.0, 200.0], "ComputeNormals": 0, "ComputeGradients": 1,
                "ComputeScalars": 0, "PassArrays": 0, "RemoveDegenerateTriangles": "Off", "OutputPointsPrecision": "Double",
                "RunOn": "GPU (CUDA)", "CPUThreads": 2, "GPUIndex": 0, "GPUMemoryLimit": 1.5}
    before = counts(output(simple.PMBContour(Input=simple.Wavelet(), registrationName="surface", **settings)))
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "session.pvsm")
        simple.SaveState(path)
        simple.ResetSession()
        equal(simple.GetSources(), {}, "sources after the reset")
        simple.LoadState(path)
    loaded = simple.FindSource("surface")
    for name, value in settings.items():
        data = loaded.GetPropertyValue(name)
        equal(list(data) if isinstance(value, list) else data, value, name)
    equal(counts(output(loaded)), before, "points and triangles")
    true(f" {before[1]} triangles" in loaded.LastRun, f"{before[1]} triangles, but the last run is {loaded.LastRun!r}")


def unknown_property():
    """One warning names them; the rest is loaded."""
    more = "".join(f'<Property name="{name}" number_of_elements="1"><Element index="0" value="3"/></Property>'
                   for name in ("FutureOne", "FutureTwo"))
    surface, said = load(changed(state(), r'(<Property name="ComputeNormals")', more + r"\1"))
    equal(len(said.strip().splitlines()), 2, f"lines of {said!r}: one, below the one that says where it is from")
    true("does not know: FutureOne, FutureTwo." in said, f"the properties in {said!r}")
    check_surface(surface)


def missing_property():
    """A state of an older version: the default."""
    text = changed(state(), r'<Property name="NormalEstimator".*?</Property>', "")
    surface, said = load(changed(text, r'<Property name="ComputeGradients".*?</Property>', ""))
    equal(said, "", "messages")
    equal((surface.NormalsBy, surface.ComputeGradients), ("Central Differences", 0), "the defaults")
    check_surface(surface)


load_plugin()
run(every_property, unknown_property, missing_property)
