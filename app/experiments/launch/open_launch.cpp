#include "experiments/launch/open_launch.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>

#include "compiler/host/template_kernels.h"
#include "compiler/nvrtc.h"
#include "compiler/source_file.h"
#include "experiments/launch/captured_launch.h"
#include "experiments/launch/compiled_launch.h"
#include "experiments/launch/gallery.h"
#include "experiments/launch/launch.h"
#include "experiments/proposals/propose_launch.h"

namespace warpscope::experiments {

using namespace launches;
namespace {

/// The kernels of the launches that exist only where they are named: templates. A person may have
/// put another source in the place of theirs, which does not have them.
std::vector<std::string> templates_to_compile(const LaunchFile& file, const std::string& source) {
    const bool has_headers = source.find("#include \"") != std::string::npos;
    std::vector<std::string> names;
    for (const LaunchSpec& launch : file.launches)
        if (launch.kernel.find('<') != std::string::npos &&
            (has_headers ||
             source.find(compiler::template_name(launch.kernel)) != std::string::npos))
            names.push_back(launch.kernel);
    return names;
}

/// The file with a proposed launch in place of each that says no more than its kernel.
LaunchFile completed(LaunchFile file, std::span<const compiler::Signature> signatures,
                     std::span<const compiler::ModuleVariable> variables) {
    file = with_named_arguments(std::move(file), signatures, variables);
    std::vector<std::string> names;
    for (const compiler::ModuleVariable& variable : variables) names.push_back(variable.name);
    for (std::size_t i = 0; i < file.launches.size(); ++i) {
        if (!file.launches[i].grid.empty()) continue;
        if (const auto* kernel = find_signature(signatures, file.launches[i].kernel))
            file = replace_launch(std::move(file), i, *kernel, names);
    }
    return file;
}

bool is_for_another_source(const LaunchFile& file, std::span<const compiler::Signature> before,
                           std::span<const compiler::Signature> now) {
    return std::ranges::all_of(file.launches, [&](const LaunchSpec& launch) {
        return find_signature(before, launch.kernel) && !find_signature(now, launch.kernel);
    });
}

/// A proposed launch of the kernel that the file names, or else of the first one.
LaunchPlan proposed_plan(const LaunchFile& file, const CompiledLaunch& source) {
    const compiler::Signature* kernel = nullptr;
    if (!file.launches.empty()) kernel = find_signature(source.signatures, file.launches[0].kernel);
    if (!kernel) kernel = source.signatures.data();
    ProposedLaunch proposed =
        propose_launch(file_without_launches(file), *kernel, source.variables);
    LaunchPlan plan = plan_launch(proposed.file, source.signatures, source.variables);
    plan.guesses = std::move(proposed.guesses);
    return plan;
}

/// Compiles the source with the templates that the file launches.
CompiledLaunch compile_with_templates(compute::Helpers& helpers, const LaunchFile& file,
                                      const std::string& source, compute::Math math,
                                      const std::stop_token& stop) {
    const std::vector<std::string> names = templates_to_compile(file, source);
    try {
        return compile_source(helpers, file, source, names, math, stop);
    } catch (const compiler::CompileError& error) {
        const bool is_in_source =
            std::ranges::any_of(error.diagnostics, [](const compiler::Diagnostic& one) {
                return one.severity == compiler::Severity::error && one.line > 0;
            });
        if (names.empty() || is_in_source) throw;
        (void)compile_source(helpers, file, source, {}, math, stop);  // else the source is at fault
        throw LaunchError(
            fmt::format("the arguments of the template in {} are not those that its kernel takes",
                        fmt::join(names, ", ")));
    }
}

/// `is_new`: the launches of the file give way to a proposed one.
LaunchPlan plan_of(const LaunchFile& file, const CompiledLaunch& source, bool is_new) {
    LaunchPlan plan = is_new ? proposed_plan(file, source)
                             : plan_launch(completed(file, source.signatures, source.variables),
                                           source.signatures, source.variables);
    for (const std::string& name : source.templates)
        if (std::ranges::none_of(source.signatures, [&](const auto& kernel) {
                return compiler::template_name(kernel.name) == compiler::template_name(name);
            }))
            plan.templates.push_back(name);
    return plan;
}

std::shared_ptr<const compute::KernelEdit> edit_of(CompiledLaunch source, const LaunchFile& file,
                                                   const std::string& text, compute::Math math) {
    std::map<std::string, std::string> readable;
    for (const compiler::Signature& signature : source.signatures)
        if (signature.entry != signature.name) readable[signature.entry] = signature.name;
    return std::make_shared<const compute::KernelEdit>(
        compute::KernelEdit{.file = source_key(file),
                            .source = text,
                            .math = math,
                            .ptx = std::move(source.compiled.ptx),
                            .warnings = std::move(source.compiled.warnings),
                            .unoptimized = std::move(source.unoptimized),
                            .from = file.built_in ? "" : file.in_folder(file.source).string(),
                            .names = std::move(readable),
                            .headers = std::move(source.headers),
                            .kept = std::move(source.compiled.kept)});
}

}  // namespace

CompiledEntry compile_launch(compute::Helpers& helpers, const LaunchFile& file,
                             const std::string& source, compute::Math math,
                             const std::stop_token& stop,
                             std::span<const compiler::Signature> before) {
    CompiledLaunch compiled = compile_with_templates(helpers, file, source, math, stop);
    CompiledEntry opened;
    opened.left_out = std::move(compiled.left_out);
    try {
        const bool may_propose = file.launches.empty() || !before.empty();
        if (compiled.signatures.empty() && !compiled.templates.empty() && may_propose) {
            LaunchFile of_template = file_without_launches(file);
            of_template.launches.push_back(
                {.kernel = compiled.templates[0], .grid = {}, .block = {}});
            CompiledEntry anew = compile_launch(helpers, of_template, source, math, stop);
            anew.begins_anew = true;
            return anew;
        }
        if (compiled.signatures.empty())
            throw LaunchError(
                "source: it has no __global__ function that can be launched; a template needs a "
                "launch that names its arguments");
        // A template that was named and no more. With other buffers it is another experiment.
        const bool is_named = file.launches.size() == 1 && file.launches[0].grid.empty();
        const bool is_new = is_named || is_for_another_source(file, before, compiled.signatures);
        const auto is_captured = [](const LaunchSpec& launch) { return !launch.captured.empty(); };
        opened.begins_anew = is_new || std::ranges::any_of(file.launches, is_captured);
        opened.plan = std::make_shared<const LaunchPlan>(plan_of(file, compiled, is_new));
        opened.entry = launch_entry(opened.plan);
    } catch (const LaunchError& error) {
        if (file.saved) throw LaunchError(fmt::format("{}: {}", file.file.string(), error.what()));
        throw LaunchError(fmt::format("{}: no launch can be proposed: {}; write a launch file",
                                      file.in_folder(file.source).string(), error.what()));
    }
    opened.kernels = edit_of(std::move(compiled), file, source, math);
    return opened;
}

CompiledEntry open_launch(compute::Helpers& helpers, const LaunchFile& file, compute::Math math,
                          const std::stop_token& stop) {
    return compile_launch(helpers, file, read_launch_source(file), math, stop);
}

std::shared_ptr<const emulator::ScheduleFile> read_schedule(const LaunchFile& file) {
    if (file.schedule.empty()) return nullptr;
    const std::string path = file.in_folder(file.schedule).string();
    try {
        return std::make_shared<emulator::ScheduleFile>(
            emulator::ScheduleFile::parse(compiler::read_source_file(path), path));
    } catch (const std::exception& error) {
        throw LaunchError(fmt::format("{}: schedule: {}", file.file.string(), error.what()));
    }
}

SharedEntry launch_entry(const LaunchFile& file) {
    LaunchPlan plan = uncompiled_plan(file);
    if (file.built_in) plan.signatures = gallery_signatures(file);
    return launch_entry(std::make_shared<const LaunchPlan>(std::move(plan)));
}

}  // namespace warpscope::experiments
