#include "emulator/slice/slice.h"

#include <algorithm>
#include <bit>
#include <optional>
#include <ranges>
#include <unordered_map>

#include "emulator/handlers/handlers.h"
#include "emulator/program/error.h"
#include "emulator/ptx/opcodes.h"
#include "emulator/slice/kernel_statements.h"

namespace warpscope::emulator {
namespace {

bool is_exchange(const Kernel& kernel, std::uint32_t pc) {
    return opcode_of(kernel.code[pc].operation).kind == OpcodeKind::exchanges;
}

std::uint64_t operand(const Stepper& stepper, std::uint32_t slot, std::uint8_t bits,
                      std::uint32_t warp, unsigned lane) {
    return stepper.value({.name = {}, .slot = slot, .bits = bits}, warp, lane);
}

template <class Event>
std::span<const Event> of_step(const std::vector<Event>& all, std::uint64_t step) {
    const auto begin = std::ranges::lower_bound(all, step, {}, &Event::step);
    auto end = begin;
    while (end != all.end() && end->step == step) ++end;
    return {begin, end};
}

}  // namespace

BlockTrace::BlockTrace(Stepper& stepper, const std::stop_token& stop)
    : kernel_(&stepper.kernel()), warps_(stepper.warps()) {
    waiting_.resize(warps_);
    steps_.assign(stepper.history().begin(), stepper.history().end());
    stepper.seek(0);
    stepper.tell(this);
    for (now_ = 0; now_ < steps_.size() && !stop.stop_requested(); ++now_) {
        before(stepper, now_);
        // seek() would go to a saved position and execute nothing.
        stepper.run_until(now_ + 1, [] { return true; });
        after(stepper, now_);
        const Step& step = steps_[now_];
        if (!step.landed) of_pc_[{step.warp, step.pc}].push_back(now_);
    }
    stepper.tell(nullptr);
    if (stop.stop_requested()) throw Stopped("the trace was stopped");
}

void BlockTrace::before(const Stepper& stepper, std::uint64_t number) {
    const Step& step = steps_[number];
    if (step.landed) return;
    const Instruction& i = kernel_->code[step.pc];
    const InstructionInfo& info = kernel_->lines[step.pc];
    if (info.access != MemoryAccess::none &&
        (info.space == Space::local || info.space == Space::generic))
        note_local(stepper, step);
    if (i.operation != Operation::shfl) return;
    for (unsigned lane = 0; lane < 32; ++lane)
        next_.from[lane] = std::uint8_t(
            shuffle_source(ShuffleMode(i.detail), lane,
                           std::uint32_t(operand(stepper, i.operands[3], 32, step.warp, lane)),
                           std::uint32_t(operand(stepper, i.operands[4], 32, step.warp, lane)))
                .value_or(lane));
}

/// Lanes wait until the others have come; then all get their results in one step.
void BlockTrace::after(const Stepper& stepper, std::uint64_t number) {
    const Step& step = steps_[number];
    std::uint32_t& waiting = waiting_[step.warp];
    if (step.landed || (!waiting && !is_exchange(*kernel_, step.pc))) return;
    std::uint32_t still = 0;
    for (const SplitView& split : stepper.warp(step.warp).splits)
        if (split.state == SplitView::State::at_warp_sync) still |= split.mask;
    const std::uint32_t come = waiting | (is_exchange(*kernel_, step.pc) ? step.mask : 0);
    if (come & ~still) {
        next_.step = number;
        next_.mask = come & ~still;
        exchanges_.push_back(next_);
    }
    waiting = come & still;
}

void BlockTrace::note_local(const Stepper& stepper, const Step& step) {
    const Instruction& i = kernel_->code[step.pc];
    const InstructionInfo& info = kernel_->lines[step.pc];
    const AccessForm form(i.target);
    TracedAccess access{
        .step = now_, .space = Space::local, .kind = info.access, .bytes = info.bytes};
    for (std::uint32_t lanes = step.mask; lanes; lanes &= lanes - 1) {
        const auto lane = unsigned(std::countr_zero(lanes));
        std::uint64_t address = operand(stepper, i.operands[info.address_operand],
                                        form.wide_address ? 64 : 32, step.warp, lane) +
                                std::uint64_t(i.immediate);
        if (!form.wide_address) address = std::uint32_t(address);
        if (info.space == Space::generic) {
            if (address - local_window >= window_size) continue;
            address -= local_window;
        }
        access.mask |= 1u << lane;
        access.addresses[lane] = address;
    }
    if (access.mask) accesses_.push_back(access);
}

void BlockTrace::note(const Access& access, Space space) {
    if (access.asynchronous) return;  // it accesses memory when it lands
    TracedAccess& traced = accesses_.emplace_back(TracedAccess{.step = now_,
                                                               .space = space,
                                                               .kind = access.kind,
                                                               .mask = access.mask,
                                                               .bytes = access.bytes});
    for (std::uint32_t lanes = access.mask; lanes; lanes &= lanes - 1) {
        const auto lane = unsigned(std::countr_zero(lanes));
        traced.addresses[lane] = access.address(lane);
    }
}

void BlockTrace::on_async(std::uint32_t, const AsyncEvent& event) {
    if (event.kind == AsyncEvent::copy_started) started_[event.copy->number] = now_;
    if (event.kind != AsyncEvent::copy_lands) return;
    landings_.push_back({now_, started_[event.copy->number], *event.copy});
    landings_.back().copy.parts = event.parts;
}

std::span<const TracedAccess> BlockTrace::accesses(std::uint64_t step) const {
    return of_step(accesses_, step);
}

std::span<const TracedLanding> BlockTrace::landings(std::uint64_t step) const {
    return of_step(landings_, step);
}

const TracedExchange* BlockTrace::exchange(std::uint64_t step) const {
    const auto found = of_step(exchanges_, step);
    return found.empty() ? nullptr : found.data();
}

std::uint32_t BlockTrace::executions_before(std::uint64_t step, unsigned lane) const {
    std::uint32_t count = 0;
    for (const std::uint64_t earlier : of_pc_.at({steps_[step].warp, steps_[step].pc})) {
        if (earlier >= step) break;
        count += steps_[earlier].mask >> lane & 1;
    }
    return count;
}

std::optional<std::uint64_t> BlockTrace::step_of(std::uint32_t warp, unsigned lane,
                                                 std::uint32_t pc, std::uint32_t executions) const {
    const auto found = of_pc_.find({warp, pc});
    if (found == of_pc_.end()) return {};
    for (const std::uint64_t step : found->second)
        if ((steps_[step].mask >> lane & 1) && executions-- == 0) return step;
    return {};
}

namespace {

using Kind = SliceSource::Kind;

/// What can hold a value: a register of a thread, or a byte of memory, as one number.
struct Location {
    static std::uint64_t reg(std::uint32_t thread, std::int32_t index) {
        return std::uint64_t(thread) << 32 | std::uint32_t(index);
    }
    static std::uint64_t byte(Space space, std::uint32_t thread, std::uint64_t address) {
        if (space == Space::shared) return 1ull << 62 | address;
        if (space == Space::global) return 2ull << 62 | address;
        return 3ull << 62 | std::uint64_t(thread) << 40 | address;
    }
};

/// Walks back over the steps of a block and keeps what is still wanted: locations, with the nodes
/// that have read them.
class Slicer {
  public:
    explicit Slicer(const BlockTrace& trace)
        : trace_(trace), statements_(trace.kernel()), registers_(statements_.registers()) {
        wanted_lanes_.resize(std::size_t(trace.warps()) * registers_);
        undecided_.resize(std::size_t(trace.warps()) * 32);
    }
    Slice run(GlobalBytes bytes) {
        want_bytes(of_bytes, Space::global, 0, bytes.address, bytes.count);
        for (std::uint64_t step = trace_.steps().size(); step-- > 0 && !slice_.is_cut;)
            walk_over(step);
        name_inputs();
        finish(slice_.bytes);
        for (SliceNode& node : slice_.nodes) finish(node.sources);
        return std::move(slice_);
    }

  private:
    static constexpr std::uint32_t of_bytes = ~0u;  ///< in place of a node
    using Nodes = std::vector<std::uint32_t>;

    std::vector<SliceSource>& sources_of(std::uint32_t node) {
        return node == of_bytes ? slice_.bytes : slice_.nodes[node].sources;
    }
    static void finish(std::vector<SliceSource>& sources) {
        std::ranges::sort(sources);
        sources.erase(std::unique(sources.begin(), sources.end()), sources.end());
    }
    void want_register(std::uint32_t node, unsigned lane, std::int32_t reg) {
        if (const Statement* copied = statements_.only_copy(reg)) {
            for (const Operand& operand : copied->operands | std::views::drop(1))
                want_operand(node, *copied, operand, lane);
            return;
        }
        wanted_lanes_[warp_ * registers_ + std::size_t(reg)] |= 1u << lane;
        want(node, Location::reg(warp_ * 32 + lane, reg));
    }
    void want_operand(std::uint32_t node, const Statement& of, const Operand& operand,
                      unsigned lane) {
        if (operand.kind == Operand::register_) want_register(node, lane, operand.index);
        if (operand.kind == Operand::special)
            sources_of(node).push_back({Kind::special, std::uint64_t(special_named(operand.name))});
        if (operand.kind == Operand::symbol && of.has("param"))
            sources_of(node).push_back(
                {Kind::parameter, statements_.parameter_offset(operand.name)});
        for (const Operand& element : operand.elements) want_operand(node, of, element, lane);
    }
    void want_bytes(std::uint32_t node, Space space, std::uint32_t thread, std::uint64_t address,
                    std::uint32_t bytes) {
        for (std::uint32_t k = 0; k < bytes; ++k)
            want(node, Location::byte(space, thread, address + k));
    }
    void want(std::uint32_t node, std::uint64_t location) {
        Nodes& nodes = wanting_[location];
        if (nodes.empty() || nodes.back() != node) nodes.push_back(node);
    }
    bool is_wanted(Space space, std::uint32_t thread, std::uint64_t address,
                   std::uint32_t bytes) const {
        for (std::uint32_t k = 0; k < bytes; ++k)
            if (wanting_.contains(Location::byte(space, thread, address + k))) return true;
        return false;
    }
    /// The node of a step and lane; made when it is first asked for.
    std::uint32_t node_at(std::uint64_t step, std::uint32_t warp, unsigned lane);
    /// Whoever wants this location has it from `node`.
    void satisfy(std::uint32_t node, std::uint64_t location) {
        const auto found = wanting_.find(location);
        if (found == wanting_.end()) return;
        for (const std::uint32_t reader : found->second)
            sources_of(reader).push_back({Kind::instruction, node});
        wanting_.erase(found);
    }
    void satisfy_bytes(std::uint32_t node, Space space, std::uint32_t thread, std::uint64_t address,
                       std::uint32_t bytes) {
        for (std::uint32_t k = 0; k < bytes; ++k)
            satisfy(node, Location::byte(space, thread, address + k));
    }

    void walk_over(std::uint64_t step);
    void walk_over_landing(const TracedLanding& landing);
    void take_branch(std::uint64_t step);
    void take_registers(std::uint64_t step, const StatementEffects& effects, std::uint32_t lanes);
    void take_stores(std::uint64_t step, const StatementEffects& effects);
    void take_update(std::uint64_t step, const TracedAccess& access, unsigned lane);
    void want_sources(std::uint64_t step, const StatementEffects& effects, unsigned lane);
    void want_memory(std::uint64_t step, const StatementEffects& effects, unsigned lane);
    void name_inputs();

    const BlockTrace& trace_;
    KernelStatements statements_;
    std::size_t registers_;
    Slice slice_;
    std::unordered_map<std::uint64_t, Nodes> wanting_;
    std::vector<std::uint32_t> wanted_lanes_;  ///< by warp and register
    std::vector<Nodes> undecided_;             ///< by thread: nodes whose branch has not come yet
    std::map<std::pair<std::uint64_t, unsigned>, std::uint32_t>
        started_;  ///< nodes of copies whose start has not come yet, by step and lane
    // For the step that is walked over:
    std::size_t warp_ = 0;
    std::array<std::uint32_t, 32> node_of_lane_{};
    std::array<std::uint32_t, 32> wanted_results_{};  ///< by lane: which of its results
    std::uint32_t lanes_ = 0;                         ///< that have a node
};

std::uint32_t Slicer::node_at(std::uint64_t step, std::uint32_t warp, unsigned lane) {
    const Step& taken = trace_.steps()[step];
    if (slice_.nodes.size() >= Slice::most_nodes) slice_.is_cut = true;
    slice_.nodes.push_back({.step = step,
                            .warp = warp,
                            .lane = lane,
                            .pc = taken.pc,
                            .executions = trace_.executions_before(step, lane),
                            .sources = {}});
    return std::uint32_t(slice_.nodes.size() - 1);
}

void Slicer::walk_over(std::uint64_t step) {
    const auto landings = trace_.landings(step);
    for (std::size_t k = landings.size(); k-- > 0;) walk_over_landing(landings[k]);
    const Step& taken = trace_.steps()[step];
    if (taken.landed) return;
    warp_ = taken.warp;
    lanes_ = 0;
    wanted_results_.fill(0);
    const StatementEffects& effects = statements_.of(taken.pc);
    std::uint32_t lanes = taken.mask;
    if (effects.is_exchange) {
        const TracedExchange* exchange = trace_.exchange(step);
        lanes = exchange ? exchange->mask : 0;
    }
    if (statements_.is_branch(taken.pc)) take_branch(step);
    take_registers(step, effects, lanes);
    take_stores(step, effects);
    for (auto at = started_.lower_bound({step, 0}); at != started_.end() && at->first.first == step;
         at = started_.erase(at)) {
        node_of_lane_[at->first.second] = at->second;
        lanes_ |= 1u << at->first.second;
    }
    for (std::uint32_t left = lanes_; left; left &= left - 1)
        want_sources(step, effects, unsigned(std::countr_zero(left)));
}

/// A branch decides on the nodes of each lane that depend on it and come next.
void Slicer::take_branch(std::uint64_t step) {
    const Step& taken = trace_.steps()[step];
    for (std::uint32_t left = taken.mask; left; left &= left - 1) {
        const auto lane = unsigned(std::countr_zero(left));
        Nodes& undecided = undecided_[warp_ * 32 + lane];
        const auto decided = std::ranges::partition(undecided, [&](std::uint32_t node) {
            return !statements_.decides(taken.pc, slice_.nodes[node].pc);
        });
        if (decided.empty()) continue;
        const std::uint32_t branch = node_at(step, std::uint32_t(warp_), lane);
        node_of_lane_[lane] = branch;
        lanes_ |= 1u << lane;
        for (const std::uint32_t node : decided)
            sources_of(node).push_back({Kind::instruction, branch});
        undecided.erase(decided.begin(), decided.end());
    }
}

/// Finds the lanes whose results are wanted.
void Slicer::take_registers(std::uint64_t step, const StatementEffects& effects,
                            std::uint32_t lanes) {
    for (std::size_t k = 0; k < effects.results.size(); ++k) {
        const std::int32_t reg = effects.results[k];
        if (reg < 0) continue;
        std::uint32_t& wanted = wanted_lanes_[warp_ * registers_ + std::size_t(reg)];
        for (std::uint32_t hit = wanted & lanes; hit; hit &= hit - 1) {
            const auto lane = unsigned(std::countr_zero(hit));
            if (!(lanes_ >> lane & 1))
                node_of_lane_[lane] = node_at(step, std::uint32_t(warp_), lane);
            lanes_ |= 1u << lane;
            wanted_results_[lane] |= 1u << std::min<std::size_t>(k, 31);
            satisfy(node_of_lane_[lane], Location::reg(std::uint32_t(warp_) * 32 + lane, reg));
        }
        wanted &= ~lanes;
    }
}

/// Where several lanes store to one address, the highest lane comes last.
void Slicer::take_stores(std::uint64_t step, const StatementEffects& effects) {
    const auto accesses = trace_.accesses(step);
    for (std::size_t k = accesses.size(); k-- > 0;) {
        const TracedAccess& access = accesses[k];
        if (access.kind == MemoryAccess::load) continue;
        for (unsigned lane = 32; lane-- > 0;) {
            if (!(access.mask >> lane & 1)) continue;
            const auto thread = std::uint32_t(warp_) * 32 + lane;
            const std::uint64_t address = access.addresses[lane];
            const bool wanted = is_wanted(access.space, thread, address, access.bytes);
            if (!wanted && !(effects.updates_memory && (lanes_ >> lane & 1))) continue;
            if (!(lanes_ >> lane & 1))
                node_of_lane_[lane] = node_at(step, std::uint32_t(warp_), lane);
            lanes_ |= 1u << lane;
            for (std::size_t e = 0; e < effects.stored.size(); ++e)
                if (is_wanted(access.space, thread, address + e * effects.element_bytes,
                              effects.element_bytes))
                    wanted_results_[lane] |= 1u << e;
            satisfy_bytes(node_of_lane_[lane], access.space, thread, address, access.bytes);
            if (effects.updates_memory)
                want_bytes(node_of_lane_[lane], access.space, thread, address, access.bytes);
        }
    }
}

void Slicer::want_sources(std::uint64_t step, const StatementEffects& effects, unsigned lane) {
    const std::uint32_t node = node_of_lane_[lane];
    const Statement& s = *effects.statement;
    undecided_[warp_ * 32 + lane].push_back(node);
    if (s.guard >= 0) want_register(node, lane, s.guard);
    if (effects.reads_carry) want_register(node, lane, statements_.carry());
    if (effects.input != Kind::instruction) sources_of(node).push_back({effects.input, 0});
    const TracedExchange* exchange = effects.is_exchange ? trace_.exchange(step) : nullptr;
    const std::uint32_t others = exchange                   ? exchange->mask
                                 : effects.is_of_whole_warp ? trace_.steps()[step].mask
                                                            : 1u << lane;
    for (std::size_t k = effects.first_source; k < s.operands.size(); ++k) {
        const bool is_stored = k == effects.stored_operand;
        if (is_stored && !effects.is_of_whole_warp && !effects.updates_memory) {
            for (std::size_t e = 0; e < effects.stored.size(); ++e)
                if ((wanted_results_[lane] >> e & 1) && effects.stored[e] >= 0)
                    want_register(node, lane, effects.stored[e]);
        } else if (exchange && effects.is_shuffle) {
            want_operand(node, s, s.operands[k],
                         k == effects.first_source ? exchange->from[lane] : lane);
        } else if (exchange || effects.is_of_whole_warp) {
            for (std::uint32_t left = others; left; left &= left - 1)
                want_operand(node, s, s.operands[k], unsigned(std::countr_zero(left)));
        } else {
            want_operand(node, s, s.operands[k], lane);
        }
    }
    want_memory(step, effects, lane);
}

/// Wants the bytes from which a load has the results that are wanted.
void Slicer::want_memory(std::uint64_t step, const StatementEffects& effects, unsigned lane) {
    const std::uint32_t node = node_of_lane_[lane];
    for (const TracedAccess& access : trace_.accesses(step)) {
        if (access.kind != MemoryAccess::load) continue;
        for (unsigned of = 0; of < 32; ++of) {
            if (!(access.mask >> of & 1) || (of != lane && !effects.is_of_whole_warp)) continue;
            const auto thread = std::uint32_t(warp_) * 32 + of;
            if (effects.is_of_whole_warp) {
                want_bytes(node, access.space, thread, access.addresses[of], access.bytes);
                continue;
            }
            for (std::uint32_t e = 0; e * effects.element_bytes < access.bytes; ++e)
                if (wanted_results_[lane] >> e & 1)
                    want_bytes(node, access.space, thread,
                               access.addresses[of] + e * effects.element_bytes,
                               effects.element_bytes);
        }
    }
}

/// The copy belongs to the lane that has started it: its registers are wanted there.
void Slicer::walk_over_landing(const TracedLanding& landing) {
    const AsyncCopy& copy = landing.copy;
    const Space to = copy.to_shared ? Space::shared : Space::global;
    const Space from = copy.from_shared ? Space::shared : Space::global;
    const auto place = [&](std::uint64_t address, Space space) {
        return space == Space::shared ? swizzled(copy.swizzle, address) : address;
    };
    for (std::uint32_t parts = copy.to_rank < 0 ? copy.parts : 0; parts; parts &= parts - 1) {
        const auto part = unsigned(std::countr_zero(parts));
        const unsigned lane = copy.lane_of(part);
        for (std::uint32_t k = 0; k < copy.bytes[part]; ++k) {
            const std::uint64_t byte = Location::byte(to, 0, place(copy.to[part] + k, to));
            if (!wanting_.contains(byte)) continue;
            const auto [found, is_new] = started_.try_emplace({landing.started, lane}, 0);
            if (is_new) found->second = node_at(landing.started, copy.warp, lane);
            satisfy(found->second, byte);
            if (!copy.has_values && k < copy.read[part])
                want(found->second, Location::byte(from, 0, place(copy.from[part] + k, from)));
        }
    }
}

/// Locations that are still wanted at the start of the block are inputs.
void Slicer::name_inputs() {
    for (const auto& [location, nodes] : wanting_) {
        const std::uint64_t low = location & ((1ull << 40) - 1);
        SliceSource source{Kind::undefined, location & 0xFFFF'FFFF};
        if (location >> 62 == 1) source = {Kind::shared, low & ~3ull};
        if (location >> 62 == 2) source = {Kind::global, (location & ~(3ull << 62)) & ~3ull};
        if (location >> 62 == 3) source = {Kind::local, low & ~3ull};
        for (const std::uint32_t node : nodes) sources_of(node).push_back(source);
    }
}

void set_values(Slice& slice, const KernelStatements& statements, Stepper& stepper) {
    for (std::size_t k = slice.nodes.size(); k-- > 0;) {
        SliceNode& node = slice.nodes[k];
        const RegisterInfo* reg = statements.shown_register(node.pc);
        if (!reg) continue;
        // What an instruction stores is there before it, and its result behind it.
        stepper.seek(node.step + (statements.of(node.pc).stored.empty() ? 1 : 0));
        node.value = stepper.value(*reg, node.warp, node.lane);
    }
    stepper.seek(stepper.history().size());
}

}  // namespace

Slice backward_slice(const BlockTrace& trace, GlobalBytes bytes, Stepper* stepper) {
    Slice slice = Slicer(trace).run(bytes);
    // Nodes of copies came when these landed.
    std::vector<std::uint32_t> order(slice.nodes.size()), place(slice.nodes.size());
    for (std::uint32_t k = 0; k < order.size(); ++k) order[k] = k;
    std::ranges::stable_sort(order, std::greater<>(),
                             [&](std::uint32_t k) { return slice.nodes[k].step; });
    for (std::uint32_t k = 0; k < order.size(); ++k) place[order[k]] = k;
    std::vector<SliceNode> sorted;
    const auto renumber = [&](std::vector<SliceSource>& sources) {
        for (SliceSource& source : sources)
            if (source.kind == SliceSource::Kind::instruction) source.at = place[source.at];
        std::ranges::sort(sources);
    };
    for (const std::uint32_t k : order) {
        renumber(slice.nodes[k].sources);
        sorted.push_back(std::move(slice.nodes[k]));
    }
    slice.nodes = std::move(sorted);
    renumber(slice.bytes);
    if (stepper) set_values(slice, KernelStatements(trace.kernel()), *stepper);
    return slice;
}

}  // namespace warpscope::emulator
