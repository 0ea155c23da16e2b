#include "experiments/launch/open_launch.h"

#include <fmt/format.h>

#include <algorithm>

#include "compiler/host/host_launches.h"
#include "compiler/host/template_kernels.h"
#include "compiler/nvrtc.h"
#include "compiler/signature.h"
#include "compiler/source_file.h"
#include "compute/device/kernel_source.h"
#include "experiments/launch/gallery.h"
#include "experiments/launch/launch.h"
#include "experiments/launch_files/memory_use.h"
#include "experiments/launch_files/propose_launch.h"

namespace warpscope::experiments {
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

/// A launch by a pointer to a function, which has no kernel's name, is one of each kernel with as
/// many parameters.
void read_host_launches(const std::string& source, std::span<compiler::Signature> signatures) {
    using compiler::HostLaunch;
    const std::vector<HostLaunch> launches = compiler::host_launches(source);
    const auto names = [](const HostLaunch& launch, const compiler::Signature& kernel) {
        return compiler::template_name(kernel.name) == launch.kernel;
    };
    for (compiler::Signature& signature : signatures) {
        auto found = std::ranges::find_if(
            launches, [&](const HostLaunch& launch) { return names(launch, signature); });
        if (found == launches.end())
            found = std::ranges::find_if(launches, [&](const HostLaunch& launch) {
                return launch.arguments.size() == signature.parameters.size() &&
                       std::ranges::none_of(
                           signatures, [&](const auto& kernel) { return names(launch, kernel); });
            });
        if (found != launches.end()) signature.host = std::make_shared<const HostLaunch>(*found);
    }
}

/// With a note and a sentence about the headers that were not found.
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
                     std::span<const compiler::ModuleVariable> variables) {
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

}  // namespace

LaunchFile find_launch_file(const std::filesystem::path& path) {
    if (in_gallery(path.string())) return gallery_file(path.string());
    if (path.extension() == ".json") return read_launch_file(path);
    const std::filesystem::path beside =
        std::filesystem::path(path).replace_extension(".launch.json");
    if (std::filesystem::exists(beside)) return read_launch_file(beside);
    LaunchFile launch;
    launch.source = path.filename();
    launch.file = beside;
    launch.saved = false;
    return launch;
}

std::string read_launch_source(const LaunchFile& file) {
    if (file.built_in)
        return std::string(compute::kernel_source(compute::kernel_path(source_key(file))));
    const std::filesystem::path path = file.in_folder(file.source);
    try {
        return compiler::read_source_file(path);
    } catch (const std::runtime_error& error) {
        throw LaunchError(fmt::format("source: {}: {}", path.string(), error.what()));
    }
}

CompiledEntry compile_launch(compute::Helpers& helpers, const LaunchFile& file,
                             const std::string& source, compute::Math math,
                             const std::stop_token& stop,
                             std::span<const compiler::Signature> before) {
    const std::vector<std::string> templates = compiler::template_kernels(source);
    const std::filesystem::path source_path = file.in_folder(file.source);
    compiler::Request request{.file = compute::kernel_path(source_key(file)),
                              .source = source,
                              .fast_math = math == compute::Math::fast};
    CompiledEntry opened;
    request.names = templates_to_compile(file, source);
    std::vector<std::filesystem::path> folders;
    for (const std::filesystem::path& folder : file.include)
        folders.push_back(file.in_folder(folder));
    opened.left_out = compiler::leave_out_host_code(request, source_path, folders);
    std::map<std::string, std::string> headers;
    for (const compiler::Header& header : request.headers)
        if (!header.path.empty()) headers[compiler::header_in_ptx(header.name)] = header.path;
    compute::CompiledSource compiled;
    try {
        compiled = helpers.compile(request, stop);
    } catch (const compiler::CompileError& error) {
        throw about_headers(error, opened.left_out);
    }
    request.debug_info = true;
    const std::string described = helpers.compile(request, stop).ptx;
    auto signatures = compiler::read_signatures(described);
    read_memory_use(compiled.ptx, signatures);
    read_host_launches(source, signatures);
    const auto variables = compiler::read_variables(described);
    std::map<std::string, std::string> names;
    for (const compiler::Signature& signature : signatures)
        if (signature.entry != signature.name) names[signature.entry] = signature.name;
    try {
        const bool may_propose = file.launches.empty() || !before.empty();
        if (signatures.empty() && !templates.empty() && may_propose) {
            LaunchFile of_template = file_without_launches(file);
            of_template.launches.push_back({.kernel = templates[0], .grid = {}, .block = {}});
            CompiledEntry anew = compile_launch(helpers, of_template, source, math, stop);
            anew.begins_anew = true;
            return anew;
        }
        if (signatures.empty())
            throw LaunchError(
                "source: it has no __global__ function that can be launched; a "
                "template needs a launch that names its arguments");
        opened.begins_anew = is_for_another_source(file, before, signatures);
        LaunchPlan plan =
            plan_launch(opened.begins_anew
                            ? propose_launch(file_without_launches(file), signatures[0], variables)
                            : completed(file, signatures, variables),
                        signatures, variables);
        // With other buffers it is another experiment.
        const bool is_new = file.launches.size() == 1 && file.launches[0].grid.empty();
        opened.begins_anew = opened.begins_anew || is_new;
        plan.proposed = opened.begins_anew;
        for (const std::string& name : templates)
            if (!find_signature(signatures, name)) plan.templates.push_back(name);
        opened.entry = launch_entry(std::make_shared<const LaunchPlan>(std::move(plan)));
    } catch (const LaunchError& error) {
        throw LaunchError(fmt::format("{}: {}", file.file.string(), error.what()));
    }
    opened.kernels = std::make_shared<const compute::KernelEdit>(
        compute::KernelEdit{.file = source_key(file),
                            .source = source,
                            .math = math,
                            .ptx = std::move(compiled.ptx),
                            .warnings = std::move(compiled.warnings),
                            .from = file.built_in ? "" : source_path.string(),
                            .names = std::move(names),
                            .headers = std::move(headers),
                            .kept = std::move(compiled.kept)});
    return opened;
}

CompiledEntry open_launch(compute::Helpers& helpers, const LaunchFile& file, compute::Math math,
                          const std::stop_token& stop) {
    return compile_launch(helpers, file, read_launch_source(file), math, stop);
}

SharedEntry launch_entry(const LaunchFile& file) {
    LaunchPlan plan = uncompiled_plan(file);
    if (file.built_in) plan.signatures = gallery_signatures(file);
    return launch_entry(std::make_shared<const LaunchPlan>(std::move(plan)));
}

}  // namespace warpscope::experiments
