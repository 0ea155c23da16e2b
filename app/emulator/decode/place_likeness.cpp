#include <algorithm>

#include "emulator/decode/kernel_state.h"
#include "emulator/lower/likeness_analysis.h"

namespace warpscope::emulator {

namespace {

using Step = BlockLikeness::Step;

// The analysis looks at all statements for each branch.
constexpr std::size_t most_pairs = 20'000'000;

BlockLikeness::Place place_at(const KernelState& state, const StatementLikeness& likeness,
                              std::uint32_t pc) {
    const Kernel& kernel = *state.kernel;
    BlockLikeness::Place place;
    if (kernel.code[pc].role == Role::join) {
        place.step = Step::execute;
        return place;
    }
    const StatementLikeness::At& at = likeness.statements[kernel.lines[pc].statements - 1];
    const bool is_statement = !kernel.lines[pc].pseudo;
    if (is_statement) place.access = at.access;
    if (is_statement || at.step == Step::execute) place.step = at.step;
    place.loads_before_join = at.loads_before_join;
    if (at.step == Step::go_to_join)
        place.next =
            at.join == ControlFlow::no_block ? BlockLikeness::no_join : state.block_begin[at.join];
    return place;
}

}  // namespace

void place_likeness(KernelState& state) {
    Kernel& kernel = *state.kernel;
    if (!kernel.has_barrier && !kernel.uses_shared) return;
    if (state.flow.blocks.size() * state.syntax.statements.size() > most_pairs) return;
    const StatementLikeness likeness =
        analyse_likeness(state.syntax, state.flow, state.uniformity.live_at_entry);
    auto result = std::make_shared<BlockLikeness>();
    result->obstacle = likeness.obstacle;
    for (std::uint32_t pc = 0; pc < kernel.code.size(); ++pc)
        result->places.push_back(place_at(state, likeness, pc));
    std::uint32_t next = std::uint32_t(kernel.code.size());
    for (std::uint32_t pc = next; pc-- > 0;)
        if (result->places[pc].step == Step::skip)
            result->places[pc].next = next;
        else
            next = pc;
    for (const Parameter& p : kernel.parameters)
        if (std::find(likeness.parameters.begin(), likeness.parameters.end(), p.name) !=
            likeness.parameters.end())
            result->arguments.emplace_back(p.offset, p.size);
    kernel.likeness = std::move(result);
}

}  // namespace warpscope::emulator
