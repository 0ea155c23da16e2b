#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <string_view>

#include "compute/device/device.h"
#include "compute/device/kernel_edit.h"

namespace warpscope::compute {

/// Where edited kernels are compiled and run, so that nothing they do ends the app: the compiler
/// and the GPU are used by helper processes (`warpscope --helper`), started early and kept warm;
/// the emulator checks and bounds every launch itself. Used from any thread.
class Helpers {
  public:
    /// `program`: warpscope's own, which the helpers run: "/proc/self/exe" in the app, which stays
    /// the same program when its file is replaced. Another one never comes into question: a test
    /// names the warpscope that was built with it.
    explicit Helpers(std::filesystem::path program);
    ~Helpers();
    Helpers(const Helpers&) = delete;
    Helpers& operator=(const Helpers&) = delete;

    /// Why nothing can be compiled here and what to install, a sentence; empty: the compiler is
    /// there, or has not been found out yet. Never waits: from the first call on, a helper looks.
    const std::string& no_compiler() const;

    /// Starts the helpers that a device like this one and the compiler will need; returns at once.
    void warm(const DeviceInfo& like);

    /// Compiles a text that stands in for kernels/`file`.cu, or takes it from the cache. Throws
    /// compiler::CompileError, compiler::NoCompiler, and DeviceError where the compiler itself
    /// hangs or crashes; asked to stop, DeviceError soon.
    std::shared_ptr<const KernelEdit> compile(std::string_view file, const std::string& source,
                                              Math math, std::stop_token stop = {});

    /// A device like that one whose kernels come from `edits`, and whose launches are limited: an
    /// emulator in this process, or a GPU in a helper process.
    std::unique_ptr<Device> device(const DeviceInfo& like, const RunSettings& settings,
                                   KernelEdits edits, const LaunchLimits& limits);

  private:
    struct Parts;
    std::unique_ptr<Parts> parts_;
};

/// Of launches of edited kernels.
LaunchLimits usual_limits();

}  // namespace warpscope::compute
