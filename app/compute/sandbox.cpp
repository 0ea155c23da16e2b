#include "compute/sandbox.h"

#include "compute/emulated_device.h"

namespace warpscope::compute {

struct Sandbox::Helpers {
    std::filesystem::path program;
    std::string no_compiler = "Kernels can't be compiled in this build.";
};

Sandbox::Sandbox(std::filesystem::path program)
    : helpers_(std::make_unique<Helpers>(Helpers{std::move(program)})) {}
Sandbox::~Sandbox() = default;

const std::string& Sandbox::no_compiler() const {
    return helpers_->no_compiler;
}

void Sandbox::warm(const DeviceInfo&) {}

std::shared_ptr<const KernelEdit> Sandbox::compile(std::string_view, const std::string&, Math,
                                                   std::stop_token) {
    throw compiler::NoCompiler(no_compiler());
}

std::unique_ptr<Device> Sandbox::device(const DeviceInfo& like, const RunSettings& settings,
                                        KernelEdits edits, const LaunchLimits& limits) {
    auto made = make_emulated_device(like.reason, like.memory_bytes);
    made->set(settings);
    made->use(std::move(edits));
    made->limit(limits);
    return made;
}

LaunchLimits usual_limits() {
    return {.time = std::chrono::seconds(3)};
}

}  // namespace warpscope::compute
