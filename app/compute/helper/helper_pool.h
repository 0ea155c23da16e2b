#pragma once

#include <filesystem>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "compute/helper/helper_device.h"

namespace warpscope::compute {

/// Helper processes with a device open, by what pick_device calls it: those in use, and one that is
/// ready or getting ready, since a GPU takes its time to open. Used from any thread.
class HelperPool : public std::enable_shared_from_this<HelperPool> {
  public:
    explicit HelperPool(std::filesystem::path program) : program_(std::move(program)) {}

    /// Sees to it that one gets ready; doesn't wait.
    void warm(const std::string& wish);
    /// The device of a helper that nothing else uses; `reason` for its info. Waits for the helper.
    /// Throws DeviceError. When it goes, its helper serves another one.
    std::unique_ptr<Device> device(const std::string& wish, std::string reason);

  private:
    struct Ready {
        std::string wish;
        std::unique_ptr<HelperProcess> process;  ///< its device is asked for
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

}  // namespace warpscope::compute
