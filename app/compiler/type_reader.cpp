#include "compiler/type_reader.h"

#include <fmt/format.h>

#include <charconv>
#include <limits>
#include <string_view>
#include <utility>
#include <vector>

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

std::shared_ptr<const Type> number_of(Type::Kind kind, std::size_t bytes, std::string name) {
    Type type{.kind = kind, .name = name, .canonical = std::move(name), .bytes = bytes};
    return std::make_shared<const Type>(std::move(type));
}

std::shared_ptr<const Type> pointer_to(std::shared_ptr<const Type> target) {
    Type type{.kind = Type::Kind::pointer, .name = target->name + "*", .bytes = 8};
    type.canonical = type.name;
    type.target = std::move(target);
    return std::make_shared<const Type>(std::move(type));
}

namespace {

using Kind = Type::Kind;

/// Types may be nested this deep, which is more than any source has.
constexpr std::size_t deepest_read_type = 100;
constexpr std::size_t pointer_bytes = 8;

/// The kind of a base type by its encoding. Source: DWARF 4, figure 19.
Kind kind_of(const DebugEntry& base) {
    constexpr std::uint64_t boolean = 2, floating = 4, signed_integer = 5, signed_character = 6,
                            unsigned_integer = 7, unsigned_character = 8, utf = 0x10;
    if (base.name == "char") return Kind::character;
    switch (base.encoding) {
        case boolean:
            return Kind::boolean;
        case floating:
            return Kind::floating;
        case signed_integer:
        case signed_character:
            return Kind::signed_integer;
        case unsigned_integer:
        case unsigned_character:
        case utf:
            return Kind::unsigned_integer;
        default:
            return Kind::other;
    }
}

/// Structures of cuda_fp16.h and cuda_bf16.h that hold one number.
bool is_half(const Type& type) {
    return type.bytes == 2 && (type.canonical == "__half" || type.canonical == "__nv_bfloat16");
}

/// A base class is a member with the name "__b_4Base".
std::string_view member_name(std::string_view name) {
    constexpr std::string_view base = "__b_";
    if (!name.starts_with(base)) return name;
    const std::size_t letters = name.find_first_not_of("0123456789", base.size());
    return letters == std::string_view::npos ? name : name.substr(letters);
}

}  // namespace

TypeReader::TypePointer TypeReader::read(std::optional<std::uint64_t> offset) {
    return read(offset, Extent::whole);
}

/// Returns the type without const, volatile, restrict and typedefs; null: void.
const DebugEntry* TypeReader::unqualified(std::optional<std::uint64_t> offset,
                                          bool& is_const) const {
    is_const = false;
    for (std::size_t depth = 0; depth <= deepest_read_type; ++depth) {
        if (!offset) return nullptr;
        const DebugEntry& entry = info_.at(*offset);
        switch (entry.tag) {
            case DebugTag::const_type:
                is_const = true;
                break;
            case DebugTag::volatile_type:
            case DebugTag::restrict_type:
            case DebugTag::typedef_name:
                break;
            case DebugTag::unspecified_type:
                return entry.name == "void" ? nullptr : &entry;
            default:
                return &entry;
        }
        offset = entry.type;
    }
    throw DebugInfoError("a type is nested too deeply");
}

TypeReader::TypePointer TypeReader::read(std::optional<std::uint64_t> offset, Extent extent) {
    bool is_const = false;
    const DebugEntry* const entry = unqualified(offset, is_const);
    if (!entry) return nullptr;
    TypePointer& known = known_[{*offset, extent}];
    if (known) return known;
    if (++depth_ > deepest_read_type) throw DebugInfoError("a type is nested too deeply");
    const auto type = std::make_shared<Type>();
    type->name = type_name(info_, offset, Typedefs::kept);
    type->canonical = type_name(info_, offset, Typedefs::resolved);
    type->bytes = std::size_t(entry->bytes);
    fill(*type, *entry, extent);
    --depth_;
    return known = type;
}

void TypeReader::fill(Type& type, const DebugEntry& entry, Extent extent) {
    switch (entry.tag) {
        case DebugTag::base_type:
            type.kind = kind_of(entry);
            return;
        case DebugTag::enumeration_type:
            type.kind = Kind::enumeration;
            for (const std::size_t child : entry.children) {
                const DebugEntry& one = info_.entries()[child];
                if (one.tag == DebugTag::enumerator)
                    type.names.emplace_back(readable_name(one.name), one.offset);
            }
            return;
        case DebugTag::pointer_type:
        case DebugTag::reference_type:
        case DebugTag::rvalue_reference_type:
            type.kind = Kind::pointer;
            type.bytes = pointer_bytes;
            (void)unqualified(entry.type, type.target_is_const);
            type.target = read(entry.type, extent == Extent::whole ? extent : Extent::no_members);
            return;
        case DebugTag::array_type:
            return fill_array(type, entry, extent);
        case DebugTag::structure_type:
        case DebugTag::class_type:
        case DebugTag::union_type:
            type.kind = is_half(type) ? Kind::floating : Kind::structure;
            if (type.kind == Kind::structure && extent != Extent::no_members)
                fill_members(type, entry);
            return;
        case DebugTag::subroutine_type:
            type.kind = Kind::function;
            return;
        default:
            type.kind = Kind::other;
    }
}

/// An entry has a subrange for each dimension, which becomes an array of the next ones.
void TypeReader::fill_array(Type& type, const DebugEntry& entry, Extent extent) {
    std::vector<std::size_t> counts;
    for (const std::size_t child : entry.children) {
        const DebugEntry& range = info_.entries()[child];
        if (range.tag == DebugTag::subrange_type)
            counts.push_back(std::size_t(range.count.value_or(0)));
    }
    if (counts.empty() || counts.size() > deepest_read_type)
        throw DebugInfoError("an array has no size");
    const std::string element = type_name(info_, entry.type, Typedefs::kept);
    const std::string canonical = type_name(info_, entry.type, Typedefs::resolved);
    TypePointer inner = read(entry.type, extent);
    if (!inner) throw DebugInfoError("an array has elements without a type");
    for (std::size_t i = counts.size(); i-- > 0;) {
        Type array;
        array.kind = Kind::array;
        array.count = counts[i];
        if (inner->bytes != 0 && array.count > std::numeric_limits<int>::max() / inner->bytes)
            throw DebugInfoError("an array is too large");
        array.bytes = array.count * inner->bytes;
        array.target = inner;
        std::string extents;
        for (std::size_t j = i; j < counts.size(); ++j) extents += fmt::format("[{}]", counts[j]);
        array.name = i == 0 ? type.name : element + extents;
        array.canonical = i == 0 ? type.canonical : canonical + extents;
        if (i == 0)
            type = std::move(array);
        else
            inner = std::make_shared<const Type>(std::move(array));
    }
}

/// DWARF 3, 5.5.6: the bits of a bit-field are counted from the highest one of its bytes.
std::shared_ptr<const Type> TypeReader::bit_field(const DebugEntry& member,
                                                  const std::shared_ptr<const Type>& number) {
    const std::uint64_t all = 8 * number->bytes;
    if (member.bits > all || member.bits_above > all - member.bits)
        throw DebugInfoError("a bit-field lies outside its bytes");
    auto type = std::make_shared<Type>(*number);
    type->kind = Kind::bit_field;
    type->name += fmt::format(" : {}", member.bits);
    type->canonical += fmt::format(" : {}", member.bits);
    type->target = number;
    type->count = std::size_t(member.bits);
    type->first_bit = std::size_t(all - member.bits_above - member.bits);
    return type;
}

void TypeReader::fill_members(Type& type, const DebugEntry& entry) {
    for (const std::size_t child : entry.children) {
        const DebugEntry& member = info_.entries()[child];
        if (member.tag != DebugTag::member && member.tag != DebugTag::inheritance) continue;
        Member& added = type.members.emplace_back();
        added.name = member_name(member.name);
        added.offset = std::size_t(member.offset);
        added.type = read(member.type, Extent::without_pointees);
        if (!added.type) throw DebugInfoError("a member has no type");
        if (added.offset > type.bytes || added.type->bytes > type.bytes - added.offset)
            throw DebugInfoError("a member lies outside its structure");
        if (added.name.empty() && member.tag == DebugTag::inheritance)
            added.name = added.type->name;
        if (member.bits > 0) added.type = bit_field(member, added.type);
    }
}

}  // namespace warpscope::compiler
