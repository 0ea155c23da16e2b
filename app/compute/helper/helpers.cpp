#include "compute/helper/helpers.h"

#include <fmt/format.h>

#include "compiler/cache.h"
#include "compute/device/kernel_source.h"
#include "compute/device/moved_kernels.h"
#include "compute/emulated/emulated_device.h"
#include "compute/helper/helper_compiler.h"
#include "compute/helper/helper_pool.h"
#include "emulator/program/module.h"

namespace warpscope::compute {
namespace {

/// For a compiler that waits without using its CPU time, on a slow machine with much else to do.
constexpr std::chrono::seconds compile_time(120);

/// False for a damaged text. A GPU may refuse a text that the emulator loads, but only a forged
/// file of the cache can hold one.
bool loads(const std::string& ptx) {
    try {
        emulator::Module::parse(ptx, "kept");
        return true;
    } catch (const std::exception&) {
        return false;
    }
}

std::string wish_of(const DeviceInfo& info) {
    return fmt::format("cuda:{}", info.ordinal);
}

}  // namespace

struct Helpers::Parts {
    explicit Parts(const std::filesystem::path& program)
        : compiler(program), devices(std::make_shared<HelperPool>(program)) {}

    HelperCompiler compiler;
    std::shared_ptr<HelperPool> devices;  ///< devices refer to it weakly and may outlive it
    compiler::Cache cache;
};

Helpers::Helpers(std::filesystem::path program) : parts_(std::make_unique<Parts>(program)) {}
Helpers::~Helpers() = default;

std::string Helpers::no_compiler() const {
    return parts_->compiler.missing();
}

void Helpers::search_compiler() {
    parts_->compiler.search_again();
}

void Helpers::warm(const DeviceInfo& like) {
    parts_->compiler.warm();
    if (like.kind == DeviceKind::cuda) parts_->devices->warm(wish_of(like));
}

compiler::Compiled Helpers::compile(const compiler::Request& request, std::stop_token stop) {
    compiler::check_source(request);
    const Patience patience{compile_time, std::move(stop)};
    const std::string version = parts_->compiler.version(patience);
    auto compiled = parts_->cache.find(request, version);
    if (!compiled || !loads(compiled->ptx)) {
        compiled = parts_->compiler.compile(request, patience);
        parts_->cache.keep(request, version, *compiled);
    }
    return std::move(*compiled);
}

std::shared_ptr<const KernelEdit> Helpers::compile(std::string_view file, const std::string& source,
                                                   Math math, std::stop_token stop) {
    compiler::Compiled compiled =
        compile({kernel_path(file), source, math == Math::fast}, std::move(stop));
    auto edit = std::make_shared<KernelEdit>();
    edit->file = file;
    edit->source = source;
    edit->math = math;
    edit->ptx = std::move(compiled.ptx);
    edit->warnings = std::move(compiled.warnings);
    for (std::string& sentence : moved_kernels(file, edit->ptx))
        edit->warnings.push_back({0, 0, compiler::Severity::warning, std::move(sentence)});
    return edit;
}

std::unique_ptr<Device> Helpers::device(const DeviceInfo& like, const RunSettings& settings,
                                        KernelEdits edits, const LaunchLimits& limits) {
    if (like.kind == DeviceKind::emulator)
        return make_emulated_device(
            {like.reason, like.memory_bytes, settings, std::move(edits), limits});
    auto made = parts_->devices->device(wish_of(like), like.reason);
    made->set(settings);
    made->set_edits(std::move(edits));
    made->set_launch_limits(limits);
    return made;
}

LaunchLimits usual_limits() {
    return {.time = std::chrono::seconds(3)};
}

}  // namespace warpscope::compute
