#include "emulator/fast_paths/alike/alike_events.h"

#include <utility>

namespace warpscope::emulator {

AlikeEvents::AlikeEvents(Observer& observer, BlockContext& block, const std::stop_token& stop,
                         const BlockLikeness* likeness, bool independent_warps, bool has_model)
    : BlockEvents(observer, block, stop, std::make_shared<ReportedBlock>()),
      model_(*block.kernel, *block.launch, likeness, independent_warps) {
    for (Observer* part : observer.parts()) {
        BlockSummaries* const summaries = part->summaries();
        (summaries ? followers_ : others_).add(*part);
        if (!summaries) continue;
        summaries_.push_back(summaries);
        if (part->wants_shared_accesses()) of_shared_accesses_.push_back(summaries);
    }
    nothing_.distances = model_.position().distances;
    reported().events = this;
    write_broadcasts(told_together);
    if (!has_model || summaries_.empty() || observer.wants_instructions(*block.kernel))
        model_.turn_off();
}

void AlikeEvents::write_broadcasts(std::size_t most) {
    reported().next_load = loads_.data();
    reported().loads_end = loads_.data() + most;
}

void AlikeEvents::block_begin() {
    write_broadcasts(told_together);  // the block before may have failed
    model_.begin_block();
    told_ = told_foreseen_ = &observer_;
    std::uint32_t wanted = wanted_by(observer_, *block_.kernel);
    if (wanted & Instruction::shared_access) wanted |= wants_foreseen;
    if (observer_.wants_global_loads()) wanted |= wants_global_loads;
    want(wanted, observer_.wants_barriers());
    if (model_.is_followed()) begin_to_follow();
    reported().model = told_ ? &nothing_ : &model_.position();
    tell([&](Observer& o) { o.on_block_begin(*block_.kernel, block_.block); });
    if (model_.is_recording()) summarize([](BlockSummaries& s) { s.on_model_begin(); });
}

void AlikeEvents::begin_to_follow() {
    Observer* const others = others_.parts().empty() ? nullptr : &others_;
    told_ = told_foreseen_ = others;
    if (!model_.is_proved()) {
        write_broadcasts(1);  // the block leaves the model, at this place
        return;
    }
    std::uint32_t wanted = this->wanted() & ~(wants_foreseen | Instruction::warp_sync);
    if (others) wanted |= wanted_by(*others, *block_.kernel);
    if (others && others->wants_shared_accesses()) wanted |= wants_foreseen;
    if (!model_.has_unforeseen() && !(others && others->wants_shared_accesses()))
        wanted &= ~std::uint32_t(Instruction::shared_access);
    want(wanted, others && others->wants_barriers());
}

void AlikeEvents::block_end(const Statistics& of_block) {
    tell_broadcasts();
    if (model_.is_followed() && !model_.is_at_end()) leave_model();
    tell([&](Observer& o) { o.on_block_end(block_.block, of_block); });
    bool is_good = model_.is_recording();
    if (is_good) summarize([&](BlockSummaries& s) { is_good &= !s.refuses_model(); });
    if (model_.end_block(is_good)) summarize([&](BlockSummaries& s) { s.on_model(model_); });
    if (model_.is_followed())
        summarize([&](BlockSummaries& s) { s.on_followed(model_, block_.block, of_block); });
}

void AlikeEvents::leave_model() {
    followers_.on_block_begin(*block_.kernel, block_.block);
    if (model_.is_proved()) summarize([&](BlockSummaries& s) { s.on_proved_block(model_); });
    model_.leave(
        block_.block,
        [&](const Access& a, BlockModel::Kind kind) {
            kind == BlockModel::Kind::shared_access ? followers_.on_shared_access(a)
                                                    : followers_.on_global_access(a);
        },
        [&](const BarrierArrival& arrival) { followers_.on_barrier_arrival(arrival); },
        [&](const BarrierRelease& release) { followers_.on_barrier_release(release); },
        [&](std::uint32_t warp, std::uint32_t members) {
            followers_.on_warp_sync(block_.block, warp, members);
        });
    told_ = &observer_;
    if (!model_.is_proved()) told_foreseen_ = &observer_;
}

template <typename... Event>
void AlikeEvents::compare(const Event&... event) {
    if (model_.is_followed()) {
        if (!model_.has(event...)) leave_model();
    } else if (model_.is_recording()) {
        model_.record(event...);
    }
}

void AlikeEvents::error(const Error& error) {
    tell_broadcasts();
    if (model_.is_followed()) leave_model();
    BlockEvents::error(error);
}

void AlikeEvents::shared_access(const Access& access) {
    const auto tell_access = [&](Observer& o) { o.on_shared_access(access); };
    if (model_.is_foreseen(access.pc)) {
        tell_foreseen(tell_access, access, BlockModel::Kind::shared_access);
    } else {
        compare(access, BlockModel::Kind::shared_access);
        tell(tell_access);
    }
}

void AlikeEvents::global_access(const Access& access) {
    const std::size_t moves = model_.moves().size();
    compare(access, BlockModel::Kind::global_access);
    if (model_.is_followed()) {
        if (model_.moves().size() > moves) {
            bool needs = false;
            summarize([&](BlockSummaries& s) {
                needs |= s.needs_values(access.pc, model_.moves().back().distance);
            });
            model_.set_needs_values(needs);
        }
        if (model_.needs_values(access.pc))
            summarize([&](BlockSummaries& s) { s.on_stored_values(access); });
    }
    tell([&](Observer& o) { o.on_global_access(access); });
}

void AlikeEvents::warp_sync(std::uint32_t warp, std::uint32_t members) {
    tell_foreseen([&](Observer& o) { o.on_warp_sync(block_.block, warp, members); }, warp, members);
}

void AlikeEvents::arrival(const BarrierArrival& arrival) {
    tell_foreseen([&](Observer& o) { o.on_barrier_arrival(arrival); }, arrival);
}

void AlikeEvents::release(const BarrierRelease& release) {
    tell_foreseen([&](Observer& o) { o.on_barrier_release(release); }, release);
}

// Which of these loads compiled code writes down depends on the schedule.
void AlikeEvents::tell_written_broadcasts() {
    if (!model_.is_proved()) {
        if (model_.is_followed()) leave_model();
        model_.turn_off();
    }
    const std::span<const BroadcastLoad> loads(loads_.data(), reported().next_load);
    write_broadcasts(told_together);
    if (told_foreseen_ == &observer_)
        for (BlockSummaries* s : of_shared_accesses_) s->on_broadcasts(loads);
    if (others_.wants_shared_accesses())
        for (const BroadcastLoad& load : loads) others_.on_shared_access(emulator::access_of(load));
}

bool AlikeEvents::report(const Instruction* i, const Warp& warp, const std::uint64_t* addresses,
                         unsigned consecutive_lanes) noexcept {
    Access access = access_of(i, warp, addresses);
    access.checked = true;
    access.consecutive = consecutive_lanes == lanes_per_warp;
    access.consecutive_halves = consecutive_lanes != 0;
    try {
        tell_broadcasts();
        if (block_.kernel->lines[access.pc].space == Space::shared)
            shared_access(access);
        else
            global_access(access);
    } catch (...) {
        failure_ = std::current_exception();
    }
    return failure_ || must_end();
}

bool AlikeEvents::report_broadcasts() noexcept {
    try {
        tell_broadcasts();
    } catch (...) {
        failure_ = std::current_exception();
    }
    return failure_ || must_end();
}

void AlikeEvents::announce(const Instruction* i, const Warp& warp) noexcept {
    try {
        if (i->events & wanted()) before_instruction(i, warp);
    } catch (...) {
        failure_ = std::current_exception();
    }
}

MakeBlockEvents alike_events(const Kernel& kernel, bool independent_warps, bool has_model) {
    return [likeness = likeness_of(kernel), independent_warps, has_model](
               Observer& observer, BlockContext& block, const std::stop_token& stop) {
        return std::make_unique<AlikeEvents>(observer, block, stop, likeness.get(),
                                             independent_warps, has_model);
    };
}

}  // namespace warpscope::emulator
