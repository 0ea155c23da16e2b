#include "ui/microscope/microscope_bar.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "ui/widgets/format.h"
#include "ui/widgets/icons.h"
#include "ui/widgets/widgets.h"

namespace warpscope::ui {
namespace {

void step_buttons(Ui& ui, Microscope& microscope) {
    Microscope& m = microscope;
    const bool ready = m.ready();
    const bool started = ready && m.stepper().position() > 0;
    const bool more = ready && (m.stepper().position() < m.known_steps() || !m.complete());
    const char* off = "";
    if (icon_button(ui, "microscope.restart", Icon::to_start,
                    "To the block's first instruction (Home).", off, started))
        m.restart();
    if (icon_button(ui, "microscope.back", Icon::back, "One instruction back (Left).", off,
                    started))
        m.back();
    const bool playing = m.playing();
    if (icon_button(ui, "microscope.play", playing ? Icon::pause : Icon::play,
                    playing ? "Pause (Space)." : "Run, slowly enough to watch (Space).",
                    playing ? "on" : "off", ready))
        m.play(!playing);
    if (icon_button(ui, "microscope.step", Icon::step, "One instruction of one warp (Right).", off,
                    more))
        m.step();
    if (icon_button(ui, "microscope.line", Icon::line,
                    "To the warp's next source line (Down; Up goes back a line).", off, more))
        m.step_line();
    if (icon_button(ui, "microscope.barrier", Icon::barrier,
                    "Until a barrier lets its warps go, or the end (B; Shift+B goes back).", off,
                    more))
        m.step_barrier();
    if (icon_button(ui, "microscope.end", Icon::to_end, "To the block's end (End).", off, more))
        m.to_end();
}

void position(Ui& ui, Microscope& microscope, bool words) {
    const Microscope& m = microscope;
    ImGui::SameLine(0, ui.px(8));
    ImGui::AlignTextToFramePadding();
    if (!m.ready()) return text(ui.fonts.body, colour::faint, "nothing to step");
    const std::uint64_t known = m.known_steps();
    const std::string all = (known < 100'000 ? quantity(double(known), "") : si(double(known))) +
                            (m.complete() ? "" : "+");
    const std::string before = words ? "step " : "";
    const float x = ImGui::GetCursorPosX();
    text(ui.fonts.body, colour::text, before + quantity(double(m.stepper().position()), ""));
    ImGui::SameLine(0, ui.px(5));
    text(ui.fonts.body, colour::faint, "of " + all);
    record(ui, "microscope.position", fmt::format("{}", m.stepper().position()));
    tooltip(ui,
            "Instructions that the block's warps have run. \"+\": it is longer than was looked "
            "ahead.");
    // What follows stands still while the number grows.
    const std::string widest = before + quantity(double(known), "") + " of " + all;
    ImGui::SameLine(x + ImGui::CalcTextSize(widest.c_str()).x + ui.px(14), 0);
}

constexpr std::size_t by_hand_entry = 3;

/// Whose turn comes next: a schedule's choice, or a person's.
void turns(Ui& ui, Microscope& microscope, bool words, float room) {
    Microscope& m = microscope;
    if (words) {
        ImGui::AlignTextToFramePadding();
        text(ui.fonts.small, colour::dim, "Next warp");
        ImGui::SameLine(0, ui.px(6));
    }
    const float width = std::min(ui.px(m.by_hand() ? 174 : words ? 148 : 118), room);
    const std::string hand = fmt::format("by hand: warp {}", m.warp());
    const std::size_t chosen = m.by_hand() ? by_hand_entry : std::size_t(m.choice().schedule);
    const int clicked =
        dropdown(ui, "microscope.turns", {"random", "run-to-barrier", "reverse", "by-hand"},
                 {"random", "run to barrier", "reverse", hand}, chosen, width);
    tooltip(ui,
            "Which warp takes the next step: the schedule's choice, or by hand the warp that is "
            "picked among the warps.");
    if (clicked >= 0)
        ui.later([&microscope, clicked] {
            microscope.set_by_hand(std::size_t(clicked) == by_hand_entry);
            if (microscope.by_hand()) return;
            Microscope::Choice choice = microscope.choice();
            choice.schedule = compute::Schedule(clicked);
            microscope.choose(choice);
        });
    ImGui::SameLine(0, ui.px(6));
}

void seed(Ui& ui, Stage& stage, Microscope& microscope, bool words) {
    const Microscope::Choice& choice = microscope.choice();
    if (microscope.by_hand() || choice.schedule != compute::Schedule::random) return;
    if (words) {
        text(ui.fonts.small, colour::dim, "Seed");
        ImGui::SameLine(0, ui.px(6));
    }
    std::string typed;
    const bool entered =
        field(ui, "microscope.seed", fmt::format("{}", choice.seed), ui.px(50), typed);
    tooltip(ui, "Seed of the random order: another one, another order of the warps.");
    ImGui::SameLine(0, ui.px(6));
    if (!entered) return;
    Microscope::Choice wish = choice;
    const char* end = typed.data() + typed.size();
    if (typed.empty() || std::from_chars(typed.data(), end, wish.seed).ptr != end)
        return stage.say(fmt::format("Seed '{}' is no whole number from 0 up.", typed),
                         Tone::error);
    ui.later([&microscope, wish] { microscope.choose(wish); });
}

}  // namespace

void MicroscopeBar::draw(Ui& ui) {
    const float left = ImGui::GetCursorPosX(), width = ImGui::GetContentRegionAvail().x;
    const bool words = width > ui.px(800);
    step_buttons(ui, microscope_);
    position(ui, microscope_, words);
    const float end = left + width - icon_button_width(ui);
    const auto room = [&] { return end - ImGui::GetCursorPosX() - ui.px(6); };
    if (microscope_.ready() && room() > ui.px(70)) {
        turns(ui, microscope_, words, room());
        if (room() > ui.px(50)) seed(ui, stage_, microscope_, words);
    }
    ImGui::SameLine(end, 0);
    if (icon_button(ui, "microscope.close", Icon::close, "Close the microscope (Esc or M)."))
        ui.later([this] { microscope_.close(); });
}

}  // namespace warpscope::ui
