#include "emulator/stepper/stepper.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "emulator/machine/block.h"
#include "emulator/machine/float_mode.h"
#include "emulator/program/error.h"
#include "emulator/stepper/stepper_record.h"

namespace warpscope::emulator {

namespace {

constexpr size_t most_snapshot_bytes = 256 << 20;
constexpr size_t most_snapshots = 128;

// The launch as Machine would check and run it.
FrozenLaunch checked(const FrozenLaunch& launch, uint32_t block) {
    std::vector<const void*> arguments;
    for (const Parameter& p : launch.kernel->parameters)
        arguments.push_back(launch.arguments.data() + p.offset);
    FrozenLaunch same = Machine::freeze(*launch.kernel, launch.launch, arguments, launch.options);
    if (block >= launch.launch.grid.count())
        throw Error(fmt::format("kernel {}: there is no block {} in a launch of {}",
                                launch.kernel->name, block, launch.launch.grid.count()));
    return same;
}

}  // namespace

struct Stepper::State {
    State(Machine& machine, FrozenLaunch frozen, uint32_t block);
    ~State() { recorder.undo.move_to(0); }

    struct Snapshot {
        uint64_t position = 0;
        BlockRunner::Snapshot block;
        Sight sight;
        size_t undo = 0;
    };

    void run_predecessors();
    // Steps; false when that warp can't.
    bool go(std::optional<uint32_t> warp);
    void execute(uint32_t warp);
    void seek(uint64_t target);
    void remember();
    void forget(uint64_t from);
    bool is_open() const { return end == End::open; }
    // Running ahead: the launch's time limit counts from start_run(), and is looked at now and
    // then.
    void start_run() { budget.restart(); }
    bool may_run_on() const {
        return position % 1024 != 0 || budget.look() == Budget::Verdict::goes_on;
    }
    using Line = std::pair<int32_t, int32_t>;  // file and line
    Line line_of(uint32_t pc) const;
    std::optional<Line> line_ahead(uint32_t warp);

    Machine& machine;
    FrozenLaunch launch;
    uint32_t block, sm;
    std::vector<std::vector<std::byte>> shared;  // by virtual SM: the machine's own stays as it is
    Budget budget;
    StepRecorder recorder;
    BlockRunner runner;

    std::vector<Step> history;
    uint64_t position = 0;
    End end = End::open;
    std::string error;
    std::vector<Snapshot> snapshots;  // by position, the first at 0
    uint64_t distance = 64;           // between them, in steps; doubles when they are too many
    size_t most = most_snapshots;
};

Stepper::State::State(Machine& of, FrozenLaunch frozen, uint32_t which)
    : machine(of),
      launch(checked(frozen, which)),
      block(which),
      sm(which % of.virtual_sms()),
      budget(launch.options),
      recorder(of.memory(), launch),
      runner(*launch.kernel, launch.launch, of.memory(), launch.arguments, launch.options, budget) {
}

// Blocks whose shared memory this one finds; those whose atomics tell the order all come before.
void Stepper::State::run_predecessors() {
    const Kernel& kernel = *launch.kernel;
    const size_t bytes = kernel.shared_bytes + launch.launch.dynamic_shared_bytes;
    const unsigned sms = machine.virtual_sms();
    for (unsigned k = 0; k < sms; ++k) {
        const auto memory = machine.shared_memory(k, bytes);
        shared.emplace_back(memory.begin(), memory.end());
    }
    if (!bytes && !kernel.order_dependent) return;
    for (auto b = uint32_t(std::min<uint64_t>(launch.options.first_block, block)); b < block; ++b)
        if (kernel.order_dependent || b % sms == sm)
            runner.run(b, b % sms, sms, shared[b % sms].data(), &recorder);
}

Stepper::Stepper(Machine& machine, FrozenLaunch launch, uint32_t block)
    : state_(std::make_unique<State>(machine, std::move(launch), block)) {
    State& s = *state_;
    const FloatMode mode(kernel().flush_subnormals);
    s.run_predecessors();
    s.budget.set_untimed();
    s.recorder.begin();
    s.runner.stand(block, s.sm, machine.virtual_sms(), s.shared[s.sm].data(), s.recorder);
    s.remember();
    const size_t bytes = s.snapshots[0].block.registers.size() + s.snapshots[0].block.local.size() +
                         s.shared[s.sm].size() * 32;
    s.most = std::clamp<size_t>(most_snapshot_bytes / (bytes + 1), 8, most_snapshots);
}

Stepper::~Stepper() = default;

bool Stepper::State::go(std::optional<uint32_t> warp) {
    if (!is_open()) return false;
    const uint32_t w = warp.value_or(*runner.turn_of());
    if (!runner.can_run(w)) return false;
    if (position < history.size() && history[position].warp != w) forget(position);
    execute(w);
    return true;
}

void Stepper::State::execute(uint32_t warp) {
    Step step{uint8_t(warp), warp != runner.turn_of(), 0, 0};
    recorder.begin_step(position);
    try {
        runner.step(warp);
        if (runner.finished()) end = End::finished;
    } catch (const Error& e) {
        end = End::failed;
        error = e.what();
        recorder.on_error(block, e);
    }
    step.pc = runner.executed().pc;
    step.mask = runner.executed().mask;
    if (position == history.size())
        history.push_back(step);
    else
        history[position] = step;
    ++position;
    if (is_open() && position % distance == 0 && position > snapshots.back().position) remember();
}

void Stepper::State::remember() {
    Snapshot& s = snapshots.emplace_back();
    s.position = position;
    s.sight = recorder.sight;
    s.undo = recorder.undo.mark();
    runner.save(s.block);
    if (snapshots.size() <= most) return;
    distance *= 2;
    std::erase_if(snapshots, [&](const Snapshot& old) { return old.position % distance != 0; });
}

void Stepper::State::forget(uint64_t from) {
    history.resize(from);
    recorder.forget(from);
    while (snapshots.back().position > from) snapshots.pop_back();
}

void Stepper::State::seek(uint64_t target) {
    target = std::min<uint64_t>(target, history.size());
    const auto after =
        std::upper_bound(snapshots.begin(), snapshots.end(), target,
                         [](uint64_t p, const Snapshot& s) { return p < s.position; });
    const Snapshot& nearest = *(after - 1);
    if (target < position || nearest.position > position) {
        recorder.undo.move_to(nearest.undo);
        runner.restore(nearest.block);
        recorder.sight = nearest.sight;
        position = nearest.position;
        end = End::open;
        error.clear();
    }
    while (position < target && is_open() && runner.can_run(history[position].warp))
        execute(history[position].warp);
}

Stepper::State::Line Stepper::State::line_of(uint32_t pc) const {
    const SourceLine& line = launch.kernel->lines[pc].source;
    return {line.file, line.file < 0 ? line.ptx_line : line.line};
}

std::optional<Stepper::State::Line> Stepper::State::line_ahead(uint32_t warp) {
    if (!is_open() || !runner.can_run(warp)) return std::nullopt;
    return line_of(runner.pc_ahead(warp));
}

bool Stepper::step(std::optional<uint32_t> warp) {
    const FloatMode mode(kernel().flush_subnormals);
    return state_->go(warp);
}

void Stepper::step_line(std::optional<uint32_t> warp) {
    const FloatMode mode(kernel().flush_subnormals);
    State& s = *state_;
    if (!s.is_open()) return;
    const uint32_t w = warp.value_or(*s.runner.turn_of());
    const auto line = s.line_ahead(w);
    s.start_run();
    while (line && s.line_ahead(w) == line && s.go(warp) && s.may_run_on()) {
    }
}

void Stepper::step_barrier() {
    const FloatMode mode(kernel().flush_subnormals);
    const uint32_t before = epoch();
    state_->start_run();
    while (epoch() == before && state_->go({}) && state_->may_run_on()) {
    }
}

void Stepper::run(uint64_t most) {
    const FloatMode mode(kernel().flush_subnormals);
    state_->start_run();
    while (position() < most && state_->go({}) && state_->may_run_on()) {
    }
}

void Stepper::seek(uint64_t position) {
    const FloatMode mode(kernel().flush_subnormals);
    state_->seek(position);
}

void Stepper::back_line() {
    const State& s = *state_;
    if (s.position == 0) return;
    uint64_t to = s.position - 1;
    const Step newest = s.history[to];
    for (uint64_t k = to; k-- > 0;) {
        if (s.history[k].warp != newest.warp) continue;
        if (s.line_of(s.history[k].pc) != s.line_of(newest.pc)) break;
        to = k;
    }
    seek(to);
}

void Stepper::back_barrier() {
    uint64_t to = 0;
    for (const uint64_t release : state_->recorder.releases())
        if (release + 1 < position()) to = release + 1;
    seek(to);
}

const FrozenLaunch& Stepper::launch() const {
    return state_->launch;
}
uint32_t Stepper::block() const {
    return state_->block;
}
uint64_t Stepper::position() const {
    return state_->position;
}
std::span<const Step> Stepper::history() const {
    return state_->history;
}
std::span<const BarrierWait> Stepper::waits() const {
    return state_->recorder.waits(state_->history.size());
}
Stepper::End Stepper::end() const {
    return state_->end;
}
const std::string& Stepper::error() const {
    return state_->error;
}
const std::string& Stepper::printed() const {
    return state_->runner.printed().text();
}
uint32_t Stepper::epoch() const {
    return state_->recorder.sight.epoch;
}
std::optional<uint32_t> Stepper::next_warp() const {
    return state_->is_open() ? state_->runner.turn_of() : std::nullopt;
}
uint32_t Stepper::warps() const {
    return uint32_t(state_->runner.warps().size());
}

WarpView Stepper::warp(uint32_t warp) const {
    return view_of(kernel(), state_->runner.warps()[warp], launch().options.barriers);
}

uint64_t Stepper::value(const RegisterInfo& reg, uint32_t warp, unsigned lane) const {
    const Warp& w = state_->runner.warps()[warp];
    if (reg.bits == 1) return w.get<uint32_t>(reg.slot | 1, 0) >> lane & 1;
    if (reg.bits == 64) return w.get<uint64_t>(reg.slot, lane);
    return w.get<uint32_t>(reg.slot, lane) & (reg.bits == 16 ? 0xFFFFu : ~0u);
}

std::span<const std::byte> Stepper::shared_memory() const {
    const State& s = *state_;
    return std::span<const std::byte>(s.shared[s.sm])
        .first(kernel().shared_bytes + launch().launch.dynamic_shared_bytes);
}

std::span<const WordView> Stepper::words() const {
    Sight& sight = state_->recorder.sight;
    const std::vector<bool>& racing = sight.races.racing_words();
    for (size_t w = 0; w < sight.words.size(); ++w) sight.words[w].hazard = racing[w];
    return sight.words;
}

std::vector<Finding> Stepper::findings() const {
    const Sight& sight = state_->recorder.sight;
    return merged({sight.races.findings(), sight.barriers.findings()});
}

std::optional<AccessView> Stepper::shared_access(uint32_t warp) const {
    return state_->recorder.sight.shared[warp];
}
std::optional<AccessView> Stepper::global_access(uint32_t warp) const {
    return state_->recorder.sight.global[warp];
}

}  // namespace warpscope::emulator
