// SPDX-FileCopyrightText: Copyright (c) the PMB Contour authors
// SPDX-License-Identifier: BSD-3-Clause
// Random valid and invalid images, random settings and changes between updates. Compares the output with the core's and with a
// new filter's. Prints the seed and number of each failed round.
#include "Fuzz.h"

#if defined(PMB_FUZZ_EMULATED)
#include "EmulatedGPU.h"
#endif

#include <csignal>
#include <cstdlib>
#include <cstring>
#include <iostream>

#include <unistd.h>

using namespace fuzz;

extern "C" void __sanitizer_set_death_callback(void (*callback)(void)) __attribute__((weak));

namespace
{
struct Arguments
{
  uint64_t Seed = 1;
  long Rounds = 300;
  long First = 0;
#if defined(PMB_FUZZ_EMULATED)
  fuzz::Device Device = EMULATED;
#else
  fuzz::Device Device = ANY;
#endif
};

const char* const Usage =
  "usage: FuzzPMBContourFilter [--seed N] [--rounds N] [--round N] [--device any|cpu|gpu]\n"
  "  --seed     seed of all random numbers (1)\n"
  "  --rounds   number of rounds (300)\n"
  "  --round    runs only the round with this number\n"
  "  --device   any: chosen per round; cpu: never a GPU; gpu: always a GPU, and a fault without one\n";

bool Parse(int argc, char* argv[], Arguments& arguments)
{
  for (int n = 1; n < argc; n += 2)
  {
    const std::string name = argv[n];
    const std::string word = n + 1 < argc ? argv[n + 1] : "";
    char* end = nullptr;
    const unsigned long long number = std::strtoull(word.c_str(), &end, 0);
    if (name == "--device" && (word == "any" || word == "cpu" || word == "gpu"))
    {
      arguments.Device = word == "any" ? arguments.Device : (word == "cpu" ? CPU : GPU);
      continue;
    }
    if (word.empty() || *end || (name != "--seed" && name != "--rounds" && name != "--round"))
    {
      return false;
    }
    if (name == "--seed")
    {
      arguments.Seed = number;
      continue;
    }
    (name == "--rounds" ? arguments.Rounds : arguments.First) = static_cast<long>(number);
    arguments.Rounds = name == "--round" ? 1 : arguments.Rounds;
  }
  return true;
}

// --- the current round, for crashes ---------------------------------------------------------------------------------

uint64_t TheSeed;
volatile long TheRound;

// Calls only functions that are safe in a signal handler.
void Tell()
{
  char text[128];
  const int length = std::snprintf(text, sizeof(text), "DIED in --seed %llu --round %ld\n",
    static_cast<unsigned long long>(TheSeed), static_cast<long>(TheRound));
  (void)!write(2, text, static_cast<size_t>(length));
}

void OnSignal(int number)
{
  Tell();
  std::signal(number, SIG_DFL);
  std::raise(number);
}

void Prepare(uint64_t seed)
{
  TheSeed = seed;
  Listen();
  if (__sanitizer_set_death_callback)
  {
    __sanitizer_set_death_callback(Tell);
    return;
  }
  for (int number : { SIGSEGV, SIGABRT, SIGBUS, SIGFPE, SIGILL })
  {
    std::signal(number, OnSignal);
  }
}

// --- rounds ---------------------------------------------------------------------------------------------------------

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
  const int kind = own.Int(0, 99);
  if (kind < 84)
  {
    RunSession(own, device, report);
  }
  else if (kind < 92)
  {
    RunShared(own, device, report);
  }
  else
  {
    RunComposite(own, device, report);
  }
#if defined(PMB_FUZZ_EMULATED)
  const gpu_facts facts = gpu_get();
  FUZZ_CHECK(report, facts.faults == 0, "the core was used wrongly");
  FUZZ_CHECK(report, facts.contexts == 0, facts.contexts << " contexts are left");
  FUZZ_CHECK(report, facts.pieces == 0, facts.pieces << " pieces of host memory are left");
#endif
  return report;
}

long RunAll(const Arguments& arguments)
{
  long failed = 0;
  for (TheRound = arguments.First; TheRound < arguments.First + arguments.Rounds; TheRound = TheRound + 1)
  {
    const Report report = RunRound(arguments.Seed, TheRound, arguments.Device);
    if (!report.Faults.empty())
    {
      ++failed;
      std::cerr << "FAILED --seed " << arguments.Seed << " --round " << TheRound << "\n";
      for (const auto* lines : { &report.Faults, &report.About })
      {
        for (const std::string& line : *lines)
        {
          std::cerr << "  " << line << "\n";
        }
      }
    }
  }
  return failed;
}

// Fails if the rounds have not covered all that they should.
bool HasSeenAll(const Arguments& arguments)
{
  const Tally& t = TheTally();
  std::cout << t.Meshes << " meshes with " << t.Triangles << " triangles, " << t.OnGPU << " of them on a GPU; "
            << t.Lines << " sets of lines; " << t.Fresh << " compared with a new filter's; " << t.Faults
            << " errors; " << t.Nothing << " without output; " << t.Extreme << " at the border of what numbers hold; "
            << t.Aborts << " stopped, " << t.Changes << " changed on the way; " << t.Shared << " shared by threads, "
            << t.Blocks << " blocks; " << t.Struck << " GPUs failed\n";
  const bool all = t.Meshes > 0 && t.Triangles > 0 && t.Lines > 0 && t.Fresh > 0 && t.Faults > 0 && t.Nothing > 0 &&
    t.Aborts > 0 && t.Changes > 0 && t.Shared > 0 && t.Blocks > 0;
  const bool onGPU = (t.OnGPU > 0 || arguments.Device == ANY || arguments.Device == CPU) &&
    (t.Struck > 0 || arguments.Device != EMULATED);
  const bool enough = arguments.Rounds < 200 || (all && onGPU);
  if (!enough)
  {
    std::cerr << "FAILED: so many rounds should have seen some of each\n";
  }
  return enough;
}
}

int main(int argc, char* argv[])
{
  Arguments arguments;
  if (!Parse(argc, argv, arguments))
  {
    std::cerr << Usage;
    return 2;
  }
  Prepare(arguments.Seed);
  const long failed = RunAll(arguments);
  const bool seen = HasSeenAll(arguments);
  std::cout << arguments.Rounds << " rounds from " << arguments.First << " of seed " << arguments.Seed << ", "
            << failed << " failed\n";
  return failed == 0 && seen ? EXIT_SUCCESS : EXIT_FAILURE;
}
