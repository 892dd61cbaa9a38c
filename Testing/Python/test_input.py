# SPDX-License-Identifier: BSD-3-Clause
"""What callers may pass: other libraries' arrays, wrong input, threads, forks, Ctrl-C, and memory."""
import array
import copy
import gc
import os
import pathlib
import re
import signal
import subprocess
import sys
import threading
import time
import types

import numpy as np
import pytest
from conftest import contour_at_once, make_ball

import pmb
from pmb import _context
from pmb._messages import in_python


class DLPack:
    def __init__(self, values, device=None):
        self.shape, self.dtype, self._values, self._device = values.shape, values.dtype, values, device

    def __dlpack__(self, **keywords):
        return self._values.__dlpack__(**keywords)

    def __dlpack_device__(self):
        return self._device or self._values.__dlpack_device__()


class Image:
    """Like SimpleITK's: NumPy would read all pixels one by one, as one row."""
    __repr__ = __str__ = lambda self: "an image"

    def __len__(self):
        return 64

    def __getitem__(self, index):
        return range(64)[index]


def test_protocols(ball):
    expected = pmb.contour(ball, -0.5)
    memory = memoryview(array.array("d", ball.ravel())).cast("B").cast("d", ball.shape)
    for given in (memory, types.SimpleNamespace(__array_interface__=ball.__array_interface__), DLPack(ball), ball.tolist()):
        assert np.array_equal(pmb.contour(given, -0.5).points, expected.points)
    assert np.shares_memory(pmb.Volume(DLPack(ball))._array, ball)


def test_conversions(ball):
    assert pmb.Volume(ball.astype("f2")).converted == "float16 to float32"
    assert pmb.Volume(ball.astype(">f4")).converted == "bytes swapped"
    assert pmb.Volume(ball > -0.5).converted == "" and pmb.Volume(ball).converted == ""
    assert np.array_equal(pmb.contour(ball > -0.5, 0.5).points, pmb.contour((ball > -0.5).astype("u1"), 0.5).points)
    for value in (5.0, True):  # all strides are 0
        assert len(pmb.contour(np.broadcast_to(value, (64, 64, 64)), 0.5).points) == 0
    swapped = ball.astype(">f4")
    volume = pmb.Volume(swapped)
    swapped[...] = 0
    volume.update()
    assert volume.info()["maximum"] == 0
    masked = np.ma.masked_array(ball, np.arange(ball.size).reshape(ball.shape) % 7 == 0)
    shown = pmb.contour(ball, -0.5, mask=~masked.mask)
    assert np.array_equal(pmb.contour(masked, -0.5).points, shown.points)
    half = np.broadcast_to(np.arange(21)[:, None, None] < 10, ball.shape)
    assert np.array_equal(pmb.contour(masked, -0.5, mask=half).points,
                          pmb.contour(ball, -0.5, mask=half & ~masked.mask).points)
    arrays = {"real": masked, "integer": np.ma.masked_array(ball.astype(int), masked.mask)}
    for array in pmb.contour(ball, -0.5, arrays=arrays).arrays.values():
        assert 0 < np.isnan(array).mean() < 1
    locked = ball.copy()
    locked.flags.writeable = False
    assert np.shares_memory(pmb.Volume(locked)._array, locked)


@pytest.mark.parametrize("given, error, words", [
    (np.zeros((4, 4)), ValueError, ["(4, 4)", "float64"]),
    (np.zeros((4, 0, 4), "f4"), ValueError, ["(4, 0, 4)", "float32"]),
    (np.zeros((4, 4, 4), complex), TypeError, ["(4, 4, 4)", "complex128"]),
    (np.zeros((4, 4, 4), object), TypeError, ["(4, 4, 4)", "object"]),
    (np.zeros((4, 4, 4), "g"), TypeError, ["(4, 4, 4)", "longdouble" if np.longdouble().itemsize == 8 else "float128"]),
    (DLPack(np.zeros((4, 4, 4)), (2, 0)), TypeError, ["(4, 4, 4)", "float64", "GPU"]),
    ([[[0, 1], [2]]], TypeError, ["list"]),
    ("scan.nrrd", TypeError, ["'scan.nrrd'"]),
    (Image(), TypeError, ["an image"]),
])
def test_wrong_volumes(given, error, words):
    with pytest.raises(error) as raised:
        pmb.contour(given, 0.5)
    assert all(word in str(raised.value) for word in words), raised.value


@pytest.mark.parametrize("options, error, words", [
    (dict(isovalue=np.nan), ValueError, "nan"),
    (dict(isovalue=[[1.0]]), ValueError, r"\(1, 1\)"),
    (dict(isovalue=["1"]), TypeError, r"\['1'\]"),
    (dict(spacing=(1, 1)), ValueError, "spacing has 3"),
    (dict(spacing=(0, 0, 0)), ValueError, "one place"),
    (dict(spacing=(0, 1, 1)), ValueError, "spacing, origin and direction"),
    (dict(direction=np.eye(2)), ValueError, r"\(2, 2\)"),
    (dict(spacing="123"), TypeError, "'123'"),
    (dict(progress=1), TypeError, "progress is a function"),
    (dict(mask=np.ones((2, 2, 2), bool)), ValueError, r"\(2, 2, 2\)"),
    (dict(mask=np.ones((4, 4, 4))), TypeError, "float64"),
    (dict(arrays=[np.ones((4, 4, 4))]), TypeError, "dict"),
    (dict(arrays={"a": np.ones((2, 2, 2))}), ValueError, r"'a'.*\(2, 2, 2\)"),
    (dict(device="tpu"), ValueError, "tpu"),
])
def test_wrong_options(options, error, words):
    with pytest.raises(error, match=words):
        pmb.contour(np.zeros((4, 4, 4)), **{"isovalue": 0.5, **options})


def test_not_finite(ball):
    for bad in (np.nan, np.inf):
        holed = ball.copy()
        holed[10, 12, 20] = bad
        mesh = pmb.contour(holed, -0.5)
        assert 0 < len(mesh.triangles) and np.isfinite(mesh.points).all() and np.isfinite(mesh.normals).all()
    assert len(pmb.contour(np.full((4, 4, 4), np.nan), 0.5).points) == 0
    assert len(pmb.contour(np.zeros((1, 4, 4)), 0.5).points) == 0


@pytest.mark.full
def test_no_leak():
    def resident():
        gc.collect()
        with open("/proc/self/statm") as file:
            return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")

    volume, points = make_ball(np.float32, (48, 48, 48)), np.random.default_rng(1).random((100, 3))

    def calls(number):
        for _ in range(number):
            pmb.contour(volume, -0.5, arrays={"a": volume}).measure()
            pmb.particles(points, 0.1)
            with pytest.raises(ValueError):
                pmb.contour(volume, np.nan)

    calls(50)
    before = resident()
    calls(1000)
    assert resident() - before < 4 << 20  # a mesh has 0.4 MB


def test_volume_in_use():
    volume = pmb.Volume(np.random.default_rng(1).random((96, 96, 96)))
    for call in (volume.info, volume.close):
        time.sleep(0.05)  # the core reports at most 50 times per second
        with pytest.raises(RuntimeError, match="in use"):
            volume.contour(0.5, progress=lambda _: call())
    for call in (volume.close, volume.update, lambda: volume.contour(0.9), lambda: pmb.render(volume, 0.5)):
        with pytest.raises(RuntimeError, match="in use"):  # between two calls of the core
            volume.contour(0.5, progress=lambda fraction: call() if fraction == 0.5 else None)
    with pytest.raises(TypeError, match="copied"):
        copy.copy(volume)
    with pytest.raises(ValueError, match="-1"):
        volume.suggest(-1)
    for call in (pmb.contour, pmb.render):
        with pytest.raises(ValueError, match="set them there"):
            call(volume, 0.5, direction=np.eye(3))


def test_threads_at_once(ball):
    contour_at_once(ball, pmb.contour(ball, -0.5).points)


@pytest.mark.filterwarnings("ignore:.*fork")
def test_fork(ball):
    volume, expected = pmb.Volume(ball, device="cpu"), pmb.contour(ball, -0.5, device="cpu").points
    child = os.fork()
    if child == 0:
        right = all(np.array_equal(mesh.points, expected)
                    for mesh in (volume.contour(-0.5), pmb.contour(ball, -0.5, device="cpu")))
        os._exit(0 if right else 1)
    assert os.waitpid(child, 0)[1] == 0


@pytest.mark.filterwarnings("ignore:.*fork")
def test_fork_beside_a_thread(ball):
    """A volume that another thread uses then is told, and does not hang the child."""
    volume, forked = pmb.Volume(ball, device="cpu"), []

    def fork(fraction):
        if not forked:
            forked.append(fraction)
            worker.join()

    def work():
        child = os.fork()
        if child == 0:
            signal.alarm(20)
            try:
                volume.contour(-0.5)
            except RuntimeError as error:
                os._exit(0 if "forked" in str(error) and len(pmb.contour(ball, -0.5, device="cpu").points) else 1)
            os._exit(1)
        forked.append(os.waitpid(child, 0)[1])

    worker = threading.Thread(target=work)
    volume.contour(-0.5, progress=lambda fraction: None if forked else (worker.start(), fork(fraction)))
    assert forked[1] == 0


def test_update_reads_copies_again(ball):
    class Stored:
        """As a dataset of h5py: NumPy gets a copy."""
        shape, dtype = ball.shape, ball.dtype

        def __init__(self):
            self.data = ball.copy()

        def __array__(self, dtype=None, copy=None):
            return self.data.copy()

    stored = Stored()
    volume = pmb.Volume(stored)
    stored.data += 1
    volume.update()
    assert np.array_equal(volume.contour(0.5).points, pmb.contour(ball + 1, 0.5).points)
    stored.data = stored.data[1:]
    with pytest.raises(ValueError, match="make another volume"):
        volume.update()


def test_close_gives_the_array_free():
    memory = bytearray(8 * 64)
    volume = pmb.Volume(memoryview(memory).cast("d", (4, 4, 4)))
    with pytest.raises(BufferError):
        memory.extend(b"x")
    volume.close()
    memory.extend(b"x")
    assert volume.shape == (4, 4, 4) and "closed" in repr(volume)
    with pytest.raises(ValueError, match="closed"):
        volume.update()


def test_range_beyond_a_float():
    edges = pmb.Volume(np.array([-1.5e308, 1.5e308] * 32).reshape(4, 4, 4)).histogram(4).edges
    assert np.array_equal(edges, [-1.5e308, -0.75e308, 0, 0.75e308, 1.5e308])
    with pytest.raises(ValueError, match="beyond"):
        pmb.contour(np.zeros((2, 2, 2)), 10**400)


@pytest.mark.parametrize("call", [pmb.contour, pmb.render])
def test_progress_of_two_parts_rises(call):
    seen = []
    call(np.random.default_rng(1).random((96, 96, 96)), 0.5, progress=seen.append)
    assert seen == sorted(seen) and seen[-1] == 1 and 0.5 in seen


@pytest.mark.skipif(threading.current_thread() is not threading.main_thread(), reason="signals need the main thread")
def test_interrupt():
    """Ctrl-C stops the work: the signal comes at the first report of progress, long before the end."""
    points = np.random.default_rng(1).random((200000, 3)) * 40
    fractions = []

    def interrupt(fraction):
        fractions.append(fraction)
        if len(fractions) == 1:
            os.kill(os.getpid(), signal.SIGINT)

    with pytest.raises(KeyboardInterrupt):
        pmb.particles(points, 0.5, progress=interrupt, device="cpu")
    assert max(fractions) < 0.9
    assert len(pmb.particles(points[:100], 0.5).points) > 0


@pytest.mark.full
@pytest.mark.parametrize("name", ["contour", "float16", "array", "particles", "render", "measure", "save"])
def test_interrupt_within_100_ms(name, tmp_path):
    """Of processor time on one thread, so that other programs of the machine do not count."""
    noise = np.random.default_rng(1).random((256, 256, 256), dtype=np.float32)
    points = np.random.default_rng(1).random((300000, 3)) * 67
    pmb.set_threads(1)  # of what is made from here on
    volume = pmb.Volume(noise, device="cpu")
    mesh = volume.contour(0.9)
    call = {"contour": lambda: pmb.contour(noise, 0.9, device="cpu"),
            "float16": lambda: pmb.contour(noise.astype("f2"), 2.0, device="cpu"),
            "array": lambda: volume.contour(2.0, arrays={"a": noise.T}),
            "particles": lambda: pmb.particles(points, 0.5, device="cpu"),
            "render": lambda: pmb.render(volume, 0.9, size=(800, 600)),
            "measure": mesh.measure,
            "save": lambda: mesh.save(tmp_path / "mesh.stl")}[name]
    sent, waits = [], []

    def interrupt(delay):
        time.sleep(delay)
        sent[:] = [time.process_time()]
        os.kill(os.getpid(), signal.SIGINT)

    try:
        begin = time.perf_counter()
        call()
        length = time.perf_counter() - begin
        for part in range(8):
            thread = threading.Thread(target=interrupt, args=[length * part / 8])
            try:
                thread.start()
                call()
                thread.join()
                time.sleep(0.01)  # the signal may still be on its way
            except KeyboardInterrupt:
                waits.append(time.process_time() - sent[0])
                thread.join()
    finally:
        pmb.set_threads()
    assert len(waits) > 3 and max(waits) < 0.1, waits


def test_subinterpreters_are_refused(ball):
    code = """
try:
    import _interpreters as interpreters
except ImportError:
    import _xxsubinterpreters as interpreters
other = interpreters.create()
interpreters.run_string(other, '''
try:
    import pmb
except ImportError as error:
    print("refused:", error, flush=True)
''')
interpreters.destroy(other)
import pmb
print(pmb.contour([[[0, 0], [0, 0]], [[1, 1], [1, 1]]], 0.5))
"""
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert "refused:" in run.stdout and "subinterpreter" in run.stdout and "2 triangles" in run.stdout, run.stderr


# Words of messages about what this package sets itself, and fits.
NEVER_WRONG = """
NULL struct_size pmb_options layer isovalue_count isovalues.%s _type type.%d type.is 32-bit.ids attribute room.for
part_count :.part z_begin brick_limit whole stride.%lld.and anisotropic.is.%d kernel.is.%d;.use normals.is
pixel_samples mode.is table_size gradient_table color_by ambient light placement colors.aligned works.on.the.CPU
is.counted scalars image.has estimator particles.and.values particles.reach stream.%p"""


def test_messages_of_the_core_have_no_words_of_c():
    """All that a call from Python can bring."""
    texts = []
    for path in sorted((pathlib.Path(__file__).parents[2] / "Kernels").rglob("*.c*")):
        for found in re.finditer(r'PMB_[A-Z_]+,\s*((?:"(?:[^"\\]|\\.)*"\s*)+)', path.read_text()):
            text = "".join(re.findall(r'"((?:[^"\\]|\\.)*)"', found[1]))
            if re.match(r"(%s|pmb_(bind|count|emit|histogram|suggest|measure|particles_(count|emit)|cast_rays)):", text):
                texts.append(text)
    texts = [re.sub("%s:", "pmb_bind:", text) for text in texts if not re.search("|".join(NEVER_WRONG.split()), text)]
    assert len(texts) > 30
    for text in texts:
        told = in_python(re.sub(r"%[.\d]*l*[a-z]", "1", text))
        assert not re.search(r"PMB_|on_device|\b(?!cell_size)[a-z]+_[a-z_]+", told), told


def test_out_of_memory():
    code = """
import resource, numpy, pmb
noise = numpy.random.default_rng(1).random((160, 160, 160), dtype=numpy.float32)
pmb.set_threads(1)
pmb.contour(noise[:8], 0.5)
used = int(open("/proc/self/statm").read().split()[0]) * resource.getpagesize()
resource.setrlimit(resource.RLIMIT_AS, (used + (40 << 20), -1))
try:
    pmb.contour(noise, 0.5)
except MemoryError as error:
    print("caught", len(pmb.contour(noise[:8], 0.5).points) > 0)
"""
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert run.stdout == "caught True\n", run.stderr


def test_memory_that_is_kept_is_used(monkeypatch):
    tried = []

    @_context.with_kept_memory
    def call():
        tried.append(1)
        if len(tried) != 2:
            raise MemoryError

    monkeypatch.setattr(_context, "empty_cache", lambda: len(tried) == 1)
    call()
    with pytest.raises(MemoryError):
        call()
    assert len(tried) == 3
