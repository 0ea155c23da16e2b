#include "emulator/machine/block_state.h"

#include "emulator/warp/memory.h"

namespace warpscope::emulator {

namespace {

std::uint32_t lane_value(Special special, const BlockState& state, const Warp& warp,
                         unsigned lane) {
    const BlockContext& context = state.context;
    const Dim3 &b = context.launch->block, &g = context.launch->grid, &c = context.launch->cluster;
    const Dim3 clusters = context.launch->clusters();
    const std::uint32_t thread = warp.index * lanes_per_warp + lane;
    const std::uint32_t bit = 1u << lane;
    switch (special) {
        case Special::tid_x:
            return index_in(b, thread).x;
        case Special::tid_y:
            return index_in(b, thread).y;
        case Special::tid_z:
            return index_in(b, thread).z;
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
        case Special::ntid_x:
            return b.x;
        case Special::ntid_y:
            return b.y;
        case Special::ntid_z:
            return b.z;
        case Special::nctaid_x:
            return g.x;
        case Special::nctaid_y:
            return g.y;
        case Special::nctaid_z:
            return g.z;
        case Special::warpid:
            return warp.index;
        case Special::nwarpid:
            return std::uint32_t(state.warps.size());
        case Special::dynamic_smem_size:
            return context.launch->dynamic_shared_bytes;
        case Special::total_smem_size:
            return context.shared_bytes;
        case Special::nclusterid_x:
            return clusters.x;
        case Special::nclusterid_y:
            return clusters.y;
        case Special::nclusterid_z:
            return clusters.z;
        case Special::cluster_nctaid_x:
            return c.x;
        case Special::cluster_nctaid_y:
            return c.y;
        case Special::cluster_nctaid_z:
            return c.z;
        case Special::cluster_nctarank:
            return std::uint32_t(c.count());
        case Special::is_explicit_cluster:
            return c.count() > 1 ? all_lanes : 0;
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
    const Dim3 index = context.block_index();
    const ClusterPlace place = ClusterPlace::of(launch, context.block);
    const Dim3 cluster = index_in(launch.clusters(), place.cluster),
               in_cluster = index_in(launch.cluster, place.rank);
    for (const SpecialSlot& s : context.kernel->specials) {
        std::uint32_t value;
        switch (s.special) {
            case Special::ctaid_x:
                value = index.x;
                break;
            case Special::ctaid_y:
                value = index.y;
                break;
            case Special::ctaid_z:
                value = index.z;
                break;
            case Special::clusterid_x:
                value = cluster.x;
                break;
            case Special::clusterid_y:
                value = cluster.y;
                break;
            case Special::clusterid_z:
                value = cluster.z;
                break;
            case Special::cluster_ctaid_x:
                value = in_cluster.x;
                break;
            case Special::cluster_ctaid_y:
                value = in_cluster.y;
                break;
            case Special::cluster_ctaid_z:
                value = in_cluster.z;
                break;
            case Special::cluster_ctarank:
                value = place.rank;
                break;
            case Special::smid:
                value = context.sm;
                break;
            case Special::nsmid:
                value = sm_count;
                break;
            default:
                continue;
        }
        for (Warp& warp : state.warps) warp.set(s.slot, 0, value);
    }
}

}  // namespace warpscope::emulator
