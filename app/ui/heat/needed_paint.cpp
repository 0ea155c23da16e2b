#include "ui/heat/needed_paint.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "experiments/launch/array_picture.h"
#include "experiments/measure/user_paths.h"
#include "gl/texture.h"
#include "ui/heat/heat_grid.h"
#include "ui/heat/overlay.h"
#include "ui/language/language.h"
#include "ui/widgets/format.h"
#include "ui/widgets/widgets.h"

namespace warpscope::ui {

namespace {

using experiments::Dependence;

std::size_t count(const std::vector<Dependence>& elements, Dependence what) {
    return std::size_t(std::ranges::count(elements, what));
}

}  // namespace

bool NeededPaint::shows() const {
    const auto& inspection = stage_.checks().inspection;
    return needs_.shown() && inspection && needs_.knows(inspection->launch);
}

void NeededPaint::forget() {
    if (texture_) delete_overlay(texture_);
    texture_ = 0;
    source_ = {};
}

/// The result whose elements are the pixels of the picture.
std::optional<std::size_t> NeededPaint::result_in_picture() const {
    const auto& results = needs_.answer()->results;
    const auto* const parameters = stage_.parameters().of_launch_file();
    const auto& buffer = stage_.shown().readings.buffer;
    for (std::size_t k = 0; k < results.size(); ++k) {
        if (!parameters && results[k].is_picture) return k;
        if (parameters && buffer && buffer->name == results[k].name &&
            is_picture(parameters->view, buffer->numbers))
            return k;
    }
    return {};
}

void NeededPaint::paint_pixels(const ScreenArea& picture, std::size_t result) {
    const experiments::Size size{stage_.pixels()->width(), stage_.pixels()->height()};
    Source source{needs_.answer(), needs_.shown(), result, size.width, size.height};
    if (!(source == source_)) {
        forget();
        source_ = std::move(source);
        const auto& elements = source_.barrier->elements[result];
        const auto& shape = source_.answer->results[result].values.shape;
        texture_ = make_overlay(size, [&](int x, int y) {
            const auto element = experiments::element_at(shape, size, x, y);
            return element && *element < elements.size() ? dependence_colour(elements[*element])
                                                         : 0;
        });
    }
    ImGui::GetWindowDrawList()->AddImage(ImTextureID(std::intptr_t(texture_)), picture.low,
                                         picture.high);
}

/// The elements of the first result as points of the picture.
void NeededPaint::paint_bodies(Ui& ui, const ScreenArea& picture) const {
    const auto& answer = *needs_.answer();
    const Elements& elements = needs_.shown()->elements[0];
    const experiments::Size size{stage_.pixels()->width(), stage_.pixels()->height()};
    const auto places = answer.places(stage_.parameters(), size, answer.results[0].values);
    ImDrawList& list = *ImGui::GetWindowDrawList();
    const float scale = (picture.high.x - picture.low.x) / float(size.width);
    list.AddRectFilled(picture.low, picture.high, faded(IM_COL32_BLACK, 0.6F));
    for (const Dependence layer : {Dependence::none, Dependence::depends})
        for (std::size_t k = 0; k < std::min(places.size(), elements.size()); ++k) {
            const auto [x, y, down] = places[k];
            if (elements[k] != layer || !(x >= 0 && y >= 0 && x < size.width && y < size.height))
                continue;
            const float side = std::max(ui.px(1.5F), scale);
            const ImVec2 at{picture.low.x + float(x) * scale, picture.low.y + float(y) * scale};
            list.AddRectFilled({at.x - side, at.y - side}, {at.x + side, at.y + side},
                               dependence_colour(layer));
        }
}

/// The elements of each result that was examined as cells, from the lower edge upwards.
void NeededPaint::paint_cells(Ui& ui, ScreenArea room) const {
    const auto& results = needs_.answer()->results;
    ImDrawList& list = *ImGui::GetWindowDrawList();
    for (std::size_t k = 0; k < std::min(results.size(), needs_.shown()->elements.size()); ++k) {
        const Elements& elements = needs_.shown()->elements[k];
        if (count(elements, Dependence::unknown) == elements.size()) continue;
        const float high = std::min(ui.px(120), room.high.y - room.low.y) - ui.px(8);
        if (high < ui.px(50)) return;
        const ImVec2 low{room.low.x + ui.px(12), room.high.y - high};
        const ImVec2 far{room.high.x - ui.px(12), room.high.y - ui.px(8)};
        list.AddRectFilled(low, far, faded(colour::background, 0.94F), ui.px(5));
        ImGui::PushFont(ui.fonts.small);
        const std::string words = tr("{}: {} of {} depend on it", results[k].name,
                                     quantity(double(count(elements, Dependence::depends)), ""),
                                     quantity(double(elements.size()), ""));
        list.AddText({low.x + ui.px(8), low.y + ui.px(5)}, colour::text, words.c_str());
        const float line = ImGui::GetTextLineHeight() + ui.px(10);
        ImGui::PopFont();
        record_rect(ui, low, far, fmt::format("needed.cells.{}", results[k].name), words);
        const ImVec2 first{low.x + ui.px(8), low.y + line};
        const HeatLayout layout = global_layout(
            elements.size(), 0, {far.x - first.x - ui.px(8), far.y - first.y - ui.px(6)}, ui.scale);
        std::vector<Dependence> cells(layout.rows() * layout.columns(), Dependence::unknown);
        for (std::size_t e = 0; e < elements.size(); ++e) {
            Dependence& cell = cells[layout.cell_of(e)];
            cell = std::max(cell, elements[e]);
        }
        const float gap = std::min(layout.width, layout.height) >= ui.px(6) ? ui.px(1) : 0;
        for (std::size_t c = 0; c < cells.size(); ++c) {
            const ImVec2 at{first.x + layout.width * float(c % layout.columns()),
                            first.y + layout.height * float(c / layout.columns())};
            list.AddRectFilled(at, {at.x + layout.width - gap, at.y + layout.height - gap},
                               dependence_colour(cells[c]));
        }
        room.high.y = low.y;
    }
}

/// Says what the colours mean, and returns the height of that.
float NeededPaint::caption(Ui& ui, const ScreenArea& panel) const {
    const NeedFinder::Barrier& barrier = *needs_.shown();
    const std::string place =
        experiments::as_named(barrier.finding.first.where(), needs_.answer()->launch->edits);
    const std::string words =
        tr("{}: {} depend on it (magenta). Grey: nothing needed it for this input; another input "
           "may.",
           place, share_words(barrier));
    const float gap = ui.px(8), width = panel.high.x - panel.low.x - 4 * gap;
    ImGui::PushFont(ui.fonts.small);
    const ImVec2 size = ImGui::CalcTextSize(words.c_str(), nullptr, false, width);
    const ImVec2 low{panel.low.x + gap, panel.low.y + gap};
    const ImVec2 high{low.x + size.x + 2 * gap, low.y + size.y + gap};
    ImDrawList& list = *ImGui::GetWindowDrawList();
    list.AddRectFilled(low, high, faded(colour::background, 0.94F), ui.px(5));
    list.AddText(nullptr, 0, {low.x + gap, low.y + gap / 2}, colour::text, words.c_str(), nullptr,
                 width);
    ImGui::PopFont();
    record_rect(ui, low, high, "picture.needed", words);
    return high.y - panel.low.y;
}

void NeededPaint::draw(Ui& ui, const std::optional<ScreenArea>& picture, const ScreenArea& panel) {
    if (!shows()) return forget();
    const auto result = picture ? result_in_picture() : std::nullopt;
    const bool is_known = result && *result < needs_.shown()->elements.size();
    if (is_known)
        paint_pixels(*picture, *result);
    else if (picture && needs_.answer()->places && !needs_.shown()->elements.empty())
        paint_bodies(ui, *picture);
    const float top = caption(ui, panel);
    if (!is_known && !(picture && needs_.answer()->places))
        paint_cells(ui, {{panel.low.x, panel.low.y + top}, panel.high});
}

}  // namespace warpscope::ui
