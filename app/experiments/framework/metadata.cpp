#include "experiments/framework/metadata.h"

#include <fmt/format.h>

#include <algorithm>

#include "compute/device/words.h"

namespace warpscope::experiments {
namespace {

bool emulated(Experiment& experiment) {
    return experiment.device().info().kind == compute::DeviceKind::emulator;
}

std::string device_word(Experiment& experiment) {
    return emulated(experiment) ? "emulator"
                                : fmt::format("cuda:{}", experiment.device().info().ordinal);
}

/// The option that runs the edited kernels again: the file, or the folder of several files. Empty
/// if there are none or if no option can load them.
std::string kernels_option(const Experiment& experiment) {
    const compute::KernelEdits& edits = experiment.device().edits();
    if (edits.empty()) return {};
    const auto& [first, edit] = *edits.begin();
    if (edits.size() == 1 && first == experiment.kernel_file() && !edit->from.empty())
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

std::string command(Experiment& experiment, const Entry& entry, Size size, bool view_only) {
    const compute::RunSettings& run = experiment.device().settings();
    std::string line = fmt::format("warpscope --headless --experiment {} --device {} --math {}",
                                   entry.id, device_word(experiment), compute::name(run.math));
    if (emulated(experiment)) {
        line += fmt::format(" --schedule {} --seed {}", compute::name(run.schedule), run.seed);
        if (run.barriers != compute::BarrierPolicy::volta)
            line += fmt::format(" --barriers {}", compute::name(run.barriers));
    }
    line += kernels_option(experiment);
    for (const Parameter* p : experiment.parameters().all())
        if (p->text() != p->default_text())
            line += " --set " + shell_word(fmt::format("{}.{}={}", entry.id, p->id(), p->text()));
    line += fmt::format(" --frames {} --size {}x{}", experiment.frame(), size.width, size.height);
    return line + (view_only ? " --view-only" : "") + " --screenshot picture.png";
}

bool racy(Experiment& experiment) {
    const Report report = experiment.report();
    return std::any_of(report.begin(), report.end(), [](const Reading& r) {
        return r.verdict != Verdict::none && r.verdict != Verdict::pass;
    });
}

std::string reproducible(Experiment& experiment) {
    if (experiment.changed_since_reset())
        return "no: parameters were changed after frame 0, so these settings and the frame number "
               "alone do not give this picture";
    const bool edited = !experiment.device().edits().empty();
    if (edited && kernels_option(experiment).empty())
        return "no: the kernel was edited, and no command can load the edit; this file has its "
               "text";
    const std::string unless =
        edited ? ", if the kernel's file still has the text in this file" : "";
    if (emulated(experiment)) return "yes: the command makes an equal picture" + unless;
    if (racy(experiment))
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

Metadata describe(Experiment& experiment, const Entry& entry, Size size, bool view_only) {
    const compute::DeviceInfo& info = experiment.device().info();
    const compute::RunSettings& run = experiment.device().settings();
    Metadata list{{"Title", entry.title}, {"Software", "Warpscope"}, {"experiment", entry.id}};
    for (const Parameter* p : experiment.parameters().all())
        list.emplace_back(entry.id + "." + p->id(), p->text());
    list.emplace_back("device", info.name);
    list.emplace_back("device.reason", info.reason);
    list.emplace_back("math", compute::name(run.math));
    if (emulated(experiment)) {
        list.emplace_back("schedule", compute::name(run.schedule));
        list.emplace_back("seed", fmt::format("{}", run.seed));
        list.emplace_back("barriers", compute::name(run.barriers));
    }
    list.emplace_back("frame", fmt::format("{}", experiment.frame()));
    list.emplace_back("command", command(experiment, entry, size, view_only));
    list.emplace_back("reproducible", reproducible(experiment));
    for (const auto& [file, edit] : experiment.device().edits())
        list.emplace_back("kernels/" + file + ".cu", edit->source);
    return list;
}

}  // namespace warpscope::experiments
