#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "emulator/fast_paths/compiled/plan/plan.h"
#include "emulator/fast_paths/llvm/llvm.h"
#include "emulator/program/instruction.h"
#include "emulator/program/module.h"

namespace warpscope::emulator {

/// Code that may be compiled later.
struct LateCode {
    /// The handlers, by Instruction::entry. Null: the interpreter runs.
    std::atomic<const Handler*> handlers = nullptr;
    std::atomic<std::uint64_t> missed = 0;  ///< times that the interpreter ran
};

/// What compiled code does besides the kernel's work.
enum class CompiledForm : std::uint8_t {
    silent,            ///< nothing
    reports_accesses,  ///< tells the observer of the block about loads, stores, fences and warp
                       ///< barriers
};

/// When code for some lanes of a warp is compiled. Loops that separate lanes need it.
enum class ForSomeLanes : std::uint8_t { at_once, when_asked };

/// A copy of a kernel that runs as machine code where that is possible: where compiled code begins,
/// it is the instruction's handler for a full warp. A launch of the copy has the results, counts
/// and errors of the kernel.
class CompiledKernel {
  public:
    /// Compiles a kernel of `module`. Throws Error: the kernel is too long, or LLVM refuses it.
    CompiledKernel(std::shared_ptr<const Llvm> llvm, std::shared_ptr<const Module> module,
                   const Kernel& kernel, CompiledForm form = CompiledForm::silent,
                   InstructionSet set = InstructionSet::host,
                   ForSomeLanes for_some_lanes = ForSomeLanes::at_once);
    ~CompiledKernel();
    CompiledKernel(const CompiledKernel&) = delete;
    CompiledKernel& operator=(const CompiledKernel&) = delete;

    const Kernel& kernel() const { return kernel_; }

    /// False where code for some lanes is needed, but not compiled yet.
    bool is_complete() const { return !has_late_code_ || late_.handlers; }
    /// The interpreter has often run loops for some lanes.
    bool misses_code_for_some_lanes() const;
    /// Compiles it unless it is there, while launches may run. Throws Error.
    void compile_for_some_lanes();

  private:
    /// A part of a plan, which becomes a function.
    struct Function {
        const CompilationPlan* plan;
        Part part;
        bool is_late;  ///< the code may be compiled later
        /// Calls visit(index into Kernel::code) for each entry.
        void each_entry(const std::function<void(std::uint32_t)>& visit) const;
    };
    void number_entries(const std::vector<CompilationPlan>& plans);
    struct MachineCode compile(const Function& function);
    /// Compiles functions at the same time, and sorts them.
    std::vector<Handler> compile(std::vector<Function>& functions);
    void use(const Function& function, Handler handler);

    std::shared_ptr<const Module> module_;
    const Kernel& original_;
    const CompiledForm form_;
    Kernel kernel_;
    std::shared_ptr<const Llvm> llvm_;
    const std::unique_ptr<const struct CodeTarget> target_;
    std::vector<std::shared_ptr<void>> engines_;  ///< LLVM's; they own the machine code
    bool has_late_code_ = false;
    LateCode late_;                       ///< the code for some lanes
    std::vector<Handler> late_handlers_;  ///< those of late_
    std::mutex compiling_;                ///< held while late_ is compiled
};

}  // namespace warpscope::emulator
