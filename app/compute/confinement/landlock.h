#pragma once

#include <cstdint>
#include <filesystem>
#include <vector>

#include "compute/confinement/descriptor.h"

namespace warpscope::compute {

/// Rules of Landlock, which takes rights from threads: what they may do only below some folders.
class LandlockRules {
  public:
    /// Each takes away every right that the kernel knows, or those that change files.
    enum class Takes { all_rights, writing };

    explicit LandlockRules(Takes takes);
    /// False: the kernel has no Landlock, which Linux 5.13 and newer have.
    bool exist() const { return rules_.get() >= 0; }
    /// Leaves the rights below a folder, or for a file, that these rules take away. With all_rights
    /// it is only the one to read. A path that does not exist is left out.
    void leave(const std::filesystem::path& path);
    /// Restricts the calling thread and what it starts from now on. Needs PR_SET_NO_NEW_PRIVS.
    bool restrict_thread() const;

  private:
    Takes takes_;
    std::uint64_t rights_ = 0;  ///< to files that are taken away
    Descriptor rules_;
};

}  // namespace warpscope::compute
