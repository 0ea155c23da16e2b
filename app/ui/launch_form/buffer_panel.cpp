#include "ui/launch_form/buffer_panel.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <exception>
#include <filesystem>
#include <string_view>

#include "launches/arrays/array_comparison.h"
#include "launches/arrays/array_file.h"
#include "ui/documents/source_files.h"
#include "ui/finders/need_finder.h"
#include "ui/language/language.h"
#include "ui/widgets/edition.h"
#include "ui/widgets/widgets.h"

namespace warpscope::ui {

using experiments::BufferContents;
using launches::Array;

namespace {

/// The numbers of a buffer in lines.
struct Lines {
    std::size_t columns, rows, numbers;
    explicit Lines(const Array& array) : numbers(array.numbers()) {
        constexpr std::size_t of_one_dimension = 16;
        const bool flat = array.shape.size() < 2;
        columns = std::max<std::size_t>(
            1, flat ? std::min(numbers, of_one_dimension) : array.shape.back() * array.type.lanes);
        rows = (numbers + columns - 1) / columns;
    }
};

std::string number_text(const launches::Number& number) {
    if (const auto* real = std::get_if<double>(&number)) return fmt::format("{:.6g}", *real);
    return fmt::format("{}", std::get<std::int64_t>(number));
}

/// A file of this name that is not there yet: "y.npy", "y-2.npy".
std::filesystem::path free_path(const std::filesystem::path& folder, const std::string& name,
                                const std::string& ending) {
    std::filesystem::path path = folder / (name + ending);
    for (int i = 2; std::filesystem::exists(path); ++i)
        path = folder / fmt::format("{}-{}{}", name, i, ending);
    return path;
}

}  // namespace

/// Beside the launch file.
void BufferPanel::save(const char* ending) {
    const auto buffer = stage_.shown().readings.buffer;
    if (!buffer) return;
    try {
        const auto path = free_path(stage_.shown().plan->file.in_folder(""), buffer->name, ending);
        write_whole(path, std::string_view(ending) == ".csv" ? launches::to_csv(buffer->numbers)
                                                             : launches::to_npy(buffer->numbers));
        stage_.say(tr("Saved {}.", path.string()));
    } catch (const std::exception& error) {
        stage_.say(tr("The buffer was not saved: {}", error.what()), Tone::error);
    }
}

void BufferPanel::save_buttons(Ui& ui) {
    if (flat_button(ui, "buffer.npy", tr("Save .npy"))) ui.later([this] { save(".npy"); });
    tooltip(ui, tr("Write the numbers for NumPy, beside the launch file."));
    ImGui::SameLine(0, ui.px(6));
    if (flat_button(ui, "buffer.csv", tr("Save .csv"))) ui.later([this] { save(".csv"); });
    tooltip(ui, tr("Write the numbers as text, beside the launch file."));
}

void BufferPanel::head(Ui& ui, const BufferContents& buffer) {
    if (offers(Command::save_page)) save_buttons(ui);
    const Array& array = buffer.numbers;
    const auto differing = std::count(buffer.differing.begin(), buffer.differing.end(), true);
    std::string words =
        tr("{}: {} of type {}, frame {}", buffer.name, launches::shape_words(array.shape),
           to_string(array.type), stage_.frame());
    if (differing > 0)
        words += fmt::format(", {}", counted(std::uint64_t(differing), "differing element"));
    ImGui::PushFont(ui.fonts.small);
    same_line_if_room(ui.px(12), ImGui::CalcTextSize(words.c_str()).x);
    ImGui::PopFont();
    ImGui::AlignTextToFramePadding();
    clipped_text(ui.fonts.small, differing > 0 ? colour::bad : colour::dim, words,
                 std::max(ui.px(40), ImGui::GetContentRegionAvail().x));
    record(ui, "buffer.state", words);
}

/// Draws the cells that are in sight only: a buffer may have millions.
void BufferPanel::table(Ui& ui, const BufferContents& buffer) {
    const Lines lines(buffer.numbers);
    ImGui::PushFont(ui.fonts.mono_small);
    const float cell = 13 * character_width(), line = ImGui::GetTextLineHeight() + ui.px(4);
    const float label = 10 * character_width();
    ImGui::BeginChild("numbers", ImGui::GetContentRegionAvail(), false,
                      ImGuiWindowFlags_HorizontalScrollbar);
    const ImVec2 origin = ImGui::GetCursorScreenPos(), window = ImGui::GetWindowPos();
    const ImVec2 size = ImGui::GetWindowSize();
    ImGui::Dummy({label + cell * float(lines.columns), line * float(lines.rows + 1)});
    ImDrawList& list = *ImGui::GetWindowDrawList();
    const auto first = [](float begin, float step) {
        return std::size_t(std::max(0.F, std::floor(begin / step)));
    };
    const float top = window.y + line, left = window.x + label;
    const std::size_t row_0 = first(window.y - origin.y, line);
    const std::size_t row_1 = std::min(lines.rows, row_0 + std::size_t(size.y / line) + 2);
    const std::size_t column_0 = first(window.x - origin.x, cell);
    const std::size_t column_1 = std::min(lines.columns, column_0 + std::size_t(size.x / cell) + 2);
    const auto put = [&](float x, float y, ImU32 colour, const std::string& words) {
        list.AddText({x, y}, colour, words.c_str());
    };
    const unsigned lanes = buffer.numbers.type.lanes;
    const ImVec2 mouse = ImGui::GetIO().MousePos;
    const auto& dependence = dependence_of(stage_, needs_, buffer.name);
    list.PushClipRect({left, top}, {window.x + size.x, window.y + size.y}, true);
    for (std::size_t row = row_0; row < row_1; ++row) {
        for (std::size_t column = column_0; column < column_1; ++column) {
            const std::size_t index = row * lines.columns + column;
            if (index >= lines.numbers) break;
            const float x = origin.x + label + cell * float(column);
            const float y = origin.y + line * float(row + 1);
            if (index / lanes < dependence.size() && dependence_colour(dependence[index / lanes]))
                list.AddRectFilled(
                    {x - ui.px(3), y - ui.px(1)}, {x + cell - ui.px(5), y + line - ui.px(2)},
                    faded(dependence_colour(dependence[index / lanes]), 0.5F), ui.px(2));
            const bool differs = !buffer.differing.empty() && buffer.differing[index / lanes];
            put(x, y, differs ? colour::bad : colour::text, number_text(buffer.numbers.at(index)));
            if (index == 0) record_rect(ui, {x, y}, {x + cell, y + line}, "buffer.first", "");
            const bool under = ImGui::IsWindowHovered() && mouse.x >= x && mouse.x < x + cell &&
                               mouse.y >= y && mouse.y < y + line && mouse.y > top;
            if (!under) continue;
            std::string words =
                fmt::format("{} = {}", place_words(buffer.name, buffer.numbers, index),
                            launches::to_string(buffer.numbers.at(index)));
            if (!buffer.expected.bytes.empty())
                words += tr(", expected {}", launches::to_string(buffer.expected.at(index)));
            const bool is_captured = stage_.shown().plan && stage_.shown().plan->file.of_program;
            if (is_captured && !differs) words += tr("\nRight click: who has written it last.");
            if (differs || (is_captured && ImGui::IsMouseClicked(ImGuiMouseButton_Right))) {
                Array elements = buffer.numbers;
                elements.type.lanes = 1;
                const std::string why =
                    ask_why_(ui, place_words(buffer.name, elements, index / lanes));
                if (!why.empty()) words += "\n" + why;
            }
            quick_tooltip(ui, words);
        }
    }
    list.PopClipRect();
    list.PushClipRect({window.x, top}, {left, window.y + size.y}, true);
    for (std::size_t row = row_0; row < row_1; ++row)
        put(window.x, origin.y + line * float(row + 1), colour::faint,
            fmt::format("{}", buffer.numbers.shape.size() < 2 ? row * lines.columns / lanes : row));
    list.PopClipRect();
    list.PushClipRect({left, window.y}, {window.x + size.x, top}, true);
    for (std::size_t column = column_0; column < column_1; ++column)
        put(origin.x + label + cell * float(column), window.y, colour::faint,
            lanes > 1 ? fmt::format("{}.{}", column / lanes, "xyzw"[column % lanes])
                      : fmt::format("{}", column));
    list.PopClipRect();
    end_child();
    ImGui::PopFont();
}

void BufferPanel::draw(Ui& ui) {
    const auto& buffer = stage_.shown().readings.buffer;
    if (!buffer)
        return paragraph(
            ui.fonts.small, colour::dim,
            tr("Nothing to list: no kernel has run, or the buffer is larger than 64 MiB. "
               "\"save\" in the launch file writes buffers of any size."));
    head(ui, *buffer);
    ImGui::Dummy({0, ui.px(2)});
    table(ui, *buffer);
}

}  // namespace warpscope::ui
