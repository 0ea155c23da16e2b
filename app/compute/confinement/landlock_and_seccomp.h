#pragma once

#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>

#include <cerrno>
#include <cstddef>
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

/// A program that the kernel executes at each system call (linux/filter.h), which says what becomes
/// of the call. Calls of another architecture are refused.
class SystemCallFilter {
  public:
#if defined(__x86_64__)
    static constexpr std::uint32_t architecture = AUDIT_ARCH_X86_64;
#elif defined(__aarch64__)
    static constexpr std::uint32_t architecture = AUDIT_ARCH_AARCH64;
#else
    static constexpr std::uint32_t architecture = 0;  ///< there is no filter for it
#endif
    static constexpr std::uint32_t allowed = SECCOMP_RET_ALLOW;
    /// The answer of a kernel without the call: a library then makes an older one, if it can.
    static constexpr std::uint32_t refused = SECCOMP_RET_ERRNO | ENOSYS;
    /// Whoever listens to the filter decides.
    static constexpr std::uint32_t asked = SECCOMP_RET_USER_NOTIF;

    SystemCallFilter() {
        load(offsetof(seccomp_data, arch));
        skip_unless(BPF_JEQ, architecture, 1);
        skip(1);
        answer(refused);
        load(offsetof(seccomp_data, nr));
        // The calls of x32, which have the architecture of x86-64, begin at this number.
        skip_unless(BPF_JGE, 0x40000000, 1);
        answer(refused);
    }
    void set(std::uint32_t call, std::uint32_t what) {
        skip_unless(BPF_JEQ, call, 1);
        answer(what);
    }
    /// For a call whose argument compares so with `value`; `otherwise`: for one whose does not.
    void set_if(std::uint32_t call, unsigned argument, std::uint16_t comparison,
                std::uint32_t value, std::uint32_t what, std::uint32_t otherwise) {
        skip_unless(BPF_JEQ, call, 4);
        load(std::uint32_t(offsetof(seccomp_data, args) + argument * sizeof(std::uint64_t)));
        skip_unless(comparison, value, 1);
        answer(what);
        answer(otherwise);
    }
    /// The program, which lives as long as the filter. `what`: for all other calls.
    sock_fprog program(std::uint32_t what) {
        answer(what);
        return {static_cast<unsigned short>(code_.size()), code_.data()};
    }

  private:
    void load(std::uint32_t offset) {
        code_.push_back(BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offset));
    }
    void skip(std::uint32_t steps) {
        code_.push_back(BPF_STMT(BPF_JMP | BPF_JA, steps));
    }
    void skip_unless(std::uint16_t comparison, std::uint32_t value, std::uint8_t steps) {
        code_.push_back(BPF_JUMP(std::uint16_t(BPF_JMP | comparison | BPF_K), value, 0, steps));
    }
    void answer(std::uint32_t what) {
        code_.push_back(BPF_STMT(BPF_RET | BPF_K, what));
    }

    std::vector<sock_filter> code_;
};

}  // namespace warpscope::compute
