#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "compiler/dwarf.h"
#include "compiler/signature.h"

namespace warpscope::compiler {

enum class Typedefs { kept, resolved };

/// Returns the name of a type as the source has it, without its own const and volatile. None is
/// "void". Throws DebugInfoError.
std::string type_name(const DebugInfo& info, std::optional<std::uint64_t> type, Typedefs typedefs);

/// A name of the debug information as people write it: "Vec<int, 2>" for "Vec<int,2>", "float*" for
/// "float *", "Params::(unnamed)" for "_ZN6ParamsUt_E".
std::string readable_name(std::string_view name);

/// The identifiers of a mangled nested name, joined by "::", without unnamed namespaces: "lib::sum"
/// for "_ZN3lib3sumEPf". Empty for other names.
/// Source: Itanium C++ ABI, "Mangling".
std::string nested_name(std::string_view mangled);

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
