#include "compiler/type_names.h"

#include <fmt/format.h>

#include <charconv>
#include <string_view>
#include <utility>

namespace warpscope::compiler {
namespace {

constexpr std::size_t longest_type_name = 4096;
/// Pointers may point to pointers this deep, which is more than any source has.
constexpr unsigned deepest_named_type = 200;

/// Builds a name from the outside to the inside, as a declarator in C++ is read.
class Speller {
  public:
    Speller(const DebugInfo& info, Typedefs typedefs) : info_(info), typedefs_(typedefs) {}

    /// `declarator`: what stands after the name of the innermost type, such as "*" or "[3]".
    std::string spell(std::optional<std::uint64_t> type, std::string declarator, unsigned depth) {
        if (depth > deepest_named_type) throw DebugInfoError("a type is nested too deeply");
        if (declarator.size() > longest_type_name)
            throw DebugInfoError("the name of a type is too long");
        if (!type) return joined("void", declarator);
        const DebugEntry& entry = info_.at(*type);
        switch (entry.tag) {
            case DebugTag::pointer_type:
                return spell_pointer(entry, "*" + declarator, depth);
            case DebugTag::reference_type:
                return spell_pointer(entry, "&" + declarator, depth);
            case DebugTag::rvalue_reference_type:
                return spell_pointer(entry, "&&" + declarator, depth);
            case DebugTag::const_type:
                return spell_qualified(entry, "const", std::move(declarator), depth);
            case DebugTag::volatile_type:
                return spell_qualified(entry, "volatile", std::move(declarator), depth);
            case DebugTag::restrict_type:
                return spell(entry.type, std::move(declarator), depth + 1);
            case DebugTag::array_type:
                return spell(entry.type, declarator + extents(entry), depth + 1);
            case DebugTag::subroutine_type:
                return spell(entry.type, declarator + parameters(entry, depth), depth + 1);
            case DebugTag::typedef_name:
                if (typedefs_ == Typedefs::resolved)
                    return spell(entry.type, std::move(declarator), depth + 1);
                break;
            default:
                break;
        }
        return joined(entry.name.empty() ? "(unnamed)" : readable_name(entry.name), declarator);
    }

  private:
    static std::string joined(std::string name, const std::string& declarator) {
        if (declarator.starts_with('(')) name += ' ';
        name += declarator;
        if (name.size() > longest_type_name) throw DebugInfoError("the name of a type is too long");
        return name;
    }

    bool points(std::optional<std::uint64_t> type) const {
        if (!type) return false;
        const DebugTag tag = info_.at(*type).tag;
        return tag == DebugTag::pointer_type || tag == DebugTag::reference_type;
    }

    std::string spell_pointer(const DebugEntry& entry, std::string declarator, unsigned depth) {
        if (entry.type) {
            const DebugTag target = info_.at(*entry.type).tag;
            if (target == DebugTag::array_type || target == DebugTag::subroutine_type)
                declarator = "(" + declarator + ")";
        }
        return spell(entry.type, std::move(declarator), depth + 1);
    }

    /// Spells "float* const", but "const float".
    std::string spell_qualified(const DebugEntry& entry, std::string_view word,
                                std::string declarator, unsigned depth) {
        if (points(entry.type))
            return spell(entry.type, fmt::format(" {}{}", word, declarator), depth + 1);
        return joined(fmt::format("{} ", word),
                      spell(entry.type, std::move(declarator), depth + 1));
    }

    std::string extents(const DebugEntry& entry) const {
        std::string all;
        for (const std::size_t child : entry.children) {
            const DebugEntry& range = info_.entries()[child];
            if (range.tag != DebugTag::subrange_type) continue;
            all += range.count ? fmt::format("[{}]", *range.count) : "[]";
        }
        return all;
    }

    std::string parameters(const DebugEntry& entry, unsigned depth) {
        std::string all;
        for (const std::size_t child : entry.children) {
            const DebugEntry& parameter = info_.entries()[child];
            if (parameter.tag != DebugTag::formal_parameter) continue;
            if (!all.empty()) all += ", ";
            all += spell(parameter.type, "", depth + 1);
            if (all.size() > longest_type_name)
                throw DebugInfoError("the name of a type is too long");
        }
        return "(" + all + ")";
    }

    const DebugInfo& info_;
    const Typedefs typedefs_;
};

/// Removes an identifier with its length in front: "3sum". Empty if there is none.
std::string_view take_identifier(std::string_view& mangled) {
    std::size_t bytes = 0;
    const char* const end = mangled.data() + mangled.size();
    const auto read = std::from_chars(mangled.data(), end, bytes);
    const auto digits = std::size_t(read.ptr - mangled.data());
    if (read.ec != std::errc() || bytes > mangled.size() - digits) return {};
    const std::string_view identifier = mangled.substr(digits, bytes);
    mangled.remove_prefix(digits + bytes);
    return identifier;
}

std::string take_nested_name(std::string_view& mangled) {
    constexpr std::string_view nested = "_ZN";
    if (!mangled.starts_with(nested)) return "";
    mangled.remove_prefix(nested.size());
    std::string all;
    for (;;) {
        const std::string_view identifier = take_identifier(mangled);
        if (identifier.empty()) return all;
        if (identifier.starts_with("_GLOBAL__N_") || identifier.starts_with("_INTERNAL")) continue;
        if (!all.empty()) all += "::";
        all += identifier;
    }
}

}  // namespace

std::string type_name(const DebugInfo& info, std::optional<std::uint64_t> type, Typedefs typedefs) {
    for (unsigned depth = 0; type && depth <= deepest_named_type; ++depth) {
        const DebugEntry& entry = info.at(*type);
        if (entry.tag != DebugTag::const_type && entry.tag != DebugTag::volatile_type &&
            entry.tag != DebugTag::restrict_type)
            break;
        type = entry.type;
    }
    return Speller(info, typedefs).spell(type, "", 0);
}

std::string nested_name(std::string_view mangled) {
    return take_nested_name(mangled);
}

std::string readable_name(std::string_view name) {
    std::string_view rest = name;
    if (const std::string nested = take_nested_name(rest); !nested.empty())
        return rest.starts_with("Ut") ? nested + "::(unnamed)" : nested;
    std::string readable;
    for (std::size_t i = 0; i < name.size(); ++i) {
        const char next = i + 1 < name.size() ? name[i + 1] : '\0';
        if (name[i] == ' ' && (next == '*' || next == '&')) continue;
        readable += name[i];
        if (name[i] == ',' && next != ' ') readable += ' ';
    }
    return readable;
}

}  // namespace warpscope::compiler
