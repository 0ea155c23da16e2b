#include "ui/window/window_view.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "ui/language/language.h"
#include "ui/timeline/lanes.h"
#include "ui/widgets/tab_stops.h"
#include "ui/widgets/widgets.h"

namespace warpscope::ui {
namespace {

/// Draws a child window with padding and a background, or with `clear` without one.
template <class Contents>
void panel(Ui& ui, const char* name, const Box& box, ImU32 background, ImVec2 padding, bool scrolls,
           Contents&& contents) {
    if (box.width <= 0 || box.height <= 0) return;
    ImGui::SetCursorPos({box.x, box.y});
    ImGui::PushStyleColor(ImGuiCol_ChildBg, background);
    ImGui::PushStyleVar(ImGuiStyleVar_WindowPadding, {ui.px(padding.x), ui.px(padding.y)});
    const ImGuiWindowFlags still =
        ImGuiWindowFlags_NoScrollbar | ImGuiWindowFlags_NoScrollWithMouse;
    // A scrollbar that appears lies in the padding, so that no contents move.
    if (scrolls)
        ImGui::SetNextWindowContentSize({std::max(1.F, box.width - 2 * ui.px(padding.x)), 0});
    begin_padded_child(name, {box.width, box.height}, scrolls ? 0 : still);
    ImGui::PopStyleVar();
    ImGui::PopStyleColor();
    std::forward<Contents>(contents)();
    // A double click on the head of a panel, beside its buttons.
    const bool on_head =
        ImGui::IsMouseHoveringRect({box.x, box.y}, {box.x + box.width, box.y + ui.px(40)}, false);
    if (on_head && ImGui::IsMouseDoubleClicked(ImGuiMouseButton_Left) &&
        !ImGui::IsAnyItemHovered() && ImGui::IsWindowHovered(ImGuiHoveredFlags_ChildWindows))
        ui.ask(Command::toggle_maximized);
    end_child();
}

enum class Edge { upright, level };

/// A border that can be dragged. Changes `size` (logical pixels) by the movement times `sign`.
void splitter(Ui& ui, const char* name, const Box& box, Edge edge, float sign, float& size,
              float least, float most) {
    const bool upright = edge == Edge::upright;
    ImGui::SetCursorPos({box.x, box.y});
    hit_area(name, {box.width, box.height});
    const bool hot = ImGui::IsItemHovered() || ImGui::IsItemActive();
    if (hot) ImGui::SetMouseCursor(upright ? ImGuiMouseCursor_ResizeEW : ImGuiMouseCursor_ResizeNS);
    // The movement before the button went down is not part of the drag.
    if (ImGui::IsItemActive() && !ImGui::IsItemActivated()) {
        const ImVec2 moved = ImGui::GetIO().MouseDelta;
        size += sign * (upright ? moved.x : moved.y) / ui.scale;
    }
    size = std::clamp(size, least, most);
    // The border is easier to hit than the line that it shows.
    ImVec2 low = ImGui::GetItemRectMin(), high = ImGui::GetItemRectMax();
    const float inset = ui.px(hot ? 2 : 3);
    (upright ? low.x : low.y) += inset;
    (upright ? high.x : high.y) -= inset;
    ImGui::GetWindowDrawList()->AddRectFilled(low, high,
                                              hot ? colour::accent_deep : colour::background);
}

/// A strip in the place of a panel that was folded, with an arrow to where the panel comes from.
/// `direction`: 1: it opens to the right; -1: to the left. True when clicked.
bool fold_strip(Ui& ui, const char* id, const Box& box, float direction) {
    ImGui::SetCursorPos({box.x, box.y});
    const bool clicked = hit_area(id, {box.width, box.height});
    record(ui, id);
    const bool hovered = ImGui::IsItemHovered();
    const ImVec2 low = ImGui::GetItemRectMin(), high = ImGui::GetItemRectMax();
    ImDrawList& list = *ImGui::GetWindowDrawList();
    list.AddRectFilled(low, high, hovered ? colour::hovered : colour::raised);
    const ImVec2 middle{(low.x + high.x) / 2, (low.y + high.y) / 2};
    const float across = direction * ui.px(2), along = ui.px(5);
    const ImU32 hue = hovered ? colour::text : colour::dim;
    list.AddLine({middle.x - across, middle.y - along}, {middle.x + across, middle.y}, hue,
                 ui.px(1.5F));
    list.AddLine({middle.x + across, middle.y}, {middle.x - across, middle.y + along}, hue,
                 ui.px(1.5F));
    return clicked;
}

void begin_root(ImVec2 size) {
    ImGui::SetNextWindowPos({0, 0});
    ImGui::SetNextWindowSize(size);
    ImGui::Begin("##root", nullptr,
                 ImGuiWindowFlags_NoDecoration | ImGuiWindowFlags_NoMove |
                     ImGuiWindowFlags_NoSavedSettings | ImGuiWindowFlags_NoBringToFrontOnFocus |
                     ImGuiWindowFlags_NoBackground | ImGuiWindowFlags_NoScrollWithMouse);
}

}  // namespace

WindowView::WindowView(Stage& stage, const ViewOptions& options, float scale, float raster,
                       std::string fetch_compiler)
    : stage_(stage),
      options_(options),
      ui_(scale, raster),
      download_(fetch_compiler),
      nvcc_download_(std::move(fetch_compiler), "nvcc") {
    ui_.carry_out = [this](Command command) { carry_out(command); };
    opener_.open_lesson = [this](const std::filesystem::path& file) { lessons_.open(file); };
    opener_.open_program = [this](const std::string& path) { program_opener_.open(path); };
    program_opener_.show = [this](const std::string& path) { opener_.open_part_of_program(path); };
}

experiments::Size WindowView::picture_size() const {
    return {std::max(1, int(std::lround(layout_.canvas.width * ui_.raster))),
            std::max(1, int(std::lround(layout_.canvas.height * ui_.raster)))};
}

bool WindowView::run_requests() {
    // A request may ask for more, which then waits for the next frame.
    const auto requests = std::exchange(ui_.requests, {});
    for (const auto& request : requests) request();
    opener_.advance();
    program_opener_.advance();
    lessons_.advance();
    follow(download_, [this] {
        stage_.search_compiler();
        stage_.say(tr("NVRTC was downloaded: kernels can be edited now."));
    });
    follow(nvcc_download_,
           [this] { stage_.say(tr("nvcc was downloaded: programs can be compiled now.")); });
    return !requests.empty();
}

void WindowView::open_microscope(const MicroscopePlace& place) {
    stage_.pause(true);
    microscope_.open_at(stage_.launch(), place);
    microscope_.when_ready([this, place] {
        if (!microscope_.ready()) return;
        const std::string complaint = microscope_.complaint_about(place);
        if (!complaint.empty()) stage_.say("--microscope " + complaint, Tone::error);
    });
}

void WindowView::place(ImVec2 size) {
    if (shown_ != stage_.entry().id) begin_experiment();
    layout_ = lay_out(size.x, size.y, ui_.scale, options_, microscope_.is_open());
}

/// Called when another experiment is on show: its picture has another size and meaning. The editor
/// opens with an experiment whose kernel a person writes.
void WindowView::begin_experiment() {
    const bool start = shown_.empty();
    shown_ = stage_.entry().id;
    picture_.start_over();
    tree_.start_over();
    if (const auto& plan = stage_.shown().plan; plan && !plan->file.saved) {
        options_.dock = "launch";
        options_.dock_folded = false;
    }
    if (stage_.entry().compile && stage_.read_only().empty()) {
        editor_elsewhere_ = !start && options_.editor;
        options_.editor = true;
    } else if (editor_elsewhere_) {
        options_.editor = *editor_elsewhere_;
        editor_elsewhere_.reset();
    }
}

/// Shows the microscope's newest notice in the message line, and removes a notice that no longer
/// holds.
void WindowView::say_notice() {
    if (microscope_.notice() == noticed_) return;
    const bool said = !noticed_.empty() && stage_.message().text == noticed_;
    noticed_ = microscope_.notice();
    if (said || !noticed_.empty()) stage_.say(noticed_);
}

/// The message line says that a download has ended, because the editor may be closed then.
void WindowView::follow(CompilerDownload& download, const std::function<void()>& done) {
    switch (download.take_news()) {
        case CompilerDownload::News::done:
            return done();
        case CompilerDownload::News::failed:
            return stage_.say(download.error(), Tone::error);
        case CompilerDownload::News::none:
            break;
    }
}

void WindowView::draw(ImVec2 size) {
    if (microscope_.is_open()) microscope_.follow(stage_.launch(), stage_.paused());
    microscope_.advance(double(ImGui::GetIO().DeltaTime));
    microscope_.reasons().collect();
    microscope_.needs().collect();
    say_notice();
    stage_.check_automatically(options_.inspect);
    if (!ImGui::IsMouseDown(ImGuiMouseButton_Left)) stage_.end_drag();
    place(size);
    ui_.widgets.begin_frame();
    ImGui::PushFont(ui_.fonts.body);
    begin_root(size);
    options_.presentation && !microscope_.is_open() ? draw_presentation() : draw_panels();
    if (ImGui::IsMouseClicked(ImGuiMouseButton_Left)) by_keyboard_ = false;
    follow_keyboard();
    editor_.forget_asked();
    draw_overlays();
    ImGui::End();
    keys_.draw(ui_);
    words_.draw(ui_);
    tour_.draw(ui_, is_covered());
    if (options_.marks) marks_.draw(ui_);
    const FocusedStop focus = end_stops(std::exchange(tabs_, 0));
    if (ImGui::GetIO().NavVisible && !focus.id.empty())
        ui_.widgets.add({"focus", focus.low.x, focus.low.y, focus.high.x - focus.low.x,
                         focus.high.y - focus.low.y, focus.id});
    ImGui::PopFont();
}

void WindowView::draw_panels() {
    splitters();
    const Layout& at = layout_;
    panel(ui_, "top", at.top, colour::clear, {14, 7}, false, [&] { top_bar_.draw(ui_); });
    if (!at.narrow && at.controls.width > 0) draw_controls(colour::clear);
    if (at.transport.width > 0)
        panel(ui_, "transport", at.transport, colour::clear, {10, 6}, false,
              [&] { transport_.draw(ui_, at.narrow); });
    if (at.canvas.width > 0)
        panel(ui_, "canvas", at.canvas, stage_.pixels() ? colour::clear : colour::canvas, {0, 0},
              false, [&] { draw_canvas(); });
    draw_side_panel();
    if (at.strip.height > 0)
        panel(ui_, "strip", at.strip, colour::clear, {14, 6}, false,
              [&] { results_.draw_strip(ui_); });
    panel(ui_, "dock", at.dock, colour::clear, {16, 0}, false,
          [&] { dock_.draw(ui_, at.folded, at.results.width <= 0); });
    panel(ui_, "foot", at.foot, colour::background, {16, 6}, false, [&] { message_.draw(ui_); });
    // The drawer lies over all other panels, with a line at its edge.
    const auto edge = [&](const Box& box, float x) {
        ImGui::GetWindowDrawList()->AddLine({x, box.y}, {x, box.y + box.height}, colour::line,
                                            ui_.px(1));
    };
    if (at.narrow && at.controls.width > 0) {
        draw_controls(colour::panel);
        edge(at.controls, at.controls.x + at.controls.width);
    }
    if (at.narrow && at.results.width > 0) {
        draw_results(colour::panel);
        edge(at.results, at.results.x);
    }
    if (at.lessons.width <= 0) return;
    panel(ui_, "lessons", at.lessons, colour::panel, {19, 12}, true,
          [&] { lesson_panel_.draw(ui_); });
    lesson_panel_.draw_mark(ui_, is_covered() || tour_.shows());
}

/// The picture, perhaps the editor, and one sentence.
void WindowView::draw_presentation() {
    const Layout& at = layout_;
    panel(ui_, "canvas", at.canvas, stage_.pixels() ? colour::clear : colour::canvas, {0, 0}, false,
          [&] { draw_canvas(); });
    if (at.editor.width > 0)
        panel(ui_, "editor", at.editor, colour::background, {10, 7}, false,
              [&] { editor_.draw(ui_); });
    panel(ui_, "caption", at.caption, colour::background, {22, 10}, false,
          [&] { caption_.draw(ui_); });
}

std::optional<experiments::Timeline> WindowView::timeline() {
    if (!microscope_.is_open() || !microscope_.ready()) return stage_.shown().readings.timeline;
    const emulator::Dim3 block = microscope_.block();
    return timeline_of(microscope_.stepper(),
                       tr("{}, block ({}, {})", microscope_.kernel_name(), block.x, block.y));
}

/// What lies over all panels.
void WindowView::draw_overlays() {
    const bool edits = editor_shows() && stage_.read_only().empty();
    open_panel_.draw(ui_, edits ? editor_.view().file : "");
    program_opener_.draw(ui_);
    quit_.draw(ui_);
    record_.draw(ui_);
    palette_.draw(ui_, [this] { return palette_rows(); });
    explain_hovered_word(ui_);
}

float WindowView::enlargement(float height) const {
    const float wish = float(options_.percent) / 100;
    return options_.presentation ? presentation_scale(height, wish) : wish;
}

void WindowView::splitters() {
    const auto is_there = [](const Box& box) { return box.width > 0 && box.height > 0; };
    if (is_there(layout_.left_fold)) {
        if (fold_strip(ui_, "unfold.controls", layout_.left_fold, 1))
            ui_.ask(Command::toggle_controls);
        tooltip(ui_, with_key(tr("Show the parameters"), Command::toggle_controls));
    }
    if (is_there(layout_.right_fold)) {
        if (fold_strip(ui_, "unfold.results", layout_.right_fold, -1))
            ui_.ask(Command::toggle_results);
        tooltip(ui_, with_key(tr("Show the results"), Command::toggle_results));
    }
    if (is_there(layout_.left_edge))
        splitter(ui_, "split.left", layout_.left_edge, Edge::upright, 1, options_.left, 220, 520);
    if (is_there(layout_.lower_edge)) {
        float height = layout_.dock.height / ui_.scale;
        splitter(ui_, "split.bottom", layout_.lower_edge, Edge::level, -1, height, 80, 500);
        if (ImGui::IsItemActive() && ImGui::GetIO().MouseDelta.y != 0) options_.bottom = height;
        if (ImGui::IsItemHovered() && ImGui::IsMouseDoubleClicked(ImGuiMouseButton_Left))
            options_.bottom = 0;
        tooltip(ui_, tr("Drag: the height of the panel below. Double click: what it needs."));
    }
    if (!is_there(layout_.right_edge)) return;
    if (editor_shows())
        splitter(ui_, "split.right", layout_.right_edge, Edge::upright, -1, options_.editor_width,
                 300, 1600);
    else
        splitter(ui_, "split.right", layout_.right_edge, Edge::upright, -1, options_.right, 220,
                 560);
}

void WindowView::draw_canvas() {
    if (!stage_.pixels() && stage_.tree())
        tree_.draw(ui_);
    else
        picture_.draw(ui_);
    work_chip_.draw(ui_);
}

/// Draws the results, the editor or the microscope.
void WindowView::draw_side_panel() {
    if (microscope_.is_open())
        draw_open_microscope();
    else if (options_.editor)
        panel(ui_, "editor", layout_.editor, colour::background, {10, 7}, false,
              [&] { editor_.draw(ui_); });
    else if (layout_.results.width > 0 && !layout_.narrow)
        draw_results(colour::clear);
}

void WindowView::draw_controls(ImU32 background) {
    panel(ui_, "controls", layout_.controls, background, {20, 10}, true,
          [&] { controls_.draw(ui_); });
}

void WindowView::draw_results(ImU32 background) {
    panel(ui_, "results", layout_.results, background, {20, 8}, true, [&] {
        if (results_.draw(ui_)) dock_.show_findings();
    });
}

void WindowView::draw_open_microscope() {
    const Layout& at = layout_;
    panel(ui_, "microscope", at.microscope, colour::clear, {10, 7}, false,
          [&] { microscope_bar_.draw(ui_); });
    panel(ui_, "source.panel", at.source, colour::background, {10, 6}, false,
          [&] { source_.draw(ui_); });
    panel(ui_, "warps", at.warps, colour::clear, {20, 10}, true, [&] { warps_.draw(ui_); });
    panel(ui_, "tile.panel", at.tile, colour::clear, {20, 8}, true, [&] { tile_.draw(ui_); });
}

void WindowView::draw_picture_alone(ImVec2 size) {
    ui_.widgets.begin_frame();
    ImGui::PushFont(ui_.fonts.body);
    begin_root(size);
    panel(ui_, "canvas", {0, 0, size.x, size.y}, stage_.pixels() ? colour::clear : colour::canvas,
          {0, 0}, false, [&] { draw_canvas(); });
    ImGui::End();
    ImGui::PopFont();
}

}  // namespace warpscope::ui
