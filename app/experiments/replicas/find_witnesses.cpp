#include "experiments/replicas/find_witnesses.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <map>
#include <optional>
#include <stdexcept>
#include <utility>

#include "emulator/machine/together/launch_together.h"
#include "emulator/machine/together/resident_blocks.h"
#include "emulator/program/error.h"
#include "emulator/witness/order_search.h"
#include "emulator/witness/schedule_file.h"
#include "emulator/witness/witness_words.h"
#include "experiments/replicas/result_words.h"

namespace warpscope::experiments {

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
            throw emulator::Error("the two accesses are those of two clusters");
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
std::string about_lanes(const Finding& race, const emulator::LaunchShape& launch) {
    const auto warp = [&](const emulator::ThreadAtLine& party) {
        return linear_in(launch.block, party.thread) / emulator::lanes_per_warp;
    };
    const bool one_warp =
        race.first.block == race.second->block && warp(race.first) == warp(*race.second);
    return one_warp ? "Both threads are of one warp, and only warps are reordered. " : "";
}

void say(Finding& race, const std::string& sentence) {
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
                say(*races[k], about_lanes(*races[k], launch().launch) +
                                   coverage_sentence(*launch().kernel, search, found));
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
    std::string why;
    try {
        return work();
    } catch (const compute::Cancelled&) {
        why = "the run was stopped";
    } catch (const std::runtime_error& error) {
        why = error.what();
    }
    if (why.ends_with('.')) why.pop_back();
    for (Finding* race : races) say(*race, "No order was searched: " + why + ".");
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
                throw emulator::Error("the first frame does not launch this kernel");
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

}  // namespace warpscope::experiments
