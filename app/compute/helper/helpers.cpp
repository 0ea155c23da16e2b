#include "compute/helper/helpers.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>

#include "compiler/cache.h"
#include "compute/device/kernel_files.h"
#include "compute/emulated/emulated_device.h"
#include "compute/helper/helper_compiler.h"

namespace warpscope::compute {
namespace {

/// CUDA opens a GPU in about 0.3 s, much slower on a machine that was just started.
const Patience opening{std::chrono::seconds(60), {}};

/// The most helper processes of one device: one runs the visible kernels, one tries the next edit.
constexpr int most_of_a_device = 2;

}  // namespace

HelperPool::Ready HelperPool::start(const std::string& wish) const {
    Ready started{wish, std::make_unique<HelperProcess>(program_)};
    ask_for_device(*started.process, wish);
    return started;
}

std::unique_ptr<HelperProcess> HelperPool::take(const std::string& wish) {
    const std::lock_guard lock(mutex_);
    auto found = std::ranges::find_if(ready_, [&](const Ready& ready) {
        return ready.wish == wish && ready.process->has_answered();
    });
    if (found == ready_.end()) found = std::ranges::find(ready_, wish, &Ready::wish);
    if (found == ready_.end()) return nullptr;
    auto process = std::move(found->process);
    ready_.erase(found);
    return process;
}

void HelperPool::warm(const std::string& wish) {
    const std::lock_guard lock(mutex_);
    if (std::ranges::find(ready_, wish, &Ready::wish) != ready_.end()) return;
    try {
        ready_.push_back(start(wish));
    } catch (const std::exception&) {
        // device() will report the error.
    }
}

std::unique_ptr<Device> HelperPool::device(const std::string& wish, std::string reason) {
    std::unique_ptr<HelperProcess> process = take(wish);
    DeviceInfo info;
    try {
        if (process) info = opened_device(*process, opening);
    } catch (const DeviceLost&) {
        process = nullptr;  // it ended while it was not in use
    }
    if (!process) {
        process = start(wish).process;
        info = opened_device(*process, opening);
    }
    info.reason = std::move(reason);
    {
        const std::lock_guard lock(mutex_);
        ++in_use_[wish];
    }
    keep_spare(wish);
    const auto back = [pool = weak_from_this(), wish](std::unique_ptr<HelperProcess> returned) {
        if (const auto alive = pool.lock()) alive->give_back(wish, std::move(returned));
    };
    return make_helper_device(std::move(process), std::move(info), back);
}

void HelperPool::give_back(const std::string& wish,
                           std::unique_ptr<HelperProcess> process) noexcept {
    try {
        if (process) ask_for_device(*process, wish);
    } catch (const std::exception&) {
        process = nullptr;  // it has ended
    }
    {
        const std::lock_guard lock(mutex_);
        const auto alike = std::ranges::count(ready_, wish, &Ready::wish);
        if (--in_use_[wish] + alike < most_of_a_device && process)
            ready_.push_back({wish, std::move(process)});
    }
    keep_spare(wish);
}

void HelperPool::keep_spare(const std::string& wish) noexcept {
    bool enough = false;
    {
        const std::lock_guard lock(mutex_);
        enough = in_use_[wish] >= most_of_a_device;
    }
    if (!enough) warm(wish);
}

namespace {

/// The limit for a compiler that waits without using its CPU time, on a slow, busy machine.
constexpr std::chrono::seconds compile_time(120);

std::string wish_of(const DeviceInfo& info) {
    return fmt::format("cuda:{}", info.ordinal);
}

}  // namespace

struct Helpers::Parts {
    explicit Parts(const std::filesystem::path& program)
        : compiler(program), devices(std::make_shared<HelperPool>(program)) {}

    compiler::Compiled compile_and_keep(const compiler::Request& request,
                                        const std::string& version, const Patience& patience);

    HelperCompiler compiler;
    std::atomic<unsigned> target = 0;     ///< of requests that name none
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

compiler::Compiled Helpers::Parts::compile_and_keep(const compiler::Request& request,
                                                    const std::string& version,
                                                    const Patience& patience) {
    compiler::Compiled compiled = compiler.compile(request, patience);
    cache.keep(request, version, compiled);
    return compiled;
}

void Helpers::compile_for(unsigned target) {
    parts_->target = target;
}

CompiledSource Helpers::compile(const compiler::Request& asked, std::stop_token stop) {
    compiler::check_source(asked);
    compiler::Request request = asked;
    if (!request.target) request.target = parts_->target;
    const Patience patience{compile_time, std::move(stop)};
    const std::string version = parts_->compiler.version(patience);
    if (auto found = parts_->cache.find(request, version))
        return {std::move(*found), std::make_shared<const compiler::Request>(request)};
    return {parts_->compile_and_keep(request, version, patience)};
}

KernelEdits Helpers::compiled_anew(const KernelEdits& edits, const std::stop_token& stop) noexcept {
    try {
        const Patience patience{compile_time, stop};
        KernelEdits result = edits;
        for (auto& [file, edit] : result) {
            if (!edit->kept) continue;
            auto compiled =
                parts_->compile_and_keep(*edit->kept, parts_->compiler.version(patience), patience);
            if (compiled.ptx == edit->ptx) continue;
            auto anew = std::make_shared<KernelEdit>(*edit);
            anew->ptx = std::move(compiled.ptx);
            anew->kept = nullptr;
            edit = std::move(anew);
        }
        return result;
    } catch (const std::exception&) {
        return edits;  // the error of the kernels is the one to report
    }
}

std::shared_ptr<const KernelEdit> Helpers::compile(std::string_view file, const std::string& source,
                                                   Math math, std::stop_token stop) {
    CompiledSource compiled =
        compile({kernel_path(file), source, math == Math::fast}, std::move(stop));
    auto edit = std::make_shared<KernelEdit>();
    edit->file = file;
    edit->source = source;
    edit->math = math;
    edit->ptx = std::move(compiled.ptx);
    edit->warnings = std::move(compiled.warnings);
    edit->kept = std::move(compiled.kept);
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
