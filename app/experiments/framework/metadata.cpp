#include "experiments/framework/metadata.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "compute/device/enum_words.h"
#include "compute/device/kernel_files.h"

namespace warpscope::experiments {
namespace {

bool emulated(const Described& described) {
    return described.device.kind == compute::DeviceKind::emulator;
}

std::string device_word(const Described& described) {
    return emulated(described) ? "emulator" : fmt::format("cuda:{}", described.device.ordinal);
}

/// The option that runs the edited kernels again: the file, or the folder of several files. Empty
/// if there are none or if no option can load them.
std::string kernels_option(const Described& described) {
    const compute::KernelEdits& edits = described.edits;
    // A launch file names its source.
    if (edits.empty() || !described.entry.built_in || !described.entry.launch_file.empty())
        return {};
    const auto& [first, edit] = *edits.begin();
    if (edits.size() == 1 && first == described.parameters.kernel_file() && !edit->from.empty())
        return " --kernel-source " + shell_word(edit->from);
    const auto folder_of = [](const std::string& file, const compute::KernelEdit& edit) {
        const std::string name = file + ".cu";
        if (!edit.from.ends_with("/" + name)) return std::string();
        return edit.from.substr(0, edit.from.size() - name.size());
    };
    const std::string folder = folder_of(first, *edit);
    for (const auto& [file, other] : edits)
        if (folder.empty() || folder_of(file, *other) != folder) return {};
    return " --kernels " + shell_word(folder);
}

std::string command(const Described& described, Size size, bool view_only) {
    const compute::RunSettings& run = described.run;
    const std::string& launch = described.entry.launch_file;
    std::string line = fmt::format(
        "warpscope --headless {} --device {} --math {}",
        launch.empty() ? "--experiment " + described.entry.id : "--launch " + shell_word(launch),
        device_word(described), compute::name(run.math));
    if (emulated(described)) {
        line += fmt::format(" --schedule {} --seed {}",
                            run.turns ? shell_word(run.turns->name) : compute::name(run.schedule),
                            run.seed);
        if (run.barriers != compute::BarrierPolicy::volta)
            line += fmt::format(" --barriers {}", compute::name(run.barriers));
        if (run.landing != compute::Landing::random)
            line += fmt::format(" --landing {}", compute::name(run.landing));
    }
    line += kernels_option(described);
    for (const Parameter* p : described.parameters.all())
        if (p->text() != p->default_text())
            line += " --set " +
                    shell_word(fmt::format("{}.{}={}", described.entry.id, p->id(), p->text()));
    line += fmt::format(" --frames {} --size {}x{}", described.frame, size.width, size.height);
    return line + (view_only ? " --view-only" : "") + " --screenshot picture.png";
}

bool racy(const Described& described) {
    return std::any_of(described.report.begin(), described.report.end(), [](const Reading& r) {
        return r.verdict != Verdict::none && r.verdict != Verdict::pass;
    });
}

std::string reproducible(const Described& described) {
    if (described.changed_since_reset)
        return "no: parameters were changed after frame 0, so these settings and the frame number "
               "alone do not give this picture";
    const bool edited = !described.edits.empty();
    const bool names_source = !described.entry.built_in && !described.entry.launch_file.empty();
    if (edited && !names_source && kernels_option(described).empty())
        return "no: the kernel was edited, and no command can load the edit; this file has its "
               "text";
    const std::string unless =
        edited ? ", if the kernel's file still has the text in this file" : "";
    if (emulated(described)) return "yes: the command makes an equal picture" + unless;
    if (racy(described))
        return "no: the kernel races, and each run on a GPU gives another picture; the command "
               "makes a similar one";
    return "yes, on the same model of GPU" + unless;
}

}  // namespace

std::string shell_word(const std::string& word) {
    const bool plain = !word.empty() && std::all_of(word.begin(), word.end(), [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
               std::string_view("-_./=:,+@%").find(c) != std::string_view::npos;
    });
    if (plain) return word;
    std::string quoted = "'";
    for (const char c : word) quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
    return quoted + "'";
}

Metadata describe(const Described& described, Size size, bool view_only) {
    const Entry& entry = described.entry;
    const compute::DeviceInfo& info = described.device;
    const compute::RunSettings& run = described.run;
    Metadata list{{"Title", entry.title}, {"Software", "Warpscope"}, {"experiment", entry.id}};
    if (!entry.launch_file.empty())
        list.emplace_back("launch file",
                          entry.built_in ? entry.launch_file
                                         : std::filesystem::absolute(entry.launch_file).string());
    for (const Parameter* p : described.parameters.all())
        list.emplace_back(entry.id + "." + p->id(), p->text());
    list.emplace_back("device", info.name);
    list.emplace_back("device.reason", info.reason);
    list.emplace_back("math", compute::name(run.math));
    if (emulated(described)) {
        list.emplace_back("schedule", compute::name(run.schedule));
        if (run.turns) list.emplace_back("schedule file", run.turns->text());
        list.emplace_back("seed", fmt::format("{}", run.seed));
        list.emplace_back("barriers", compute::name(run.barriers));
        list.emplace_back("landing", compute::name(run.landing));
    }
    list.emplace_back("frame", fmt::format("{}", described.frame));
    list.emplace_back("command", command(described, size, view_only));
    list.emplace_back("reproducible", reproducible(described));
    for (const auto& [file, edit] : described.edits)
        list.emplace_back(compute::kernel_path(file), edit->source);
    return list;
}

Metadata describe(Experiment& experiment, const Entry& entry, Size size, bool view_only) {
    const compute::Device& device = experiment.device();
    return describe(
        {entry, experiment.parameters(), device.info(), device.settings(), device.edits(),
         experiment.frame(), experiment.changed_since_reset(), experiment.report()},
        size, view_only);
}

}  // namespace warpscope::experiments
