#include "ui/commands/copies.h"

#include <fmt/format.h>

#include <filesystem>

#include "compute/device/kernel_source.h"
#include "experiments/export/page.h"
#include "experiments/framework/metadata.h"

namespace warpscope::ui {
namespace {

/// The text of a kernel file as the findings name it.
std::string_view source_of(const Stage& stage, const std::string& file) {
    for (const auto& [key, text] : stage.documents().texts()) {
        const KernelDocument* const document = stage.documents().find(key);
        const bool is_it = compute::kernel_path(key) == file ||
                           (document && !document->path().empty() && document->path() == file);
        if (is_it) return *text;
    }
    return compute::kernel_source(file);
}

}  // namespace

const Widget* value_under(const WidgetMap& widgets, ImVec2 mouse) {
    const Widget* best = nullptr;
    for (const Widget& one : widgets.widgets()) {
        const bool inside = mouse.x >= one.x && mouse.x < one.x + one.w && mouse.y >= one.y &&
                            mouse.y < one.y + one.h;
        if (!one.visible || !inside || one.value.empty()) continue;
        if (!best || one.w * one.h <= best->w * best->h) best = &one;
    }
    return best;
}

experiments::Table table_on_show(const Stage& stage, const std::string& tab,
                                 experiments::LineFigure figure) {
    const auto& inspection = stage.checks().inspection;
    if (tab == "findings" && inspection) return experiments::findings_table(inspection->findings);
    if (tab == "counters") return experiments::counters_table(stage.checks().counters);
    if (const auto* kernel = stage.checks().newest_counters(); tab == "lines" && kernel)
        return experiments::lines_table(*kernel, figure, [&](const std::string& file, int line) {
            return experiments::text_of_line(stage.shown().edits, file, line);
        });
    if (tab == "timings") return experiments::timings_table(stage.timings().kernels());
    return experiments::results_table(stage.report());
}

std::string command_of(const Stage& stage) {
    constexpr experiments::Size usual{1280, 720};
    for (const auto& [keyword, text] : experiments::describe(stage.described(), usual, false))
        if (keyword == "command") return text;
    return {};
}

std::string page_of(const Stage& stage, std::span<const std::uint8_t> png) {
    const auto& inspection = stage.checks().inspection;
    experiments::PageContents page;
    page.title = fmt::format("{}, frame {}", stage.entry().title, stage.frame());
    page.command = command_of(stage);
    page.png = png;
    if (inspection) page.findings = &inspection->findings;
    page.tables = {experiments::results_table(stage.report()),
                   experiments::counters_table(stage.checks().counters),
                   experiments::timings_table(stage.timings().kernels())};
    if (stage.comparison())
        page.tables.push_back(experiments::comparison_table(*stage.comparison()));
    page.source = [&stage](const std::string& file) { return source_of(stage, file); };
    return experiments::html_page(page);
}

}  // namespace warpscope::ui
