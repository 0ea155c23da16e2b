#include "ui/dock/occupancy_panel.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <vector>

#include "compute/device/number_text.h"
#include "emulator/program/lanes.h"
#include "ui/language/language.h"
#include "ui/widgets/format.h"
#include "ui/widgets/widgets.h"

namespace warpscope::ui {
namespace {

using compute::BlockNeeds;
using compute::KernelTiming;
using compute::Occupancy;
using compute::OccupancyLimit;
using compute::SmLimits;

constexpr const char* limit_names[] = {tr_later("warps of an SM"), tr_later("blocks of an SM"),
                                       tr_later("registers"),
                                       tr_later("shared memory")};  // indexed by OccupancyLimit

std::string limits_of(const Occupancy& occupancy) {
    std::vector<std::string> limits;
    for (std::size_t k = 0; k < std::size(limit_names); ++k)
        if (occupancy.is_limited_by(OccupancyLimit(k))) limits.emplace_back(tr(limit_names[k]));
    return fmt::format("{}", fmt::join(limits, ", "));
}

/// Describes an occupancy: "8 blocks, 64 of 64 warps of an SM (100 %). Limited by: …".
std::string sentence(const SmLimits& sm, const Occupancy& occupancy) {
    if (occupancy.blocks == 0)
        return tr("No block fits on an SM: too much for its {}.", limits_of(occupancy));
    return tr("{}, {} of {} warps of an SM ({:.0f} %). Limited by: {}.",
              counted(occupancy.blocks, "block"), occupancy.warps, sm.warps,
              100.0 * occupancy.warps / sm.warps, limits_of(occupancy));
}

/// The active warps of an SM for each value of what a block needs.
struct Curve {
    std::string id;                ///< "occupancy.curve"
    std::vector<unsigned> warps;   ///< the height of each bar
    std::size_t of_launch = 0;     ///< the bar of the launch, which is bright
    unsigned step = 0, first = 0;  ///< bar k is for the value first + k * step
    unsigned labelled = 0;         ///< values that are multiples of this have a label
    std::string unit;              ///< "threads"
};

Curve by_block_size(const SmLimits& sm, const BlockNeeds& needs) {
    using emulator::lanes_per_warp;
    return {.id = "occupancy.curve",
            .warps = warps_by_block_size(sm, needs),
            .of_launch = (needs.threads + lanes_per_warp - 1) / lanes_per_warp - 1,
            .step = lanes_per_warp,
            .first = lanes_per_warp,
            .labelled = 128,
            .unit = tr("threads")};
}

Curve by_shared_memory(const SmLimits& sm, const BlockNeeds& needs) {
    const std::uint32_t step = compute::shared_memory_step;
    return {.id = "occupancy.shared",
            .warps = warps_by_shared_memory(sm, needs),
            .of_launch = (needs.shared_bytes + step - 1) / step,
            .step = step / 1024,
            .first = 0,
            .labelled = 32,
            .unit = tr("KiB of shared memory")};
}

void draw(Ui& ui, const SmLimits& sm, const Curve& curve, float wide) {
    const ImVec2 low = ImGui::GetCursorScreenPos();
    const float labels = text_size(ui.fonts.small) + ui.px(4);
    const ImVec2 size{wide, std::max(1.F, ImGui::GetContentRegionAvail().y - labels)};
    hit_area(curve.id, size);
    record(ui, curve.id, fmt::format("{}", fmt::join(curve.warps, " ")));
    const bool hovered = ImGui::IsItemHovered();
    ImDrawList& list = *ImGui::GetWindowDrawList();
    const float width = size.x / float(curve.warps.size()), bottom = low.y + size.y;
    list.AddLine({low.x, bottom}, {low.x + size.x, bottom}, colour::line, ui.px(1));
    for (std::size_t k = 0; k < curve.warps.size(); ++k) {
        const unsigned value = curve.first + unsigned(k) * curve.step;
        const float x = low.x + width * float(k);
        const bool of_launch = k == curve.of_launch;
        const bool under =
            hovered && ImGui::GetIO().MousePos.x >= x && ImGui::GetIO().MousePos.x < x + width;
        list.AddRectFilled(
            {x + ui.px(1), bottom - size.y * float(curve.warps[k]) / float(sm.warps)},
            {x + width - ui.px(1), bottom},
            of_launch ? colour::accent : faded(colour::dim, under ? 0.6F : 0.35F));
        if (under)
            quick_tooltip(ui, tr("blocks of {} {}: {} of {} warps", value, curve.unit,
                                 curve.warps[k], sm.warps));
        if (value % curve.labelled == 0 || k == 0) {
            const std::string words = std::to_string(value);
            const float length =
                ui.fonts.small->CalcTextSizeA(text_size(ui.fonts.small), FLT_MAX, 0, words.c_str())
                    .x;
            const float centred = std::min(x + (width - length) / 2, low.x + size.x - length);
            list.AddText(ui.fonts.small, text_size(ui.fonts.small), {centred, bottom + ui.px(2)},
                         of_launch ? colour::text : colour::faint, words.c_str());
        }
    }
}

void draw_curves(Ui& ui, const SmLimits& sm, const BlockNeeds& needs) {
    const float gap = ui.px(24);
    const float all = std::min(ImGui::GetContentRegionAvail().x, ui.px(1200)) - gap;
    draw(ui, sm, by_block_size(sm, needs), all / 2);
    ImGui::SameLine(0, gap);
    draw(ui, sm, by_shared_memory(sm, needs), all / 2);
}

constexpr float registers_width = 90;  // logical pixels

}  // namespace

const KernelTiming* OccupancyPanel::choose_kernel(Ui& ui) {
    const std::vector<KernelTiming>& kernels = stage_.timings().kernels();
    if (kernels.empty()) return nullptr;
    const auto& inspection = stage_.checks().inspection;
    const std::string wanted = !kernel_.empty() ? kernel_ : inspection ? inspection->kernel : "";
    std::vector<std::string> names;
    std::size_t chosen = 0;
    for (const KernelTiming& kernel : kernels) {
        if (kernel.name == wanted) chosen = names.size();
        names.push_back(kernel.name);
    }
    const int clicked = dropdown(ui, "occupancy.kernel", names, names, chosen, ui.px(220));
    if (clicked >= 0) kernel_ = names[std::size_t(clicked)];
    return &kernels[chosen];
}

const SmLimits& OccupancyPanel::choose_sm(Ui& ui) {
    const std::span<const SmLimits> all = compute::sm_limits();
    const SmLimits& chosen = wish_.sm(stage_.device().compute_capability);
    std::vector<std::string> ids, labels;
    for (const SmLimits& sm : all) {
        ids.emplace_back(sm.name);
        labels.push_back(tr("compute capability {}", sm.name));
    }
    const int clicked =
        dropdown(ui, "occupancy.sm", ids, labels, std::size_t(&chosen - all.data()), ui.px(210));
    if (clicked >= 0) wish_.compute_capability = all[std::size_t(clicked)].compute_capability;
    return chosen;
}

void OccupancyPanel::choose_registers(Ui& ui, const KernelTiming& kernel) {
    const auto known = wish_.needs(kernel).registers;
    const std::string current = known ? std::to_string(*known) : tr("unknown");
    ImGui::AlignTextToFramePadding();
    text(ui.fonts.body, colour::dim, tr("registers"));
    ImGui::SameLine(0, ui.px(8));
    std::string typed;
    const bool changed = field(ui, "occupancy.registers", current, ui.px(registers_width), typed);
    tooltip(ui,
            tr("Registers of a thread. A GPU's driver knows their number, and ptxas -v prints it; "
               "where it is unknown they are not counted as a limit."));
    if (changed) {
        unsigned number = 0;
        const char* const end = typed.data() + typed.size();
        const auto read = std::from_chars(typed.data(), end, number);
        if (read.ec == std::errc() && read.ptr == end && number >= 1 && number <= 255)
            wish_.registers[kernel.name] = number;
        else
            wish_.registers.erase(kernel.name);
    }
}

void OccupancyPanel::draw(Ui& ui) {
    const KernelTiming* const kernel = choose_kernel(ui);
    if (!kernel) {
        paragraph(ui.fonts.body, colour::dim, tr("No kernel was launched yet."));
        record(ui, "occupancy.none");
        return;
    }
    same_line_if_room(ui.px(10), ui.px(210));
    const SmLimits& sm = choose_sm(ui);
    same_line_if_room(ui.px(16),
                      ImGui::CalcTextSize(tr("registers")).x + ui.px(8 + registers_width));
    choose_registers(ui, *kernel);
    const BlockNeeds needs = wish_.needs(*kernel);
    const std::string words = sentence(sm, compute::occupancy(sm, needs));
    paragraph(ui.fonts.body, colour::text, words);
    record(ui, "occupancy.sentence", words);
    const std::string asks =
        tr("A block has {} threads, {} bytes of shared memory and {}. Below: warps for each block "
           "size, and for each size of shared memory in KiB.",
           needs.threads, needs.shared_bytes,
           needs.registers ? tr("{} registers a thread", *needs.registers)
                           : tr("an unknown number of registers"));
    paragraph(ui.fonts.small, colour::dim, asks);
    draw_curves(ui, sm, needs);
}

}  // namespace warpscope::ui
