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

/// The accesses are those of two blocks, whose orders together are searched.
bool is_of_two_blocks(const Finding& finding) {
    return finding.first.block != finding.second->block;
}

WitnessWords words_of(emulator::Machine& machine, const emulator::FrozenLaunch& launch,
                      const emulator::Dim3& block, const emulator::Witness& witness,
                      const OrderSearch::Result& found) {
    const emulator::ScheduleFile file =
        schedule_of(*launch.kernel, launch.launch.grid, block, witness);
    return {.sentence = witness_sentence(machine, *launch.kernel, witness, found),
            .preemptions = witness.preemptions,
            .turns = turn_words(file),
            .schedule = file.text()};
}

/// Searches one block, or all blocks together, for the findings of its kernel.
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
        const bool together = is_of_two_blocks(*findings[0]) || launch.launch.cooperative;
        const OrderSearch::Result found =
            together ? search.run_together(specimen.machine(), launch)
                     : search.run(specimen.machine(), launch,
                                  std::uint32_t(linear_in(launch.launch.grid, block)));
        for (std::size_t k = 0; k < findings.size(); ++k) {
            const auto& witness = found.witnesses[k];
            findings[k]->witness =
                witness ? words_of(specimen.machine(), launch, block, *witness, found)
                        : WitnessWords{.sentence = coverage_sentence(kernel, search, found)};
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
    std::map<std::tuple<std::string, bool, std::uint32_t, std::uint32_t, std::uint32_t>,
             std::vector<Finding*>>
        of_block;
    for (Finding& finding : findings) {
        if (finding.kind != emulator::FindingKind::race || !finding.second) continue;
        const bool together = is_of_two_blocks(finding);
        const emulator::Dim3 block = together ? emulator::Dim3{0, 0, 0} : finding.place().block;
        of_block[{finding.kernel, together, block.z, block.y, block.x}].push_back(&finding);
    }
    const auto deadline = std::chrono::steady_clock::now() + time;
    for (const auto& [where, races] : of_block) {
        const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(
            deadline - std::chrono::steady_clock::now());
        search_block(races, state, std::max(left, time / 8), stop, progress);
    }
}

}  // namespace warpscope::experiments
