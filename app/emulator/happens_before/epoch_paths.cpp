#include "emulator/happens_before/epoch_paths.h"

namespace warpscope::emulator {

namespace {

/// A barrier at which all threads of the block wait.
bool is_full_barrier(const Instruction& i) {
    constexpr std::uint32_t no_count = 0;
    return i.role == Role::block_barrier && BarrierKind(i.detail) != BarrierKind::arrive &&
           i.operands[1] == no_count;
}

std::vector<bool> reached_from(const Kernel& kernel, std::uint32_t from, bool over_barriers) {
    std::vector<bool> reached(kernel.code.size());
    std::vector<std::uint32_t> open{from};
    while (!open.empty()) {
        const std::uint32_t at = open.back();
        open.pop_back();
        const Instruction& i = kernel.code[at];
        if (!over_barriers && is_full_barrier(i)) continue;
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

}  // namespace

std::vector<bool> reached_in_epoch(const Kernel& kernel, std::uint32_t from) {
    return reached_from(kernel, from, false);
}

std::vector<bool> reached_in_launch(const Kernel& kernel, std::uint32_t from) {
    return reached_from(kernel, from, true);
}

}  // namespace warpscope::emulator
