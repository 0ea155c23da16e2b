#include "compute/helper/helper_compiler.h"

#include <fmt/format.h>

#include "compute/device/device.h"
#include "compute/helper/helper_codec.h"

namespace warpscope::compute {

HelperCompiler::Helper HelperCompiler::start() const {
    Helper started{std::make_unique<HelperProcess>(program_)};
    WireWriter request(HelperRequest::compiler);
    started.process->send(request, {std::chrono::seconds(5)});
    return started;
}

void HelperCompiler::warm() {
    const std::lock_guard lock(mutex_);
    if (ready_.process || is_missing_) return;
    try {
        ready_ = start();
    } catch (const std::exception&) {
        // compile() will say what is wrong.
    }
}

/// Hears the version, which is the first thing that a helper is asked for.
void HelperCompiler::settle(Helper& helper, const Patience& patience) {
    if (helper.settled) return;
    try {
        WireReader answer = helper.process->receive(patience);
        throw_if_failed(answer);
        const std::lock_guard lock(mutex_);
        version_ = answer.text();
        helper.settled = true;
    } catch (const compiler::NoCompiler& none) {
        const std::lock_guard lock(mutex_);
        if (!is_missing_) missing_ = none.what();
        is_missing_ = true;
        throw;
    }
}

/// One that is settled: the one that is ready, or a new one where there is none or it has ended.
HelperCompiler::Helper HelperCompiler::take(const Patience& patience) {
    if (is_missing_) throw compiler::NoCompiler(missing_);
    Helper helper;
    {
        const std::lock_guard lock(mutex_);
        helper = std::exchange(ready_, {});
    }
    if (helper.process && helper.settled && helper.process->has_answered()) helper = {};
    try {
        if (helper.process) settle(helper, patience);
    } catch (const HelperLost& end) {
        if (end.how != HelperEnd::closed) throw;
        helper = {};
    }
    if (!helper.process) {
        helper = start();
        settle(helper, patience);
    }
    return helper;
}

void HelperCompiler::keep(Helper helper) {
    const std::lock_guard lock(mutex_);
    if (!ready_.process) ready_ = std::move(helper);
}

const std::string& HelperCompiler::missing() {
    static const std::string none;
    if (is_missing_) return missing_;
    Helper helper;
    {
        const std::unique_lock lock(mutex_, std::try_to_lock);
        if (!lock || version_) return none;
        if (ready_.process && !ready_.process->has_answered()) return none;
        helper = std::exchange(ready_, {});
    }
    if (!helper.process) {
        warm();
        return none;
    }
    try {
        settle(helper, {std::chrono::seconds(1)});
        keep(std::move(helper));
    } catch (const std::exception&) {
        // No compiler; or the helper has ended, and the next call starts another one.
    }
    return is_missing_ ? missing_ : none;
}

namespace {

[[noreturn]] void compiler_lost(const HelperLost& end, const Patience& patience) {
    switch (end.how) {
        case HelperEnd::timed_out:
            throw DeviceError(
                fmt::format("the compiler did not get done with this text within {} s",
                            double(patience.time.count()) / 1000));
        case HelperEnd::stopped:
            throw DeviceError("the compiler was stopped: the text has changed again");
        case HelperEnd::closed:
            break;
    }
    throw DeviceError(fmt::format("the compiler crashed on this text: {}", end.what()));
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
    frame.text(request.file).text(request.source).put(std::uint8_t(request.fast_math));
    try {
        Helper helper = take(patience);
        helper.process->send(frame, patience);
        WireReader answer = helper.process->receive(patience);
        keep(std::move(helper));
        throw_if_failed(answer);
        compiler::Compiled compiled{std::string(answer.text()), diagnostics(answer)};
        answer.end();
        return compiled;
    } catch (const HelperLost& end) {
        warm();
        compiler_lost(end, patience);
    } catch (const WireError& error) {
        throw DeviceError(fmt::format("the compiler's helper process answered {}", error.what()));
    }
}

}  // namespace warpscope::compute
