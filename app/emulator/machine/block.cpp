#include "emulator/machine/block.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstdlib>

#include "emulator/machine/splitmix64.h"
#include "emulator/program/error.h"

namespace warpscope::emulator {

namespace {

// A warp that spins on another one's store must not run for ever.
constexpr uint64_t longest_turn = 1 << 18;
// Instructions between two looks at the launch's budget, unless a turn is longer.
constexpr uint64_t accounted_at_once = 1 << 15;

constexpr size_t most_local_bytes = 512 << 20;  // of a block

std::byte* aligned_bytes(size_t bytes) {
    auto* p = static_cast<std::byte*>(std::aligned_alloc(64, (bytes + 127) / 64 * 64));
    if (!p) throw Error(fmt::format("the emulator can't allocate {} bytes for a block", bytes));
    return p;
}

}  // namespace

void BlockRunner::Free::operator()(std::byte* p) const {
    std::free(p);
}

BlockRunner::BlockRunner(const Kernel& kernel, const Launch& launch, const Memory& memory,
                         std::span<const std::byte> arguments, const Options& options,
                         Budget& budget)
    : kernel_(kernel), launch_(launch), options_(options), budget_(budget) {
    switches_ = kernel.has_barrier || kernel.uses_shared;
    context_.kernel = &kernel_;
    context_.launch = &launch_;
    context_.memory = &memory;
    context_.arguments = arguments;
    context_.shared_bytes = kernel.shared_bytes + launch.dynamic_shared_bytes;
    const uint64_t threads = launch.block.count();
    const auto warps = uint32_t((threads + lanes_per_warp - 1) / lanes_per_warp);
    // Rows of different warps start on different cache sets.
    const size_t stride = (kernel.register_bytes + 63) / 64 * 64 + 64;
    register_bytes_ = stride * warps;
    registers_.reset(aligned_bytes(register_bytes_));
    if (kernel.local_bytes) {
        local_bytes_ = size_t(kernel.local_bytes) * threads;
        if (local_bytes_ > most_local_bytes)
            throw Error(
                fmt::format("kernel {}: its {} threads of a block need {} MiB of local memory, "
                            "more than {} MiB",
                            kernel.name, threads, local_bytes_ >> 20, most_local_bytes >> 20));
        local_.reset(aligned_bytes(local_bytes_));
        context_.local = local_.get();
    }
    warps_.resize(warps);
    for (uint32_t w = 0; w < warps; ++w) {
        Warp& warp = warps_[w];
        warp.index = w;
        warp.registers = registers_.get() + stride * w;
        warp.block = &context_;
        const uint64_t left = threads - uint64_t(w) * lanes_per_warp;
        warp.threads = left >= lanes_per_warp ? all_lanes : (1u << left) - 1;
    }
    prepare_registers(arguments);
}

void BlockRunner::prepare_registers(std::span<const std::byte> arguments) {
    for (Warp& warp : warps_) {
        std::memset(warp.registers, 0, kernel_.register_bytes);
        for (const auto& [slot, value] : kernel_.constants)
            std::memcpy(warp.registers + slot, &value, sizeof(value));
        if (!arguments.empty())
            std::memcpy(warp.registers + kernel_.argument_slot, arguments.data(), arguments.size());
        for (const SpecialSlot& s : kernel_.specials) fill_special(s, warp);
    }
}

// Special registers that stay the same from block to block.
void BlockRunner::fill_special(const SpecialSlot& s, Warp& warp) {
    const Dim3 &b = launch_.block, &g = launch_.grid;
    const auto lane_value = [&](unsigned lane) -> uint32_t {
        const uint32_t t = warp.index * lanes_per_warp + lane;
        const uint32_t bit = 1u << lane;
        switch (s.special) {
            case Special::tid_x:
                return t % b.x;
            case Special::tid_y:
                return t / b.x % b.y;
            case Special::tid_z:
                return t / b.x / b.y;
            case Special::laneid:
                return lane;
            case Special::lanemask_eq:
                return bit;
            case Special::lanemask_le:
                return bit | (bit - 1);
            case Special::lanemask_lt:
                return bit - 1;
            case Special::lanemask_ge:
                return ~(bit - 1);
            case Special::lanemask_gt:
                return ~(bit | (bit - 1));
            case Special::ntid_x:
                return b.x;
            case Special::ntid_y:
                return b.y;
            case Special::ntid_z:
                return b.z;
            case Special::nctaid_x:
                return g.x;
            case Special::nctaid_y:
                return g.y;
            case Special::nctaid_z:
                return g.z;
            case Special::warpid:
                return warp.index;
            case Special::nwarpid:
                return uint32_t(warps_.size());
            case Special::dynamic_smem_size:
                return launch_.dynamic_shared_bytes;
            case Special::total_smem_size:
                return context_.shared_bytes;
            default:
                return 0;
        }
    };
    const unsigned count = s.slot & 1 ? 1 : lanes_per_warp;
    for (unsigned lane = 0; lane < count; ++lane) warp.set(s.slot, lane, lane_value(lane));
}

void BlockRunner::begin(uint32_t block, uint32_t sm, uint32_t sm_count, std::byte* shared) {
    context_.block = block;
    context_.sm = sm;
    context_.shared = shared;
    context_.clock = 0;
    context_.printed = {};
    context_.live_threads = uint32_t(launch_.block.count());
    clear_local();
    barriers_.fill({});
    epoch_ = 0;
    random_state_ = splitmix64(splitmix64(options_.seed) ^ block);
    runnable_ = uint32_t((1ull << warps_.size()) - 1);
    last_ = options_.schedule == Schedule::reverse ? 0 : uint32_t(warps_.size()) - 1;
    const Dim3& g = launch_.grid;
    for (Warp& warp : warps_) {
        for (const SpecialSlot& s : kernel_.specials) {
            uint32_t value;
            switch (s.special) {
                case Special::ctaid_x:
                    value = block % g.x;
                    break;
                case Special::ctaid_y:
                    value = block / g.x % g.y;
                    break;
                case Special::ctaid_z:
                    value = block / g.x / g.y;
                    break;
                case Special::smid:
                    value = sm;
                    break;
                case Special::nsmid:
                    value = sm_count;
                    break;
                default:
                    continue;
            }
            warp.set(s.slot, 0, value);
        }
        for (const RegisterInfo& r : kernel_.cleared) {
            const size_t bytes = r.slot & 1 ? 8 : lanes_per_warp * (r.bits == 64 ? 8 : 4);
            std::memset(warp.registers + (r.slot & ~1u), 0, bytes);
        }
        warp.begin(kernel_.code.data());
    }
}

// What a block before has left there depends on the number of host threads; the picture must not.
void BlockRunner::clear_local() {
    for (size_t thread = 0; thread < local_bytes_; thread += kernel_.local_bytes)
        std::memset(&local_[thread], 0, kernel_.cleared_local_bytes);
}

void BlockRunner::run(uint32_t block, uint32_t sm, uint32_t sm_count, std::byte* shared,
                      Observer* observer) {
    begin(block, sm, sm_count, shared);
    observer_ = observer && observer->wants(block) ? observer : nullptr;
    if (observer_) {
        wanted_ = wanted_by(*observer_);
        run_observed();
    } else {
        run_warps<false>();
    }
    account(0);
}

uint64_t BlockRunner::random() {
    random_state_ ^= random_state_ << 13;  // xorshift64
    random_state_ ^= random_state_ >> 7;
    random_state_ ^= random_state_ << 17;
    return random_state_;
}

Warp* BlockRunner::pick_warp() {
    if (!runnable_) return nullptr;
    if (options_.schedule == Schedule::random_quantum && switches_) {
        // The first that can run from a random one on: cheaper than an even choice, as random.
        const auto first = uint32_t((random() >> 32) * warps_.size() >> 32);
        const uint32_t above = runnable_ & (~0u << first);
        last_ = uint32_t(std::countr_zero(above ? above : runnable_));
    } else if (options_.schedule == Schedule::manual) {
        last_ = first_in_order();
    } else if (options_.schedule == Schedule::reverse) {
        const uint32_t below = runnable_ & ((1u << last_) - 1);
        last_ = 31 - uint32_t(std::countl_zero(below ? below : runnable_));
    } else {
        const uint32_t above = last_ == 31 ? 0 : runnable_ & (~0u << (last_ + 1));
        last_ = uint32_t(std::countr_zero(above ? above : runnable_));
    }
    return &warps_[last_];
}

uint32_t BlockRunner::first_in_order() const {
    if (!options_.orders.empty())
        for (const uint32_t w :
             options_.orders[std::min<size_t>(epoch_, options_.orders.size() - 1)])
            if (runnable_ >> w & 1) return w;
    return uint32_t(std::countr_zero(runnable_));
}

// Races show where warps are at different places shortly after a barrier (or the start), so a
// warp's turns are short there; their scale doubles from turn to turn, which makes switching cheap
// in long stretches between barriers. A fixed scale would cost too much or hide most races.
uint64_t BlockRunner::turn_length(Warp& warp) {
    if (options_.schedule != Schedule::random_quantum || !switches_) return longest_turn;
    const unsigned doublings = std::min(warp.turns++, 12u);
    return 1 + ((random() >> 32) * (uint64_t(48) << doublings) >> 32);
}

template <bool observed>
void BlockRunner::run_warps() {
    while (Warp* warp = pick_warp()) {
        turn<observed>(*warp, turn_length(*warp));
        if (!next_split(*warp)) runnable_ &= ~(1u << warp->index);
    }
    if (context_.live_threads > 0) report_deadlock();
}

template <bool observed>
void BlockRunner::turn(Warp& warp, uint64_t instructions) {
    warp.left = int64_t(instructions);
    while (const Instruction* i = enter_split(warp)) {
        const int64_t before = warp.left;
        if constexpr (observed) {
            const uint32_t wanted = wanted_;
            do {
                if (i->events & wanted) observe(i, warp);
                i = i->handlers[warp.mode](i, warp);
            } while (i);
        } else {
            do i = i->handlers[warp.mode](i, warp);
            while (i);
        }
        if (!leave_split(warp, before)) return;
    }
}

// The split that goes on first; nullptr when none can. With one program counter none can while a
// part of the warp waits at a barrier.
const Split* BlockRunner::next_split(const Warp& warp) const {
    const Split* found = nullptr;
    for (const Split& s : warp.splits) {
        if (s.state == Split::runnable && !found) found = &s;
        if (found && !one_counter()) return found;
        if (s.state == Split::at_barrier && one_counter()) return nullptr;
    }
    return found;
}

// Makes that the running one; nullptr when the turn is over or none can run.
const Instruction* BlockRunner::enter_split(Warp& warp) {
    const Split* next = warp.left > 0 ? next_split(warp) : nullptr;
    if (!next) return nullptr;
    warp.enter(uint32_t(next - warp.splits.data()));
    return next->pc;
}

// The running split can't go on: true when the turn may go on with another one.
bool BlockRunner::leave_split(Warp& warp, int64_t before) {
    account(uint64_t(before - warp.left));
    switch (warp.outcome) {
        case Warp::Outcome::paused:
            warp.leave();
            // The next turn is another split's.
            if (!one_counter())
                std::rotate(warp.splits.begin(), warp.splits.begin() + 1, warp.splits.end());
            return false;
        case Warp::Outcome::split_gone:
            threads_left();
            break;
        case Warp::Outcome::at_barrier:
            warp.leave();
            arrive_at_barrier(warp);
            return false;
        case Warp::Outcome::at_warp_sync:
            warp.leave();
            break;
    }
    if (warp.splits.empty()) return false;
    const int64_t left = warp.left;
    if (observer_)
        complete_observed_syncs(warp);
    else
        while (warp.complete_warp_sync()) {
        }
    warp.left = left;
    return true;
}

void BlockRunner::account(uint64_t instructions) {
    context_.clock += instructions;
    unaccounted_ += instructions;
    if (instructions > 0 && unaccounted_ < accounted_at_once) return;
    statistics_.warp_instructions += unaccounted_;
    const Budget::Verdict verdict = budget_.take(unaccounted_);
    unaccounted_ = 0;
    if (verdict != Budget::Verdict::goes_on) report_end(verdict);
    if (instructions > 0) return;
    for (Warp& warp : warps_) {
        statistics_.thread_instructions += warp.thread_instructions;
        warp.thread_instructions = 0;
    }
}

void BlockRunner::run_observed() {
    const Statistics before = statistics_;
    observer_->on_block_begin(kernel_, context_.block);
    try {
        run_warps<true>();
        account(0);
    } catch (const Error& e) {
        observer_->on_error(context_.block, e);
        throw;
    }
    observer_->on_block_end(context_.block, statistics_ - before);
}

}  // namespace warpscope::emulator
