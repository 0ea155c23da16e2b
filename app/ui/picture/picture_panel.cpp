#include "ui/picture/picture_panel.h"

#include <fmt/format.h>
#include <glad/gl.h>

#include <algorithm>
#include <cmath>

#include "experiments/launch/array_picture.h"
#include "ui/edits/barrier_switch.h"
#include "ui/language/language.h"
#include "ui/microscope/why_panel.h"
#include "ui/widgets/format.h"
#include "ui/widgets/icons.h"
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

/// The element that a column of a plot shows; nullopt: the picture is no plot.
std::optional<std::size_t> plotted_at(const Stage& stage, int x) {
    const auto& buffer = stage.shown().readings.buffer;
    if (!buffer || x < 0 || x >= stage.pixels()->width() || !is_plot(stage, *buffer)) return {};
    const std::size_t count = buffer->numbers.elements();
    if (count == 0) return {};
    return std::size_t(x) * count / std::size_t(stage.pixels()->width());
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

/// Draws the numbers at the axes of a buffer that is shown as a plot: its smallest and largest
/// number, and the first and last index. Beside few elements, their numbers. `low` and `high` are
/// corners of the plot. Nothing where the picture is no plot.
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
        const float foot = high.y - ui.px(10);
        if (range->high > range->low)
            label(ui, {left, std::min(y(range->low), foot - ui.px(16))}, 0, number(range->low));
        label(ui, {left, foot}, 0, buffer->name + "[0]");
        label(ui, {high.x - ui.px(8), foot}, 1, fmt::format("{}[{}]", buffer->name, count - 1));
    }
    record_rect(ui, low, high, "plot.labels",
                tr("{} to {} of {} elements", number(range->low), number(range->high), count));
}

/// A view whose name is "A | B" shows A in the left half of the picture and B in the right half: a
/// line parts the two, and each has its name.
void draw_halves(Ui& ui, const Stage& stage, ImVec2 low, ImVec2 high) {
    for (const experiments::Parameter* p : stage.parameters().all()) {
        const auto* const view = dynamic_cast<const experiments::Choice*>(p);
        if (!view || view->id() != "view") continue;
        const std::string name = tr(view->words()[view->index()].label);
        const std::size_t bar = name.find(" | ");
        if (bar == name.npos) return;
        const float middle = std::round((low.x + high.x) / 2), top = low.y + ui.px(14);
        ImGui::GetWindowDrawList()->AddLine({middle, low.y}, {middle, high.y}, colour::text,
                                            ui.px(1.5F));
        label(ui, {middle - ui.px(10), top}, 1, name.substr(0, bar));
        label(ui, {middle + ui.px(10), top}, 0, name.substr(bar + 3));
        record_rect(ui, low, high, "picture.halves", name);
    }
}

gl::Rect framebuffer_rect(const Ui& ui, ImVec2 low, ImVec2 size) {
    const auto whole = [&](float layout) { return int(std::lround(layout * ui.raster)); };
    return {whole(low.x), whole(low.y), std::max(1, whole(size.x)), std::max(1, whole(size.y))};
}

/// Draws a frame that is visible on any picture.
void draw_frame(Ui& ui, ImVec2 low, ImVec2 high, ImU32 colour, float grow) {
    ImDrawList& list = *ImGui::GetWindowDrawList();
    const float g = ui.px(grow);
    low = {low.x - g, low.y - g};
    high = {high.x + g, high.y + g};
    list.AddRect(low, high, IM_COL32(0, 0, 0, 200), 0, 0, ui.px(4));
    list.AddRect(low, high, colour, 0, 0, ui.px(2));
}

/// A line about a pixel, with further ones in `colour`.
void hover_box(Ui& ui, const std::string& line, const std::string& hint, ImU32 colour, ImVec2 low,
               ImVec2 high) {
    ImGui::PushFont(ui.fonts.mono);
    const ImVec2 size = ImGui::CalcTextSize(line.c_str());
    ImGui::PopFont();
    ImGui::PushFont(ui.fonts.small);
    const ImVec2 below = hint.empty() ? ImVec2{0, 0} : ImGui::CalcTextSize(hint.c_str());
    const ImVec2 corner{low.x + ui.px(10), high.y - size.y - below.y - ui.px(18)};
    const ImVec2 far{corner.x + std::max(size.x, below.x) + ui.px(16), high.y - ui.px(8)};
    ImDrawList& list = *ImGui::GetWindowDrawList();
    list.AddRectFilled(corner, far, faded(colour::background, 0.88F), ui.px(5));
    if (!hint.empty())
        list.AddText({corner.x + ui.px(8), corner.y + ui.px(5) + size.y}, colour, hint.c_str());
    ImGui::PopFont();
    ImGui::PushFont(ui.fonts.mono);
    list.AddText({corner.x + ui.px(8), corner.y + ui.px(5)}, colour::text, line.c_str());
    ImGui::PopFont();
    record_rect(ui, corner, far, "picture.hover", line);
    if (!hint.empty()) record_rect(ui, corner, far, "picture.hover.hint", hint);
}

/// The ids of a remark's sentence and of its button.
struct RemarkIds {
    const char *sentence, *button;
};

/// Draws a remark at `at`, which moves below it. Returns whether its button was clicked.
bool remark_box(Ui& ui, ImVec2& at, float right, const RemarkIds& ids, const std::string& sentence,
                const std::string& action) {
    const std::string lines = wrapped(sentence, std::max(1.F, right - at.x - ui.px(32)));
    const ImVec2 needed = ImGui::CalcTextSize(lines.c_str());
    const float words = needed.x, button = button_width(action.c_str());
    const float line = ImGui::GetFrameHeight(), below = std::max(line, needed.y + ui.px(10));
    const bool beside = words + button + ui.px(44) <= right - at.x;
    const float width = beside ? words + ui.px(12) + button : std::max(words, button);
    const ImVec2 size{width + ui.px(20), (beside ? line : below + line) + ui.px(12)};
    // A window of its own takes the mouse from the picture.
    ImGui::SetCursorScreenPos(at);
    ImGui::BeginChild(sentence.c_str(), size, false, ImGuiWindowFlags_NoScrollbar);
    ImGui::GetWindowDrawList()->AddRectFilled(at, {at.x + size.x, at.y + size.y},
                                              faded(colour::raised, 0.94F), ui.px(6));
    const ImVec2 place{at.x + ui.px(10), at.y + ui.px(6)};
    ImGui::SetCursorScreenPos(place);
    ImGui::AlignTextToFramePadding();
    text(ui.fonts.body, colour::warning, lines);
    record(ui, ids.sentence, sentence);
    ImGui::SetCursorScreenPos(beside ? ImVec2{place.x + words + ui.px(12), place.y}
                                     : ImVec2{place.x, place.y + below});
    const bool clicked = flat_button(ui, ids.button, action.c_str(), true);
    ImGui::EndChild();
    at.y += size.y + ui.px(6);
    return clicked;
}

}  // namespace

void PicturePanel::start_over() {
    canvas_ = {};
    pointer_ = {};
    pointed_ = false;
}

PicturePanel::PicturePanel(Stage& stage, Microscope& microscope, ViewOptions& options)
    : stage_(stage), microscope_(microscope), options_(options), keeps_(gl::gl_info().software) {}

void PicturePanel::render(const ImDrawList*, const ImDrawCmd* command) {
    static_cast<PicturePanel*>(command->UserCallbackData)->render_queued();
}

void PicturePanel::render_queued() {
    glDisable(GL_SCISSOR_TEST);
    if (keeps_) return render_kept();
    queued_.texture->begin_draw();
    zoomed_picture_.draw(queued_.picture, queued_.view, queued_.rect, queued_.target_height,
                         queued_.style);
    queued_.texture->end_draw();
}

/// Draws into a texture that is kept until the picture or the view changes, because software GL
/// needs up to 70 ms for the mean colours of a large picture. A GPU draws the picture faster than
/// it copies such a texture.
void PicturePanel::render_kept() {
    const Queued& draw = queued_;
    const gl::Rect& rect = draw.rect;
    GLint target = 0;
    glGetIntegerv(GL_DRAW_FRAMEBUFFER_BINDING, &target);
    const bool fits = drawn_pixels_ && drawn_pixels_->width() == rect.width &&
                      drawn_pixels_->height() == rect.height;
    if (!fits) drawn_pixels_.emplace(rect.width, rect.height);
    if (!fits || draw.version != drawn_.version || draw.texture != drawn_.texture ||
        draw.view != drawn_.view || draw.style != drawn_.style) {
        drawn_pixels_->bind();
        draw.texture->begin_draw();
        zoomed_picture_.draw(draw.picture, draw.view, {0, 0, rect.width, rect.height}, rect.height,
                             draw.style);
        draw.texture->end_draw();
        drawn_ = draw;
    }
    drawn_pixels_->copy_to(unsigned(target), rect.x, draw.target_height - rect.y - rect.height);
}

void PicturePanel::queue(Ui& ui, const gl::Texture& pixels) {
    Queued& draw = queued_;
    draw.picture = {pixels.id(), pixels.width(), pixels.height()};
    draw.texture = stage_.shown().picture.texture;
    draw.version = stage_.shown().picture.version;
    draw.view = canvas_.view();
    draw.rect = canvas_.area();
    draw.target_height = int(std::lround(ImGui::GetIO().DisplaySize.y * ui.raster));
    draw.style.linear = draw.view.pixels_per_texel < 1;
    draw.style.grid_texels = options_.grid ? stage_.tile_side() : 0;
    draw.style.grid_pixels = std::max(1, int(ui.scale * ui.raster));
    draw.style.background = {11 / 255.F, 12 / 255.F, 15 / 255.F};
    ImDrawList& list = *ImGui::GetWindowDrawList();
    list.AddCallback(render, this);
    list.AddCallback(ImDrawCallback_ResetRenderState, nullptr);
}

/// The element of the result that a pixel shows, for a question about it; empty: none.
std::string PicturePanel::element_at(int x, int y) const {
    const auto& plan = stage_.shown().plan;
    if (!plan) return fmt::format("{},{}", x, y);
    const auto buffer = stage_.shown().readings.buffer;
    if (!buffer || buffer->differing.empty()) return {};
    if (const auto index = plotted_at(stage_, x); index && buffer->numbers.shape.size() == 1)
        return fmt::format("{}[{}]", buffer->name, *index);
    const gl::Texture* pixels = stage_.pixels();
    const std::vector<std::size_t> size{std::size_t(pixels->height()),
                                        std::size_t(pixels->width())};
    if (buffer->numbers.shape != size) return {};
    return fmt::format("{}[{}, {}]", buffer->name, y, x);
}

/// A right click opens the microscope at the pixel, and where the pixel is wrong, at the access
/// that has made it wrong. While the microscope is open, any click that is
/// no drag moves it there.
void PicturePanel::choose_pixel(Ui& ui, gl::Point texel, bool hovered) {
    const auto clicked = [&](ImGuiMouseButton button) {
        const ImVec2 moved = ImGui::GetMouseDragDelta(button, 0);
        const bool still = std::abs(moved.x) + std::abs(moved.y) < ui.px(4);
        return hovered && still && ImGui::IsMouseReleased(button);
    };
    const bool right = clicked(ImGuiMouseButton_Right);
    const std::string element = element_at(int(std::floor(texel.x)), int(std::floor(texel.y)));
    if (right && !element.empty())
        ui.later([this, texel, element] {
            if (!microscope_.is_open()) open_microscope(microscope_, stage_, texel);
            show_why(stage_, microscope_, element);
        });
    if (!microscope_.is_open()) {
        if (right && element.empty())
            ui.later([this, texel] { open_microscope(microscope_, stage_, texel); });
    } else if (right || clicked(ImGuiMouseButton_Left)) {
        ui.later([this, texel] { pick_pixel(microscope_, stage_, texel); });
    }
}

/// Whether the experiment may use the mouse. While the experiment is paused or in the microscope it
/// may not: every movement would make another launch, and all results would be out of date.
bool PicturePanel::gives_mouse_to_experiment() const {
    return !stage_.paused() && !microscope_.is_open();
}

/// Tells the experiment where the mouse is over the picture and whether its button is down. A
/// button that went down over the picture is reported as released wherever that happens.
void PicturePanel::point(gl::Point texel, bool hovered) {
    const bool held = ImGui::IsItemActive();
    if (!gives_mouse_to_experiment() || (!hovered && !held && !pointer_.down)) return;
    const bool down = held && ImGui::IsMouseDown(ImGuiMouseButton_Left);
    const experiments::Pointer now{texel.x, texel.y, down};
    if (now == pointer_) return;
    pointer_ = now;
    pointed_ = stage_.point(now);
}

void PicturePanel::navigate(Ui& ui, ImVec2 size) {
    const ImGuiIO& io = ImGui::GetIO();
    const gl::Point mouse{io.MousePos.x * double(ui.raster), io.MousePos.y * double(ui.raster)};
    const bool hovered = ImGui::IsItemHovered();
    if (hovered && io.MouseWheel != 0) {
        if (io.KeyCtrl || !stage_.scroll(io.MouseWheel))
            canvas_.zoom(mouse, std::pow(1.2, io.MouseWheel));
    }
    const gl::Point texel = canvas_.to_texel(mouse);
    point(texel, hovered);
    const bool pointed = pointed_ && gives_mouse_to_experiment();
    if (hovered && !pointed && ImGui::IsMouseDoubleClicked(ImGuiMouseButton_Left) && !io.KeyCtrl)
        canvas_.fit();
    choose_pixel(ui, texel, hovered);
    // The movement before the button went down is not part of the drag.
    const bool dragging = ImGui::IsItemActive() && !ImGui::IsItemActivated();
    if (!dragging || (io.MouseDelta.x == 0 && io.MouseDelta.y == 0)) return;
    // Where the experiment uses the left button, only the middle one pans.
    if (pointed && !ImGui::IsMouseDown(ImGuiMouseButton_Middle)) return;
    const bool left = ImGui::IsMouseDown(ImGuiMouseButton_Left) && !io.KeyCtrl;
    if (left && stage_.drag(double(io.MouseDelta.x) / size.y, double(io.MouseDelta.y) / size.y))
        return;
    canvas_.pan(io.MouseDelta.x * ui.raster, io.MouseDelta.y * ui.raster);
}

/// Returns the colour of the pixel under the mouse, for a paused experiment. Reading pixels back
/// makes a running frame wait, so they are read once for each picture.
std::string PicturePanel::value_text(const gl::Texture& pixels, int x, int y) {
    if (!stage_.paused()) return {};
    const std::size_t at = (std::size_t(y) * std::size_t(pixels.width()) + std::size_t(x)) * 4;
    if (sampled_version_ != stage_.shown().picture.version) {
        sampled_ = pixels.read_pixels();
        sampled_version_ = stage_.shown().picture.version;
    }
    if (at + 3 >= sampled_.size()) return {};
    return fmt::format("   rgb {} {} {}", sampled_[at], sampled_[at + 1], sampled_[at + 2]);
}

ImVec2 PicturePanel::on_screen(const Ui& ui, double x, double y) const {
    const gl::Point at = canvas_.to_screen({x, y});
    return {float(at.x) / ui.raster, float(at.y) / ui.raster};
}

/// Marks the microscope's block, with guide lines that lead to it, and the thread's pixel.
void PicturePanel::mark_block(Ui& ui, ImVec2 low, ImVec2 high) {
    if (!has_place_in_picture(microscope_, stage_)) return;
    const Microscope& m = microscope_;
    const auto side = double(m.launch().block.x);
    const double x = m.block().x * side, y = m.block().y * side;
    const ImVec2 from = on_screen(ui, x, y), to = on_screen(ui, x + side, y + side);
    ImDrawList& list = *ImGui::GetWindowDrawList();
    const ImVec2 middle{(from.x + to.x) / 2, (from.y + to.y) / 2};
    const ImU32 guide = faded(colour::accent, 0.55F);
    const float reach = ui.px(4);
    list.AddLine({low.x, middle.y}, {from.x - reach, middle.y}, guide, ui.px(1));
    list.AddLine({to.x + reach, middle.y}, {high.x, middle.y}, guide, ui.px(1));
    list.AddLine({middle.x, low.y}, {middle.x, from.y - reach}, guide, ui.px(1));
    list.AddLine({middle.x, to.y + reach}, {middle.x, high.y}, guide, ui.px(1));
    draw_frame(ui, from, to, colour::accent, 2);
    record_rect(ui, from, to, "picture.block", fmt::format("{}, {}", m.block().x, m.block().y));
    const emulator::Dim3 thread = m.thread();
    const ImVec2 pixel = on_screen(ui, x + thread.x, y + thread.y);
    const ImVec2 end = on_screen(ui, x + thread.x + 1, y + thread.y + 1);
    record_rect(ui, pixel, end, "picture.thread", fmt::format("{}, {}", thread.x, thread.y));
    if (end.x - pixel.x >= ui.px(4)) draw_frame(ui, pixel, end, colour::text, 1);
}

void PicturePanel::hover_line(Ui& ui, const gl::Texture& pixels, ImVec2 low, ImVec2 high) {
    const ImVec2 mouse = ImGui::GetIO().MousePos;
    const gl::Point at =
        canvas_.to_texel({mouse.x * double(ui.raster), mouse.y * double(ui.raster)});
    const int x = int(std::floor(at.x)), y = int(std::floor(at.y));
    if (x < 0 || y < 0 || x >= pixels.width() || y >= pixels.height()) return;
    const auto plotted = plotted_at(stage_, x);
    std::string line = fmt::format("x {}  y {}", x, y);
    const bool narrow = high.x - low.x < ui.px(440);
    if (plotted) {
        const BufferContents& buffer = *stage_.shown().readings.buffer;
        const double value =
            launches::real(buffer.numbers.at(*plotted * buffer.numbers.type.lanes));
        line = fmt::format("{}[{}] = {}", buffer.name, *plotted, number(value));
        low.x = (low.x + high.x) / 2 - ui.px(90);  // between the labels of the plot
    } else if (const int side = stage_.tile_side(); side > 0)
        line += tr("{}block ({}, {})", narrow ? "  " : "   ", x / side, y / side);
    if (!narrow && !plotted) line += value_text(pixels, x, y);
    std::string hint = heat_.words_at(x, y);
    ImU32 colour = colour::dim;
    if (const std::string element = element_at(x, y); stage_.paused() && !element.empty())
        if (const auto reason = microscope_.reasons().ask(stage_.launch(), element)) {
            hint =
                tr(reason->words.brief) + tr("\nright click: open this access in the microscope");
            colour = colour::bad;
        }
    if (hint.empty() && stage_.tile_side() > 0 && !microscope_.is_open())
        hint = tr("right click: open the microscope here");
    hover_box(ui, line, hint, colour, low, high);
}

/// Says over the picture why it does not show what the parameters and the source promise, with
/// buttons that help.
void PicturePanel::remarks(Ui& ui, ImVec2 low, ImVec2 high) {
    ImVec2 at{low.x + ui.px(12), low.y + ui.px(12)};
    for (const experiments::Parameter* p : stage_.parameters().all()) {
        const auto remark = p->remark();
        if (remark && remark_box(ui, at, high.x, {"picture.remark", "picture.remedy"},
                                 tr(remark->sentence), tr(remark->action)))
            ui.later([this, remedy = remark->remedy] { stage_.assign({&remedy, 1}); });
    }
    const Shown& shown = stage_.shown();
    if (!shown.inspected.failed_block || microscope_.is_open()) return;
    const bool nothing_runs = shown.edits.empty() && shown.entry->compile;
    if (remark_box(ui, at, high.x, {"picture.failed", "picture.show_failure"},
                   nothing_runs
                       ? tr("The kernel failed, so there is no picture.")
                       : tr("The change failed: this is the picture of the last good kernel."),
                   tr("Show in the microscope")))
        ui.later([this] { open_at_failure(microscope_, stage_); });
}

/// Invites somebody new to switch the barrier off and, once that has torn the picture, to ask why.
void PicturePanel::invite(Ui& ui, ImVec2 low, ImVec2 high) {
    const experiments::Toggle* const barrier = stage_.parameters().barrier_switch();
    if (!barrier || microscope_.is_open() || options_.presentation) return;
    const bool on = is_on(stage_, *barrier);
    if (options_.invited == Invited::to_nothing && !on) options_.invited = Invited::to_the_switch;
    if (options_.invited == Invited::to_switch_on && on) options_.invited = Invited::to_nothing;
    const ImVec2 middle{(low.x + high.x) / 2, high.y - ui.px(70)};
    const std::string name = tr(barrier->label());
    if (options_.invited == Invited::to_switch_on)
        draw_invitation(ui, middle, tr("Without {}, pixels are wrong.", name),
                        fmt::format("{} (S)", tr("Switch it on")),
                        [this, held = stage_.held(*barrier)] { flip(stage_, *held); });
    else if (options_.invited == Invited::to_nothing)
        draw_invitation(ui, middle, tr("What does {} do?", name),
                        fmt::format("{} (S)", tr("Switch it off")),
                        [this, held = stage_.held(*barrier)] { flip(stage_, *held); });
    else if (options_.invited == Invited::to_the_switch && !on &&
             stage_.race_summary().state == RaceSummary::State::race)
        draw_invitation(ui, middle, tr("Without {}, pixels are wrong.", name), tr("Why?"), [this] {
            options_.invited = Invited::to_all;
            show_why(stage_, microscope_, "first");
        });
}

/// A card over the picture, with a button, and a cross that ends the invitations.
void PicturePanel::draw_invitation(Ui& ui, ImVec2 middle, const std::string& words,
                                   const std::string& label, std::function<void()> accept) {
    ImGui::PushFont(ui.fonts.value);
    const float said = ImGui::CalcTextSize(words.c_str()).x;
    ImGui::PopFont();
    const float gap = ui.px(14), height = ImGui::GetFrameHeight() + ui.px(20);
    const float width = said + button_width(label.c_str()) + icon_button_width(ui) + 4 * gap;
    const ImVec2 low{middle.x - width / 2, middle.y - height / 2};
    if (width > ImGui::GetWindowWidth()) return;
    // A window of its own takes the mouse from the picture.
    ImGui::SetCursorScreenPos(low);
    ImGui::BeginChild("invitation", {width, height}, false, ImGuiWindowFlags_NoScrollbar);
    ImDrawList& list = *ImGui::GetWindowDrawList();
    const ImVec2 high{low.x + width, low.y + height};
    list.AddRectFilled(low, high, faded(colour::panel, 0.96F), ui.px(8));
    list.AddRect(low, high, colour::accent_deep, ui.px(8), 0, ui.px(1));
    ImGui::SetCursorScreenPos({low.x + gap, middle.y - text_size(ui.fonts.value) / 2});
    text(ui.fonts.value, colour::text, words);
    record(ui, "invitation", words);
    ImGui::SetCursorScreenPos({low.x + 2 * gap + said, low.y + ui.px(10)});
    if (flat_button(ui, "invitation.accept", label.c_str(), true)) ui.later(std::move(accept));
    ImGui::SameLine(0, gap);
    if (icon_button(ui, "invitation.close", Icon::close, tr("Show no more questions here.")))
        ui.later([this] { options_.invited = Invited::to_all; });
    ImGui::EndChild();
}

void PicturePanel::draw(Ui& ui) {
    const ImVec2 low = ImGui::GetCursorScreenPos();
    ImVec2 size = ImGui::GetContentRegionAvail();
    size = {std::max(size.x, 16.F), std::max(size.y, 16.F)};
    const ImVec2 high{low.x + size.x, low.y + size.y};
    const gl::Texture* pixels = stage_.pixels();
    canvas_.place(framebuffer_rect(ui, low, size), pixels ? pixels->width() : 0,
                  pixels ? pixels->height() : 0);
    hit_area("picture", size,
             ImGuiButtonFlags_MouseButtonLeft | ImGuiButtonFlags_MouseButtonRight |
                 ImGuiButtonFlags_MouseButtonMiddle);
    record(ui, "picture");
    if (!pixels) return;
    navigate(ui, size);
    queue(ui, *pixels);
    const ImVec2 corner = on_screen(ui, 0, 0),
                 end = on_screen(ui, pixels->width(), pixels->height());
    record_rect(ui, corner, end, "picture.pixels",
                fmt::format("{}x{}", pixels->width(), pixels->height()));
    const bool hovered = ImGui::IsItemHovered();
    if (needed_.shows())
        needed_.draw(ui, ScreenArea{corner, end}, {low, high});
    else
        heat_.draw(ui, {pixels->width(), pixels->height()}, corner, end, {high.x, low.y});
    draw_plot_labels(ui, stage_, corner, end);
    draw_halves(ui, stage_, corner, end);
    mark_block(ui, low, high);
    if (hovered) hover_line(ui, *pixels, low, high);
    remarks(ui, low, high);
    invite(ui, low, high);
}

bool has_place_in_picture(const Microscope& microscope, const Stage& stage) {
    const gl::Texture* pixels = stage.pixels();
    if (!pixels || !microscope.is_open() || !microscope.ready()) return false;
    const emulator::LaunchShape& launch = microscope.launch();
    const int side = stage.tile_side();
    const auto cover = [&](std::uint32_t blocks, int texels) {
        return int(blocks) == (texels + side - 1) / side;
    };
    return side > 0 && int(launch.block.x) == side && int(launch.block.y) == side &&
           cover(launch.grid.x, pixels->width()) && cover(launch.grid.y, pixels->height());
}

void pick_pixel(Microscope& microscope, const Stage& stage, gl::Point pixel) {
    if (!has_place_in_picture(microscope, stage)) return;
    const auto inside = [](double at, int size) {
        return std::uint32_t(std::clamp(at, 0.0, double(size - 1)));
    };
    const std::uint32_t x = inside(pixel.x, stage.pixels()->width()),
                        y = inside(pixel.y, stage.pixels()->height());
    const emulator::Dim3 size = microscope.launch().block;
    const emulator::Dim3 block{x / size.x, y / size.y, 0}, now = microscope.block();
    if (block.x != now.x || block.y != now.y) microscope.set_block(block);
    microscope.pick_thread({x % size.x, y % size.y, 0});
}

void open_microscope(Microscope& microscope, Stage& stage, gl::Point pixel) {
    stage.pause(true);
    microscope.open(stage.launch());
    microscope.when_ready([&microscope, &stage, pixel] { pick_pixel(microscope, stage, pixel); });
}

void open_at_failure(Microscope& microscope, Stage& stage) {
    stage.pause(true);
    microscope.open(stage.launch(), *stage.shown().inspected.failed_block);
    microscope.to_end();
}

}  // namespace warpscope::ui
