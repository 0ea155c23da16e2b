#include "emulator/happens_before/missing_barrier.h"

#include <array>
#include <string_view>
#include <utility>

#include "emulator/happens_before/kernel_paths.h"

namespace warpscope::emulator {

namespace {

files::Sentence function_of(BarrierScope scope) {
    if (scope == BarrierScope::launch)
        return files::sentence("a second launch (or grid.sync() in a cooperative one)");
    constexpr std::array names{"__syncwarp()", "__syncthreads()", "cluster.sync()", "grid.sync()"};
    return names[std::size_t(scope)];
}

}  // namespace

AccessOrder program_order(const Kernel& kernel, std::uint32_t first, std::uint32_t second,
                          bool over_barriers) {
    const auto reached = over_barriers ? reached_in_launch : reached_in_epoch;
    const bool forwards = reached(kernel, first)[second];
    const bool backwards = reached(kernel, second)[first];
    if (forwards == backwards) return AccessOrder::unknown;
    return forwards ? AccessOrder::as_written : AccessOrder::reversed;
}

Finding::BarrierPlace place_between(const Finding& f, bool is_reversed, BarrierScope scope) {
    if (is_reversed) return {f.second->line, f.first.line, scope};
    return {f.first.line, f.second->line, scope};
}

files::Sentence missing_barrier(Finding& f, const AccessPair& pair, BarrierScope scope) {
    const files::Sentence barrier = function_of(scope);
    const auto [kernel, first, second, is_reversed] = pair;
    const auto reached = scope == BarrierScope::launch ? reached_in_launch : reached_in_epoch;
    if (scope < BarrierScope::launch && share_uneven_loop(kernel, first, second))
        return files::sentence(
            "threads may leave the loop around these lines after different numbers of passes, so "
            "no {} may stand in it: give each thread words of its own",
            barrier);
    auto [from, to] = lines_between(f.first, *f.second);
    const bool goes_back = reached(kernel, second)[first];
    const bool loops = goes_back && reached(kernel, first)[second];
    if (from != to || first != second || loops) f.barrier = place_between(f, is_reversed, scope);
    if (from == to && loops)
        return files::sentence("{} is missing between one pass of this line and the next", barrier);
    if (from == to && first == second)
        return files::sentence(
            "no barrier can order what threads do at one line at one time: let one thread do it, "
            "give each thread a word of its own, or use an atomic operation");
    if (from == to)
        return files::sentence("{} is missing between what this line reads and what it writes",
                               barrier);
    if (is_reversed) std::swap(from, to);
    if (scope == BarrierScope::launch && loops)
        return files::sentence(
            "{} is missing between {} and {}, and before the next pass of their loop", barrier,
            from, to);
    return files::sentence("{} is missing between {} and {}", barrier, from, to);
}

files::Sentence missing_atomic(Finding& f, const Kernel& kernel, std::uint32_t load,
                               std::uint32_t store) {
    f.needs_atomic = true;
    if (is_update(kernel, load, store))
        return files::sentence(
            "each of them changes the value that it has read, and all changes but one are lost: "
            "use an atomic operation, such as atomicAdd()");
    if (decides_store(kernel, load, store))
        return files::sentence(
            "the value that a thread reads decides whether it overwrites the word, so the value "
            "of another thread may be lost: use an atomic operation, such as atomicMax() or "
            "atomicCAS()");
    f.needs_atomic = false;
    if (loads_that_guess(kernel)[load] && kernel.lines[store].access == MemoryAccess::atomic)
        return files::sentence(
            "what is read is a guess that atomicCAS() checks, so an old value does no harm");
    return {};
}

}  // namespace warpscope::emulator
