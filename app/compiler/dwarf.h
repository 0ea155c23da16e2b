#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "compiler/debug_scopes.h"

namespace warpscope::compiler {

/// The debug information of a PTX text is missing, damaged or of an unknown form. what() is one
/// line.
struct DebugInfoError : std::runtime_error {
    using std::runtime_error::runtime_error;
};

/// The tags of debugging information entries that signatures and variables need.
/// Source: DWARF 4, figure 18.
enum class DebugTag : std::uint64_t {
    array_type = 0x01,
    class_type = 0x02,
    enumeration_type = 0x04,
    formal_parameter = 0x05,
    lexical_block = 0x0b,
    member = 0x0d,
    pointer_type = 0x0f,
    reference_type = 0x10,
    compile_unit = 0x11,
    structure_type = 0x13,
    subroutine_type = 0x15,
    typedef_name = 0x16,
    union_type = 0x17,
    inheritance = 0x1c,
    inlined_subroutine = 0x1d,
    subrange_type = 0x21,
    base_type = 0x24,
    const_type = 0x26,
    enumerator = 0x28,
    subprogram = 0x2e,
    variable = 0x34,
    volatile_type = 0x35,
    restrict_type = 0x37,
    name_space = 0x39,
    unspecified_type = 0x3b,
    rvalue_reference_type = 0x42,
};

/// A debugging information entry, with the attributes that signatures and variables need.
struct DebugEntry {
    DebugTag tag{};
    std::vector<std::size_t> children;  ///< indices of entries
    std::string name, linkage_name;
    std::optional<std::uint64_t> type;         ///< offset of an entry in .debug_info
    std::optional<std::uint64_t> declaration;  ///< offset of the entry that this one completes
    std::uint64_t bytes = 0;
    std::uint64_t encoding = 0;          ///< the encoding of a base type: DWARF 4, figure 19
    std::optional<std::uint64_t> count;  ///< the count of a subrange; none: unknown
    std::uint64_t offset = 0;            ///< of a member, in bytes; the value of an enumerator
    std::uint64_t bits = 0;              ///< the width of a bit-field; 0: it is no bit-field
    std::uint64_t bits_above = 0;        ///< the bits of its `bytes` that are above a bit-field
    std::uint64_t file = 0;  ///< the number of a .file directive; where it is inlined: of the call
    int line = 0;
    std::uint64_t low = 0, high = 0;   ///< the lines [low, high) of the PTX that a scope has
    std::vector<DebugPlace> places{};  ///< of a variable
};

/// The entries of the sections .debug_info and .debug_abbrev of a PTX text, of DWARF 2 to 4.
/// Sources: PTX ISA "Debugging Directives", DWARF 4 section 7.5.
class DebugInfo {
  public:
    /// Throws DebugInfoError.
    explicit DebugInfo(std::string_view ptx);

    const std::vector<DebugEntry>& entries() const { return entries_; }
    /// The texts of the section .debug_str that have labels, such as names of inlined functions.
    const std::map<std::string, std::string>& texts() const { return texts_; }
    /// Throws DebugInfoError if no entry is at this offset in .debug_info.
    const DebugEntry& at(std::uint64_t offset) const;

  private:
    friend class DebugInfoReader;
    std::vector<DebugEntry> entries_;
    std::map<std::string, std::string> texts_;                 ///< by label
    std::unordered_map<std::uint64_t, std::size_t> index_of_;  ///< indexed by offset
};

}  // namespace warpscope::compiler
