# SPDX-License-Identifier: BSD-3-Clause
"""Drags the live slider in ParaView's window by events of a real mouse and counts the pictures. Runs in pvpython with an
unused display, and starts ParaView. PMB_SLIDER_SIZE: samples per side (256); PMB_SLIDER_SECONDS: of the drag (10).

Prints moves and pictures per second, the time from the last move to the last picture, and the number of further pictures of
the last value: a queue of old values would show there."""
import ctypes
import os
import subprocess
import sys
import time

MOUSE = sys.argv[1:2] == ["mouse"]
if not MOUSE:
    sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), os.pardir, "Plugin"))
    import gui_testing
SECONDS = float(os.environ.get("PMB_SLIDER_SECONDS", "10"))


def move_mouse(left, right, y, seconds):
    """In a separate process: presses the button at the left end, moves to and fro 100 times per second, and releases it."""
    x11, test = ctypes.CDLL("libX11.so.6"), ctypes.CDLL("libXtst.so.6")
    x11.XOpenDisplay.restype = ctypes.c_void_p
    display = ctypes.c_void_p(x11.XOpenDisplay(None))

    def move(x):
        test.XTestFakeMotionEvent(display, -1, int(x), int(y), ctypes.c_ulong(0))
        x11.XFlush(display)

    def press(down):
        test.XTestFakeButtonEvent(display, 1, down, ctypes.c_ulong(0))
        x11.XFlush(display)

    move(left)
    time.sleep(0.2)
    press(1)
    begin, moves = time.time(), 0
    while time.time() - begin < seconds:
        place = 0.25 * (time.time() - begin) % 2  # to the end in four seconds, and back in four
        move(left + (right - left) * min(place, 2 - place))
        moves += 1
        time.sleep(0.01)
    print(moves, time.time(), flush=True)
    time.sleep(0.5)
    press(0)


def drag(window):
    from gui_testing import QtCore, QtWidgets
    from paraview import simple
    size = int(os.environ.get("PMB_SLIDER_SIZE", "256"))
    source = simple.Wavelet(WholeExtent=[0, size - 1] * 3, Center=[size / 2] * 3, XFreq=600 / size, YFreq=300 / size,
                            ZFreq=400 / size)
    window.apply()
    contour = simple.PMBContour(Input=source, ContourBy=["POINTS", "RTData"], Isosurfaces=[150])
    simple.Show(contour)
    simple.SetActiveSource(contour)
    simple.ResetCamera()
    window.apply()
    window.set_value("Live", 1)
    window.settle()
    slider = window.widgets()["LiveIsovalue"].findChild(QtWidgets.QSlider)
    panel = slider
    while not isinstance(panel, QtWidgets.QScrollArea):
        panel = panel.parentWidget()
    panel.ensureWidgetVisible(slider)
    window.settle()
    option = QtWidgets.QStyleOptionSlider()
    option.initFrom(slider)
    option.minimum, option.maximum = slider.minimum(), slider.maximum()
    option.sliderPosition = option.sliderValue = slider.value()
    style = slider.style()
    handle = style.subControlRect(style.ComplexControl.CC_Slider, option, style.SubControl.SC_SliderHandle, slider)
    begin = slider.mapToGlobal(handle.center())
    end = slider.mapToGlobal(QtCore.QPoint(int(0.8 * slider.width()), 0))
    pictures = []
    simple.GetActiveView().GetRenderWindow().AddObserver(
        "EndEvent", lambda *_: pictures.append((time.time(), contour.Isosurfaces[0])))
    mouse = subprocess.Popen(["python3", os.path.abspath(__file__), "mouse", str(begin.x()), str(end.x()), str(begin.y()),
                              str(SECONDS)], stdout=subprocess.PIPE, text=True)
    window.wait(lambda: mouse.poll() is not None, "the mouse")
    window.pump(2.0)
    moves, last_move = (float(word) for word in mouse.stdout.read().split())
    dragged = [value for at, value in pictures if at <= last_move]
    triangles = contour.GetClientSideObject().GetOutput().GetNumberOfPolys()
    current = pictures[-1:]
    for picture in reversed(pictures[:-1]):
        if picture[1] != current[0][1]:
            break
        current.insert(0, picture)
    gui_testing.say(f"{size}^3, {triangles:,} triangles at the end, {contour.LastRun}: {moves / SECONDS:.0f} moves and "
                    f"{len(dragged) / SECONDS:.1f} pictures a second of {len(set(dragged))} isovalues; the last one "
                    f"{1e3 * (current[0][0] - last_move):.0f} ms after the last move, then {len(current) - 1} more of it")
    if len(set(dragged)) < SECONDS:
        raise AssertionError("the surface did not follow the mouse")


if __name__ == "__main__":
    if MOUSE:
        move_mouse(*map(float, sys.argv[2:]))
    else:
        plain = gui_testing.environment
        gui_testing.environment = lambda home: {**plain(home), "PMB_GPU": os.environ.get("PMB_GPU", "")}
        gui_testing.launch(__file__, ["drag"], sys.argv[1:])
