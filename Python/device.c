/* SPDX-License-Identifier: BSD-3-Clause
 * Memory for Python, of a GPU and of the host beside it; pictures, and arrays that change hands by DLPack. A GPU's memory comes
 * from a pool, in the order of the legacy default stream, so that a mesh of a size that was there before costs no cudaMalloc. */
#include "device.h"
#include "picture.h"
#include "pmb.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#ifdef PMB_CUDA
#include <cuda_runtime_api.h>
#include <dlfcn.h>
#endif

/* --- the thread's current GPU ------------------------------------------------------------------------------------------- */

int pmb_device_of_thread(void)
{
  int device = -1;
#ifdef PMB_CUDA
  if (cudaGetDevice(&device) != cudaSuccess)
  {
    cudaGetLastError();
    device = -1;
  }
#endif
  return device;
}

void pmb_return_to_device(int device)
{
#ifdef PMB_CUDA
  int now = device, is_used = 0;
  unsigned flags = 0;
  if (device >= 0 && cudaGetDevice(&now) == cudaSuccess && now != device)
  {
    void* driver = dlopen("libcuda.so.1", RTLD_LAZY | RTLD_NOLOAD);
    void* found = driver ? dlsym(driver, "cuDevicePrimaryCtxGetState") : NULL;
    int (*get_state)(int, unsigned*, int*) = NULL;
    memcpy(&get_state, &found, sizeof(get_state));
    if (get_state && get_state(device, &flags, &is_used) == 0 && is_used)
    {
      cudaSetDevice(device);
    }
    if (driver)
    {
      dlclose(driver);
    }
  }
  cudaGetLastError();
#else
  (void)device;
#endif
}

/* --- DLPack's structs, as its specification lays them out --------------------------------------------------------------- */

typedef struct dl_tensor
{
  void* data;
  int32_t device_type, device;
  int32_t ndim;
  uint8_t code, bits;
  uint16_t lanes;
  int64_t *shape, *strides; /* in elements; strides NULL: packed, the last axis fastest */
  uint64_t byte_offset;
} dl_tensor;

typedef struct dl_managed
{
  dl_tensor tensor;
  void* owner;
  void (*deleter)(struct dl_managed*);
} dl_managed;

typedef struct dl_versioned
{
  uint32_t major, minor;
  void* owner;
  void (*deleter)(struct dl_versioned*);
  uint64_t flags;
  dl_tensor tensor;
} dl_versioned;

/* --- taking: from another library ------------------------------------------------------------------------------------- */

static const char taken[] = "pmb.dltensor", taken_versioned[] = "pmb.dltensor_versioned";

static void drop(PyObject* capsule)
{
  if (PyCapsule_IsValid(capsule, taken))
  {
    dl_managed* managed = PyCapsule_GetPointer(capsule, taken);
    if (managed->deleter)
    {
      managed->deleter(managed);
    }
  }
  else
  {
    dl_versioned* managed = PyCapsule_GetPointer(capsule, taken_versioned);
    if (managed && managed->deleter)
    {
      managed->deleter(managed);
    }
  }
}

static PyObject* numbers_of(const int64_t* values, int count)
{
  PyObject* tuple = PyTuple_New(count);
  for (int i = 0; tuple && i < count; ++i)
  {
    PyTuple_SetItem(tuple, i, PyLong_FromLongLong(values[i]));
  }
  return tuple;
}

/* (owner, address, device type, device, code, bits, lanes, shape, strides or None) of a capsule, which is used up. */
static PyObject* read_dlpack(PyObject* unused, PyObject* capsule)
{
  (void)unused;
  static const char plain[] = "dltensor", versioned[] = "dltensor_versioned";
  const int new = PyCapsule_IsValid(capsule, versioned);
  void* managed = PyCapsule_GetPointer(capsule, new ? versioned : plain); /* raises ValueError for a used one */
  if (!managed)
  {
    return NULL;
  }
  if (new && ((dl_versioned*)managed)->major != 1)
  {
    return PyErr_Format(
      PyExc_BufferError, "DLPack has version %u here, but 1 is read", ((dl_versioned*)managed)->major);
  }
  PyObject* owner = PyCapsule_New(managed, new ? taken_versioned : taken, drop);
  if (!owner)
  {
    return NULL;
  }
  PyCapsule_SetName(capsule, new ? "used_dltensor_versioned" : "used_dltensor");
  const dl_tensor* t = new ? &((dl_versioned*)managed)->tensor : &((dl_managed*)managed)->tensor;
  PyObject* strides = t->strides ? numbers_of(t->strides, t->ndim) : Py_NewRef(Py_None);
  return Py_BuildValue("NKiiiiiNN", owner, (unsigned long long)((uintptr_t)t->data + t->byte_offset),
    (int)t->device_type, (int)t->device, t->code, t->bits, t->lanes, numbers_of(t->shape, t->ndim), strides);
}

/* --- memory ----------------------------------------------------------------------------------------------------------- */

typedef struct memory
{
  PyObject_HEAD void* data;
  int device;
  int everywhere;          /* a reader whose stream is unknown was given the address */
  unsigned long long last; /* stream of the last reader that said its own; 0: none */
} memory;

#ifdef PMB_CUDA
enum
{
  DEVICES = 64
};
static const uint64_t least_kept = 1u << 30, kept_share = 8;

/* Bytes of the current GPU. */
static uint64_t whole_memory(void)
{
  size_t unused, whole = 0;
  return cudaMemGetInfo(&unused, &whole) == cudaSuccess ? whole : 0;
}

static cudaMemPool_t pools[DEVICES];

/* The pool of a GPU, which is the current one. The GIL is held. NULL: the GPU has none. It keeps an eighth of the GPU's memory, at
 * least 1 GiB, when no array needs it: to map a GiB again takes longer than to extract a mesh of two. */
static cudaMemPool_t pool_of(int device)
{
  if (device < DEVICES && !pools[device])
  {
    struct cudaMemPoolProps properties;
    memset(&properties, 0, sizeof(properties));
    properties.allocType = cudaMemAllocationTypePinned;
    properties.location.type = cudaMemLocationTypeDevice;
    properties.location.id = device;
    const uint64_t whole = whole_memory();
    uint64_t kept = whole / kept_share > least_kept ? whole / kept_share : least_kept;
    if (cudaMemPoolCreate(&pools[device], &properties) != cudaSuccess)
    {
      pools[device] = NULL;
      cudaGetLastError();
    }
    else
    {
      cudaMemPoolSetAttribute(pools[device], cudaMemPoolAttrReleaseThreshold, &kept);
    }
  }
  return device < DEVICES ? pools[device] : NULL;
}

/* Gives the memory that no array needs back to the GPUs. Returns its bytes. */
static uint64_t trim_pools(void)
{
  uint64_t freed = 0, before = 0, after = 0;
  const int current = pmb_device_of_thread();
  for (int i = 0; i < DEVICES; ++i)
  {
    if (pools[i] && cudaSetDevice(i) == cudaSuccess && cudaStreamSynchronize(cudaStreamLegacy) == cudaSuccess &&
      cudaMemPoolGetAttribute(pools[i], cudaMemPoolAttrReservedMemCurrent, &before) == cudaSuccess &&
      cudaMemPoolTrimTo(pools[i], 0) == cudaSuccess &&
      cudaMemPoolGetAttribute(pools[i], cudaMemPoolAttrReservedMemCurrent, &after) == cudaSuccess)
    {
      freed += before - after;
    }
  }
  pmb_return_to_device(current);
  return freed;
}

/* wait: until the readers of what was here before are done. Without it, whoever writes waits for the legacy default stream. */
static cudaError_t allocate(memory* self, size_t bytes, int wait)
{
  const int before = pmb_device_of_thread();
  cudaError_t error = cudaSetDevice(self->device);
  if (error == cudaSuccess && bytes)
  {
    cudaMemPool_t pool = pool_of(self->device);
    error = pool ? cudaMallocFromPoolAsync(&self->data, bytes, pool, cudaStreamLegacy) : cudaErrorNotSupported;
    if (error == cudaSuccess && wait)
    {
      PyThreadState* thread = PyEval_SaveThread();
      error = cudaStreamSynchronize(cudaStreamLegacy);
      PyEval_RestoreThread(thread);
    }
  }
  pmb_return_to_device(before);
  return error;
}

/* Work of readers that has begun ends before the memory goes back to the pool. */
static void release(memory* self)
{
  const int before = pmb_device_of_thread();
  cudaEvent_t read = NULL;
  cudaSetDevice(self->device);
  cudaStream_t stream = (cudaStream_t)(uintptr_t)self->last;
  if (self->everywhere ||
    (stream &&
      (cudaEventCreateWithFlags(&read, cudaEventDisableTiming) != cudaSuccess ||
        cudaEventRecord(read, stream) != cudaSuccess ||
        cudaStreamWaitEvent(cudaStreamLegacy, read, 0) != cudaSuccess)))
  {
    cudaDeviceSynchronize();
  }
  if (read)
  {
    cudaEventDestroy(read);
  }
  cudaFreeAsync(self->data, cudaStreamLegacy);
  pmb_return_to_device(before);
}
#endif

static PyObject* memory_new(PyTypeObject* type, PyObject* args, PyObject* keywords)
{
  (void)keywords;
  int device, wait;
  unsigned long long bytes;
  if (!PyArg_ParseTuple(args, "iKi", &device, &bytes, &wait))
  {
    return NULL;
  }
  memory* self = (memory*)((allocfunc)PyType_GetSlot(type, Py_tp_alloc))(type, 0);
  if (self)
  {
    self->device = device;
#ifdef PMB_CUDA
    const cudaError_t error = allocate(self, (size_t)bytes, wait);
    if (error != cudaSuccess)
    {
      PyErr_Format(error == cudaErrorMemoryAllocation ? PyExc_MemoryError : PyExc_RuntimeError,
        "cuda:%d gave no %llu bytes: %s", device, bytes, cudaGetErrorString(error));
      Py_DECREF(self);
      return NULL;
    }
#else
    Py_DECREF(self);
    return PyErr_Format(PyExc_RuntimeError, "this build has no CUDA: there is no memory of cuda:%d", device);
#endif
  }
  return (PyObject*)self;
}

static void memory_dealloc(PyObject* object)
{
  PyTypeObject* type = Py_TYPE(object);
#ifdef PMB_CUDA
  if (((memory*)object)->data)
  {
    release((memory*)object);
  }
#endif
  ((freefunc)PyType_GetSlot(type, Py_tp_free))(object);
  Py_DECREF(type);
}

static PyObject* get_address(PyObject* object, void* unused)
{
  (void)unused;
  return PyLong_FromVoidPtr(((memory*)object)->data);
}

/* read_by(stream): a reader works in that stream, as DLPack counts them: 1 and 2 are the default streams. None: in any. */
static PyObject* read_by(PyObject* object, PyObject* stream)
{
  memory* self = (memory*)object;
  const unsigned long long last = stream == Py_None ? 0 : PyLong_AsUnsignedLongLongMask(stream);
  if (PyErr_Occurred())
  {
    return NULL;
  }
  self->everywhere |= stream == Py_None || (self->last && self->last != last);
  self->last = last;
  return Py_NewRef(Py_None);
}

static PyMethodDef memory_methods[] = { { "read_by", read_by, METH_O, NULL }, { NULL, NULL, 0, NULL } };

static PyGetSetDef memory_members[] = { { "address", get_address, NULL, NULL, NULL },
  { NULL, NULL, NULL, NULL, NULL } };

static PyType_Slot memory_slots[] = { { Py_tp_new, memory_new }, { Py_tp_dealloc, memory_dealloc },
  { Py_tp_methods, memory_methods }, { Py_tp_getset, memory_members },
  { Py_tp_doc, "Memory(device, bytes, wait): memory of a GPU." }, { 0, NULL } };

static PyType_Spec memory_spec = { "pmb._core.Memory", sizeof(memory), 0, Py_TPFLAGS_DEFAULT, memory_slots };

/* host_allocate(bytes): the address of host memory that a GPU reaches directly (pmb_host_allocate); 0: there is none. */
static PyObject* host_allocate(PyObject* unused, PyObject* bytes)
{
  (void)unused;
  const size_t size = PyLong_AsSize_t(bytes);
  if (PyErr_Occurred())
  {
    return NULL;
  }
  const int before = pmb_device_of_thread();
  PyThreadState* thread = PyEval_SaveThread(); /* pinning takes long */
  void* found = pmb_host_allocate(size);
  PyEval_RestoreThread(thread);
  pmb_return_to_device(before);
  return PyLong_FromVoidPtr(found);
}

/* host_release(address): gives it back. */
static PyObject* host_release(PyObject* unused, PyObject* address)
{
  (void)unused;
  const int before = pmb_device_of_thread();
  pmb_host_release(PyLong_AsVoidPtr(address));
  pmb_return_to_device(before);
  return PyErr_Occurred() ? NULL : Py_NewRef(Py_None);
}

/* host_trim(): frees what the core keeps of memory that was given back. */
static PyObject* host_trim(PyObject* unused, PyObject* no_arguments)
{
  (void)unused, (void)no_arguments;
  const int before = pmb_device_of_thread();
  PyThreadState* thread = PyEval_SaveThread();
  pmb_host_trim();
  PyEval_RestoreThread(thread);
  pmb_return_to_device(before);
  return Py_NewRef(Py_None);
}

/* The number of the GPU whose memory this is, -1 for other memory. */
static int find_gpu(unsigned long long address)
{
  int device = -1;
#ifdef PMB_CUDA
  struct cudaPointerAttributes found;
  if (cudaPointerGetAttributes(&found, (const void*)(uintptr_t)address) == cudaSuccess &&
    (found.type == cudaMemoryTypeDevice || found.type == cudaMemoryTypeManaged))
  {
    device = found.device;
  }
  cudaGetLastError();
#else
  (void)address;
#endif
  return device;
}

/* device_of(address): see find_gpu. */
static PyObject* device_of(PyObject* unused, PyObject* address)
{
  (void)unused;
  const int device = find_gpu(PyLong_AsUnsignedLongLongMask(address));
  return PyErr_Occurred() ? NULL : PyLong_FromLong(device);
}

/* free_memory(): gives memory that is kept for later arrays back to the GPUs. Returns its bytes. */
static PyObject* free_memory(PyObject* unused, PyObject* none)
{
  (void)unused, (void)none;
  uint64_t freed = 0;
#ifdef PMB_CUDA
  freed = trim_pools();
#endif
  return PyLong_FromUnsignedLongLong(freed);
}

/* memory_of(device): bytes of a GPU. */
static PyObject* memory_of(PyObject* unused, PyObject* device)
{
  (void)unused;
  const int number = (int)PyLong_AsLong(device);
  uint64_t bytes = 0;
#ifdef PMB_CUDA
  const int before = pmb_device_of_thread();
  bytes = cudaSetDevice(number) == cudaSuccess ? whole_memory() : 0;
  pmb_return_to_device(before);
#else
  (void)number;
#endif
  return PyErr_Occurred() ? NULL : PyLong_FromUnsignedLongLong(bytes);
}

/* wait_for(device, stream): until the work in a stream of this GPU is done. */
static PyObject* wait_for(PyObject* unused, PyObject* args)
{
  (void)unused;
  int device;
  unsigned long long stream;
  if (!PyArg_ParseTuple(args, "iK", &device, &stream))
  {
    return NULL;
  }
#ifdef PMB_CUDA
  const int before = pmb_device_of_thread();
  PyThreadState* thread = PyEval_SaveThread();
  cudaError_t error = cudaSetDevice(device);
  error = error == cudaSuccess ? cudaStreamSynchronize((cudaStream_t)(uintptr_t)stream) : error;
  PyEval_RestoreThread(thread);
  pmb_return_to_device(before);
  if (error != cudaSuccess)
  {
    return PyErr_Format(PyExc_RuntimeError, "stream %llu of cuda:%d: %s", stream, device, cudaGetErrorString(error));
  }
#endif
  return Py_NewRef(Py_None);
}

/* copy_memory(to, from, bytes): between a GPU and the host, in the order of the legacy default stream. */
static PyObject* copy_memory(PyObject* unused, PyObject* args)
{
  (void)unused;
  unsigned long long to, from, bytes;
  if (!PyArg_ParseTuple(args, "KKK", &to, &from, &bytes))
  {
    return NULL;
  }
#ifdef PMB_CUDA
  const int before = pmb_device_of_thread(), of_target = find_gpu(to),
            gpu = of_target < 0 ? find_gpu(from) : of_target;
  PyThreadState* thread = PyEval_SaveThread();
  if (gpu >= 0) /* other GPUs do not reach its pool */
  {
    cudaSetDevice(gpu);
  }
  const cudaError_t error =
    cudaMemcpy((void*)(uintptr_t)to, (const void*)(uintptr_t)from, (size_t)bytes, cudaMemcpyDefault);
  PyEval_RestoreThread(thread);
  pmb_return_to_device(before);
  if (error != cudaSuccess)
  {
    return PyErr_Format(PyExc_RuntimeError, "the GPU copied no %llu bytes: %s", bytes, cudaGetErrorString(error));
  }
#endif
  return Py_NewRef(Py_None);
}

/* finish_picture(colors, pixels, width, height, background or None, device): the core's colors as bytes. device: the number of the
 * GPU with both arrays, -1 for host memory. */
static PyObject* finish_picture(PyObject* unused, PyObject* args)
{
  (void)unused;
  unsigned long long colors, pixels;
  long long width, height;
  PyObject* background;
  int device, failed = 0;
  if (!PyArg_ParseTuple(args, "KKLLOi", &colors, &pixels, &width, &height, &background, &device))
  {
    return NULL;
  }
  pmb_picture picture = { (const float*)(uintptr_t)colors, (uint8_t*)(uintptr_t)pixels, width, height, { 0, 0, 0 },
    background != Py_None };
  if (picture.has_background &&
    !PyArg_ParseTuple(background, "fff", &picture.background[0], &picture.background[1], &picture.background[2]))
  {
    return NULL;
  }
  PyThreadState* thread = PyEval_SaveThread();
  const pmb_picture fixed = picture; /* the compiler knows that no pixel changes it */
  for (int64_t row = 0; device < 0 && row < height; ++row)
  {
    for (int64_t column = 0; column < width; ++column)
    {
      pmb_finish_pixel(&fixed, row, column);
    }
  }
#ifdef PMB_CUDA
  if (device >= 0)
  {
    const int before = pmb_device_of_thread();
    cudaSetDevice(device);
    failed = pmb_finish_on_gpu(&picture);
    pmb_return_to_device(before);
  }
#endif
  PyEval_RestoreThread(thread);
  return failed
    ? PyErr_Format(PyExc_RuntimeError, "cuda:%d made no picture of the colors: CUDA error %d", device, failed)
    : Py_NewRef(Py_None);
}

/* --- giving: to another library --------------------------------------------------------------------------------------- */

static void forget(dl_managed* managed)
{
  PyGILState_STATE state = PyGILState_Ensure(); /* readers may call from any thread */
  Py_DECREF((PyObject*)managed->owner);
  PyGILState_Release(state);
  free(managed);
}

static void forget_unread(PyObject* capsule)
{
  if (PyCapsule_IsValid(capsule, "dltensor"))
  {
    forget(PyCapsule_GetPointer(capsule, "dltensor"));
  }
}

/* write_dlpack(memory, code, bits, shape): a capsule that keeps the memory. */
static PyObject* write_dlpack(PyObject* unused, PyObject* args)
{
  (void)unused;
  PyObject *owner, *shape;
  int code, bits;
  if (!PyArg_ParseTuple(args, "OiiO", &owner, &code, &bits, &shape))
  {
    return NULL;
  }
  const Py_ssize_t ndim = PySequence_Size(shape);
  dl_managed* managed = ndim < 0 ? NULL : calloc(1, sizeof(*managed) + sizeof(int64_t) * 2 * (size_t)ndim);
  if (!managed)
  {
    return ndim < 0 ? NULL : PyErr_NoMemory();
  }
  int64_t *lengths = (int64_t*)(managed + 1), *strides = lengths + ndim, stride = 1;
  for (Py_ssize_t i = ndim - 1; i >= 0; --i)
  {
    PyObject* item = PySequence_GetItem(shape, i);
    lengths[i] = item ? PyLong_AsLongLong(item) : 0;
    Py_XDECREF(item);
    strides[i] = stride;
    stride *= lengths[i];
  }
  const memory* self = (const memory*)owner;
  managed->tensor =
    (dl_tensor){ self->data, 2, self->device, (int32_t)ndim, (uint8_t)code, (uint8_t)bits, 1, lengths, strides, 0 };
  managed->owner = Py_NewRef(owner);
  managed->deleter = forget;
  PyObject* capsule = PyErr_Occurred() ? NULL : PyCapsule_New(managed, "dltensor", forget_unread);
  if (!capsule)
  {
    forget(managed);
  }
  return capsule;
}

static PyMethodDef functions[] = { { "host_allocate", host_allocate, METH_O, NULL },
  { "host_release", host_release, METH_O, NULL }, { "host_trim", host_trim, METH_NOARGS, NULL },
  { "read_dlpack", read_dlpack, METH_O, NULL }, { "write_dlpack", write_dlpack, METH_VARARGS, NULL },
  { "device_of", device_of, METH_O, NULL }, { "free_memory", free_memory, METH_NOARGS, NULL },
  { "memory_of", memory_of, METH_O, NULL }, { "wait_for", wait_for, METH_VARARGS, NULL },
  { "copy_memory", copy_memory, METH_VARARGS, NULL }, { "finish_picture", finish_picture, METH_VARARGS, NULL },
  { NULL, NULL, 0, NULL } };

int pmb_add_device(PyObject* module)
{
  PyObject* type = PyType_FromModuleAndSpec(module, &memory_spec, NULL);
  const int failed =
    !type || PyModule_AddObjectRef(module, "Memory", type) < 0 || PyModule_AddFunctions(module, functions) < 0;
  Py_XDECREF(type);
  return failed ? -1 : 0;
}
