#pragma once

#include <filesystem>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "compiler/nvrtc.h"
#include "compute/device/device.h"
#include "compute/device/kernel_files.h"
#include "compute/helper/helper_device.h"

namespace warpscope::compute {

/// Helper processes with an open device, by the name that pick_device takes: those in use, and a
/// spare one, because opening a GPU takes long. Thread-safe.
class HelperPool : public std::enable_shared_from_this<HelperPool> {
  public:
    explicit HelperPool(std::filesystem::path program) : program_(std::move(program)) {}

    /// Starts a spare helper process if there is none. Does not wait for it.
    void warm(const std::string& wish);
    /// A device in a helper process of its own. `reason` is for its info. Waits until the device is
    /// open. Throws DeviceError. When the device is destroyed, its helper process is used again.
    std::unique_ptr<Device> device(const std::string& wish, std::string reason);

  private:
    struct Ready {
        std::string wish;
        std::unique_ptr<HelperProcess> process;  ///< ask_for_device() was called
    };

    Ready start(const std::string& wish) const;
    std::unique_ptr<HelperProcess> take(const std::string& wish);
    void give_back(const std::string& wish, std::unique_ptr<HelperProcess> process) noexcept;
    void keep_spare(const std::string& wish) noexcept;

    const std::filesystem::path program_;
    std::mutex mutex_;
    std::vector<Ready> ready_;
    std::map<std::string, int> in_use_;
};

/// What a kernel source was compiled to.
struct CompiledSource : compiler::Compiled {
    std::shared_ptr<const compiler::Request> kept{};  ///< what KernelEdit::kept becomes
};

/// The helper processes of the app. They compile edits and run them on a GPU, so that no edit can
/// end the app. The emulator needs no helper process, because it checks and limits every launch
/// itself. Helper processes are started early and kept ready. Thread-safe.
class Helpers {
  public:
    /// `program` is warpscope itself. The app passes "/proc/self/exe", which still names the
    /// running program when its file is replaced. Tests pass the binary built beside them.
    explicit Helpers(std::filesystem::path program);
    ~Helpers();
    Helpers(const Helpers&) = delete;
    Helpers& operator=(const Helpers&) = delete;

    /// A sentence that says why no compiler was found and what to install. Empty if there is one,
    /// or if that is not known yet: the first call starts a helper process that looks. Never waits.
    std::string no_compiler() const;
    /// Has a helper process look again for a compiler, which may have been installed since.
    void search_compiler();

    /// Starts the helper processes that the compiler and a device of this kind need. Never waits.
    void warm(const DeviceInfo& like);

    /// From now on sources are compiled for this compute capability (compiler::Request::target)
    /// where their request names none. 0: the source tells.
    void compile_for(unsigned target);

    /// Compiles a kernel source, or finds it in the cache. Throws compiler::CompileError,
    /// compiler::NoCompiler, and DeviceError if the compiler hangs, crashes or is stopped.
    CompiledSource compile(const compiler::Request& request, std::stop_token stop = {});
    /// Compiles an edit of kernels/`file`.cu, or finds it in the cache. Throws
    /// as the function above.
    std::shared_ptr<const KernelEdit> compile(std::string_view file, const std::string& source,
                                              Math math, std::stop_token stop = {});

    /// Called for kernels that have failed: compiles those anew that were found in the cache. A GPU
    /// refuses texts that the emulator loads, so a wrong file of the cache may get this far. The
    /// file is replaced. Returns `edits` unchanged if no text differs or the compiler fails.
    KernelEdits compiled_anew(const KernelEdits& edits, const std::stop_token& stop = {}) noexcept;

    /// Makes a device for `edits`: an emulator in this process if `like` is an emulator, a GPU in a
    /// helper process if it is a GPU. Throws DeviceError.
    std::unique_ptr<Device> device(const DeviceInfo& like, const RunSettings& settings,
                                   KernelEdits edits, const LaunchLimits& limits);

  private:
    struct Parts;
    std::unique_ptr<Parts> parts_;
};

/// The limits of launches of edits.
LaunchLimits usual_limits();

}  // namespace warpscope::compute
