#include "compute/confinement/confinement.h"

#include <fmt/format.h>
#include <sys/prctl.h>
#include <sys/resource.h>

#include <algorithm>
#include <cstdlib>
#include <string_view>

#include "compute/confinement/landlock.h"
#include "compute/confinement/system_calls.h"

namespace warpscope::compute {
namespace {

namespace fs = std::filesystem;

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool sanitized = true;
#elif defined(__has_feature)
constexpr bool sanitized = __has_feature(address_sanitizer) || __has_feature(thread_sanitizer);
#else
constexpr bool sanitized = false;
#endif

std::string_view variable(const char* name) {
    const char* const value = std::getenv(name);
    return value ? value : "";
}

/// The absolute folders of LD_LIBRARY_PATH.
std::vector<std::string> library_folders() {
    std::vector<std::string> found;
    for (std::string_view left = variable("LD_LIBRARY_PATH"); !left.empty();) {
        const std::size_t end = std::min(left.find(':'), left.size());
        if (left.starts_with('/')) found.emplace_back(left.substr(0, end));
        left.remove_prefix(std::min(end + 1, left.size()));
    }
    return found;
}

void restrict_files(const std::vector<fs::path>& readable) {
    LandlockRules rules(LandlockRules::Takes::all_rights);
    if (!rules.exist()) return;
    for (const fs::path& path : readable) rules.leave(path);
    for (const char* path : {"/lib", "/lib64", "/usr/lib", "/usr/lib64", "/etc/ld.so.cache"})
        rules.leave(path);
    for (const std::string& path : library_folders()) rules.leave(path);
    rules.restrict_thread();
}

/// Lowers a limit. A limit that is already lower stays.
void lower(__rlimit_resource_t which, rlim_t most) {
    rlimit now{};
    if (::getrlimit(which, &now) != 0) return;
    now.rlim_max = std::min(now.rlim_max, most);
    now.rlim_cur = std::min(now.rlim_cur, now.rlim_max);
    ::setrlimit(which, &now);
}

}  // namespace

void confine(const std::vector<fs::path>& readable) {
    if (sanitized) return;
    constexpr rlim_t address_space = rlim_t(4) << 30;
    lower(RLIMIT_AS, address_space);
    lower(RLIMIT_FSIZE, 0);
    ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
    restrict_files(readable);
    restrict_system_calls();
}

std::vector<std::string> compiler_environment() {
    std::vector<std::string> kept;
    for (const char* const name : {"HOME", "XDG_DATA_HOME", "CUDA_HOME", "CUDA_PATH",
                                   "ASAN_OPTIONS", "LSAN_OPTIONS", "TSAN_OPTIONS", "UBSAN_OPTIONS"})
        if (std::getenv(name)) kept.push_back(fmt::format("{}={}", name, variable(name)));
    if (const std::vector<std::string> folders = library_folders(); !folders.empty())
        kept.push_back(fmt::format("LD_LIBRARY_PATH={}", fmt::join(folders, ":")));
    return kept;
}

void limit_cpu_time(std::chrono::seconds more) {
    rlimit limit{};
    rusage used{};
    if (::getrlimit(RLIMIT_CPU, &limit) != 0 || ::getrusage(RUSAGE_SELF, &used) != 0) return;
    limit.rlim_cur = limit.rlim_max;
    // The kernel counts whole seconds; the parts of two seconds make less than two.
    const auto seconds = used.ru_utime.tv_sec + used.ru_stime.tv_sec + 2 + more.count();
    if (more.count() > 0) limit.rlim_cur = std::min(limit.rlim_max, rlim_t(seconds));
    ::setrlimit(RLIMIT_CPU, &limit);
}

}  // namespace warpscope::compute
