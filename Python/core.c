/* SPDX-License-Identifier: BSD-3-Clause
 * The module pmb._core: contexts of the core for Python. It takes addresses of arrays; the modules in pmb/ check arrays and keep
 * them alive. Written for Python's stable ABI of 3.10, so that one wheel serves all later versions. The GIL is released while the
 * core works. */
#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include "compat.h"
#include "device.h"
#include "particles/pmb_particles.h"
#include "pmb.h"
#include "rays/pmb_rays.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

typedef struct context
{
  PyObject_HEAD pmb_context* core;
  pmb_particles* particles; /* made at the first use */
  PyObject* progress;       /* callable or NULL */
  PyThreadState* thread;    /* of the running call; else NULL */
  int on_gpu, device; /* whether calls change the thread's current GPU; which it was before the running call, or -1 */
  double asked;       /* when the hook last took the GIL, in seconds */
} context;

/* --- calls of the core ----------------------------------------------------------------------------------------------- */

/* Looks for signals (Ctrl-C) and reports progress, at most 50 times per second. Python runs handlers on the main thread only. */
static int report_progress(void* user, double fraction)
{
  context* self = user;
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  const double seconds = (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
  if (seconds - self->asked < 0.02)
  {
    return 0;
  }
  self->asked = seconds;
  PyEval_RestoreThread(self->thread);
  int stop = PyErr_CheckSignals() != 0;
  if (!stop && self->progress)
  {
    PyObject* result = PyObject_CallFunction(self->progress, "d", fraction);
    stop = !result;
    Py_XDECREF(result);
  }
  self->thread = PyEval_SaveThread();
  return stop;
}

static int begin(context* self)
{
  if (self->thread)
  {
    PyErr_SetString(PyExc_RuntimeError,
      "the volume is in use: another thread, or the call that reports this progress, works on it");
    return 0;
  }
  self->device = self->on_gpu ? pmb_device_of_thread() : -1;
  self->thread = PyEval_SaveThread();
  return 1;
}

/* Sets an exception with the core's message in the words of the package. */
static void set_error(PyObject* type, const char* message)
{
  PyObject* module = PyImport_ImportModule("pmb._messages");
  PyObject* words = module ? PyObject_CallMethod(module, "in_python", "s", message) : NULL;
  if (words)
  { /* else an exception is set already */
    PyErr_SetObject(type, words);
  }
  Py_XDECREF(words);
  Py_XDECREF(module);
}

/* Takes the GIL back. Returns 1 after PMB_OK, else 0 with a Python exception. */
static int end(context* self, pmb_status status)
{
  PyEval_RestoreThread(self->thread);
  self->thread = NULL;
  pmb_return_to_device(self->device);
  PyObject* type = status == PMB_INVALID ? PyExc_ValueError
    : status == PMB_OUT_OF_MEMORY        ? PyExc_MemoryError
    : status == PMB_TOO_LARGE            ? PyExc_OverflowError
                                         : PyExc_RuntimeError;
  if (status != PMB_OK && !PyErr_Occurred())
  { /* after PMB_ABORTED the hook's exception is set */
    set_error(type, pmb_error(self->core));
  }
  return status == PMB_OK;
}

static PyObject* none_if(int ok)
{
  return ok ? Py_NewRef(Py_None) : NULL;
}

/* The items of a sequence of doubles as an array of malloc. */
static double* doubles_of(PyObject* sequence, Py_ssize_t* count)
{
  *count = PySequence_Size(sequence);
  double* values = *count < 0 ? NULL : malloc(sizeof(double) * (size_t)(*count + 1));
  if (!values && *count >= 0)
  {
    PyErr_NoMemory();
  }
  for (Py_ssize_t i = 0; values && i < *count; ++i)
  {
    PyObject* item = PySequence_GetItem(sequence, i);
    values[i] = item ? PyFloat_AsDouble(item) : -1;
    Py_XDECREF(item);
    if (PyErr_Occurred())
    {
      free(values);
      values = NULL;
    }
  }
  return values;
}

/* --- the object ------------------------------------------------------------------------------------------------------ */

static PyObject* context_new(PyTypeObject* type, PyObject* args, PyObject* keywords)
{
  (void)keywords;
  int device, threads, number;
  const char* path;
  if (!PyArg_ParseTuple(args, "iiiz", &device, &threads, &number, &path))
  {
    return NULL;
  }
  context* self = (context*)((allocfunc)PyType_GetSlot(type, Py_tp_alloc))(type, 0);
  if (!self)
  {
    return NULL;
  }
  const pmb_options options = { .struct_size = sizeof(options),
    .device = (pmb_device)device,
    .threads = threads,
    .cpu_path = path,
    .device_number = number,
    .devices = number > 0 ? 0 : PMB_ALL_DEVICES };
  self->on_gpu = device != PMB_DEVICE_CPU;
  if (!begin(self) || !end(self, pmb_create(&options, &self->core))) /* CUDA takes a while to start */
  {
    Py_DECREF(self);
    return NULL;
  }
  pmb_set_progress(self->core, report_progress, self);
  return (PyObject*)self;
}

static void context_dealloc(PyObject* object)
{
  context* self = (context*)object;
  PyTypeObject* type = Py_TYPE(object);
  const int device_before = self->on_gpu ? pmb_device_of_thread() : -1;
  pmb_particles_destroy(self->particles);
  pmb_destroy(self->core);
  pmb_return_to_device(device_before);
  Py_XDECREF(self->progress);
  ((freefunc)PyType_GetSlot(type, Py_tp_free))(object);
  Py_DECREF(type);
}

static PyObject* set_progress(PyObject* object, PyObject* progress)
{
  context* self = (context*)object;
  Py_XDECREF(self->progress);
  self->progress = progress == Py_None ? NULL : Py_NewRef(progress);
  return Py_NewRef(Py_None);
}

static PyObject* get_info(PyObject* object, PyObject* unused)
{
  (void)unused;
  context* self = (context*)object;
  pmb_info info = { .struct_size = sizeof(info) };
  if (!begin(self) || !end(self, pmb_get_info(self->core, &info)))
  {
    return NULL;
  }
  return Py_BuildValue("{s:d,s:d,s:L,s:L,s:L,s:L,s:i,s:s,s:s,s:z,s:z,s:i}", "minimum", info.minimum, "maximum",
    info.maximum, "bricks", (long long)info.bricks, "active_bricks", (long long)info.active_bricks, "bytes",
    (long long)info.bytes, "device_bytes", (long long)info.device_bytes, "threads", info.threads, "path", info.path,
    "device", info.device == PMB_DEVICE_GPU ? "cuda" : "cpu", "device_name", info.device_name, "device_note",
    info.device_note, "device_number", info.device_number - 1);
}

/* --- volumes --------------------------------------------------------------------------------------------------------- */

/* Counts the isovalues of a sequence; volume: NULL, or what to bind before. Returns a list of the sizes of each. */
static PyObject* counted(context* self, const pmb_volume* volume, PyObject* isovalues, int remove_degenerate)
{
  Py_ssize_t n;
  double* values = doubles_of(isovalues, &n);
  pmb_sizes total, *each = values ? calloc((size_t)n + 1, sizeof(*each)) : NULL;
  PyObject* list = NULL;
  if (values && !each)
  {
    PyErr_NoMemory();
  }
  else if (values && begin(self))
  {
    const pmb_request request = {
      .struct_size = sizeof(request), .isovalues = values, .isovalue_count = n, .remove_degenerate = remove_degenerate
    };
    const pmb_status status = volume ? pmb_bind_and_count(self->core, volume, &request, &total, each)
                                     : pmb_count(self->core, &request, &total, each);
    list = end(self, status) ? PyList_New(n) : NULL;
  }
  for (Py_ssize_t i = 0; list && i < n; ++i)
  {
    PyList_SetItem(list, i, Py_BuildValue("(LL)", (long long)each[i].points, (long long)each[i].triangles));
  }
  free(each);
  free(values);
  return list;
}

/* bind(..., isovalues, remove_degenerate): isovalues is None, or what to count in the same call. */
static PyObject* bind(PyObject* object, PyObject* args)
{
  context* self = (context*)object;
  unsigned long long samples, sample_flags, cell_flags;
  long long d[3], s[3];
  int type, on_device, remove_degenerate;
  PyObject* isovalues;
  double m[12];
  if (!PyArg_ParseTuple(args, "Ki(LLL)(LLL)(dddddddddddd)KKiOi", &samples, &type, &d[0], &d[1], &d[2], &s[0], &s[1],
        &s[2], &m[0], &m[1], &m[2], &m[3], &m[4], &m[5], &m[6], &m[7], &m[8], &m[9], &m[10], &m[11], &sample_flags,
        &cell_flags, &on_device, &isovalues, &remove_degenerate))
  {
    return NULL;
  }
  pmb_volume volume = { .struct_size = sizeof(volume),
    .samples = (const void*)(uintptr_t)samples,
    .type = (pmb_type)type,
    .dims = { d[0], d[1], d[2] },
    .strides = { s[0], s[1], s[2] },
    .sample_flags = (const uint8_t*)(uintptr_t)sample_flags,
    .cell_flags = (const uint8_t*)(uintptr_t)cell_flags,
    .hidden_sample_bits = 1,
    .hidden_cell_bits = 1,
    .on_device = on_device };
  memcpy(volume.index_to_world, m, sizeof(m));
  return isovalues == Py_None ? none_if(begin(self) && end(self, pmb_bind(self->core, &volume)))
                              : counted(self, &volume, isovalues, remove_degenerate);
}

/* unbind(most): forgets the volume, if it has more than so many bytes on a GPU. */
static PyObject* unbind(PyObject* object, PyObject* most)
{
  context* self = (context*)object;
  const long long bytes = PyLong_AsLongLong(most);
  pmb_info info = { .struct_size = sizeof(info) };
  if (PyErr_Occurred() || !begin(self))
  {
    return NULL;
  }
  if (pmb_get_info(self->core, &info) == PMB_OK && info.device_bytes > bytes)
  {
    pmb_unbind(self->core);
  }
  return none_if(end(self, PMB_OK));
}

static PyObject* count(PyObject* object, PyObject* args)
{
  PyObject* isovalues;
  int remove_degenerate;
  if (!PyArg_ParseTuple(args, "Oi", &isovalues, &remove_degenerate))
  {
    return NULL;
  }
  return counted((context*)object, NULL, isovalues, remove_degenerate);
}

/* The attributes of a list of (samples, type, components, output) as an array of malloc. */
static pmb_attribute* attributes_of(PyObject* list, Py_ssize_t* n)
{
  *n = PySequence_Size(list);
  pmb_attribute* attributes = *n < 0 ? NULL : calloc((size_t)*n + 1, sizeof(*attributes));
  if (!attributes && *n >= 0)
  {
    PyErr_NoMemory();
  }
  for (Py_ssize_t i = 0; attributes && i < *n; ++i)
  {
    unsigned long long samples, output;
    int type, components;
    PyObject* item = PySequence_GetItem(list, i);
    const int ok = item && PyArg_ParseTuple(item, "KiiK", &samples, &type, &components, &output);
    Py_XDECREF(item);
    if (!ok)
    {
      free(attributes);
      return NULL;
    }
    attributes[i] = (pmb_attribute){ .samples = (const void*)(uintptr_t)samples,
      .type = (pmb_type)type,
      .components = components,
      .output = (void*)(uintptr_t)output };
  }
  return attributes;
}

static pmb_mesh mesh_of(
  long long n, long long m, unsigned long long points, int point_type, unsigned long long triangles, int id_type)
{
  return (pmb_mesh){ .struct_size = sizeof(pmb_mesh),
    .point_capacity = n,
    .triangle_capacity = m,
    .points = (void*)(uintptr_t)points,
    .point_type = (pmb_type)point_type,
    .triangles = (void*)(uintptr_t)triangles,
    .id_type = (pmb_type)id_type };
}

static PyObject* emit(PyObject* object, PyObject* args)
{
  context* self = (context*)object;
  long long n, m;
  unsigned long long points, normals, gradients, triangles, cells;
  int of_particles, point_type, id_type, estimator, on_device;
  PyObject* list;
  Py_ssize_t attribute_count;
  if (!PyArg_ParseTuple(args, "iLLKiKKKiKiOi", &of_particles, &n, &m, &points, &point_type, &normals, &gradients,
        &triangles, &id_type, &cells, &estimator, &list, &on_device))
  {
    return NULL;
  }
  pmb_attribute* attributes = attributes_of(list, &attribute_count);
  if (!attributes)
  {
    return NULL;
  }
  pmb_mesh mesh = mesh_of(n, m, points, point_type, triangles, id_type);
  mesh.normals = (float*)(uintptr_t)normals;
  mesh.gradients = (float*)(uintptr_t)gradients;
  mesh.cells = (int64_t*)(uintptr_t)cells;
  mesh.attributes = attributes;
  mesh.attribute_count = attribute_count;
  mesh.gradient_estimator = (pmb_gradient_estimator)estimator;
  mesh.on_device = on_device;
  const int ok =
    begin(self) && end(self, of_particles ? pmb_particles_emit(self->particles, &mesh) : pmb_emit(self->core, &mesh));
  free(attributes);
  return none_if(ok);
}

static PyObject* suggest(PyObject* object, PyObject* args)
{
  context* self = (context*)object;
  double values[PMB_SUGGEST_BINS];
  long long most;
  int64_t n = 0;
  if (!PyArg_ParseTuple(args, "L", &most))
  {
    return NULL;
  }
  most = most < PMB_SUGGEST_BINS ? most : PMB_SUGGEST_BINS;
  if (!begin(self) || !end(self, pmb_suggest(self->core, most, values, &n)))
  {
    return NULL;
  }
  PyObject* list = PyList_New((Py_ssize_t)n);
  for (int64_t i = 0; list && i < n; ++i)
  {
    PyList_SetItem(list, (Py_ssize_t)i, PyFloat_FromDouble(values[i]));
  }
  return list;
}

static PyObject* histogram(PyObject* object, PyObject* args)
{
  context* self = (context*)object;
  double low, high;
  long long bins;
  unsigned long long crossed, touched;
  if (!PyArg_ParseTuple(args, "ddLKK", &low, &high, &bins, &crossed, &touched))
  {
    return NULL;
  }
  const pmb_histogram_request request = { .struct_size = sizeof(request),
    .low = low,
    .high = high,
    .bins = bins,
    .crossed = (int64_t*)(uintptr_t)crossed,
    .touched = (int64_t*)(uintptr_t)touched };
  return none_if(begin(self) && end(self, pmb_histogram(self->core, &request)));
}

static PyObject* measure(PyObject* object, PyObject* args)
{
  context* self = (context*)object;
  long long n, m;
  unsigned long long points, triangles;
  int point_type, id_type;
  if (!PyArg_ParseTuple(args, "LLKiKi", &n, &m, &points, &point_type, &triangles, &id_type))
  {
    return NULL;
  }
  const pmb_mesh mesh = mesh_of(n, m, points, point_type, triangles, id_type);
  const pmb_sizes whole = { n, m };
  const pmb_measure_request request = {
    .struct_size = sizeof(request), .mesh = &mesh, .parts = &whole, .part_count = 1
  };
  pmb_measures is = { .struct_size = sizeof(is) };
  if (!begin(self) || !end(self, pmb_measure(self->core, &request, &is)))
  {
    return NULL;
  }
  return Py_BuildValue("(ddLLLLLLLN)", is.area, is.volume, (long long)is.points, (long long)is.edges,
    (long long)is.triangles, (long long)is.boundary_edges, (long long)is.nonmanifold_edges, (long long)is.euler,
    (long long)is.components, PyBool_FromLong(is.closed));
}

/* --- particles and rays ---------------------------------------------------------------------------------------------- */

/* For PyArg_ParseTuple's O&: (address, type, count, stride) of an array of particles. */
static int parse_array(PyObject* item, void* to)
{
  unsigned long long values;
  int type;
  long long n, stride;
  if (!PyArg_ParseTuple(item, "KiLL", &values, &type, &n, &stride))
  {
    return 0;
  }
  *(pmb_particle_array*)to = (pmb_particle_array){ (const void*)(uintptr_t)values, (pmb_type)type, n, stride };
  return 1;
}

static PyObject* count_particles(PyObject* object, PyObject* args)
{
  context* self = (context*)object;
  pmb_particle_request request = { .struct_size = sizeof(request) };
  pmb_particle_sizes sizes = { .struct_size = sizeof(sizes) };
  int kernel, normals;
  if (!PyArg_ParseTuple(args, "O&dddidO&O&O&O&iii", parse_array, &request.positions, &request.spacing,
        &request.isovalue, &request.radius, &kernel, &request.smoothing, parse_array, &request.radii, parse_array,
        &request.masses, parse_array, &request.densities, parse_array, &request.weights, &normals,
        &request.anisotropic, &request.on_device))
  {
    return NULL;
  }
  request.kernel = (pmb_particle_kernel)kernel;
  request.normals = (pmb_particle_normals)normals;
  if (!begin(self))
  {
    return NULL;
  }
  pmb_status status = self->particles ? PMB_OK : pmb_particles_create(self->core, &self->particles);
  status = status == PMB_OK ? pmb_particles_count(self->particles, &request, &sizes) : status;
  return end(self, status)
    ? Py_BuildValue("(LLL)", (long long)sizes.points, (long long)sizes.triangles, (long long)sizes.left_out)
    : NULL;
}

static PyObject* forget_particles(PyObject* object, PyObject* unused)
{
  (void)unused;
  context* self = (context*)object;
  if (!begin(self))
  {
    return NULL;
  }
  pmb_particles_destroy(self->particles);
  self->particles = NULL;
  return none_if(end(self, PMB_OK));
}

static PyObject* cast_rays(PyObject* object, PyObject* args)
{
  context* self = (context*)object;
  pmb_ray_request request = { .struct_size = sizeof(request) };
  pmb_ray_isovalue isovalues[PMB_RAY_ISOVALUES];
  unsigned long long table, gradients, colors, depth;
  int mode;
  PyObject *matrix, *levels;
  Py_ssize_t n;
  if (!PyArg_ParseTuple(args, "iiiOdiOKidddKidiiffffKKi", &mode, &request.width, &request.height, &matrix,
        &request.step, &request.jitter, &levels, &table, &request.table_size, &request.table_low, &request.table_high,
        &request.table_unit, &gradients, &request.gradient_size, &request.gradient_high, &request.preintegrate,
        &request.shade, &request.ambient, &request.diffuse, &request.specular, &request.specular_power, &colors,
        &depth, &request.on_device))
  {
    return NULL;
  }
  double* values = doubles_of(matrix, &n);
  if (values && n == 16)
  {
    memcpy(request.world_to_clip, values, sizeof(request.world_to_clip));
  }
  free(values);
  values = values ? doubles_of(levels, &n) : NULL; /* value, red, green, blue, opacity of each */
  if (!values)
  {
    return NULL;
  }
  request.isovalue_count = (int)(n / 5);
  for (int i = 0; i < request.isovalue_count && i < PMB_RAY_ISOVALUES; ++i)
  {
    isovalues[i].value = values[5 * i];
    for (int c = 0; c < 4; ++c)
    {
      isovalues[i].color[c] = (float)values[5 * i + 1 + c];
    }
  }
  free(values);
  request.mode = (pmb_ray_mode)mode;
  request.isovalues = isovalues;
  request.table = (const float*)(uintptr_t)table;
  request.gradient_table = (const float*)(uintptr_t)gradients;
  request.colors = (float*)(uintptr_t)colors;
  request.depth = (float*)(uintptr_t)depth;
  return none_if(begin(self) && end(self, pmb_cast_rays(self->core, &request)));
}

/* --- the module ------------------------------------------------------------------------------------------------------ */

static PyMethodDef methods[] = { { "set_progress", set_progress, METH_O, NULL },
  { "info", get_info, METH_NOARGS, NULL }, { "bind", bind, METH_VARARGS, NULL }, { "unbind", unbind, METH_O, NULL },
  { "count", count, METH_VARARGS, NULL }, { "emit", emit, METH_VARARGS, NULL },
  { "suggest", suggest, METH_VARARGS, NULL }, { "histogram", histogram, METH_VARARGS, NULL },
  { "measure", measure, METH_VARARGS, NULL }, { "count_particles", count_particles, METH_VARARGS, NULL },
  { "forget_particles", forget_particles, METH_NOARGS, NULL }, { "cast_rays", cast_rays, METH_VARARGS, NULL },
  { NULL, NULL, 0, NULL } };

static PyType_Slot slots[] = { { Py_tp_new, context_new }, { Py_tp_dealloc, context_dealloc },
  { Py_tp_methods, methods },
  { Py_tp_doc, "Context(device, threads, device_number, cpu_path): a context of the core." }, { 0, NULL } };

static PyType_Spec type_spec = { "pmb._core.Context", sizeof(context), 0, Py_TPFLAGS_DEFAULT, slots };

static int execute(PyObject* module)
{
  char version[32];
  if (PyInterpreterState_GetID(PyInterpreterState_Get()) != 0)
  { /* the pools of GPUs' memory, and deleters that other libraries call, know one interpreter */
    PyErr_SetString(PyExc_ImportError,
      "pmb works in Python's main interpreter, but this is a subinterpreter: call it from a "
      "thread or a process of the main interpreter");
    return -1;
  }
  snprintf(version, sizeof(version), "%d.%d.%d", PMB_VERSION_MAJOR, PMB_VERSION_MINOR, PMB_VERSION_PATCH);
  PyObject* type = PyType_FromModuleAndSpec(module, &type_spec, NULL);
  const int failed = !type || PyModule_AddObjectRef(module, "Context", type) < 0 ||
    PyModule_AddStringConstant(module, "version", version) < 0 || pmb_add_device(module) < 0 ||
    pmb_add_compat(module) < 0;
  Py_XDECREF(type);
  return failed ? -1 : 0;
}

static PyModuleDef_Slot module_slots[] = { { Py_mod_exec, execute }, { 0, NULL } };

static PyModuleDef module = { PyModuleDef_HEAD_INIT, .m_name = "_core", .m_size = 0, .m_slots = module_slots };

PyMODINIT_FUNC PyInit__core(void)
{
  return PyModuleDef_Init(&module);
}
