#include "ui/dock/recent_kernels.h"

#include <algorithm>

namespace warpscope::ui {

void RecentKernels::follow(const std::vector<compute::KernelTiming>& kernels,
                           const std::vector<std::string>& settings) {
    if (settings != settings_) changed_ = round_;
    settings_ = settings;
    // The timings of another device, or of another experiment on it.
    const bool others = std::any_of(kernels.begin(), kernels.end(), [&](const auto& kernel) {
        const auto known = seen_.find(kernel.name);
        return known != seen_.end() && kernel.launches < known->second.launches;
    });
    if (others) seen_.clear();
    bool launched = false;
    for (const compute::KernelTiming& kernel : kernels) {
        Seen& seen = seen_[kernel.name];
        if (seen.launches == kernel.launches) continue;
        launched = true;
        const bool ran = seen.round > 0 && round_ + 1 < seen.round + patience;
        seen = {kernel.launches, round_ + 1, ran ? seen.began : round_ + 1};
    }
    if (launched) ++round_;
}

std::vector<const compute::KernelTiming*> RecentKernels::running(
    const std::vector<compute::KernelTiming>& kernels) const {
    std::vector<const compute::KernelTiming*> all;
    for (const compute::KernelTiming& kernel : kernels)
        if (still_runs(kernel.name)) all.push_back(&kernel);
    const auto began = [&](const compute::KernelTiming* kernel) {
        const auto known = seen_.find(kernel->name);
        return known == seen_.end() ? 0 : known->second.began;
    };
    std::stable_sort(all.begin(), all.end(),
                     [&](const auto* a, const auto* b) { return began(a) > began(b); });
    return all;
}

bool RecentKernels::still_runs(std::string_view kernel) const {
    const auto known = seen_.find(kernel);
    if (known == seen_.end()) return true;
    const bool since_change = known->second.round > changed_ || round_ == changed_;
    return since_change && round_ < known->second.round + patience;
}

}  // namespace warpscope::ui
