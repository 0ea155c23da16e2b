#include "emulator/counters/access_counters.h"

#include <algorithm>
#include <bit>

#include "emulator/async/async_copies.h"
#include "emulator/program/lanes.h"
#include "emulator/warp/warp.h"

namespace warpscope::emulator {

namespace {

// True when each lane of the mask has the address of lane ^ distance, if that lane is in the mask.
bool in_pairs(std::span<const std::uint64_t, 32> addresses, std::uint32_t mask, unsigned distance) {
    for (std::uint32_t m = mask; m; m &= m - 1) {
        const auto lane = unsigned(std::countr_zero(m));
        const unsigned other = lane ^ distance;
        if (mask >> other & 1 && addresses[lane] != addresses[other]) return false;
    }
    return true;
}

std::uint32_t lanes_from(unsigned first, unsigned count) {
    return all_lanes >> (lanes_per_warp - count) << first;
}

// How many lanes the pass that begins with lane `first` serves.
unsigned pass_width(std::span<const std::uint64_t, 32> addresses, std::uint32_t mask,
                    std::uint32_t bytes, unsigned first) {
    if (bytes <= 4) return lanes_per_warp;
    const unsigned most = bytes <= 8 ? lanes_per_warp : lanes_per_warp / 2;
    const std::uint32_t lanes = mask & lanes_from(first / most * most, most);
    return in_pairs(addresses, lanes, 1) || in_pairs(addresses, lanes, 2) ? most : most / 2;
}

// True where the accessed words lie so close together that each one has a bank of its own.
bool in_distinct_banks(std::span<const std::uint64_t, 32> addresses, std::uint32_t mask,
                       std::uint32_t bytes) {
    std::uint64_t first = ~0ull, last = 0;
    for (std::uint32_t m = mask; m; m &= m - 1) {
        const std::uint64_t at = addresses[std::size_t(std::countr_zero(m))];
        first = std::min(first, at / 4);
        last = std::max(last, (at + bytes - 1) / 4);
    }
    return last - first < banks;
}

// The most distinct words that the lanes of one pass access in one bank.
unsigned degree_of(std::span<const std::uint64_t, 32> addresses, std::uint32_t mask,
                   std::uint32_t bytes) {
    if (in_distinct_banks(addresses, mask, bytes)) return 1;
    std::array<std::array<std::uint64_t, lanes_per_warp>, banks>
        words;  // at most one for each lane
    std::array<std::uint8_t, banks> count{};
    for (std::uint32_t m = mask; m; m &= m - 1) {
        const std::uint64_t at = addresses[std::size_t(std::countr_zero(m))];
        for (std::uint64_t word = at / 4; word <= (at + bytes - 1) / 4; ++word) {
            auto& in_bank = words[word % banks];
            std::uint8_t& n = count[word % banks];
            if (std::find(in_bank.begin(), in_bank.begin() + n, word) == in_bank.begin() + n)
                in_bank[n++] = word;
        }
    }
    return *std::max_element(count.begin(), count.end());
}

// Passes of an access whose lanes all have one address.
unsigned broadcast_passes(std::uint32_t mask, std::uint32_t bytes) {
    if (bytes <= 8) return 1;
    return unsigned((mask & lanes_from(0, 16)) != 0) + unsigned((mask & lanes_from(16, 16)) != 0);
}

MemoryCounts& counts_of(ExecutedWork& work, MemoryAccess kind, bool shared) {
    if (kind == MemoryAccess::load) return shared ? work.shared_loads : work.global_loads;
    if (kind == MemoryAccess::store) return shared ? work.shared_stores : work.global_stores;
    return shared ? work.shared_atomics : work.global_atomics;
}

/// An asynchronous copy is a load of one memory and a store to the other one.
MemoryAccess kind_of(const Kernel& kernel, std::uint32_t pc, bool shared) {
    const InstructionInfo& info = kernel.lines[pc];
    if (info.access != MemoryAccess::none) return info.access;
    const bool to_shared = CopyForm(kernel.code[pc].target).to != Space::global;
    return to_shared == shared ? MemoryAccess::store : MemoryAccess::load;
}

std::span<const std::uint64_t, 32> addresses_of(const Access& access) {
    return std::span<const std::uint64_t, 32>(access.lane_addresses, 32);
}

ExecutedWork& line_of(KernelCounters& counters, const Kernel& kernel, const SourceLine& source) {
    if (source.file < 0) return counters.at("", source.ptx_line);
    return counters.at(kernel.module->files()[std::size_t(source.file)], source.line);
}

}  // namespace

BankUse bank_use(std::span<const std::uint64_t, 32> addresses, std::uint32_t mask,
                 std::uint32_t bytes) {
    BankUse use;
    if (!mask) return use;
    for (unsigned first = 0, width = 0; first < lanes_per_warp; first += width) {
        width = pass_width(addresses, mask, bytes, first);
        const std::uint32_t served = mask & lanes_from(first, width);
        if (!served) continue;
        const unsigned degree = degree_of(addresses, served, bytes);
        use.wavefronts += degree;
        for (unsigned lane = first; lane < first + width; ++lane)
            use.group[lane] = std::uint8_t(use.least);
        ++use.least;
        use.degree = std::max(use.degree, degree);
    }
    return use;
}

unsigned sectors(std::span<const std::uint64_t, 32> addresses, std::uint32_t mask,
                 std::uint32_t bytes) {
    std::array<std::uint64_t, 2 * lanes_per_warp> touched;
    std::size_t n = 0;
    const auto touch = [&](std::uint64_t sector) {
        if (n == 0 || touched[n - 1] != sector) touched[n++] = sector;
    };
    for (std::uint32_t m = mask; m; m &= m - 1) {
        const std::uint64_t at = addresses[std::size_t(std::countr_zero(m))];
        touch(at / sector_bytes);
        touch((at + bytes - 1) / sector_bytes);
    }
    const auto end = touched.begin() + std::ptrdiff_t(n);
    if (!std::is_sorted(touched.begin(), end)) std::sort(touched.begin(), end);
    return unsigned(std::unique(touched.begin(), end) - touched.begin());
}

unsigned least_sectors(std::span<const std::uint64_t, 32> addresses, std::uint32_t mask,
                       std::uint32_t bytes) {
    std::array<std::uint64_t, lanes_per_warp> accessed;
    std::size_t n = 0;
    for (std::uint32_t m = mask; m; m &= m - 1)
        accessed[n++] = addresses[std::size_t(std::countr_zero(m))];
    const auto end = accessed.begin() + std::ptrdiff_t(n);
    if (!std::is_sorted(accessed.begin(), end)) std::sort(accessed.begin(), end);
    const auto distinct = std::uint64_t(std::unique(accessed.begin(), end) - accessed.begin());
    return unsigned((distinct * bytes + sector_bytes - 1) / sector_bytes);
}

namespace {

// Returns the cost of consecutive addresses, which most accesses have.
MemoryCounts cost_of_consecutive(const Access& a, bool shared) {
    const std::uint64_t bytes = std::uint64_t(lanes_per_warp) * a.bytes;
    MemoryCounts cost{.requests = 1, .bytes = bytes};
    if (shared) {
        cost.wavefronts = cost.least_wavefronts = std::max(1u, a.bytes / 4);
        cost.degree = 1;
    } else {
        const std::uint64_t first = a.lane_addresses[0];
        cost.sectors = (first + bytes - 1) / sector_bytes - first / sector_bytes + 1;
        cost.least_sectors = bytes / sector_bytes;
    }
    return cost;
}

MemoryCounts computed_cost(const Access& a, bool shared) {
    MemoryCounts cost{.requests = 1, .bytes = std::uint64_t(lane_count(a.mask)) * a.bytes};
    if (shared && a.same_address) {
        cost.wavefronts = cost.least_wavefronts = broadcast_passes(a.mask, a.bytes);
        cost.degree = 1;
    } else if (shared && a.bytes <= 4 && in_distinct_banks(addresses_of(a), a.mask, a.bytes)) {
        cost.wavefronts = cost.least_wavefronts = cost.degree = 1;
    } else if (shared) {
        const BankUse use = bank_use(addresses_of(a), a.mask, a.bytes);
        cost.wavefronts = use.wavefronts;
        cost.least_wavefronts = use.least;
        cost.degree = use.degree;
    } else if (a.same_address) {
        const std::uint64_t at = a.address(unsigned(std::countr_zero(a.mask)));
        cost.sectors = (at + a.bytes - 1) / sector_bytes - at / sector_bytes + 1;
        cost.least_sectors = 1;
    } else {
        cost.sectors = sectors(addresses_of(a), a.mask, a.bytes);
        cost.least_sectors = least_sectors(addresses_of(a), a.mask, a.bytes);
    }
    return cost;
}

}  // namespace

AccessCounters::Counts& AccessCounters::Counts::operator+=(const Counts& other) {
    executed.warps += other.executed.warps;
    executed.idle_lanes += other.executed.idle_lanes;
    executed.separations += other.executed.separations;
    global += other.global;
    shared += other.shared;
    broadcasts += other.broadcasts;
    return *this;
}

std::unique_ptr<Observer> AccessCounters::fork() {
    auto fork = std::make_unique<AccessCounters>();
    fork->counted_.at.resize(counted_.at.size());
    fork->costs_.resize(costs_.size());
    fork->kernel_ = kernel_;
    return fork;
}

void AccessCounters::join(Observer& fork) {
    auto& other_counters = dynamic_cast<AccessCounters&>(fork);
    other_counters.add_followers();
    const Launch& other = other_counters.counted_;
    counted_.blocks += other.blocks;
    counted_.total += other.total;
    for (std::size_t pc = 0; pc < counted_.at.size(); ++pc) counted_.at[pc] += other.at[pc];
}

void AccessCounters::on_launch(const Kernel& kernel, const LaunchShape&) {
    counted_ = {};
    counted_.at.resize(kernel.code.size());
    costs_.assign(kernel.code.size(), {});
    model_ = {};
    kernel_ = &kernel;
}

void AccessCounters::on_executions(std::span<const ExecutionCount> counts) {
    for (std::size_t pc = 0; pc < counts.size(); ++pc) counted_.at[pc].executed = counts[pc];
}

void AccessCounters::on_block_end(std::uint32_t, const Statistics& statistics) {
    ++counted_.blocks;
    counted_.total += statistics;
}

void AccessCounters::on_model_begin() {
    add_followers();
    before_ = counted_.at;
}

void AccessCounters::on_model(const ModelBlock& model) {
    model_ = {};
    for (std::uint32_t pc = 0; pc < counted_.at.size(); ++pc) {
        const Counts &now = counted_.at[pc], &before = before_[pc];
        if (now.shared.requests > before.shared.requests || now.broadcasts > before.broadcasts)
            model_.parts.push_back({pc, now.shared - before.shared,
                                    now.broadcasts - before.broadcasts, model.is_foreseen(pc)});
    }
}

void AccessCounters::on_followed(const ModelBlock& model, std::uint32_t block,
                                 const Statistics& statistics) {
    on_block_end(block, statistics);
    ++model_.followers;
    for (const ModelBlock::Move& move : model.moves()) {
        const auto [found, is_new] =
            model_.global.try_emplace({move.pc, move.distance % sector_bytes});
        if (is_new) found->second = moved_cost(model, move);
        counted_.at[move.pc].global += found->second;
    }
}

MemoryCounts AccessCounters::moved_cost(const ModelBlock& model, const ModelBlock::Move& move) {
    MemoryCounts cost;
    model.for_moved_accesses(move, [&](const Access& a) {
        cost += a.consecutive ? cost_of_consecutive(a, false) : computed_cost(a, false);
    });
    return cost;
}

// Adds to shared memory what the blocks since the newest model have done there.
void AccessCounters::add_followers() {
    const std::uint64_t followers = std::exchange(model_.followers, 0);
    const std::uint64_t foreseen = std::exchange(model_.foreseen, 0) + followers;
    for (const Model::Part& part : model_.parts) {
        const std::uint64_t times = part.is_foreseen ? foreseen : followers;
        counted_.at[part.pc].shared += part.shared * times;
        counted_.at[part.pc].broadcasts += part.broadcasts * times;
    }
}

void AccessCounters::on_launch_end() {
    add_followers();
    KernelCounters launch;
    launch.kernel = kernel_->name;
    launch.launches = 1;
    launch.blocks = counted_.blocks;
    for (std::uint32_t pc = 0; pc < counted_.at.size(); ++pc)
        add_to_lines(launch, pc, counted_.at[pc]);
    for (const LineCounters& line : launch.lines) launch.ExecutedWork::operator+=(line);
    launch.warp_instructions = counted_.total.warp_instructions;
    launch.thread_instructions = counted_.total.thread_instructions;
    launch.barriers = counted_.total.barriers;
    const auto found = std::find_if(kernels_.begin(), kernels_.end(),
                                    [&](const auto& k) { return k.kernel == launch.kernel; });
    if (found == kernels_.end())
        kernels_.push_back(std::move(launch));
    else
        *found += launch;
}

// A cost point counts the statements since the one before it, which may be on several lines.
void AccessCounters::add_to_lines(KernelCounters& kernel, std::uint32_t pc,
                                  const Counts& counts) const {
    const InstructionInfo& info = kernel_->lines[pc];
    const ExecutionCount& executed = counts.executed;
    const std::uint32_t cost = executed.warps ? kernel_->code[pc].cost : 0;
    for (std::uint32_t s = info.statements - cost; s < info.statements; ++s) {
        ExecutedWork& line = line_of(kernel, *kernel_, kernel_->statements[s]);
        line.warp_instructions += executed.warps;
        line.thread_instructions += lanes_per_warp * executed.warps - executed.idle_lanes;
    }
    const std::uint64_t broadcasts = counts.broadcasts;
    if (!executed.separations && !counts.global.requests && !counts.shared.requests && !broadcasts)
        return;
    ExecutedWork& line = line_of(kernel, *kernel_, info.source);
    line.separations += executed.separations;
    for (const bool shared : {false, true}) {
        const MemoryCounts& memory = shared ? counts.shared : counts.global;
        if (memory.requests) counts_of(line, kind_of(*kernel_, pc, shared), shared) += memory;
    }
    if (!broadcasts) return;
    const std::uint64_t passes = broadcasts * broadcast_passes(all_lanes, info.bytes);
    line.shared_loads += {.requests = broadcasts,
                          .bytes = broadcasts * lanes_per_warp * info.bytes,
                          .wavefronts = passes,
                          .least_wavefronts = passes,
                          .degree = 1};
}

bool AccessCounters::has_cost(CachedCost& cached, const Access& access, bool shared) {
    const std::uint64_t first = access.lane_addresses[0];
    const std::uint64_t base = shared ? sector_bytes + first % 4 : first % sector_bytes;
    std::uint64_t differs = cached.base ^ base;
    for (std::size_t lane = 0; lane < lanes_per_warp; ++lane)
        differs |= cached.offsets[lane] ^ (access.lane_addresses[lane] - first);
    if (differs == 0) return true;
    cached.base = base;
    for (std::size_t lane = 0; lane < lanes_per_warp; ++lane)
        cached.offsets[lane] = access.lane_addresses[lane] - first;
    return false;
}

// The threads do not execute a bulk copy: it has sectors, but no wavefronts and no bank conflicts.
void AccessCounters::on_async(std::uint32_t, const AsyncEvent& event) {
    if (event.kind != AsyncEvent::copy_started || event.copy->lane < 0) return;
    const AsyncCopy& copy = *event.copy;
    if (copy.from_shared && copy.to_shared) return;
    MemoryCounts cost;
    cost.requests = 1;
    std::uint64_t begin = ~std::uint64_t(0), end = 0;
    for_each_lane(copy.parts, [&](unsigned part) {
        const std::uint64_t at = copy.to_shared ? copy.from[part] : copy.to[part];
        begin = std::min(begin, at);
        end = std::max(end, at + copy.bytes[part]);
    });
    cost.bytes = end - begin;
    cost.sectors = (end - 1) / sector_bytes - begin / sector_bytes + 1;
    cost.least_sectors = (cost.bytes + sector_bytes - 1) / sector_bytes;
    counted_.at[copy.pc].global += cost;
}

void AccessCounters::on_shared_access(const Access& a) {
    if (a.bulk) return;
    if (a.same_address && a.mask == all_lanes && a.kind == MemoryAccess::load)
        ++counted_.at[a.pc].broadcasts;
    else
        counted_.at[a.pc].shared += cost_of(a, true);
}

void AccessCounters::on_global_access(const Access& a) {
    if (a.bulk) return;
    counted_.at[a.pc].global += cost_of(a, false);
}

// The counts of one access.
MemoryCounts AccessCounters::cost_of(const Access& a, bool shared) {
    if (a.image != Access::Image::none) return image_.add(a);
    if (a.consecutive) return cost_of_consecutive(a, shared);
    if (!a.same_address && a.mask == all_lanes) {
        CachedCost& cached = costs_[a.pc];
        if (!has_cost(cached, a, shared)) cached.cost = computed_cost(a, shared);
        return cached.cost;
    }
    return computed_cost(a, shared);
}

}  // namespace warpscope::emulator
