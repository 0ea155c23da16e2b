#include "compute/helper/helper_compiler.h"

#include <fmt/format.h>

#include "compute/device/device.h"
#include "compute/helper/helper_codec.h"

namespace warpscope::compute {

HelperCompiler::Ready HelperCompiler::start() const {
    Ready started{
        std::make_unique<HelperProcess>(program_, HelperProcess::Environment::of_the_compiler)};
    WireWriter request(HelperRequest::compiler);
    started.process->send(request, {std::chrono::seconds(5)});
    return started;
}

void HelperCompiler::warm() {
    const std::lock_guard lock(mutex_);
    if (ready_.process || !known_missing().empty()) return;
    try {
        ready_ = start();
    } catch (const std::exception&) {
        // compile() will report the error.
    }
}

/// Receives the version, which start() has requested.
void HelperCompiler::receive_version(Ready& helper, const Patience& patience) {
    if (helper.has_version) return;
    try {
        WireReader answer = helper.process->receive(patience);
        throw_if_failed(answer);
        const std::lock_guard lock(mutex_);
        version_ = answer.text();
        helper.has_version = true;
    } catch (const compiler::NoCompiler& none) {
        const std::lock_guard lock(missing_mutex_);
        missing_ = none.what();
        throw;
    }
}

/// A helper process that has sent its version: the ready one, or a new one if that has ended.
HelperCompiler::Ready HelperCompiler::take(const Patience& patience) {
    if (const std::string none = known_missing(); !none.empty()) throw compiler::NoCompiler(none);
    Ready helper;
    {
        const std::lock_guard lock(mutex_);
        helper = std::exchange(ready_, {});
    }
    if (helper.process && helper.has_version && helper.process->has_answered()) helper = {};
    try {
        if (helper.process) receive_version(helper, patience);
    } catch (const HelperLost& end) {
        if (end.how != HelperEnd::closed) throw;
        helper = {};
    }
    if (!helper.process) {
        helper = start();
        receive_version(helper, patience);
    }
    return helper;
}

void HelperCompiler::keep(Ready helper) {
    const std::lock_guard lock(mutex_);
    if (!ready_.process) ready_ = std::move(helper);
}

std::string HelperCompiler::known_missing() const {
    const std::lock_guard lock(missing_mutex_);
    return missing_;
}

void HelperCompiler::search_again() {
    {
        const std::lock_guard lock(missing_mutex_);
        missing_.clear();
    }
    warm();
}

std::string HelperCompiler::missing() {
    if (std::string none = known_missing(); !none.empty()) return none;
    Ready helper;
    {
        const std::unique_lock lock(mutex_, std::try_to_lock);
        if (!lock || version_) return {};
        if (ready_.process && !ready_.process->has_answered()) return {};
        helper = std::exchange(ready_, {});
    }
    if (!helper.process) {
        warm();
        return {};
    }
    try {
        receive_version(helper, {std::chrono::seconds(1)});
        keep(std::move(helper));
    } catch (const std::exception&) {
        // There is no compiler, or the helper process has ended; the next call starts one.
    }
    return known_missing();
}

namespace {

[[noreturn]] void compiler_lost(const HelperLost& end, const Patience& patience,
                                std::chrono::seconds cpu_time) {
    switch (end.how) {
        case HelperEnd::timed_out:
            throw DeviceError(fmt::format("the compiler did not finish within {} s",
                                          double(patience.time.count()) / 1000));
        case HelperEnd::used_up_cpu_time:
            throw DeviceError(fmt::format("the compiler did not finish within {} s of CPU time",
                                          cpu_time.count()));
        case HelperEnd::stopped:
            throw DeviceError("the compiler was stopped: the kernel source has changed again");
        case HelperEnd::closed:
            break;
    }
    throw DeviceError(fmt::format("the compiler crashed: {}", end.what()));
}

}  // namespace

std::string HelperCompiler::version(const Patience& patience) {
    {
        const std::lock_guard lock(mutex_);
        if (version_) return *version_;
    }
    try {
        keep(take(patience));
    } catch (const HelperLost& end) {
        throw DeviceError(fmt::format("the compiler can't be started: {}", end.what()));
    }
    const std::lock_guard lock(mutex_);
    return *version_;
}

compiler::Compiled HelperCompiler::compile(const compiler::Request& request,
                                           const Patience& patience) {
    WireWriter frame(HelperRequest::compile);
    put(frame, request);
    put(frame, cpu_time_.count());
    try {
        Ready helper = take(patience);
        helper.process->send(frame, patience);
        WireReader answer = helper.process->receive(patience);
        keep(std::move(helper));
        throw_if_failed(answer);
        compiler::Compiled result = compiled(answer);
        answer.end();
        return result;
    } catch (const HelperLost& end) {
        warm();
        compiler_lost(end, patience, cpu_time_);
    } catch (const WireError& error) {
        throw DeviceError(fmt::format(
            "the helper process of the compiler sent an invalid answer: {}", error.what()));
    }
}

}  // namespace warpscope::compute
