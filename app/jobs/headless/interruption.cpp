#include "jobs/headless/interruption.h"

#include <condition_variable>
#include <mutex>

namespace warpscope::jobs {

Interruption::Interruption(std::chrono::milliseconds for_results)
    : thread_(
          [this, for_results](const std::stop_token& closing) { follow(closing, for_results); }) {}

void Interruption::follow(const std::stop_token& closing, std::chrono::milliseconds for_results) {
    signal_.wait(closing);
    if (signal_.number() == 0) return;
    work_.request_stop();
    std::mutex mutex;
    std::unique_lock lock(mutex);
    std::condition_variable_any().wait_for(lock, closing, for_results, [] { return false; });
    if (!closing.stop_requested()) results_.request_stop();
}

}  // namespace warpscope::jobs
