#include "experiments/replicas/find_witnesses.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <stdexcept>
#include <tuple>

#include "emulator/program/error.h"
#include "emulator/witness/order_search.h"
#include "emulator/witness/schedule_file.h"
#include "emulator/witness/witness_words.h"
#include "experiments/replicas/expected_words.h"

namespace warpscope::experiments {

namespace {

using emulator::Finding;
using emulator::OrderSearch;
using emulator::WitnessWords;

/// Why there is nothing to look for; empty: there is.
std::string obstacle(const Finding& finding) {
    if (finding.first.block != finding.second->block)
        return "The accesses are in two blocks; only orders of the warps of one block are "
               "searched.";
    return {};
}

/// Searches one block for the findings of its kernel.
void search_block(const std::vector<Finding*>& findings, const LaunchState& state,
                  std::chrono::milliseconds time, const std::stop_token& stop,
                  const std::shared_ptr<compute::LaunchProgress>& progress) {
    const auto say = [&](const std::string& sentence) {
        for (Finding* finding : findings) finding->witness = WitnessWords{.sentence = sentence};
    };
    const emulator::Dim3 block = findings[0]->place().block;
    OrderSearch search{.time = time, .stop = stop, .progress = progress};
    for (const Finding* finding : findings)
        search.pairs.emplace_back(finding->first.where(), finding->second->where());
    try {
        Specimen specimen(state, compute::usual_emulator_memory(), stop, {}, findings[0]->kernel);
        const emulator::FrozenLaunch& launch = specimen.launch();
        const emulator::Kernel& kernel = *launch.kernel;
        if (!findings[0]->kernel.empty() && kernel.name != findings[0]->kernel)
            return say("No order was searched: the first frame does not launch this kernel.");
        search.judge = expected_words(specimen, state, stop);
        const OrderSearch::Result found = search.run(
            specimen.machine(), launch, std::uint32_t(linear_in(launch.launch.grid, block)));
        for (std::size_t k = 0; k < findings.size(); ++k) {
            const auto& witness = found.witnesses[k];
            WitnessWords words{.sentence = coverage_sentence(kernel, search, found)};
            if (witness) {
                words = {
                    .sentence = witness_sentence(specimen.machine(), kernel, *witness, found),
                    .preemptions = witness->preemptions,
                    .turns = turn_words(kernel, *witness),
                    .schedule = emulator::ScheduleFile::of(kernel, block, witness->turns).text()};
            }
            findings[k]->witness = std::move(words);
        }
    } catch (const compute::Cancelled&) {
        say("No order was searched: the run was stopped.");
    } catch (const std::runtime_error& error) {
        say(fmt::format("No order was searched: {}", error.what()));
    }
}

}  // namespace

void find_witnesses(std::vector<Finding>& findings, const LaunchState& state,
                    std::chrono::milliseconds time, std::stop_token stop,
                    std::shared_ptr<compute::LaunchProgress> progress) {
    std::map<std::tuple<std::string, std::uint32_t, std::uint32_t, std::uint32_t>,
             std::vector<Finding*>>
        of_block;
    for (Finding& finding : findings) {
        if (finding.kind != emulator::FindingKind::race || !finding.second) continue;
        if (const std::string why = obstacle(finding); !why.empty()) {
            finding.witness = WitnessWords{.sentence = why};
            continue;
        }
        const emulator::Dim3 block = finding.place().block;
        of_block[{finding.kernel, block.z, block.y, block.x}].push_back(&finding);
    }
    const auto deadline = std::chrono::steady_clock::now() + time;
    for (const auto& [where, races] : of_block) {
        const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(
            deadline - std::chrono::steady_clock::now());
        search_block(races, state, std::max(left, time / 8), stop, progress);
    }
}

}  // namespace warpscope::experiments
