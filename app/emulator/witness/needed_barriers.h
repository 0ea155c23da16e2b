#pragma once

#include <chrono>
#include <stop_token>
#include <string>
#include <vector>

#include "emulator/machine/machine.h"
#include "emulator/observe/findings.h"
#include "emulator/witness/access_watch.h"

namespace warpscope::emulator {

/// What orders accesses at one source line: a barrier of a block, a warp or a cluster, a fence, or
/// a wait for asynchronous copies or for the phase of an mbarrier.
struct OrderingLine {
    std::string what;                ///< its opcode: "bar.sync"
    std::vector<std::uint32_t> pcs;  ///< its instructions in Kernel::code
};
/// Those of a kernel that can be taken out, in the order of the code. A barrier whose result the
/// kernel uses cannot.
std::vector<OrderingLine> ordering_lines(const Kernel& kernel);
/// The PTX of the kernel's module without these instructions. A wait for a phase becomes one that
/// ends at once.
std::string ptx_without(const Kernel& kernel, const OrderingLine& line);

/// What depends on one line that orders accesses.
struct NeededLine {
    /// A note: how many words differ without the line (Finding::count), and how many races there
    /// are more.
    Finding finding;
    std::vector<std::uint64_t> words;  ///< addresses of those that differ in any order, ascending
    bool is_needed = false;            ///< words differ, the launch fails, or there are more races
};
struct Necessity {
    std::vector<NeededLine> lines;     ///< in the order of the code
    std::vector<std::uint64_t> words;  ///< addresses of those that count, ascending
};

struct NecessityCheck {
    std::chrono::milliseconds time{5000};    ///< of all lines together
    std::uint64_t instructions = 4'000'000;  ///< of a run, of warps: more blocks are left out
    std::stop_token stop{};
    std::shared_ptr<LaunchProgress> progress{};  ///< counts the lines that were examined; or null
    /// What people expect. If the launch as it is makes some words right, only these count. Null,
    /// or none is right: every word counts that the blocks write.
    JudgeWord judge{};

    /// Takes out what orders accesses, one line at a time, and runs the first blocks of the launch
    /// in several orders of their warps. Memory is afterwards as it was before. Throws Error:
    /// invalid launch, or one that fails as it is.
    Necessity run(Machine& machine, const FrozenLaunch& launch) const;
};

}  // namespace warpscope::emulator
