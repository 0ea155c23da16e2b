#include "emulator/fast_paths/alike/warp_independence.h"

#include <algorithm>
#include <utility>

#include "emulator/fast_paths/alike/rehearsal.h"
#include "emulator/program/error.h"

namespace warpscope::emulator {

namespace {

bool equal(const Dim3& a, const Dim3& b) {
    return a.x == b.x && a.y == b.y && a.z == b.z;
}

template <typename F>
void for_arguments(const FrozenLaunch& launch, const BlockLikeness& likeness, F f) {
    for (const auto& [offset, size] : likeness.arguments)
        f(launch.arguments.begin() + offset, launch.arguments.begin() + offset + size);
}

Obstacles both(const std::string& obstacle) {
    return {obstacle, obstacle};
}

/// The obstacles of every launch of the kernel; null where a rehearsal has to find them.
const Obstacles* obstacles_of(const Kernel& kernel, const BlockLikeness* likeness) {
    static const Obstacles none, too_large = both("the kernel has too many branches");
    if (!kernel.has_barrier && !kernel.uses_shared) return &none;
    return likeness ? nullptr : &too_large;
}

Obstacles rehearse(const FrozenLaunch& launch, const BlockLikeness& likeness, const Memory& memory,
                   std::uint64_t most_steps) {
    if (!likeness.obstacle.empty()) return both(likeness.obstacle);
    const LaunchSettings settings{.schedule = Schedule::run_to_barrier};
    Budget budget(settings);
    try {
        Rehearsal rehearsal(launch, likeness, memory, settings, budget, most_steps);
        const std::string obstacle = rehearsal.run();
        return {obstacle, obstacle.empty() ? rehearsal.leftovers() : obstacle, rehearsal.gave_up()};
    } catch (const Error& error) {
        return both(error.what());
    }
}

}  // namespace

Obstacles obstacles_to_independence(const FrozenLaunch& launch, const Memory& memory,
                                    std::uint64_t most_steps) {
    const auto likeness = likeness_of(*launch.kernel);
    const Obstacles* known = obstacles_of(*launch.kernel, likeness.get());
    return known ? *known : rehearse(launch, *likeness, memory, most_steps);
}

bool WarpIndependence::is_of(const Known& known, const SharedLikeness& likeness,
                             const FrozenLaunch& launch) {
    if (known.likeness != likeness || !equal(known.launch.grid, launch.launch.grid) ||
        !equal(known.launch.block, launch.launch.block) ||
        known.launch.dynamic_shared_bytes != launch.launch.dynamic_shared_bytes)
        return false;
    auto at = known.arguments.begin();
    bool same = true;
    for_arguments(launch, *likeness, [&](auto begin, auto end) {
        same = same && std::equal(begin, end, at);
        at += end - begin;
    });
    return same;
}

const Obstacles& WarpIndependence::obstacles(const FrozenLaunch& launch, const Memory& memory) {
    const SharedLikeness likeness = likeness_of(*launch.kernel);
    if (const Obstacles* known = obstacles_of(*launch.kernel, likeness.get())) return *known;
    constexpr std::size_t most = 16;
    const auto found = std::find_if(newest_.begin(), newest_.end(), [&](const Known& known) {
        return is_of(known, likeness, launch);
    });
    if (found != newest_.end()) {
        std::rotate(newest_.begin(), found, found + 1);
        Known& known = newest_.front();
        if (!std::exchange(known.came_again, true) && known.obstacles.gave_up)
            known.obstacles = rehearse(launch, *likeness, memory, steps_for_known_launch);
        return known.obstacles;
    }
    Known known{
        likeness, launch.launch, {}, rehearse(launch, *likeness, memory, steps_for_new_launch)};
    for_arguments(launch, *likeness, [&](auto begin, auto end) {
        known.arguments.insert(known.arguments.end(), begin, end);
    });
    if (newest_.size() == most) newest_.pop_back();
    newest_.insert(newest_.begin(), std::move(known));
    return newest_.front().obstacles;
}

}  // namespace warpscope::emulator
