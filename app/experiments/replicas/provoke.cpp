#include "experiments/replicas/provoke.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <stdexcept>

#include "compute/device/kernel_files.h"
#include "emulator/witness/delays.h"

namespace warpscope::experiments {

namespace {

using emulator::Delay;
using emulator::Finding;
using emulator::Provocation;
using emulator::ThreadAtLine;

/// Whether the newest launch gave a wrong result; nullopt: no reading says so.
std::optional<bool> is_wrong(const Report& report) {
    std::optional<bool> wrong;
    for (const Reading& reading : report) {
        if (reading.verdict == Verdict::none) continue;
        wrong = wrong.value_or(false) || reading.verdict == Verdict::finding ||
                reading.verdict == Verdict::fail;
    }
    return wrong;
}

/// The race check's copy of a launch, and the GPU's.
class Provoker {
  public:
    Provoker(const LaunchState& state, unsigned launches, const DeviceOf& make_device,
             const std::stop_token& stop)
        : state_(state), launches_(launches), make_device_(make_device), stop_(stop) {}

    Provocation run(const Finding& race) {
        const ThreadAtLine &first = race.first, &second = *race.second;
        Specimen specimen(state_, compute::usual_emulator_memory(), stop_, {}, race.kernel);
        const emulator::FrozenLaunch& launch = specimen.launch();
        const auto warp = [&](const ThreadAtLine& party) {
            return std::uint32_t(linear_in(launch.launch.block, party.thread) /
                                 emulator::lanes_per_warp);
        };
        const bool one_block = first.block == second.block;
        if (one_block && warp(first) == warp(second))
            return {
                "Both accesses are of one warp; a GPU cannot be made to execute its lanes in "
                "another order."};
        if (!as_it_is_) as_it_is_ = wrong_launches({});
        if (!*as_it_is_)
            return {
                "No result of this launch is compared with a right one; give the launch file "
                "an \"expect\"."};
        Provocation best{.launches = launches_, .wrong = **as_it_is_};
        std::string where;
        // The access that the program orders first has to wait; where that is not known, each does.
        for (const ThreadAtLine* late : {&first, &second}) {
            if (late == &second && race.order == emulator::AccessOrder::as_written) continue;
            if (late == &first && race.order == emulator::AccessOrder::reversed) continue;
            Delay delay{.place = late->where()};
            if (one_block)
                delay.warp = warp(*late);
            else
                delay.block = std::uint32_t(linear_in(launch.launch.grid, late->block));
            const unsigned wrong = wrong_launches(delayed(*launch.kernel, delay)).value_or(0);
            if (!where.empty() && wrong <= best.wrong_delayed) continue;
            best.wrong_delayed = wrong;
            where = fmt::format("{} {} waits {} clocks before {}", one_block ? "warp" : "block",
                                one_block ? *delay.warp : *delay.block, delay.clocks, delay.place);
        }
        best.sentence = fmt::format("{} of {} launches give a wrong result, and {} where {}.",
                                    best.wrong, launches_, best.wrong_delayed, where);
        return best;
    }

  private:
    compute::KernelEdits delayed(const emulator::Kernel& kernel, const Delay& delay) const {
        compute::KernelEdits edits = state_.edits;
        const std::string file = compute::kernel_file(kernel.module->name());
        const auto before = edits.find(file);
        compute::KernelEdit edit{
            .file = file,
            .source = std::string(compute::kernel_source(kernel.module->name())),
            .math = state_.settings.math};
        if (before != edits.end()) edit = *before->second;
        edits[file] = with_ptx(std::move(edit), ptx_with(delay, kernel));
        return edits;
    }

    /// How many launches give a wrong result, with these edits or, without any, those of the state.
    std::optional<unsigned> wrong_launches(const compute::KernelEdits& edits) const {
        const auto device = make_device_(state_.settings, edits.empty() ? state_.edits : edits);
        const auto experiment = state_.entry.make(*device);
        experiment->resume(state_.snapshot);
        unsigned wrong = 0;
        for (unsigned k = 0; k < launches_; ++k) {
            compute::throw_if_stopped(stop_, "the count of wrong launches");
            experiment->launch_kernel();
            const std::optional<bool> now = is_wrong(experiment->report());
            if (!now) return {};
            wrong += *now;
        }
        return wrong;
    }

    const LaunchState& state_;
    const unsigned launches_;
    const DeviceOf& make_device_;
    const std::stop_token& stop_;
    std::optional<std::optional<unsigned>> as_it_is_;
};

}  // namespace

void provoke(std::vector<Finding>& findings, const LaunchState& state, unsigned launches,
             const DeviceOf& make_device, const std::stop_token& stop) {
    Provoker provoker(state, launches, make_device, stop);
    for (Finding& finding : findings) {
        if (finding.kind != emulator::FindingKind::race || !finding.second) continue;
        try {
            finding.provocation = provoker.run(finding);
        } catch (const compute::Cancelled&) {
            finding.provocation = {"The launches were stopped."};
        } catch (const std::runtime_error& error) {
            finding.provocation = {
                fmt::format("The launches ended with an error: {}", error.what())};
        }
    }
}

}  // namespace warpscope::experiments
