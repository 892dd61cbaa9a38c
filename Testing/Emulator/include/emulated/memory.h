/* SPDX-License-Identifier: BSD-3-Clause
 *
 * memory.h - loads, stores and fences of kernels, atomics. */
#ifndef EMULATED_MEMORY_H
#define EMULATED_MEMORY_H

template <class T> static inline T __ldg(const T *place)
{
  return *place;
}
template <class T> static inline T __ldcg(const T *place)
{
  return *(const volatile T *)place;
}
template <class T> static inline T __ldcs(const T *place)
{
  return *place;
}
template <class T> static inline void __stcs(T *place, T value)
{
  *place = value;
}
template <class T> static inline void __stcg(T *place, T value)
{
  *place = value;
}

static inline void __threadfence(void)
{
  __atomic_thread_fence(__ATOMIC_SEQ_CST);
}
static inline void __threadfence_block(void)
{
  __atomic_thread_fence(__ATOMIC_SEQ_CST);
}
static inline void __threadfence_system(void)
{
  __atomic_thread_fence(__ATOMIC_SEQ_CST);
}
static inline void __nanosleep(unsigned)
{
}

/* The value's type is the place's, as in CUDA's overloads. */
template <class T> struct emulated_same {
  typedef T type;
};
#define EMULATED_ATOMIC(name, builtin)                                                             \
  template <class T> static inline T atomic##name(T *place, typename emulated_same<T>::type value) \
  {                                                                                                \
    return builtin(place, value, __ATOMIC_SEQ_CST);                                                \
  }
EMULATED_ATOMIC(Add, __atomic_fetch_add)
EMULATED_ATOMIC(Sub, __atomic_fetch_sub)
EMULATED_ATOMIC(And, __atomic_fetch_and)
EMULATED_ATOMIC(Or, __atomic_fetch_or)
EMULATED_ATOMIC(Xor, __atomic_fetch_xor)
EMULATED_ATOMIC(Exch, __atomic_exchange_n)

template <class T>
static inline T atomicCAS(T *place, typename emulated_same<T>::type expected, typename emulated_same<T>::type value)
{
  __atomic_compare_exchange_n(place, &expected, value, 0, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
  return expected;
}
template <class T> static inline T atomicMin(T *place, typename emulated_same<T>::type value)
{
  T old = __atomic_load_n(place, __ATOMIC_SEQ_CST);
  while (value < old && !__atomic_compare_exchange_n(place, &old, value, 0, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST)) {
  }
  return old;
}
template <class T> static inline T atomicMax(T *place, typename emulated_same<T>::type value)
{
  T old = __atomic_load_n(place, __ATOMIC_SEQ_CST);
  while (value > old && !__atomic_compare_exchange_n(place, &old, value, 0, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST)) {
  }
  return old;
}

#endif
