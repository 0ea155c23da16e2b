#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "emulator/warp/dim3.h"

namespace warpscope::emulator {

enum class FindingKind : std::uint8_t {
    race,           ///< two accesses of a word of shared memory that no barrier orders
    uninitialized,  ///< a read of memory that was never written
    barrier,        ///< a barrier that not every thread reaches
    memory          ///< an access outside of allocated memory, or a misaligned one
};
enum class Severity : std::uint8_t { warning, error };
/// The kinds of the two accesses of a race: the later one after the earlier one.
enum class Hazard : std::uint8_t { none, read_after_write, write_after_read, write_after_write };

/// A thread and the source line that it executes.
struct ThreadAtLine {
    std::string file;  ///< empty where the PTX carries no line information
    int line = 0;      ///< of the file; of the PTX text where `file` is empty
    Dim3 thread, block;
    std::string where() const;  ///< "kernels/ripple.cu:76", "PTX line 34"
};

/// One line of a check's result: what was found at one source line or pair of lines, how often, and
/// one example.
struct Finding {
    FindingKind kind = FindingKind::race;
    Severity severity = Severity::error;
    Hazard hazard = Hazard::none;
    std::string kernel;
    ThreadAtLine first;                  ///< of a race: the earlier access
    std::optional<ThreadAtLine> second;  ///< of a race: the later access
    std::optional<std::uint64_t> byte;   ///< offset into the block's shared memory
    std::uint64_t count = 0;  ///< accesses of single lanes; for a barrier: threads without it
    std::string sentence;     ///< the example: threads, lines, the cause
};

std::string_view to_string(FindingKind kind);   ///< "race"
std::string_view to_string(Severity severity);  ///< "warning"
std::string_view to_string(Hazard hazard);      ///< "RAW", "WAR", "WAW"; "" for none
bool has_errors(const std::vector<Finding>& findings);
/// The findings of several checks as one list: errors first, then by kind, else in the given order.
std::vector<Finding> merged(const std::vector<std::vector<Finding>>& lists);

}  // namespace warpscope::emulator
