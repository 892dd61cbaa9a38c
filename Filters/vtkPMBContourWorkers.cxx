// SPDX-FileCopyrightText: Copyright (c) the PMB Contour authors
// SPDX-License-Identifier: BSD-3-Clause
#include "vtkPMBContourWorkers.h"

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <exception>
#include <mutex>
#include <new>
#include <thread>
#include <vector>

VTK_ABI_NAMESPACE_BEGIN
namespace vtkPMBContour
{
namespace
{
using Clock = std::chrono::steady_clock;

// What a thread does not sleep for, as the next call often follows soon.
const std::chrono::microseconds Spin(20);

// Asks again and again for a while, if there are cores for all. Returns whether it came true.
template <typename Condition>
bool SpinUntil(int threads, const Condition& condition)
{
  static const int cores =
    static_cast<int>(std::thread::hardware_concurrency()); // the system is asked once: it reads a file
  if (threads > cores)
  {
    return false;
  }
  for (const Clock::time_point until = Clock::now() + Spin; Clock::now() < until;)
  {
    if (condition())
    {
      return true;
    }
  }
  return false;
}
}

// The threads themselves, and what they share.
class Workers::Team
{
public:
  ~Team() { this->Limit(1); }
  void Run(int count, Task task, void* arg);
  void Limit(int count);

  // Whether this process has the threads, and not one that it was forked from.
  bool IsHere() const { return this->Forks == pmb_forks(); }

  Team* Next = nullptr; // of those that are left behind

private:
  struct Member;

  bool Start();
  void Work(Member& member);
  std::uint64_t AwaitCall(Member& member, std::uint64_t seen);
  bool IsCalled(const Member& member, std::uint64_t seen, std::uint64_t& job) const;
  bool Join(std::uint64_t job);
  void Leave();
  void AwaitThreads();

  const unsigned Forks = pmb_forks();
  std::vector<std::unique_ptr<Member>> Members; // workers 1, 2, ...
  // The job: its number << 32 | its workers << 16 | Open | threads that are in it. It is open until worker 0 finds nothing left to
  // do in it; a thread that comes later is not waited for.
  static constexpr std::uint64_t Open = 1 << 15, Running = Open - 1;
  static constexpr int WorkersShift = 16, NumberShift = 32;
  std::atomic<std::uint64_t> Job{ 0 };
  std::atomic<bool> Exhausted{ false }; // a thread has found nothing left in the job
  std::atomic<bool> CallerAsleep{ false };
  std::mutex Mutex;
  std::condition_variable Done;
  Task Current = nullptr;
  void* Arg = nullptr;
};

struct Workers::Team::Member
{
  int Worker;
  std::thread Thread;
  std::mutex Mutex;
  std::condition_variable Wake;
  std::atomic<bool> Asleep{ false };
  std::atomic<bool> Stop{ false };
  char Apart[64]; // from the next one, in the cache

  void Call()
  {
    if (this->Asleep)
    {
      const std::lock_guard<std::mutex> lock(this->Mutex);
      this->Wake.notify_one();
    }
  }
};

void Workers::Team::Limit(int count)
{
  const size_t kept = static_cast<size_t>(count < 1 ? 0 : count - 1);
  for (size_t i = kept; i < this->Members.size(); ++i)
  {
    this->Members[i]->Stop = true;
    this->Members[i]->Call();
  }
  while (this->Members.size() > kept)
  {
    this->Members.back()->Thread.join();
    this->Members.pop_back();
  }
}

// Returns false if the system gives no thread.
bool Workers::Team::Start()
{
  try
  {
    std::unique_ptr<Member> member(new Member);
    member->Worker = static_cast<int>(this->Members.size()) + 1;
    this->Members.reserve(this->Members.size() + 1);
    Member& started = *member;
    started.Thread = std::thread([this, &started] { this->Work(started); });
    this->Members.push_back(std::move(member));
    return true;
  }
  catch (const std::exception&)
  {
    return false; // Those that there are do it all.
  }
}

// Whether there is something new for a thread: a job it may take part in, or the end.
bool Workers::Team::IsCalled(const Member& member, std::uint64_t seen, std::uint64_t& job) const
{
  job = this->Job;
  const bool isNew = job >> NumberShift != seen && (job & Open);
  return (isNew && member.Worker < static_cast<int>(job >> WorkersShift & 0xffff)) || member.Stop;
}

// Waits until there is something new, awake at first.
std::uint64_t Workers::Team::AwaitCall(Member& member, std::uint64_t seen)
{
  std::uint64_t job = this->Job;
  const int threads = static_cast<int>(job >> WorkersShift & 0xffff);
  if (SpinUntil(threads, [&] { return this->IsCalled(member, seen, job); }))
  {
    return job;
  }
  std::unique_lock<std::mutex> lock(member.Mutex);
  member.Asleep = true;
  member.Wake.wait(lock, [&] { return this->IsCalled(member, seen, job); });
  member.Asleep = false;
  return job;
}

// Takes part in a job. Returns false if it is over.
bool Workers::Team::Join(std::uint64_t job)
{
  const std::uint64_t number = job >> NumberShift;
  while (job >> NumberShift == number && (job & Open))
  {
    if (this->Job.compare_exchange_weak(job, job + 1))
    {
      return true;
    }
  }
  return false;
}

void Workers::Team::Leave()
{
  this->Exhausted = true;
  const std::uint64_t job = --this->Job;
  if (!(job & (Open | Running)) && this->CallerAsleep)
  {
    const std::lock_guard<std::mutex> lock(this->Mutex);
    this->Done.notify_one();
  }
}

void Workers::Team::Work(Member& member)
{
  std::uint64_t seen = 0;
  for (;;)
  {
    const std::uint64_t job = this->AwaitCall(member, seen);
    if (member.Stop)
    {
      return;
    }
    seen = job >> NumberShift;
    if (this->Join(job))
    {
      this->Current(this->Arg, member.Worker);
      this->Leave();
    }
  }
}

void Workers::Team::AwaitThreads()
{
  const auto isDone = [this] { return !(this->Job & Running); };
  const int threads = static_cast<int>(this->Job >> WorkersShift & 0xffff);
  if (SpinUntil(threads, isDone))
  {
    return;
  }
  std::unique_lock<std::mutex> lock(this->Mutex);
  this->CallerAsleep = true;
  this->Done.wait(lock, isDone);
  this->CallerAsleep = false;
}

// Threads that are missing are started as long as those before them find something to do. Of the threads of a process that the
// task forked from none is waited for.
void Workers::Team::Run(int count, Task task, void* arg)
{
  const std::uint64_t number = ((this->Job >> NumberShift) + 1) & 0xffffffff;
  const size_t others = static_cast<size_t>(count) - 1;
  this->Current = task;
  this->Arg = arg;
  this->Exhausted = false;
  this->Job = number << NumberShift | static_cast<std::uint64_t>(count) << WorkersShift | Open;
  for (size_t i = 0; i < this->Members.size() && i < others; ++i)
  {
    this->Members[i]->Call();
  }
  while (this->Members.size() < others && !this->Exhausted && this->Start())
  {
  }
  task(arg, 0);
  if ((this->Job.fetch_and(~Open) & Running) && this->IsHere())
  {
    this->AwaitThreads();
  }
}

Workers::Workers() = default;

Workers::~Workers()
{
  this->LeaveBehind();
}

// A team without threads here can be neither used nor taken down: what its threads hold or wait for stays so for ever. It is
// kept, so that nothing takes it for a leak.
void Workers::LeaveBehind()
{
  static std::atomic<Team*> left{ nullptr };
  if (this->Own && !this->Own->IsHere())
  {
    Team* team = this->Own.release();
    team->Next = left.exchange(team);
  }
}

bool Workers::Run(int count, Task task, void* arg)
{
  this->LeaveBehind();
  if (count > 1 && !this->Own)
  {
    this->Own.reset(new (std::nothrow) Team);
  }
  if (count <= 1 || !this->Own)
  {
    task(arg, 0);
    return true;
  }
  this->Own->Run(count, task, arg);
  return this->Own->IsHere();
}

void Workers::Limit(int count)
{
  this->LeaveBehind();
  if (this->Own)
  {
    this->Own->Limit(count);
  }
}

pmb_executor Workers::GetExecutor()
{
  pmb_executor executor = {};
  executor.run = [](void* user, int workers, void (*task)(void* arg, int worker), void* arg)
  { static_cast<Workers*>(user)->Run(workers, task, arg); };
  executor.user = this;
  return executor;
}
}
VTK_ABI_NAMESPACE_END
