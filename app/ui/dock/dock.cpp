#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <vector>

#include "ui/panels/panels.h"
#include "ui/stage/race_summary.h"
#include "ui/widgets/widgets.h"

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

/// Around a tab's title.
float tab_padding(const Interface& ui, bool dense) {
    return ui.px(dense ? 6 : 10);
}

float pill_width(const Interface& ui, const std::string& count) {
    const float number = ImGui::CalcTextSize(count.c_str()).x;
    return count.empty() ? 0 : std::max(number + ui.px(12), ui.px(20));
}

/// A tab's title and, where there is something to count, the number in a pill. True when clicked.
bool tab_button(Interface& ui, const Tab& tab, bool chosen, const std::string& count,
                ImU32 count_colour, bool dense) {
    const float height = ui.px(30);
    const float title = ImGui::CalcTextSize(tab.title).x;
    ImGui::PushFont(ui.fonts.small);
    const ImVec2 number = ImGui::CalcTextSize(count.c_str());
    const float pill = pill_width(ui, count);
    ImGui::PopFont();
    const float padding = tab_padding(ui, dense);
    const float width = title + 2 * padding + (pill > 0 ? pill + ui.px(6) : 0);
    const ImVec2 low = ImGui::GetCursorScreenPos();
    const bool clicked = ImGui::InvisibleButton(tab.id, {width, height});
    const bool hovered = ImGui::IsItemHovered();
    record(ui, std::string("dock.") + tab.id, chosen ? "on" : "off");
    tooltip(ui, tab.help);
    ImDrawList& list = *ImGui::GetWindowDrawList();
    list.AddText({low.x + padding, low.y + (height - ImGui::GetTextLineHeight()) / 2},
                 chosen || hovered ? colour::text : colour::dim, tab.title);
    if (chosen)
        list.AddRectFilled({low.x + padding, low.y + height - ui.px(2)},
                           {low.x + width - padding, low.y + height}, colour::accent);
    if (pill > 0) {
        const ImVec2 at{low.x + padding + ui.px(6) + title, low.y + (height - ui.px(18)) / 2};
        list.AddRectFilled(at, {at.x + pill, at.y + ui.px(18)}, faded(count_colour, 0.2F),
                           ui.px(9));
        list.AddText(ui.fonts.small, ui.fonts.small->FontSize * ImGui::GetIO().FontGlobalScale,
                     {at.x + (pill - number.x) / 2, at.y + (ui.px(18) - number.y) / 2},
                     count_colour, count.c_str());
    }
    ImGui::SameLine(0, ui.px(2));
    return clicked;
}

/// Of all the tabs, not dense.
float tabs_width(const Interface& ui, const std::vector<Tab>& tabs, const std::string& found) {
    float width = pill_width(ui, found) + ui.px(6);
    for (const Tab& tab : tabs)
        width += ImGui::CalcTextSize(tab.title).x + 2 * tab_padding(ui, false) + ui.px(2);
    return width;
}

float chip_width(const Interface& ui, const RaceSummary& summary) {
    ImGui::PushFont(ui.fonts.small);
    const float words = ImGui::CalcTextSize(summary.chip.c_str()).x;
    ImGui::PopFont();
    return words + ui.px(32);
}

/// What the checks say, at the right edge; only its dot where there is no room for the words. A
/// click shows the findings.
bool race_chip(Interface& ui, const RaceSummary& summary) {
    ImGui::PushFont(ui.fonts.small);
    const ImVec2 size = ImGui::CalcTextSize(summary.chip.c_str());
    ImGui::PopFont();
    const float whole = chip_width(ui, summary), room = ImGui::GetContentRegionAvail().x;
    const float height = ui.px(22), width = whole <= room ? whole : ui.px(26);
    ImGui::SetCursorPosX(ImGui::GetCursorPosX() + room - width);
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
    if (width == whole)
        list.AddText(ui.fonts.small, ui.fonts.small->FontSize * ImGui::GetIO().FontGlobalScale,
                     {low.x + ui.px(22), low.y + (height - size.y) / 2}, colour,
                     summary.chip.c_str());
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
    const std::string found = summary.findings > 0 ? fmt::format("{}", summary.findings) : "";
    const bool dense =
        tabs_width(ui, tabs, found) + chip_width(ui, summary) > ImGui::GetContentRegionAvail().x;
    // The titles' text stands above the contents' left edge.
    ImGui::SetCursorScreenPos({top.x - tab_padding(ui, dense), top.y});
    ImGui::PushFont(dense ? ui.fonts.small : ui.fonts.body);
    for (const Tab& tab : tabs)
        if (tab_button(ui, tab, tab.draw == chosen.draw, tab.draw == draw_findings ? found : "",
                       colour_of(summary), dense))
            wish = tab.id;
    ImGui::PopFont();
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
