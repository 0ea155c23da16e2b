#include "emulator/stepper/step_history.h"

#include <fmt/format.h>

#include <algorithm>

#include "emulator/machine/together/cluster_launch.h"
#include "emulator/program/error.h"

namespace warpscope::emulator {

namespace {

/// Returns the launch after the checks that Machine::run makes.
FrozenLaunch checked(const FrozenLaunch& launch, std::uint32_t block) {
    std::vector<const void*> arguments;
    for (const Parameter& p : launch.kernel->parameters)
        arguments.push_back(launch.arguments.data() + p.offset);
    FrozenLaunch frozen =
        Machine::freeze(*launch.kernel, launch.launch, arguments, launch.settings);
    if (block >= launch.launch.grid.count())
        throw Error(fmt::format("kernel {}: there is no block {} in a launch of {} blocks",
                                launch.kernel->name, block, launch.launch.grid.count()));
    if (frozen.launch.cooperative || ClusterLaunch::is_needed(*frozen.kernel, frozen.launch))
        throw Error(fmt::format(
            "kernel {}: the blocks of a {} wait for each other, so the microscope "
            "can't step through one of them",
            launch.kernel->name, frozen.launch.cooperative ? "cooperative launch" : "cluster"));
    return frozen;
}

}  // namespace

Stepper::StepHistory::StepHistory(Machine& of, FrozenLaunch frozen, std::uint32_t which)
    : machine(of),
      launch(checked(frozen, which)),
      block(which),
      sm(which % of.virtual_sms()),
      budget(launch.settings),
      recorder(of.memory(), launch),
      stepper(*launch.kernel, launch.launch, of.memory(), launch.arguments, launch.settings,
              budget) {}

// Runs the blocks whose shared memory the block finds: the earlier blocks of its virtual SM, or all
// earlier blocks if the kernel is order-dependent.
void Stepper::StepHistory::run_earlier_blocks() {
    const Kernel& kernel = *launch.kernel;
    const std::size_t bytes = kernel.shared_bytes + launch.launch.dynamic_shared_bytes;
    const unsigned sms = machine.virtual_sms();
    for (unsigned k = 0; k < sms; ++k) {
        const auto memory = machine.shared_memory(k, bytes);
        shared.emplace_back(memory.begin(), memory.end());
    }
    if (!bytes && !kernel.order_dependent) return;
    const auto first = std::uint32_t(std::min<std::uint64_t>(launch.settings.first_block, block));
    std::vector<std::uint32_t> earlier;
    for (std::uint32_t b = first; b < block; ++b)
        if (kernel.order_dependent || b % sms == sm) earlier.push_back(b);
    LaunchProgress* const progress = launch.settings.progress.get();
    if (progress) progress->begin(earlier.size());
    for (const std::uint32_t b : earlier) {
        stepper.run(b, b % sms, sms, shared[b % sms].data(), &recorder);
        if (progress) progress->add(1);
    }
}

void Stepper::StepHistory::start() {
    run_earlier_blocks();
    budget.count_instructions_only();
    recorder.begin();
    stepper.start(block, sm, machine.virtual_sms(), shared[sm].data(), recorder);
    save_position();
    constexpr std::size_t most_saved_bytes = 256 << 20;
    const BlockState& first = saved[0].block.block;
    const std::size_t bytes =
        first.registers.size() + first.local.size() + shared[sm].size() * sizeof(RaceCell);
    most_saved = std::clamp<std::size_t>(most_saved_bytes / (bytes + 1), 8, most_saved);
}

bool Stepper::StepHistory::step(std::optional<std::uint32_t> warp) {
    if (!is_open()) return false;
    const std::uint32_t w = warp.value_or(*stepper.scheduled_warp());
    if (!stepper.can_run(w)) return false;
    if (position < steps.size() && (steps[position].warp != w || steps[position].landed))
        forget_from(position);
    execute(w);
    return true;
}

bool Stepper::StepHistory::land(std::uint32_t number) {
    if (!is_open()) return false;
    const auto copies = stepper.async().in_flight();
    const auto copy = std::find_if(copies.begin(), copies.end(),
                                   [&](const AsyncCopy& c) { return c.number == number; });
    if (copy == copies.end()) return false;
    if (position < steps.size() && steps[position].landed != number) forget_from(position);
    const Step step{.warp = std::uint8_t(copy->warp),
                    .by_hand = true,
                    .landed = number,
                    .pc = copy->pc,
                    .mask = copy->parts};
    recorder.begin_step(position);
    stepper.land(number);
    add(step);
    return true;
}

bool Stepper::StepHistory::repeat() {
    const Step& known = steps[position];
    return known.landed ? land(known.landed) : step(known.warp);
}

void Stepper::StepHistory::execute(std::uint32_t warp) {
    Step step{.warp = std::uint8_t(warp), .by_hand = warp != stepper.scheduled_warp()};
    recorder.begin_step(position);
    try {
        stepper.step(warp);
        if (stepper.finished()) end = End::finished;
    } catch (const Error& e) {
        end = End::failed;
        error = e.what();
        recorder.on_error(block, e);
    }
    step.pc = stepper.executed().pc;
    step.mask = stepper.executed().mask;
    add(step);
}

void Stepper::StepHistory::add(const Step& step) {
    if (position == steps.size())
        steps.push_back(step);
    else
        steps[position] = step;
    ++position;
    if (is_open() && position % distance == 0 && position > saved.back().position) save_position();
}

void Stepper::StepHistory::save_position() {
    SavedPosition& s = saved.emplace_back();
    s.position = position;
    s.observed = recorder.observed;
    s.undo = recorder.undo.mark();
    s.block = stepper.save();
    if (saved.size() <= most_saved) return;
    distance *= 2;
    std::erase_if(saved, [&](const SavedPosition& old) { return old.position % distance != 0; });
}

void Stepper::StepHistory::forget_from(std::uint64_t from) {
    steps.resize(from);
    recorder.forget_from(from);
    while (saved.back().position > from) saved.pop_back();
}

void Stepper::StepHistory::seek(std::uint64_t target) {
    target = std::min<std::uint64_t>(target, steps.size());
    const auto after =
        std::upper_bound(saved.begin(), saved.end(), target,
                         [](std::uint64_t p, const SavedPosition& s) { return p < s.position; });
    const SavedPosition& nearest = *(after - 1);
    if (target < position || nearest.position > position) {
        recorder.undo.move_to(nearest.undo);
        stepper.restore(nearest.block);
        recorder.observed = nearest.observed;
        position = nearest.position;
        end = End::open;
        error.clear();
    }
    while (position < target && is_open() && repeat()) {
    }
}

Stepper::StepHistory::Line Stepper::StepHistory::line_of(std::uint32_t pc) const {
    const SourceLine& line = launch.kernel->lines[pc].source;
    return {line.file, line.file < 0 ? line.ptx_line : line.line};
}

std::optional<Stepper::StepHistory::Line> Stepper::StepHistory::next_line(
    std::uint32_t warp) const {
    if (!is_open() || !stepper.can_run(warp)) return std::nullopt;
    return line_of(stepper.next_pc(warp));
}

}  // namespace warpscope::emulator
