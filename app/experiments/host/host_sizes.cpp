#include <algorithm>
#include <array>
#include <utility>

#include "compiler/host/declarations.h"
#include "experiments/host/host_values.h"

// The bytes of types and variables, for sizeof.
namespace warpscope::experiments {
namespace {

using compiler::TokenText;

/// Words of types with their bytes. `int`, `unsigned` and `signed` say nothing beside another.
constexpr std::array<std::pair<std::string_view, std::size_t>, 24> types{
    {{"int", 0},     {"unsigned", 0}, {"signed", 0},   {"const", 0},   {"uint", 4},
     {"char", 1},    {"bool", 1},     {"short", 2},    {"half", 2},    {"__half", 2},
     {"float", 4},   {"size_t", 8},   {"long", 8},     {"double", 8},  {"int8_t", 1},
     {"uint8_t", 1}, {"int16_t", 2},  {"uint16_t", 2}, {"int32_t", 4}, {"uint32_t", 4},
     {"int64_t", 8}, {"uint64_t", 8}, {"ushort", 2},   {"uchar", 1}}};

auto find_type(std::string_view name) {
    return std::ranges::find(types, name, [](const auto& row) { return row.first; });
}

/// 16 for "float4", 0 for what is no vector.
std::size_t vector_bytes(std::string_view name) {
    const char lanes = name.empty() ? '0' : name.back();
    if (lanes < '2' || lanes > '4') return 0;
    const auto row = find_type(name.substr(0, name.size() - 1));
    if (row == types.end() || name.ends_with("_t")) return 0;
    return (row->second == 0 ? 4 : row->second) * std::size_t(lanes - '0');
}

std::string without_spaces(std::string_view text) {
    std::string all(text);
    std::erase(all, ' ');
    return all;
}

}  // namespace

void HostValues::has_type(const std::string& name, std::size_t bytes) {
    types_[without_spaces(name)] = bytes;
}

std::optional<std::size_t> HostValues::type_bytes(std::string_view name) const {
    for (int depth = 0; depth < deepest_name; ++depth) {
        if (const auto row = find_type(name); row != types.end()) return row->second;
        if (const std::size_t bytes = vector_bytes(name); bytes > 0) return bytes;
        if (const auto known = types_.find(without_spaces(name)); known != types_.end())
            return known->second;
        const auto value = program_.values.find(name);
        if (value == program_.values.end()) return std::nullopt;
        name = value->second;
        while (name.ends_with(' ')) name.remove_suffix(1);
        if (name.find("unsigned") != std::string_view::npos && name.find(' ') != name.npos)
            name = name.substr(name.rfind(' ') + 1);
    }
    return std::nullopt;
}

std::optional<std::string> HostValues::variable_bytes(std::string_view operand) const {
    const TokenText text(operand);
    std::size_t begin = 0, end = text.size(), levels = 0;
    for (; text.is(begin, "(") && text.after_closing(begin) == end; ++begin) --end;
    for (; text.is(begin, "*"); ++begin) ++levels;
    const auto found =
        text.is_word(begin) ? program_.variables.find(text.text(begin)) : program_.variables.end();
    if (found == program_.variables.end()) return std::nullopt;
    for (++begin; text.is(begin, "["); ++levels)
        begin = text.after_closing(begin).value_or(text.size());
    const HostVariable& variable = found->second;
    const std::size_t arrays = variable.extents.size(), all = arrays + variable.pointers;
    if (begin != end || levels > all) return std::nullopt;
    std::string bytes;
    for (std::size_t d = levels; d < arrays; ++d) bytes += "( " + variable.extents[d] + " ) * ";
    const bool is_pointer = variable.pointers > 0 && levels < all;
    return bytes + (is_pointer ? "8" : "sizeof ( " + variable.type + " )");
}

}  // namespace warpscope::experiments
