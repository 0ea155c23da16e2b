#include "emulator/program/special_register.h"

#include <array>

namespace warpscope::emulator {

bool varies_by_lane(Special special) {
    return special >= Special::tid_x && special <= Special::lanemask_gt;
}

Special special_named(std::string_view name) {
    static constexpr std::array<std::string_view, 27> names = {"",
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
                                                               "%envreg2"};
    for (size_t i = 1; i < names.size(); ++i)
        if (names[i] == name) return Special(i);
    return Special::none;
}

}  // namespace warpscope::emulator
