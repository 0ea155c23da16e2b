#pragma once

#include <chrono>
#include <condition_variable>
#include <deque>
#include <memory>
#include <mutex>
#include <string>
#include <thread>

#include "emulator/fast_paths/compiled/compiled_kernel.h"
#include "emulator/program/launch.h"

namespace warpscope::emulator {

class KernelVersions;

/// Compiles kernels on a thread of low priority, which starts with the first of them.
class KernelCompiler {
  public:
    /// The compiler of this process, shared by those that hold it. It waits for its thread when the
    /// last one lets go.
    static std::shared_ptr<KernelCompiler> shared();

    KernelCompiler() = default;
    ~KernelCompiler();
    KernelCompiler(const KernelCompiler&) = delete;
    KernelCompiler& operator=(const KernelCompiler&) = delete;

    /// Why the newest kernel that was to be compiled is interpreted; empty if it was compiled.
    std::string problem() const;
    /// Compiles the kernel on the calling thread. Throws Error.
    std::shared_ptr<CompiledKernel> compile(std::shared_ptr<const Module> module,
                                            const Kernel& kernel, CompiledForm form,
                                            ForSomeLanes for_some_lanes);
    /// Compiles the kernel on the compiler's thread, unless nobody holds `versions` by then.
    void compile_later(std::weak_ptr<KernelVersions> versions);
    /// The compiler's thread is compiling a kernel now.
    bool is_compiling() const;
    /// Waits for the kernel that is being compiled, and compiles none after it.
    void end();

  private:
    void work(const std::stop_token& stop);
    std::shared_ptr<const Llvm> llvm();
    void set_problem(const std::string& problem);

    mutable std::mutex mutex_;  ///< guards all members below
    std::condition_variable_any changed_;
    std::deque<std::weak_ptr<KernelVersions>> waiting_;
    std::shared_ptr<const Llvm> llvm_;
    std::string problem_;
    bool compiling_ = false;  ///< thread_ compiles a kernel
    bool ended_ = false;
    std::jthread thread_;
};

/// The versions of one kernel: the interpreted one at first, and one compiled form once it has cost
/// enough. Any thread may use it.
class KernelVersions : public std::enable_shared_from_this<KernelVersions> {
  public:
    /// A kernel is compiled once its interpreted launches have taken this time.
    static constexpr std::chrono::milliseconds worth_compiling{100};

    /// `compiler` must outlive every call.
    KernelVersions(KernelCompiler& compiler, std::shared_ptr<const Module> module,
                   const Kernel& kernel, CompiledForm form = CompiledForm::silent);

    /// Gives the kernel for the next launch; null: the interpreter runs it. Throws Error where
    /// `execution` is compiled and the kernel cannot be compiled.
    std::shared_ptr<const Kernel> choose(Execution execution);
    /// Compiles the kernel, unless that has failed, and then chooses automatically.
    std::shared_ptr<const Kernel> choose_compiled();
    /// The interpreter has run a launch for this time.
    void add_cost(std::chrono::nanoseconds time);
    /// Compiles the kernel now. If it is compiled already, compiles its code for some lanes of a
    /// warp. After an Error the interpreter goes on.
    void compile(ForSomeLanes for_some_lanes = ForSomeLanes::when_asked);
    /// The kernel is compiled, and code for some lanes of a warp is too, where it is needed.
    bool is_complete() const;
    /// The compiler's thread has the kernel, or had it.
    bool is_asked() const;
    /// Waits until the compiler's thread is done with the kernel.
    void wait();

  private:
    KernelCompiler& compiler_;
    const std::shared_ptr<const Module> module_;
    const Kernel& kernel_;
    const CompiledForm form_;
    mutable std::mutex mutex_;  ///< guards all members below
    std::condition_variable changed_;
    std::shared_ptr<CompiledKernel> compiled_;
    std::string problem_;
    std::chrono::nanoseconds cost_{0};
    bool asked_ = false, done_ = false;  ///< the compiler's thread is asked; it is done
    bool asked_for_some_lanes_ = false;
};

}  // namespace warpscope::emulator
