#include "compute/device/kernel_timings.h"

#include <algorithm>
#include <cmath>

namespace warpscope::compute {

float KernelTiming::quantile_ms(double q) const {
    if (recent_ms.empty()) return 0.0f;
    std::vector<float> sorted = recent_ms;
    const auto rank = static_cast<std::size_t>(std::ceil(q * double(sorted.size())));
    const std::size_t index = std::clamp<std::size_t>(rank, 1, sorted.size()) - 1;
    std::nth_element(sorted.begin(), sorted.begin() + std::ptrdiff_t(index), sorted.end());
    return sorted[index];
}

double KernelTiming::per_second(double amount) const {
    const double ms = median_ms();
    return ms > 0 ? amount / ms * 1e3 : 0;
}

void KernelTimings::record(std::string_view name, Dim3 grid, Dim3 block,
                           const BlockResources& resources, const Work& work, float milliseconds,
                           Engine engine) {
    auto kernel = std::find_if(kernels_.begin(), kernels_.end(),
                               [&](const KernelTiming& k) { return k.name == name; });
    if (kernel == kernels_.end()) {
        kernel = kernels_.emplace(kernels_.end());
        kernel->name = name;
    }
    const bool same = kernel->grid == grid && kernel->block == block &&
                      kernel->resources.shared_bytes == resources.shared_bytes &&
                      kernel->work == work && kernel->engine == engine;
    if (!same || kernel->cold()) kernel->recent_ms.clear();
    kernel->grid = grid;
    kernel->block = block;
    kernel->resources = resources;
    kernel->work = work;
    kernel->engine = engine;
    kernel->launches++;
    auto& recent = kernel->recent_ms;
    if (recent.size() == KernelTiming::window) recent.erase(recent.begin());
    recent.push_back(milliseconds);
}

const KernelTiming* KernelTimings::find(std::string_view name) const {
    for (const KernelTiming& kernel : kernels_)
        if (kernel.name == name) return &kernel;
    return nullptr;
}

}  // namespace warpscope::compute
