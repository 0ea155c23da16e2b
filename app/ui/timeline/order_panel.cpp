#include "ui/timeline/order_panel.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "emulator/witness/witness_words.h"
#include "ui/documents/text_file.h"
#include "ui/widgets/widgets.h"

namespace warpscope::ui {

void OrderPanel::renew() {
    const std::uint64_t known = microscope_.known_steps();
    if (copy_ == microscope_.copy() && known_steps_ == known && language_ == language()) return;
    copy_ = microscope_.copy();
    known_steps_ = known;
    language_ = language();
    const emulator::ScheduleFile& order = *microscope_.choice().turns;
    lines_ = emulator::turn_words(order);
    for (std::string& line : lines_) line = tr(microscope_.as_named(std::move(line)));
    steps_ = emulator::turn_steps(order, microscope_.stepper().history());
}

void OrderPanel::row(Ui& ui, std::size_t line, std::size_t current, float width) {
    const ImVec2 low = ImGui::GetCursorScreenPos();
    const float height = ImGui::GetTextLineHeight() + ui.px(4);
    const std::string id = fmt::format("order.{}", line);
    const bool clicked = hit_area(id, {width, height});
    record(ui, id, lines_[line]);
    const bool is_current = line == current, has_step = steps_[line].has_value();
    ImDrawList& list = *ImGui::GetWindowDrawList();
    if (is_current || (ImGui::IsItemHovered() && has_step))
        list.AddRectFilled(low, {low.x + width, low.y + height},
                           is_current ? faded(colour::accent, 0.25F) : colour::raised, ui.px(3));
    if (is_current) record(ui, "order.current", lines_[line]);
    list.AddText({low.x + ui.px(6), low.y + ui.px(2)}, has_step ? colour::text : colour::dim,
                 lines_[line].c_str());
    ImGui::SetCursorScreenPos({low.x, low.y + height});
    if (clicked && has_step) ui.later([this, step = *steps_[line]] { microscope_.seek(step); });
}

/// Writes the order beside no other file: KERNEL.schedule, or KERNEL-2.schedule and so on.
void OrderPanel::save() {
    namespace fs = std::filesystem;
    try {
        const emulator::ScheduleFile& order = *microscope_.choice().turns;
        fs::path path;
        for (unsigned number = 1; path.empty() || fs::exists(path); ++number)
            path = fs::current_path() /
                   (order.kernel + (number == 1 ? "" : fmt::format("-{}", number)) + ".schedule");
        write_whole(path, order.text());
        stage_.say(tr("Saved {}. Drop it on the window, or start with --schedule, to replay it.",
                      path.string()));
    } catch (const std::exception& error) {
        stage_.say(tr("The order was not saved: {}", error.what()), Tone::error);
    }
}

void OrderPanel::draw(Ui& ui) {
    if (!microscope_.ready() || !microscope_.choice().turns) return;
    renew();
    const std::string sentence = tr(microscope_.order_sentence());
    const float save_width = button_width(tr("Save this order"));
    const ImVec2 top = ImGui::GetCursorPos();
    const float room = ImGui::GetContentRegionAvail().x - save_width - ui.px(16);
    paragraph(ui.fonts.body, colour::text,
              sentence.empty() ? tr("The warps take these turns:") : sentence, room);
    record(ui, "order", sentence);
    const ImVec2 behind = ImGui::GetCursorPos();
    ImGui::SetCursorPos({top.x + room + ui.px(16), top.y});
    if (flat_button(ui, "order.save", tr("Save this order"))) ui.later([this] { save(); });
    tooltip(ui, tr("Writes a schedule file into the folder in which Warpscope was started."));
    ImGui::SetCursorPos({behind.x, std::max(behind.y, ImGui::GetCursorPosY()) + ui.px(4)});
    // The line of the next step: the newest one that has begun.
    const std::uint64_t position = microscope_.stepper().position();
    std::size_t current = lines_.size() - 1;
    const auto history = microscope_.stepper().history();
    const bool is_listed = position < history.size() && history[position].turn > 0;
    for (std::size_t line = 0; is_listed && line < lines_.size(); ++line)
        if (steps_[line] && *steps_[line] <= position) current = line;
    ImGui::BeginChild("order.turns", ImGui::GetContentRegionAvail(), false);
    ImGui::PushFont(ui.fonts.mono_small);
    const float width = ImGui::GetContentRegionAvail().x;
    for (std::size_t line = 0; line < lines_.size(); ++line) row(ui, line, current, width);
    ImGui::PopFont();
    end_child();
}

}  // namespace warpscope::ui
