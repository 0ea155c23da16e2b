#include "emulator/fast_paths/alike/likeness.h"

#include <algorithm>
#include <map>
#include <mutex>

#include "emulator/fast_paths/alike/likeness_analysis.h"
#include "emulator/lower/kernel_origin.h"

namespace warpscope::emulator {

namespace {

using Action = BlockLikeness::Action;

// The analysis looks at all statements for each branch.
constexpr std::size_t most_pairs = 20'000'000;

BlockLikeness::Place place_at(const Kernel& kernel, const StatementLikeness& likeness,
                              std::uint32_t pc) {
    BlockLikeness::Place place;
    if (kernel.code[pc].role == Role::join) {
        place.action = Action::execute;
        return place;
    }
    const StatementLikeness::At& at = likeness.statements[kernel.lines[pc].statements - 1];
    const bool is_statement = !kernel.lines[pc].pseudo;
    if (is_statement) place.access = at.access;
    if (is_statement || at.action == Action::execute) place.action = at.action;
    place.loads_before_join = at.loads_before_join;
    if (at.action == Action::go_to_join)
        place.next = at.join == ControlFlow::no_block ? BlockLikeness::no_join
                                                      : kernel.origin->block_begin[at.join];
    return place;
}

SharedLikeness find_likeness(const Kernel& kernel) {
    const KernelOrigin& origin = *kernel.origin;
    if (origin.flow.blocks.size() * origin.syntax.statements.size() > most_pairs) return nullptr;
    const StatementLikeness likeness =
        analyse_likeness(origin.syntax, origin.flow, origin.uniformity);
    auto result = std::make_shared<BlockLikeness>();
    result->obstacle = likeness.obstacle;
    for (std::uint32_t pc = 0; pc < kernel.code.size(); ++pc)
        result->places.push_back(place_at(kernel, likeness, pc));
    std::uint32_t next = std::uint32_t(kernel.code.size());
    for (std::uint32_t pc = next; pc-- > 0;)
        if (result->places[pc].action == Action::skip)
            result->places[pc].next = next;
        else
            next = pc;
    for (const Parameter& p : kernel.parameters)
        if (std::find(likeness.parameters.begin(), likeness.parameters.end(), p.name) !=
            likeness.parameters.end())
            result->arguments.emplace_back(p.offset, p.size);
    return result;
}

}  // namespace

SharedLikeness likeness_of(const Kernel& kernel) {
    if (!kernel.has_barrier && !kernel.uses_shared) return nullptr;
    struct Known {
        std::weak_ptr<const KernelOrigin> origin;
        SharedLikeness likeness;
    };
    static std::mutex mutex;
    static std::map<const KernelOrigin*, Known> all;
    const std::lock_guard lock(mutex);
    const auto found = all.find(kernel.origin.get());
    if (found != all.end() && !found->second.origin.expired()) return found->second.likeness;
    std::erase_if(all, [](const auto& entry) { return entry.second.origin.expired(); });
    return (all[kernel.origin.get()] = {kernel.origin, find_likeness(kernel)}).likeness;
}

}  // namespace warpscope::emulator
