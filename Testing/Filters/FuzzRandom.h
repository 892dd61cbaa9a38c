// SPDX-FileCopyrightText: Copyright (c) the PMB Contour authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Random numbers of the fuzzer, from a seed of 64 bits.
#ifndef FuzzRandom_h
#define FuzzRandom_h

#include <cstdint>
#include <initializer_list>

namespace fuzz
{
class Random
{
public:
  explicit Random(uint64_t seed)
    : State(seed)
  {
  }

  // SplitMix64.
  uint64_t Bits()
  {
    uint64_t z = this->State += 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
  }

  // Both ends included.
  int Int(int low, int high)
  {
    return low + static_cast<int>(this->Bits() % (static_cast<unsigned>(high - low) + 1u));
  }

  double Real(double low, double high)
  {
    return low + (high - low) * static_cast<double>(this->Bits() >> 11) * 0x1p-53;
  }

  bool Chance(int percent) { return this->Int(1, 100) <= percent; }

  template <typename T>
  T Pick(std::initializer_list<T> list)
  {
    return list.begin()[this->Int(0, static_cast<int>(list.size()) - 1)];
  }

private:
  uint64_t State;
};
}
#endif
