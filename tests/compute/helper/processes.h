#pragma once

#include <sys/types.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

namespace warpscope::tests {

/// Whether the condition holds within half a minute.
template <class Condition>
bool soon(Condition holds) {
    for (int i = 0; i < 3000 && !holds(); ++i)
        std::this_thread::sleep_for(std::chrono::milliseconds(10));
    return holds();
}

/// The ids of the helper processes of this process.
inline std::vector<pid_t> helper_ids() {
    std::vector<pid_t> found;
    const auto self = std::to_string(::getpid());
    for (const auto& task : std::filesystem::directory_iterator("/proc/self/task")) {
        std::ifstream children(task.path() / "children");
        for (pid_t id; children >> id;) {
            std::ifstream name("/proc/" + std::to_string(id) + "/comm");
            std::string text;
            if (name >> text) found.push_back(id);
        }
    }
    return found;
}

/// The fields of /proc/ID/stat from the state on; none: there is no such process.
inline std::vector<std::string> stat_of(pid_t id) {
    std::ifstream stat("/proc/" + std::to_string(id) + "/stat");
    std::string text;
    if (!std::getline(stat, text)) return {};
    std::istringstream fields(text.substr(text.rfind(')') + 2));
    return {std::istream_iterator<std::string>(fields), {}};
}

/// True if the process is gone, or a zombie none of whose threads is left.
inline bool has_ended(pid_t id) {
    const std::vector<std::string> stat = stat_of(id);
    return stat.empty() || (stat[0] == "Z" && std::stol(stat[17]) <= 1);
}

/// The time that the threads of the process have computed, in ticks of 10 ms.
inline long ticks_of(pid_t id) {
    const std::vector<std::string> stat = stat_of(id);
    return stat.empty() ? 0 : std::stol(stat[11]) + std::stol(stat[12]);
}

/// Waits until the process has computed for 30 ms more than `ticks`: it is in a launch.
inline bool computes_soon(pid_t id, long ticks) {
    return soon([&] { return ticks_of(id) >= ticks + 3; });
}

}  // namespace warpscope::tests
