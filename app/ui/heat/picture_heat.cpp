#include "ui/heat/picture_heat.h"

#include <fmt/format.h>

#include <algorithm>

#include "experiments/launch/array_picture.h"
#include "experiments/launch/launch.h"
#include "experiments/measure/heat_figures.h"
#include "ui/heat/heat_grid.h"
#include "ui/heat/heat_scale.h"
#include "ui/heat/overlay.h"
#include "ui/language/language.h"
#include "ui/widgets/format.h"
#include "ui/widgets/widgets.h"

namespace warpscope::ui {
namespace {

using emulator::HeatArray;
using emulator::HeatFigure;
using experiments::LaunchPlan;

constexpr std::uint8_t half_transparent = 150;  ///< 255 is opaque

bool is_of_buffer(const HeatArray& array, const LaunchPlan& plan, std::size_t launch,
                  std::size_t buffer) {
    if (array.shared) return false;
    if (!plan.variables.empty() && !plan.variables[buffer].empty())
        return array.name == plan.file.buffers[buffer].name;
    const auto& arguments = plan.launches[launch].arguments;
    if (array.parameter < 0 || std::size_t(array.parameter) >= arguments.size()) return false;
    return std::ranges::any_of(
        arguments[std::size_t(array.parameter)].parts, [&](const experiments::ArgumentPart& part) {
            const auto* const index = std::get_if<std::size_t>(&part.value);
            return index && *index == buffer && part.offset == array.parameter_offset;
        });
}

/// The highest count of the words that the element has bytes of.
std::uint64_t count_of(const HeatArray& array, HeatFigure figure, std::size_t element,
                       std::size_t bytes) {
    constexpr std::uint64_t word_bytes = emulator::WordCounts::word_bytes;
    const std::uint64_t begin = array.begin % word_bytes + element * bytes;
    std::uint64_t most = 0;
    for (std::uint64_t word = begin / word_bytes; word <= (begin + bytes - 1) / word_bytes; ++word)
        most = std::max(most, array.count(figure, word));
    return most;
}

}  // namespace

PictureHeat::Source PictureHeat::wanted(const experiments::LaunchParameters& parameters,
                                        experiments::Size pixels) {
    const Checks& checks = stage_.checks();
    const auto& buffer = stage_.shown().readings.buffer;
    const LaunchPlan& plan = *parameters.plan;
    const std::size_t launch = parameters.launch.index(), index = parameters.buffer.index();
    why_not_.clear();
    if (!buffer || launch >= plan.launches.size() || index >= plan.file.buffers.size() ||
        buffer->name != plan.file.buffers[index].name)
        return {};
    if (!is_picture(parameters.view, buffer->numbers)) {
        why_not_ = tr("Choose a view that is a picture: colours, grey or a colour map.");
        return {};
    }
    const auto& inspection = checks.inspection;
    if (!inspection || !checks.current || !inspection->heat) {
        why_not_ = checks.checking ? tr("The emulator is counting the accesses…")
                   : !checks.error.empty()
                       ? checks.error
                       : tr("Not counted yet. Click “Check now” in the findings.");
        return {};
    }
    const auto& arrays = inspection->heat->arrays;
    const auto array = std::ranges::find_if(
        arrays, [&](const HeatArray& one) { return is_of_buffer(one, plan, launch, index); });
    if (array == arrays.end() || array->bytes < buffer->numbers.bytes.size()) {
        why_not_ =
            tr("{} does not access {} in global memory.", plan.launches[launch].name, buffer->name);
        return {};
    }
    return {inspection,
            &*array,
            HeatFigure(parameters.paint.index() - 1),
            buffer->numbers.shape,
            buffer->numbers.type.size(),
            pixels.width,
            pixels.height};
}

void PictureHeat::forget() {
    if (texture_) delete_overlay(texture_);
    texture_ = 0;
    source_ = {};
}

/// Makes the texture. It is transparent at an element whose count is 0.
void PictureHeat::paint() {
    const experiments::Size size{source_.width, source_.height};
    std::vector<std::uint64_t> counts(std::size_t(size.width) * std::size_t(size.height));
    for (int y = 0; y < size.height; ++y)
        for (int x = 0; x < size.width; ++x)
            if (const auto element = element_at(source_.shape, size, x, y))
                counts[std::size_t(y) * std::size_t(size.width) + std::size_t(x)] =
                    count_of(*source_.array, source_.figure, *element, source_.element_bytes);
    most_ = *std::ranges::max_element(counts);
    texture_ = make_overlay(size, [&](int x, int y) -> ImU32 {
        const std::uint64_t count =
            counts[std::size_t(y) * std::size_t(size.width) + std::size_t(x)];
        if (count == 0) return 0;
        return (heat_colour(double(count) / double(most_)) & ~IM_COL32_A_MASK) |
               IM_COL32(0, 0, 0, half_transparent);
    });
}

void PictureHeat::draw(Ui& ui, experiments::Size pixels, ImVec2 low, ImVec2 high,
                       ImVec2 panel_corner) {
    const auto* const parameters = stage_.parameters().of_launch_file();
    if (!parameters || parameters->paint.index() == 0) return forget();
    Source source = wanted(*parameters, pixels);
    if (source != source_) {
        forget();
        source_ = std::move(source);
        if (source_.array) paint();
    }
    if (!source_.array && why_not_.empty()) return;
    ImDrawList& list = *ImGui::GetWindowDrawList();
    if (source_.array) list.AddImage(ImTextureID(std::intptr_t(texture_)), low, high);
    const std::string words =
        source_.array ? tr("{} of {}", parameters->paint.text(), parameters->buffer.text())
                      : why_not_;
    ImGui::PushFont(ui.fonts.small);
    const ImVec2 size = ImGui::CalcTextSize(words.c_str());
    const float line = ImGui::GetFrameHeight(), gap = ui.px(10);
    const float scale = source_.array ? ui.px(heat_scale_room) - ui.px(40) : 0;
    const ImVec2 end{panel_corner.x - gap, panel_corner.y + gap + line};
    const ImVec2 begin{end.x - size.x - scale - 2 * gap, end.y - line};
    list.AddRectFilled(begin, end, faded(colour::background, 0.88F), ui.px(5));
    list.AddText({begin.x + gap, begin.y + (line - size.y) / 2}, colour::text, words.c_str());
    ImGui::PopFont();
    record_rect(ui, begin, end, "picture.heat", words);
    if (source_.array) heat_scale(ui, "picture.heat.scale", end.x - gap, begin.y, most_);
}

std::string PictureHeat::words_at(int x, int y) const {
    if (!source_.array) return {};
    const auto element =
        experiments::element_at(source_.shape, {source_.width, source_.height}, x, y);
    if (!element) return {};
    std::string words;
    for (const auto& figure : compute::words_of<HeatFigure>) {
        if (figure.value >= HeatFigure::conflicts) continue;
        const std::uint64_t count =
            count_of(*source_.array, figure.value, *element, source_.element_bytes);
        words += fmt::format("{}{} {}", words.empty() ? "" : ", ", quantity(double(count), ""),
                             figure.name);
    }
    return words;
}

}  // namespace warpscope::ui
