// SPDX-FileCopyrightText: Copyright (c) the PMB Contour authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Private to this module: particles that are on several ranks. All ranks call the same functions in the same order.
#ifndef vtkPMBParticleRanks_h
#define vtkPMBParticleRanks_h

#include "vtkPMBParticleInput.h"

VTK_ABI_NAMESPACE_BEGIN
class vtkMultiProcessController;

namespace vtkPMB
{
class Ranks
{
public:
  // null: this process is alone.
  explicit Ranks(vtkMultiProcessController* controller);

  int Count() const;
  int Rank() const;

  // Does work on this rank. If it throws Failed, Aborted or std::bad_alloc on one rank, all ranks throw Failed or Aborted.
  template <typename Work>
  void Together(const Work& work)
  {
    if (!this->Controller)
    {
      return work();
    }
    std::vector<char> said; // empty: all is well; else a letter and a text
    try
    {
      work();
    }
    catch (const Failed& failed)
    {
      said.assign(1, 'F');
      said.insert(said.end(), failed.Error.begin(), failed.Error.end());
    }
    catch (const Aborted&)
    {
      said.assign(1, 'A');
    }
    catch (const std::bad_alloc&)
    {
      said.assign(1, 'M');
    }
    this->ThrowWorst(this->Share(said));
  }

  // The numbers of all ranks.
  template <typename T>
  std::vector<std::vector<T>> Share(const std::vector<T>& mine) const;

  // Replaces the numbers by those of all ranks together. operation: of vtkCommunicator.
  template <typename T>
  void Reduce(std::vector<T>& numbers, int operation) const;

  // Gives each rank those particles whose places `wanted` lists for it; those for this rank come from all ranks, in the order
  // of the ranks.
  void Exchange(Particles& particles, const std::vector<std::vector<vtkIdType>>& wanted);

private:
  void ThrowWorst(const std::vector<std::vector<char>>& said) const;

  vtkMultiProcessController* Controller;
};

// Drops arrays that not all ranks with points have, and gives ranks without points those that the others have. Throws Failed.
void MatchArrays(Ranks& ranks, Particles& particles);

// Cuts the cloud into slabs along z, one per rank, with about as many particles each: sets where this rank's begins and ends.
void CutSlabs(Ranks& ranks, const Particles& particles, pmb_particle_request& request);

// Gives each rank the particles whose cells along z are from its `low` to its `high`, without those that the core leaves out.
void Distribute(Ranks& ranks, Particles& particles, double spacing, double low, double high);
}
VTK_ABI_NAMESPACE_END
#endif
