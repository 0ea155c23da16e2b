#include "emulator/counters/heat_map.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <string_view>
#include <tuple>
#include <utility>

#include "emulator/counters/access_counters.h"
#include "emulator/program/source_line.h"
#include "emulator/warp/warp.h"

// The functions of HeatMap that add what blocks that follow a model have accessed.

namespace warpscope::emulator {
namespace {

constexpr std::uint64_t word_bytes = WordCounts::word_bytes;

std::string file_of(const Kernel& kernel) {
    for (const SourceLine& statement : kernel.statements)
        if (statement.file >= 0) return kernel.module->files()[std::size_t(statement.file)];
    return {};
}

/// Calls f(word, words of its bank in its pass) for each word that the lanes of each pass access.
template <typename F>
void for_words_of_passes(const Access& a, const BankUse& use, F&& f) {
    for (unsigned pass = 0; pass < use.least; ++pass) {
        std::array<std::vector<std::uint64_t>, banks> words;
        for (std::uint32_t m = a.mask; m; m &= m - 1) {
            const auto lane = unsigned(std::countr_zero(m));
            if (use.group[lane] != pass) continue;
            const std::uint64_t at = a.address(lane);
            for (std::uint64_t w = at / word_bytes; w <= (at + a.bytes - 1) / word_bytes; ++w) {
                auto& in_bank = words[w % banks];
                if (std::find(in_bank.begin(), in_bank.end(), w) == in_bank.end())
                    in_bank.push_back(w);
            }
        }
        for (const auto& in_bank : words)
            for (const std::uint64_t word : in_bank) f(word, in_bank.size());
    }
}

}  // namespace

void HeatMap::Region::add(HeatFigure figure, std::uint64_t address, std::uint32_t bytes,
                          std::uint64_t number) {
    const std::uint64_t first = word_of(address);
    counts[std::size_t(figure)].add(first, word_of(address + bytes - 1) + 1 - first, number);
}

void HeatMap::forget() {
    shared_.counts = {};
    before_model_ = {};
    model_ = {};
    regions_.clear();
    has_races_ = false;
    std::fill(newest_.begin(), newest_.end(), nullptr);
}

void HeatMap::add_races(Space space, const HazardCounts& hazards) {
    has_races_ = true;
    hazards.for_words([&](std::uint64_t address, std::uint64_t number) {
        Region* const region = space == Space::shared ? &shared_ : global_region(address);
        if (region) region->add(HeatFigure::races, address, WordCounts::word_bytes, number);
    });
}

std::unique_ptr<Observer> HeatMap::fork() {
    auto fork = std::make_unique<HeatMap>(memory_);
    fork->on_launch(*kernel_, launch_);
    return fork;
}

void HeatMap::join(Observer& other) {
    auto& fork = dynamic_cast<HeatMap&>(other);
    fork.add_followers();
    for (std::size_t f = 0; f < heat_figures; ++f)
        shared_.counts[f] += std::move(fork.shared_.counts[f]);
    for (auto& [begin, region] : fork.regions_) {
        Region& own = *global_region(begin);
        for (std::size_t f = 0; f < heat_figures; ++f) own.counts[f] += std::move(region.counts[f]);
    }
}

void HeatMap::on_launch(const Kernel& kernel, const LaunchShape& launch) {
    kernel_ = &kernel;
    launch_ = launch;
    newest_.assign(kernel.code.size(), nullptr);
    patterns_.assign(kernel.code.size(), {});
    shared_.end = kernel.shared_bytes + launch.dynamic_shared_bytes;
    forget();
}

void HeatMap::on_launch_end() {
    add_followers();
    auto found = std::find_if(kernels_.begin(), kernels_.end(),
                              [&](const KernelHeat& k) { return k.kernel == kernel_->name; });
    if (found == kernels_.end()) {
        found = kernels_.emplace(kernels_.end());
        found->kernel = kernel_->name;
        found->file = file_of(*kernel_);
    }
    ++found->launches;
    found->launch = launch_;
    found->has_races |= has_races_;
    add_shared(*found);
    add_global(*found);
    forget();
}

void HeatMap::add_shared(KernelHeat& heat) {
    for (const SharedVariable& variable : kernel_->shared_variables) {
        HeatArray array{.name = source_name(variable.name),
                        .shared = true,
                        .begin = variable.offset,
                        .bytes = variable.bytes ? variable.bytes : shared_.end - variable.offset};
        bool counted = false;
        for (std::size_t f = 0; f < heat_figures; ++f) {
            array.counts[f].add_part(shared_.counts[f], variable.offset / word_bytes,
                                     array.words());
            counted |= array.counts[f].any();
        }
        if (counted) add_array(heat, std::move(array));
    }
}

// Adds the arrays in the order of the kernel's parameters, because the addresses of allocations
// differ from run to run.
void HeatMap::add_global(KernelHeat& heat) {
    std::vector<HeatArray> arrays;
    for (auto& [begin, region] : regions_) {
        arrays.push_back({.name = region.name,
                          .shared = false,
                          .begin = begin,
                          .bytes = region.end - begin,
                          .counts = std::move(region.counts)});
        find_parameter(arrays.back());
    }
    const auto place = [](const HeatArray& a) {
        return std::tuple(a.parameter < 0, a.parameter, a.parameter_offset,
                          std::string_view(a.name));
    };
    std::stable_sort(arrays.begin(), arrays.end(),
                     [&](const HeatArray& a, const HeatArray& b) { return place(a) < place(b); });
    for (HeatArray& array : arrays) add_array(heat, std::move(array));
}

void HeatMap::add_array(KernelHeat& heat, HeatArray array) const {
    const auto key = [](const HeatArray& a) {
        return std::tie(a.shared, a.begin, a.bytes, a.name);
    };
    const auto old = std::find_if(heat.arrays.begin(), heat.arrays.end(),
                                  [&](const HeatArray& a) { return key(a) == key(array); });
    if (old != heat.arrays.end()) {
        for (std::size_t f = 0; f < heat_figures; ++f) old->counts[f] += std::move(array.counts[f]);
        return;
    }
    const auto place = array.shared ? std::find_if(heat.arrays.begin(), heat.arrays.end(),
                                                   [](const HeatArray& a) { return !a.shared; })
                                    : heat.arrays.end();
    heat.arrays.insert(place, std::move(array));
}

// A struct that is passed by value may hold addresses too.
void HeatMap::find_parameter(HeatArray& array) const {
    for (std::size_t p = 0; p < kernel_->parameters.size(); ++p) {
        const Parameter& parameter = kernel_->parameters[p];
        for (std::uint32_t at = 0; at + 8 <= parameter.size; at += 8) {
            std::uint64_t value = 0;
            if (parameter.offset + at + 8 > arguments_.size()) break;
            std::memcpy(&value, arguments_.data() + parameter.offset + at, 8);
            if (value < array.begin || value - array.begin >= array.bytes) continue;
            array.parameter = int(p);
            array.parameter_offset = at;
            return;
        }
    }
}

HeatMap::Region* HeatMap::global_region(std::uint64_t address) {
    const auto after = regions_.upper_bound(address);
    if (after != regions_.begin() && address < std::prev(after)->second.end)
        return &std::prev(after)->second;
    if (const Memory::Allocation* found = memory_.find(address)) {
        Region& region = regions_[found->begin];
        region.begin = found->begin;
        region.end = found->end;
        return &region;
    }
    for (const Module::GlobalVariable& variable : kernel_->module->variables()) {
        const auto begin = reinterpret_cast<std::uint64_t>(variable.data);
        if (address < begin || address >= begin + variable.bytes) continue;
        Region& region = regions_[begin];
        region.begin = begin;
        region.end = begin + variable.bytes;
        region.name = source_name(variable.name);
        return &region;
    }
    return nullptr;
}

HeatMap::Region* HeatMap::region_of(std::uint32_t pc, std::uint64_t low, std::uint64_t high,
                                    bool shared) {
    if (shared) return shared_.holds(low, high) ? &shared_ : nullptr;
    Region*& newest = newest_[pc];
    if (!newest || !newest->holds(low, high)) newest = global_region(low);
    return newest && newest->holds(low, high) ? newest : nullptr;
}

HeatMap::Pattern& HeatMap::pattern_of(const Access& a, std::uint64_t first, bool shared) {
    Pattern& pattern = patterns_[a.pc];
    const std::uint64_t start = first % word_bytes + (shared ? word_bytes : 0);
    std::array<std::uint64_t, lanes_per_warp> offsets;
    for (unsigned lane = 0; lane < lanes_per_warp; ++lane)
        offsets[lane] = a.lane_addresses[lane] - first;
    for (std::uint32_t idle = ~a.mask; idle; idle &= idle - 1) offsets[std::countr_zero(idle)] = 0;
    std::uint64_t differs = (pattern.mask ^ a.mask) | (pattern.start ^ start);
    for (unsigned lane = 0; lane < lanes_per_warp; ++lane)
        differs |= offsets[lane] ^ pattern.offsets[lane];
    if (differs == 0) return pattern;

    add_started(pattern);
    pattern.figure = figure_of(a.kind);
    pattern.mask = a.mask;
    pattern.start = start;
    pattern.offsets = offsets;
    pattern.low = pattern.high = 0;
    parts_.clear();
    const auto word_of = [&](std::uint64_t address) {
        return std::int64_t(address / word_bytes) - std::int64_t(first / word_bytes);
    };
    for (std::uint32_t m = a.mask; m; m &= m - 1) {
        const auto lane = unsigned(std::countr_zero(m));
        const std::uint64_t at = a.lane_addresses[lane];
        const auto offset = std::int64_t(offsets[lane]);
        pattern.low = std::min(pattern.low, offset);
        pattern.high = std::max(pattern.high, offset + std::int64_t(a.bytes));
        for (std::int64_t w = word_of(at); w <= word_of(at + a.bytes - 1); ++w)
            parts_.push_back({w, 1, 1, 0});
    }
    if (shared) {
        const std::span<const std::uint64_t, 32> addresses(a.lane_addresses, 32);
        const BankUse use = bank_use(addresses, a.mask, a.bytes);
        if (use.degree > 1)
            for_words_of_passes(a, use, [&](std::uint64_t word, std::uint64_t in_bank) {
                if (in_bank > 1) parts_.push_back({word_of(word * word_bytes), 1, 0, in_bank - 1});
            });
    }
    add_up(parts_);
    pattern.runs = join_neighbours(parts_);
    return pattern;
}

void HeatMap::count(const Access& a, bool shared) {
    const std::uint64_t first = a.address(unsigned(std::countr_zero(a.mask)));
    const HeatFigure figure = figure_of(a.kind);
    if (a.same_address) {
        if (Region* const region = region_of(a.pc, first, first + a.bytes, shared))
            region->add(figure, first, a.bytes, lane_count(a.mask));
        return;
    }
    if (a.consecutive && a.bytes % word_bytes == 0) {
        const std::uint32_t bytes = lanes_per_warp * a.bytes;
        if (Region* const region = region_of(a.pc, first, first + bytes, shared))
            region->add(figure, first, bytes, 1);
        return;
    }
    Pattern& pattern = pattern_of(a, first, shared);
    Region* const region = region_of(a.pc, first + std::uint64_t(pattern.low),
                                     first + std::uint64_t(pattern.high), shared);
    if (!region) {
        if (!shared) count_lanes(a);
        return;
    }
    const std::uint64_t word = region->word_of(first);
    if (!shared) {
        for (const WordRun& run : pattern.runs)
            region->counts[std::size_t(figure)].add(word + std::uint64_t(run.first), run.words,
                                                    run.lanes);
        return;
    }
    if (pattern.starts.empty()) pattern.starts.resize(shared_.word_of(shared_.end) + 1);
    if (pattern.starts[word]++ == 0) pattern.start_words.push_back(word);
    if (pattern.starts[word] == ~0u) add_started(pattern);
}

void HeatMap::add_started() {
    for (Pattern& pattern : patterns_) add_started(pattern);
}

void HeatMap::add_started(Pattern& pattern) {
    WordCounts& counts = shared_.counts[std::size_t(pattern.figure)];
    WordCounts& conflicts = shared_.counts[std::size_t(HeatFigure::conflicts)];
    for (const std::uint64_t start : pattern.start_words) {
        const std::uint64_t times = std::exchange(pattern.starts[start], 0);
        for (const WordRun& run : pattern.runs) {
            const std::uint64_t first = start + std::uint64_t(run.first);
            counts.add(first, run.words, times * run.lanes);
            if (run.conflicts) conflicts.add(first, run.words, times * run.conflicts);
        }
    }
    pattern.start_words.clear();
}

// Counts an access lane by lane, because its lanes access several allocations. An invalid address
// ends the launch, which then does not count.
void HeatMap::count_lanes(const Access& a) {
    for (std::uint32_t m = a.mask; m; m &= m - 1) {
        const std::uint64_t at = a.address(unsigned(std::countr_zero(m)));
        Region* const region = global_region(at);
        if (region && region->holds(at, at + a.bytes))
            region->add(figure_of(a.kind), at, a.bytes, 1);
    }
}

void HeatMap::on_broadcasts(std::span<const BroadcastLoad> loads) {
    // A loop often loads an array word by word. These loads are added at once, as whole groups.
    std::uint64_t begin = 0, end = 0;
    const auto add = [&] {
        if (begin < end)
            shared_.add(HeatFigure::reads, begin, std::uint32_t(end - begin), lanes_per_warp);
    };
    for (const BroadcastLoad& load : loads) {
        if (load.address != end || end % 4 != 0) {
            add();
            begin = load.address;
        }
        end = load.address + kernel_->lines[load.pc].bytes;
    }
    add();
}

void HeatMap::on_model_begin() {
    add_followers();
    before_model_ = std::exchange(shared_.counts, {});
}

void HeatMap::on_model(const ModelBlock& model) {
    model_ = {};
    find_shared_words(model);
    model_.global.resize(kernel_->code.size());
    model.for_global_accesses([&](const Access& a) {
        for (std::uint32_t m = a.mask; m; m &= m - 1) {
            const std::uint64_t at = a.address(unsigned(std::countr_zero(m)));
            for (std::uint64_t w = at / WordCounts::word_bytes;
                 w <= (at + a.bytes - 1) / WordCounts::word_bytes; ++w)
                model_.global[a.pc].push_back({std::int64_t(w), 1, 1, 0});
        }
    });
    for (std::vector<WordRun>& runs : model_.global) {
        add_up(runs);
        runs = join_neighbours(runs);
    }
}

// What the model has counted in shared memory, and what of that is not foreseen.
void HeatMap::find_shared_words(const ModelBlock& model) {
    add_started();
    Counts all = std::exchange(shared_.counts, {});
    if (model.is_proved()) {
        model.for_shared_accesses([&](const Access& a) { count(a, true); });
        add_started();
    }
    const Counts unforeseen = std::exchange(shared_.counts, std::move(all));
    for (std::size_t f = 0; f < heat_figures; ++f) {
        const WordCounts& counts = shared_.counts[f];
        if (!counts.any()) continue;
        for (std::uint64_t word = 0; word <= shared_.word_of(shared_.end); ++word)
            if (const std::uint64_t number = counts.at(word))
                model_.shared.push_back({HeatFigure(f), word, number, unforeseen[f].at(word)});
    }
}

void HeatMap::on_followed(const ModelBlock& model, std::uint32_t, const Statistics&) {
    ++model_.followers;
    for (const ModelBlock::Move& move : model.moves()) add_moved(model, move);
}

void HeatMap::add_moved(const ModelBlock& model, const ModelBlock::Move& move) {
    Region* const region = region_of(move.pc, model.begin(move.pc) + move.distance,
                                     model.end(move.pc) + move.distance, false);
    if (region && move.distance % WordCounts::word_bytes == 0) {
        WordCounts& counts = region->counts[std::size_t(figure_of(kernel_->lines[move.pc].access))];
        for (const WordRun& run : model_.global[move.pc])
            counts.add(
                region->word_of(std::uint64_t(run.first) * WordCounts::word_bytes + move.distance),
                run.words, run.lanes);
        return;
    }
    model.for_moved_accesses(move, [&](const Access& a) { count_lanes(a); });
}

// Adds the counts of shared memory of the blocks that have followed the model.
void HeatMap::add_followers() {
    add_started();
    const std::uint64_t followers = std::exchange(model_.followers, 0);
    const std::uint64_t foreseen = std::exchange(model_.foreseen, 0);
    for (const Model::SharedWord& word : model_.shared)
        if (const std::uint64_t number =
                word.number * followers + (word.number - word.unforeseen) * foreseen)
            shared_.counts[std::size_t(word.figure)].add(word.word, 1, number);
    for (std::size_t f = 0; f < heat_figures; ++f)
        shared_.counts[f] += std::exchange(before_model_[f], {});
}

}  // namespace warpscope::emulator
