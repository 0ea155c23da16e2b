#include "experiments/launch/open_launch.h"

#include <fmt/format.h>

#include "compiler/nvrtc.h"
#include "compiler/signature.h"
#include "compiler/source_file.h"
#include "compute/device/kernel_source.h"

namespace warpscope::experiments {
namespace {

std::string read_source(const std::filesystem::path& path) {
    try {
        return compiler::read_source_file(path);
    } catch (const std::runtime_error& error) {
        throw LaunchError(fmt::format("source: {}: {}", path.string(), error.what()));
    }
}

/// The kernels that exist only where they are named: templates.
std::vector<std::string> template_kernels(const LaunchFile& file) {
    std::vector<std::string> names;
    for (const LaunchSpec& launch : file.launches)
        if (launch.kernel.find('<') != std::string::npos) names.push_back(launch.kernel);
    return names;
}

}  // namespace

OpenedLaunch open_launch(compute::Helpers& helpers, const LaunchFile& file, compute::Math math,
                         const std::stop_token& stop) {
    const std::filesystem::path source_path = file.in_folder(file.source);
    const std::string key = "launch/" + source_path.stem().string();
    compiler::Request request{.file = compute::kernel_path(key),
                              .source = read_source(source_path),
                              .fast_math = math == compute::Math::fast};
    std::string source = request.source;
    OpenedLaunch opened;
    opened.left_out = compiler::leave_out_host_code(request, source_path);
    request.names = template_kernels(file);
    compiler::Compiled compiled = helpers.compile(request, stop);
    request.debug_info = true;
    const auto signatures = compiler::read_signatures(helpers.compile(request, stop).ptx);
    try {
        opened.plan = std::make_shared<const LaunchPlan>(plan_launch(file, key, signatures));
    } catch (const LaunchError& error) {
        throw LaunchError(fmt::format("{}: {}", file.file.string(), error.what()));
    }
    std::map<std::string, std::string> names;
    for (const compiler::Signature& signature : signatures)
        if (signature.entry != signature.name) names[signature.entry] = signature.name;
    opened.kernels = std::make_shared<const compute::KernelEdit>(
        compute::KernelEdit{.file = key,
                            .source = std::move(source),
                            .math = math,
                            .ptx = std::move(compiled.ptx),
                            .warnings = std::move(compiled.warnings),
                            .from = source_path.string(),
                            .names = std::move(names)});
    return opened;
}

}  // namespace warpscope::experiments
