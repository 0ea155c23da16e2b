#include "ui/picture/plot_labels.h"

#include <fmt/format.h>

#include <cmath>

#include "experiments/launch/array_picture.h"
#include "ui/language/language.h"
#include "ui/widgets/format.h"
#include "ui/widgets/widgets.h"

namespace warpscope::ui {
namespace {

using experiments::BufferContents;
using launches::BufferView;

bool is_plot(const Stage& stage, const BufferContents& buffer) {
    for (const experiments::Parameter* p : stage.parameters().all()) {
        if (p->id() != "view") continue;
        const BufferView view = launches::parse_buffer_view(p->text());
        return view == BufferView::plot ||
               (view == BufferView::automatic &&
                experiments::automatic_view(buffer.numbers.type, buffer.numbers.shape) ==
                    BufferView::plot);
    }
    return false;
}

/// Words in the small font on a dark ground, whose left end, centre or right end is at `at`.
void label(Ui& ui, ImVec2 at, float align, const std::string& words) {
    ImFont* const font = ui.fonts.small;
    const float size = text_size(font);
    const ImVec2 full = font->CalcTextSizeA(size, FLT_MAX, 0, words.c_str());
    const ImVec2 corner{std::round(at.x - align * full.x), std::round(at.y - full.y / 2)};
    ImDrawList& list = *ImGui::GetWindowDrawList();
    list.AddRectFilled({corner.x - ui.px(3), corner.y},
                       {corner.x + full.x + ui.px(3), corner.y + full.y},
                       faded(colour::canvas, 0.8F), ui.px(3));
    list.AddText(font, size, corner, colour::dim, words.c_str());
}

std::string number(double value) {
    return fmt::format("{:.5g}", value);
}

}  // namespace

void draw_plot_labels(Ui& ui, const Stage& stage, ImVec2 low, ImVec2 high) {
    constexpr std::size_t few = 16;
    const auto& buffer = stage.shown().readings.buffer;
    if (!buffer || buffer->numbers.elements() == 0 || !is_plot(stage, *buffer)) return;
    const launches::Array& array = buffer->numbers;
    const auto range = experiments::finite_range_of(array);
    if (!range) return;
    const std::size_t count = array.elements();
    // The plot is drawn with a margin of a twentieth of the range above and below.
    const double span = range->high > range->low ? 1.1 * (range->high - range->low) : 1;
    const auto y = [&](double value) {
        const double share = 0.5 + (value - (range->low + range->high) / 2) / span;
        return low.y + float(1 - share) * (high.y - low.y);
    };
    const float left = low.x + ui.px(8);
    if (count <= few) {
        const float unit = (high.x - low.x) / float(count);
        for (std::size_t i = 0; i < count; ++i) {
            const double value = launches::real(array.at(i * array.type.lanes));
            if (!std::isfinite(value)) continue;
            const float above = y(value) > (low.y + high.y) / 2 ? -1.F : 1.F;
            label(ui, {low.x + unit * (float(i) + 0.5F), y(value) + above * ui.px(14)}, 0.5F,
                  fmt::format("{}[{}] = {}", buffer->name, i, number(value)));
        }
    } else {
        label(ui, {left, y(range->high)}, 0, number(range->high));
        if (range->high > range->low) label(ui, {left, y(range->low)}, 0, number(range->low));
        const float foot = high.y - ui.px(10);
        label(ui, {left, foot}, 0, buffer->name + "[0]");
        label(ui, {high.x - ui.px(8), foot}, 1, fmt::format("{}[{}]", buffer->name, count - 1));
    }
    record_rect(ui, low, high, "plot.labels",
                tr("{} to {} of {} elements", number(range->low), number(range->high), count));
}

}  // namespace warpscope::ui
