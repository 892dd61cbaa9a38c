// SPDX-FileCopyrightText: Copyright (c) the PMB Contour authors
// SPDX-License-Identifier: BSD-3-Clause
// Random valid and invalid images, random settings and changes between updates. Compares the output with the core's and with a
// new filter's. Prints the seed and number of each failed round.
#include "Fuzz.h"

#if defined(PMB_FUZZ_EMULATED)
#include "EmulatedGPU.h"
#endif

#include <cstdlib>
#include <iostream>

using namespace fuzz;

namespace
{
struct Arguments
{
  uint64_t Seed = 1;
  long Rounds = 300, First = 0;
#if defined(PMB_FUZZ_EMULATED)
  fuzz::Device Device = EMULATED;
#else
  fuzz::Device Device = ANY;
#endif
};

bool Parse(int argc, char* argv[], Arguments& arguments)
{
  for (int n = 1; n < argc; n += 2)
  {
    const std::string name = argv[n], word = n + 1 < argc ? argv[n + 1] : "";
    char* end = nullptr;
    const unsigned long long number = std::strtoull(word.c_str(), &end, 0);
    const bool isNumber = !word.empty() && !*end;
    if (name == "--device" && (word == "any" || word == "cpu" || word == "gpu"))
    {
      arguments.Device = word == "any" ? arguments.Device : (word == "cpu" ? CPU : GPU);
    }
    else if (name == "--seed" && isNumber)
    {
      arguments.Seed = number;
    }
    else if ((name == "--rounds" || name == "--round") && isNumber)
    {
      (name == "--rounds" ? arguments.Rounds : arguments.First) = static_cast<long>(number);
      arguments.Rounds = name == "--round" ? 1 : arguments.Rounds;
    }
    else
    {
      std::cerr
        << "usage: FuzzPMBContourFilter [--seed N] [--rounds N] [--round N] [--device any|cpu|gpu]\n"
           "  --seed     seed of all random numbers (1)\n"
           "  --rounds   number of rounds (300)\n"
           "  --round    runs only the round with this number\n"
           "  --device   any: chosen per round; cpu: never a GPU; gpu: always a GPU, and a fault without one\n";
      return false;
    }
  }
  return true;
}

Report RunRound(uint64_t seed, long round, fuzz::Device device)
{
  Random random(seed * 0x9e3779b97f4a7c15u + static_cast<uint64_t>(round));
  Random own(random.Bits());
  Report report;
#if defined(PMB_FUZZ_EMULATED)
  gpu_reset();
  if (own.Chance(10))
  {
    gpu_fail_at(GPU_CREATE, 1, GPU_BUSY);
  }
#endif
  (own.Chance(90) ? RunSession : RunShared)(own, device, report);
#if defined(PMB_FUZZ_EMULATED)
  const gpu_facts facts = gpu_get();
  FUZZ_CHECK(report, facts.faults == 0, "the core was used wrongly");
  FUZZ_CHECK(report, facts.contexts == 0, facts.contexts << " contexts are left");
  FUZZ_CHECK(report, facts.pieces == 0, facts.pieces << " pieces of host memory are left");
#endif
  return report;
}

// Prints the number of each round over the last, so that it stands before a crash.
long RunAll(const Arguments& arguments)
{
  long failed = 0;
  for (long round = arguments.First; round < arguments.First + arguments.Rounds; ++round)
  {
    std::cerr << "--seed " << arguments.Seed << " --round " << round << '\r';
    const Report report = RunRound(arguments.Seed, round, arguments.Device);
    failed += !report.Faults.empty();
    for (const std::string& line : report.Faults)
    {
      std::cerr << "FAILED --seed " << arguments.Seed << " --round " << round << ": " << line << "\n";
    }
    for (const std::string& line : report.About)
    {
      std::cerr << "  " << line << "\n";
    }
  }
  return failed;
}

// Fails if many rounds have not covered all that they should.
bool HasSeenAll(const Arguments& arguments)
{
  const char* const names[EVENTS] = { "meshes", "triangles", "sets of lines", "errors", "without output",
    "at the border of what numbers hold", "compared with a new filter's", "stopped", "changed on the way",
    "shared by threads", "meshes on a GPU", "failures of a GPU" };
  bool all = true;
  for (int event = 0; event < EVENTS; ++event)
  {
    const bool possible = (event != ON_GPU || arguments.Device == GPU || arguments.Device == EMULATED) &&
      (event != STRUCK || arguments.Device == EMULATED);
    all = all && (Tally[event] > 0 || !possible);
    std::cout << Tally[event] << " " << names[event] << (event + 1 < EVENTS ? ", " : "\n");
  }
  if (!all && arguments.Rounds >= 200)
  {
    std::cerr << "FAILED: so many rounds should have seen some of each\n";
  }
  return all || arguments.Rounds < 200;
}
}

int main(int argc, char* argv[])
{
  Arguments arguments;
  if (!Parse(argc, argv, arguments))
  {
    return 2;
  }
  Listen();
  const long failed = RunAll(arguments);
  const bool seen = HasSeenAll(arguments);
  std::cout << arguments.Rounds << " rounds from " << arguments.First << " of seed " << arguments.Seed << ", "
            << failed << " failed\n";
  return failed == 0 && seen ? EXIT_SUCCESS : EXIT_FAILURE;
}
