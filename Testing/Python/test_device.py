# SPDX-License-Identifier: BSD-3-Clause
"""Arrays in a GPU's memory: meshes that never leave it, beside those of the same arrays in host memory."""
import gc

import numpy as np
import pytest
from conftest import contour_at_once, make_ball

import pmb
from pmb._core import free_memory


pytestmark = pytest.mark.skipif(pmb.find_device().kind != "cuda", reason="there is no GPU, or this build has no CUDA")


class Interface:
    """An array known by __cuda_array_interface__ alone, which a test may change."""

    def __init__(self, array, **changes):
        self._array, self.__cuda_array_interface__ = array, {**array.__cuda_array_interface__, **changes}
        self.shape, self.dtype = array.shape, array.dtype


def to_torch(array):
    return pytest.importorskip("torch").as_tensor(array, device="cuda")


def to_cupy(array):
    return pytest.importorskip("cupy").asarray(array)


def to_jax(array):
    jax = pytest.importorskip("jax")
    jax.config.update("jax_enable_x64", True)
    return jax.device_put(array, jax.devices("gpu")[0])


def to_numba(array):
    return pytest.importorskip("numba.cuda").to_device(array)


def to_warp(array):
    warp = pytest.importorskip("warp")
    return warp.array(array, device="cuda")


LIBRARIES = [pmb.DeviceArray.from_host, lambda a: Interface(pmb.DeviceArray.from_host(a)), to_torch, to_cupy, to_jax,
             to_numba, to_warp]


def same(mesh, expected):
    assert isinstance(mesh.points, pmb.DeviceArray) and mesh.sizes == expected.sizes
    mesh = mesh.to_host()
    for name in ("points", "triangles", "normals", "gradients"):
        a, b = getattr(mesh, name), getattr(expected, name)
        assert (a is None) == (b is None) and (a is None or a.tobytes() == b.tobytes()), name
    assert list(mesh.arrays) == list(expected.arrays)
    assert all(mesh.arrays[name].tobytes() == value.tobytes() for name, value in expected.arrays.items())
    assert mesh.measure() == expected.measure()


@pytest.mark.parametrize("place", LIBRARIES)
def test_libraries(ball, place):
    other = np.random.default_rng(1).random((*ball.shape, 2))
    expected = pmb.contour(ball, [-0.5, -0.3], spacing=(1, 2, 3), gradients=True, arrays={"a": other}, device="cpu")
    mesh = pmb.contour(place(ball), [-0.5, -0.3], spacing=(1, 2, 3), gradients=True, arrays={"a": place(other)})
    same(mesh, expected)
    assert len(pmb.contour(place(ball), 9).points) == 0


@pytest.mark.parametrize("dtype", ["i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8", "f4", "f8", "?"])
def test_types(ball, dtype):
    values = ball > -0.5 if dtype == "?" else (100 * (1 + ball / 2)).astype(dtype)
    level = 0.5 if dtype == "?" else 70.5
    for place in (pmb.DeviceArray.from_host, to_torch):
        same(pmb.contour(place(values), level), pmb.contour(values, level, device="cpu"))


def test_strides(ball):
    views = [lambda a: a, lambda a: a.swapaxes(0, 2).swapaxes(0, 1), lambda a: a[1:, 2:, 3:], lambda a: a[:, :, ::2]]
    backwards = [lambda a: a[::-1], lambda a: a[:, :, ::-2]]  # PyTorch has no such views
    for place, library_views in ((to_torch, views), (to_cupy, views + backwards)):
        whole = place(np.repeat(ball, 2, axis=1))
        for view in library_views:
            same(pmb.contour(view(whole[:, ::2]), -0.5), pmb.contour(view(ball), -0.5, device="cpu"))


def test_volume_follows_its_array(ball):
    torch = pytest.importorskip("torch")
    tensor = torch.as_tensor(ball, device="cuda")
    stream = torch.cuda.Stream()
    with torch.cuda.stream(stream):
        torch.cuda._sleep(20_000_000)  # the change is far from done when the volume is made
        tensor += 0.25
        volume = pmb.Volume(tensor)
    same(volume.contour(-0.25), pmb.contour(ball + 0.25, -0.25, device="cpu"))
    assert volume.suggest() == pmb.Volume(ball + 0.25, device="cpu").suggest()
    with torch.cuda.stream(stream):
        torch.cuda._sleep(20_000_000)
        tensor += 0.25
        volume.update()
    same(volume.contour(0), pmb.contour(ball + 0.5, 0, device="cpu"))


def test_readers(ball):
    """Other libraries read a mesh without a copy, and it lasts as long as they do."""
    torch, cupy = pytest.importorskip("torch"), pytest.importorskip("cupy")
    numba = pytest.importorskip("numba.cuda")
    expected = pmb.contour(ball, -0.5, device="cpu")
    points = pmb.contour(to_torch(ball), -0.5).points
    readers = torch.from_dlpack(points), cupy.from_dlpack(points), torch.as_tensor(points), numba.as_cuda_array(points)
    assert readers[0].data_ptr() == points.address == readers[1].data.ptr
    del points
    gc.collect()
    again = [pmb.contour(to_torch(ball), level).points for level in (-0.3, -0.4, -0.5)]  # would reuse the memory
    for reader in (readers[0].cpu().numpy(), readers[1].get(), readers[2].cpu().numpy(), readers[3].copy_to_host()):
        assert reader.tobytes() == expected.points.tobytes()
    assert len(again) == 3


def test_current_gpu_stays():
    """Calls for arrays of another GPU than the current one leave that current for PyTorch. What they make lies there."""
    torch = pytest.importorskip("torch")
    if torch.cuda.device_count() < 2:
        pytest.skip("needs two GPUs")
    ball, cloud = make_ball(shape=(60, 60, 60)), np.random.default_rng(3).random((500, 3)) * 10
    assert torch.zeros(1, device="cuda").device.index == 0
    for device in ("cuda:1", "cuda:0", "cuda:1"):
        there = torch.from_numpy(ball).to(device)
        volume = pmb.Volume(there)
        mesh = volume.contour(-0.5)
        volume.close()
        made = [mesh.points, pmb.render(there, -0.5, size=(64, 48)), pmb.DeviceArray.from_host(ball, int(device[-1])),
                pmb.particles(torch.from_numpy(cloud).to(device), 0.5).points]
        assert [array.device for array in made] == [int(device[-1])] * len(made)
        same(mesh, pmb.contour(ball, -0.5, device="cpu"))
        assert [len(array.numpy()) > 0 for array in made] == [True] * len(made)
        pmb.contour(ball, -0.5, device=device), pmb.render(ball, -0.5, size=(64, 48), device=device)
        del mesh, made
        free_memory()
        assert torch.cuda.current_device() == 0


def test_particles():
    rng = np.random.default_rng(3)
    points, radii, colors = rng.random((500, 3)) * 10, rng.uniform(0.4, 0.6, 500), rng.random((500, 3)).astype("f4")
    points[7], radii[7] = np.nan, np.inf  # is left out
    for place in (pmb.DeviceArray.from_host, to_torch, to_cupy):
        for radius in (0.5, radii):
            expected = pmb.particles(points, radius, arrays={"c": colors}, device="cpu")
            given = radius if isinstance(radius, float) else place(radius)
            same(pmb.particles(place(points), given, arrays={"c": place(colors)}), expected)


def test_pictures(ball):
    """They stay on the GPU, where the volume is there, and are those of the CPU."""
    for place in (*LIBRARIES[:2], np.asarray):
        for options in (dict(isovalue=[-0.5, -0.3], colors=(1, 0, 0, 0.5)), dict(isovalue=-0.5, background=None), dict()):
            expected = pmb.render(ball, size=(64, 48), device="cpu", **options)
            picture = pmb.render(place(ball), size=(64, 48), **options)
            assert isinstance(picture, np.ndarray if place is np.asarray else pmb.DeviceArray)
            assert picture.shape == expected.shape and picture.dtype == np.uint8
            host = picture if place is np.asarray else picture.numpy()
            assert np.abs(host.astype(int) - expected).max() <= 1


@pytest.mark.parametrize("spoil, error, words", [
    (lambda t: pmb.contour(t, -0.5, device="cpu"), ValueError, "on cuda:0, but device is 'cpu'"),
    (lambda t: pmb.contour(t, -0.5, arrays={"a": np.zeros(t.shape)}), TypeError, "not on cuda:0"),
    (lambda t: pmb.contour(np.zeros(t.shape), -0.5, arrays={"a": t}), TypeError, "not in host memory"),
    (lambda t: pmb.contour(t, -0.5, arrays={"a": t.T.contiguous().T}), ValueError, "make it contiguous"),
    (lambda t: pmb.contour(t.half(), -0.5), TypeError, "float16.*convert it there"),
    (lambda t: pmb.contour(t.bfloat16(), -0.5), TypeError, "bfloat16.*convert it there"),
    (lambda t: pmb.contour(t.to_sparse(), -0.5), TypeError, "cannot be read on its GPU"),
    (lambda t: pmb.contour(t.clone().requires_grad_(), -0.5), TypeError, "grad"),
    (lambda t: pmb.contour(t + 1j, -0.5), TypeError, "complex128"),
    (lambda t: pmb.contour((t + 1j * t).conj().imag, -0.5), TypeError, "resolve_neg"),
    (lambda t: pmb.contour(t[:0], -0.5), ValueError, "at least one sample"),
    (lambda t: pmb.contour(Interface(pmb.DeviceArray.from_host(np.zeros((3, 3, 3))), typestr=">f8"), 1), TypeError, "GPU"),
    (lambda t: pmb.contour(Interface(pmb.DeviceArray.from_host(np.zeros((3, 3, 3))), mask=t), 1), TypeError, "mask"),
    (lambda t: pmb.contour(Interface(pmb.DeviceArray.from_host(np.zeros((3, 3, 3))), data=(64, False)), 1), ValueError,
     "host memory"),
    (lambda t: pmb.particles(t[0, :, :3], 0.5, masses=np.ones(t.shape[1])), TypeError, "not on cuda:0"),
])
def test_wrong_input(ball, spoil, error, words):
    with pytest.raises(error, match=words):
        spoil(to_torch(ball))
    same(pmb.contour(to_torch(ball), -0.5), pmb.contour(ball, -0.5, device="cpu"))


def test_used_capsule(ball):
    class Used:
        shape, dtype = ball.shape, ball.dtype

        def __init__(self, tensor):
            self._tensor, self._capsule = tensor, tensor.__dlpack__()

        def __dlpack__(self, **keywords):
            return self._capsule

        def __dlpack_device__(self):
            return self._tensor.__dlpack_device__()

    once = Used(to_torch(ball))
    same(pmb.contour(once, -0.5), pmb.contour(ball, -0.5, device="cpu"))
    with pytest.raises(TypeError, match="cannot be read"):
        pmb.contour(once, -0.5)


def test_out_of_memory(ball):
    torch = pytest.importorskip("torch")
    noise = torch.rand((256, 256, 256), device="cuda")
    torch.cuda.empty_cache()
    pmb.empty_cache()
    hog = torch.empty(torch.cuda.mem_get_info()[0] - (150 << 20), dtype=torch.uint8, device="cuda")
    with pytest.raises(MemoryError):
        pmb.contour(noise, 0.5)
    del hog
    torch.cuda.empty_cache()
    assert len(pmb.contour(noise, 0.5).points) > 1 << 20


def test_memory_goes_back():
    """What a mesh leaves stays for the next one, until somebody asks for it."""
    torch = pytest.importorskip("torch")
    noise = torch.rand((256, 256, 256), device="cuda")
    size = 12 * len(pmb.contour(noise, 0.5, normals=False).points)
    kept = torch.cuda.mem_get_info()[0]
    assert pmb.empty_cache() >= size and torch.cuda.mem_get_info()[0] >= kept + size


def test_threads(ball):
    contour_at_once(pmb.DeviceArray.from_host(ball), pmb.contour(ball, -0.5, device="cpu").points)


def test_no_leak():
    torch = pytest.importorskip("torch")
    tensor = to_torch(make_ball(np.float32, (64, 64, 64)))

    def calls(number):
        for _ in range(number):
            mesh = pmb.contour(tensor, -0.5)
            torch.from_dlpack(mesh.points).sum()
            mesh.normals.__dlpack__()  # a capsule that nobody reads
            Interface(mesh.triangles)
        torch.cuda.synchronize()
        return torch.cuda.mem_get_info()[0]

    before = calls(50)
    assert before - calls(1000) < 4 << 20
