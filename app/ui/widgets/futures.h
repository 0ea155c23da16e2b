#pragma once

#include <chrono>

namespace warpscope::ui {

/// Whether work has ended whose result was not taken yet. It does not wait: each frame asks it.
bool is_ready(const auto& future) {
    return future.valid() && future.wait_for(std::chrono::seconds(0)) == std::future_status::ready;
}

}  // namespace warpscope::ui
