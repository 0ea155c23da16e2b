#pragma once

#include <chrono>
#include <filesystem>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "compiler/nvrtc.h"
#include "compute/helper/helper_process.h"

namespace warpscope::compute {

/// NVRTC in helper processes. One process is kept ready. A source that crashes the compiler or
/// makes it hang ends only that process. Thread-safe.
class HelperCompiler {
  public:
    /// `cpu_time`: the most that a source may take. It does not depend on what else the machine
    /// does; ripple.cu takes about 40 ms.
    explicit HelperCompiler(std::filesystem::path program,
                            std::chrono::seconds cpu_time = std::chrono::seconds(15))
        : program_(std::move(program)), cpu_time_(cpu_time) {}

    /// Starts a helper process if none is ready. Does not wait for it.
    void warm();
    /// The message of NoCompiler if a helper process has found no compiler, else empty. Never
    /// waits.
    std::string missing();
    /// Has a helper process look again for a compiler, which may have been installed since.
    void search_again();
    /// The version of NVRTC. The first call waits for a helper process. Throws
    /// compiler::NoCompiler, DeviceError.
    std::string version(const Patience& patience);
    /// Throws compiler::CompileError, compiler::NoCompiler, and DeviceError if the compiler
    /// crashes, its CPU time is used up or patience ends.
    compiler::Compiled compile(const compiler::Request& request, const Patience& patience);

  private:
    struct Ready {
        std::unique_ptr<HelperProcess> process;  ///< null: there is none
        bool has_version = false;                ///< it has sent its version
    };

    Ready take(const Patience& patience);
    void keep(Ready helper);
    void receive_version(Ready& helper, const Patience& patience);
    Ready start() const;
    std::string known_missing() const;

    const std::filesystem::path program_;
    const std::chrono::seconds cpu_time_;
    std::mutex mutex_;
    Ready ready_;
    std::optional<std::string> version_;
    mutable std::mutex missing_mutex_;  ///< guards missing_, held only for a moment
    std::string missing_;
};

}  // namespace warpscope::compute
