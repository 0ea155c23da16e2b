#include "experiments/launch/open_launch.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
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
namespace {

/// Launches of a host program that are proposed.
constexpr std::size_t most_proposed = 24;

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
                     const HostProgram& program,
                     std::span<const compiler::ModuleVariable> variables) {
    file = with_named_arguments(std::move(file), signatures, variables);
    std::vector<std::string> names;
    for (const compiler::ModuleVariable& variable : variables) names.push_back(variable.name);
    for (std::size_t i = 0; i < file.launches.size(); ++i) {
        if (!file.launches[i].grid.empty()) continue;
        if (const auto* kernel = find_signature(signatures, file.launches[i].kernel))
            file = replace_launch(std::move(file), i, *kernel, program, names);
    }
    return file;
}

bool is_for_another_source(const LaunchFile& file, std::span<const compiler::Signature> before,
                           std::span<const compiler::Signature> now) {
    return std::ranges::all_of(file.launches, [&](const LaunchSpec& launch) {
        return find_signature(before, launch.kernel) && !find_signature(now, launch.kernel);
    });
}

/// The name expression of a launch of a template. `known` is another one, with the namespaces.
std::string name_expression(const HostLaunch& launch, const std::string& known) {
    const std::size_t namespaces = known.find('<') - compiler::template_name(known).size();
    return fmt::format("{}{}<{}>", known.substr(0, namespaces), launch.kernel,
                       fmt::join(launch.templates, ", "));
}

/// An argument is a lambda, whose type has no name.
bool takes_lambda(const HostLaunch& launch) {
    return std::ranges::any_of(launch.arguments,
                               [](const std::string& text) { return text.starts_with("["); });
}

/// Name expressions of the templates that the host program launches.
std::vector<std::string> templates_of(const HostProgram& program,
                                      std::span<const std::string> templates) {
    std::vector<std::string> names;
    for (const HostLaunch& launch : program.launches) {
        const auto found = std::ranges::find_if(templates, [&](const std::string& name) {
            return compiler::template_name(name) == launch.kernel;
        });
        if (found == templates.end() || takes_lambda(launch)) continue;
        const std::string name =
            launch.templates.empty() ? *found : name_expression(launch, *found);
        if (std::ranges::find(names, name) == names.end()) names.push_back(name);
    }
    return names;
}

/// Returns the kernels that the host program launches, each once. A launch by a pointer to a
/// function, which has no kernel's name, is one of each kernel with as many parameters.
std::vector<ProposedKernel> kernels_of(const HostProgram& program, const CompiledLaunch& source) {
    std::vector<ProposedKernel> found;
    const auto add = [&](const compiler::Signature& kernel, const HostLaunch& launch,
                         bool guesses_template) {
        const bool is_known = std::ranges::any_of(found, [&](const ProposedKernel& other) {
            return other.kernel == &kernel && *other.host == launch;
        });
        if (!is_known && found.size() < most_proposed)
            found.push_back({&kernel, &launch, guesses_template});
    };
    const auto has_name = [](const compiler::Signature& kernel, const HostLaunch& launch) {
        return compiler::template_name(kernel.name) == launch.kernel;
    };
    for (const HostLaunch& launch : program.launches) {
        if (takes_lambda(launch)) continue;
        const auto compiled = std::ranges::find_if(source.names, [&](const std::string& name) {
            return name.find('<') != std::string::npos && name == name_expression(launch, name);
        });
        // Of the instance that the launch names; "f<>", too, whose arguments all have defaults.
        const std::string entry =
            compiled == source.names.end()
                ? ""
                : source.compiled.entries[std::size_t(compiled - source.names.begin())];
        const bool is_template = !launch.templates.empty() && !entry.empty();
        const bool is_named = std::ranges::any_of(
            source.signatures, [&](const auto& kernel) { return has_name(kernel, launch); });
        for (const compiler::Signature& kernel : source.signatures) {
            const bool is_it = is_template ? kernel.entry == entry
                               : is_named  ? has_name(kernel, launch)
                                           : launch.templates.empty() &&
                                                launch.arguments.size() == kernel.parameters.size();
            const bool is_instance = kernel.name.find('<') != std::string::npos;
            if (is_it) add(kernel, launch, is_instance && kernel.entry != entry);
            if (is_it && is_named) break;
        }
    }
    return found;
}

/// The launches of the host program, each once, or one of the first kernel.
LaunchPlan proposed_plan(const LaunchFile& file, const CompiledLaunch& source,
                         const HostProgram& program) {
    std::vector<ProposedKernel> kernels = kernels_of(program, source);
    if (kernels.empty()) kernels.push_back({source.signatures.data(), nullptr});
    std::vector<std::string> refused;
    for (;;) {
        ProposedLaunches proposed = propose_launches(file_without_launches(file), kernels, program,
                                                     source.variables, source.words);
        try {
            LaunchPlan plan = plan_launch(proposed.file, source.signatures, source.variables);
            plan.guesses = std::move(proposed.guesses);
            plan.chosen = std::move(proposed.chosen);
            plan.reduced = std::move(proposed.reduced);
            plan.faults = std::move(proposed.faults);
            plan.remarks = std::move(proposed.remarks);
            plan.written = std::move(proposed.written);
            plan.not_launched = refused;
            const auto leave_out = [&](std::string what) {
                if (std::ranges::find(plan.not_launched, what) == plan.not_launched.end())
                    plan.not_launched.push_back(std::move(what));
            };
            for (const std::string& launches : program.left_out) leave_out(launches);
            for (const HostLaunch& launch : program.launches)
                if (takes_lambda(launch))
                    leave_out(launch.kernel + " with a lambda");
                else if (launch.repeats)
                    leave_out("further passes of the loop around " + launch.kernel);
            for (const compiler::Signature& kernel : source.signatures)
                if (std::ranges::none_of(
                        plan.launches,
                        [&](const BoundLaunch& launch) { return launch.entry == kernel.entry; }) &&
                    std::ranges::find(refused, kernel.name) == refused.end())
                    plan.not_launched.push_back(kernel.name);
            return plan;
        } catch (const LaunchError& error) {
            // The others are launched.
            const std::string_view message = error.what();
            std::size_t index = kernels.size();
            const std::string_view place = "launches[";
            if (message.starts_with(place))
                std::from_chars(message.data() + place.size(), message.data() + message.size(),
                                index);
            if (kernels.size() == 1 || index >= kernels.size()) throw;
            refused.push_back(kernels[index].kernel->name);
            kernels.erase(kernels.begin() + std::ptrdiff_t(index));
        }
    }
}

/// Compiles the source with the templates that the file or the host program launches.
CompiledLaunch compile_with_templates(compute::Helpers& helpers, const LaunchFile& file,
                                      const std::string& source, const HostProgram& program,
                                      std::span<const std::string> templates, compute::Math math,
                                      const std::stop_token& stop) {
    const bool has_launches = !file.launches.empty();
    try {
        return compile_source(
            helpers, file, source,
            has_launches ? templates_to_compile(file, source) : templates_of(program, templates),
            math, stop);
    } catch (const compiler::CompileError& error) {
        // The arguments of a template may be names that only the host program knows.
        const bool is_name =
            std::string_view(error.what()).find("__nv_name_map") != std::string::npos;
        if (is_name && has_launches)
            throw LaunchError(fmt::format(
                "the arguments of the template in {} are not those that its kernel takes",
                fmt::join(templates_to_compile(file, source), ", ")));
        if (!is_name) throw;
        return compile_source(helpers, file, source, {}, math, stop);
    }
}

/// Throws LaunchError.
[[noreturn]] void fail_without_kernels(const HostProgram& program, bool may_propose) {
    const auto lambda = std::ranges::find_if(program.launches, takes_lambda);
    if (may_propose && lambda != program.launches.end())
        throw LaunchError(
            fmt::format("source: an argument of kernel {} is a lambda, whose type has no name "
                        "that a launch could give: make it a struct with operator()",
                        lambda->kernel));
    throw LaunchError(
        "source: it has no __global__ function that can be launched; a "
        "template needs a launch that names its arguments");
}

/// `is_new`: the launches of the file give way to proposed ones.
LaunchPlan plan_of(const LaunchFile& file, const CompiledLaunch& source,
                   const std::shared_ptr<const HostProgram>& program,
                   std::span<const std::string> templates, bool is_new) {
    LaunchPlan plan =
        is_new ? proposed_plan(file, source, *program)
               : plan_launch(completed(file, source.signatures, *program, source.variables),
                             source.signatures, source.variables);
    plan.proposed = is_new;
    plan.host = program;
    for (const std::string& name : templates)
        if (std::ranges::none_of(source.signatures, [&](const auto& kernel) {
                return compiler::template_name(kernel.name) == compiler::template_name(name);
            }))
            plan.templates.push_back(name);
    if (plan.proposed)
        plan.not_launched.insert(plan.not_launched.end(), plan.templates.begin(),
                                 plan.templates.end());
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
    const std::filesystem::path source_path = file.in_folder(file.source);
    const std::string all = compiler::with_own_headers(source, source_path, folders_of(file));
    const std::vector<std::string> templates = compiler::template_kernels(all);
    const auto program =
        std::make_shared<const HostProgram>(read_host_program(all, all.size() - source.size() - 1));
    CompiledLaunch compiled =
        compile_with_templates(helpers, file, source, *program, templates, math, stop);
    CompiledEntry opened;
    opened.left_out = std::move(compiled.left_out);
    try {
        const bool may_propose = file.launches.empty() || !before.empty();
        const bool has_lambda = std::ranges::any_of(program->launches, takes_lambda);
        if (compiled.signatures.empty() && !templates.empty() && may_propose && !has_lambda) {
            LaunchFile of_template = file_without_launches(file);
            of_template.launches.push_back({.kernel = templates[0], .grid = {}, .block = {}});
            CompiledEntry anew = compile_launch(helpers, of_template, source, math, stop);
            anew.begins_anew = true;
            return anew;
        }
        if (compiled.signatures.empty()) fail_without_kernels(*program, may_propose);
        // A template that was named and no more. With other buffers it is another experiment.
        const bool is_named = file.launches.size() == 1 && file.launches[0].grid.empty();
        const bool is_new = is_named || is_for_another_source(file, before, compiled.signatures);
        const auto is_captured = [](const LaunchSpec& launch) { return !launch.captured.empty(); };
        opened.begins_anew = is_new || std::ranges::any_of(file.launches, is_captured);
        opened.plan =
            std::make_shared<const LaunchPlan>(plan_of(file, compiled, program, templates, is_new));
        opened.entry = launch_entry(opened.plan);
    } catch (const LaunchError& error) {
        if (file.saved) throw LaunchError(fmt::format("{}: {}", file.file.string(), error.what()));
        throw LaunchError(fmt::format("{}: no launch can be proposed: {}; write a launch file",
                                      source_path.string(), error.what()));
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
