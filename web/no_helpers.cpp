// In place of app/compute/helper: a page has no processes for compilers and GPUs, and the window gets no Helpers, so that nothing
// here is called but usual_limits().
#include "compute/helper/helpers.h"

namespace warpscope::compute {

LaunchLimits usual_limits() {
    return {.time = std::chrono::seconds(20)};  // an interpreter in a page takes several times as long
}

std::string Helpers::no_compiler() const {
    return "a page has no compiler";
}
void Helpers::search_compiler() {}
void Helpers::warm(const DeviceInfo&) {}
CompiledSource Helpers::compile(const compiler::Request&, std::stop_token) {
    throw DeviceError("a page has no compiler");
}
std::shared_ptr<const KernelEdit> Helpers::compile(std::string_view, const std::string&, Math,
                                                   std::stop_token) {
    throw DeviceError("a page has no compiler");
}
KernelEdits Helpers::compiled_anew(const KernelEdits& edits, const std::stop_token&) noexcept {
    return edits;
}
std::unique_ptr<Device> Helpers::device(const DeviceInfo&, const RunSettings&, KernelEdits,
                                        const LaunchLimits&) {
    throw DeviceError("a page has no helper processes");
}

}  // namespace warpscope::compute
