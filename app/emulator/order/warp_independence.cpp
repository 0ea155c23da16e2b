#include "emulator/order/warp_independence.h"

#include <algorithm>

#include "emulator/order/rehearsal.h"
#include "emulator/program/error.h"

namespace warpscope::emulator {

namespace {

bool equal(const Dim3& a, const Dim3& b) {
    return a.x == b.x && a.y == b.y && a.z == b.z;
}

template <typename F>
void for_arguments(const FrozenLaunch& launch, F f) {
    for (const auto& [offset, size] : launch.kernel->likeness->arguments)
        f(launch.arguments.begin() + offset, launch.arguments.begin() + offset + size);
}

}  // namespace

std::string obstacle_to_independence(const FrozenLaunch& launch, const Memory& memory) {
    const Kernel& kernel = *launch.kernel;
    if (!kernel.has_barrier && !kernel.uses_shared) return {};
    if (!kernel.likeness) return "the kernel has too many branches";
    if (!kernel.likeness->obstacle.empty()) return kernel.likeness->obstacle;
    const Options options{.schedule = Schedule::run_to_barrier};
    Budget budget(options);
    try {
        return Rehearsal(kernel, launch.launch, memory, launch.arguments, options, budget).run();
    } catch (const Error& error) {
        return error.what();
    }
}

bool WarpIndependence::is_of(const Known& known, const FrozenLaunch& launch) {
    if (known.likeness != launch.kernel->likeness ||
        !equal(known.launch.grid, launch.launch.grid) ||
        !equal(known.launch.block, launch.launch.block) ||
        known.launch.dynamic_shared_bytes != launch.launch.dynamic_shared_bytes)
        return false;
    auto at = known.arguments.begin();
    bool same = true;
    for_arguments(launch, [&](auto begin, auto end) {
        same = same && std::equal(begin, end, at);
        at += end - begin;
    });
    return same;
}

const std::string& WarpIndependence::obstacle(const FrozenLaunch& launch, const Memory& memory) {
    static const std::string none, too_large = "the kernel has too many branches";
    const Kernel& kernel = *launch.kernel;
    if (!kernel.has_barrier && !kernel.uses_shared) return none;
    if (!kernel.likeness) return too_large;
    if (!kernel.likeness->obstacle.empty()) return kernel.likeness->obstacle;
    constexpr std::size_t most = 16;
    const auto found = std::find_if(newest_.begin(), newest_.end(),
                                    [&](const Known& known) { return is_of(known, launch); });
    if (found != newest_.end()) {
        std::rotate(newest_.begin(), found, found + 1);
        return newest_.front().obstacle;
    }
    Known known{kernel.likeness, launch.launch, {}, obstacle_to_independence(launch, memory)};
    for_arguments(launch, [&](auto begin, auto end) {
        known.arguments.insert(known.arguments.end(), begin, end);
    });
    if (newest_.size() == most) newest_.pop_back();
    newest_.insert(newest_.begin(), std::move(known));
    return newest_.front().obstacle;
}

}  // namespace warpscope::emulator
