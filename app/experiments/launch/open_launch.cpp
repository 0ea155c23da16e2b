#include "experiments/launch/open_launch.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <map>
#include <set>

#include "compiler/host/source_tokens.h"
#include "compiler/host/template_kernels.h"
#include "compiler/nvrtc.h"
#include "compiler/signature.h"
#include "compute/device/kernel_source.h"
#include "experiments/launch/captured_launch.h"
#include "experiments/launch/gallery.h"
#include "experiments/launch/launch.h"
#include "experiments/proposals/memory_use.h"
#include "experiments/proposals/propose_launch.h"
#include "experiments/launch_files/ptx_source.h"
#include "experiments/launch_files/removed_arrays.h"

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

/// Adds a note that names a limit where the compiler says only what follows from it.
compiler::CompileError about_limits(const compiler::CompileError& error) {
    std::vector<compiler::Diagnostic> said = error.diagnostics;
    for (const compiler::Diagnostic& one : error.diagnostics)
        if (one.text.find("device-side kernel launch") != std::string::npos)
            said.push_back({one.line, 0, compiler::Severity::note, "kernels can't launch kernels"});
    return {error.what(), std::move(said)};
}

/// Adds a note and a sentence about the headers that were not found.
compiler::CompileError about_headers(const compiler::CompileError& error,
                                     std::span<const compiler::LeftOut> left_out) {
    std::vector<compiler::Diagnostic> said = error.diagnostics;
    std::vector<std::string> missing;
    for (const compiler::LeftOut& part : left_out) {
        if (part.missing_header.empty()) continue;
        missing.push_back(part.missing_header);
        said.push_back({part.first_line, 0, compiler::Severity::note,
                        fmt::format("{} was not found beside the source", part.missing_header)});
    }
    if (missing.empty()) return error;
    return {
        fmt::format("{}; {} {} not found beside the source: open the source in its folder, or "
                    "paste the header over the #include",
                    error.what(), fmt::join(missing, ", "), missing.size() > 1 ? "were" : "was"),
        std::move(said)};
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

/// The words of device code, and those of the macros that it uses.
std::set<std::string> words_of(const std::string& device_code) {
    std::set<std::string> words;
    std::multimap<std::string, std::string> macros;
    for (const compiler::SourceToken& token : compiler::tokens_of(device_code)) {
        const std::string text = device_code.substr(token.begin, token.end - token.begin);
        if (token.kind == compiler::SourceToken::Kind::word) words.insert(text);
        if (token.kind != compiler::SourceToken::Kind::directive) continue;
        const std::string body = text.substr(1);
        std::string name;
        for (const compiler::SourceToken& part : compiler::tokens_of(body)) {
            const std::string word = body.substr(part.begin, part.end - part.begin);
            if (part.kind != compiler::SourceToken::Kind::word || word == "define") continue;
            if (name.empty())
                name = word;
            else
                macros.emplace(name, word);
        }
    }
    for (std::size_t before = 0; before != words.size();) {
        before = words.size();
        for (const auto& [name, word] : macros)
            if (words.contains(name)) words.insert(word);
    }
    return words;
}

/// Functions of the source that arguments name.
std::set<std::string> functions_of(const LaunchFile& file, const std::string& source) {
    std::set<std::string> found;
    const auto add = [&](const auto& self, const ArgumentSpec& value) -> void {
        for (const auto& [name, member] : value.members) self(self, member);
        for (const ArgumentSpec& element : value.elements) self(self, element);
        const std::string text = value.text.value_or("");
        const bool is_name = std::ranges::all_of(text, [](char c) {
            return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_';
        });
        if (!text.empty() && is_name && !file.find_buffer(text) &&
            std::isdigit(static_cast<unsigned char>(text[0])) == 0 &&
            (source.find(" " + text + "(") != std::string::npos ||
             source.find(" " + text + " (") != std::string::npos))
            found.insert(text);
    };
    for (const LaunchSpec& launch : file.launches)
        for (const auto& [name, value] : launch.arguments) add(add, value);
    return found;
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

/// A source and what the compiler says of it.
struct CompiledLaunch {
    compute::CompiledSource compiled;
    std::vector<compiler::Signature> signatures;
    std::vector<compiler::ModuleVariable> variables;
    std::vector<std::string> names;  ///< name expressions, as compiled.entries
    std::set<std::string> words;     ///< of the device code
    std::map<std::string, std::string> headers;
    std::string unoptimized;  ///< its PTX with debug information; empty: there is none
};

/// Returns the kernels that the host program launches, each once. A launch by a pointer to a
/// function, which has no kernel's name, is one of each kernel with as many parameters.
std::vector<ProposedKernel> kernels_of(const HostProgram& program, const CompiledLaunch& source) {
    std::vector<ProposedKernel> found;
    const auto add = [&](const compiler::Signature& kernel, const HostLaunch& launch) {
        const bool is_known = std::ranges::any_of(found, [&](const ProposedKernel& other) {
            return other.kernel == &kernel && *other.host == launch;
        });
        if (!is_known && found.size() < most_proposed) found.push_back({&kernel, &launch});
    };
    const auto has_name = [](const compiler::Signature& kernel, const HostLaunch& launch) {
        return compiler::template_name(kernel.name) == launch.kernel;
    };
    for (const HostLaunch& launch : program.launches) {
        if (takes_lambda(launch)) continue;
        const auto compiled = std::ranges::find_if(source.names, [&](const std::string& name) {
            return name.find('<') != std::string::npos && name == name_expression(launch, name);
        });
        const bool is_template = !launch.templates.empty() && compiled != source.names.end();
        const std::string entry =
            is_template ? source.compiled.entries[std::size_t(compiled - source.names.begin())]
                        : "";
        const bool is_named = std::ranges::any_of(
            source.signatures, [&](const auto& kernel) { return has_name(kernel, launch); });
        for (const compiler::Signature& kernel : source.signatures) {
            const bool is_it = is_template ? kernel.entry == entry
                               : is_named  ? has_name(kernel, launch)
                                           : launch.templates.empty() &&
                                                launch.arguments.size() == kernel.parameters.size();
            if (is_it) add(kernel, launch);
            if (is_it && is_named) break;
        }
    }
    return found;
}

std::vector<std::filesystem::path> folders_of(const LaunchFile& file) {
    std::vector<std::filesystem::path> folders;
    for (const std::filesystem::path& folder : file.include)
        folders.push_back(file.in_folder(folder));
    return folders;
}

CompiledLaunch without_compiler(const std::string& ptx, const LaunchFile& file) {
    CompiledLaunch found;
    PtxKernels kernels = kernels_of_ptx(ptx, file);
    found.compiled.ptx = ptx;
    found.signatures = std::move(kernels.signatures);
    found.variables = std::move(kernels.variables);
    read_memory_use(ptx, found.signatures);
    return found;
}

CompiledLaunch compiled_for(compute::Helpers& helpers, const LaunchFile& file,
                            const std::string& source, std::vector<std::string> names,
                            compute::Math math, std::vector<compiler::LeftOut>& left_out,
                            const std::stop_token& stop) {
    if (is_ptx(file)) return without_compiler(source, file);
    compiler::Request request{compute::kernel_path(source_key(file)), source,
                              math == compute::Math::fast};
    request.names = std::move(names);
    request.target = file.target;
    left_out =
        compiler::leave_out_host_code(request, file.in_folder(file.source), folders_of(file));
    CompiledLaunch found;
    const auto of_program = ptx_of_program(file, source, request.file);
    for (compiler::Header& header : request.headers)
        if (header.name == compiler::implied_header)
            for (const auto& [name, value] : file.defines)
                header.text += fmt::format("#define {} {}\n", name, value);
    found.words = words_of(request.source);
    for (const std::string& function : functions_of(file, source))
        request.source +=
            fmt::format("\n__device__ auto {} = &{};", address_variable(function), function);
    for (const compiler::Header& header : request.headers)
        if (!header.path.empty()) found.headers[compiler::header_in_ptx(header.name)] = header.path;
    try {
        found.compiled = helpers.compile(request, stop);
    } catch (const compiler::CompileError& error) {
        if (of_program) return without_compiler(*of_program, file);
        throw about_headers(about_limits(error), left_out);
    } catch (const compiler::NoCompiler&) {
        if (of_program) return without_compiler(*of_program, file);
        throw;
    }
    found.names = request.names;
    request.debug_info = true;
    const std::string described = helpers.compile(request, stop).ptx;
    found.signatures = compiler::read_signatures(described);
    const auto has = [&](const LaunchSpec& launch) {
        const auto* const kernel = find_signature(found.signatures, launch.kernel);
        return kernel && has_kernel(*of_program, kernel->entry);
    };
    if (of_program && std::ranges::all_of(file.launches, has)) {
        found.compiled.ptx = *of_program;
        found.compiled.kept = nullptr;
    }
    read_memory_use(found.compiled.ptx, found.signatures);
    found.variables = compiler::read_variables(described);
    if (of_program) return found;
    for (compiler::Diagnostic& note : removed_arrays(found.compiled.ptx, described, request.file))
        found.compiled.warnings.push_back(std::move(note));
    found.unoptimized = described;
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
            plan.reduced = std::move(proposed.reduced);
            plan.not_launched = refused;
            for (const HostLaunch& launch : program.launches)
                if (takes_lambda(launch))
                    plan.not_launched.push_back(launch.kernel + " with a lambda");
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

}  // namespace

CompiledEntry compile_launch(compute::Helpers& helpers, const LaunchFile& file,
                             const std::string& source, compute::Math math,
                             const std::stop_token& stop,
                             std::span<const compiler::Signature> before) {
    const std::vector<std::string> templates = compiler::template_kernels(source);
    const std::filesystem::path source_path = file.in_folder(file.source);
    const auto program = std::make_shared<const HostProgram>(
        read_host_program(compiler::with_own_headers(source, source_path, folders_of(file))));
    CompiledEntry opened;
    const bool has_launches = !file.launches.empty();
    std::vector<std::string> names =
        has_launches ? templates_to_compile(file, source) : templates_of(*program, templates);
    CompiledLaunch compiled;
    try {
        compiled = compiled_for(helpers, file, source, names, math, opened.left_out, stop);
    } catch (const compiler::CompileError& error) {
        // The arguments of a template may be names that only the host program knows.
        const bool is_name =
            std::string_view(error.what()).find("__nv_name_map") != std::string::npos;
        if (has_launches || !is_name) throw;
        compiled = compiled_for(helpers, file, source, {}, math, opened.left_out, stop);
    }
    std::map<std::string, std::string> readable;
    for (const compiler::Signature& signature : compiled.signatures)
        if (signature.entry != signature.name) readable[signature.entry] = signature.name;
    try {
        const bool may_propose = !has_launches || !before.empty();
        const auto lambda = std::ranges::find_if(program->launches, takes_lambda);
        if (compiled.signatures.empty() && may_propose && lambda != program->launches.end())
            throw LaunchError(
                fmt::format("source: an argument of kernel {} is a lambda, whose type has no name "
                            "that a launch could give: make it a struct with operator()",
                            lambda->kernel));
        if (compiled.signatures.empty() && !templates.empty() && may_propose) {
            LaunchFile of_template = file_without_launches(file);
            of_template.launches.push_back({.kernel = templates[0], .grid = {}, .block = {}});
            CompiledEntry anew = compile_launch(helpers, of_template, source, math, stop);
            anew.begins_anew = true;
            return anew;
        }
        if (compiled.signatures.empty())
            throw LaunchError(
                "source: it has no __global__ function that can be launched; a "
                "template needs a launch that names its arguments");
        opened.begins_anew = is_for_another_source(file, before, compiled.signatures);
        // A template that was named and no more.
        const bool is_new = file.launches.size() == 1 && file.launches[0].grid.empty();
        LaunchPlan plan =
            opened.begins_anew || is_new
                ? proposed_plan(file, compiled, *program)
                : plan_launch(completed(file, compiled.signatures, *program, compiled.variables),
                              compiled.signatures, compiled.variables);
        // With other buffers it is another experiment.
        opened.begins_anew = opened.begins_anew || is_new;
        plan.proposed = opened.begins_anew;
        const auto is_captured = [](const LaunchSpec& launch) { return !launch.captured.empty(); };
        if (std::ranges::any_of(file.launches, is_captured)) opened.begins_anew = true;
        plan.host = program;
        for (const std::string& name : templates)
            if (std::ranges::none_of(compiled.signatures, [&](const auto& kernel) {
                    return compiler::template_name(kernel.name) == compiler::template_name(name);
                }))
                plan.templates.push_back(name);
        if (plan.proposed)
            plan.not_launched.insert(plan.not_launched.end(), plan.templates.begin(),
                                     plan.templates.end());
        opened.plan = std::make_shared<const LaunchPlan>(std::move(plan));
        opened.entry = launch_entry(opened.plan);
    } catch (const LaunchError& error) {
        if (file.saved) throw LaunchError(fmt::format("{}: {}", file.file.string(), error.what()));
        throw LaunchError(fmt::format("{}: no launch can be proposed: {}; write a launch file",
                                      source_path.string(), error.what()));
    }
    opened.kernels = std::make_shared<const compute::KernelEdit>(
        compute::KernelEdit{.file = source_key(file),
                            .source = source,
                            .math = math,
                            .ptx = std::move(compiled.compiled.ptx),
                            .warnings = std::move(compiled.compiled.warnings),
                            .unoptimized = std::move(compiled.unoptimized),
                            .from = file.built_in ? "" : source_path.string(),
                            .names = std::move(readable),
                            .headers = std::move(compiled.headers),
                            .kept = std::move(compiled.compiled.kept)});
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
