#pragma once

#include <chrono>
#include <memory>
#include <string>

#include "emulator/machine/machine.h"

namespace warpscope::emulator {

/// Ways to run a launch faster, in the folder fast_paths. Results, counts, errors and findings are
/// equal without each of them. For tests and the bench, which switch them off.
struct FastPaths {
    bool proof = true;     ///< warps run in the fastest order where it is proved that none is seen
    bool blocks = true;    ///< host threads take blocks as they come where no order of them is seen
    bool model = true;     ///< observers are told once of blocks that are alike
    bool compiled = true;  ///< kernels become machine code
};

/// Runs launches on a machine of its own, each in the fastest way that is known for it. It is the
/// one door to the folder fast_paths; without that folder, a launch runs as Machine::run() does.
class Launcher {
  public:
    explicit Launcher(unsigned virtual_sms = Machine::default_virtual_sms);
    ~Launcher();

    Machine& machine() { return machine_; }
    void set(const FastPaths& paths);

    /// How run() shall run a launch. The kernel's module is kept. With `waits_for_compiler`, the
    /// kernel is compiled first, if it can be. Throws Error where
    /// execution() is compiled and the kernel cannot be compiled.
    LaunchMethod choose(const FrozenLaunch& launch, Observer* observer,
                        bool waits_for_compiler = false);
    /// Runs a launch as Machine::run() does. A kernel whose interpreted launches have taken long is
    /// compiled, on a thread of low priority; during a long launch that nobody observes, it is
    /// compiled at once.
    Statistics run(const FrozenLaunch& launch, Observer* observer, const LaunchMethod& method);
    Statistics run(const FrozenLaunch& launch, Observer* observer = nullptr) {
        return run(launch, observer, choose(launch, observer));
    }

    /// What runs kernels in this process from now on.
    static void set_execution(Execution execution);
    static Execution execution();
    /// Whether kernels can be compiled here.
    static bool can_compile();
    /// Why the newest kernel that was to be compiled is interpreted; empty if it was compiled.
    static std::string compiler_problem();
    /// While somebody holds it, the compiler's thread goes on.
    static std::shared_ptr<void> keep_compiler();
    /// The compiler's thread is compiling a kernel now.
    static bool is_compiling();
    /// Waits for the kernel that is being compiled. Kernels that are not compiled by then are
    /// interpreted. For a process that ends: LLVM must not be unloaded below its thread.
    static void end_compiler();
    /// Compiles a kernel as it is compiled between two launches, and drops the code: for the bench.
    /// Throws Error.
    static void compile(const Kernel& kernel);

  private:
    Machine machine_;
    std::unique_ptr<class LaunchChooser> chooser_;
};

}  // namespace warpscope::emulator
