#include "compute/helper/confinement.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "compute/helper/system_calls.h"

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

// Declarations of linux/landlock.h, which may be missing or older than the kernel, as far as they
// are used here. Source: Linux "Landlock: unprivileged access control".
struct Ruleset {
    std::uint64_t files, network, scopes;
};
struct [[gnu::packed]] PathBeneath {
    std::uint64_t allowed;
    std::int32_t folder;
};
constexpr long create_ruleset = 444, add_rule = 445, restrict_self = 446;  // system calls
constexpr std::uint32_t ask_for_version = 1;
constexpr int path_beneath = 1;
constexpr std::uint64_t read_file = 1 << 2, read_folder = 1 << 3;

/// Every right that this version of Landlock can take away. Older versions know fewer rights.
Ruleset all_rights(long version) {
    const int files = version >= 5 ? 16 : version >= 3 ? 15 : version == 2 ? 14 : 13;
    Ruleset all{(std::uint64_t(1) << files) - 1, 0, 0};
    if (version >= 4) all.network = 3;
    if (version >= 6) all.scopes = 3;
    return all;
}

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

void allow_to_read(int rules, const fs::path& path) {
    const int opened = ::open(path.c_str(), O_PATH | O_CLOEXEC);
    struct stat status {};
    if (opened >= 0 && ::fstat(opened, &status) == 0) {
        const bool folder = S_ISDIR(status.st_mode);
        const PathBeneath rule{folder ? read_file | read_folder : read_file, opened};
        ::syscall(add_rule, rules, path_beneath, &rule, 0);
    }
    if (opened >= 0) ::close(opened);
}

void restrict_files(const std::vector<fs::path>& readable) {
    const long version = ::syscall(create_ruleset, nullptr, 0, ask_for_version);
    if (version < 1) return;
    const Ruleset wanted = all_rights(version);
    const int rules = int(::syscall(create_ruleset, &wanted, sizeof wanted, 0));
    if (rules < 0) return;
    for (const fs::path& path : readable) allow_to_read(rules, path);
    for (const char* path : {"/lib", "/lib64", "/usr/lib", "/usr/lib64", "/etc/ld.so.cache"})
        allow_to_read(rules, path);
    for (const std::string& path : library_folders()) allow_to_read(rules, path);
    ::syscall(restrict_self, rules, 0);
    ::close(rules);
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
