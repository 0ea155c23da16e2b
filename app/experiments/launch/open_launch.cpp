#include "experiments/launch/open_launch.h"

#include <fmt/format.h>

#include <algorithm>

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

/// The kernels that exist only where they are named: templates.
std::vector<std::string> template_kernels(const LaunchFile& file) {
    std::vector<std::string> names;
    for (const LaunchSpec& launch : file.launches)
        if (launch.kernel.find('<') != std::string::npos) names.push_back(launch.kernel);
    return names;
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

OpenedLaunch compile_launch(compute::Helpers& helpers, const LaunchFile& file,
                            const std::string& source, compute::Math math,
                            const std::stop_token& stop,
                            std::span<const compiler::Signature> before) {
    const std::filesystem::path source_path = file.in_folder(file.source);
    compiler::Request request{.file = compute::kernel_path(source_key(file)),
                              .source = source,
                              .fast_math = math == compute::Math::fast};
    OpenedLaunch opened;
    request.names = template_kernels(file);
    std::vector<std::filesystem::path> folders;
    for (const std::filesystem::path& folder : file.include)
        folders.push_back(file.in_folder(folder));
    opened.left_out = compiler::leave_out_host_code(request, source_path, folders);
    std::map<std::string, std::string> headers;
    for (const compiler::Header& header : request.headers)
        if (!header.path.empty()) headers[compiler::header_in_ptx(header.name)] = header.path;
    compiler::Compiled compiled = helpers.compile(request, stop);
    request.debug_info = true;
    const std::string described = helpers.compile(request, stop).ptx;
    auto signatures = compiler::read_signatures(described);
    read_memory_use(compiled.ptx, signatures);
    const auto variables = compiler::read_variables(described);
    std::map<std::string, std::string> names;
    for (const compiler::Signature& signature : signatures)
        if (signature.entry != signature.name) names[signature.entry] = signature.name;
    try {
        if (signatures.empty())
            throw LaunchError(
                "source: it has no __global__ function that can be launched; a "
                "template needs a launch that names its arguments");
        LaunchFile launched = file;
        opened.begins_anew = is_for_another_source(file, before, signatures);
        if (opened.begins_anew)
            launched = propose_launch(file_without_launches(file), signatures[0], variables);
        opened.plan =
            std::make_shared<const LaunchPlan>(plan_launch(launched, signatures, variables));
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
                            .headers = std::move(headers)});
    return opened;
}

OpenedLaunch open_launch(compute::Helpers& helpers, const LaunchFile& file, compute::Math math,
                         const std::stop_token& stop) {
    return compile_launch(helpers, file, read_launch_source(file), math, stop);
}

SharedEntry launch_entry(const LaunchFile& file) {
    LaunchPlan plan = uncompiled_plan(file);
    if (file.built_in) plan.signatures = gallery_signatures(file);
    return launch_entry(std::make_shared<const LaunchPlan>(std::move(plan)));
}

}  // namespace warpscope::experiments
