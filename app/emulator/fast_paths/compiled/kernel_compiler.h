#pragma once

#include <condition_variable>
#include <deque>
#include <memory>
#include <mutex>
#include <string>
#include <thread>

#include "emulator/fast_paths/compiled/compiled_kernel.h"

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

}  // namespace warpscope::emulator
