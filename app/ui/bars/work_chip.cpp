#include "ui/bars/work_chip.h"

#include <fmt/format.h>

#include <chrono>
#include <cmath>

#include "experiments/framework/frame_cost.h"
#include "ui/language/language.h"
#include "ui/widgets/format.h"
#include "ui/widgets/widgets.h"

namespace warpscope::ui {
namespace {

/// Shorter work is not mentioned, because it is over before a person could read about it.
constexpr double long_seconds = 0.3;
/// The remaining time is estimated once this share of the blocks has run.
constexpr double telling_share = 0.02;

double seconds_since(std::chrono::steady_clock::time_point since) {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - since).count();
}

/// Formats a duration in whole seconds, so that the words do not change all the time.
std::string duration(double seconds) {
    return experiments::duration_words(std::ceil(seconds));
}

}  // namespace

std::string work_words(Activity activity, std::uint64_t frame, double seconds,
                       const compute::LaunchProgress::Reading& launch) {
    if (seconds < long_seconds) return {};
    if (launch.compiling) return tr("Compiling kernels · {} so far", duration(seconds));
    if (activity == Activity::start) return tr("Starting · {} so far", duration(seconds));
    if (activity == Activity::report)
        return tr("Computing the results · {} so far", duration(seconds));
    if (activity == Activity::comparison)
        return tr("Comparing the variants · {} so far", duration(seconds));
    std::string words = tr("Frame {}", quantity(double(frame), ""));
    const double share = launch.blocks > 0 ? double(launch.done) / double(launch.blocks) : 0;
    if (launch.blocks > 0) words += tr(" · {:.0f} % of the blocks", 100 * share);
    if (share >= telling_share && share < 1)
        return words + tr(" · about {} left", duration(seconds * (1 - share) / share));
    return words + tr(" · {} so far", duration(seconds));
}

void draw_start(Ui& ui, const std::string& words) {
    ui.widgets.begin_frame();
    const ImVec2 size = ImGui::GetIO().DisplaySize;
    ImGui::SetNextWindowPos({0, 0});
    ImGui::SetNextWindowSize(size);
    ImGui::Begin("##start", nullptr, ImGuiWindowFlags_NoDecoration | ImGuiWindowFlags_NoBackground);
    ImGui::PushFont(ui.fonts.body);
    const ImVec2 wide = ImGui::CalcTextSize(words.c_str());
    ImGui::SetCursorScreenPos({(size.x - wide.x) / 2, (size.y - wide.y) / 2});
    text(ui.fonts.body, colour::text, words);
    record(ui, "work", words);
    ImGui::PopFont();
    ImGui::End();
}

std::string block_words(double seconds, const compute::LaunchProgress::Reading& earlier) {
    if (seconds < long_seconds) return {};
    std::string words = tr("Running the block");
    if (earlier.done < earlier.blocks)
        words += tr(" · {:.0f} % of the earlier blocks",
                    100 * double(earlier.done) / double(earlier.blocks));
    return words + tr(" · {} so far", duration(seconds));
}

std::string cost_words(double seconds) {
    return tr("Frames of about {} on this machine.", duration(seconds));
}

std::string WorkChip::words() const {
    const BlockRun& run = microscope_.run();
    if (run.works()) return block_words(seconds_since(run.works_since()), run.progress());
    if (microscope_.searches_orders())
        return tr("Searching the orders of the warps · {:.0f} % of the time",
                  100 * microscope_.finder().progress());
    const auto work = stage_.work();
    if (!work) return {};
    return work_words(work->activity, work->frame, seconds_since(work->since), work->launch);
}

void WorkChip::cancel() {
    if (stage_.costly_change())
        stage_.answer(Stage::Answer::go_back);
    else if (microscope_.run().works())
        microscope_.cancel();
    else if (microscope_.searches_orders())
        microscope_.finder().cancel();
    else
        stage_.cancel();
}

void WorkChip::draw(Ui& ui) {
    using Answer = Stage::Answer;
    if (const auto& change = stage_.costly_change()) {
        const auto answer = [this](Answer word) { return [this, word] { stage_.answer(word); }; };
        draw(ui, "cost", cost_words(change->seconds),
             {{"cost.apply", tr("Apply"), tr("Make the change. Esc cancels a frame."),
               answer(Answer::apply)},
              {"cost.paused", tr("Apply paused"),
               tr("Make the change and pause; no frame is computed yet."),
               answer(Answer::apply_paused)},
              {"cost.back", tr("Back"), tr("Keep the values as they are (Esc)."),
               answer(Answer::go_back)}});
    } else if (const std::string words = this->words(); !words.empty()) {
        draw(ui, "work", words,
             {{"work.cancel", tr("Cancel"),
               tr("End this computation and go back to the last good state (Esc)."),
               [this] { cancel(); }}});
    }
}

void WorkChip::draw(Ui& ui, const char* id, const std::string& words,
                    const std::vector<Button>& buttons) {
    const float gap = ui.px(10), height = ImGui::GetFrameHeight() + ui.px(8);
    float width = ImGui::CalcTextSize(words.c_str()).x + 2 * gap;
    for (const Button& button : buttons) width += button_width(button.label) + gap;
    const ImVec2 window = ImGui::GetWindowPos();
    const ImVec2 low{window.x + ImGui::GetWindowWidth() - width - gap, window.y + gap};
    // A child window takes the mouse from the picture below the buttons.
    ImGui::SetCursorScreenPos(low);
    ImGui::PushStyleColor(ImGuiCol_ChildBg, faded(colour::background, 0.92F));
    ImGui::PushStyleVar(ImGuiStyleVar_ChildRounding, ui.px(6));
    ImGui::BeginChild(id, {width, height}, false, ImGuiWindowFlags_NoScrollbar);
    ImGui::SetCursorScreenPos({low.x + gap, low.y + ui.px(4)});
    ImGui::AlignTextToFramePadding();
    text(ui.fonts.body, colour::text, words);
    record(ui, id, words);
    for (const Button& button : buttons) {
        ImGui::SameLine(0, gap);
        const bool main = &button == &buttons.front();
        if (flat_button(ui, button.id, button.label, main)) ui.later(button.action);
        tooltip(ui, button.help);
    }
    ImGui::EndChild();
    ImGui::PopStyleVar();
    ImGui::PopStyleColor();
}

}  // namespace warpscope::ui
