#include "compute/helper/helper_pool.h"

#include <algorithm>

namespace warpscope::compute {
namespace {

/// CUDA opens a GPU in about 0.3 s, much slower on a machine that was just started.
const Patience opening{std::chrono::seconds(60), {}};

/// The most helper processes of one device: one runs the visible kernels, one tries the next edit.
constexpr int most_of_a_device = 2;

}  // namespace

HelperPool::Ready HelperPool::start(const std::string& wish) const {
    Ready started{wish, std::make_unique<HelperProcess>(program_)};
    ask_for_device(*started.process, wish);
    return started;
}

std::unique_ptr<HelperProcess> HelperPool::take(const std::string& wish) {
    const std::lock_guard lock(mutex_);
    auto found = std::ranges::find_if(ready_, [&](const Ready& ready) {
        return ready.wish == wish && ready.process->has_answered();
    });
    if (found == ready_.end()) found = std::ranges::find(ready_, wish, &Ready::wish);
    if (found == ready_.end()) return nullptr;
    auto process = std::move(found->process);
    ready_.erase(found);
    return process;
}

void HelperPool::warm(const std::string& wish) {
    const std::lock_guard lock(mutex_);
    if (std::ranges::find(ready_, wish, &Ready::wish) != ready_.end()) return;
    try {
        ready_.push_back(start(wish));
    } catch (const std::exception&) {
        // device() will report the error.
    }
}

std::unique_ptr<Device> HelperPool::device(const std::string& wish, std::string reason) {
    std::unique_ptr<HelperProcess> process = take(wish);
    DeviceInfo info;
    try {
        if (process) info = opened_device(*process, opening);
    } catch (const DeviceLost&) {
        process = nullptr;  // it ended while it was not in use
    }
    if (!process) {
        process = start(wish).process;
        info = opened_device(*process, opening);
    }
    info.reason = std::move(reason);
    {
        const std::lock_guard lock(mutex_);
        ++in_use_[wish];
    }
    keep_spare(wish);
    const auto back = [pool = weak_from_this(), wish](std::unique_ptr<HelperProcess> returned) {
        if (const auto alive = pool.lock()) alive->give_back(wish, std::move(returned));
    };
    return make_helper_device(std::move(process), std::move(info), back);
}

void HelperPool::give_back(const std::string& wish,
                           std::unique_ptr<HelperProcess> process) noexcept {
    try {
        if (process) ask_for_device(*process, wish);
    } catch (const std::exception&) {
        process = nullptr;  // it has ended
    }
    {
        const std::lock_guard lock(mutex_);
        const auto alike = std::ranges::count(ready_, wish, &Ready::wish);
        if (--in_use_[wish] + alike < most_of_a_device && process)
            ready_.push_back({wish, std::move(process)});
    }
    keep_spare(wish);
}

void HelperPool::keep_spare(const std::string& wish) noexcept {
    bool enough = false;
    {
        const std::lock_guard lock(mutex_);
        enough = in_use_[wish] >= most_of_a_device;
    }
    if (!enough) warm(wish);
}

}  // namespace warpscope::compute
