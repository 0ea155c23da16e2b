#include "emulator/checks/access_counters.h"

#include <algorithm>
#include <bit>
#include <utility>

#include "emulator/machine/machine.h"
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

// The most distinct words that the lanes of one pass access in one bank.
unsigned degree_of(std::span<const std::uint64_t, 32> addresses, std::uint32_t mask,
                   std::uint32_t bytes) {
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

MemoryCounts& counts_of(MemoryAccess kind, MemoryCounts& loads, MemoryCounts& stores,
                        MemoryCounts& atomics) {
    if (kind == MemoryAccess::load) return loads;
    return kind == MemoryAccess::store ? stores : atomics;
}

std::uint64_t bytes_of(const Access& a) {
    return std::uint64_t(lane_count(a.mask)) * a.bytes;
}

std::span<const std::uint64_t, 32> addresses_of(const Access& access) {
    return std::span<const std::uint64_t, 32>(access.lane_addresses, 32);
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

MemoryCounts& MemoryCounts::operator+=(const MemoryCounts& other) {
    requests += other.requests;
    bytes += other.bytes;
    sectors += other.sectors;
    wavefronts += other.wavefronts;
    least_wavefronts += other.least_wavefronts;
    degree = std::max(degree, other.degree);
    return *this;
}

KernelCounters& KernelCounters::operator+=(const KernelCounters& other) {
    launches += other.launches;
    blocks += other.blocks;
    warp_instructions += other.warp_instructions;
    thread_instructions += other.thread_instructions;
    barriers += other.barriers;
    global_loads += other.global_loads;
    global_stores += other.global_stores;
    global_atomics += other.global_atomics;
    shared_loads += other.shared_loads;
    shared_stores += other.shared_stores;
    shared_atomics += other.shared_atomics;
    return *this;
}

std::unique_ptr<Observer> AccessCounters::fork() {
    auto fork = std::make_unique<AccessCounters>();
    fork->kernels_.emplace_back().kernel = kernels_[current_].kernel;
    fork->costs_.resize(costs_.size());
    fork->broadcasts_.resize(broadcasts_.size());
    fork->kernel_ = kernel_;
    return fork;
}

void AccessCounters::join(Observer& fork) {
    kernels_[current_] += dynamic_cast<AccessCounters&>(fork).kernels_.front();
}

void AccessCounters::on_launch(const Kernel& kernel, const LaunchShape&) {
    const auto found = std::find_if(kernels_.begin(), kernels_.end(),
                                    [&](const auto& k) { return k.kernel == kernel.name; });
    current_ = std::size_t(found - kernels_.begin());
    if (found == kernels_.end()) kernels_.emplace_back().kernel = kernel.name;
    before_ = kernels_[current_];
    ++kernels_[current_].launches;
    costs_.assign(kernel.code.size(), {});
    broadcasts_.assign(kernel.code.size(), 0);
    broadcasting_.clear();
    kernel_ = &kernel;
}

void AccessCounters::on_block_end(std::uint32_t, const Statistics& statistics) {
    KernelCounters& kernel = kernels_[current_];
    ++kernel.blocks;
    kernel.warp_instructions += statistics.warp_instructions;
    kernel.thread_instructions += statistics.thread_instructions;
    kernel.barriers += statistics.barriers;
    for (const std::uint32_t pc : broadcasting_) {
        const std::uint64_t n = std::exchange(broadcasts_[pc], 0);
        const std::uint32_t bytes = kernel_->lines[pc].bytes;
        const std::uint64_t passes = n * broadcast_passes(all_lanes, bytes);
        kernel.shared_loads += {.requests = n,
                                .bytes = n * lanes_per_warp * bytes,
                                .wavefronts = passes,
                                .least_wavefronts = passes,
                                .degree = 1};
    }
    broadcasting_.clear();
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

void AccessCounters::on_shared_access(const Access& a) {
    if (a.same_address && a.mask == all_lanes && a.kind == MemoryAccess::load)
        add_broadcasts(a.pc, 1);
    else
        count_shared(a);
}

bool AccessCounters::needs_only_count(const Access& load) const {
    return load.mask == all_lanes;
}

void AccessCounters::count_shared(const Access& a) {
    KernelCounters& kernel = kernels_[current_];
    MemoryCounts& counts =
        counts_of(a.kind, kernel.shared_loads, kernel.shared_stores, kernel.shared_atomics);
    ++counts.requests;
    counts.bytes += bytes_of(a);
    if (a.same_address) {
        const unsigned passes = broadcast_passes(a.mask, a.bytes);
        counts.wavefronts += passes;
        counts.least_wavefronts += passes;
        counts.degree = std::max(counts.degree, 1u);
        return;
    }
    CachedCost uncached;
    CachedCost& cached = a.mask == all_lanes ? costs_[a.pc] : uncached;
    if (a.mask != all_lanes || !has_cost(cached, a, true)) {
        const BankUse use = bank_use(addresses_of(a), a.mask, a.bytes);
        cached.wavefronts = use.wavefronts;
        cached.least = use.least;
        cached.degree = use.degree;
    }
    counts.wavefronts += cached.wavefronts;
    counts.least_wavefronts += cached.least;
    counts.degree = std::max(counts.degree, cached.degree);
}

void AccessCounters::on_global_access(const Access& a) {
    KernelCounters& kernel = kernels_[current_];
    MemoryCounts& counts =
        counts_of(a.kind, kernel.global_loads, kernel.global_stores, kernel.global_atomics);
    ++counts.requests;
    counts.bytes += bytes_of(a);
    if (a.same_address) {
        const std::uint64_t at = a.address(unsigned(std::countr_zero(a.mask)));
        counts.sectors += (at + a.bytes - 1) / sector_bytes - at / sector_bytes + 1;
    } else if (a.mask != all_lanes) {
        counts.sectors += sectors(addresses_of(a), a.mask, a.bytes);
    } else {
        CachedCost& cached = costs_[a.pc];
        if (!has_cost(cached, a, false)) cached.sectors = sectors(addresses_of(a), a.mask, a.bytes);
        counts.sectors += cached.sectors;
    }
}

}  // namespace warpscope::emulator
