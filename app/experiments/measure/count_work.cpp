#include "experiments/measure/count_work.h"

#include "compute/emulated/observing.h"
#include "emulator/counters/access_counters.h"
#include "emulator/warp/warp.h"
#include "experiments/framework/shared_memory_cleaner.h"

namespace warpscope::experiments {
namespace {

Comparison::Counts sum(const std::vector<emulator::KernelCounters>& kernels, double elements) {
    Comparison::Counts counts;
    for (const emulator::KernelCounters& k : kernels) {
        if (k.kernel == SharedMemoryCleaner::kernel_name) continue;
        for (const auto* global : {&k.global_loads, &k.global_stores, &k.global_atomics})
            counts.sectors += double(global->sectors);
        for (const auto* shared : {&k.shared_loads, &k.shared_stores, &k.shared_atomics})
            counts.bank_passes += double(shared->wavefronts);
        counts.barriers += double(k.barriers);
        counts.instructions += double(k.warp_instructions) * emulator::lanes_per_warp / elements;
    }
    return counts;
}

}  // namespace

std::optional<Comparison::Counts> count_work(compute::Device& device, double elements,
                                             const std::function<void()>& launches) {
    auto* const emulated = dynamic_cast<compute::EmulatedDevice*>(&device);
    if (!emulated) {
        launches();
        return {};
    }
    emulator::AccessCounters counters;
    {
        const compute::Observing observing(*emulated, counters);
        launches();
    }
    return sum(counters.kernels(), elements);
}

}  // namespace warpscope::experiments
