#include "emulator/fast_paths/alike/block_model.h"

#include <algorithm>
#include <bit>
#include <utility>

namespace warpscope::emulator {

namespace {

/// True when the lanes of `mask` have equal addresses.
bool are_equal(const std::uint64_t* some, const std::uint64_t* others, std::uint32_t mask) {
    std::uint64_t differs = 0;
    if (mask == all_lanes) {
        for (unsigned lane = 0; lane < lanes_per_warp; ++lane) differs |= some[lane] ^ others[lane];
    } else {
        for (std::uint32_t m = mask; m; m &= m - 1) {
            const auto lane = unsigned(std::countr_zero(m));
            differs |= some[lane] ^ others[lane];
        }
    }
    return differs == 0;
}

}  // namespace

BlockModel::BlockModel(const Kernel& kernel, const LaunchShape& launch,
                       const BlockLikeness* likeness, bool independent_warps)
    : threads_(std::uint32_t(launch.block.count())),
      steps_((threads_ + lanes_per_warp - 1) / lanes_per_warp),
      distances_(kernel.code.size()) {
    global_accesses_.resize(kernel.code.size());
    is_foreseen_.resize(kernel.code.size());
    for (std::uint32_t pc = 0; likeness && pc < kernel.code.size(); ++pc)
        is_foreseen_[pc] = likeness->is_foreseen(kernel, pc);
    is_proved_ = independent_warps && likeness && proves(kernel, *likeness);
    position_.distances = distances_.data();
    for (std::uint32_t pc = 0; pc < kernel.code.size(); ++pc) {
        const InstructionInfo& info = kernel.lines[pc];
        global_accesses_[pc].writes = info.access != MemoryAccess::load;
        if (info.space != Space::shared) distances_[pc] = ModelPosition::no_distance;
        if (is_proved_ && info.access != MemoryAccess::none && info.space == Space::shared &&
            !is_foreseen(pc))
            unforeseen_.push_back(pc);
    }
}

// Loads that are not foreseen change nothing for others. Those of one address by all lanes are told
// in another way (BlockSummaries::on_broadcasts()).
bool BlockModel::proves(const Kernel& kernel, const BlockLikeness& likeness) {
    if (!likeness.obstacle.empty()) return false;
    for (std::uint32_t pc = 0; pc < kernel.code.size(); ++pc) {
        const InstructionInfo& info = kernel.lines[pc];
        if (info.access == MemoryAccess::none) continue;
        if (info.space == Space::generic) return false;
        if (info.space != Space::shared || likeness.is_foreseen(kernel, pc)) continue;
        if (info.access != MemoryAccess::load ||
            likeness.places[pc].access.address != Likeness::equal ||
            kernel.code[pc].events & Instruction::uniform_shared)
            return false;
    }
    return true;
}

// Other blocks then read no word that the model does not read. Each thread executes such a load at
// most once.
bool BlockModel::has_all_unforeseen() const {
    for (const std::uint32_t pc : unforeseen_) {
        std::uint32_t threads = 0;
        for_shared_accesses([&](const Access& a) {
            if (a.pc == pc) threads += lane_count(a.mask);
        });
        if (threads != threads_) return false;
    }
    return true;
}

void BlockModel::forget() {
    is_complete_ = false;
    for (std::vector<ModelStep>& steps : steps_) steps.clear();
    accesses_ = std::make_shared<ModelAccesses>();  // observers may keep the others
    arrivals_.clear();
    releases_.clear();
    for (GlobalAccesses& range : global_accesses_) range.begin = ~0ull, range.end = 0;
    number_of_steps_ = 0;
}

// Blocks that differ more often than not are not worth the comparison. A model that the next block
// follows again is kept.
void BlockModel::fail() {
    constexpr std::uint32_t most_failures = 8, most_recordings = 16;
    ++failures_;
    const bool may_record = recordings_ < most_recordings;
    if (may_record && std::exchange(has_failed_, !has_failed_)) is_complete_ = false;
    const bool is_worth_it = failures_ < most_failures + matches_ / 4;
    state_ = is_worth_it && (is_complete_ || may_record) ? State::left : State::off;
}

void BlockModel::begin_block() {
    if (state_ == State::off) return;
    if (state_ == State::first_block) {
        state_ = State::left;
        return;
    }
    for (const Move& move : moves_) {
        global_accesses_[move.pc].is_moved = false;
        distances_[move.pc] = ModelPosition::no_distance;
    }
    moves_.clear();
    released_ = 0;
    position_.next_warp = order_.data();
    state_ = is_complete_ ? State::following : State::recording;
    if (is_complete_) {
        for (std::size_t w = 0; w < steps_.size(); ++w) position_.next[w] = steps_[w].data();
        return;
    }
    forget();
    ++recordings_;
}

bool BlockModel::end_block(bool is_good) {
    if (state_ == State::following) {
        ++matches_;
        has_failed_ = false;
        leave_position();
    }
    if (state_ != State::recording) return false;
    if (!is_good || !has_all_unforeseen()) {
        fail();
        return false;
    }
    is_complete_ = true;
    has_failed_ = false;
    for (std::vector<ModelStep>& steps : steps_) steps.push_back(ModelPosition::no_step);
    order_.resize(number_of_steps_);
    return true;
}

bool BlockModel::add(std::uint32_t warp, const ModelStep& step) {
    constexpr std::size_t most_steps = 1 << 15;  // 12 MiB
    if (number_of_steps_ == most_steps) {
        turn_off();
        forget();
        return false;
    }
    ++number_of_steps_;
    steps_[warp].push_back(step);
    return true;
}

void BlockModel::record(const Access& a, Kind kind) {
    using Shape = ModelStep::Shape;
    const bool is_known = a.same_address || (is_proved_ && kind == Kind::shared_access);
    const bool are_halves = !is_known && a.consecutive_halves;
    const auto first = std::size_t(std::countr_zero(a.mask));
    const std::uint64_t second = are_halves ? a.lane_addresses[half_warp] : 0;
    if (!add(a.warp, {.addresses = {a.lane_addresses[first], second},
                      .mask = a.mask,
                      .pc = a.pc,
                      .details = std::uint32_t(accesses_->size()),
                      .kind = kind,
                      .shape = is_known     ? Shape::first
                               : are_halves ? Shape::halves
                                            : Shape::lanes}))
        return;
    accesses_->add(a, kind == Kind::global_access);
    if (kind == Kind::shared_access) return;
    const std::uint32_t lanes = a.same_address ? a.mask & (0 - a.mask) : a.mask;
    GlobalAccesses& range = global_accesses_[a.pc];
    for (std::uint32_t m = lanes; m; m &= m - 1) {
        const std::uint64_t address = a.lane_addresses[std::countr_zero(m)];
        range.begin = std::min(range.begin, address);
        range.end = std::max(range.end, address + a.bytes);
    }
}

void BlockModel::record(const BarrierArrival& arrival) {
    if (add(arrival.warp, {.mask = arrival.mask,
                           .pc = arrival.pc,
                           .details = std::uint32_t(arrivals_.size()),
                           .kind = Kind::arrival}))
        arrivals_.push_back(arrival);
}

void BlockModel::record(const BarrierRelease& release) {
    releases_.push_back({release, number_of_steps_});
}

void BlockModel::record(std::uint32_t warp, std::uint32_t members) {
    add(warp, {.mask = members, .kind = Kind::warp_sync});
}

bool BlockModel::has(const Access& a, Kind kind) {
    const ModelStep* const step = next(a.warp, kind, a.mask);
    if (!step || step->pc != a.pc) return false;
    const std::uint64_t moved = a.lane_addresses[std::countr_zero(a.mask)] - step->addresses[0];
    std::uint64_t distance = 0;
    if (kind == Kind::global_access) {
        GlobalAccesses& range = global_accesses_[a.pc];
        if (!range.is_moved && !move(a, moved)) return false;
        distance = range.moved_by;
    }
    if (moved != distance) return false;
    const auto are_moved = [&] {
        ModelAccesses::Addresses addresses;
        accesses_->moved(step->details, distance, addresses);
        return are_equal(addresses.data(), a.lane_addresses, a.mask);
    };
    const bool is_equal = step->shape == ModelStep::Shape::first ||
                          (step->shape == ModelStep::Shape::halves && a.consecutive_halves
                               ? a.lane_addresses[half_warp] - step->addresses[1] == distance
                               : are_moved());
    return is_equal && follow(a.warp);
}

// From now on the accesses of this instruction are moved; false where they may meet those of other
// instructions in another way than in the model.
bool BlockModel::move(const Access& a, std::uint64_t distance) {
    if (distance % a.bytes != 0) return false;
    GlobalAccesses& range = global_accesses_[a.pc];
    for (const Move& earlier : moves_) {
        const GlobalAccesses& other = global_accesses_[earlier.pc];
        if (other.moved_by == distance || !(range.writes || other.writes)) continue;
        const bool apart = range.end <= other.begin || other.end <= range.begin;
        const bool stay_apart = range.end + distance <= other.begin + other.moved_by ||
                                other.end + other.moved_by <= range.begin + distance;
        if (!apart || !stay_apart) return false;
    }
    range.moved_by = distance;
    range.is_moved = true;
    moves_.push_back({a.pc, distance});
    return true;
}

bool BlockModel::has(const BarrierArrival& a) {
    const ModelStep* const step = next(a.warp, Kind::arrival, a.mask);
    if (!step || step->pc != a.pc) return false;
    const BarrierArrival& b = arrivals_[step->details];
    if (a.live != b.live || a.barrier != b.barrier || a.expected != b.expected) return false;
    return follow(a.warp);
}

bool BlockModel::has(const BarrierRelease& release) {
    if (released_ == releases_.size()) return false;
    const auto& [model, steps] = releases_[released_];
    if (followed() != steps || release.barrier != model.barrier ||
        release.live_threads != model.live_threads)
        return false;
    ++released_;
    return true;
}

bool BlockModel::has(std::uint32_t warp, std::uint32_t members) {
    return next(warp, Kind::warp_sync, members) && follow(warp);
}

}  // namespace warpscope::emulator
