#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include "experiments/launch_files/element_types.h"
#include "experiments/proposals/proposal.h"

// Variables of the device, and what the host program copies into them.
namespace warpscope::experiments {

using compiler::Type;

namespace {

/// Structures with more bytes are not read.
constexpr std::size_t most_bytes = 512;
constexpr std::string_view two_to_32 = "4294967296";

std::uint64_t bits_of(const Number& number, const Type& type) {
    if (type.kind == Type::Kind::floating)
        return type.bytes == 4 ? std::bit_cast<std::uint32_t>(float(real(number)))
                               : std::bit_cast<std::uint64_t>(real(number));
    const std::uint64_t bits = std::uint64_t(std::int64_t(real(number)));
    return type.bytes < 8 ? bits & ((std::uint64_t(1) << 8 * type.bytes) - 1) : bits;
}

}  // namespace

void Proposal::add_variable(const compiler::ModuleVariable& variable) {
    if (file().find_buffer(variable.name)) return;
    variables_[variable.name] = &variable;
    BufferSpec buffer{.name = variable.name, .type = {}, .shape = {}};
    const Type* type = variable.type.get();
    for (; type && type->kind == Type::Kind::array; type = type->target.get())
        buffer.shape.emplace_back(std::to_string(type->count));
    if (!type || buffer.shape.size() > 4) return;
    const bool is_one = buffer.shape.empty();
    if (is_one) buffer.shape.emplace_back("1");
    const HostArray* const array = find_array(program_, variable.name);
    bool known = false;
    if (type->kind == Type::Kind::pointer) {
        buffer.type = parse_element_type("uint64_t");
        const bool is_copied = array && array->fill.starts_with("& ");
        const HostPlace place =
            is_copied ? place_of(program_, array->fill) : HostPlace{variable.name, ""};
        const auto address =
            address_in(place, is_copied ? place.array : variable.name + "_memory", *type);
        known = address.has_value();
        buffer.fill = address.value_or(Expression("0"));
    } else if (const auto words =
                   is_one && array ? words_of(*type, array->fill, buffer) : std::nullopt) {
        known = true;
        buffer.fill = *words;
    } else {
        buffer.fill = array ? fill_of(array->fill, *type, known) : Expression("0");
        if (!known) buffer.fill = numbers_of(*type);
    }
    if (!known) unknown_variables_[variable.entry] = {"the numbers of " + variable.name};
    if (const auto* const fill = std::get_if<Expression>(&buffer.fill))
        for (const std::string& name : fill->names())  // buffers, whose addresses it has
            unknown_variables_[variable.entry].insert(unknown_[name].begin(), unknown_[name].end());
    file().buffers.push_back(std::move(buffer));
}

/// The words of 4 bytes of a structure that the host program copies, which become the elements of
/// the buffer. nullopt: one of its members is not known. `object`: of the host program.
std::optional<Fill> Proposal::words_of(const Type& type, const std::string& object,
                                       BufferSpec& buffer) {
    const bool is_object = !object.empty() && object.find(' ') == std::string::npos &&
                           type.kind == Type::Kind::structure && type.bytes % 4 == 0;
    if (!is_object || type.bytes > most_bytes) return std::nullopt;
    std::map<std::size_t, std::string> words;
    if (!add_words(type, 0, object, words)) return std::nullopt;
    buffer.type = parse_element_type("uint32_t");
    buffer.shape = {Expression(std::to_string(type.bytes / 4))};
    std::string all;
    for (const auto& [index, word] : words) all += fmt::format("i == {} ? {} : ", index, word);
    return Expression(all + "0");
}

/// `text`: what the host program has there. False: it is not known.
bool Proposal::add_words(const Type& type, std::size_t offset, const std::string& text,
                         std::map<std::size_t, std::string>& words) {
    const auto add = [&](std::size_t at, const std::string& word) {
        std::string& known = words[at / 4];
        known += (known.empty() ? "" : " + ") + word;
    };
    if (type.kind == Type::Kind::structure)
        return std::ranges::all_of(type.members, [&](const compiler::Member& member) {
            const auto index = std::size_t(&member - type.members.data());
            return add_words(*member.type, offset + member.offset,
                             member_of(program_, text, index, member.name), words);
        });
    if (type.kind == Type::Kind::array && type.target) {
        const bool of_pointers = type.target->kind == Type::Kind::pointer;
        for (std::size_t k = 0; k < type.count; ++k)
            if (!add_words(*type.target, offset + k * type.target->bytes,
                           of_pointers ? fmt::format("{} [ {} ]", text, k)
                                       : fmt::format("{}$at{}", text, k),
                           words))
                return false;
        return true;
    }
    if (type.kind == Type::Kind::pointer) {
        const HostPlace place = place_of(program_, text);
        if (place.array.empty()) return true;  // null
        const auto address = address_in(place, place.array, type);
        if (!address) return false;
        add(offset, fmt::format("({}) % {}", address->text(), two_to_32));
        add(offset + 4, fmt::format("({}) / {}", address->text(), two_to_32));
        return true;
    }
    const auto number = values_.number(text);
    if (!number || type.bytes == 0 || type.kind == Type::Kind::bit_field) return false;
    if (type.kind == Type::Kind::floating && type.bytes < 4) return false;
    const std::uint64_t bits = bits_of(*number, type);
    add(offset, std::to_string(bits << 8 * (offset % 4) & 0xffffffff));
    if (type.bytes == 8) add(offset + 4, std::to_string(bits >> 32));
    return true;
}

/// The address of a place in an array of the host program, whose buffer gets a name like this one.
/// nullopt: it is not known.
std::optional<Expression> Proposal::address_in(const HostPlace& place, const std::string& name,
                                               const Type& type) {
    const HostArray* const memory = find_array(program_, place.array);
    if (!memory || !type.target) return std::nullopt;
    const auto number = element_type(*type.target);
    const auto elements =
        number ? values_.elements(memory->bytes, type.target->bytes) : std::nullopt;
    const auto offset = values_.offset(place, type.target->bytes);
    if (!elements || !offset || !offset->names().empty() || is_empty(*elements))
        return std::nullopt;
    std::string plain;
    for (const char c : name) plain += std::isalnum(c) != 0 ? c : '_';
    const std::string key = key_of(place.array, type.target.get());
    if (!buffers_.contains(key)) {
        BufferSpec buffer{.name = free_name(plain), .type = number, .shape = {*elements}};
        bool known = false;
        buffer.fill = fill_of(memory->fill, *type.target, known);
        if (!known) buffer.fill = numbers_of(*type.target);
        if (!known) unknown_[buffer.name].insert("the numbers of " + buffer.name);
        buffers_[key] = buffer.name;
        file().buffers.push_back(std::move(buffer));
    }
    const std::string& own = buffers_[key];
    if (offset->text() == "0") return Expression(own);
    return Expression(fmt::format("{} + ({}) * {}", own, offset->text(), type.target->bytes));
}

}  // namespace warpscope::experiments
