#include "emulator/happens_before/epoch_paths.h"

namespace warpscope::emulator {

bool is_full_barrier(const Instruction& i) {
    constexpr std::uint32_t no_count = 0;
    return i.role == Role::block_barrier && BarrierKind(i.detail) != BarrierKind::arrive &&
           i.operands[1] == no_count;
}

std::vector<bool> reached_from(const Kernel& kernel, std::uint32_t from,
                               const std::function<bool(std::uint32_t)>& ends_at) {
    std::vector<bool> reached(kernel.code.size());
    std::vector<std::uint32_t> open{from};
    while (!open.empty()) {
        const std::uint32_t at = open.back();
        open.pop_back();
        const Instruction& i = kernel.code[at];
        if (ends_at(at)) continue;
        const bool guarded = at > 0 && is_guard(kernel.code[at - 1].role);
        std::vector<std::uint32_t> next;
        if (is_branch(i.role)) next.push_back(at + i.target);
        const bool ends = i.role == Role::branch || i.role == Role::exit;
        if (!ends || guarded) next.push_back(at + 1);
        for (const std::uint32_t n : next) {
            if (n >= reached.size() || reached[n]) continue;
            reached[n] = true;
            open.push_back(n);
        }
    }
    return reached;
}

std::vector<bool> reached_in_epoch(const Kernel& kernel, std::uint32_t from) {
    return reached_from(kernel, from,
                        [&](std::uint32_t pc) { return is_full_barrier(kernel.code[pc]); });
}

std::vector<bool> reached_in_launch(const Kernel& kernel, std::uint32_t from) {
    return reached_from(kernel, from, [](std::uint32_t) { return false; });
}

}  // namespace warpscope::emulator
