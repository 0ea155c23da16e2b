#include "ui/bars/record_panel.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "ui/edits/compiler_download.h"
#include "ui/language/language.h"
#include "ui/widgets/widgets.h"

namespace warpscope::ui {
namespace {

constexpr double count_down = 3;
constexpr std::uint64_t lengths[] = {0, 5, 10, 20, 60};

}  // namespace

void RecordPanel::draw(Ui& ui) {
    if (std::exchange(asked_, false)) ImGui::OpenPopup("record");
    ask(ui);
    if (!counts()) return;
    const double left = begins_ - ImGui::GetTime();
    if (left <= 0) {
        begins_ = 0;
        options_.records = what_;
        return;
    }
    const std::string number = std::to_string(int(std::ceil(left)));
    ImDrawList& list = *ImGui::GetForegroundDrawList();
    const ImVec2 screen = ImGui::GetIO().DisplaySize, middle{screen.x / 2, screen.y / 2};
    ImGui::PushFont(ui.fonts.value);
    const ImVec2 size = ImGui::CalcTextSize(number.c_str());
    list.AddCircleFilled(middle, ui.px(34), faded(colour::raised, 0.95F));
    list.AddCircle(middle, ui.px(34), colour::bad, 0, ui.px(3));
    list.AddText({middle.x - size.x / 2, middle.y - size.y / 2}, colour::text, number.c_str());
    ImGui::PopFont();
    ui.widgets.add({"record.countdown", middle.x, middle.y, 1, 1, number});
}

void RecordPanel::ask(Ui& ui) {
    if (!begin_dialog(ui, "record")) return;
    const float width = ui.px(300);
    heading(ui, tr("Record"));
    const int what =
        segments(ui, "record.what", {"picture", "window"}, {tr("the picture"), tr("the window")},
                 std::size_t(what_ == Recorded::window), width);
    if (what >= 0) what_ = what == 0 ? Recorded::picture : Recorded::window;
    static const bool has_ffmpeg = has_program("ffmpeg");
    if (has_ffmpeg) {
        const int format =
            segments(ui, "record.format", {"apng", "mp4"}, {tr("animated PNG"), "MP4"},
                     std::size_t(options_.records_mp4), width);
        if (format >= 0) options_.records_mp4 = format == 1;
    } else {
        paragraph(
            ui.fonts.small, colour::dim,
            tr("As an animated PNG. An MP4 needs the program ffmpeg, which is not installed."),
            width);
        record(ui, "record.no_mp4");
    }
    std::vector<std::string> ids, labels;
    for (const std::uint64_t seconds : lengths) {
        ids.push_back(std::to_string(seconds));
        labels.push_back(seconds ? tr("{} s", seconds) : tr("until I stop it"));
    }
    const auto* const chosen = std::ranges::find(lengths, options_.record_seconds);
    const int length =
        dropdown(ui, "record.seconds", ids, labels, std::size_t(chosen - lengths), width);
    if (length >= 0) options_.record_seconds = lengths[length];
    ImGui::Dummy({0, ui.px(4)});
    bool done = key_pressed(ImGuiKey_Escape);
    if (flat_button(ui, "record.begin", tr("Begin in 3 s"), true)) {
        begins_ = ImGui::GetTime() + count_down;
        done = true;
    }
    ImGui::SameLine();
    done |= flat_button(ui, "record.cancel", tr("Cancel"));
    end_dialog(done);
}

}  // namespace warpscope::ui
