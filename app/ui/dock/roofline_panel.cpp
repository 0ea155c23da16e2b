#include "ui/dock/roofline_panel.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "ui/language/language.h"
#include "ui/widgets/format.h"
#include "ui/widgets/widgets.h"

namespace warpscope::ui {
namespace {

using compute::Ceilings;
using compute::KernelTiming;

/// The range of the values added so far, as exponents of ten.
struct AxisRange {
    double low = 0, high = 0;
    bool any = false;
    void add(double value) {
        if (!(value > 0) || !std::isfinite(value)) return;
        const double power = std::log10(value);
        low = any ? std::min(low, power) : power;
        high = any ? std::max(high, power) : power;
        any = true;
    }
    /// Returns the axis with this much room at its ends, in powers of ten.
    LogAxis axis(double below, double above) const { return {low - below, high + above}; }
    /// Returns the axis with a sixth of it free above, for the name of the highest line.
    LogAxis axis_under_name(double below) const {
        return axis(below, std::max(0.25, (high - low + below) / 5));
    }
};

/// The literature counts 20 flops for an interaction of the n-body. The kernels' shortest inner
/// loop issues 13 FP32 instructions an interaction: 6 FFMA and 7 others.
constexpr double slots_an_interaction = 13;

bool overlap(const Box& a, const Box& b) {
    return a.x < b.x + b.width && b.x < a.x + a.width && a.y < b.y + b.height &&
           b.y < a.y + a.height;
}

bool within(const Box& box, const Box& area) {
    return box.x >= area.x && box.y >= area.y && box.x + box.width <= area.x + area.width &&
           box.y + box.height <= area.y + area.height;
}

}  // namespace

double LogAxis::at(double value) const {
    if (!(value > 0) || high <= low) return 0;
    return (std::log10(value) - low) / (high - low);
}

double LogAxis::value(double at) const {
    return std::pow(10.0, low + at * (high - low));
}

std::vector<double> LogAxis::ticks(int most) const {
    const int first = int(std::ceil(low - 1e-9)), last = int(std::floor(high + 1e-9));
    const int step = std::max(1, (last - first + most) / std::max(1, most));
    std::vector<double> values;
    for (int power = first; power <= last; ++power)
        // Ticks at multiples of the step stay in place while the axis grows.
        if (power % step == 0) values.push_back(std::pow(10.0, power));
    return values;
}

std::string tick_words(double power_of_ten) {
    constexpr const char* prefixes[] = {"", " k", " M", " G", " T", " P"};
    const int power = int(std::lround(std::log10(power_of_ten)));
    if (power < 0) return fmt::format("{:.{}f}", power_of_ten, -power);
    const int prefix = std::min(power / 3, int(std::size(prefixes)) - 1);
    return "1" + std::string(std::size_t(power - 3 * prefix), '0') + prefixes[prefix];
}

double Roofline::roof(double flops_a_byte) const {
    return std::min(flops_ceiling, flops_a_byte * bytes_ceiling);
}

double Roofline::ridge() const {
    return bytes_ceiling > 0 ? flops_ceiling / bytes_ceiling : 0;
}

Roofline roofline_of(std::span<const KernelTiming> kernels, const Ceilings& ceilings) {
    Roofline line;
    line.bytes_ceiling = ceilings.bytes_per_second;
    line.flops_ceiling = ceilings.flops_per_second;
    AxisRange intensity, flops, bytes;
    intensity.add(line.ridge());
    flops.add(line.flops_ceiling);
    bytes.add(line.bytes_ceiling);
    for (const KernelTiming& kernel : kernels) {
        RooflinePoint point{&kernel, 0, kernel.flops_per_second(), kernel.bytes_per_second()};
        if (point.bytes_per_second <= 0) {
            line.left_out.push_back(kernel.name);
        } else if (point.flops_per_second <= 0) {
            line.strip.push_back(point);
            bytes.add(point.bytes_per_second);
        } else {
            point.intensity = kernel.work.flops / kernel.work.bytes;
            line.points.push_back(point);
            intensity.add(point.intensity);
            flops.add(point.flops_per_second);
        }
    }
    line.intensity = intensity.axis(1.2, 1.2);
    flops.add(line.roof(line.intensity.value(0)));
    line.flops = flops.axis_under_name(0.3);
    line.bytes = bytes.axis_under_name(0.8);
    return line;
}

std::string roofline_words(const KernelTiming& kernel, const Ceilings& ceilings) {
    const compute::CeilingShares shares = compute::shares_of(kernel, ceilings);
    std::string text = kernel.name;
    const double flops = kernel.flops_per_second(), bytes = kernel.bytes_per_second();
    if (flops > 0)
        text +=
            tr("\n{}, {:.3g} % of the FP32 rate", quantity(flops, "flop/s"), 100 * shares.of_fp32);
    if (bytes > 0)
        text += tr("\n{}, {:.3g} % of the copy bandwidth", quantity(bytes, "B/s"),
                   100 * shares.of_bandwidth);
    if (flops > 0 && bytes > 0)
        text += tr("\n{} flops per byte that has to move",
                   compact(kernel.work.flops / kernel.work.bytes));
    if (flops <= 0) text += tr("\nIts flops are not counted.");
    const double interactions = kernel.interactions_per_second();
    if (interactions > 0 && flops > 0 && ceilings.flops_per_second > 0) {
        const double slots = interactions * slots_an_interaction * 2 / ceilings.flops_per_second;
        text +=
            tr("\nAn interaction counts as {:.0f} flops by convention and takes at least {:.0f} "
               "instructions: {:.3g} % of the instructions at the ceiling.",
               kernel.work.flops / kernel.work.interactions, slots_an_interaction, 100 * slots);
    }
    const std::string note = compute::timing_note(kernel, &ceilings);
    return note.empty() ? text : text + "\n" + note;
}

std::vector<std::optional<Box>> place_labels(std::span<const Box> points,
                                             std::span<const Box> sizes, const Box& area,
                                             std::vector<Box> taken, float gap) {
    taken.insert(taken.end(), points.begin(), points.end());
    std::vector<std::optional<Box>> labels(points.size());
    for (std::size_t i = 0; i < points.size(); ++i) {
        const Box& p = points[i];
        const float w = sizes[i].width, h = sizes[i].height;
        const float middle_y = p.y + p.height / 2 - h / 2;
        const float middle_x =
            std::max(area.x, std::min(p.x + p.width / 2 - w / 2, area.x + area.width - w));
        const Box candidates[] = {
            {p.x + p.width + gap, middle_y, w, h}, {p.x - gap - w, middle_y, w, h},
            {middle_x, p.y - gap - h, w, h},       {middle_x, p.y + p.height + gap, w, h},
            {p.x + p.width + gap, p.y - h, w, h},  {p.x + p.width + gap, p.y + p.height, w, h},
            {p.x - gap - w, p.y - h, w, h},        {p.x - gap - w, p.y + p.height, w, h}};
        for (const Box& box : candidates) {
            const auto meets = [&](const Box& other) { return overlap(box, other); };
            if (!within(box, area) || std::any_of(taken.begin(), taken.end(), meets)) continue;
            labels[i] = box;
            taken.push_back(box);
            break;
        }
    }
    return labels;
}

namespace {

/// One of the two charts; x runs right and y up.
struct Chart {
    Box box;
    LogAxis x, y;
    float at_x(double value) const { return box.x + box.width * float(x.at(value)); }
    float at_y(double value) const { return box.y + box.height * float(1 - y.at(value)); }
    float right() const { return box.x + box.width; }
    float bottom() const { return box.y + box.height; }
};

struct Dot {
    const RooflinePoint* point;
    ImVec2 at;
    double share;  ///< its share of the roof above it
};

ImVec2 small_size(Ui& ui, const std::string& words) {
    ImGui::PushFont(ui.fonts.small);
    const ImVec2 size = ImGui::CalcTextSize(words.c_str());
    ImGui::PopFont();
    return size;
}

void small_text(Ui& ui, ImVec2 at, ImU32 colour, const std::string& words) {
    ImGui::GetWindowDrawList()->AddText(ui.fonts.small, text_size(ui.fonts.small),
                                        {std::round(at.x), std::round(at.y)}, colour,
                                        words.c_str());
}

/// Draws the chart's frame, and lines at powers of ten with their labels on the left.
void draw_frame(Ui& ui, const Chart& chart) {
    ImDrawList& list = *ImGui::GetWindowDrawList();
    const ImVec2 low{chart.box.x, chart.box.y}, high{chart.right(), chart.bottom()};
    list.AddRectFilled(low, high, colour::canvas, ui.px(3));
    for (const double tick : chart.y.ticks(std::max(1, int(chart.box.height / ui.px(24))))) {
        const float y = chart.at_y(tick);
        list.AddLine({low.x, y}, {high.x, y}, colour::line, ui.px(1));
        const std::string words = tick_words(tick);
        const ImVec2 size = small_size(ui, words);
        small_text(ui, {low.x - size.x - ui.px(6), y - size.y / 2}, colour::faint, words);
    }
}

void draw_intensity_ticks(Ui& ui, const Chart& chart) {
    ImDrawList& list = *ImGui::GetWindowDrawList();
    const std::string unit = "flop/B";
    const float end = chart.right() - small_size(ui, unit).x;
    small_text(ui, {end, chart.bottom() + ui.px(2)}, colour::faint, unit);
    for (const double tick : chart.x.ticks(std::max(1, int(chart.box.width / ui.px(56))))) {
        const float x = chart.at_x(tick);
        list.AddLine({x, chart.box.y}, {x, chart.bottom()}, colour::line, ui.px(1));
        const std::string words = tick_words(tick);
        const ImVec2 size = small_size(ui, words);
        if (x + size.x / 2 + ui.px(8) > end) continue;
        small_text(ui, {x - size.x / 2, chart.bottom() + ui.px(2)}, colour::faint, words);
    }
}

/// Draws a line's name inside the chart; returns its place.
Box line_name(Ui& ui, const Chart& chart, ImVec2 at, const std::string& words) {
    const ImVec2 size = small_size(ui, words);
    at.x = std::clamp(at.x, chart.box.x + ui.px(4), chart.right() - size.x - ui.px(6));
    at.y = std::clamp(at.y, chart.box.y, chart.bottom() - size.y);
    small_text(ui, at, colour::dim, words);
    return {at.x, at.y, size.x, size.y};
}

/// Draws the dots, their names if there is room, and their tooltips.
void draw_dots(Ui& ui, const Chart& chart, std::vector<Dot> dots, std::vector<Box> taken,
               const Ceilings& ceilings, const char* id) {
    ImDrawList& list = *ImGui::GetWindowDrawList();
    const float radius = ui.px(4.5F);
    // If not all names have room, the fastest kernels keep theirs.
    std::stable_sort(dots.begin(), dots.end(),
                     [](const Dot& a, const Dot& b) { return a.share > b.share; });
    std::vector<Box> marks, sizes;
    std::vector<std::string> names;
    for (const Dot& dot : dots) {
        marks.push_back({dot.at.x - radius, dot.at.y - radius, 2 * radius, 2 * radius});
        names.push_back(fmt::format("{}  {:.3g} %", dot.point->kernel->name, 100 * dot.share));
        const ImVec2 size = small_size(ui, names.back());
        sizes.push_back({0, 0, size.x, size.y});
    }
    const auto labels = place_labels(marks, sizes, chart.box, std::move(taken), ui.px(4));
    const ImVec2 mouse = ImGui::GetIO().MousePos;
    for (std::size_t i = 0; i < dots.size(); ++i) {
        const Dot& dot = dots[i];
        // A point above the roof was served by a cache, so this ceiling does not hold for it.
        const ImU32 ink = dot.share > 1.02 ? colour::warning : colour::accent;
        list.AddCircleFilled(dot.at, radius + ui.px(1.5F), colour::canvas);
        list.AddCircleFilled(dot.at, radius, ink);
        if (labels[i]) small_text(ui, {labels[i]->x, labels[i]->y}, colour::text, names[i]);
        record_rect(ui, {marks[i].x, marks[i].y},
                    {marks[i].x + marks[i].width, marks[i].y + marks[i].height},
                    id + dot.point->kernel->name, fmt::format("{:.4f}", dot.share));
        const float dx = mouse.x - dot.at.x, dy = mouse.y - dot.at.y;
        if (ImGui::IsWindowHovered() && dx * dx + dy * dy <= 4 * radius * radius)
            quick_tooltip(ui, roofline_words(*dot.point->kernel, ceilings));
    }
}

/// Draws the name of the slope, below it where no kernel's line crosses.
Box slope_name(Ui& ui, const Chart& chart, const Roofline& line, const std::vector<Box>& taken) {
    const std::string words = tr("copy {}", quantity(line.bytes_ceiling, "B/s"));
    const ImVec2 size = small_size(ui, words);
    const auto place = [&](double share) {
        const double intensity = chart.x.value(share * chart.x.at(line.ridge()));
        return ImVec2{chart.at_x(intensity) + ui.px(10), chart.at_y(line.roof(intensity))};
    };
    for (const double share : {0.45, 0.2, 0.7}) {
        const ImVec2 at = place(share);
        if (std::none_of(taken.begin(), taken.end(), [&](const Box& box) {
                return box.x < at.x + size.x && at.x < box.x + box.width;
            }))
            return line_name(ui, chart, at, words);
    }
    return line_name(ui, chart, place(0.45), words);
}

void draw_roof(Ui& ui, const Chart& chart, const Roofline& line, const Ceilings& ceilings) {
    ImDrawList& list = *ImGui::GetWindowDrawList();
    draw_frame(ui, chart);
    draw_intensity_ticks(ui, chart);
    const ImVec2 unit{chart.box.x + ui.px(6), chart.box.y + ui.px(3)};
    const ImVec2 unit_size = small_size(ui, "flop/s");
    small_text(ui, unit, colour::faint, "flop/s");
    const float flat = chart.at_y(line.flops_ceiling), ridge = chart.at_x(line.ridge());
    const double left = chart.x.value(0);
    list.AddLine({chart.box.x, chart.at_y(line.roof(left))}, {ridge, flat}, colour::dim,
                 ui.px(1.6F));
    list.AddLine({ridge, flat}, {chart.right(), flat}, colour::dim, ui.px(1.6F));
    std::vector<Dot> dots;
    std::vector<Box> taken{{unit.x, unit.y, unit_size.x, unit_size.y},
                           {ridge, flat - ui.px(1), chart.right() - ridge, ui.px(2)}};
    for (const RooflinePoint& p : line.points) {
        const ImVec2 at{chart.at_x(p.intensity), chart.at_y(p.flops_per_second)};
        const double roof = line.roof(p.intensity);
        const float top = chart.at_y(roof);
        // This line shows the distance from the kernel to its roof.
        list.AddLine(at, {at.x, top}, faded(colour::accent, 0.45F), ui.px(1));
        taken.push_back({at.x - ui.px(1), top, ui.px(2), std::max(0.F, at.y - top)});
        dots.push_back({&p, at, roof > 0 ? p.flops_per_second / roof : 0});
    }
    taken.push_back(line_name(ui, chart, {chart.right(), flat - small_size(ui, "0").y - ui.px(1)},
                              "FP32 " + quantity(line.flops_ceiling, "flop/s")));
    taken.push_back(slope_name(ui, chart, line, taken));
    draw_dots(ui, chart, dots, taken, ceilings, "roofline.kernel.");
    record_rect(
        ui, {chart.box.x, chart.box.y}, {chart.right(), chart.bottom()}, "roofline",
        tr("{}, ridge at {:.3g} flop/B", counted(line.points.size(), "kernel"), line.ridge()));
}

/// Draws the kernels whose bytes alone are counted, by bytes per second.
void draw_strip(Ui& ui, const Chart& chart, const Roofline& line, const Ceilings& ceilings) {
    draw_frame(ui, chart);
    const float roof = chart.at_y(line.bytes_ceiling);
    ImGui::GetWindowDrawList()->AddLine({chart.box.x, roof}, {chart.right(), roof}, colour::dim,
                                        ui.px(1.6F));
    const Box name = line_name(ui, chart, {chart.right(), roof - small_size(ui, "0").y - ui.px(1)},
                               tr("copy {}", quantity(line.bytes_ceiling, "B/s")));
    std::vector<Dot> dots;
    for (std::size_t i = 0; i < line.strip.size(); ++i) {
        const RooflinePoint& p = line.strip[i];
        const float share = (float(i) + 0.5F) / float(line.strip.size());
        dots.push_back({&p,
                        {chart.box.x + chart.box.width * share, chart.at_y(p.bytes_per_second)},
                        line.bytes_ceiling > 0 ? p.bytes_per_second / line.bytes_ceiling : 0});
    }
    draw_dots(ui, chart, dots, {name}, ceilings, "roofline.bytes.");
    ImGui::PushFont(ui.fonts.small);
    const std::string axis =
        shortened(tr("bytes per second; flops not counted"), chart.box.width + ui.px(8));
    ImGui::PopFont();
    small_text(ui, {chart.box.x, chart.bottom() + ui.px(2)}, colour::faint, axis);
}

void fact(Ui& ui, const char* label, const std::string& value, float width) {
    const float left = ImGui::GetCursorPosX();
    text(ui.fonts.small, colour::dim, label);
    ImGui::PushFont(ui.fonts.mono);
    const float needed = ImGui::CalcTextSize(value.c_str()).x;
    ImGui::PopFont();
    if (ImGui::GetItemRectSize().x + ui.px(8) + needed <= width) ImGui::SameLine();
    ImGui::SetCursorPosX(left + std::max(0.F, width - needed));
    text(ui.fonts.mono, colour::text, value);
}

/// Shows the ceilings as numbers, and the kernels that are not in the chart.
void legend(Ui& ui, Stage& stage, const Roofline& line, float width) {
    ImGui::BeginGroup();
    ImGui::PushTextWrapPos(ImGui::GetCursorPosX() + width);
    fact(ui, tr("Arithmetic, FP32"), quantity(line.flops_ceiling, "flop/s"), width);
    record(ui, "roofline.fp32", quantity(line.flops_ceiling, "flop/s"));
    fact(ui, tr("Memory, copied"), quantity(line.bytes_ceiling, "B/s"), width);
    record(ui, "roofline.copy", quantity(line.bytes_ceiling, "B/s"));
    fact(ui, tr("Ridge"), fmt::format("{:.3g} flop/B", line.ridge()), width);
    text(ui.fonts.small, colour::faint,
         tr("Left of the ridge, memory is the limit; right of it, arithmetic. Each byte that must "
            "move counts once."));
    if (stage.device().kind == compute::DeviceKind::emulator) {
        text(ui.fonts.small, colour::dim, tr("Emulated: these are the ceilings of this CPU."));
        record(ui, "roofline.emulated");
    }
    std::string names;
    for (const std::string& name : line.left_out) names += (names.empty() ? "" : ", ") + name;
    if (!names.empty()) {
        text(ui.fonts.small, colour::faint, tr("Not counted: {}", names));
        record(ui, "roofline.left_out", names);
    }
    ImGui::PopTextWrapPos();
    ImGui::EndGroup();
}

/// Says why there is no chart yet, and measures the ceilings.
void no_ceilings(Ui& ui, Stage& stage) {
    const std::string& error = stage.shown().ceilings_error;
    if (!error.empty()) {
        paragraph(ui.fonts.body, colour::bad, tr("The ceilings could not be measured: {}", error));
        record(ui, "roofline.error", error);
        return;
    }
    paragraph(ui.fonts.body, colour::dim, tr("Measuring the ceilings of the device…"));
    record(ui, "roofline.measuring");
    stage.measure_ceilings();
}

}  // namespace

void RooflinePanel::draw(Ui& ui) {
    const compute::DeviceInfo& info = stage_.device();
    const Ceilings* ceilings = compute::known_ceilings(info);
    if (!ceilings) return no_ceilings(ui, stage_);
    const Roofline line = roofline_of(stage_.timings().kernels(), *ceilings);
    const ImVec2 low = ImGui::GetCursorScreenPos();
    const ImVec2 room = ImGui::GetContentRegionAvail();
    const float axis = small_size(ui, "100 G").x + ui.px(14);
    const float top = low.y + ui.px(4);
    const float height = room.y - small_size(ui, "0").y - ui.px(10);
    const float column = std::min(ui.px(236), room.x * 0.3F);
    float left = low.x + column + axis + ui.px(8);
    const float right = low.x + room.x - ui.px(2);
    // The names of ceilings and kernels need room, in each of two charts.
    const float least = ui.px(line.strip.empty() || line.points.empty() ? 200 : 400);
    const bool chart = height >= ui.px(40) && right - left >= least;
    legend(ui, stage_, line, chart ? column : std::min(ui.px(236), room.x));
    if (!chart) return;
    if (!line.strip.empty()) {
        const float width = (right - left - axis) * (line.points.empty() ? 0.5F : 0.34F);
        draw_strip(ui, {{left, top, width, height}, {}, line.bytes}, line, *ceilings);
        left += width + axis;
    }
    draw_roof(ui, {{left, top, right - left, height}, line.intensity, line.flops}, line, *ceilings);
    ImGui::SetCursorScreenPos({low.x, low.y});
    ImGui::Dummy({1, 1});
}

}  // namespace warpscope::ui
