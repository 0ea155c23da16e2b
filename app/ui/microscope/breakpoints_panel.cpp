#include "ui/microscope/breakpoints_panel.h"

#include <fmt/format.h>

#include <bit>
#include <charconv>

#include "emulator/stepper/breakpoints.h"
#include "ui/language/language.h"
#include "ui/widgets/icons.h"
#include "ui/widgets/widgets.h"

namespace warpscope::ui {
namespace {

using emulator::Breakpoint;
using emulator::Space;
using emulator::Watchpoint;

/// Reads a whole number, hexadecimal if it begins with 0x; nothing for other text.
std::optional<std::uint64_t> read_number(std::string_view text) {
    const bool hex = text.starts_with("0x") || text.starts_with("0X");
    if (hex) text.remove_prefix(2);
    std::uint64_t value = 0;
    const char* end = text.data() + text.size();
    const auto [next, error] = std::from_chars(text.data(), end, value, hex ? 16 : 10);
    if (text.empty() || error != std::errc() || next != end) return {};
    return value;
}

/// Says why the condition does not fit the kernel; empty: it does.
std::string complaint_about(Microscope& microscope, const Breakpoint& point) {
    const auto starts = line_starts(microscope.stepper().kernel(), point.file, point.line);
    if (point.condition.empty() || starts.empty()) return {};
    const launches::LaneValues& values = microscope.values();
    try {
        values.check_names(launches::LaneExpression(point.condition),
                           values.frames(starts.front()).front());
    } catch (const launches::LaunchError& error) {
        return error.what();
    }
    return {};
}

/// The source file of the kernel's first line; empty without line information.
std::string file_of(const emulator::Stepper& stepper) {
    const emulator::Kernel& kernel = stepper.kernel();
    for (const emulator::InstructionInfo& info : kernel.lines)
        if (info.source.file >= 0 && info.source.line > 0)
            return kernel.module->files()[std::size_t(info.source.file)];
    return {};
}

void label(Ui& ui, const char* words) {
    ImGui::AlignTextToFramePadding();
    text(ui.fonts.small, colour::dim, words);
    ImGui::SameLine(0, ui.px(6));
}

/// A box that enables a row, in its first column.
bool check_box(Ui& ui, const std::string& id, bool on) {
    bool value = on;
    const bool clicked = ImGui::Checkbox(("##" + id).c_str(), &value);
    record(ui, id, on ? "on" : "off");
    tooltip(ui, on ? tr("Disable it.") : tr("Enable it."));
    ImGui::SameLine(0, ui.px(8));
    return clicked;
}

void name(Ui& ui, const std::string& id, const std::string& words, bool enabled) {
    ImGui::AlignTextToFramePadding();
    const float left = ImGui::GetCursorPosX();
    clipped_text(ui.fonts.mono_small, enabled ? colour::text : colour::faint, words, ui.px(164));
    record(ui, id, words);
    ImGui::SameLine(left + ui.px(172), 0);
}

/// Shows behind a row why the text of one of its fields is wrong.
void show_complaint(Ui& ui, const std::string& field, const std::string& words) {
    ImGui::AlignTextToFramePadding();
    clipped_text(ui.fonts.small, colour::bad, words, ImGui::GetContentRegionAvail().x);
    record(ui, field + ".error", words);
    ImGui::SameLine(0, ui.px(8));
}

bool remove_button(Ui& ui, const std::string& id) {
    return icon_button(ui, id.c_str(), Icon::close, tr("Remove it."));
}

}  // namespace

void BreakpointsPanel::complaint_at(Ui& ui, const std::string& id) {
    if (field_ != id) return;
    show_complaint(ui, id, complaint_);
}

/// Formats a number below `end`, or "any".
template <class Number>
void BreakpointsPanel::number_field(Ui& ui, const std::string& id, std::optional<Number>& number,
                                    Number end, const char* what) {
    label(ui, what);
    std::string typed;
    if (field(ui, id, number ? fmt::format("{}", *number) : "any", ui.px(44), typed)) {
        const auto value = read_number(typed);
        field_.clear();
        if (typed.empty() || typed == "any") {
            number.reset();
        } else if (value && *value < end) {
            number = Number(*value);
        } else {
            field_ = id;
            complaint_ = tr("'{}' is no {}: write 0 to {}, or any.", typed, what, end - 1);
        }
    }
    ImGui::SameLine(0, ui.px(10));
}

void BreakpointsPanel::point_row(Ui& ui, std::size_t index) {
    Breakpoint& point = microscope_.breaks().points[index];
    const emulator::Stepper& stepper = microscope_.stepper();
    const std::string id = fmt::format("breakpoint.{}", index);
    if (check_box(ui, id + ".enabled", point.enabled)) point.enabled = !point.enabled;
    const std::string place = point.file.empty() ? tr("PTX line {}", point.line)
                                                 : fmt::format("{}:{}", point.file, point.line);
    name(ui, id, place, point.enabled);
    const bool here = !line_starts(stepper.kernel(), point.file, point.line).empty();
    tooltip(ui, here ? tr("Stops before a warp executes this line.")
                     : tr("The kernel on show has no instruction at this line."));
    number_field<std::uint32_t>(ui, id + ".warp", point.warp, stepper.warps(), tr("warp"));
    number_field<unsigned>(ui, id + ".lane", point.lane, 32, tr("lane"));
    label(ui, tr("if"));
    std::string typed;
    if (field(ui, id + ".condition", point.condition, ui.px(150), typed)) {
        point.condition = typed;
        field_.clear();
    }
    tooltip(
        ui,
        tr("Stop only if this holds in a lane, such as %r4 >= 16 or cache[threadIdx.x] < 0.5: an "
           "expression of registers, variables, arrays in shared memory and threadIdx."));
    ImGui::SameLine(0, ui.px(8));
    if (remove_button(ui, id + ".remove"))
        ui.later([this, index] {
            field_.clear();
            auto& points = microscope_.breaks().points;
            if (index < points.size()) points.erase(points.begin() + std::ptrdiff_t(index));
        });
    const std::string complaint = complaint_about(microscope_, point);
    complaint_at(ui, id + ".warp");
    complaint_at(ui, id + ".lane");
    if (!complaint.empty()) show_complaint(ui, id + ".condition", complaint);
    ImGui::NewLine();
}

void BreakpointsPanel::watch_row(Ui& ui, std::size_t index) {
    Watchpoint& watch = microscope_.breaks().watches[index];
    const std::string id = fmt::format("watchpoint.{}", index);
    if (check_box(ui, id + ".enabled", watch.enabled)) watch.enabled = !watch.enabled;
    const bool global = watch.space == Space::global;
    name(ui, id,
         global ? tr("global word {:#x}", watch.address) : tr("shared word {}", watch.address / 4),
         watch.enabled);
    tooltip(ui,
            global ? tr("An address of this copy of the launch. A new copy, of another frame or "
                        "with other settings, has other addresses, and disables it.")
                   : tr("Stops after a warp has accessed this word of the block's shared memory."));
    label(ui, tr("stops when it is"));
    const std::vector<std::string> ids{"read", "write", "change"};
    const int clicked = dropdown(ui, id + ".on", ids, {tr("read"), tr("written"), tr("changed")},
                                 std::size_t(watch.on), ui.px(96));
    if (clicked >= 0) watch.on = Watchpoint::On(clicked);
    tooltip(ui, tr("Written: also with an equal value. An atomic reads and writes."));
    ImGui::SameLine(0, ui.px(8));
    if (remove_button(ui, id + ".remove"))
        ui.later([&m = microscope_, index] {
            auto& watches = m.breaks().watches;
            if (index < watches.size()) watches.erase(watches.begin() + std::ptrdiff_t(index));
        });
    ImGui::NewLine();
}

void BreakpointsPanel::add_line(const std::string& typed) {
    const emulator::Stepper& stepper = microscope_.stepper();
    const std::string file = file_of(stepper);
    const auto line = read_number(typed);
    field_ = "breaks.line";
    if (!line || *line > 1'000'000)
        complaint_ = tr("'{}' is no line.", typed);
    else if (line_starts(stepper.kernel(), file, int(*line)).empty())
        complaint_ = tr("No instruction of {} is at line {}.", stepper.kernel().name, *line);
    else {
        field_.clear();
        microscope_.breaks().points.push_back({.file = file, .line = int(*line)});
    }
}

void BreakpointsPanel::add_word(const std::string& typed) {
    const emulator::Stepper& stepper = microscope_.stepper();
    const auto number = read_number(typed);
    const std::size_t words = stepper.words().size();
    field_ = "breaks.word";
    if (!number)
        complaint_ = tr("'{}' is no {}.", typed, global_ ? tr("address") : tr("word"));
    else if (!global_ && words == 0)
        complaint_ = tr("This kernel uses no shared memory.");
    else if (!global_ && *number >= words)
        complaint_ = tr("There is no word {}: write 0 to {}.", *number, words - 1);
    else if (global_ && !stepper.global_word(*number & ~std::uint64_t(3)))
        complaint_ = tr("{:#x} is outside all buffers of this launch.", *number);
    else {
        field_.clear();
        const std::uint64_t address = global_ ? *number & ~std::uint64_t(3) : *number * 4;
        microscope_.breaks().watches.push_back({global_ ? Space::global : Space::shared, address});
    }
}

/// Draws the fields above the list that add a line or a word of memory.
void BreakpointsPanel::adding(Ui& ui) {
    std::string typed;
    label(ui, tr("Add line"));
    if (field(ui, "breaks.line", "", ui.px(56), typed)) add_line(typed);
    tooltip(ui,
            tr("A breakpoint at this line of the source. A click beside a line's number sets one, "
               "too."));
    ImGui::SameLine(0, ui.px(8));
    complaint_at(ui, "breaks.line");
    ImGui::NewLine();
    const float spaces = segments_width({tr("shared"), tr("global")});
    same_line_if_room(ui.px(14),
                      ImGui::CalcTextSize(tr("Watch word")).x + spaces + ui.px(56 + 6 + 6));
    label(ui, tr("Watch word"));
    const int space = segments(ui, "breaks.space", {"shared", "global"},
                               {tr("shared"), tr("global")}, global_ ? 1 : 0, spaces);
    if (space >= 0) global_ = space == 1;
    ImGui::SameLine(0, ui.px(6));
    if (field(ui, "breaks.word", "", ui.px(global_ ? 130 : 56), typed)) add_word(typed);
    tooltip(ui, global_
                    ? tr("The address of a word, as the registers show it: 0x7f31c0de1000.")
                    : tr("The number of a word of shared memory. A right click on it in the grid "
                         "watches it, too."));
    ImGui::SameLine(0, ui.px(8));
    const auto access = microscope_.stepper().global_access(microscope_.warp());
    if (global_ && access && (access->mask >> microscope_.lane() & 1)) {
        const std::string newest = fmt::format("{:#x}", access->addresses[microscope_.lane()]);
        if (flat_button(ui, "breaks.newest", tr("Newest access"))) add_word(newest);
        tooltip(ui, tr("Watch {}, which the picked lane has accessed last.", newest));
        ImGui::SameLine(0, ui.px(8));
    }
    complaint_at(ui, "breaks.word");
    ImGui::NewLine();
}

void BreakpointsPanel::head(Ui& ui) {
    const emulator::Stepper& stepper = microscope_.stepper();
    const bool stops = microscope_.breaks().any_enabled();
    const bool more = stepper.position() < microscope_.known_steps() || !microscope_.complete();
    ImGui::BeginDisabled(!stops || stepper.position() == 0);
    if (flat_button(ui, "breaks.back", tr("Run back to previous")))
        ui.ask(Command::run_back_to_break);
    tooltip(ui, with_key(tr("Run back to the previous breakpoint"), Command::run_back_to_break));
    ImGui::EndDisabled();
    same_line_if_room(
        ui.px(6), ImGui::CalcTextSize(tr("Run to next")).x + 2 * ImGui::GetStyle().FramePadding.x);
    ImGui::BeginDisabled(!stops || !more);
    if (flat_button(ui, "breaks.run", tr("Run to next"))) ui.ask(Command::run_to_break);
    tooltip(ui, with_key(tr("Run to the next breakpoint"), Command::run_to_break));
    ImGui::EndDisabled();
    ImGui::SameLine(0, ui.px(12));
    ImGui::AlignTextToFramePadding();
    clipped_text(ui.fonts.body, colour::text, microscope_.notice(),
                 ImGui::GetContentRegionAvail().x);
    record(ui, "breaks.stop", microscope_.notice());
}

void BreakpointsPanel::draw(Ui& ui) {
    if (!microscope_.ready()) return;
    head(ui);
    adding(ui);
    const emulator::Breaks& breaks = microscope_.breaks();
    for (std::size_t i = 0; i < breaks.points.size(); ++i) point_row(ui, i);
    for (std::size_t i = 0; i < breaks.watches.size(); ++i) watch_row(ui, i);
}

}  // namespace warpscope::ui
