#include "emulator/slice/wrong_word.h"

#include <fmt/format.h>

#include "emulator/program/error.h"
#include "emulator/witness/schedule_file.h"

namespace warpscope::emulator {

namespace {

/// More steps are not traced.
constexpr std::uint64_t most_steps = 400'000;

/// An order that may give the right value where the one of the launch does not.
struct OtherOrder {
    const char* words;
    Schedule schedule = Schedule::run_to_barrier;
    std::uint64_t seed = 1;
    bool in_step = false;
};
constexpr OtherOrder other_orders[] = {
    {.words = "all warps advance together, access by access", .in_step = true},
    {.words = "each warp runs until it waits or ends, the lowest first"},
    {.words = "each warp runs until it waits or ends, the highest first",
     .schedule = Schedule::reverse},
    {.words = "the turns are random, with seed 1", .schedule = Schedule::random, .seed = 1},
    {.words = "the turns are random, with seed 2", .schedule = Schedule::random, .seed = 2},
    {.words = "the turns are random, with seed 3", .schedule = Schedule::random, .seed = 3}};

/// Each warp in turn runs until it is before an access, as if a barrier stood behind each access.
void run_in_step(Stepper& stepper, const std::stop_token& stop) {
    const auto is_before_access = [&](std::uint32_t warp) {
        return stepper.kernel().lines[*stepper.next_pc(warp)].access != MemoryAccess::none;
    };
    for (std::uint32_t warp = 0;
         stepper.end() == Stepper::End::open && stepper.position() < most_steps;
         warp = (warp + 1) % stepper.warps()) {
        if (stop.stop_requested()) throw Stopped("the run was stopped");
        const std::uint32_t passed = stepper.epoch();
        for (bool first = true;
             stepper.next_pc(warp) && stepper.epoch() == passed && stepper.position() < most_steps;
             first = false) {
            if (!first && is_before_access(warp)) break;
            stepper.step(warp);
        }
    }
}

std::optional<SlicedRun> right_run(Machine& machine, FrozenLaunch launch, std::uint32_t block,
                                   GlobalBytes bytes, const OtherOrder& order,
                                   const std::function<bool(const Stepper&)>& is_right) {
    const std::stop_token stop = launch.settings.stop;
    launch.settings.schedule = order.schedule;
    launch.settings.seed = order.seed;
    launch.settings.turns.clear();
    launch.settings.landing = Landing::at_once;
    launch.settings.held.clear();
    Stepper stepper(machine, launch, block);
    if (order.in_step)
        run_in_step(stepper, stop);
    else
        stepper.run(most_steps);
    if (stepper.end() != Stepper::End::finished || !is_right(stepper)) return {};
    BlockTrace trace(stepper, stop);
    Slice slice = backward_slice(trace, bytes, &stepper);
    return SlicedRun{std::move(trace), std::move(slice)};
}

SlicedRun run_of_launch(Machine& machine, const FrozenLaunch& launch, std::uint32_t block,
                        GlobalBytes bytes, std::string& end,
                        const std::function<bool(const Stepper&)>& is_right) {
    Stepper stepper(machine, launch, block);
    stepper.run(most_steps);
    if (stepper.end() == Stepper::End::open)
        end = fmt::format("the block takes more than {} steps", most_steps);
    if (stepper.end() == Stepper::End::finished && is_right(stepper))
        end = "the block itself leaves the right value: another block has changed it";
    BlockTrace trace(stepper, launch.settings.stop);
    Slice slice = backward_slice(trace, bytes, &stepper);
    return {std::move(trace), std::move(slice)};
}

PartingWords only(std::string brief) {
    const std::string whole = capital(brief) + ".";
    return {std::move(brief), whole};
}

/// The first read of shared memory that the block has not written before.
std::optional<Parting> unwritten_read(const Slice& slice) {
    for (std::size_t k = slice.nodes.size(); k-- > 0;)
        for (const SliceSource& source : slice.nodes[k].sources)
            if (source.kind == SliceSource::Kind::shared)
                return Parting{std::uint32_t(k), source, {}};
    return {};
}

PartingWords unwritten_words(const SlicedRun& run, const Parting& parting, const Dim3& block) {
    const SliceNode& node = run.slice.nodes[*parting.node];
    const Kernel& kernel = run.trace.kernel();
    PartingWords words{fmt::format("thread {} read what the block had not written",
                                   thread_words(block, node.warp, node.lane)),
                       {}};
    words.whole =
        fmt::format("Thread {} of warp {} read {} at {}. The order of the warps is not the reason.",
                    thread_words(block, node.warp, node.lane), node.warp,
                    source_words(kernel, *parting.source), users_place(kernel, node.pc));
    return words;
}

}  // namespace

std::optional<WrongWord::Place> WrongWord::place() const {
    const auto of = [](const SliceNode& node) { return Place{node.step, node.warp, node.lane}; };
    if (parting && parting->node) return of(run.slice.nodes[*parting->node]);
    for (const SliceSource& source : run.slice.bytes)
        if (source.kind == SliceSource::Kind::instruction) return of(run.slice.nodes[source.at]);
    return {};
}

WrongWord explain(Machine& machine, const FrozenLaunch& launch, std::uint32_t block,
                  GlobalBytes bytes, const std::function<bool(const Stepper&)>& is_right) {
    std::string end;
    WrongWord word{.run = run_of_launch(machine, launch, block, bytes, end, is_right),
                   .right = {},
                   .order = {}};
    if (!end.empty()) {
        word.words = only(end);
        return word;
    }
    std::size_t tried = 0;
    for (const OtherOrder& order : other_orders) {
        if (order.in_step && launch.kernel->is_asynchronous) continue;
        ++tried;
        word.right = right_run(machine, launch, block, bytes, order, is_right);
        if (!word.right) continue;
        word.order = order.words;
        break;
    }
    if (!word.right) {
        word.parting = unwritten_read(word.run.slice);
        word.words = word.parting
                         ? unwritten_words(word.run, *word.parting, launch.launch.block)
                         : only(fmt::format("none of {} other orders of the warps gives the right "
                                            "value: the order is not the reason",
                                            tried));
        return word;
    }
    word.parting = where_they_part(*launch.kernel, word.run.slice, word.right->slice);
    if (!word.parting) {
        word.words = only(
            "the same instructions compute it in the right run, from values that "
            "differ");
        return word;
    }
    word.words = words_of(*word.parting, word.run, *word.right, launch.launch.block);
    word.writer = writer_of(*word.parting, word.run, *word.right);
    return word;
}

}  // namespace warpscope::emulator
