#include "emulator/machine/special_registers.h"

#include <optional>
#include <span>

#include "emulator/warp/memory.h"

namespace warpscope::emulator {

namespace {

/// Three special registers that follow each other in Special, and their values.
struct Axes {
    Special x;
    Dim3 value;
};

/// The value of a register x, y or z; nullopt: it is none of these.
std::optional<std::uint32_t> axis_of(Special special, std::span<const Axes> all) {
    for (const Axes& axes : all) {
        const int axis = int(special) - int(axes.x);
        if (axis >= 0 && axis < 3)
            return axis == 0 ? axes.value.x : axis == 1 ? axes.value.y : axes.value.z;
    }
    return {};
}

std::uint32_t lane_value(Special special, const BlockState& state, const Warp& warp,
                         unsigned lane) {
    const BlockContext& context = state.context;
    const LaunchShape& launch = *context.launch;
    const Axes all[] = {
        {Special::tid_x, index_in(launch.block, warp.index * lanes_per_warp + lane)},
        {Special::ntid_x, launch.block},
        {Special::nctaid_x, launch.grid},
        {Special::nclusterid_x, launch.clusters()},
        {Special::cluster_nctaid_x, launch.cluster}};
    if (const auto value = axis_of(special, all)) return *value;
    const std::uint32_t bit = 1u << lane;
    switch (special) {
        case Special::laneid:
            return lane;
        case Special::lanemask_eq:
            return bit;
        case Special::lanemask_le:
            return bit | (bit - 1);
        case Special::lanemask_lt:
            return bit - 1;
        case Special::lanemask_ge:
            return ~(bit - 1);
        case Special::lanemask_gt:
            return ~(bit | (bit - 1));
        case Special::warpid:
            return warp.index;
        case Special::nwarpid:
            return std::uint32_t(state.warps.size());
        case Special::dynamic_smem_size:
            return launch.dynamic_shared_bytes;
        case Special::total_smem_size:
            return context.shared_bytes;
        case Special::cluster_nctarank:
            return std::uint32_t(launch.cluster.count());
        case Special::envreg1:
            return std::uint32_t(context.memory->grid_workspace() >> 32);
        case Special::envreg2:
            return std::uint32_t(context.memory->grid_workspace());
        default:
            return 0;
    }
}

}  // namespace

void set_launch_registers(BlockState& state) {
    for (Warp& warp : state.warps)
        for (const SpecialSlot& s : state.context.kernel->specials) {
            const unsigned lanes = is_uniform(s.slot) ? 1 : lanes_per_warp;
            for (unsigned lane = 0; lane < lanes; ++lane)
                warp.set(s.slot, lane, lane_value(s.special, state, warp, lane));
        }
}

void set_block_registers(BlockState& state, std::uint32_t sm_count) {
    const BlockContext& context = state.context;
    const LaunchShape& launch = *context.launch;
    const ClusterPlace place = ClusterPlace::of(launch, context.block);
    const Axes all[] = {{Special::ctaid_x, context.block_index()},
                        {Special::clusterid_x, index_in(launch.clusters(), place.cluster)},
                        {Special::cluster_ctaid_x, index_in(launch.cluster, place.rank)}};
    for (const SpecialSlot& s : context.kernel->specials) {
        std::optional<std::uint32_t> value = axis_of(s.special, all);
        if (s.special == Special::cluster_ctarank) value = place.rank;
        if (s.special == Special::smid) value = context.sm;
        if (s.special == Special::nsmid) value = sm_count;
        if (!value) continue;
        for (Warp& warp : state.warps) warp.set(s.slot, 0, *value);
    }
}

}  // namespace warpscope::emulator
