#include "emulator/checks/access_counters.h"

#include <algorithm>
#include <bit>
#include <utility>

#include "emulator/machine/machine.h"
#include "emulator/machine/warp.h"

namespace warpscope::emulator {

namespace {

// Whether each lane of the mask has the address of its neighbour lane ^ distance, where that is one
// of the mask.
bool in_pairs(std::span<const uint64_t, 32> addresses, uint32_t mask, unsigned distance) {
    for (uint32_t m = mask; m; m &= m - 1) {
        const auto lane = unsigned(std::countr_zero(m));
        const unsigned other = lane ^ distance;
        if (mask >> other & 1 && addresses[lane] != addresses[other]) return false;
    }
    return true;
}

uint32_t lanes_from(unsigned first, unsigned count) {
    return all_lanes >> (lanes_per_warp - count) << first;
}

// Lanes that the pass which begins with lane `first` serves.
unsigned pass_width(std::span<const uint64_t, 32> addresses, uint32_t mask, uint32_t bytes,
                    unsigned first) {
    if (bytes <= 4) return lanes_per_warp;
    const unsigned most = bytes <= 8 ? lanes_per_warp : lanes_per_warp / 2;
    const uint32_t lanes = mask & lanes_from(first / most * most, most);
    return in_pairs(addresses, lanes, 1) || in_pairs(addresses, lanes, 2) ? most : most / 2;
}

// Distinct words that the lanes of one pass want of the bank that has most of them.
unsigned degree_of(std::span<const uint64_t, 32> addresses, uint32_t mask, uint32_t bytes) {
    std::array<std::array<uint64_t, lanes_per_warp>, banks> words;  // a lane wants one of a bank
    std::array<uint8_t, banks> count{};
    for (uint32_t m = mask; m; m &= m - 1) {
        const uint64_t at = addresses[size_t(std::countr_zero(m))];
        for (uint64_t word = at / 4; word <= (at + bytes - 1) / 4; ++word) {
            auto& in_bank = words[word % banks];
            uint8_t& n = count[word % banks];
            if (std::find(in_bank.begin(), in_bank.begin() + n, word) == in_bank.begin() + n)
                in_bank[n++] = word;
        }
    }
    return *std::max_element(count.begin(), count.end());
}

// Of lanes that all have one address.
unsigned broadcast_passes(uint32_t mask, uint32_t bytes) {
    if (bytes <= 8) return 1;
    return unsigned((mask & lanes_from(0, 16)) != 0) + unsigned((mask & lanes_from(16, 16)) != 0);
}

MemoryCounts& counts_of(MemoryAccess kind, MemoryCounts& loads, MemoryCounts& stores,
                        MemoryCounts& atomics) {
    if (kind == MemoryAccess::load) return loads;
    return kind == MemoryAccess::store ? stores : atomics;
}

uint64_t bytes_of(const Access& a) {
    return uint64_t(a.mask == all_lanes ? lanes_per_warp : unsigned(std::popcount(a.mask))) *
           a.bytes;
}

std::span<const uint64_t, 32> addresses_of(const Access& access) {
    return std::span<const uint64_t, 32>(access.lane_addresses, 32);
}

}  // namespace

BankUse bank_use(std::span<const uint64_t, 32> addresses, uint32_t mask, uint32_t bytes) {
    BankUse use;
    if (!mask) return use;
    for (unsigned first = 0, width = 0; first < lanes_per_warp; first += width) {
        width = pass_width(addresses, mask, bytes, first);
        const uint32_t served = mask & lanes_from(first, width);
        if (!served) continue;
        const unsigned degree = degree_of(addresses, served, bytes);
        use.wavefronts += degree;
        for (unsigned lane = first; lane < first + width; ++lane)
            use.group[lane] = uint8_t(use.least);
        ++use.least;
        use.degree = std::max(use.degree, degree);
    }
    return use;
}

unsigned sectors(std::span<const uint64_t, 32> addresses, uint32_t mask, uint32_t bytes) {
    std::array<uint64_t, 2 * lanes_per_warp> touched;
    size_t n = 0;
    const auto touch = [&](uint64_t sector) {
        if (n == 0 || touched[n - 1] != sector) touched[n++] = sector;
    };
    for (uint32_t m = mask; m; m &= m - 1) {
        const uint64_t at = addresses[size_t(std::countr_zero(m))];
        touch(at / sector_bytes);
        touch((at + bytes - 1) / sector_bytes);
    }
    const auto end = touched.begin() + ptrdiff_t(n);
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
    fork->known_.resize(known_.size());
    fork->broadcasts_.resize(broadcasts_.size());
    fork->kernel_ = kernel_;
    return fork;
}

void AccessCounters::join(Observer& fork) {
    kernels_[current_] += dynamic_cast<AccessCounters&>(fork).kernels_.front();
}

void AccessCounters::on_launch(const Kernel& kernel, const Launch&) {
    const auto found = std::find_if(kernels_.begin(), kernels_.end(),
                                    [&](const auto& k) { return k.kernel == kernel.name; });
    current_ = size_t(found - kernels_.begin());
    if (found == kernels_.end()) kernels_.emplace_back().kernel = kernel.name;
    before_ = kernels_[current_];
    ++kernels_[current_].launches;
    known_.assign(kernel.code.size(), {});
    broadcasts_.assign(kernel.code.size(), 0);
    broadcasting_.clear();
    kernel_ = &kernel;
}

void AccessCounters::on_block_end(uint32_t, const Statistics& statistics) {
    KernelCounters& kernel = kernels_[current_];
    ++kernel.blocks;
    kernel.warp_instructions += statistics.warp_instructions;
    kernel.thread_instructions += statistics.thread_instructions;
    kernel.barriers += statistics.barriers;
    for (const uint32_t pc : broadcasting_) {
        const uint64_t n = std::exchange(broadcasts_[pc], 0);
        const uint32_t bytes = kernel_->lines[pc].bytes;
        const uint64_t passes = n * broadcast_passes(all_lanes, bytes);
        kernel.shared_loads += {.requests = n,
                                .bytes = n * lanes_per_warp * bytes,
                                .wavefronts = passes,
                                .least_wavefronts = passes,
                                .degree = 1};
    }
    broadcasting_.clear();
}

// True when `known` holds for this access, of all lanes; else it is made ready for its costs.
bool AccessCounters::recall(Known& known, const Access& access, bool shared) {
    const uint64_t first = access.lane_addresses[0];
    const uint64_t base = shared ? sector_bytes + first % 4 : first % sector_bytes;
    uint64_t differs = known.base ^ base;
    for (size_t lane = 0; lane < lanes_per_warp; ++lane)
        differs |= known.offsets[lane] ^ (access.lane_addresses[lane] - first);
    if (differs == 0) return true;
    known.base = base;
    for (size_t lane = 0; lane < lanes_per_warp; ++lane)
        known.offsets[lane] = access.lane_addresses[lane] - first;
    return false;
}

void AccessCounters::on_shared_access(const Access& a) {
    if (a.same_address && a.mask == all_lanes && a.kind == MemoryAccess::load) {
        if (broadcasts_[a.pc]++ == 0) broadcasting_.push_back(a.pc);
        return;
    }
    count_shared(a);
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
    Known other;
    Known& known = a.mask == all_lanes ? known_[a.pc] : other;
    if (a.mask != all_lanes || !recall(known, a, true)) {
        const BankUse use = bank_use(addresses_of(a), a.mask, a.bytes);
        known.wavefronts = use.wavefronts;
        known.least = use.least;
        known.degree = use.degree;
    }
    counts.wavefronts += known.wavefronts;
    counts.least_wavefronts += known.least;
    counts.degree = std::max(counts.degree, known.degree);
}

void AccessCounters::on_global_access(const Access& a) {
    KernelCounters& kernel = kernels_[current_];
    MemoryCounts& counts =
        counts_of(a.kind, kernel.global_loads, kernel.global_stores, kernel.global_atomics);
    ++counts.requests;
    counts.bytes += bytes_of(a);
    if (a.same_address) {
        const uint64_t at = a.address(unsigned(std::countr_zero(a.mask)));
        counts.sectors += (at + a.bytes - 1) / sector_bytes - at / sector_bytes + 1;
    } else if (a.mask != all_lanes) {
        counts.sectors += sectors(addresses_of(a), a.mask, a.bytes);
    } else {
        Known& known = known_[a.pc];
        if (!recall(known, a, false)) known.sectors = sectors(addresses_of(a), a.mask, a.bytes);
        counts.sectors += known.sectors;
    }
}

}  // namespace warpscope::emulator
