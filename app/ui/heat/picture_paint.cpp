#include "ui/heat/picture_paint.h"

#include <fmt/format.h>
#include <glad/gl.h>

#include <algorithm>
#include <functional>
#include <utility>
#include <vector>

#include "experiments/launch/array_picture.h"
#include "experiments/launch/launch.h"
#include "experiments/measure/kernel_figures.h"
#include "experiments/measure/user_paths.h"
#include "gl/texture.h"
#include "ui/heat/heat_panel.h"
#include "ui/language/language.h"
#include "ui/widgets/format.h"
#include "ui/widgets/widgets.h"

namespace warpscope::ui {
namespace {

/// Makes a texture of this size with a colour for each pixel, to be painted over a picture. It
/// needs a current OpenGL context; the caller deletes it with delete_overlay().
unsigned make_overlay(experiments::Size size, const std::function<ImU32(int x, int y)>& colour) {
    std::vector<ImU32> texels;
    texels.reserve(std::size_t(size.width) * std::size_t(size.height));
    for (int y = 0; y < size.height; ++y)
        for (int x = 0; x < size.width; ++x) texels.push_back(colour(x, y));
    const unsigned texture = gl::make_texture(size.width, size.height);
    glBindTexture(GL_TEXTURE_2D, texture);
    glTexSubImage2D(GL_TEXTURE_2D, 0, 0, 0, size.width, size.height, GL_RGBA, GL_UNSIGNED_BYTE,
                    texels.data());
    glBindTexture(GL_TEXTURE_2D, 0);
    return texture;
}

void delete_overlay(unsigned texture) {
    glDeleteTextures(1, &texture);
}

/// Whether each pixel of a launch file's picture is an element of the buffer on show.
bool is_picture(launches::BufferView view, const launches::Array& array) {
    using launches::BufferView;
    if (view == BufferView::automatic) view = experiments::automatic_view(array.type, array.shape);
    return view != BufferView::plot && view != BufferView::histogram;
}

using emulator::HeatArray;
using emulator::HeatFigure;
using experiments::Dependence;
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

std::size_t count(const std::vector<Dependence>& elements, Dependence what) {
    return std::size_t(std::ranges::count(elements, what));
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
        experiments::as_shown(barrier.finding.first.where(), needs_.answer()->launch->edits);
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
