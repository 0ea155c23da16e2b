#include "ui/dock/timings_panel.h"

#include <fmt/format.h>

#include <iterator>

#include "emulator/launcher.h"
#include "ui/dock/roofline_panel.h"
#include "ui/language/language.h"
#include "ui/widgets/columns.h"
#include "ui/widgets/format.h"
#include "ui/widgets/futures.h"
#include "ui/widgets/widgets.h"

namespace warpscope::ui {

const std::optional<compute::GpuState>& DeviceFacts::gpu(const compute::DeviceInfo& device) {
    using std::chrono::steady_clock;
    if (device.pci_bus_id != asked_) {
        asked_ = device.pci_bus_id;
        gpu_.reset();
        answer_ = {};
        ask_at_ = {};
    }
    if (is_ready(answer_)) gpu_ = answer_.get();
    if (!asked_.empty() && !answer_.valid() && steady_clock::now() >= ask_at_) {
        ask_at_ = steady_clock::now() + std::chrono::seconds(1);
        answer_ =
            std::async(std::launch::async, [bus = asked_] { return compute::gpu_state(bus); });
    }
    return gpu_;
}

namespace {

using compute::Ceilings;
using compute::KernelTiming;

constexpr TableColumn timing_columns[] = {
    {tr_later("Kernel"), "", 0, true},
    {tr_later("Launches"), tr_later("Launches since the experiment was made."), 62},
    {tr_later("Grid · block"), tr_later("Blocks of the grid, and threads of a block."), 122},
    {tr_later("Last, ms"), tr_later("The newest launch."), 62},
    {tr_later("Median, ms"), tr_later("The median of the newest launches, at most 256."), 80},
    {tr_later("p99, ms"), tr_later("99 % of the newest launches took no longer."), 58},
    {tr_later("Rate"),
     tr_later("The work that the launch must do at least, divided by the median time."), 116},
    {tr_later("Of the ceiling"), tr_later("The rate as a share of the device's measured ceiling."),
     88},
    {tr_later("Recent"), tr_later("The newest launches; the newest one is on the right."), 84,
     true}};
constexpr std::size_t rate_column = 6, share_column = 7;
/// In a narrow window these columns give their room to the kernel's name, in this order.
constexpr std::size_t least_timings_first[] = {8, 3, 5, 1, 2, 7, 6};

compute::CeilingShares shares_below(const KernelTiming& kernel, const Ceilings* ceilings) {
    return ceilings ? compute::shares_of(kernel, *ceilings) : compute::CeilingShares{};
}

/// Shows the larger of the shares of the ceilings; a tooltip has both.
void share_cell(Ui& ui, const KernelTiming& kernel, const Ceilings* ceilings) {
    const compute::CeilingShares shares = shares_below(kernel, ceilings);
    const bool memory = shares.of_bandwidth >= shares.of_fp32;
    const bool known = shares.larger() > 0;
    right_cell(ui.fonts.mono, known ? colour::text : colour::faint,
               known
                   ? fmt::format("{:.3g} % {}", 100 * shares.larger(), memory ? tr("copy") : "FP32")
                   : "-");
    record(ui, "timing." + kernel.name + ".share", fmt::format("{:.4f}", shares.larger()));
    if (known && ImGui::IsItemHovered()) quick_tooltip(ui, roofline_words(kernel, *ceilings));
}

/// Says what ran the newest launch on the emulator; empty for a GPU.
const char* engine_words(compute::Engine engine) {
    switch (engine) {
        case compute::Engine::interpreted:
            return tr("interpreted");
        case compute::Engine::compiled:
            return tr("compiled for this CPU");
        default:
            return "";
    }
}

/// Returns "interpreted", "compiled for this CPU" or "some kernels compiled for this CPU".
std::string engine_words(const std::vector<const KernelTiming*>& kernels) {
    const auto count = std::count_if(kernels.begin(), kernels.end(), [](const KernelTiming* k) {
        return k->engine == compute::Engine::compiled;
    });
    const std::string compiled = engine_words(compute::Engine::compiled);
    if (count == 0) return engine_words(compute::Engine::interpreted);
    return std::size_t(count) == kernels.size() ? compiled : tr("some kernels {}", compiled);
}

/// Draws the row of a kernel, dimmed unless it `runs`: it is still launched.
void row(Ui& ui, const KernelTiming& kernel, const Ceilings* ceilings, bool runs) {
    const ImU32 strong = runs ? colour::text : colour::faint;
    const ImU32 weak = runs ? colour::dim : colour::faint;
    const auto number = [&](const std::string& words, ImU32 hue) {
        right_cell(ui.fonts.mono, hue, words);
    };
    ImGui::TableNextRow();
    ImGui::TableNextColumn();
    clipped_text(ui.fonts.mono, strong, kernel.name, ImGui::GetContentRegionAvail().x);
    record(ui, "timing." + kernel.name, milliseconds(kernel.median_ms()));
    record(ui, "timing." + kernel.name + ".runs", runs ? "on" : "off");
    const char* const engine = engine_words(kernel.engine);
    record(ui, "timing." + kernel.name + ".engine", engine);
    if (!runs)
        tooltip(ui, tr("This kernel is no longer launched."));
    else if (*engine)
        tooltip(ui, tr("The newest launch was {}.", engine));
    ImGui::TableNextColumn();
    number(quantity(double(kernel.launches), ""), weak);
    ImGui::TableNextColumn();
    number(grid_by_block(kernel.grid, kernel.block), weak);
    ImGui::TableNextColumn();
    number(milliseconds(kernel.last_ms()), weak);
    ImGui::TableNextColumn();
    const std::string note = compute::timing_note(kernel, ceilings);
    number(milliseconds(kernel.median_ms()), note.empty() || !runs ? strong : colour::warning);
    record(ui, "timing." + kernel.name + ".note", note);
    if (!note.empty() && ImGui::IsItemHovered()) quick_tooltip(ui, note);
    ImGui::TableNextColumn();
    number(milliseconds(kernel.p99_ms()), weak);
    ImGui::TableNextColumn();
    const std::string per_second = rate(kernel);
    number(per_second.empty() ? "-" : per_second, strong);
    ImGui::TableNextColumn();
    share_cell(ui, kernel, ceilings);
    ImGui::TableNextColumn();
    sparkline(ui, kernel.recent_ms, {ImGui::GetContentRegionAvail().x, ImGui::GetTextLineHeight()});
}

void table(Ui& ui, const std::vector<KernelTiming>& kernels, const Ceilings* ceilings,
           const RecentKernels& recent) {
    constexpr auto flags = ImGuiTableFlags_BordersInnerH | ImGuiTableFlags_ScrollY |
                           ImGuiTableFlags_SizingFixedFit | ImGuiTableFlags_NoPadOuterX;
    if (!ImGui::BeginTable("kernels", int(std::size(timing_columns)), flags,
                           ImGui::GetContentRegionAvail()))
        return;
    std::vector<bool> empty(std::size(timing_columns), false);
    empty[rate_column] = std::all_of(kernels.begin(), kernels.end(),
                                     [](const KernelTiming& k) { return rate(k).empty(); });
    empty[share_column] = std::all_of(kernels.begin(), kernels.end(), [&](const KernelTiming& k) {
        return shares_below(k, ceilings).larger() <= 0;
    });
    const float padding = 2 * ImGui::GetStyle().CellPadding.x / ui.scale;
    const auto left_out =
        columns_left_out(timing_columns, empty, least_timings_first,
                         ImGui::GetContentRegionAvail().x / ui.scale, 130, padding);
    table_head(ui, timing_columns, left_out);
    for (const KernelTiming& kernel : kernels)
        row(ui, kernel, ceilings, recent.still_runs(kernel.name));
    ImGui::EndTable();
}

/// Returns the time of a frame, which holds more than kernels: copies, drawing and the wait for
/// V-sync. With `parts` it names the part that the display takes.
std::string frame_text(const Stage& stage, const FrameTimes& times, bool parts) {
    if (times.frame_ms <= 0) return {};
    if (stage.paused()) return tr("paused");
    const std::string display = parts ? tr(" (display {} ms)", milliseconds(times.display_ms)) : "";
    const double rate = 1000 / double(times.frame_ms);
    const std::string fps = rate < 10 ? fmt::format("{:.2g}", rate) : fmt::format("{:.0f}", rate);
    return tr("Frame {} ms{} · {} fps", milliseconds(times.frame_ms), display, fps);
}

/// The GPU's clocks, and the reason where they are throttled.
void gpu_line(Ui& ui, DeviceFacts& facts, const compute::DeviceInfo& info) {
    const auto& state = facts.gpu(info);
    if (!state) return;
    ImGui::SameLine(0, ui.px(10));
    text(ui.fonts.small, state->throttled_by.empty() ? colour::dim : colour::warning,
         compute::words(*state));
    record(ui, "timings.gpu", compute::words(*state));
}

/// Draws an entry, "ripple_txty 36.4 ms  115 MB/s". Returns its width; 0: no `room`.
float line_entry(Ui& ui, const KernelTiming& kernel, float room) {
    const std::string median = milliseconds(kernel.median_ms()) + " ms", work = rate(kernel);
    ImGui::PushFont(ui.fonts.mono);
    const float name_width = ImGui::CalcTextSize(kernel.name.c_str()).x;
    const float median_width = ImGui::CalcTextSize(median.c_str()).x;
    const float work_width = ImGui::CalcTextSize(work.c_str()).x;
    ImGui::PopFont();
    const float gap = ui.px(9);
    const float width = name_width + gap + median_width + (work.empty() ? 0 : work_width + gap);
    if (width > room) return 0;
    const ImVec2 low = ImGui::GetCursorScreenPos();
    text(ui.fonts.mono, colour::dim, kernel.name);
    ImGui::SetCursorScreenPos({low.x + name_width + gap, low.y});
    text(ui.fonts.mono, colour::text, median);
    ImGui::SetCursorScreenPos({low.x + name_width + median_width + 2 * gap, low.y});
    if (!work.empty()) text(ui.fonts.mono, colour::dim, work);
    record_rect(ui, low, {low.x + width, low.y + ImGui::GetTextLineHeight()},
                "timing." + kernel.name, milliseconds(kernel.median_ms()));
    return width;
}

}  // namespace

void TimingsPanel::draw_line(Ui& ui) {
    const ImVec2 low = ImGui::GetCursorScreenPos();
    const float right = low.x + ImGui::GetContentRegionAvail().x;
    const std::string frame = frame_text(stage_, times_, false);
    ImGui::PushFont(ui.fonts.mono);
    const float frame_width = ImGui::CalcTextSize(frame.c_str()).x;
    ImGui::PopFont();
    float x = low.x;
    if (stage_.device().kind == compute::DeviceKind::emulator) {
        ImGui::SetCursorScreenPos({x, low.y - ui.px(2)});
        x += badge(ui, tr("emulated"), colour::dim) + ui.px(14);
        record(ui, "timings.emulated", "emulated");
    }
    const auto& kernels = stage_.timings().kernels();
    recent_.follow(kernels, stage_.shown().launch_parameters);
    for (const KernelTiming* kernel : recent_.running(kernels)) {
        ImGui::SetCursorScreenPos({x, low.y});
        const float width = line_entry(ui, *kernel, right - frame_width - ui.px(20) - x);
        if (width == 0) break;
        x += width + ui.px(26);
    }
    if (frame.empty()) return;
    ImGui::SetCursorScreenPos({right - frame_width, low.y});
    text(ui.fonts.mono, colour::dim, frame);
    record(ui, "timings.frame", frame);
    tooltip(ui, frame_text(stage_, times_, true));
}

void TimingsPanel::engine_line(Ui& ui) const {
    const auto running = recent_.running(stage_.timings().kernels());
    if (running.empty()) return;
    const std::string words = engine_words(running);
    ImGui::PushFont(ui.fonts.small);
    same_line_if_room(ui.px(10), ImGui::CalcTextSize(words.c_str()).x);
    ImGui::PopFont();
    ImGui::SetCursorPosY(ImGui::GetCursorPosY() + ui.px(2));
    text(ui.fonts.small, colour::dim, words);
    record(ui, "timings.engine", words);
    const std::string problem = emulator::Launcher::compiler_problem();
    tooltip(ui, tr("The emulator interprets a kernel at first. A kernel that has taken 100 ms is "
                   "compiled for this CPU, by LLVM, while the interpreter goes on.") +
                    (problem.empty() ? "" : tr("\nThe interpreter goes on: {}.", problem)));
}

void TimingsPanel::draw(Ui& ui) {
    const compute::DeviceInfo& info = stage_.device();
    const Ceilings* ceilings = compute::known_ceilings(info);
    const auto& kernels = stage_.timings().kernels();
    recent_.follow(kernels, stage_.shown().launch_parameters);
    text(ui.fonts.small, colour::dim, tr("On {}", tr(std::string_view(info.name))));
    if (info.kind == compute::DeviceKind::emulator) {
        ImGui::SameLine(0, ui.px(10));
        ImGui::SetCursorPosY(ImGui::GetCursorPosY() - ui.px(2));
        badge(ui, tr("emulated"), colour::dim);
        record(ui, "timings.emulated", "emulated");
        engine_line(ui);
    } else {
        gpu_line(ui, facts_, info);
        if (!ceilings) stage_.measure_ceilings();
    }
    const std::string frame = frame_text(stage_, times_, true);
    if (!frame.empty()) {
        ImGui::PushFont(ui.fonts.mono);
        same_line_if_room(ui.px(10), ImGui::CalcTextSize(frame.c_str()).x);
        ImGui::PopFont();
        right_cell(ui.fonts.mono, colour::dim, frame);
        record(ui, "timings.frame", frame);
    }
    table(ui, kernels, ceilings, recent_);
}

}  // namespace warpscope::ui
