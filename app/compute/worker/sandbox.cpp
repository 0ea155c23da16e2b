#include "compute/worker/sandbox.h"

#include <fmt/format.h>

#include "compiler/cache.h"
#include "compute/emulated/emulated_device.h"
#include "compute/worker/probe_compiler.h"
#include "compute/worker/probe_pool.h"

namespace warpscope::compute {
namespace {

/// Far more than any text takes that a person writes: ripple.cu takes some 40 ms.
constexpr std::chrono::seconds compile_time(15);

std::string wish_of(const DeviceInfo& info) {
    return fmt::format("cuda:{}", info.ordinal);
}

}  // namespace

struct Sandbox::Helpers {
    explicit Helpers(const std::filesystem::path& program)
        : compiler(program), devices(std::make_shared<ProbePool>(program)) {}

    ProbeCompiler compiler;
    std::shared_ptr<ProbePool> devices;  ///< shared with nothing: devices may outlive it
    compiler::Cache cache;
};

Sandbox::Sandbox(std::filesystem::path program) : helpers_(std::make_unique<Helpers>(program)) {}
Sandbox::~Sandbox() = default;

const std::string& Sandbox::no_compiler() const {
    return helpers_->compiler.missing();
}

void Sandbox::warm(const DeviceInfo& like) {
    helpers_->compiler.warm();
    if (like.kind == DeviceKind::cuda) helpers_->devices->warm(wish_of(like));
}

std::shared_ptr<const KernelEdit> Sandbox::compile(std::string_view file, const std::string& source,
                                                   Math math, std::stop_token stop) {
    const compiler::Request request{fmt::format("kernels/{}.cu", file), source, math == Math::fast};
    compiler::check_source(request);
    const Patience patience{compile_time, std::move(stop)};
    const std::string version = helpers_->compiler.version(patience);
    auto compiled = helpers_->cache.find(request, version);
    if (!compiled) {
        compiled = helpers_->compiler.compile(request, patience);
        helpers_->cache.keep(request, version, *compiled);
    }
    auto edit = std::make_shared<KernelEdit>();
    edit->file = file;
    edit->source = source;
    edit->math = math;
    edit->ptx = std::move(compiled->ptx);
    edit->warnings = std::move(compiled->warnings);
    return edit;
}

std::unique_ptr<Device> Sandbox::device(const DeviceInfo& like, const RunSettings& settings,
                                        KernelEdits edits, const LaunchLimits& limits) {
    std::unique_ptr<Device> made;
    if (like.kind == DeviceKind::cuda)
        made = helpers_->devices->device(wish_of(like), like.reason);
    else
        made = make_emulated_device(like.reason, like.memory_bytes);
    made->set(settings);
    made->use(std::move(edits));
    made->limit(limits);
    return made;
}

LaunchLimits usual_limits() {
    return {.time = std::chrono::seconds(3)};
}

}  // namespace warpscope::compute
