#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <utility>

#include "compiler/debug/dwarf.h"
#include "compiler/signature.h"

namespace warpscope::compiler {

/// The types of a debug information. Its functions throw DebugInfoError.
class TypeReader {
  public:
    explicit TypeReader(const DebugInfo& info) : info_(info) {}

    /// The type at this offset in .debug_info. None is void, and gives null.
    std::shared_ptr<const Type> read(std::optional<std::uint64_t> offset);

  private:
    using TypePointer = std::shared_ptr<const Type>;
    /// How much of a type is read: all of it; no members of structures behind pointers; or no
    /// members at all. Structures that have pointers to their own type end at this limit.
    enum class Extent { whole, without_pointees, no_members };

    TypePointer read(std::optional<std::uint64_t> offset, Extent extent);
    void fill(Type& type, const DebugEntry& entry, Extent extent);
    void fill_array(Type& type, const DebugEntry& entry, Extent extent);
    static std::shared_ptr<const Type> bit_field(const DebugEntry& member,
                                                 const std::shared_ptr<const Type>& number);
    void fill_members(Type& type, const DebugEntry& entry);
    const DebugEntry* unqualified(std::optional<std::uint64_t> offset, bool& is_const) const;

    const DebugInfo& info_;
    std::map<std::pair<std::uint64_t, Extent>, TypePointer> known_;
    std::size_t depth_ = 0;
};

}  // namespace warpscope::compiler
