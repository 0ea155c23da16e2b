#include "experiments/measure/count_work.h"

#include "compute/emulated/emulated_device.h"
#include "emulator/counters/access_counters.h"
#include "emulator/observe/observer_list.h"
#include "emulator/warp/warp.h"
#include "experiments/framework/shared_memory_cleaner.h"

namespace warpscope::experiments {
namespace {

/// Adds an observer to a device beside the one that observes it already.
class Observing {
  public:
    Observing(compute::EmulatedDevice& device, emulator::Observer& observer)
        : device_(device), before_(device.observe(nullptr)) {
        if (before_) both_.add(*before_);
        both_.add(observer);
        device_.observe(&both_);
    }
    Observing(const Observing&) = delete;
    Observing& operator=(const Observing&) = delete;
    ~Observing() { device_.observe(before_); }

  private:
    compute::EmulatedDevice& device_;
    emulator::Observer* before_;
    emulator::ObserverList both_;
};

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
        const Observing observing(*emulated, counters);
        launches();
    }
    return sum(counters.kernels(), elements);
}

}  // namespace warpscope::experiments
