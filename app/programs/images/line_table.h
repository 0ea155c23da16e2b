#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

namespace warpscope::programs {

/// The line of the instructions from an address on.
struct LineRow {
    std::uint32_t section = 0;  ///< the section of the function
    std::uint64_t address = 0;  ///< in the section
    std::string file;           ///< empty: the table names none
    int line = 0;
};

/// Reads a table of lines as DWARF 2 has them, section 6.2. `sections` has the section to which the
/// address at an offset in the table belongs. Reads a damaged table as far as it is whole.
std::vector<LineRow> read_line_table(std::span<const std::byte> table,
                                     const std::map<std::uint64_t, std::uint32_t>& sections);

}  // namespace warpscope::programs
