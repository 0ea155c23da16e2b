#include "emulator/ptx/opcodes.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

namespace warpscope::emulator {

namespace {

// The words of a list: "lo" and "cc" of ".lo .cc" or "mad.lo.cc" behind its first dot.
constexpr bool has_word(std::string_view list, std::string_view word) {
    for (std::size_t at = list.find('.'); at != list.npos; at = list.find('.', at + 1)) {
        const std::size_t end = list.find_first_of(". ", at + 1);
        if (list.substr(at + 1, end == list.npos ? end : end - at - 1) == word) return true;
    }
    return false;
}

constexpr OperandRole role_of(std::string_view text, bool is_first, bool is_optional) {
    OperandRole role;
    role.is_optional = is_optional;
    const std::size_t colon = text.find(':');
    const std::string_view name = text.substr(0, colon);
    role.is_destination = is_first && (name.starts_with('d') || name.starts_with('p'));
    role.may_be_sink = name.find("/_") != name.npos;
    if (colon == text.npos) return role;
    const std::string_view type = text.substr(colon + 1);
    role.value = type == "wide" ? OperandRole::Value::wide : OperandRole::Value::own;
    if (type == "pred")
        role.own = Type::pred;
    else if (type == "b64")
        role.own = Type::b64;
    else if (type != "b32" && type != "wide")
        throw "an operand of opcodes.def has an unknown type";
    return role;
}

// "d, a{, b}": braces stand around optional operands.
constexpr OperandRoles roles_of(std::string_view text) {
    OperandRoles found;
    if (text == "*") {
        found.any = true;
        return found;
    }
    bool optional = false;
    while (!text.empty()) {
        const std::size_t end = text.find_first_of(",{}");
        const std::string_view word = text.substr(0, end);
        if (!word.empty()) {
            found.roles[found.count] = role_of(word, found.count == 0, optional);
            ++found.count;
            if (!optional) ++found.least;
        }
        if (end == text.npos) break;
        if (text[end] == '{') optional = true;
        if (text[end] == '}') optional = false;
        text.remove_prefix(end + 1);
        while (text.starts_with(' ')) text.remove_prefix(1);
    }
    return found;
}

#define ROUNDING ".rn .rz .rm .rp "
#define TESTS ".finite .infinite .number .notanumber .normal .subnormal"
#define COMPARISONS \
    ".eq .ne .lt .le .gt .ge .lo .ls .hi .hs .equ .neu .ltu .leu .gtu .geu .num .nan "
#define SPACES ".global .shared .shared::cta .shared::cluster .local .const .param "
#define ATOMICS ".add .min .max .exch .cas .and .or .xor .inc .dec "
#define EXTREMUM ".ftz .NaN .xorsign .abs "
#define FRAGMENTS ".row .col .m16n16k16 .m16n16k8 .m8n8k4 "
#define SHAPES ".m8n8k4 .m8n8k16 .m16n8k4 .m16n8k8 .m16n8k16 .m16n8k32 "
// Cache operators, scopes and memory orders. Memory is coherent and in order in the emulator.
#define CACHE                                                                                    \
    ".weak .volatile .relaxed .acquire .release .acq_rel .mmio .cta .cluster .gpu .sys .ca .cg " \
    ".cs .lu .cv .wb .wt .nc .L1::evict_normal .L1::evict_unchanged .L1::evict_first "           \
    ".L1::evict_last .L1::no_allocate .L2::64B .L2::128B .L2::256B .L2::evict_normal "           \
    ".L2::evict_first .L2::evict_last .L2::cache_hint "
#define COPY_CACHE ".L2::64B .L2::128B .L2::256B .L2::cache_hint "
#define MBARRIER_ORDER \
    ".release .acquire .relaxed .cta .cluster .shared .shared::cta .shared::cluster "

constexpr Opcode table[] = {
#define OPCODE(operation, spelling, modifiers, types, operands, kind, grammar) \
    {Operation::operation, spelling,         modifiers,       TypeList::types, \
     roles_of(operands),   OpcodeKind::kind, Grammar::grammar},
#include "emulator/ptx/opcodes.def"
#undef OPCODE
    {Operation::unknown, "", "*", TypeList::none, roles_of("*"), OpcodeKind::unknown,
     Grammar::unknown}};

// The word before the first dot.
std::string_view name_of(const Opcode& row) {
    return row.spelling.substr(0, row.spelling.find('.'));
}

using RowsByName = std::multimap<std::string_view, const Opcode*>;

const RowsByName& rows_by_name() {
    static const RowsByName rows = [] {
        RowsByName found;
        for (const Opcode& row : table)
            if (row.operation != Operation::unknown) found.emplace(name_of(row), &row);
        return found;
    }();
    return rows;
}

bool has_all_words(const std::vector<std::string>& modifiers, std::string_view spelling) {
    for (std::size_t dot = spelling.find('.'); dot != spelling.npos;
         dot = spelling.find('.', dot)) {
        const std::size_t end = spelling.find('.', ++dot);
        const std::string_view word = spelling.substr(dot, end - dot);
        if (std::find(modifiers.begin(), modifiers.end(), word) == modifiers.end()) return false;
    }
    return true;
}

const Type* first_type(const std::vector<std::string>& modifiers, Type& type) {
    for (const std::string& m : modifiers)
        if (const auto found = type_named(m)) {
            type = *found;
            return &type;
        }
    return nullptr;
}

bool admits(TypeList list, const Type* type) {
    switch (list) {
        case TypeList::none:
        case TypeList::optional:
            return true;
        case TypeList::integer:
            return type && *type != Type::pred && !is_float(*type);
        case TypeList::real:
            return type && is_float(*type);
        default:
            return type != nullptr;
    }
}

std::size_t word_count(std::string_view spelling) {
    return std::size_t(std::count(spelling.begin(), spelling.end(), '.'));
}

}  // namespace

bool Opcode::permits(std::string_view modifier) const {
    return modifiers == "*" || has_word(modifiers, modifier) || has_word(spelling, modifier);
}

std::span<const Opcode> opcode_table() {
    return table;
}

/// What whole families of opcodes are for, by the beginnings of their names.
constexpr std::pair<std::string_view, std::string_view> not_emulated[] = {
    {"tld4", "gathers of textures are not emulated"},
    {"txq", "queries of textures are not emulated: give the kernel the size"},
    {"suq", "queries of surfaces are not emulated: give the kernel the size"},
    {"sured", "reductions of surfaces are not emulated"},
    {"multimem", "the emulator has one GPU, and does not execute multimem for the memory of many"},
    {"tensormap", "the emulator does not change tensor maps: cuTensorMapEncodeTiled() makes them"},
    {"wgmma", "the emulator does not execute wgmma, the products of a group of four warps"},
    {"tcgen05", "the emulator does not execute tcgen05, the tensor cores of sm_100"}};

struct Refusal {
    std::string_view name, modifier, reason;
};

constexpr std::string_view vector_atomics = "atomics of vectors are not emulated";

/// Forms of known opcodes of sm_80 and sm_90 that are not emulated.
constexpr Refusal refusals[] = {
    {"cp", "im2col", "copies of tensors by the columns of an image are not emulated"},
    {"mma", "sp", "products of sparse matrices are not emulated"},
    {"mma", "e4m3", "products of matrices of 8-bit floats are not emulated"},
    {"mma", "e5m2", "products of matrices of 8-bit floats are not emulated"},
    {"mma", "b1", "products of matrices of bits are not emulated"},
    {"mma", "s4", "products of matrices of 4-bit integers are not emulated"},
    {"mma", "u4", "products of matrices of 4-bit integers are not emulated"},
    {"red", "v2", vector_atomics},
    {"red", "v4", vector_atomics},
    {"red", "v8", vector_atomics},
    {"atom", "v2", vector_atomics},
    {"atom", "v4", vector_atomics},
    {"atom", "v8", vector_atomics}};

const Opcode& opcode_of(Operation operation) {
    return table[std::size_t(operation)];
}

const Opcode& find_opcode(std::string_view name, const std::vector<std::string>& modifiers) {
    Type storage = Type::b32;
    const Type* type = first_type(modifiers, storage);
    const Opcode* best = &opcode_of(Operation::unknown);
    const auto [first, last] = rows_by_name().equal_range(name);
    for (auto it = first; it != last; ++it) {
        const Opcode& row = *it->second;
        if (!admits(row.types, type) || !has_all_words(modifiers, row.spelling)) continue;
        if (best->operation == Operation::unknown ||
            word_count(row.spelling) > word_count(best->spelling))
            best = &row;
    }
    return *best;
}

std::string_view why_refused(std::string_view name, const std::vector<std::string>& modifiers) {
    for (const Refusal& r : refusals)
        if (r.name == name && std::ranges::find(modifiers, r.modifier) != modifiers.end())
            return r.reason;
    return {};
}

std::string why_unknown(std::string_view name, const std::vector<std::string>& modifiers) {
    const auto [first, last] = rows_by_name().equal_range(name);
    if (first == last) {
        for (const auto& [beginning, reason] : not_emulated)
            if (name.starts_with(beginning)) return std::string(reason);
        return "unknown opcode";
    }
    Type storage = Type::b32;
    const Type* type = first_type(modifiers, storage);
    std::string spellings;
    for (auto it = first; it != last; ++it) {
        const Opcode& row = *it->second;
        if (!has_all_words(modifiers, row.spelling)) {
            spellings += fmt::format("{}{}", spellings.empty() ? "" : ", ", row.spelling);
            continue;
        }
        if (!type) return fmt::format("a type is needed behind {}", row.spelling);
        return fmt::format("{} does not have the type .{}", row.spelling, name_of(*type));
    }
    return fmt::format("unknown form of {}; the emulator knows {}", name, spellings);
}

Type wide_type(Type type) {
    if (bits_of(type) < 32) return Type::b32;
    return is_signed(type) ? Type::s64 : Type::u64;
}

}  // namespace warpscope::emulator
