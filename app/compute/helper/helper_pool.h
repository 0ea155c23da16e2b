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

}  // namespace warpscope::compute
