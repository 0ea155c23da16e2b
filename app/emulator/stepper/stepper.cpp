#include "emulator/stepper/stepper.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "emulator/program/error.h"
#include "emulator/stepper/block_stepper.h"
#include "emulator/stepper/step_recorder.h"
#include "emulator/stepper/warp_view.h"
#include "emulator/warp/float_mode.h"

namespace warpscope::emulator {

namespace {

constexpr std::size_t most_snapshot_bytes = 256 << 20;
constexpr std::size_t most_saved = 128;

/// The launch with the checks that Machine::run makes.
FrozenLaunch checked(const FrozenLaunch& launch, std::uint32_t block) {
    std::vector<const void*> arguments;
    for (const Parameter& p : launch.kernel->parameters)
        arguments.push_back(launch.arguments.data() + p.offset);
    FrozenLaunch frozen = Machine::freeze(*launch.kernel, launch.launch, arguments, launch.options);
    if (block >= launch.launch.grid.count())
        throw Error(fmt::format("kernel {}: there is no block {} in a launch of {} blocks",
                                launch.kernel->name, block, launch.launch.grid.count()));
    return frozen;
}

}  // namespace

struct Stepper::Session {
    Session(Machine& machine, FrozenLaunch frozen, std::uint32_t block);
    ~Session() { recorder.undo.move_to(0); }

    struct SavedPosition {
        std::uint64_t position = 0;
        BlockStepper::Saved block;
        Observations observed;
        std::size_t undo = 0;
    };

    void run_earlier_blocks();
    void start();
    /// One step of a warp, by default of the scheduled one; false when it cannot run.
    bool step(std::optional<std::uint32_t> warp);
    void execute(std::uint32_t warp);
    void seek(std::uint64_t target);
    void save_position();
    void forget_from(std::uint64_t position);
    bool is_open() const { return end == End::open; }
    /// For functions that run many steps: the launch's time limit counts from start_run().
    void start_run() { budget.restart_time(); }
    bool may_continue_run() const {
        return position % 1024 != 0 || budget.check_time() == Budget::Verdict::within;
    }
    using Line = std::pair<std::int32_t, std::int32_t>;  ///< file and line
    Line line_of(std::uint32_t pc) const;
    std::optional<Line> next_line(std::uint32_t warp) const;

    Machine& machine;
    FrozenLaunch launch;
    std::uint32_t block, sm;
    /// By virtual SM: copies, so that the machine's own shared memory does not change.
    std::vector<std::vector<std::byte>> shared;
    Budget budget;
    StepRecorder recorder;
    BlockStepper stepper;

    std::vector<Step> history;
    std::uint64_t position = 0;
    End end = End::open;
    std::string error;
    std::vector<SavedPosition> saved;  ///< by position; the first one is 0
    std::uint64_t distance = 64;       ///< between saved positions; doubles when there are too many
    std::size_t most_saved = 128;
};

Stepper::Session::Session(Machine& of, FrozenLaunch frozen, std::uint32_t which)
    : machine(of),
      launch(checked(frozen, which)),
      block(which),
      sm(which % of.virtual_sms()),
      budget(launch.options),
      recorder(of.memory(), launch),
      stepper(*launch.kernel, launch.launch, of.memory(), launch.arguments, launch.options,
              budget) {}

// Runs the earlier blocks of this virtual SM, whose shared memory the block finds; all earlier
// blocks if the kernel is order-dependent.
void Stepper::Session::run_earlier_blocks() {
    const Kernel& kernel = *launch.kernel;
    const std::size_t bytes = kernel.shared_bytes + launch.launch.dynamic_shared_bytes;
    const unsigned sms = machine.virtual_sms();
    for (unsigned k = 0; k < sms; ++k) {
        const auto memory = machine.shared_memory(k, bytes);
        shared.emplace_back(memory.begin(), memory.end());
    }
    if (!bytes && !kernel.order_dependent) return;
    const auto first = std::uint32_t(std::min<std::uint64_t>(launch.options.first_block, block));
    for (std::uint32_t b = first; b < block; ++b)
        if (kernel.order_dependent || b % sms == sm)
            stepper.run(b, b % sms, sms, shared[b % sms].data(), &recorder);
}

void Stepper::Session::start() {
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

Stepper::Stepper(Machine& machine, FrozenLaunch launch, std::uint32_t block)
    : session_(std::make_unique<Session>(machine, std::move(launch), block)) {
    const FloatMode mode(kernel().flush_subnormals);
    session_->start();
}

Stepper::~Stepper() = default;

bool Stepper::Session::step(std::optional<std::uint32_t> warp) {
    if (!is_open()) return false;
    const std::uint32_t w = warp.value_or(*stepper.scheduled_warp());
    if (!stepper.can_run(w)) return false;
    if (position < history.size() && history[position].warp != w) forget_from(position);
    execute(w);
    return true;
}

void Stepper::Session::execute(std::uint32_t warp) {
    Step step{std::uint8_t(warp), warp != stepper.scheduled_warp(), 0, 0};
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
    if (position == history.size())
        history.push_back(step);
    else
        history[position] = step;
    ++position;
    if (is_open() && position % distance == 0 && position > saved.back().position) save_position();
}

void Stepper::Session::save_position() {
    SavedPosition& s = saved.emplace_back();
    s.position = position;
    s.observed = recorder.observed;
    s.undo = recorder.undo.mark();
    s.block = stepper.save();
    if (saved.size() <= most_saved) return;
    distance *= 2;
    std::erase_if(saved, [&](const SavedPosition& old) { return old.position % distance != 0; });
}

void Stepper::Session::forget_from(std::uint64_t from) {
    history.resize(from);
    recorder.forget_from(from);
    while (saved.back().position > from) saved.pop_back();
}

void Stepper::Session::seek(std::uint64_t target) {
    target = std::min<std::uint64_t>(target, history.size());
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
    while (position < target && is_open() && stepper.can_run(history[position].warp))
        execute(history[position].warp);
}

Stepper::Session::Line Stepper::Session::line_of(std::uint32_t pc) const {
    const SourceLine& line = launch.kernel->lines[pc].source;
    return {line.file, line.file < 0 ? line.ptx_line : line.line};
}

std::optional<Stepper::Session::Line> Stepper::Session::next_line(std::uint32_t warp) const {
    if (!is_open() || !stepper.can_run(warp)) return std::nullopt;
    return line_of(stepper.next_pc(warp));
}

bool Stepper::step(std::optional<std::uint32_t> warp) {
    const FloatMode mode(kernel().flush_subnormals);
    return session_->step(warp);
}

void Stepper::step_line(std::optional<std::uint32_t> warp) {
    const FloatMode mode(kernel().flush_subnormals);
    Session& s = *session_;
    if (!s.is_open()) return;
    const std::uint32_t w = warp.value_or(*s.stepper.scheduled_warp());
    const auto line = s.next_line(w);
    s.start_run();
    while (line && s.next_line(w) == line && s.step(warp) && s.may_continue_run()) {
    }
}

void Stepper::step_barrier() {
    const FloatMode mode(kernel().flush_subnormals);
    const std::uint32_t before = epoch();
    session_->start_run();
    while (epoch() == before && session_->step({}) && session_->may_continue_run()) {
    }
}

void Stepper::run(std::uint64_t most) {
    const FloatMode mode(kernel().flush_subnormals);
    session_->start_run();
    while (position() < most && session_->step({}) && session_->may_continue_run()) {
    }
}

void Stepper::seek(std::uint64_t position) {
    const FloatMode mode(kernel().flush_subnormals);
    session_->seek(position);
}

void Stepper::back_line() {
    const Session& s = *session_;
    if (s.position == 0) return;
    std::uint64_t to = s.position - 1;
    const Step newest = s.history[to];
    for (std::uint64_t k = to; k-- > 0;) {
        if (s.history[k].warp != newest.warp) continue;
        if (s.line_of(s.history[k].pc) != s.line_of(newest.pc)) break;
        to = k;
    }
    seek(to);
}

void Stepper::back_barrier() {
    std::uint64_t to = 0;
    for (const std::uint64_t release : session_->recorder.releases())
        if (release + 1 < position()) to = release + 1;
    seek(to);
}

const FrozenLaunch& Stepper::launch() const {
    return session_->launch;
}
std::uint32_t Stepper::block() const {
    return session_->block;
}
std::uint64_t Stepper::position() const {
    return session_->position;
}
std::span<const Step> Stepper::history() const {
    return session_->history;
}
std::span<const BarrierWait> Stepper::waits() const {
    return session_->recorder.waits(session_->history.size());
}
Stepper::End Stepper::end() const {
    return session_->end;
}
const std::string& Stepper::error() const {
    return session_->error;
}
const std::string& Stepper::printed() const {
    return session_->stepper.printed().text();
}
std::uint32_t Stepper::epoch() const {
    return session_->recorder.observed.epoch;
}
std::optional<std::uint32_t> Stepper::next_warp() const {
    return session_->is_open() ? session_->stepper.scheduled_warp() : std::nullopt;
}
std::uint32_t Stepper::warps() const {
    return std::uint32_t(session_->stepper.warps().size());
}

WarpView Stepper::warp(std::uint32_t warp) const {
    return view_of(session_->stepper.warps()[warp], launch().options.barriers);
}

std::uint64_t Stepper::value(const RegisterInfo& reg, std::uint32_t warp, unsigned lane) const {
    const Warp& w = session_->stepper.warps()[warp];
    if (reg.bits == 1) return w.get<std::uint32_t>(reg.slot | 1, 0) >> lane & 1;
    if (reg.bits == 64) return w.get<std::uint64_t>(reg.slot, lane);
    return w.get<std::uint32_t>(reg.slot, lane) & (reg.bits == 16 ? 0xFFFFu : ~0u);
}

std::span<const std::byte> Stepper::shared_memory() const {
    const Session& s = *session_;
    return std::span<const std::byte>(s.shared[s.sm])
        .first(kernel().shared_bytes + launch().launch.dynamic_shared_bytes);
}

std::span<const WordView> Stepper::words() const {
    Observations& observed = session_->recorder.observed;
    const std::vector<bool>& racing = observed.races.racing_words();
    for (std::size_t w = 0; w < observed.words.size(); ++w) observed.words[w].hazard = racing[w];
    return observed.words;
}

std::vector<Finding> Stepper::findings() const {
    const Observations& observed = session_->recorder.observed;
    return merged({observed.races.findings(), observed.barriers.findings()});
}

std::optional<AccessView> Stepper::shared_access(std::uint32_t warp) const {
    return session_->recorder.observed.shared[warp];
}
std::optional<AccessView> Stepper::global_access(std::uint32_t warp) const {
    return session_->recorder.observed.global[warp];
}

}  // namespace warpscope::emulator
