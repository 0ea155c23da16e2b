#include "ui/finders/witness_finder.h"

#include <exception>
#include <utility>

#include "emulator/witness/schedule_file.h"
#include "experiments/measure/user_paths.h"
#include "experiments/replicas/find_witnesses.h"

namespace warpscope::ui {

namespace {

WitnessFinder::Found find(const WitnessFinder::Checked& checked, emulator::Finding finding,
                          const std::stop_token& stop,
                          const std::shared_ptr<compute::LaunchProgress>& progress) {
    try {
        std::vector<emulator::Finding> one{finding};
        one[0].kernel.clear();  // the launch of the check
        experiments::find_witnesses(one, *checked, std::chrono::seconds(2), stop, progress);
        one = experiments::as_named(std::move(one), checked->edits);
        finding.witness = std::move(one[0].witness);
        if (!finding.witness || !finding.witness->preemptions) return {finding, nullptr};
        auto launch = std::make_shared<experiments::LaunchState>(*checked);
        launch->settings.turns = std::make_shared<emulator::ScheduleFile>(
            emulator::ScheduleFile::parse(finding.witness->schedule, "the witness"));
        return {finding, std::move(launch)};
    } catch (const std::exception& error) {
        finding.witness = emulator::WitnessWords{.sentence = error.what()};
        return {finding, nullptr};
    }
}

}  // namespace

void WitnessFinder::look(Checked checked, emulator::Finding finding) {
    cancel();
    stop_ = std::stop_source();
    progress_ = std::make_shared<compute::LaunchProgress>();
    work_ = std::async(std::launch::async, find, std::move(checked), std::move(finding),
                       stop_.get_token(), progress_);
}

double WitnessFinder::progress() const {
    const auto now = progress_ ? progress_->now() : compute::LaunchProgress::Reading{};
    return now.blocks > 0 ? double(now.done) / double(now.blocks) : 0;
}

std::optional<WitnessFinder::Found> WitnessFinder::take() {
    if (!works() || work_.wait_for(std::chrono::seconds(0)) != std::future_status::ready) return {};
    return work_.get();
}

}  // namespace warpscope::ui
