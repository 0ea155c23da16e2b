#include "ui/dock/dock.h"

#include <fmt/format.h>

#include <algorithm>

#include "ui/dock/verdict_card.h"
#include "ui/language/language.h"
#include "ui/stage/inspector.h"
#include "ui/widgets/glossary.h"
#include "ui/widgets/icons.h"
#include "ui/widgets/widgets.h"

namespace warpscope::ui {
namespace {

/// Returns a function that draws the panel.
template <class Panel>
std::function<void(Ui&)> draws(Panel& panel) {
    return [&panel](Ui& ui) { panel.draw(ui); };
}

/// Space on each side of a tab's title.
float tab_padding(const Ui& ui, bool dense) {
    return ui.px(dense ? 6 : 10);
}

float count_width(const Ui& ui, const std::string& count) {
    const float number = ImGui::CalcTextSize(count.c_str()).x;
    return count.empty() ? 0 : std::max(number + ui.px(12), ui.px(20));
}

/// A tab's title, followed by a number in a pill unless `count` is empty. True when clicked.
template <class Tab>
bool tab_button(Ui& ui, const Tab& tab, bool chosen, const std::string& count, ImU32 count_colour,
                bool dense) {
    const float height = ui.px(30);
    const float title = ImGui::CalcTextSize(tab.title).x;
    ImGui::PushFont(ui.fonts.small);
    const ImVec2 number = ImGui::CalcTextSize(count.c_str());
    const float pill = count_width(ui, count);
    ImGui::PopFont();
    const float padding = tab_padding(ui, dense);
    const float width = title + 2 * padding + (pill > 0 ? pill + ui.px(6) : 0);
    const ImVec2 low = ImGui::GetCursorScreenPos();
    const bool clicked = hit_area(tab.id, {width, height});
    const bool hovered = ImGui::IsItemHovered();
    record(ui, std::string("dock.") + tab.id, chosen ? "on" : "off");
    hover_label(tab.title);
    tooltip(ui, tab.help);
    ImDrawList& list = *ImGui::GetWindowDrawList();
    list.AddText({low.x + padding, low.y + (height - ImGui::GetTextLineHeight()) / 2},
                 chosen || hovered ? colour::text : colour::dim, tab.title);
    if (chosen)
        list.AddRectFilled({low.x + padding, low.y + height - ui.px(2)},
                           {low.x + width - padding, low.y + height}, colour::accent);
    if (pill > 0) {
        const ImVec2 at{low.x + padding + ui.px(6) + title, low.y + (height - ui.px(18)) / 2};
        list.AddRectFilled(at, {at.x + pill, at.y + ui.px(18)},
                           faded(count_colour, colour::pill_fill), ui.px(9));
        list.AddText(ui.fonts.small, text_size(ui.fonts.small),
                     {at.x + (pill - number.x) / 2, at.y + (ui.px(18) - number.y) / 2},
                     count_colour, count.c_str());
    }
    ImGui::SameLine(0, ui.px(2));
    return clicked;
}

/// Width of all tabs. `found`: the number in the findings' pill.
template <class Tab>
float tabs_width(const Ui& ui, const std::vector<Tab>& tabs, const std::string& found, bool dense) {
    float width = count_width(ui, found) + ui.px(6);
    ImGui::PushFont(dense ? ui.fonts.small : ui.fonts.body);
    for (const Tab& tab : tabs)
        width += ImGui::CalcTextSize(tab.title).x + 2 * tab_padding(ui, dense) + ui.px(2);
    ImGui::PopFont();
    return width;
}

}  // namespace

Dock::Dock(Stage& stage, Microscope& microscope, DeviceFacts& facts, ViewOptions& options,
           EditorPanel& editor)
    : stage_(stage),
      microscope_(microscope),
      options_(options),
      launch_(stage),
      buffer_(stage, microscope.needs(),
              [&stage, &microscope](Ui& ui, const std::string& element) {
                  return ask_why(ui, stage, microscope, element);
              }),
      timings_(stage, facts),
      roofline_(stage),
      occupancy_(stage, options),
      findings_(stage, microscope, options),
      counters_(stage),
      lines_(stage, options, editor),
      heat_(stage),
      timeline_(stage, microscope),
      order_(stage, microscope),
      banks_(microscope),
      registers_(microscope),
      breaks_(microscope),
      why_(microscope),
      policies_(stage, options) {}

std::vector<Dock::Tab> Dock::tabs() {
    std::vector<Tab> tabs{
        {"timings", tr("Timings"), tr("How long the kernels take."), draws(timings_)},
        {"roofline", tr("Roofline"),
         tr("The rate of every kernel, below the ceilings of the device."), draws(roofline_)},
        {"occupancy", tr("Occupancy"),
         tr("How many warps of a kernel an SM executes at one time, and what limits them."),
         draws(occupancy_)},
        {"findings", tr("Findings"),
         tr("Races, invalid accesses, and barriers that not every thread reaches, found by the "
            "emulator on a copy of the launch."),
         draws(findings_)},
        {"counters", tr("Counters"),
         tr("Instructions, sectors of global memory and bank conflicts of shared memory, counted "
            "by the emulator."),
         draws(counters_)},
        {"lines", tr("Lines"),
         tr("The counters by source line: where instructions, traffic and conflicts come from."),
         draws(lines_)},
        {"heat", tr("Heat"),
         tr("How often each word of shared memory and of the buffers is accessed, and its bank "
            "conflicts."),
         draws(heat_)}};
    if (stage_.shown().plan)
        tabs.insert(tabs.begin(),
                    {{"launch", tr("Launch"),
                      tr("How the kernels are launched: grid, block, arguments and buffers."),
                      draws(launch_)},
                     {"buffer", tr("Buffer"), tr("The numbers of the buffer that is shown."),
                      draws(buffer_)}});
    if (microscope_.is_open() || timeline_.has_measured())
        tabs.push_back({"timeline", tr("Timeline"), tr("What each warp of a block does over time."),
                        draws(timeline_)});
    if (microscope_.is_open()) add_microscope_tabs(tabs);
    tabs.push_back(
        {"barriers", tr("Barriers"),
         tr("What the barriers of GPUs before Volta, of GPUs since Volta, and of the PTX "
            "ISA do with this kernel."),
         draws(policies_)});
    return tabs;
}

void Dock::add_microscope_tabs(std::vector<Tab>& tabs) {
    if (microscope_.choice().turns)
        tabs.push_back({"order", tr("Order"),
                        tr("The turns of the warps, as a schedule file lists them."),
                        draws(order_)});
    if (microscope_.reason())
        tabs.push_back({"why", tr("Why"),
                        tr("The instructions behind the wrong value, beside those of a right run."),
                        draws(why_)});
    tabs.push_back({"banks", tr("Banks"), tr("The newest shared access: 32 lanes onto 32 banks."),
                    draws(banks_)});
    tabs.push_back(
        {"registers", tr("Registers"), tr("The registers of the picked lane."), draws(registers_)});
    tabs.push_back({"breaks", tr("Breakpoints"),
                    tr("The lines and the words of memory at which a run of the block stops."),
                    draws(breaks_)});
}

/// A click on the chosen tab of the open dock folds it; any other click opens a tab.
void Dock::choose(const char* tab, bool was_open) {
    (microscope_.is_open() ? options_.dock_open : options_.dock) = tab;
    if (!microscope_.is_open()) options_.dock_folded = was_open;
}

void Dock::show_findings() {
    choose("findings", false);
}

/// Opens the form of a launch that was proposed for a source without a launch file, because a
/// person should look at it.
void Dock::show_proposal() {
    const auto& plan = stage_.shown().plan;
    if (plan == seen_plan_) return;
    seen_plan_ = plan;
    if (!plan || !plan->is_proposed() || microscope_.is_open()) return;
    options_.dock = "launch";
    options_.dock_folded = false;
}

/// Draws an arrow at the right end of the tabs.
void Dock::fold_button(Ui& ui, ImVec2 top, bool folded) {
    const float right = ImGui::GetWindowPos().x + ImGui::GetWindowContentRegionMax().x;
    const ImVec2 size{ui.px(24), ui.px(30)};
    ImGui::SetCursorScreenPos({right - size.x, top.y});
    if (hit_area("dock.fold", size)) options_.dock_folded = !folded;
    record(ui, "dock.fold", folded ? "folded" : "open");
    tooltip(ui, folded ? tr("Open this panel.") : tr("Fold this panel to one line of timings."));
    draw_icon(folded ? Icon::unfold : Icon::fold, {right - size.x / 2, top.y + size.y / 2},
              ui.px(5), ImGui::IsItemHovered() ? colour::text : colour::dim);
}

/// The tabs as a list, where they have no room beside each other.
void Dock::list_tabs(Ui& ui, const std::vector<Tab>& all, const Tab& chosen, float width) {
    std::vector<std::string> ids, titles;
    for (const Tab& tab : all) {
        ids.emplace_back(tab.id);
        titles.emplace_back(tab.title);
    }
    ImGui::SetCursorPosX(ImGui::GetCursorPosX() + tab_padding(ui, true));
    const int clicked = dropdown(ui, "dock", ids, titles, std::size_t(&chosen - all.data()), width);
    if (clicked >= 0) choose(all[std::size_t(clicked)].id, false);
    ImGui::SameLine(0, ui.px(2));
}

void Dock::draw(Ui& ui, bool folded, bool with_verdict) {
    show_proposal();
    if (std::exchange(beside_microscope_, microscope_.is_open()) != microscope_.is_open())
        options_.dock_needs = ViewOptions().dock_needs;
    if (const Reason* reason = microscope_.reason(); std::exchange(seen_reason_, reason) != reason)
        if (reason) options_.dock_open = "why";
    const emulator::Finding* finding = microscope_.shown_finding();
    if (const std::string now = finding ? finding->sentence : "";
        std::exchange(seen_finding_, now) != now && finding)
        options_.dock_open =
            finding->kind == emulator::FindingKind::race ? "timeline" : "registers";
    const auto order = microscope_.is_open() ? microscope_.choice().turns : nullptr;
    if (std::exchange(seen_order_, order) != order && order) options_.dock_open = "order";
    const std::string& wish = microscope_.is_open() ? options_.dock_open : options_.dock;
    const std::vector<Tab> all = tabs();
    const auto wished =
        std::find_if(all.begin(), all.end(), [&](const Tab& tab) { return tab.id == wish; });
    const Tab& chosen = wished == all.end() ? all.front() : *wished;
    const RaceSummary summary = stage_.race_summary();
    const ImVec2 top = ImGui::GetCursorScreenPos();
    const std::string found = summary.findings > 0 ? fmt::format("{}", summary.findings) : "";
    const float room = ImGui::GetContentRegionAvail().x;
    const auto beside = [&](const std::string& words) {
        return (with_verdict ? pill_width(ui, words) : 0) + ui.px(30);
    };
    const bool dense = tabs_width(ui, all, found, false) + beside(summary.chip) > room;
    const bool listed = tabs_width(ui, all, found, true) + beside(summary.brief) > room;
    // The text of the first title is aligned with the left edge of the panel below.
    ImGui::SetCursorScreenPos({top.x - tab_padding(ui, dense), top.y});
    ImGui::PushFont(dense ? ui.fonts.small : ui.fonts.body);
    if (listed)
        list_tabs(ui, all, chosen, std::min(ui.px(200), room - beside(summary.brief) - ui.px(6)));
    for (const Tab& tab : all) {
        if (listed) break;
        const bool counts = std::string_view(tab.id) == "findings";
        const bool open = &tab == &chosen && !folded;
        if (tab_button(ui, tab, open, counts ? found : "", colour_of(mark_of(summary)), dense))
            choose(tab.id, open);
    }
    ImGui::PopFont();
    const float fold_width = microscope_.is_open() ? 0 : ui.px(30);
    if (with_verdict && verdict_pill(ui, summary, fold_width)) show_findings();
    if (fold_width > 0) fold_button(ui, top, folded);
    ImDrawList& list = *ImGui::GetWindowDrawList();
    const float y = top.y + ui.px(30);
    const ImVec2 window = ImGui::GetWindowPos();
    list.AddLine({window.x, y}, {window.x + ImGui::GetWindowWidth(), y}, colour::line, ui.px(1));
    ImGui::SetCursorScreenPos({top.x, y + ui.px(7)});
    if (folded) {
        options_.dock_needs = ViewOptions().dock_needs;
        return timings_.draw_line(ui);
    }
    // The form has cells of fixed widths beside each other.
    const bool form = std::string_view(chosen.id) == "launch";
    ImGui::BeginChild(chosen.id, ImGui::GetContentRegionAvail(), false,
                      form ? ImGuiWindowFlags_HorizontalScrollbar : ImGuiWindowFlags_None);
    chosen.draw(ui);
    table_menu(ui, chosen.id);
    grow(ui);
    end_child();
}

/// The menu of a right click on a table.
void Dock::table_menu(Ui& ui, std::string_view tab) const {
    constexpr std::string_view without[]{"launch", "buffer", "findings", "heat", "timeline",
                                         "order",  "breaks", "why",      "banks"};
    if (std::ranges::find(without, tab) != std::end(without)) return;
    if (ImGui::IsWindowHovered(ImGuiHoveredFlags_ChildWindows) &&
        ImGui::IsMouseReleased(ImGuiMouseButton_Right))
        ImGui::OpenPopup("table.menu");
    if (!begin_popup(ui, "table.menu", {10, 8})) return;
    const auto copy = [&](const char* id, const char* label, Command command) {
        if (ImGui::MenuItem(label)) ui.ask(command);
        record(ui, id);
    };
    copy("table.csv", tr("Copy the table as CSV"), Command::copy_csv);
    copy("table.markdown", tr("Copy the table as Markdown"), Command::copy_markdown);
    copy("table.json", tr("Copy the table as JSON"), Command::copy_json);
    ImGui::EndPopup();
}

/// Asks the layout for the height of what the panel on show hides. While the dock is open it grows
/// and does not shrink, so that its tabs stay under the mouse.
void Dock::grow(const Ui& ui) {
    constexpr float most = 320;
    const float hidden = ImGui::GetScrollMaxY() / ui.scale;
    options_.dock_needs = std::min(most, options_.dock_needs + hidden);
}

}  // namespace warpscope::ui
