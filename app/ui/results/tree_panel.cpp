#include "ui/results/tree_panel.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "ui/language/language.h"
#include "ui/widgets/format.h"
#include "ui/widgets/widgets.h"

namespace warpscope::ui {
namespace {

/// The sums of the two elements that are read for each element. `terms`: how many are read.
std::vector<float> sums_of(const std::vector<float>& before, const experiments::Tree::Row& after,
                           std::vector<int>& terms) {
    std::vector<float> sums(after.values.size());
    terms.assign(after.values.size(), 0);
    for (const auto& [from, to] : after.edges) {
        if (from >= before.size() || to >= after.values.size()) continue;
        sums[to] += before[from];
        ++terms[to];
    }
    return sums;
}

}  // namespace

std::vector<bool> wrong_sums(const experiments::Tree::Row& before,
                             const experiments::Tree::Row& after) {
    std::vector<int> terms;
    const std::vector<float> sums = sums_of(before.values, after, terms);
    std::vector<bool> wrong(after.values.size());
    for (std::size_t i = 0; i < wrong.size(); ++i)
        wrong[i] = terms[i] == 2 && sums[i] != after.values[i];
    return wrong;
}

std::vector<std::vector<bool>> wrong_values(const experiments::Tree& tree) {
    std::vector<std::vector<bool>> wrong;
    std::vector<float> right;
    for (const experiments::Tree::Row& row : tree.rows) {
        std::vector<int> terms;
        const std::vector<float> sums = sums_of(right, row, terms);
        std::vector<bool>& here = wrong.emplace_back(row.values.size());
        right.resize(row.values.size());
        for (std::size_t i = 0; i < here.size(); ++i) {
            const bool written = i < row.active.size() && row.active[i];
            if (!written) continue;
            // The right value is known for a sum of two elements only; any other value counts as
            // right.
            right[i] = terms[i] == 2 ? sums[i] : row.values[i];
            here[i] = right[i] != row.values[i];
        }
    }
    return wrong;
}

namespace {

using experiments::Tree;

/// Places in layout units: an overview of every element and, below it, cells that are large enough
/// to read, from column `first` on.
struct Places {
    ImVec2 low, high;  ///< corners of overview and cells, right of the row labels
    float strip;       ///< height of a row in the overview
    float detail_top;  ///< top of the first row of cells
    float pitch;       ///< distance from a row of cells to the next
    float cell_width, cell_height;
    double first;         ///< column at the left edge
    std::size_t columns;  ///< elements in a row
    float x(double column) const { return low.x + float(column - first) * cell_width; }
    float y(std::size_t row) const { return detail_top + pitch * float(row); }
    float width() const { return high.x - low.x; }
};

using Wrong = std::vector<std::vector<bool>>;  ///< index: [row][element]

std::size_t widest(const Tree& tree) {
    std::size_t columns = 1;
    for (const Tree::Row& row : tree.rows) columns = std::max(columns, row.values.size());
    return columns;
}

/// Keeps the columns in sight within the array.
void keep_in_sight(Ui& ui, TreeView& view, float width, std::size_t columns) {
    constexpr float usual_cell = 50;
    const float whole = width / ui.scale / float(columns);
    if (view.cell <= 0) view.cell = usual_cell;
    view.cell = std::clamp(view.cell, std::min(whole, usual_cell), 160.F);
    const double visible = width / ui.px(view.cell);
    view.first = std::clamp(view.first, 0.0, std::max(0.0, double(columns) - visible));
}

Places find_places(Ui& ui, TreeView& view, const Tree& tree, ImVec2 low, ImVec2 high) {
    Places at{};
    at.low = {low.x + ui.px(176), low.y + ui.px(64)};
    at.high = {high.x - ui.px(14), high.y - ui.px(10)};
    at.columns = widest(tree);
    keep_in_sight(ui, view, at.width(), at.columns);
    at.strip = ui.px(8);
    const auto rows = float(std::max<std::size_t>(1, tree.rows.size()));
    at.detail_top = at.low.y + at.strip * rows + ui.px(44);
    at.pitch = std::clamp((at.high.y - at.detail_top) / rows, ui.px(30), ui.px(72));
    at.cell_height = std::min(ui.px(26), at.pitch - ui.px(8));
    at.cell_width = ui.px(view.cell);
    at.first = view.first;
    return at;
}

bool active(const Tree::Row& row, std::size_t i) {
    return i < row.active.size() && row.active[i];
}

/// Returns whether the read of this edge races.
bool races(const Tree::Row& row, std::size_t edge) {
    return edge < row.racing.size() && row.racing[edge];
}

/// Draws the overview, with one rectangle for each run of equal elements.
void overview(Ui& ui, const Tree& tree, const Places& at) {
    ImDrawList& list = *ImGui::GetWindowDrawList();
    const float unit = at.width() / float(at.columns);
    for (std::size_t r = 0; r < tree.rows.size(); ++r) {
        const Tree::Row& row = tree.rows[r];
        const float top = at.low.y + at.strip * float(r);
        for (std::size_t i = 0, end = 0; i < row.values.size(); i = end) {
            for (end = i; end < row.values.size() && active(row, end) == active(row, i);) ++end;
            list.AddRectFilled({at.low.x + unit * float(i), top},
                               {at.low.x + unit * float(end), top + at.strip - ui.px(1.5F)},
                               active(row, i) ? colour::accent : colour::raised);
        }
    }
    const double visible = at.width() / at.cell_width;
    if (visible >= double(at.columns)) return;
    const float bottom = at.low.y + at.strip * float(tree.rows.size());
    const float left = at.low.x + float(at.first) * unit;
    list.AddRect({left - ui.px(1), at.low.y - ui.px(3)},
                 {left + float(visible) * unit + ui.px(1), bottom + ui.px(2)}, colour::text,
                 ui.px(2), 0, ui.px(1));
}

/// Draws lines from the elements that were read to the element that was written; a short stub if
/// the element that was read is out of sight.
void edges(Ui& ui, const Tree& tree, const Wrong& wrong, const Places& at) {
    ImDrawList& list = *ImGui::GetWindowDrawList();
    for (std::size_t r = 1; r < tree.rows.size(); ++r) {
        const float top = at.y(r - 1) + at.cell_height, bottom = at.y(r);
        for (std::size_t i = 0; i < tree.rows[r].edges.size(); ++i) {
            const auto [from, to] = tree.rows[r].edges[i];
            const float end = at.x(double(to) + 0.5);
            if (end < at.low.x || end > at.high.x) continue;
            float x = at.x(double(from) + 0.5), y = top;
            if (x < at.low.x || x > at.high.x) {
                x = end + (x < end ? -1.F : 1.F) * (bottom - top);
                y = bottom - 0.6F * (bottom - top);
            }
            const bool bad = to < wrong[r].size() && wrong[r][to];
            const ImU32 ink =
                races(tree.rows[r], i) || bad ? colour::bad : faded(colour::accent, 0.6F);
            list.AddLine({x, y}, {end, bottom}, ink, ui.px(1.2F));
        }
    }
}

void cells(Ui& ui, const Tree& tree, const Wrong& wrong, const Places& at) {
    const Wrong values = wrong_values(tree);
    ImDrawList& list = *ImGui::GetWindowDrawList();
    const auto begin = std::size_t(std::max(0.0, std::floor(at.first)));
    const auto end =
        std::min(at.columns, std::size_t(std::ceil(at.first + at.width() / at.cell_width)));
    const float inset = at.cell_width > ui.px(12) ? ui.px(1.5F) : 0;
    const bool readable = at.cell_width >= ui.px(34);
    ImGui::PushFont(ui.fonts.mono_small);
    for (std::size_t r = 0; r < tree.rows.size(); ++r) {
        const Tree::Row& row = tree.rows[r];
        for (std::size_t i = begin; i < std::min(end, row.values.size()); ++i) {
            const ImVec2 low{at.x(double(i)) + inset, at.y(r)};
            const ImVec2 high{at.x(double(i + 1)) - inset, at.y(r) + at.cell_height};
            const bool lit = active(row, i);
            list.AddRectFilled(low, high, lit ? colour::accent_deep : colour::panel,
                               inset > 0 ? ui.px(3) : 0);
            if (wrong[r][i]) list.AddRect(low, high, colour::bad, ui.px(3), 0, ui.px(1.5F));
            if (!readable) continue;
            const std::string value = compact(double(row.values[i]));
            const ImVec2 size = ImGui::CalcTextSize(value.c_str());
            list.AddText({std::round((low.x + high.x - size.x) / 2),
                          std::round((low.y + high.y - size.y) / 2)},
                         values[r][i] ? colour::bad
                         : lit        ? colour::text
                                      : colour::faint,
                         value.c_str());
        }
    }
    if (readable)
        for (std::size_t i = begin; i < end; ++i) {
            const std::string index = fmt::format("{}", i);
            const float w = ImGui::CalcTextSize(index.c_str()).x;
            list.AddText({at.x(double(i) + 0.5) - w / 2, at.detail_top - ui.px(18)}, colour::faint,
                         index.c_str());
        }
    ImGui::PopFont();
}

void labels(Ui& ui, const Tree& tree, const Places& at, float left) {
    for (std::size_t r = 0; r < tree.rows.size(); ++r) {
        ImGui::PushFont(ui.fonts.small);
        const float line = ImGui::GetTextLineHeight();
        ImGui::PopFont();
        ImGui::SetCursorScreenPos({left, at.y(r) + (at.cell_height - line) / 2});
        clipped_text(ui.fonts.small, colour::dim, tr(tree.rows[r].label),
                     at.low.x - left - ui.px(10));
    }
    ImGui::SetCursorScreenPos({left, at.low.y - ui.px(3)});
    text(ui.fonts.small, colour::faint, tr("active of {} threads", at.columns));
    ImGui::SetCursorScreenPos({left, at.detail_top - ui.px(20)});
    text(ui.fonts.small, colour::faint, tr("element"));
}

/// What the colours mean, in two lines below the title at most, without what has no room.
void legend(Ui& ui, const Tree& tree, ImVec2 at, float right) {
    ImGui::SetCursorScreenPos(at);
    const auto part = [&](ImU32 hue, const char* words) {
        ImVec2 low = ImGui::GetCursorScreenPos();
        const float side = ui.px(10);
        ImGui::PushFont(ui.fonts.small);
        const float line = ImGui::GetTextLineHeight();
        const float needed = side + ui.px(6) + ImGui::CalcTextSize(words).x;
        ImGui::PopFont();
        if (low.x + needed > right && low.y < at.y + line) low = {at.x, at.y + line};
        if (low.x + needed > right) return;
        ImGui::GetWindowDrawList()->AddRectFilled(
            {low.x, low.y + ui.px(4)}, {low.x + side, low.y + ui.px(4) + side}, hue, ui.px(2));
        ImGui::SetCursorScreenPos({low.x + side + ui.px(6), low.y});
        text(ui.fonts.small, colour::dim, words);
        ImGui::SameLine(0, ui.px(18));
    };
    const bool races = std::ranges::any_of(tree.rows, [](const Tree::Row& row) {
        return std::ranges::find(row.racing, true) != row.racing.end();
    });
    const bool wrong = std::ranges::any_of(wrong_values(tree), [](const std::vector<bool>& row) {
        return std::ranges::find(row, true) != row.end();
    });
    part(colour::accent_deep, tr("written in this step"));
    if (races) part(colour::bad, tr("this read races"));
    if (wrong) part(colour::bad, tr("number: a wrong sum; frame: it went wrong here"));
    record_rect(ui, at, ImGui::GetCursorScreenPos(), "tree.legend",
                fmt::format("{}{}", races ? "races " : "", wrong ? "wrong" : ""));
    ImGui::NewLine();
}

void navigate(Ui& ui, TreeView& view, const Places& at, float overview_bottom) {
    const ImGuiIO& io = ImGui::GetIO();
    if (ImGui::IsItemHovered() && io.MouseWheel != 0) {
        const double kept = at.first + (io.MousePos.x - at.low.x) / at.cell_width;
        view.cell *= std::pow(1.2F, io.MouseWheel);
        keep_in_sight(ui, view, at.width(), at.columns);
        view.first = kept - (io.MousePos.x - at.low.x) / ui.px(view.cell);
    }
    if (!ImGui::IsItemActive()) return;
    if (ImGui::IsItemActivated()) view.in_overview = io.MousePos.y < overview_bottom;
    if (view.in_overview)
        view.first = (io.MousePos.x - at.low.x) / at.width() * double(at.columns) -
                     at.width() / at.cell_width / 2;
    else if (!ImGui::IsItemActivated())
        view.first -= io.MouseDelta.x / at.cell_width;
}

void hover(Ui& ui, const Tree& tree, const Wrong& wrong, const Places& at) {
    const ImVec2 mouse = ImGui::GetIO().MousePos;
    if (!ImGui::IsItemHovered() || mouse.x < at.low.x || mouse.y < at.detail_top) return;
    const auto row = std::size_t((mouse.y - at.detail_top) / at.pitch);
    const double column = at.first + (mouse.x - at.low.x) / at.cell_width;
    if (row >= tree.rows.size() || mouse.y - at.y(row) > at.cell_height) return;
    const Tree::Row& r = tree.rows[row];
    if (column < 0 || column >= double(r.values.size())) return;
    const auto i = std::size_t(column);
    std::string words = tr("element {} = {}\n{}", i, quantity(double(r.values[i]), ""),
                           active(r, i) ? tr("Written by thread {} in this step", i)
                                        : tr("Thread {} is idle in this step", i));
    std::string sum;
    for (std::size_t e = 0; e < r.edges.size(); ++e) {
        const auto [from, to] = r.edges[e];
        if (to != i || row == 0 || from >= tree.rows[row - 1].values.size()) continue;
        sum += fmt::format("{}[{}] {}{}", sum.empty() ? "" : " + ", from,
                           quantity(double(tree.rows[row - 1].values[from]), ""),
                           races(r, e) ? tr(" (races)") : "");
    }
    if (!sum.empty()) words += tr("\nRead: {}", sum);
    if (wrong[row][i])
        words +=
            tr("\nThis is not the sum of the values above: another thread wrote one of them in "
               "between.");
    quick_tooltip(ui, words);
}

Wrong find_wrong(const Tree& tree) {
    Wrong wrong;
    for (std::size_t r = 0; r < tree.rows.size(); ++r)
        wrong.push_back(r == 0 ? std::vector<bool>(tree.rows[0].values.size())
                               : wrong_sums(tree.rows[r - 1], tree.rows[r]));
    return wrong;
}

}  // namespace

void TreePanel::draw(Ui& ui) {
    const Tree* tree = stage_.tree();
    const ImVec2 low = ImGui::GetCursorScreenPos();
    const ImVec2 size = ImGui::GetContentRegionAvail();
    const ImVec2 high{low.x + size.x, low.y + size.y};
    if (!tree || size.x < ui.px(220) || size.y < ui.px(120)) return;
    if (tree->rows.empty()) {
        ImGui::SetCursorScreenPos({low.x + ui.px(16), low.y + ui.px(12)});
        paragraph(ui.fonts.body, colour::dim, tr(tree->title));
        record(ui, "tree", tree->title);
        return;
    }
    const Wrong wrong = find_wrong(*tree);
    const Places at = find_places(ui, view_, *tree, low, high);
    hit_area("tree", size);
    record(ui, "tree", tree->title);
    navigate(ui, view_, at, at.low.y + at.strip * float(tree->rows.size()) + ui.px(6));
    hover(ui, *tree, wrong, at);
    const float left = low.x + ui.px(16);
    ImGui::SetCursorScreenPos({left, low.y + ui.px(12)});
    clipped_text(ui.fonts.small, colour::dim, tr(tree->title), size.x - ui.px(32));
    legend(ui, *tree, {left, low.y + ui.px(30)}, high.x - ui.px(8));
    overview(ui, *tree, at);
    ImGui::PushClipRect({at.low.x, low.y}, {at.high.x, high.y}, true);
    edges(ui, *tree, wrong, at);
    cells(ui, *tree, wrong, at);
    ImGui::PopClipRect();
    labels(ui, *tree, at, left);
    needed_.draw(ui, {}, {low, high});
}

}  // namespace warpscope::ui
