#pragma once

#include <algorithm>
#include <cstddef>
#include <span>
#include <vector>

#include "emulator/program/error.h"
#include "emulator/program/module.h"
#include "fuzz.h"

namespace warpscope::tests {

/// Enough to leave a short loop, and little enough for a long one.
inline constexpr std::uint64_t instruction_budget = 4000;
inline constexpr std::size_t buffer_bytes = 4096;

/// Pointers for parameters of 8 bytes, small numbers for all others.
class Arguments {
  public:
    Arguments(const emulator::Kernel& kernel, void* buffer) {
        for (const emulator::Parameter& parameter : kernel.parameters) {
            auto& value = values_.emplace_back(parameter.size);
            if (parameter.size == sizeof(buffer))
                std::copy_n(reinterpret_cast<const std::byte*>(&buffer), sizeof(buffer),
                            value.begin());
            else if (!value.empty())
                value[0] = std::byte(40);
        }
        for (const auto& value : values_) pointers_.push_back(value.data());
    }
    std::span<const void* const> get() const { return pointers_; }

  private:
    std::vector<std::vector<std::byte>> values_;
    std::vector<const void*> pointers_;
};

/// Calls `action`, which may throw Error.
template <class Action>
void with_errors(const Action& action) {
    try {
        action();
    } catch (const emulator::Error& error) {
        require(*error.what() != '\0', "an error has a text");
    }
}

}  // namespace warpscope::tests
