#include "experiments/replicas/searches.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <functional>
#include <map>
#include <optional>
#include <stdexcept>
#include <utility>

#include "compute/emulated/emulated_device.h"
#include "emulator/machine/together/launch_together.h"
#include "emulator/machine/together/resident_blocks.h"
#include "emulator/program/error.h"
#include "emulator/witness/needed_barriers.h"
#include "emulator/witness/order_search.h"
#include "emulator/witness/schedule_file.h"
#include "emulator/witness/witness_words.h"
#include "experiments/replicas/wrong_results.h"
#include "launches/arrays/array_comparison.h"

namespace warpscope::experiments {

namespace {

/// The numbers in a word.
launches::Array numbers_in(std::uint32_t word, const launches::ElementType& type) {
    launches::Array numbers({type.kind, type.bytes, 1}, {sizeof word / type.bytes});
    std::memcpy(numbers.bytes.data(), &word, sizeof word);
    return numbers;
}

/// With no more digits than a float has.
std::string number_words(const launches::Array& numbers, std::size_t k) {
    const double value = launches::real(numbers.at(k));
    const bool is_float = numbers.type.is_real() && value != std::round(value);
    return is_float ? fmt::format("{}", float(value)) : launches::to_string(numbers.at(k));
}

emulator::NamedWord named(const KnownResult& result, std::uint64_t offset, std::uint32_t value,
                          std::uint32_t expected) {
    const launches::Array found = numbers_in(value, result.type),
                          right = numbers_in(expected, result.type);
    if (result.is_picture) {
        const auto [now, wanted] = launches::colour_words(found, right, 0);
        return {launches::element_words(result.name, true, result.shape, offset / sizeof value),
                now, wanted};
    }
    std::size_t first = 0;
    while (first + 1 < found.numbers() && found.at(first) == right.at(first)) ++first;
    launches::Array indexed;
    indexed.type = result.type;
    indexed.shape = result.shape;
    return {launches::place_words(result.name, indexed, offset / result.type.bytes + first),
            number_words(found, first), number_words(right, first)};
}

}  // namespace

emulator::NameWord word_names(Experiment& experiment) {
    return [results = experiment.results()](std::uint64_t address, std::uint32_t value,
                                            std::uint32_t expected) {
        std::optional<emulator::NamedWord> found;
        for (const KnownResult& result : results) {
            std::uint64_t bytes = result.type.size();
            for (const std::size_t side : result.shape) bytes *= side;
            const bool is_here = address >= result.address && address - result.address < bytes;
            // A word is a part of a number of 8 bytes.
            if (is_here && result.type.bytes <= sizeof value)
                found = named(result, address - result.address, value, expected);
        }
        return found;
    };
}

namespace {

/// Compares the numbers that lie in the word at `offset` of a buffer with the right ones.
emulator::WordVerdict verdict(const KnownResult& known, const launches::Array& right,
                              std::uint64_t offset) {
    const std::uint64_t bytes = known.type.bytes, first = offset / bytes;
    const std::uint64_t end =
        std::min<std::uint64_t>((offset + 4 + bytes - 1) / bytes, right.numbers());
    if (first >= end) return emulator::WordVerdict::unknown;
    const std::uint64_t begin = first * bytes, count = (end - first) * bytes;
    if (std::memcmp(reinterpret_cast<const void*>(known.address + begin),
                    right.bytes.data() + begin, count) == 0)
        return emulator::WordVerdict::right;
    if (!known.type.is_real() && known.absolute == 0 && known.relative == 0)
        return emulator::WordVerdict::wrong;
    const launches::ElementType one{known.type.kind, known.type.bytes, 1};
    launches::Array found(one, {std::size_t(end - first)}), wanted = found;
    std::memcpy(found.bytes.data(), reinterpret_cast<const void*>(known.address + first * bytes),
                found.bytes.size());
    std::memcpy(wanted.bytes.data(), right.bytes.data() + first * bytes, wanted.bytes.size());
    const bool is_right =
        launches::out_of_tolerance(found, wanted, known.absolute, known.relative).count == 0;
    return is_right ? emulator::WordVerdict::right : emulator::WordVerdict::wrong;
}

}  // namespace

emulator::JudgeWord expected_words(Specimen& specimen, const LaunchState& state,
                                   const std::stop_token& stop) {
    const auto known =
        std::make_shared<const std::vector<KnownResult>>(specimen.experiment().known_results());
    if (std::ranges::all_of(*known, &KnownResult::is_captured)) return {};
    // The file may expect numbers that another one of its kernels computes.
    const auto results =
        std::make_shared<const WrongResults>(std::make_shared<const LaunchState>(state), stop);
    return [known, results](std::uint64_t address) {
        for (std::size_t k = 0; k < known->size(); ++k) {
            const launches::Array& right = results->results()[k].right;
            const std::uint64_t offset = address - (*known)[k].address;
            if (address >= (*known)[k].address && offset < right.bytes.size())
                return verdict((*known)[k], right, offset);
        }
        return emulator::WordVerdict::unknown;
    };
}

namespace {

using emulator::Finding;
using emulator::OrderSearch;
using emulator::WitnessWords;

/// Blocks whose orders are searched together, or one that is searched alone.
struct Searched {
    std::vector<std::uint32_t> blocks;
    bool together = false;
    auto operator<=>(const Searched&) const = default;
};

/// Those of a race: its cluster, its two blocks, or the whole launch if that is small.
Searched blocks_of(const Finding& race, const emulator::FrozenLaunch& launch) {
    const emulator::LaunchShape& shape = launch.launch;
    const auto first = std::uint32_t(linear_in(shape.grid, race.first.block));
    const auto second = std::uint32_t(linear_in(shape.grid, race.second->block));
    emulator::BlockGroup all{shape, {}};
    for (std::uint32_t k = 0; k < std::min<std::uint64_t>(shape.grid.count(), all.most_units); ++k)
        all.blocks.push_back(k);
    if (shape.cooperative) return {all.blocks, true};
    if (emulator::ClusterLaunch::is_needed(*launch.kernel, shape)) {
        const std::uint32_t number = emulator::ClusterPlace::of(shape, first).cluster;
        const Searched cluster{emulator::blocks_of_clusters(shape, number), true};
        if (std::ranges::find(cluster.blocks, second) == cluster.blocks.end())
            throw emulator::Error(files::sentence("the two accesses are those of two clusters"));
        return cluster;
    }
    if (first == second) return {{first}, false};
    constexpr std::size_t few = 4;
    if (all.is_whole() && all.blocks.size() <= few && all.units() <= all.most_units)
        return {all.blocks, true};
    return {{std::min(first, second), std::max(first, second)}, true};
}

WitnessWords words_of(emulator::Machine& machine, const emulator::FrozenLaunch& launch,
                      const emulator::Dim3& block, const emulator::Witness& witness,
                      const OrderSearch::Result& found, const emulator::NameWord& name) {
    const emulator::ScheduleFile file =
        schedule_of(*launch.kernel, launch.launch.grid, block, witness);
    return {.sentence = witness_sentence(machine, *launch.kernel, witness, found, name),
            .preemptions = witness.preemptions,
            .turns = turn_words(file),
            .schedule = file.text()};
}

/// Of a race within a warp: what no order shows.
files::Sentence about_lanes(const Finding& race, const emulator::LaunchShape& launch) {
    const auto warp = [&](const emulator::ThreadAtLine& party) {
        return linear_in(launch.block, party.thread) / emulator::lanes_per_warp;
    };
    const bool one_warp =
        race.first.block == race.second->block && warp(race.first) == warp(*race.second);
    return one_warp ? files::sentence("Both threads are of one warp, and only warps are reordered.")
                    : files::Sentence();
}

void say(Finding& race, const files::Sentence& sentence) {
    race.witness = WitnessWords{.sentence = sentence};
}

/// Searches witnesses for the races of one kernel.
class KernelSearch {
  public:
    KernelSearch(const LaunchState& state, const std::string& kernel, const std::stop_token& stop,
                 std::shared_ptr<compute::LaunchProgress> progress)
        : specimen_(state, compute::usual_emulator_memory(), stop, {}, kernel),
          judge_(expected_words(specimen_, state, stop)),
          name_(word_names(specimen_.experiment())),
          stop_(stop),
          progress_(std::move(progress)) {}

    const emulator::FrozenLaunch& launch() const { return specimen_.launch(); }

    void run(const Searched& searched, const std::vector<Finding*>& races,
             std::chrono::milliseconds time) {
        OrderSearch search{.time = time, .stop = stop_, .progress = progress_, .judge = judge_};
        for (const Finding* race : races)
            search.pairs.emplace_back(race->first.where(), race->second->where());
        emulator::Machine& machine = specimen_.machine();
        const OrderSearch::Result found =
            searched.together ? search.run_together(machine, launch(), searched.blocks)
                              : search.run(machine, launch(), searched.blocks[0]);
        const emulator::Dim3 block = races[0]->place().block;
        for (std::size_t k = 0; k < races.size(); ++k) {
            const auto& witness = found.witnesses[k];
            if (witness)
                races[k]->witness = words_of(machine, launch(), block, *witness, found, name_);
            else
                say(*races[k], about_lanes(*races[k], launch().launch)
                                   .add(coverage_sentence(*launch().kernel, search, found)));
        }
    }

  private:
    Specimen specimen_;
    const emulator::JudgeWord judge_;
    const emulator::NameWord name_;
    const std::stop_token& stop_;
    const std::shared_ptr<compute::LaunchProgress> progress_;
};

/// Calls `work`, and says of the races why there was nothing to search.
void say_why_not(const std::vector<Finding*>& races, const std::function<void()>& work) {
    files::Sentence why;
    try {
        return work();
    } catch (const compute::Cancelled&) {
        why = files::sentence("the run was stopped");
    } catch (const std::runtime_error& error) {
        why = files::words_of(error);
    }
    if (const std::string text = why; text.ends_with('.')) why = text.substr(0, text.size() - 1);
    for (Finding* race : races) say(*race, files::sentence("No order was searched: {}.", why));
}

}  // namespace

void find_witnesses(std::vector<Finding>& findings, const LaunchState& state,
                    std::chrono::milliseconds time, std::stop_token stop,
                    std::shared_ptr<compute::LaunchProgress> progress) {
    std::map<std::string, std::vector<Finding*>> of_kernel;
    for (Finding& finding : findings)
        // Equal values do no harm in any order.
        if (finding.kind == emulator::FindingKind::race && finding.second &&
            finding.severity != emulator::Severity::note)
            of_kernel[finding.kernel].push_back(&finding);
    // What comes before a search, such as the launch that it begins with, takes none of its time.
    std::chrono::milliseconds left = time;
    for (const auto& [kernel, races] : of_kernel) {
        std::optional<KernelSearch> search;
        std::map<Searched, std::vector<Finding*>> of_blocks;
        say_why_not(races, [&] {
            search.emplace(state, kernel, stop, progress);
            if (!kernel.empty() && search->launch().kernel->name != kernel)
                throw emulator::Error(
                    files::sentence("the first frame does not launch this kernel"));
            for (Finding* race : races)
                say_why_not({race},
                            [&] { of_blocks[blocks_of(*race, search->launch())].push_back(race); });
        });
        for (const auto& [searched, found] : of_blocks)
            say_why_not(found, [&] {
                const auto start = std::chrono::steady_clock::now();
                search->run(searched, found, std::max(left, time / 8));
                left -= std::chrono::duration_cast<std::chrono::milliseconds>(
                    std::chrono::steady_clock::now() - start);
            });
    }
}

namespace {

/// The number of elements of a result; 0: it has too many bytes to be painted.
std::size_t painted_elements(const KnownResult& result) {
    constexpr std::size_t most_bytes = std::size_t(64) << 20;
    std::size_t count = 1;
    for (const std::size_t side : result.shape) count *= side;
    return count * result.type.size() <= most_bytes ? count : 0;
}

/// Collects the names of kernels that are launched.
class LaunchedKernels : public emulator::Observer {
  public:
    void on_launch(const emulator::Kernel& kernel, const emulator::LaunchShape&) override {
        if (std::ranges::find(names, kernel.name) == names.end()) names.push_back(kernel.name);
    }
    bool wants(std::uint32_t) override { return false; }
    std::vector<std::string> names;
};

/// The kernels of a frame, in the order of their first launches.
std::vector<std::string> kernels_of(const LaunchState& state, const std::stop_token& stop) {
    const Replica replica = make_replica(state, compute::usual_emulator_memory(), stop);
    LaunchedKernels launched;
    const compute::Observing observing(*replica.device, launched);
    replica.experiment->launch_kernel();
    return launched.names;
}

/// Marks the elements that have bytes of these words.
void mark(std::vector<Dependence>& elements, const KnownResult& result,
          const std::vector<std::uint64_t>& words, Dependence dependence) {
    const std::uint64_t begin = result.address, bytes = result.type.size();
    const std::uint64_t end = begin + elements.size() * bytes;
    auto word = std::ranges::lower_bound(words, begin & ~3ull);
    for (; word != words.end() && *word < end; ++word) {
        const std::uint64_t first = (std::max(*word, begin) - begin) / bytes;
        const std::uint64_t last = (std::min(*word + 4, end) - 1 - begin) / bytes;
        for (std::uint64_t k = first; k <= last; ++k) elements[k] = dependence;
    }
}

/// Adds the barriers of the kernel that the specimen stops before.
void add_barriers(NeededBarriers& all, Specimen& specimen, const emulator::Necessity& found) {
    const std::vector<KnownResult> results = specimen.experiment().results();
    for (const emulator::NeededLine& line : found.lines) {
        auto& barrier = all.barriers.emplace_back(
            NeededBarriers::Barrier{line.finding, line.is_needed, found.words.size(), {}});
        for (const KnownResult& result : results) {
            auto& elements = barrier.elements.emplace_back();
            elements.resize(painted_elements(result), Dependence::unknown);
            mark(elements, result, found.words, Dependence::none);
            mark(elements, result, line.words, Dependence::depends);
        }
    }
}

/// What the launches leave in memory.
void take_results(NeededBarriers& all, const std::stop_token& stop) {
    const Replica replica = make_replica(*all.launch, compute::usual_emulator_memory(), stop);
    replica.experiment->launch_kernel();
    all.places = replica.experiment->places();
    for (const KnownResult& result : replica.experiment->results()) {
        const std::size_t elements = painted_elements(result);
        launches::Array values(result.type, elements ? result.shape : std::vector<std::size_t>{0});
        replica.device->download(values.bytes.data(), result.address, values.bytes.size());
        all.results.push_back({result.name, result.is_picture, std::move(values)});
    }
}

}  // namespace

std::vector<emulator::Finding> NeededBarriers::findings() const {
    std::vector<emulator::Finding> all;
    for (const Barrier& barrier : barriers) all.push_back(barrier.finding);
    return all;
}

NeededBarriers find_needed(std::shared_ptr<const LaunchState> launch,
                           std::chrono::milliseconds time, std::stop_token stop,
                           std::shared_ptr<compute::LaunchProgress> progress) {
    NeededBarriers all;
    all.launch = std::move(launch);
    const LaunchState& state = *all.launch;
    try {
        for (const std::string& name : kernels_of(state, stop)) {
            Specimen specimen(state, compute::usual_emulator_memory(), stop, {}, name);
            const emulator::NecessityCheck check{.time = time,
                                                 .stop = stop,
                                                 .progress = progress,
                                                 .judge = expected_words(specimen, state, stop)};
            add_barriers(all, specimen, check.run(specimen.machine(), specimen.launch()));
        }
        if (!all.barriers.empty()) take_results(all, stop);
    } catch (const emulator::Error&) {
        // The other checks report a launch that fails.
    } catch (const compute::DeviceError&) {
        // So they do here; or the run was stopped.
    }
    return all;
}

}  // namespace warpscope::experiments
