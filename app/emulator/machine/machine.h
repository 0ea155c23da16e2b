#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "emulator/machine/aligned_bytes.h"
#include "emulator/machine/launch_settings.h"
#include "emulator/observe/observer.h"
#include "emulator/program/module.h"
#include "emulator/warp/memory.h"
#include "emulator/warp/print.h"

namespace warpscope::emulator {

/// The emulated GPU: global memory and a fixed number of virtual SMs. Block b runs on virtual SM
/// b mod virtual_sms. A virtual SM runs its blocks in order, or as if it did, and keeps the bytes
/// of its shared memory between blocks and between launches (zero at first), so a kernel that reads
/// shared memory without writing it finds what an earlier block left. The result depends on memory,
/// launch and seed, never on the number of host threads.
class Machine {
  public:
    /// A prime number, so that the blocks of one virtual SM do not line up with power-of-two
    /// patterns of the data.
    static constexpr unsigned default_virtual_sms = 29;
    static constexpr std::uint32_t max_shared_bytes = 227 * 1024;  ///< of one block

    explicit Machine(unsigned virtual_sms = default_virtual_sms);

    Memory& memory() { return memory_; }
    unsigned virtual_sms() const { return unsigned(own_.shared.size()); }

    /// Runs a launch to its end. `arguments` holds one pointer for each parameter, to its value.
    /// Throws Error: invalid launch configuration, invalid access, deadlock, budget, trap. Memory
    /// then holds what was written before the error.
    Statistics run(const Kernel& kernel, const LaunchShape& launch,
                   std::span<const void* const> arguments, const LaunchSettings& settings = {},
                   Observer* observer = nullptr);
    Statistics run(const FrozenLaunch& launch, Observer* observer = nullptr,
                   const LaunchMethod& method = {});

    /// Packs the arguments of a launch for later. Throws Error for an invalid launch configuration
    /// or a wrong number of arguments.
    static FrozenLaunch freeze(const Kernel& kernel, const LaunchShape& launch,
                               std::span<const void* const> arguments,
                               const LaunchSettings& settings);

    /// Returns and clears what kernels have printed with printf(), in the order of launches, blocks
    /// and execution, including launches that ended with an Error. If it exceeds the limits of
    /// PrintLog, the last line says so.
    std::string take_output();

    /// Shared memory of a virtual SM, at least `bytes` bytes.
    std::span<std::byte> shared_memory(unsigned sm, std::size_t bytes);

    /// What launches leave beside global memory.
    struct OwnState {
        std::vector<AlignedBytes> shared;  ///< by virtual SM
        PrintLog output;
    };
    OwnState& own_state() { return own_; }

  private:
    Statistics run_clusters(const FrozenLaunch& launch, unsigned threads, Observer* observer);

    Memory memory_;
    OwnState own_;
};

}  // namespace warpscope::emulator
