#include "ui/microscope/banks_panel.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <set>

#include "compute/device/number_text.h"
#include "emulator/counters/access_counters.h"
#include "ui/language/language.h"
#include "ui/widgets/format.h"
#include "ui/widgets/widgets.h"

namespace warpscope::ui {
namespace {

using emulator::banks;

bool one_address(const emulator::AccessView& access) {
    const auto first = access.addresses[std::size_t(std::countr_zero(access.mask))];
    for (unsigned lane = 0; lane < 32; ++lane)
        if ((access.mask >> lane & 1) && access.addresses[lane] != first) return false;
    return true;
}

std::string sentence(const BankPicture& picture, const emulator::AccessView& access) {
    const int lanes = std::popcount(access.mask);
    const auto passes = [](unsigned n) { return counted(n, "pass"); };
    if (lanes == 0) return tr("No lane takes part.");
    if (picture.degree > 1)
        return tr("{}-way conflict: {} where {} would be enough", picture.degree,
                  passes(picture.passes), picture.least);
    if (lanes > 1 && one_address(access))
        return tr("All {} lanes share one address: {}", lanes, passes(picture.passes));
    return tr("No conflict: {}", passes(picture.passes));
}

}  // namespace

BankPicture bank_picture(const emulator::AccessView& access) {
    const emulator::BankUse use = emulator::bank_use(access.addresses, access.mask, access.bytes);
    BankPicture picture;
    picture.passes = use.wavefronts;
    picture.least = use.least;
    for (unsigned group = 0; group < use.least; ++group) {
        std::array<std::set<std::uint64_t>, banks> words;
        const std::size_t begin = picture.lines.size();
        for (unsigned lane = 0; lane < 32; ++lane) {
            if (!(access.mask >> lane & 1) || use.group[lane] != group) continue;
            const std::uint64_t low = access.addresses[lane] / 4;
            const std::uint64_t high = (access.addresses[lane] + access.bytes - 1) / 4;
            for (std::uint64_t word = low; word <= high; ++word) {
                const auto bank = unsigned(word % banks);
                words[bank].insert(word);
                picture.lanes[bank] |= 1U << lane;
                picture.lines.push_back({lane, bank, false});
            }
        }
        for (std::size_t i = begin; i < picture.lines.size(); ++i)
            picture.lines[i].conflict = words[picture.lines[i].bank].size() > 1;
        for (unsigned b = 0; b < banks; ++b)
            picture.words[b] = std::max(picture.words[b], unsigned(words[b].size()));
    }
    picture.degree = *std::max_element(picture.words.begin(), picture.words.end());
    picture.sentence = sentence(picture, access);
    return picture;
}

namespace {

using emulator::AccessView;

std::string description(const AccessView& access) {
    const char* kind = access.kind == emulator::MemoryAccess::load    ? tr("reads")
                       : access.kind == emulator::MemoryAccess::store ? tr("writes")
                                                                      : tr("updates");
    const auto lanes = unsigned(std::popcount(access.mask));
    return tr("Warp {} {}: {}, {} each", access.warp, kind, counted(lanes, "lane"),
              counted(access.bytes, "byte"));
}

/// Places of the row of lanes, the row of banks, and the numbers of words below.
struct Rows {
    ImVec2 low;
    float cell, height, gap;
    float x(unsigned i) const { return low.x + cell * (float(i) + 0.5F); }
    float banks_top() const { return low.y + height + gap; }
    float words_top() const { return banks_top() + height; }
};

void cell(Ui& ui, const Rows& rows, unsigned i, float top, ImU32 fill, ImU32 ink,
          const std::string& words) {
    ImDrawList& list = *ImGui::GetWindowDrawList();
    const float left = rows.x(i) - rows.cell / 2;
    list.AddRectFilled({left + ui.px(1), top}, {left + rows.cell - ui.px(1), top + rows.height},
                       fill, ui.px(3));
    const ImVec2 size = ImGui::CalcTextSize(words.c_str());
    if (size.x > rows.cell - ui.px(2)) return;
    list.AddText({rows.x(i) - size.x / 2, top + (rows.height - size.y) / 2}, ink, words.c_str());
}

void draw_rows(Ui& ui, Microscope& microscope, const AccessView& access, const BankPicture& picture,
               const Rows& rows) {
    ImDrawList& list = *ImGui::GetWindowDrawList();
    const ImU32 lane_colour = warp_colour(access.warp);
    for (const bool conflicts : {false, true})  // conflicts are drawn on top
        for (const BankLine& line : picture.lines) {
            if (line.conflict != conflicts) continue;
            list.AddLine({rows.x(line.lane), rows.low.y + rows.height + ui.px(1)},
                         {rows.x(line.bank), rows.banks_top() - ui.px(1)},
                         conflicts ? faded(colour::bad, 0.8F) : faded(lane_colour, 0.75F),
                         ui.px(1.2F));
        }
    ImGui::PushFont(ui.fonts.mono_small);
    for (unsigned i = 0; i < 32; ++i) {
        const bool takes_part = access.mask >> i & 1;
        const bool looked_at = i == microscope.lane() && access.warp == microscope.warp();
        cell(ui, rows, i, rows.low.y, takes_part ? faded(lane_colour, 0.35F) : colour::panel,
             takes_part ? colour::text : colour::faint, fmt::format("{}", i));
        if (looked_at) {
            const float left = rows.x(i) - rows.cell / 2;
            list.AddRect({left, rows.low.y - ui.px(1)},
                         {left + rows.cell, rows.low.y + rows.height + ui.px(1)}, colour::text,
                         ui.px(3), 0, ui.px(1.2F));
        }
        const unsigned words = picture.words[i];
        cell(ui, rows, i, rows.banks_top(),
             words == 0   ? colour::panel
             : words == 1 ? colour::accent_deep
                          : faded(colour::bad, 0.45F),
             words == 0 ? colour::faint : colour::text, fmt::format("{}", i));
        if (words > 0)
            cell(ui, rows, i, rows.words_top(), colour::clear,
                 words > 1 ? colour::bad : colour::faint, fmt::format("{}", words));
    }
    ImGui::PopFont();
}

/// A click on a lane picks it. The mouse over a lane or a bank shows a tooltip.
void pointer(Ui& ui, Microscope& microscope, const BankPicture& picture, const AccessView& access,
             const Rows& rows) {
    ImGui::SetCursorScreenPos(rows.low);
    const bool clicked =
        hit_area("banks", {rows.cell * 32, rows.words_top() + rows.height - rows.low.y});
    record(ui, "banks", picture.sentence);
    if (!ImGui::IsItemHovered()) return;
    const ImVec2 mouse = ImGui::GetIO().MousePos;
    const auto i = unsigned(std::clamp((mouse.x - rows.low.x) / rows.cell, 0.F, 31.F));
    if (mouse.y < rows.low.y + rows.height) {
        if (clicked) ui.later([&microscope, warp = access.warp, i] { microscope.pick(warp, i); });
        if (access.mask >> i & 1)
            quick_tooltip(ui, tr("Lane {}: byte {} of shared memory, bank {}", i,
                                 access.addresses[i], access.addresses[i] / 4 % 32));
    } else if (mouse.y > rows.banks_top()) {
        const auto lanes = unsigned(std::popcount(picture.lanes[i]));
        quick_tooltip(ui, tr("Bank {} serves {}; words in one pass: {}", i, counted(lanes, "lane"),
                             picture.words[i]));
    }
}

}  // namespace

void BanksPanel::draw(Ui& ui) {
    const Microscope& microscope = microscope_;
    const auto access =
        microscope.ready() ? microscope.stepper().shared_access(microscope.warp()) : std::nullopt;
    if (!access) {
        const std::string words =
            microscope.ready()
                ? tr("Warp {} has not accessed shared memory yet.", microscope.warp())
                : microscope.complaint();
        paragraph(ui.fonts.body, colour::dim, words);
        record(ui, "banks.none", words);
        return;
    }
    const BankPicture picture = bank_picture(*access);
    const ImVec2 low = ImGui::GetCursorScreenPos();
    const ImVec2 room = ImGui::GetContentRegionAvail();
    const float column = std::min(ui.px(290), room.x * 0.35F);
    ImGui::PushTextWrapPos(ImGui::GetCursorPosX() + column - ui.px(14));
    text(ui.fonts.strong, picture.degree > 1 ? colour::bad : colour::good, picture.sentence);
    record(ui, "banks.sentence", picture.sentence);
    text(ui.fonts.small, colour::dim, description(*access));
    const emulator::Kernel& kernel = microscope.stepper().kernel();
    text(ui.fonts.small, colour::dim, microscope.where(access->pc));
    text(ui.fonts.small, colour::faint, one_line(kernel.lines[access->pc].text));
    ImGui::PopTextWrapPos();

    ImGui::PushFont(ui.fonts.small);
    const float label = ImGui::CalcTextSize(tr("words")).x + ui.px(12);
    const float line = ImGui::GetTextLineHeight();
    ImGui::PopFont();
    Rows rows{};
    rows.low = {low.x + column + label, low.y + ui.px(2)};
    rows.cell = (room.x - column - label) / 32;
    rows.height = ui.px(18);
    rows.gap = std::clamp(room.y - 3 * rows.height - ui.px(10), ui.px(24), ui.px(140));
    if (rows.cell <= 0) return;
    ImGui::SetCursorScreenPos({low.x + column, rows.low.y + (rows.height - line) / 2});
    text(ui.fonts.small, colour::dim, tr("lanes"));
    ImGui::SetCursorScreenPos({low.x + column, rows.banks_top() + (rows.height - line) / 2});
    text(ui.fonts.small, colour::dim, tr("banks"));
    ImGui::SetCursorScreenPos({low.x + column, rows.words_top() + (rows.height - line) / 2});
    text(ui.fonts.small, colour::dim, tr("words"));
    draw_rows(ui, microscope_, *access, picture, rows);
    pointer(ui, microscope_, picture, *access, rows);
}

}  // namespace warpscope::ui
