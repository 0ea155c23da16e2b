#include "emulator/happens_before/missing_barrier.h"

#include <fmt/format.h>

#include <array>
#include <string_view>
#include <utility>

#include "emulator/happens_before/epoch_paths.h"

namespace warpscope::emulator {

namespace {

std::string_view function_of(BarrierScope scope) {
    constexpr std::array<std::string_view, 4> names{"__syncwarp()", "__syncthreads()",
                                                    "cluster.sync()", "grid.sync()"};
    return names[std::size_t(scope)];
}

}  // namespace

AccessOrder program_order(const Kernel& kernel, std::uint32_t first, std::uint32_t second) {
    const bool forwards = reached_in_epoch(kernel, first)[second];
    const bool backwards = reached_in_epoch(kernel, second)[first];
    if (forwards == backwards) return AccessOrder::unknown;
    return forwards ? AccessOrder::as_written : AccessOrder::reversed;
}

std::string missing_barrier(Finding& f, const AccessPair& pair, BarrierScope scope) {
    const std::string_view barrier = function_of(scope);
    const auto [kernel, first, second, is_reversed] = pair;
    auto [from, to] = lines_between(f.first, *f.second);
    const std::vector<bool> behind_second = reached_in_epoch(kernel, second);
    if (from != to || first != second || behind_second[second])
        f.barrier = is_reversed ? Finding::BarrierPlace{f.second->line, f.first.line, scope}
                                : Finding::BarrierPlace{f.first.line, f.second->line, scope};
    if (from == to && behind_second[first])
        return fmt::format(
            "{} is missing between one pass of this line and the next, or an atomic operation",
            barrier);
    if (from == to && first == second)
        return "no barrier can order what threads do at one line at one time: let one thread do "
               "it, give each thread a word of its own, or use an atomic operation";
    if (from == to)
        return fmt::format(
            "{} is missing between what this line reads and what it writes, or an atomic operation",
            barrier);
    if (is_reversed) std::swap(from, to);
    return fmt::format("{} is missing between {} and {}", barrier, from, to);
}

}  // namespace warpscope::emulator
