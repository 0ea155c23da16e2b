#pragma once

#include <memory>
#include <string>
#include <vector>

#include "emulator/compiled/llvm.h"
#include "emulator/program/module.h"

namespace warpscope::emulator {

/// The instructions of this CPU that compiled code may use.
enum class InstructionSet : std::uint8_t {
    host,    ///< all that the CPU has
    sse4,    ///< 128-bit vectors, no fused multiply-add (x86-64-v2)
    avx2,    ///< 256-bit vectors (x86-64-v3)
    avx512,  ///< 512-bit vectors (x86-64-v4)
};

/// What compiled code does besides the kernel's work.
enum class CompiledForm : std::uint8_t {
    silent,            ///< nothing
    reports_accesses,  ///< tells the observer of the block about loads, stores, fences and warp
                       ///< barriers
};

/// A kernel whose instructions are machine code where that is possible: a copy of the kernel in
/// which the instructions at which compiled code begins have it as their handler for a full warp.
/// A launch of the copy has the results, counts and errors of the kernel.
class CompiledKernel {
  public:
    /// Compiles a kernel of `module`. Throws Error: the kernel is too long, or LLVM refuses it.
    CompiledKernel(std::shared_ptr<const Llvm> llvm, std::shared_ptr<const Module> module,
                   const Kernel& kernel, CompiledForm form = CompiledForm::silent,
                   InstructionSet set = InstructionSet::host);
    ~CompiledKernel();
    CompiledKernel(const CompiledKernel&) = delete;
    CompiledKernel& operator=(const CompiledKernel&) = delete;

    const Kernel& kernel() const { return kernel_; }

  private:
    void number_entries(const std::vector<class Plan>& plans);
    void build(const std::vector<class Plan>& plans, const struct CodeTarget& target,
               CompiledForm form);
    void use(const Plan& plan, CompiledForm form);

    std::shared_ptr<const Module> module_;
    Kernel kernel_;
    std::shared_ptr<const Llvm> llvm_;
    LlvmEngine engine_ = nullptr;
    Handler compiled_[2] = {};  ///< by Instruction::Mode
};

}  // namespace warpscope::emulator
