#include "ui/commands/clipboard.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <stdexcept>

#include "compute/ceilings.h"
#include "compute/device/kernel_files.h"
#include "compute/helper/spawn.h"
#include "emulator/stepper/recent_registers.h"
#include "emulator/witness/witness_words.h"
#include "experiments/export/page_and_trace.h"
#include "experiments/framework/metadata.h"
#include "ui/commands/link.h"
#include "ui/language/language.h"
#include "ui/widgets/edition.h"

extern char** environ;

namespace warpscope::ui {
namespace {

using experiments::Table;

Table policies_table(const std::vector<experiments::PolicyOutcome>& outcomes) {
    Table table{"Barriers", {"policy", "finishes", "blocks run", "findings", "first of them"}, {}};
    for (const experiments::PolicyOutcome& one : outcomes)
        table.rows.push_back({std::string(compute::name(one.policy)), one.ends ? "yes" : one.error,
                              double(one.blocks), double(one.findings.size()),
                              one.findings.empty() ? "" : one.findings.front().sentence});
    return table;
}

Table registers_table(const Microscope& microscope) {
    const emulator::Stepper& stepper = microscope.stepper();
    const emulator::Kernel& kernel = stepper.kernel();
    const unsigned warp = microscope.warp(), lane = microscope.lane();
    Table table{"Registers", {"register", "value", "step"}, {}};
    for (const emulator::RecentRegister& one : emulator::recent_registers(
             stepper, emulator::RegisterWrites(kernel), warp, lane, kernel.registers.size())) {
        const emulator::RegisterInfo& info = kernel.registers[one.index];
        table.rows.push_back({info.name,
                              emulator::register_text(info, stepper.value(info, warp, lane)),
                              double(one.step + 1)});
    }
    return table;
}

Table banks_table(const emulator::AccessView& access) {
    Table table{"Banks", {"lane", "byte of shared memory", "bank"}, {}};
    for (unsigned lane = 0; lane < emulator::lanes_per_warp; ++lane)
        if (access.mask >> lane & 1) {
            const std::uint64_t byte = access.addresses[lane];
            table.rows.push_back({double(lane), double(byte), double(byte / 4 % 32)});
        }
    return table;
}

Table turns_table(const Microscope& microscope) {
    Table table{"Order", {"turn"}, {}};
    for (const files::Sentence& words : emulator::turn_words(*microscope.choice().turns))
        table.rows.push_back({microscope.as_named(words)});
    return table;
}

Table reason_table(const Reason& reason) {
    Table table{"Why", {"run", "instruction"}, {}};
    for (const auto& [run, side] :
         {std::pair("this", &reason.run), std::pair("right", &reason.right)})
        for (const files::Sentence& line : side->lines) table.rows.push_back({run, line});
    return table;
}

/// The findings of the checks, and which barriers are needed, where that was asked.
std::vector<emulator::Finding> findings_on_show(const Stage& stage, const Microscope& microscope) {
    const auto& inspection = stage.checks().inspection;
    if (!inspection) return {};
    std::vector<emulator::Finding> findings = inspection->verdict.findings;
    if (microscope.needs().knows(inspection->launch))
        for (emulator::Finding& barrier : microscope.needs().answer()->findings())
            findings.push_back(std::move(barrier));
    return findings;
}

std::optional<Table> table_of_the_block(const Microscope& microscope, const std::string& tab) {
    if (!microscope.ready()) return {};
    if (tab == "registers") return registers_table(microscope);
    if (tab == "order" && microscope.choice().turns) return turns_table(microscope);
    if (tab == "why" && microscope.reason()) return reason_table(*microscope.reason());
    const auto access = microscope.stepper().shared_access(microscope.warp());
    if (tab == "banks" && access) return banks_table(*access);
    return {};
}

std::optional<Table> table_of_tab(const Stage& stage, const Microscope& microscope,
                                  const std::string& tab, const ViewOptions& options) {
    const Checks& checks = stage.checks();
    if (tab == "findings" && checks.inspection)
        return experiments::findings_table(findings_on_show(stage, microscope));
    if (tab == "counters") return experiments::counters_table(checks.counters);
    if (const auto* kernel = checks.newest_counters(); tab == "lines" && kernel)
        return experiments::lines_table(
            *kernel, options.figure, [&](const std::string& file, int line) {
                return experiments::text_of_line(stage.shown().edits, file, line);
            });
    if (tab == "heat" && checks.inspection && checks.inspection->heat)
        return experiments::heat_table(*checks.inspection->heat, stage.shown().edits);
    if (const auto* ceilings = compute::known_ceilings(stage.device());
        tab == "roofline" && ceilings)
        return experiments::roofline_table(stage.timings().kernels(), *ceilings);
    if (tab == "occupancy")
        return experiments::occupancy_table(stage.timings().kernels(), options.occupancy,
                                            stage.device().compute_capability);
    if (tab == "timings") return experiments::timings_table(stage.timings().kernels());
    if (tab == "barriers" && checks.policies) return policies_table(*checks.policies);
    return table_of_the_block(microscope, tab);
}

/// The table of the open tab at the foot, where it has one, the results, and the comparison of the
/// kernels. `options` say what sorts lines, and whose occupancy is wanted.
std::vector<Table> tables_on_show(const Stage& stage, const Microscope& microscope,
                                  const std::string& tab, const ViewOptions& options) {
    std::vector<Table> tables;
    if (auto first = table_of_tab(stage, microscope, tab, options)) tables.push_back(*first);
    tables.push_back(experiments::results_table(stage.report()));
    if (stage.comparison()) tables.push_back(experiments::comparison_table(*stage.comparison()));
    return tables;
}

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
                   experiments::counters_table(
                       inspection ? inspection->counters : std::vector<emulator::KernelCounters>{}),
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
    } else if (command == Command::copy_link) {
        copy(page_address() + "#" + link_text(stage_, microscope_), tr("the link"));
    } else {
        const auto form = std::ranges::find(forms(), command, &Form::command);
        if (form == forms().end()) return false;
        copy(tables().front(), *form);
    }
    return true;
}

namespace {

/// A program that owns the clipboard: it reads its standard input, and goes on in the background
/// until something else is copied.
struct Owner {
    const char* display;  ///< the variable that says where its desktop is
    std::vector<const char*> words;
    const char* package;
};

/// A Wayland desktop shows programs for X11, too; so it is asked first.
const std::vector<Owner>& owners() {
    static const std::vector<Owner> all{
        {"WAYLAND_DISPLAY", {"wl-copy", "--type", "image/png"}, "wl-clipboard"},
        {"DISPLAY", {"xclip", "-selection", "clipboard", "-target", "image/png"}, "xclip"}};
    return all;
}

/// A file in memory.
class Memory {
  public:
    Memory() : file_(::memfd_create("picture", MFD_CLOEXEC)) { check(file_ >= 0); }
    void fill(std::span<const std::uint8_t> bytes) const {
        while (!bytes.empty()) {
            const ssize_t written = ::write(file_, bytes.data(), bytes.size());
            check(written > 0);
            bytes = bytes.subspan(std::size_t(written));
        }
        check(::lseek(file_, 0, SEEK_SET) == 0);
    }
    ~Memory() { ::close(file_); }
    Memory(const Memory&) = delete;
    Memory& operator=(const Memory&) = delete;
    int file() const { return file_; }

  private:
    static void check(bool is_done) {
        if (!is_done) throw std::runtime_error(std::strerror(errno));
    }

    int file_;
};

/// Returns an errno, and the exit status in `status`.
int run(const Owner& owner, int input, int& status) {
    compute::SpawnFiles files;
    files.give(input, 0);
    files.give_null(1, O_WRONLY);
    files.give_null(2, O_WRONLY);
    files.close_from(3);
    std::vector<char*> words;
    for (const char* word : owner.words) words.push_back(const_cast<char*>(word));
    words.push_back(nullptr);
    const compute::SpawnAttributes attributes;
    pid_t id = -1;
    const int error =
        ::posix_spawnp(&id, words[0], files.get(), attributes.get(), words.data(), environ);
    if (error == 0) ::waitpid(id, &status, 0);
    return error;
}

}  // namespace

void copy_png(std::span<const std::uint8_t> png) {
    std::string wanted;
    for (const Owner& owner : owners()) {
        if (!std::getenv(owner.display)) continue;
        const Memory memory;
        memory.fill(png);
        int status = 0;
        const int error = run(owner, memory.file(), status);
        if (error == 0 && status == 0) return;
        if (error == 0) throw std::runtime_error(tr("{} has failed", owner.words[0]));
        if (error != ENOENT) throw std::runtime_error(std::strerror(error));
        wanted += fmt::format("{}{}", wanted.empty() ? "" : " or ", owner.package);
    }
    if (wanted.empty()) throw std::runtime_error(tr("there is no desktop with a clipboard"));
    throw std::runtime_error(tr("install the package {}, which copies pictures", wanted));
}

}  // namespace warpscope::ui
