#include "ui/panels/work_chip.h"

#include <fmt/format.h>

#include <chrono>
#include <cmath>

#include "experiments/framework/frame_cost.h"
#include "ui/widgets/format.h"
#include "ui/widgets/widgets.h"

namespace warpscope::ui {
namespace {

/// Shorter work is over before a person could read about it.
constexpr double long_seconds = 0.3;
/// The share of the blocks from which on the time that is left can be told.
constexpr double telling_share = 0.02;

double seconds_since(std::chrono::steady_clock::time_point since) {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - since).count();
}

/// In whole seconds, so that the words stand still.
std::string duration(double seconds) {
    return experiments::duration_words(std::ceil(seconds));
}

}  // namespace

std::string work_words(Activity activity, std::uint64_t frame, double seconds,
                       const compute::LaunchProgress::Reading& launch) {
    if (seconds < long_seconds) return {};
    if (activity == Activity::report)
        return fmt::format("Comparing with double precision · {} so far", duration(seconds));
    if (activity == Activity::comparison)
        return fmt::format("Comparing the variants · {} so far", duration(seconds));
    std::string words = fmt::format("Frame {}", quantity(double(frame), ""));
    const double share = launch.blocks > 0 ? double(launch.done) / double(launch.blocks) : 0;
    if (launch.blocks > 0) words += fmt::format(" · {:.0f} % of the blocks", 100 * share);
    if (share >= telling_share && share < 1)
        return words + fmt::format(" · about {} left", duration(seconds * (1 - share) / share));
    return words + fmt::format(" · {} so far", duration(seconds));
}

std::string block_words(double seconds, const compute::LaunchProgress::Reading& earlier) {
    if (seconds < long_seconds) return {};
    std::string words = "Running the block";
    if (earlier.done < earlier.blocks)
        words += fmt::format(" · {:.0f} % of the earlier blocks",
                             100 * double(earlier.done) / double(earlier.blocks));
    return words + fmt::format(" · {} so far", duration(seconds));
}

std::string WorkChip::words() const {
    const BlockRun& run = microscope_.run();
    if (run.works()) return block_words(seconds_since(run.works_since()), run.progress());
    const auto work = stage_.work();
    if (!work) return {};
    return work_words(work->activity, stage_.frame() + 1, seconds_since(work->since), work->launch);
}

void WorkChip::cancel() {
    if (microscope_.run().works())
        microscope_.cancel();
    else
        stage_.cancel();
}

void WorkChip::draw(Ui& ui) {
    const std::string words = this->words();
    if (words.empty()) return;
    const char* const cancel = "Cancel";
    const float gap = ui.px(10), height = ImGui::GetFrameHeight() + ui.px(8);
    const float width = ImGui::CalcTextSize(words.c_str()).x + button_width(cancel) + 3 * gap;
    const ImVec2 window = ImGui::GetWindowPos();
    const ImVec2 low{window.x + ImGui::GetWindowWidth() - width - gap, window.y + gap};
    // In a child window of its own, the button lies over the picture, which uses the mouse too.
    ImGui::SetCursorScreenPos(low);
    ImGui::PushStyleColor(ImGuiCol_ChildBg, faded(colour::background, 0.92F));
    ImGui::PushStyleVar(ImGuiStyleVar_ChildRounding, ui.px(6));
    ImGui::BeginChild("work", {width, height}, false, ImGuiWindowFlags_NoScrollbar);
    ImGui::SetCursorScreenPos({low.x + gap, low.y + ui.px(4)});
    ImGui::AlignTextToFramePadding();
    text(ui.fonts.body, colour::text, words);
    record(ui, "work", words);
    ImGui::SameLine(0, gap);
    if (flat_button(ui, "work.cancel", cancel, true)) this->cancel();
    tooltip(ui, "End this computation and go back to the last good state (Esc).");
    ImGui::EndChild();
    ImGui::PopStyleVar();
    ImGui::PopStyleColor();
}

}  // namespace warpscope::ui
