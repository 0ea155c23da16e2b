#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <vector>

#include "ui/panels.h"
#include "ui/race_summary.h"
#include "ui/widgets.h"

namespace warpscope::ui {
namespace {

struct Tab {
    const char* id;
    const char* title;
    const char* help;
    void (*draw)(Interface&);
};

constexpr Tab timings{"timings", "Timings", "How long the kernels take.", draw_timings};
constexpr Tab roofline{"roofline", "Roofline",
                       "Every kernel's rate under what the device can do at most.", draw_roofline};
constexpr Tab findings{"findings", "Findings",
                       "Races and barriers that not every thread reaches, as the emulator finds "
                       "them on a copy of what runs here.",
                       draw_findings};
constexpr Tab counters{"counters", "Counters",
                       "Instructions, sectors of global memory and bank conflicts of shared "
                       "memory, as the emulator counts them.",
                       draw_counters};
constexpr Tab timeline{"timeline", "Timeline", "What each warp of a block does when.",
                       draw_timeline};
constexpr Tab banks{"banks", "Banks", "The newest shared access: 32 lanes onto 32 banks.",
                    draw_banks};
constexpr Tab registers{"registers", "Registers", "Of the lane that is looked at.", draw_registers};
constexpr Tab barriers{"barriers", "Barriers",
                       "What barriers of GPUs before Volta, since Volta, and of the PTX "
                       "specification do with this kernel.",
                       draw_policies};

std::vector<Tab> tabs_on_show(const Interface& ui) {
    std::vector<Tab> tabs{timings, roofline, findings, counters};
    const bool open = ui.microscope.is_open();
    if (open || ui.dock.measured) tabs.push_back(timeline);
    if (open) {
        tabs.push_back(banks);
        tabs.push_back(registers);
    }
    tabs.push_back(barriers);
    return tabs;
}

ImU32 colour_of(const RaceSummary& summary) {
    if (summary.checking) return colour::dim;
    switch (summary.state) {
        case RaceSummary::State::unknown:
            return colour::dim;
        case RaceSummary::State::clean:
            return colour::good;
        case RaceSummary::State::warning:
            return colour::finding;
        case RaceSummary::State::race:
        case RaceSummary::State::error:
        case RaceSummary::State::failed:
            return colour::bad;
    }
    return colour::dim;
}

/// A tab's title and, where there is something to count, the number in a pill. True when clicked.
bool tab_button(Interface& ui, const Tab& tab, bool chosen, const std::string& count,
                ImU32 count_colour) {
    const float height = ui.px(30);
    const float title = ImGui::CalcTextSize(tab.title).x;
    ImGui::PushFont(ui.fonts.small);
    const ImVec2 number = ImGui::CalcTextSize(count.c_str());
    ImGui::PopFont();
    const float pill = count.empty() ? 0 : std::max(number.x + ui.px(12), ui.px(20));
    const float width = title + ui.px(20) + (pill > 0 ? pill + ui.px(6) : 0);
    const ImVec2 low = ImGui::GetCursorScreenPos();
    const bool clicked = ImGui::InvisibleButton(tab.id, {width, height});
    const bool hovered = ImGui::IsItemHovered();
    record(ui, std::string("dock.") + tab.id, chosen ? "on" : "off");
    tooltip(ui, tab.help);
    ImDrawList& list = *ImGui::GetWindowDrawList();
    list.AddText({low.x + ui.px(10), low.y + (height - ImGui::GetTextLineHeight()) / 2},
                 chosen || hovered ? colour::text : colour::dim, tab.title);
    if (chosen)
        list.AddRectFilled({low.x + ui.px(10), low.y + height - ui.px(2)},
                           {low.x + width - ui.px(10), low.y + height}, colour::accent);
    if (pill > 0) {
        const ImVec2 at{low.x + ui.px(16) + title, low.y + (height - ui.px(18)) / 2};
        list.AddRectFilled(at, {at.x + pill, at.y + ui.px(18)}, faded(count_colour, 0.2F),
                           ui.px(9));
        list.AddText(ui.fonts.small, ui.fonts.small->FontSize * ImGui::GetIO().FontGlobalScale,
                     {at.x + (pill - number.x) / 2, at.y + (ui.px(18) - number.y) / 2},
                     count_colour, count.c_str());
    }
    ImGui::SameLine(0, ui.px(2));
    return clicked;
}

/// What the checks say, at the right edge; a click shows the findings.
bool race_chip(Interface& ui, const RaceSummary& summary) {
    ImGui::PushFont(ui.fonts.small);
    const ImVec2 size = ImGui::CalcTextSize(summary.chip.c_str());
    ImGui::PopFont();
    const float height = ui.px(22), width = size.x + ui.px(32);
    const float free = ImGui::GetContentRegionAvail().x - width;
    if (free > 0) ImGui::SetCursorPosX(ImGui::GetCursorPosX() + free);
    ImVec2 low = ImGui::GetCursorScreenPos();
    low.y += ui.px(4);
    ImGui::SetCursorScreenPos(low);
    const bool clicked = ImGui::InvisibleButton("race", {width, height});
    record(ui, "race", summary.chip);
    tooltip(ui, summary.sentence);
    const ImU32 colour = colour_of(summary);
    ImDrawList& list = *ImGui::GetWindowDrawList();
    list.AddRectFilled(low, {low.x + width, low.y + height},
                       faded(colour, ImGui::IsItemHovered() ? 0.28F : 0.17F), height / 2);
    list.AddCircleFilled({low.x + ui.px(13), low.y + height / 2}, ui.px(3.5F), colour);
    list.AddText(ui.fonts.small, ui.fonts.small->FontSize * ImGui::GetIO().FontGlobalScale,
                 {low.x + ui.px(22), low.y + (height - size.y) / 2}, colour, summary.chip.c_str());
    return clicked;
}

}  // namespace

void draw_dock(Interface& ui) {
    std::string& wish = ui.microscope.is_open() ? ui.options.dock_open : ui.options.dock;
    const std::vector<Tab> tabs = tabs_on_show(ui);
    const auto wished =
        std::find_if(tabs.begin(), tabs.end(), [&](const Tab& tab) { return tab.id == wish; });
    const Tab& chosen = wished == tabs.end() ? tabs.front() : *wished;
    const RaceSummary summary = summarize(ui.inspector);
    const ImVec2 top = ImGui::GetCursorScreenPos();
    // The titles' text stands above the contents' left edge.
    ImGui::SetCursorScreenPos({top.x - ui.px(10), top.y});
    for (const Tab& tab : tabs) {
        const bool counts = tab.draw == draw_findings && summary.findings > 0;
        if (tab_button(ui, tab, tab.draw == chosen.draw,
                       counts ? fmt::format("{}", summary.findings) : "", colour_of(summary)))
            wish = tab.id;
    }
    if (race_chip(ui, summary)) wish = findings.id;
    ImDrawList& list = *ImGui::GetWindowDrawList();
    const float y = top.y + ui.px(30);
    const ImVec2 window = ImGui::GetWindowPos();
    list.AddLine({window.x, y}, {window.x + ImGui::GetWindowWidth(), y}, colour::line, ui.px(1));
    ImGui::SetCursorScreenPos({top.x, y + ui.px(7)});
    ImGui::BeginChild(chosen.id, ImGui::GetContentRegionAvail(), false);
    chosen.draw(ui);
    ImGui::EndChild();
}

}  // namespace warpscope::ui
