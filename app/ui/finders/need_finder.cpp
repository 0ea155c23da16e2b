#include "ui/finders/need_finder.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <exception>
#include <utility>

#include "experiments/measure/user_paths.h"
#include "ui/language/language.h"
#include "ui/widgets/futures.h"

namespace warpscope::ui {
namespace {

NeedFinder::Answer examine(const NeedFinder::Checked& launch, const std::stop_token& stop,
                           const std::shared_ptr<compute::LaunchProgress>& progress) {
    auto found = std::make_shared<experiments::NeededBarriers>();
    found->launch = launch;
    try {
        *found = experiments::find_needed(launch, std::chrono::seconds(5), stop, progress);
        for (auto& barrier : found->barriers)
            barrier.finding.sentence =
                experiments::as_shown(std::move(barrier.finding.sentence), launch->edits);
    } catch (const std::exception&) {
        // The launch can't be copied, which the checks report.
    }
    return found;
}

}  // namespace

void NeedFinder::look(Checked launch) {
    stop();
    stop_ = std::stop_source();
    answer_.reset();
    chosen_.reset();
    progress_ = std::make_shared<compute::LaunchProgress>();
    work_ =
        std::async(std::launch::async, examine, std::move(launch), stop_.get_token(), progress_);
}

void NeedFinder::collect() {
    was_pointed_ = std::exchange(pointed_, std::nullopt);
    if (is_ready(work_)) answer_ = work_.get();
}

void NeedFinder::toggle(std::size_t barrier) {
    if (chosen_ == barrier)
        chosen_.reset();
    else
        chosen_ = barrier;
}

const NeedFinder::Barrier* NeedFinder::shown() const {
    const auto which = pointed_ ? pointed_ : was_pointed_ ? was_pointed_ : chosen_;
    if (!answer_ || !which || *which >= answer_->barriers.size()) return nullptr;
    return &answer_->barriers[*which];
}

std::span<const NeedFinder::Barrier> NeedFinder::of(const compute::KernelEdits& edits) const {
    if (!answer_ || answer_->launch->edits != edits) return {};
    return answer_->barriers;
}

std::string share_words(const NeedFinder::Barrier& barrier) {
    if (barrier.words == 0) return "0 %";
    const double share = 100.0 * double(barrier.finding.count) / double(barrier.words);
    return fmt::format("{:.{}f} %", share, share > 0 && share < 10 ? 1 : 0);
}

std::string mark_words(const NeedFinder::Barrier& barrier) {
    return barrier.is_needed ? tr("{} depend on it", share_words(barrier))
                             : std::string(tr("nothing needed it for this input"));
}

using experiments::Dependence;

ImU32 dependence_colour(Dependence dependence) {
    constexpr ImU32 grey = IM_COL32(110, 112, 118, 190), magenta = IM_COL32(255, 60, 170, 190);
    return dependence == Dependence::depends ? magenta : dependence == Dependence::none ? grey : 0;
}

const std::vector<Dependence>& dependence_of(const Stage& stage, const NeedFinder& needs,
                                             const std::string& buffer) {
    static const std::vector<Dependence> nothing;
    const auto& inspection = stage.checks().inspection;
    const NeedFinder::Barrier* const barrier = needs.shown();
    if (!barrier || !inspection || !needs.knows(inspection->launch)) return nothing;
    const auto& results = needs.answer()->results;
    for (std::size_t k = 0; k < std::min(results.size(), barrier->elements.size()); ++k)
        if (results[k].name == buffer) return barrier->elements[k];
    return nothing;
}

}  // namespace warpscope::ui
