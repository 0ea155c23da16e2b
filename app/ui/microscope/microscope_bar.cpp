#include "ui/microscope/microscope_bar.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "ui/language/language.h"
#include "ui/widgets/format.h"
#include "ui/widgets/icons.h"
#include "ui/widgets/widgets.h"

namespace warpscope::ui {
namespace {

/// Draws the buttons in a bar of this width. A narrow one leaves out those of breakpoints, which
/// have a tab too, and those to both ends, which have keys.
void step_buttons(Ui& ui, Microscope& microscope, float width) {
    Microscope& m = microscope;
    const bool all = width > ui.px(440), ends = width > ui.px(340);
    const bool ready = m.ready();
    const bool started = ready && m.stepper().position() > 0;
    const bool more = ready && (m.stepper().position() < m.known_steps() || !m.complete());
    const char* off = "";
    if (ends &&
        icon_button(ui, "microscope.restart", Icon::to_start,
                    with_key(tr("Go to the block's first instruction"), Command::go_to_start), off,
                    started))
        m.restart();
    if (icon_button(ui, "microscope.back", Icon::back,
                    with_key(tr("Step one instruction back"), Command::step_instruction_back), off,
                    started))
        m.back();
    const bool playing = m.playing();
    if (icon_button(ui, "microscope.play", playing ? Icon::pause : Icon::play,
                    with_key(playing ? tr("Pause") : tr("Run slowly"), Command::toggle_play),
                    playing ? "on" : "off", ready))
        m.play(!playing);
    if (icon_button(ui, "microscope.step", Icon::step,
                    with_key(tr("Step one instruction of one warp"), Command::step_instruction),
                    off, more))
        m.step();
    if (icon_button(ui, "microscope.line", Icon::line,
                    with_key(tr("Step to the warp's next source line"), Command::step_line), off,
                    more))
        m.step_line();
    if (icon_button(ui, "microscope.barrier", Icon::barrier,
                    with_key(tr("Run until a barrier releases its warps, or to the end"),
                             Command::step_barrier),
                    off, more))
        m.step_barrier();
    const bool stops = ready && m.breaks().any_enabled();
    if (all &&
        icon_button(ui, "microscope.break_back", Icon::back_to_break,
                    with_key(tr("Run back to the previous breakpoint"), Command::run_back_to_break),
                    off, started && stops))
        m.run_back_to_break();
    if (all && icon_button(ui, "microscope.break", Icon::to_break,
                           with_key(tr("Run to the next breakpoint"), Command::run_to_break), off,
                           more && stops))
        m.run_to_break();
    if (ends && icon_button(ui, "microscope.end", Icon::to_end,
                            with_key(tr("Run to the block's end"), Command::go_to_end), off, more))
        m.to_end();
}

/// Draws the position. `reserved` is the width of the widest position so far. It keeps the
/// neighbours in place while the number grows, and while the block runs, when no position is known.
void position(Ui& ui, const Microscope& m, bool words, float& reserved) {
    ImGui::SameLine(0, ui.px(8));
    ImGui::AlignTextToFramePadding();
    const float x = ImGui::GetCursorPosX();
    if (m.ready()) {
        const std::uint64_t known = m.known_steps();
        const std::string all =
            (known < 100'000 ? quantity(double(known), "") : si(double(known))) +
            (m.complete() ? "" : "+");
        const std::string step = quantity(double(m.stepper().position()), "");
        text(ui.fonts.body, colour::text, words ? tr("step {}", step) : step);
        ImGui::SameLine(0, ui.px(5));
        text(ui.fonts.body, colour::faint, tr("of {}", all));
        record(ui, "microscope.position", fmt::format("{}", m.stepper().position()));
        tooltip(
            ui,
            tr("Instructions that the block's warps have run, of all. \"+\": there are more than "
               "were counted."));
        const std::string most = quantity(double(known), "");
        const std::string widest = (words ? tr("step {}", most) : most) + " " + tr("of {}", all);
        reserved = ImGui::CalcTextSize(widest.c_str()).x;
    } else {
        text(ui.fonts.body, colour::faint, m.waits() ? tr("running") : tr("no block"));
    }
    ImGui::SameLine(x + std::max(reserved, ImGui::CalcTextSize(tr("no block")).x) + ui.px(14), 0);
}

/// The choice of the warp that runs next, by a schedule or by hand, where it has room.
void turns(Ui& ui, Microscope& microscope, bool labelled, float room) {
    EnumEntries entries = entries_of(microscope.choice().schedule);
    const std::size_t by_hand = entries.ids.size();
    entries.ids.emplace_back("by-hand");
    entries.labels.push_back(tr("by hand: warp {}", microscope.warp()));
    if (microscope.by_hand()) entries.chosen = by_hand;
    if (!microscope.by_hand() && microscope.choice().turns) {
        entries.chosen = entries.ids.size();
        entries.ids.emplace_back("listed");
        entries.labels.emplace_back(tr("as listed"));
    }
    const float width = std::min(ui.px(microscope.by_hand() ? 174 : 148), room);
    // The list is the way back from stepping by hand.
    const float needed = ImGui::CalcTextSize(entries.labels[entries.chosen].c_str()).x + ui.px(34);
    if (width < needed && !microscope.by_hand()) return;
    if (labelled) {
        ImGui::AlignTextToFramePadding();
        text(ui.fonts.small, colour::dim, tr("Next warp"));
        ImGui::SameLine(0, ui.px(6));
    }
    const int clicked =
        dropdown(ui, "microscope.turns", entries.ids, entries.labels, entries.chosen, width);
    tooltip(
        ui,
        tr("The warp that takes the next step: chosen by the schedule, or by hand in the list of "
           "warps."));
    if (clicked >= 0 && std::size_t(clicked) <= by_hand)
        ui.later([&microscope, schedule = entry_clicked<compute::Schedule>(clicked)] {
            microscope.set_by_hand(!schedule);
            if (!schedule) return;
            Microscope::Choice choice = microscope.choice();
            choice.schedule = *schedule;
            choice.turns.reset();
            microscope.choose(choice);
        });
    ImGui::SameLine(0, ui.px(6));
}

void seed(Ui& ui, Stage& stage, Microscope& microscope, bool labelled) {
    const Microscope::Choice& choice = microscope.choice();
    if (microscope.by_hand() || choice.turns || choice.schedule != compute::Schedule::random)
        return;
    if (labelled) {
        text(ui.fonts.small, colour::dim, tr("Seed"));
        ImGui::SameLine(0, ui.px(6));
    }
    std::string typed;
    const bool entered =
        field(ui, "microscope.seed", fmt::format("{}", choice.seed), ui.px(50), typed);
    tooltip(ui, tr("The seed of the random order of the warps."));
    ImGui::SameLine(0, ui.px(6));
    if (!entered) return;
    Microscope::Choice wish = choice;
    const char* end = typed.data() + typed.size();
    if (typed.empty() || std::from_chars(typed.data(), end, wish.seed).ptr != end)
        return stage.say(tr("The seed '{}' is not a whole number of 0 or more.", typed),
                         Tone::error);
    ui.later([&microscope, wish] { microscope.choose(wish); });
}

}  // namespace

void MicroscopeBar::draw(Ui& ui) {
    const float left = ImGui::GetCursorPosX(), width = ImGui::GetContentRegionAvail().x;
    const bool words = width > ui.px(800);
    step_buttons(ui, microscope_, width);
    position(ui, microscope_, words, position_width_);
    const float end = left + width - icon_button_width(ui);
    const auto room = [&] { return end - ImGui::GetCursorPosX() - ui.px(6); };
    ImGui::PushFont(ui.fonts.small);
    const float labels = ImGui::CalcTextSize(tr("Next warp")).x +
                         ImGui::CalcTextSize(tr("Seed")).x + ui.px(118 + 50 + 4 * 6);
    ImGui::PopFont();
    const bool labelled = room() > labels;
    // A list that is open stays open while the block runs.
    if (position_width_ > 0 && room() > ui.px(70)) {
        turns(ui, microscope_, labelled, words ? room() : std::min(room(), ui.px(118)));
        if (room() > ui.px(50)) seed(ui, stage_, microscope_, labelled);
    }
    ImGui::SameLine(end, 0);
    if (icon_button(ui, "microscope.close", Icon::close,
                    with_key(tr("Close the microscope"), Command::close_microscope)))
        ui.later([this] { microscope_.close(); });
}

}  // namespace warpscope::ui
