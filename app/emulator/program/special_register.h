#pragma once

#include <cstdint>
#include <string_view>

namespace warpscope::emulator {

/// Special registers (PTX ISA 10), which the machine fills in. Those that differ between the lanes
/// of a warp are in vector slots.
enum class Special : std::uint8_t {
    none,
    tid_x,
    tid_y,
    tid_z,
    laneid,
    lanemask_eq,
    lanemask_le,
    lanemask_lt,
    lanemask_ge,
    lanemask_gt,
    ntid_x,
    ntid_y,
    ntid_z,
    ctaid_x,
    ctaid_y,
    ctaid_z,
    nctaid_x,
    nctaid_y,
    nctaid_z,
    warpid,
    nwarpid,
    smid,
    nsmid,
    dynamic_smem_size,
    total_smem_size,
    envreg1,  ///< high half of the address of the grid's workspace
    envreg2,  ///< low half
    clusterid_x,
    clusterid_y,
    clusterid_z,
    nclusterid_x,
    nclusterid_y,
    nclusterid_z,
    cluster_ctaid_x,
    cluster_ctaid_y,
    cluster_ctaid_z,
    cluster_nctaid_x,
    cluster_nctaid_y,
    cluster_nctaid_z,
    cluster_ctarank,
    cluster_nctarank,
    is_explicit_cluster  ///< a predicate
};

/// Returns the special register of a name such as "%tid.x". Special::none for an unknown name and
/// for the clocks, which have an instruction of their own.
Special special_named(std::string_view name);
std::string_view special_name(Special special);  ///< "%tid.x"
/// Returns whether the lanes of a warp have different values in the register.
bool varies_by_lane(Special special);

/// Nanoseconds of the host's monotonic clock: %globaltimer.
std::uint64_t host_timer();

}  // namespace warpscope::emulator
