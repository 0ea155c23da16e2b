#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <vector>

#include "emulator/program/module.h"

namespace warpscope::emulator {

/// Tells reads of memory that nobody has written from reads of padding. A load of a structure reads
/// the bytes between its members, too, and compilers load four numbers where a program needs three.
class LoadedElements {
  public:
    void begin_launch(const Kernel& kernel);

    /// Whether an access of `bytes` bytes reads a value that nobody has written, of which
    /// any_written(address, bytes) tells whether a byte there has been written. That is so where no
    /// byte of the access has been written; and, of an ld, where no byte of an element has been,
    /// whose register the kernel uses otherwise than to store it in a vector, or where a byte of it
    /// has not been that the kernel computes with. What is only copied may be padding.
    template <class AnyWritten>
    bool reads_unwritten(std::uint32_t pc, std::uint64_t address, std::uint32_t bytes,
                         const AnyWritten& any_written) {
        if (!any_written(address, bytes)) return true;
        const Elements& elements = of(pc);
        for (std::uint32_t k = 0; k * elements.bytes < bytes; ++k) {
            const auto begin = address + k * elements.bytes;
            const bool is_listed = k < elements.uses.size();
            if ((!is_listed || elements.uses[k].is_used) && !any_written(begin, elements.bytes))
                return true;
            for (std::uint32_t byte = 0; is_listed && byte < elements.bytes; ++byte)
                if (elements.uses[k].computed >> byte & 1 && !any_written(begin + byte, 1))
                    return true;
        }
        return false;
    }

    /// Whether the kernel does nothing with what an ld reads but choose between it and another
    /// value (selp), which may drop it: compilers load both of `found ? value : 0`.
    bool may_be_dropped(std::uint32_t pc) {
        const std::vector<Use>& uses = of(pc).uses;
        return !uses.empty() &&
               std::ranges::all_of(uses, [](const Use& u) { return u.is_used && !u.is_kept; });
    }

  private:
    /// What becomes of a register.
    struct Use {
        bool is_used = false;       ///< otherwise than to be stored in a vector
        bool is_kept = false;       ///< used otherwise than by selp
        std::uint8_t computed = 0;  ///< a bit for each byte that the kernel computes with
    };
    struct Elements {
        std::uint32_t bytes = 1;  ///< of one
        std::vector<Use> uses;    ///< those that are not listed are used
    };
    void find_uses();
    const Elements& of(std::uint32_t pc);
    Elements read(std::uint32_t pc) const;

    const Kernel* kernel_ = nullptr;
    std::vector<Use> uses_;  ///< by register; empty before they are needed
    std::map<std::uint32_t, Elements> by_pc_;
};

/// Whether the words of an array that nobody has written may be the padding of its structures,
/// behind a member of less alignment than the next one or at their end. `written` has each word of
/// 4 bytes of the array, from its begin.
bool may_be_padding(const std::vector<bool>& written);

}  // namespace warpscope::emulator
