#include "emulator/stepper/step_history.h"

#include <algorithm>

#include "emulator/machine/together/launch_together.h"
#include "emulator/program/error.h"
#include "emulator/stepper/blocks_together.h"

namespace warpscope::emulator {

namespace {

/// The launch as a block sees it: turns of blocks that run together are not those of another one.
FrozenLaunch launch_of(FrozenLaunch launch, std::uint32_t block) {
    std::vector<std::uint32_t>& together = launch.settings.together;
    if (together.empty() || std::ranges::find(together, block) != together.end()) return launch;
    together.clear();
    launch.settings.turns.clear();
    return launch;
}

}  // namespace

Stepper::StepHistory::StepHistory(Machine& of, FrozenLaunch frozen, std::uint32_t which)
    : machine(of),
      launch(launch_of(checked_launch(frozen, which), which)),
      block(which),
      sm(which % of.virtual_sms()),
      budget(launch.settings),
      recorder(of.memory(), launch, which),
      stepper(*launch.kernel, launch.launch, of.memory(), launch.arguments, launch.settings,
              budget) {}

void Stepper::StepHistory::start() {
    const std::size_t bytes = blocks_run_together(launch) ? start_together() : start_alone();
    save_position();
    constexpr std::size_t most_saved_bytes = 256 << 20;
    most_saved = std::clamp<std::size_t>(
        most_saved_bytes / (bytes + shared.size() * sizeof(RaceCell) + bytes_of_tiles() + 1), 8,
        most_saved);
}

std::size_t Stepper::StepHistory::bytes_of_tiles() const {
    std::size_t words = 0;
    for (const Observations::Tile& tile : recorder.observed.tiles) words += tile.words.size();
    return words * sizeof(WordView);
}

std::size_t Stepper::StepHistory::start_alone() {
    of_sms = run_earlier_blocks(machine, launch, block, stepper, recorder);
    const std::size_t bytes = launch.kernel->shared_bytes + launch.launch.dynamic_shared_bytes;
    shared = std::span(of_sms[sm]).first(bytes);
    budget.count_instructions_only();
    recorder.begin();
    stepper.begin_turns(block, sm, machine.virtual_sms(), shared.data(), &recorder);
    stepper.start(nullptr);
    return bytes_of_block(*launch.kernel, launch.launch);
}

std::size_t Stepper::StepHistory::start_together() {
    together.emplace(machine, launch, block, budget, stepper);
    shared = together->shared_memory();
    together->run_earlier(recorder);
    budget.count_instructions_only();
    recorder.begin();
    together->begin(recorder);
    stepper.start(&together->blocks());
    return together->bytes();
}

std::uint32_t Stepper::StepHistory::cluster_phase() const {
    const Cluster* const cluster = together ? together->cluster() : nullptr;
    return cluster ? cluster->phase() : 0;
}

void Stepper::StepHistory::note_cluster_phase(std::uint32_t before) {
    for (std::uint32_t phase = before; phase < cluster_phase(); ++phase)
        recorder.timeline.mark({.kind = BlockMark::cluster_phase, .phase = phase});
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
    if (!step.by_hand) step.turn = std::uint16_t(std::min(stepper.listed_turn(), 0xFFFFu));
    recorder.begin_step(position);
    const std::uint32_t phase = cluster_phase();
    try {
        stepper.step(warp);
        if (stepper.finished()) end = End::finished;
    } catch (const Error& e) {
        end = End::failed;
        error = e.words;
        recorder.on_error(e.block.value_or(block), e);
    }
    note_cluster_phase(phase);
    step.pc = stepper.executed().pc;
    step.mask = stepper.executed().mask;
    step.reads_old = stepper.executed().reads_old;
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
        error = {};
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
