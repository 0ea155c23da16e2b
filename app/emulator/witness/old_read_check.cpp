#include "emulator/witness/old_read_check.h"

#include <algorithm>

#include "emulator/witness/schedule_file.h"

namespace warpscope::emulator {

OldReadCheck::OldReadCheck(const FrozenLaunch& launch, std::span<const std::uint32_t> blocks,
                           const OldRead& read)
    : kernel_(*launch.kernel), read_(read) {
    checks_.add(in_block_);
    checks_.add(between_blocks_);
    checks_.on_launch(kernel_, launch.launch);
    checks_.on_arguments(launch.arguments);
    for (const std::uint32_t block : blocks) {
        checks_.on_block_turn(block);
        checks_.on_block_begin(kernel_, block);
    }
}

/// Other executions of the load would make findings of their own.
bool OldReadCheck::hears(const Access& access) {
    if (is_over_) return false;
    if (access.pc != read_.pc) return true;
    is_over_ = is_next_ && access.block == read_.block && access.warp == read_.warp;
    return is_over_;
}

bool OldReadCheck::is_allowed() {
    checks_.on_launch_end();
    const std::string store = users_place(kernel_, read_.store.pc),
                      load = users_place(kernel_, read_.pc);
    const auto is_it = [&](const Finding& f) {
        if (f.kind != FindingKind::race || !f.second) return false;
        const std::string first = f.first.where(), second = f.second->where();
        return (first == store && second == load) || (first == load && second == store);
    };
    return std::ranges::any_of(in_block_.findings(), is_it) ||
           std::ranges::any_of(between_blocks_.findings(), is_it);
}

void OldReadCheck::on_shared_access(const Access& access) {
    if (hears(access)) checks_.on_shared_access(access);
}

void OldReadCheck::on_global_access(const Access& access) {
    if (hears(access)) checks_.on_global_access(access);
}

void OldReadCheck::on_cluster_access(const Access& access) {
    if (hears(access)) checks_.on_cluster_access(access);
}

void OldReadCheck::on_barrier_arrival(const BarrierArrival& arrival) {
    if (!is_over_) checks_.on_barrier_arrival(arrival);
}

void OldReadCheck::on_barrier_release(const BarrierRelease& release) {
    if (!is_over_) checks_.on_barrier_release(release);
}

void OldReadCheck::on_warp_sync(std::uint32_t block, std::uint32_t warp, std::uint32_t members) {
    if (!is_over_) checks_.on_warp_sync(block, warp, members);
}

void OldReadCheck::on_async(std::uint32_t block, const AsyncEvent& event) {
    if (!is_over_) checks_.on_async(block, event);
}

void OldReadCheck::on_fence(std::uint32_t block, std::uint32_t warp, std::uint32_t mask,
                            Fence fence) {
    if (!is_over_) checks_.on_fence(block, warp, mask, fence);
}

void OldReadCheck::on_block_turn(std::uint32_t block) {
    if (!is_over_) checks_.on_block_turn(block);
}

}  // namespace warpscope::emulator
