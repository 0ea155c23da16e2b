#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "emulator/program/launch.h"

namespace warpscope::compute {

using emulator::Dim3;

/// The work of one launch, as its caller counts it; 0 if it does not apply.
struct Work {
    /// Bytes of global memory that the launch must read or write at least once.
    double bytes = 0;
    double interactions = 0;  ///< pairs of bodies
    double flops = 0;
    bool operator==(const Work&) const = default;
};

/// What ran a launch: a GPU, or the emulator's interpreter, or machine code of this CPU.
enum class Engine : std::uint8_t { gpu, interpreted, compiled };

/// What a launch takes of an SM.
struct BlockResources {
    unsigned shared_bytes = 0;  ///< static and dynamic shared memory of one block
    unsigned registers = 0;     ///< registers of a thread; 0: unknown, as in the emulator
};

/// The launches of one kernel: the newest launch configuration, work and engine, and the last
/// `window` times of launches that have them. The first launch also loads the kernel, so its time
/// is dropped when there is a second one.
struct KernelTiming {
    static constexpr std::size_t window = 256;

    std::string name;
    Dim3 grid;
    Dim3 block;
    BlockResources resources;
    std::uint64_t launches = 0;
    Work work;                     ///< the work of the newest launch
    Engine engine = Engine::gpu;   ///< the engine of the newest launch
    std::vector<float> recent_ms;  ///< oldest first, at most `window`

    /// True if the only time is that of the first launch.
    bool cold() const { return launches == 1; }
    float last_ms() const { return recent_ms.empty() ? 0.0f : recent_ms.back(); }
    float median_ms() const { return quantile_ms(0.5); }
    float p99_ms() const { return quantile_ms(0.99); }
    /// Nearest-rank quantile of the recent times, 0 < q <= 1; 0 if there are none.
    float quantile_ms(double q) const;
    /// Bytes per second at the median time; 0 if unknown.
    double bytes_per_second() const { return per_second(work.bytes); }
    double interactions_per_second() const { return per_second(work.interactions); }
    double flops_per_second() const { return per_second(work.flops); }

  private:
    double per_second(double amount) const;
};

/// The timings of every kernel launched on one device, in order of first launch.
class KernelTimings {
  public:
    void record(std::string_view name, Dim3 grid, Dim3 block, const BlockResources& resources,
                const Work& work, float milliseconds, Engine engine = Engine::gpu);
    const std::vector<KernelTiming>& kernels() const { return kernels_; }
    const KernelTiming* find(std::string_view name) const;
    void clear() { kernels_.clear(); }
    void rename(const std::function<std::string(std::string)>& new_name) {
        for (KernelTiming& kernel : kernels_) kernel.name = new_name(std::move(kernel.name));
    }

  private:
    std::vector<KernelTiming> kernels_;
};

}  // namespace warpscope::compute
