#include "ui/dock/recent_kernels.h"

#include <algorithm>

namespace warpscope::ui {

void RecentKernels::follow(const std::vector<compute::KernelTiming>& kernels,
                           const std::vector<std::string>& settings) {
    const bool first = settings_.empty();
    if (settings != settings_ && !first) round_ += patience;
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
        seen = {kernel.launches, round_ + 1};
    }
    if (launched) newest_ = ++round_;
}

bool RecentKernels::still_runs(std::string_view kernel) const {
    const auto known = seen_.find(kernel);
    return known == seen_.end() || newest_ < known->second.round + patience;
}

}  // namespace warpscope::ui
