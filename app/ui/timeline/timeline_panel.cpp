#include "ui/timeline/timeline_panel.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <string>
#include <vector>

#include "emulator/witness/witness_words.h"
#include "ui/documents/source_files.h"
#include "ui/language/language.h"
#include "ui/microscope/warps_panel.h"
#include "ui/microscope_tile/copies_rows.h"
#include "ui/widgets/edition.h"
#include "ui/widgets/format.h"
#include "ui/widgets/widgets.h"

namespace warpscope::ui {

void OrderPanel::renew() {
    const std::uint64_t known = microscope_.known_steps();
    if (copy_ == microscope_.copy() && known_steps_ == known && language_ == language()) return;
    copy_ = microscope_.copy();
    known_steps_ = known;
    language_ = language();
    const emulator::ScheduleFile& order = *microscope_.choice().turns;
    lines_.clear();
    for (const files::Sentence& line : emulator::turn_words(order))
        lines_.push_back(tr(microscope_.as_named(line)));
    steps_ = emulator::turn_steps(order, microscope_.stepper().history());
}

void OrderPanel::row(Ui& ui, std::size_t line, std::size_t current, float width) {
    const ImVec2 low = ImGui::GetCursorScreenPos();
    const float height = ImGui::GetTextLineHeight() + ui.px(4);
    const std::string id = fmt::format("order.{}", line);
    const bool clicked = hit_area(id, {width, height});
    record(ui, id, lines_[line]);
    const bool is_current = line == current, has_step = steps_[line].has_value();
    ImDrawList& list = *ImGui::GetWindowDrawList();
    if (is_current || (ImGui::IsItemHovered() && has_step))
        list.AddRectFilled(low, {low.x + width, low.y + height},
                           is_current ? faded(colour::accent, 0.25F) : colour::raised, ui.px(3));
    if (is_current) record(ui, "order.current", lines_[line]);
    list.AddText({low.x + ui.px(6), low.y + ui.px(2)}, has_step ? colour::text : colour::dim,
                 lines_[line].c_str());
    ImGui::SetCursorScreenPos({low.x, low.y + height});
    if (clicked && has_step) ui.later([this, step = *steps_[line]] { microscope_.seek(step); });
}

/// Writes the order beside no other file: KERNEL.schedule, or KERNEL-2.schedule and so on.
void OrderPanel::save() {
    namespace fs = std::filesystem;
    try {
        const emulator::ScheduleFile& order = *microscope_.choice().turns;
        fs::path path;
        for (unsigned number = 1; path.empty() || fs::exists(path); ++number)
            path = fs::current_path() /
                   (order.kernel + (number == 1 ? "" : fmt::format("-{}", number)) + ".schedule");
        write_whole(path, order.text());
        stage_.say(tr("Saved {}. Drop it on the window, or start with --schedule, to replay it.",
                      path.string()));
    } catch (const std::exception& error) {
        stage_.say(tr("The order was not saved: {}", error.what()), Tone::error);
    }
}

void OrderPanel::draw(Ui& ui) {
    if (!microscope_.ready() || !microscope_.choice().turns) return;
    renew();
    const std::string sentence = tr(microscope_.order_sentence());
    const float save_width = button_width(tr("Save this order"));
    const ImVec2 top = ImGui::GetCursorPos();
    const float room = ImGui::GetContentRegionAvail().x - save_width - ui.px(16);
    paragraph(ui.fonts.body, colour::text,
              sentence.empty() ? tr("The warps take these turns:") : sentence, room);
    record(ui, "order", sentence);
    const ImVec2 behind = ImGui::GetCursorPos();
    ImGui::SetCursorPos({top.x + room + ui.px(16), top.y});
    if (offers(Command::save_window)) {
        if (flat_button(ui, "order.save", tr("Save this order"))) ui.later([this] { save(); });
        tooltip(ui, tr("Writes a schedule file into the folder in which Warpscope was started."));
    }
    ImGui::SetCursorPos({behind.x, std::max(behind.y, ImGui::GetCursorPosY()) + ui.px(4)});
    // The line of the next step: the newest one that has begun.
    const std::uint64_t position = microscope_.stepper().position();
    std::size_t current = lines_.size() - 1;
    const auto history = microscope_.stepper().history();
    const bool is_listed = position < history.size() && history[position].turn > 0;
    for (std::size_t line = 0; is_listed && line < lines_.size(); ++line)
        if (steps_[line] && *steps_[line] <= position) current = line;
    ImGui::BeginChild("order.turns", ImGui::GetContentRegionAvail(), false);
    ImGui::PushFont(ui.fonts.mono_small);
    const float width = ImGui::GetContentRegionAvail().x;
    for (std::size_t line = 0; line < lines_.size(); ++line) row(ui, line, current, width);
    ImGui::PopFont();
    end_child();
}

namespace {

using experiments::Timeline;

constexpr ImGuiButtonFlags mouse_buttons =
    ImGuiButtonFlags_MouseButtonLeft | ImGuiButtonFlags_MouseButtonRight;
/// The shortest part that a strip shows.
constexpr double least_steps = 16, least_share = 0.001;

struct Kind {
    const char* title;
    ImU32 colour;
};
constexpr Kind computing{tr_later("computes"), IM_COL32(74, 124, 184, 255)};
constexpr Kind writing{tr_later("writes the tile"), IM_COL32(212, 122, 186, 255)};
constexpr Kind reading{tr_later("reads the tile"), IM_COL32(92, 196, 170, 255)};
constexpr Kind waiting{tr_later("waits at a barrier"), IM_COL32(214, 156, 70, 255)};
constexpr Kind delayed{tr_later("delayed"), IM_COL32(122, 112, 168, 255)};
constexpr Kind ready{tr_later("other warps running"), 0};
constexpr Kind in_flight{tr_later("copies in flight"), in_flight_colour};

/// A warp that does nothing has the colour of what lies behind it.
ImU32 colour_of(const Kind& kind) {
    return kind.colour ? kind.colour : colour::hovered;
}

const Kind* kind_of(LaneCell cell) {
    switch (cell) {
        case LaneCell::over:
            return nullptr;
        case LaneCell::ready:
            return &ready;
        case LaneCell::computing:
            return &computing;
        case LaneCell::writing:
            return &writing;
        case LaneCell::reading:
            return &reading;
        case LaneCell::waiting:
            return &waiting;
    }
    return nullptr;
}

const Kind& kind_of(Timeline::Activity activity) {
    switch (activity) {
        case Timeline::Activity::computing:
            return computing;
        case Timeline::Activity::delayed:
            return delayed;
        case Timeline::Activity::writing:
            return writing;
        case Timeline::Activity::waiting:
            return waiting;
        case Timeline::Activity::reading:
            return reading;
    }
    return computing;
}

/// Draws the legend of the colours up to `right`, without entries that have no room.
void keys(Ui& ui, bool stepped, bool copies, bool delays, float right) {
    std::vector<Kind> kinds{computing};
    if (delays) kinds.push_back(delayed);
    kinds.insert(kinds.end(), {writing, waiting, reading});
    if (copies) kinds.push_back(in_flight);
    if (stepped) kinds.push_back(ready);
    const ImVec2 low = ImGui::GetCursorScreenPos();
    ImDrawList& list = *ImGui::GetWindowDrawList();
    ImGui::PushFont(ui.fonts.small);
    const float line = ImGui::GetTextLineHeight();
    float x = low.x;
    for (const Kind& kind : kinds) {
        const float next = x + ImGui::CalcTextSize(tr(kind.title)).x + ui.px(29);
        if (next > right) break;
        const float y = low.y + (line - ui.px(10)) / 2;
        list.AddRectFilled({x, y}, {x + ui.px(10), y + ui.px(10)}, colour_of(kind), ui.px(2));
        list.AddText({x + ui.px(15), low.y}, colour::dim, tr(kind.title));
        x = next;
    }
    ImGui::PopFont();
    ImGui::Dummy({0, line});
}

/// Draws the title of a strip, with `right` at the end of the line and, if `keys_too`, the legend
/// between them.
void title_line(Ui& ui, const std::string& title, float width, const std::string& right,
                bool keys_too, bool stepped, bool copies, bool delays) {
    const ImVec2 low = ImGui::GetCursorScreenPos();
    ImGui::PushFont(ui.fonts.small);
    const float line = ImGui::GetTextLineHeight();
    const float right_width = ImGui::CalcTextSize(right.c_str()).x;
    const float room = width - right_width - ui.px(18);
    const float titled = std::min(ImGui::CalcTextSize(title.c_str()).x + 1, room);
    ImGui::GetWindowDrawList()->AddText({low.x + width - right_width, low.y}, colour::dim,
                                        right.c_str());
    ImGui::PopFont();
    clipped_text(ui.fonts.small, colour::dim, title, titled);
    if (keys_too) {
        ImGui::SetCursorScreenPos({low.x + titled + ui.px(22), low.y});
        keys(ui, stepped, copies, delays, low.x + room);
    }
    ImGui::SetCursorScreenPos({low.x, low.y + line + ui.px(5)});
}

/// Places the lanes below the legend and draws the warps' numbers on their left.
Strip lay_lanes(Ui& ui, unsigned warps, float width, float bottom) {
    const ImVec2 low = ImGui::GetCursorScreenPos();
    Strip strip{};
    strip.low = {low.x + ui.px(24), low.y};
    const float room = (bottom - low.y) / float(std::max(1U, warps));
    strip.pitch = std::clamp(std::floor(room), ui.px(3), ui.px(20));
    strip.high = {low.x + width, low.y + strip.pitch * float(warps)};
    ImDrawList& list = *ImGui::GetWindowDrawList();
    ImGui::PushFont(ui.fonts.mono_small);
    const float line = ImGui::GetTextLineHeight();
    const auto every = unsigned(std::ceil(line / strip.pitch));
    for (unsigned warp = 0; warp < warps; warp += every) {
        const std::string number = fmt::format("{}", warp);
        const float x = strip.low.x - ui.px(8) - ImGui::CalcTextSize(number.c_str()).x;
        list.AddText({x, strip.y(warp) + (strip.pitch - line) / 2}, warp_colour(warp),
                     number.c_str());
    }
    ImGui::PopFont();
    return strip;
}

void bar(ImDrawList& list, const Strip& strip, unsigned warp, float from, float to, ImU32 colour) {
    const float gap = strip.pitch > 8 ? 2 : 1;
    list.AddRectFilled({from, strip.y(warp)}, {to, strip.y(warp) + strip.pitch - gap}, colour);
}

const WarpLanes& lanes_of(const Microscope& microscope, CachedLanes& cache, unsigned columns) {
    auto& lanes = cache.lanes;
    const emulator::Stepper& stepper = microscope.stepper();
    const bool fresh = lanes && cache.version == microscope.version() &&
                       lanes->columns == columns && lanes->steps == stepper.history().size() &&
                       lanes->range == cache.steps;
    if (!fresh) {
        lanes = warp_lanes(stepper.kernel(), stepper.history(), stepper.waits(), stepper.warps(),
                           columns, cache.steps);
        cache.version = microscope.version();
    }
    return *lanes;
}

/// Computes the bars of the copies, and returns the number of their rows: at most a third of the
/// room.
unsigned bars_of(Ui& ui, const Microscope& microscope, CachedLanes& cache, float bottom) {
    const float room = bottom - ImGui::GetCursorScreenPos().y;
    const auto most = unsigned(std::clamp(room / 3 / ui.px(copy_row), 1.F, 8.F));
    const bool fresh = cache.version == microscope.version() && cache.bar_rows == most;
    if (!fresh) cache.bars = copy_bars(microscope.stepper().copies(), most);
    cache.bar_rows = most;
    return rows_of(cache.bars);
}

void draw_lanes(const WarpLanes& lanes, const Strip& strip) {
    ImDrawList& list = *ImGui::GetWindowDrawList();
    const float unit = strip.width() / float(lanes.columns);
    for (unsigned warp = 0; warp < lanes.warps; ++warp)
        for (unsigned c = 0, end = 0; c < lanes.columns; c = end) {
            const LaneCell cell = lanes.at(warp, c);
            for (end = c; end < lanes.columns && lanes.at(warp, end) == cell;) ++end;
            if (const Kind* kind = kind_of(cell))
                bar(list, strip, warp, strip.low.x + unit * float(c),
                    strip.low.x + unit * float(end), colour_of(*kind));
        }
}

/// Marks the steps behind a wrong value, the access that got it, and its writer.
void draw_reason(Ui& ui, const Reason& reason, const Strip& strip, const StepRange& zoom) {
    const double unit = zoom.count > 0 ? double(strip.width()) / double(zoom.count) : 0;
    ImDrawList& list = *ImGui::GetWindowDrawList();
    const auto mark = [&](std::uint64_t step, unsigned warp, ImU32 colour, float height) {
        const float x = strip.low.x + float((double(step) - double(zoom.first)) * unit);
        const float wide = std::max(ui.px(2), float(unit));
        if (x + wide < strip.low.x || x > strip.high.x) return;
        const float y = strip.y(warp) + strip.pitch * (1 - height);
        list.AddRectFilled({x, y}, {x + wide, strip.y(warp) + strip.pitch - 1}, colour);
        list.AddRect({x - 1, y - 1}, {x + wide + 1, strip.y(warp) + strip.pitch}, colour::canvas);
    };
    const emulator::WrongWord& word = reason.word_of_memory();
    for (const emulator::SliceNode& node : word.run.slice.nodes)
        mark(node.step, node.warp, IM_COL32_WHITE, 0.55F);
    if (const auto place = word.place(); place && word.parting)
        mark(place->step, place->warp, colour::bad, 1);
    if (word.writer && word.writer->step)
        mark(*word.writer->step, word.writer->warp, colour::warning, 1);
}

/// What these marks mean; empty: there are none.
std::string reason_words(const Reason* reason) {
    if (!reason) return {};
    const auto& writer = reason->word_of_memory().writer;
    return tr(" · white: behind the wrong value, red: the access that got it{}",
              writer && writer->step ? tr(", yellow: the writer") : "");
}

/// The tooltip of a step: the instruction, and the barrier where the warp under the mouse waits.
std::string words_at(const Microscope& microscope, std::uint64_t step, unsigned warp) {
    const emulator::Stepper& stepper = microscope.stepper();
    const emulator::Step& taken = stepper.history()[step];
    std::string words =
        tr("step {}: warp {}, {}\n{}", step + 1, taken.warp, stepper.kernel().where(taken.pc),
           one_line(stepper.kernel().lines[taken.pc].text));
    for (const emulator::BarrierWait& wait : stepper.waits())
        if (wait.warp == warp && wait.from < step && step < wait.to) {
            words += tr("\nwarp {} waits {}, {}", warp, words_for(wait),
                        stepper.kernel().where(wait.pc));
            break;
        }
    return words;
}

/// The steps of which a part is in the range.
StepRange steps_in(const TimeRange& range, std::uint64_t steps) {
    const auto first = std::uint64_t(range.first);
    return {first, std::min(std::uint64_t(std::ceil(range.end())), steps) - first};
}

/// Draws the microscope's block: its lanes, the current position, and the mouse that moves it.
void block_strip(Ui& ui, Microscope& microscope, CachedLanes& cache, TimeRange& range, float width,
                 float bottom, bool keys_too) {
    const emulator::Stepper& stepper = microscope.stepper();
    const std::uint64_t steps = microscope.known_steps();
    const emulator::Dim3 block = microscope.block();
    const StepRange zoom = cache.steps = steps_in(inside(range, double(steps)), steps);
    const std::string part =
        zoom.count == steps ? "" : tr(": {} to {}", zoom.first + 1, zoom.first + zoom.count);
    title_line(ui,
               tr("Block ({}, {}), by step{}{}", block.x, block.y, part,
                  reason_words(microscope.reason())),
               width,
               tr("step {} of {}{}", quantity(double(stepper.position()), ""),
                  microscope.complete() ? "" : tr("more than "), quantity(double(steps), "")),
               keys_too && !microscope.reason(), true, stepper.kernel().is_asynchronous, false);
    const unsigned bar_rows = bars_of(ui, microscope, cache, bottom);
    const Strip strip =
        lay_lanes(ui, stepper.warps(), width, bottom - ui.px(copy_row) * float(bar_rows));
    const WarpLanes& lanes = lanes_of(microscope, cache, unsigned(std::max(1.F, strip.width())));
    draw_lanes(lanes, strip);
    const std::string hint = draw_copy_bars(ui, cache.bars, stepper.marks(), strip, zoom, steps);
    if (!hint.empty()) quick_tooltip(ui, hint);
    if (const Reason* reason = microscope.reason()) draw_reason(ui, *reason, strip, zoom);
    const double unit = zoom.count > 0 ? double(strip.width()) / double(zoom.count) : 0;
    const float cursor =
        strip.low.x + float((double(stepper.position()) - double(zoom.first)) * unit);
    ImDrawList& list = *ImGui::GetWindowDrawList();
    for (const std::uint64_t mark : microscope.bookmarks()) {
        const float x = strip.low.x + float((double(mark) - double(zoom.first)) * unit);
        if (x < strip.low.x || x > strip.high.x) continue;
        const float y = strip.low.y - ui.px(1), r = ui.px(5);
        list.AddTriangleFilled({x - r, y - r}, {x + r, y - r}, {x, y + r}, colour::accent);
        list.AddLine({x, y}, {x, strip.high.y}, faded(colour::accent, 0.6F), ui.px(1));
        record_rect(ui, {x - r, y - r}, {x + r, y + r}, fmt::format("timeline.bookmark.{}", mark));
    }
    if (cursor >= strip.low.x && cursor <= strip.high.x)
        list.AddLine({cursor, strip.low.y - ui.px(3)},
                     {cursor, strip.high.y + ui.px(2) + ui.px(copy_row) * float(bar_rows)},
                     colour::text, ui.px(1.5F));
    ImGui::SetCursorScreenPos({strip.low.x - ui.px(4), strip.low.y - ui.px(3)});
    hit_area("scrub", {strip.width() + ui.px(8), strip.high.y - strip.low.y + ui.px(5)},
             mouse_buttons);
    record_rect(ui, strip.low, strip.high, "timeline.zoom",
                fmt::format("{}+{}", zoom.first, zoom.count));
    record_rect(ui, strip.low, strip.high, "timeline", std::to_string(stepper.position()));
    if (steps == 0) return;
    const ImVec2 mouse = ImGui::GetIO().MousePos;
    const double share =
        std::clamp(double(mouse.x - strip.low.x) / double(strip.width()), 0.0, 1.0);
    const auto at = zoom.first + std::uint64_t(std::llround(share * double(zoom.count)));
    move_by_mouse(range, strip, least_steps, double(steps));
    if (ImGui::IsItemActive()) {
        if (ImGui::IsMouseDown(ImGuiMouseButton_Left) && at != stepper.position())
            ui.later([&microscope, at] { microscope.seek(at); });
    } else if (ImGui::IsItemHovered()) {
        if (!hint.empty()) return;
        const auto warp = unsigned(
            std::clamp((mouse.y - strip.low.y) / strip.pitch, 0.F, float(stepper.warps() - 1)));
        quick_tooltip(ui, words_at(microscope, std::min(at, steps - 1), warp));
    }
}

bool has_delays(const Timeline& timeline) {
    return std::any_of(timeline.spans.begin(), timeline.spans.end(),
                       [](const auto& s) { return s.activity == Timeline::Activity::delayed; });
}

/// Draws the timeline that the experiment's own kernel measured.
void measured_strip(Ui& ui, const Timeline& timeline, TimeRange& wanted, float width, float bottom,
                    bool keys_too) {
    const TimeRange range = inside(wanted, timeline.end);
    const bool whole = range.count >= timeline.end;
    const std::string end = fmt::format("{} {}", quantity(timeline.end, ""), timeline.unit);
    const std::string part =
        whole ? "" : tr(": {} to {}", quantity(range.first, ""), quantity(range.end(), ""));
    title_line(ui, tr(timeline.title) + part, width, end, keys_too, false, false,
               has_delays(timeline));
    const Strip strip = lay_lanes(ui, timeline.warps, width, bottom);
    ImDrawList& list = *ImGui::GetWindowDrawList();
    const double unit = range.count > 0 ? double(strip.width()) / range.count : 0;
    const ImVec2 mouse = ImGui::GetIO().MousePos;
    ImGui::SetCursorScreenPos(strip.low);
    hit_area("measured", {strip.width(), strip.high.y - strip.low.y}, mouse_buttons);
    move_by_mouse(wanted, strip, timeline.end * least_share, timeline.end);
    const bool hovered = ImGui::IsItemHovered();
    for (const Timeline::Span& span : timeline.spans) {
        if (span.end < range.first || span.begin > range.end()) continue;
        const float begin = strip.low.x + float((span.begin - range.first) * unit);
        const float end = strip.low.x + float((span.end - range.first) * unit);
        const float from = std::max(begin, strip.low.x);
        const float to = std::min(std::max(begin + 1, end), strip.high.x);
        bar(list, strip, span.warp, from, to, colour_of(kind_of(span.activity)));
        const float y = strip.y(span.warp);
        if (hovered && mouse.x >= from && mouse.x < to && mouse.y >= y && mouse.y < y + strip.pitch)
            quick_tooltip(
                ui, tr("warp {} {}{}{}\n{} to {} {}", span.warp, tr(kind_of(span.activity).title),
                       span.line.empty() ? "" : ", ", span.line, quantity(span.begin, ""),
                       quantity(span.end, ""), timeline.unit));
    }
    record_rect(ui, strip.low, strip.high, "timeline.measured.zoom",
                fmt::format("{:.6g}+{:.6g}", range.first, range.count));
    record_rect(ui, strip.low, strip.high, "timeline.measured",
                fmt::format("{}: {}", timeline.title, end));
    ImGui::SetCursorScreenPos({strip.low.x, strip.high.y});
    ImGui::Dummy({1, 1});
}

}  // namespace

void TimelinePanel::draw(Ui& ui) {
    const bool stepped = microscope_.ready();
    const auto& measured = stage_.shown().readings.timeline;
    const float gap = ui.px(28), whole = ImGui::GetContentRegionAvail().x;
    const float bottom =
        ImGui::GetCursorScreenPos().y + ImGui::GetContentRegionAvail().y - ui.px(8);
    const bool both = stepped && measured;
    const float width = both ? (whole - gap) / 2 : whole;
    if (both)
        keys(ui, true, microscope_.stepper().kernel().is_asynchronous, has_delays(*measured),
             ImGui::GetCursorScreenPos().x + whole);
    const ImVec2 low = ImGui::GetCursorScreenPos();
    if (stepped) block_strip(ui, microscope_, lanes_, steps_, width, bottom, !both);
    if (measured) {
        ImGui::SetCursorScreenPos({both ? low.x + width + gap : low.x, low.y});
        ImGui::BeginGroup();
        measured_strip(ui, *measured, measured_, width, bottom, !both);
        ImGui::EndGroup();
    }
    if (stepped || measured) return;
    paragraph(ui.fonts.body, colour::dim,
              microscope_.complaint().empty() ? tr("The microscope shows no block.")
                                              : microscope_.complaint());
    record(ui, "timeline.none");
}

}  // namespace warpscope::ui
