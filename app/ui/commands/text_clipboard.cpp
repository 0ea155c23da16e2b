#include "ui/commands/text_clipboard.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "compute/device/kernel_source.h"
#include "experiments/export/page.h"
#include "experiments/framework/metadata.h"
#include "ui/commands/shown_tables.h"
#include "ui/language/language.h"

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
    if (inspection) page.findings = &inspection->verdict.findings;
    page.tables = {experiments::results_table(stage.report()),
                   experiments::counters_table(stage.checks().counters),
                   experiments::timings_table(stage.timings().kernels())};
    if (stage.comparison())
        page.tables.push_back(experiments::comparison_table(*stage.comparison()));
    page.source = [&stage](const std::string& file) { return source_of(stage, file); };
    return experiments::html_page(page);
}

/// A format in which a table is copied.
struct TextClipboard::Form {
    Command command;
    const char* name;
    std::string (*text)(const experiments::Table&);
};

std::span<const TextClipboard::Form> TextClipboard::forms() {
    static constexpr Form all[] = {{Command::copy_csv, "CSV", experiments::to_csv},
                                   {Command::copy_markdown, "Markdown", experiments::to_markdown},
                                   {Command::copy_json, "JSON", experiments::to_json}};
    return all;
}

void TextClipboard::copy(const std::string& text, const std::string& what) {
    if (text.empty()) return stage_.say(tr("There is nothing to copy."));
    ImGui::SetClipboardText(text.c_str());
    const bool is_sentence = what.ends_with('.');
    stage_.say(tr("Copied {}.", what.substr(0, what.size() - is_sentence)));
}

void TextClipboard::copy(const experiments::Table& table, const Form& form) {
    copy(form.text(table), tr("the table \"{}\" as {}", tr(table.title), form.name));
}

std::vector<experiments::Table> TextClipboard::tables() const {
    const std::string tab = microscope_.is_open()  ? options_.dock_open
                            : options_.dock_folded ? ""
                                                   : options_.dock;
    return tables_on_show(stage_, microscope_, tab, options_);
}

std::vector<PaletteRow> TextClipboard::other_tables() {
    std::vector<PaletteRow> rows;
    const auto shown = tables();
    for (const experiments::Table& table : std::span(shown).subspan(1))
        for (const Form& form : forms())
            rows.push_back({fmt::format("copy {} as {}", table.title, form.name),
                            tr("copy the table \"{}\" as {}", tr(table.title), form.name), "",
                            [this, table, &form] { copy(table, form); }});
    return rows;
}

bool TextClipboard::carry_out(Command command, const WidgetMap& widgets) {
    if (command == Command::copy_value) {
        const Widget* const widget = value_under(widgets, ImGui::GetIO().MousePos);
        copy(widget ? widget->value : "", widget ? widget->value : "");
    } else if (command == Command::copy_findings) {
        copy(experiments::finding_lines(findings_on_show(stage_, microscope_)), tr("the findings"));
    } else if (command == Command::copy_command) {
        copy(command_of(stage_), tr("the command line"));
    } else {
        const auto form = std::ranges::find(forms(), command, &Form::command);
        if (form == forms().end()) return false;
        copy(tables().front(), *form);
    }
    return true;
}

}  // namespace warpscope::ui
