#pragma once

#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <numeric>
#include <string>
#include <vector>

#include "emulator/checks/barrier_check.h"
#include "emulator/machine/machine.h"
#include "emulator/observe/observer_list.h"
#include "emulator/races/race_detector.h"

namespace warpscope::tests {

/// The text of an embedded PTX file of this folder.
std::string_view race_kernels(std::string_view file);

/// Runs one block of a kernel of kernels.cu, or of another file, under the race detector and the
/// barrier check. Its argument has `words` words; 0: one for each thread.
inline std::vector<emulator::Finding> check_kernel(const std::string& name, std::uint32_t threads,
                                                   const emulator::LaunchSettings& settings,
                                                   const std::string& file = "kernels",
                                                   std::uint32_t words = 0) {
    static std::map<std::string, std::shared_ptr<const emulator::Module>> modules;
    auto& module = modules[file];
    if (!module)
        module = emulator::Module::parse(race_kernels(file + ".ptx"), "races/" + file + ".cu");
    emulator::Machine machine;
    emulator::RaceDetector races;
    emulator::BarrierCheck barriers;
    emulator::ObserverList all;
    all.add(races);
    all.add(barriers);
    void* out = machine.memory().allocate((words ? words : threads) * 4);
    const void* arguments[] = {&out};
    machine.run(*module->find(name), {{1, 1, 1}, {threads, 1, 1}, 0}, arguments, settings, &all);
    return emulator::merged({races.findings(), barriers.findings()});
}

/// The two fixed schedules, and the random one with `seeds` seeds.
inline std::vector<emulator::LaunchSettings> schedules(std::uint64_t seeds = 6) {
    using emulator::Schedule;
    std::vector<emulator::LaunchSettings> all{{.schedule = Schedule::run_to_barrier},
                                              {.schedule = Schedule::reverse}};
    for (std::uint64_t seed = 1; seed <= seeds; ++seed)
        all.push_back({.schedule = Schedule::random, .seed = seed});
    return all;
}

inline std::uint64_t count(const std::vector<emulator::Finding>& findings,
                           emulator::FindingKind kind, emulator::Severity severity) {
    return std::accumulate(findings.begin(), findings.end(), std::uint64_t(0),
                           [&](std::uint64_t n, const emulator::Finding& f) {
                               return n + (f.kind == kind && f.severity == severity ? f.count : 0);
                           });
}

inline std::uint64_t count(const std::vector<emulator::Finding>& findings,
                           emulator::Hazard hazard) {
    return std::accumulate(findings.begin(), findings.end(), std::uint64_t(0),
                           [&](std::uint64_t n, const emulator::Finding& f) {
                               return n + (f.hazard == hazard ? f.count : 0);
                           });
}

inline std::string sentences(const std::vector<emulator::Finding>& findings) {
    std::string all;
    for (const emulator::Finding& f : findings)
        all += std::to_string(f.count) + " " + std::string(to_string(f.severity)) + " " +
               std::string(to_string(f.hazard)) + ": " + f.sentence.english() + "\n";
    return all;
}

}  // namespace warpscope::tests
