#include "compute/confinement/landlock_and_seccomp.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace warpscope::compute {
namespace {

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
constexpr std::uint64_t execute = 1 << 0, write_file = 1 << 1, read_file = 1 << 2,
                        read_folder = 1 << 3, truncate_file = 1 << 14, control_device = 1 << 15;
constexpr std::uint64_t file_rights =
    execute | write_file | read_file | truncate_file | control_device;

/// Every right that this version of Landlock can take away. Older versions know fewer rights.
Ruleset all_rights(long version) {
    const int files = version >= 5 ? 16 : version >= 3 ? 15 : version == 2 ? 14 : 13;
    Ruleset all{(std::uint64_t(1) << files) - 1, 0, 0};
    if (version >= 4) all.network = 3;
    if (version >= 6) all.scopes = 3;
    return all;
}

}  // namespace

LandlockRules::LandlockRules(Takes takes) : takes_(takes) {
    const long version = ::syscall(create_ruleset, nullptr, 0, ask_for_version);
    if (version < 1) return;
    Ruleset wanted = all_rights(version);
    if (takes == Takes::writing)
        wanted.files &= ~(execute | read_file | read_folder | control_device);
    rights_ = wanted.files;
    rules_ = Descriptor(int(::syscall(create_ruleset, &wanted, sizeof wanted, 0)));
}

void LandlockRules::leave(const std::filesystem::path& path) {
    const Descriptor opened(::open(path.c_str(), O_PATH | O_CLOEXEC));
    struct stat status {};
    if (opened.get() < 0 || ::fstat(opened.get(), &status) != 0) return;
    const std::uint64_t wanted = takes_ == Takes::all_rights ? read_file | read_folder : rights_;
    const PathBeneath rule{S_ISDIR(status.st_mode) ? wanted : wanted & file_rights, opened.get()};
    ::syscall(add_rule, rules_.get(), path_beneath, &rule, 0);
}

bool LandlockRules::restrict_thread() const {
    return ::syscall(restrict_self, rules_.get(), 0) == 0;
}

}  // namespace warpscope::compute
