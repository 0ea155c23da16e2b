#include "emulator/fast_paths/compiled/kernel_versions.h"

#include "emulator/program/error.h"

namespace warpscope::emulator {

KernelVersions::KernelVersions(KernelCompiler& compiler, std::shared_ptr<const Module> module,
                               const Kernel& kernel, CompiledForm form)
    : compiler_(compiler), module_(std::move(module)), kernel_(kernel), form_(form) {}

std::shared_ptr<const Kernel> KernelVersions::choose(Execution execution) {
    if (execution == Execution::interpreted) return nullptr;
    if (execution == Execution::compiled) compile(ForSomeLanes::at_once);
    std::shared_ptr<CompiledKernel> compiled;
    bool asks = false;
    {
        const std::lock_guard lock(mutex_);
        compiled = compiled_;
        if (!compiled && execution == Execution::compiled) throw Error(problem_);
        asks = compiled && !asked_for_some_lanes_ && compiled->misses_code_for_some_lanes();
        asked_for_some_lanes_ |= asks;
    }
    if (asks) compiler_.compile_later(weak_from_this());
    if (!compiled) return nullptr;
    return {compiled, &compiled->kernel()};
}

std::shared_ptr<const Kernel> KernelVersions::choose_compiled() {
    bool asked, done;
    {
        const std::lock_guard lock(mutex_);
        asked = asked_;
        done = done_;
    }
    if (asked)
        wait();
    else if (!done)
        compile(ForSomeLanes::at_once);
    return choose(Execution::automatic);
}

void KernelVersions::add_cost(std::chrono::nanoseconds time) {
    {
        const std::lock_guard lock(mutex_);
        cost_ += time;
        if (asked_ || cost_ < worth_compiling) return;
        asked_ = true;
    }
    compiler_.compile_later(weak_from_this());
}

void KernelVersions::compile(ForSomeLanes for_some_lanes) {
    std::shared_ptr<CompiledKernel> compiled;
    {
        const std::lock_guard lock(mutex_);
        compiled = compiled_;
    }
    std::string problem;
    try {
        if (compiled)
            compiled->compile_for_some_lanes();
        else
            compiled = compiler_.compile(module_, kernel_, form_, for_some_lanes);
    } catch (const Error& error) {
        problem = error.what();
    }
    const std::lock_guard lock(mutex_);
    compiled_ = std::move(compiled);
    problem_ = std::move(problem);
    done_ = true;
    changed_.notify_all();
}

bool KernelVersions::is_complete() const {
    const std::lock_guard lock(mutex_);
    return compiled_ && compiled_->is_complete();
}

bool KernelVersions::is_asked() const {
    const std::lock_guard lock(mutex_);
    return asked_;
}

void KernelVersions::wait() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return done_; });
}

}  // namespace warpscope::emulator
