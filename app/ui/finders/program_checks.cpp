#include "ui/finders/program_checks.h"

#include <exception>
#include <utility>

#include "experiments/replicas/word_history.h"
#include "ui/widgets/futures.h"

namespace warpscope::ui {
namespace {

/// Of a launch that takes more, the first blocks are checked: a program may make thousands.
constexpr std::uint64_t most_instructions = 50'000'000;

std::optional<RaceSummary> check(compute::Helpers& helpers, const std::filesystem::path& file,
                                 const compute::RunSettings& settings,
                                 const std::stop_token& stop) {
    Checks checks{.current = true};
    try {
        const auto state =
            experiments::open_captured(helpers, launches::read_launch_file(file), settings, stop);
        checks.inspection = std::make_shared<const experiments::Inspection>(
            experiments::inspect(*state, Inspector::automatic_bytes, stop, most_instructions));
    } catch (const compute::OutOfMemory& error) {
        checks.error = error.what();
        checks.too_large = true;
    } catch (const std::exception& error) {
        checks.error = error.what();
    }
    if (stop.stop_requested()) return {};
    return summarize(checks, true);
}

}  // namespace

void ProgramChecks::forget() {
    stop_.request_stop();
    stop_ = std::stop_source();
    known_.clear();
    next_ = 0;
}

void ProgramChecks::follow(const launches::ProgramCapture& capture,
                           const compute::RunSettings& settings) {
    if (is_ready(work_))
        if (auto verdict = work_.get(); verdict) known_[now_] = std::move(*verdict);
    if (!helpers_ || work_.valid() || next_ >= capture.launches.size()) return;
    now_ = capture.launches[next_++].file;
    work_ = std::async(std::launch::async,
                       [&helpers = *helpers_, file = now_, settings, stop = stop_.get_token()] {
                           return check(helpers, file, settings, stop);
                       });
}

const RaceSummary* ProgramChecks::of(const std::filesystem::path& launch) const {
    const auto found = known_.find(launch);
    return found == known_.end() ? nullptr : &found->second;
}

}  // namespace warpscope::ui
