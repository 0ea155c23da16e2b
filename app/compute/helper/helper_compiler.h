#pragma once

#include <atomic>
#include <filesystem>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "compiler/nvrtc.h"
#include "compute/helper/helper_process.h"

namespace warpscope::compute {

/// NVRTC in helper processes, one of which is kept ready: a text that crashes it or that it does
/// not get done with costs only that. Used from any thread.
class HelperCompiler {
  public:
    explicit HelperCompiler(std::filesystem::path program) : program_(std::move(program)) {}

    /// Sees to it that a helper gets ready; doesn't wait.
    void warm();
    /// What NoCompiler says, once that is known; never waits. Until then, and where there is a
    /// compiler, empty.
    const std::string& missing();
    /// Waits for a helper at the first call. Throws compiler::NoCompiler, DeviceError.
    std::string version(const Patience& patience);
    /// Throws compiler::CompileError, compiler::NoCompiler, and DeviceError where the compiler
    /// crashes, or patience ends.
    compiler::Compiled compile(const compiler::Request& request, const Patience& patience);

  private:
    struct Helper {
        std::unique_ptr<HelperProcess> process;  ///< null: none
        bool settled = false;                    ///< it has told its version
    };

    Helper take(const Patience& patience);
    void keep(Helper helper);
    void settle(Helper& helper, const Patience& patience);
    Helper start() const;

    const std::filesystem::path program_;
    std::mutex mutex_;
    Helper ready_;
    std::optional<std::string> version_;
    std::string missing_;  ///< written once
    std::atomic<bool> is_missing_ = false;
};

}  // namespace warpscope::compute
