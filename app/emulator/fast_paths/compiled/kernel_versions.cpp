#include "emulator/fast_paths/compiled/kernel_versions.h"

#include <sys/resource.h>
#include <unistd.h>

#include <system_error>

#include "emulator/program/error.h"

namespace warpscope::emulator {

std::shared_ptr<KernelCompiler> KernelCompiler::shared() {
    static std::mutex mutex;
    static std::weak_ptr<KernelCompiler> shared;
    const std::lock_guard lock(mutex);
    auto found = shared.lock();
    if (!found) shared = found = std::make_shared<KernelCompiler>();
    return found;
}

KernelCompiler::~KernelCompiler() {
    end();  // the thread is joined while the queue still exists
}

void KernelCompiler::end() {
    {
        const std::lock_guard lock(mutex_);
        ended_ = true;
    }
    thread_.request_stop();
    if (thread_.joinable()) thread_.join();
}

// The library is loaded without the compiler's mutex: that takes as long as some frames, and
// launches and the window take the mutex.
std::shared_ptr<const Llvm> KernelCompiler::llvm() {
    static std::mutex loading;
    const std::lock_guard only_one(loading);
    if (!llvm_) llvm_ = Llvm::load();
    return llvm_;
}

std::string KernelCompiler::problem() const {
    const std::lock_guard lock(mutex_);
    return problem_;
}
void KernelCompiler::set_problem(const std::string& problem) {
    const std::lock_guard lock(mutex_);
    problem_ = problem;
}

std::shared_ptr<CompiledKernel> KernelCompiler::compile(std::shared_ptr<const Module> module,
                                                        const Kernel& kernel, CompiledForm form,
                                                        ForSomeLanes for_some_lanes) {
    try {
        auto compiled = std::make_shared<CompiledKernel>(llvm(), std::move(module), kernel, form,
                                                         InstructionSet::host, for_some_lanes);
        set_problem("");
        return compiled;
    } catch (const Error& error) {
        set_problem(error.what());
        throw;
    }
}

void KernelCompiler::compile_later(std::weak_ptr<KernelVersions> versions) {
    try {
        const std::lock_guard lock(mutex_);
        if (ended_) return;
        if (!thread_.joinable())
            thread_ = std::jthread([this](const std::stop_token& stop) { work(stop); });
        waiting_.push_back(versions);
        changed_.notify_all();
    } catch (const std::system_error&) {
        // A system that is busy may have no thread left.
        if (const auto now = versions.lock()) now->compile();
    }
}

void KernelCompiler::work(const std::stop_token& stop) {
#if defined(__linux__)
    // Linux gives each thread a priority of its own: drawing and launches come first. The lowest,
    // 19, gets one percent of a core that another process keeps busy; this one gets ten.
    constexpr int low_priority = 10;
    ::setpriority(PRIO_PROCESS, id_t(::gettid()), low_priority);
#endif
    while (true) {
        std::weak_ptr<KernelVersions> next;
        {
            std::unique_lock lock(mutex_);
            changed_.wait(lock, stop, [&] { return !waiting_.empty(); });
            if (stop.stop_requested()) return;
            next = std::move(waiting_.front());
            waiting_.pop_front();
            compiling_ = true;
        }
        if (const auto versions = next.lock()) versions->compile();
        const std::lock_guard lock(mutex_);
        compiling_ = false;
    }
}

bool KernelCompiler::is_compiling() const {
    const std::lock_guard lock(mutex_);
    return compiling_;
}

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
