#include "emulator/program/special_register.h"

#include <chrono>
#include <iterator>

namespace warpscope::emulator {

namespace {

constexpr std::string_view special_names[] = {"",
                                              "%tid.x",
                                              "%tid.y",
                                              "%tid.z",
                                              "%laneid",
                                              "%lanemask_eq",
                                              "%lanemask_le",
                                              "%lanemask_lt",
                                              "%lanemask_ge",
                                              "%lanemask_gt",
                                              "%ntid.x",
                                              "%ntid.y",
                                              "%ntid.z",
                                              "%ctaid.x",
                                              "%ctaid.y",
                                              "%ctaid.z",
                                              "%nctaid.x",
                                              "%nctaid.y",
                                              "%nctaid.z",
                                              "%warpid",
                                              "%nwarpid",
                                              "%smid",
                                              "%nsmid",
                                              "%dynamic_smem_size",
                                              "%total_smem_size",
                                              "%envreg1",
                                              "%envreg2",
                                              "%clusterid.x",
                                              "%clusterid.y",
                                              "%clusterid.z",
                                              "%nclusterid.x",
                                              "%nclusterid.y",
                                              "%nclusterid.z",
                                              "%cluster_ctaid.x",
                                              "%cluster_ctaid.y",
                                              "%cluster_ctaid.z",
                                              "%cluster_nctaid.x",
                                              "%cluster_nctaid.y",
                                              "%cluster_nctaid.z",
                                              "%cluster_ctarank",
                                              "%cluster_nctarank",
                                              "%is_explicit_cluster"};

}  // namespace

bool varies_by_lane(Special special) {
    return special >= Special::tid_x && special <= Special::lanemask_gt;
}

Special special_named(std::string_view name) {
    for (std::size_t i = 1; i < std::size(special_names); ++i)
        if (special_names[i] == name) return Special(i);
    return Special::none;
}

std::string_view special_name(Special special) {
    return special_names[std::size_t(special)];
}

std::uint64_t host_timer() {
    const auto now = std::chrono::steady_clock::now().time_since_epoch();
    return std::uint64_t(std::chrono::duration_cast<std::chrono::nanoseconds>(now).count());
}

}  // namespace warpscope::emulator
