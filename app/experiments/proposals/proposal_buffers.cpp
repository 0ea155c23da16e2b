#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>

#include "experiments/arrays/half.h"
#include "experiments/launch_files/element_types.h"
#include "experiments/proposals/proposal.h"

namespace warpscope::experiments {
namespace {

using compiler::MemoryUse;
using compiler::Type;

/// A buffer with more bytes is filled with one number, which takes no time.
constexpr double most_filled = double(1 << 26);

/// Returns the type of all numbers of a struct. Null: they differ.
const Type* number_in(const Type& type) {
    if (type.kind == Type::Kind::array) return type.target ? number_in(*type.target) : nullptr;
    if (type.kind != Type::Kind::structure) return &type;
    const Type* found = nullptr;
    for (const compiler::Member& member : type.members) {
        const Type* const one = number_in(*member.type);
        if (!one || (found && (one->kind != found->kind || one->bytes != found->bytes)))
            return nullptr;
        found = one;
    }
    return found;
}

bool is_null(const std::string& text) {
    return text == "nullptr" || text == "NULL" || text == "0";
}

/// The number whose bytes all have this value, the lowest 8 bits of `value`.
Expression repeated_byte(std::int64_t value, const Type& number) {
    const std::uint64_t bits = (std::uint64_t(value) & 0xff) * 0x0101010101010101U;
    const auto integer = std::int64_t(bits) >> (64 - 8 * number.bytes);
    if (number.kind == Type::Kind::floating) {
        double real = std::bit_cast<double>(bits);
        if (number.bytes == 4) real = double(std::bit_cast<float>(std::uint32_t(bits)));
        const auto half = std::uint16_t(bits);
        if (number.bytes == 2)
            real = number.canonical.find("bfloat") == std::string::npos
                       ? double(std::bit_cast<Half>(half))
                       : double(std::bit_cast<Bfloat16>(half));
        return Expression(std::isnan(real) ? "sqrt(-1.0)" : to_string(Number(real)));
    }
    const bool has_sign =
        number.kind == Type::Kind::signed_integer || number.kind == Type::Kind::character;
    if (number.kind == Type::Kind::boolean) return Expression(integer != 0 ? "1" : "0");
    const std::int64_t all = number.bytes < 8 ? (std::int64_t(1) << 8 * number.bytes) - 1 : -1;
    return Expression(std::to_string(has_sign ? integer : integer & all));
}

/// Returns the bound of a random number: 10 in "rand ( ) % 10", 15 + 1 in "rand ( ) & 15".
std::optional<std::string> after_remainder(const std::string& text) {
    const std::size_t remainder = text.rfind(" % "), mask = text.rfind(" & ");
    const std::size_t sign = remainder == std::string::npos ? mask : remainder;
    if (sign == std::string::npos) return std::nullopt;
    std::string rest = text.substr(sign + 3);
    while (rest.ends_with(' ') || rest.ends_with(')')) rest.pop_back();
    return remainder == std::string::npos ? "( " + rest + " ) + 1" : rest;
}

}  // namespace

Fill Proposal::numbers_of(const Type& type) {
    const Type* const number = number_in(type);
    if (!number || number->kind == Type::Kind::pointer) return Expression("0");
    if (number->kind == Type::Kind::floating) return RandomFill{};
    if (number->kind == Type::Kind::character) return Expression("97 + i % 26");  // letters
    return Expression("i % 100");
}

/// What a pointer to this type can share a buffer with.
std::string Proposal::kind_of(const Type* target) {
    if (!target || target->bytes == 0) return "";
    const Type* const number = number_in(*target);
    if (!number) return target->name;
    return fmt::format("{} {}", int(number->kind), number->bytes);
}

/// The buffer of an array for pointers to this type is `buffers_` of this.
std::string Proposal::key_of(const std::string& array, const Type* target) {
    if (target && target->bytes > 0) views_[array].push_back(*target);
    return mixed_.contains(array) ? array : array + " " + kind_of(target);
}

std::set<std::string> Proposal::mixed() const {
    std::set<std::string> found;
    for (const auto& [array, views] : views_)
        for (const Type& view : views) {
            const Type* const one = number_in(view);
            const Type* const first = number_in(views[0]);
            const bool alike =
                one && first && one->bytes == first->bytes &&
                (one->kind == Type::Kind::floating) == (first->kind == Type::Kind::floating);
            if (!alike && kind_of(&view) != kind_of(&views[0])) found.insert(array);
        }
    return found;
}

MemoryUse Proposal::use_of(std::size_t parameter) const {
    const Type& type = *kernel_->parameters[parameter].type;
    const auto& known = kernel_->traits.memory;
    if (!known.empty()) return known[parameter];
    return {.reads = type.target_is_const, .writes = !type.target_is_const, .steers = true};
}

/// Whether the kernel changes the numbers that it reads.
bool Proposal::is_in_place() const {
    for (std::size_t p = 0; p < kernel_->parameters.size(); ++p)
        if (kernel_->parameters[p].type->kind == Type::Kind::pointer && use_of(p).reads &&
            !use_of(p).writes)
            return false;
    return true;
}

/// A buffer that the kernel reads and writes, beside other buffers that it only reads, is a result
/// that it adds to.
bool Proposal::begins_with_0(const MemoryUse& use) const {
    return !use.reads || (use.writes && !is_in_place());
}

/// An element for each column, or for each row and column, of the guessed sizes.
Proposal::Texts Proposal::guessed_shape(const std::string& buffer) {
    guess("the size of " + buffer, buffer);
    add_size(width());
    add_size(height());
    const Names known = numbers();
    const auto size = [&](const std::string& scalar) {  // a number that is no size, such as level 0
        const auto found = known.find(scalar);
        const bool is_size = found == known.end() || real(found->second) >= 1;
        return Expression(is_size ? scalar : to_string(guessed_size()));
    };
    if (two()) return {size(height()), size(width())};
    return {size(width())};
}

void Proposal::add_buffer(std::size_t p) {
    const compiler::KernelParameter& parameter = kernel_->parameters[p];
    ArgumentSpec argument = pointer(parameter, host_text(p), use_of(p));
    if (argument.text != parameter.name)
        arguments_.emplace_back(parameter.name, std::move(argument));
}

/// The argument of a pointer, with its buffer. `text`: what the host program passes.
ArgumentSpec Proposal::pointer(const compiler::KernelParameter& parameter,
                               const std::optional<std::string>& text, const MemoryUse& use) {
    if (is_function_pointer(*parameter.type)) {
        const std::string variable = first_name(program_, text.value_or(""));
        if (functions_.contains(variable)) return {.text = variable};
        guess("the function " + parameter.name);
        return {};
    }
    if (text && is_null(*text)) return {};
    const HostPlace place = text ? place_of(program_, *text) : HostPlace();
    if (place.array.empty()) {
        add_buffer(parameter.name, *parameter.type, use);
        return {.text = parameter.name};
    }
    std::string argument = buffer_of(place, parameter.name, *parameter.type, use);
    if (use.writes) file().show = argument;
    if (use.writes) written_.insert(argument);
    if (!place.offset.empty()) {
        const auto offset =
            values_.offset(place, parameter.type->target ? parameter.type->target->bytes : 0);
        if (!offset)
            guess("where " + parameter.name + " begins");
        else if (offset->text() != "0")
            argument += (offset->text().starts_with('-') ? " + (" : " + ") + offset->text() +
                        (offset->text().starts_with('-') ? ")" : "");
    }
    return {.text = argument};
}

/// Whether kernels before have written the array by a pointer of another type.
bool Proposal::is_changed_by_others(const std::string& array, const std::string& key) const {
    return std::ranges::any_of(buffers_, [&](const auto& other) {
        return other.first.starts_with(array + " ") && other.first != key &&
               written_.contains(other.second);
    });
}

/// The buffer of an array of the host program, which gets the name of the first parameter that it
/// is passed to, if that is free. `shape`: empty, it is that of the allocation.
std::string Proposal::buffer_of(const HostPlace& place, const std::string& parameter,
                                const Type& type, const MemoryUse& use, const Texts& shape) {
    static const Type byte{
        .kind = Type::Kind::unsigned_integer, .name = "unsigned char", .bytes = 1};
    const std::string key = key_of(place.array, type.target.get());
    const bool is_mixed = mixed_.contains(place.array);
    const Type* const target = is_mixed ? &byte : type.target.get();
    const HostArray* const array = find_array(program_, place.array);
    const bool has_type = target && target->bytes > 0;
    const auto elements = array && !array->bytes.empty()
                              ? values_.elements(array->bytes, has_type ? target->bytes : 4)
                              : std::nullopt;
    BufferSpec buffer{.type = {}, .shape = {}};
    if (!has_type) buffer.type = ElementType{};
    if (is_mixed) buffer.type = parse_element_type("unsigned char");
    bool is_filled = false;
    Fill fill =
        array ? fill_of(array->fill, target ? *target : Type{}, is_filled) : Expression("0");
    if (is_mixed && array && !array->fill.starts_with("memset")) is_filled = false;
    if (!is_filled && has_type && elements && elements->text() == "1")
        if (auto words = words_of(*target, array->fill, buffer)) {
            is_filled = true;
            fill = std::move(*words);
        }
    const auto known = buffers_.find(key);
    const std::string name = [&] {
        if (known != buffers_.end()) return known->second;
        if (free_name(parameter) == parameter) return parameter;
        std::string own;
        for (const char c : place.array) own += std::isalnum(c) != 0 ? c : '_';
        return free_name(own);
    }();
    const bool is_changed = is_changed_by_others(place.array, key);
    const auto written = written_elements(place, has_type ? target->bytes : 4);
    const bool is_unwritten = written && written->text() == "0";
    if (written) made_.written.insert_or_assign(name, *written);
    is_filled = is_filled || (is_unwritten && !is_changed);
    if (is_changed || (!is_filled && !written_.contains(name)))
        unknown_[name].insert("the numbers of " + name);
    use_numbers(name, use);
    if (known != buffers_.end()) return name;
    buffers_[key] = name;
    buffer.name = name;
    if (buffer.shape.empty())
        buffer.shape = !shape.empty()                     ? shape
                       : elements && !is_empty(*elements) ? shape_of(*elements)
                                                          : guessed_shape(name);
    buffer.fill = is_filled  ? fill
                  : is_mixed ? Fill(Expression("0"))
                             : guessed_numbers(buffer, type, use);
    try {
        double count = has_type ? double(target->bytes) : 4;
        for (const Expression& size : buffer.shape) count *= real(size.value(numbers()));
        const auto* const constant = std::get_if<Expression>(&buffer.fill);
        if (count > most_filled && !(constant && constant->names().empty())) {
            buffer.fill = Expression("1");
            unknown_[name].insert("the numbers of " + name);
            use_numbers(name, use);
        }
    } catch (const LaunchError&) {
        // The plan says why.
    }
    file().buffers.push_back(std::move(buffer));
    return name;
}

/// What a buffer is filled with of which the host program says nothing. `pointer`: its type.
Fill Proposal::guessed_numbers(const BufferSpec& buffer, const Type& pointer,
                               const MemoryUse& use) {
    const Type* const target = pointer.target.get();
    if (target && target->kind == Type::Kind::pointer && target->target)
        return addresses_of_rows(buffer, *target->target);
    if (begins_with_0(use)) return Expression("0");
    return target ? numbers_of(*target) : numbers_of({});
}

/// Pointers in a buffer lead to the rows of one more buffer, which have as many elements as the
/// kernel has columns.
Fill Proposal::addresses_of_rows(const BufferSpec& buffer, const Type& element) {
    const auto type = element_type(element);
    if (!type) return Expression("0");
    guess("the arrays that " + buffer.name + " points to", buffer.name);
    add_size(width());
    std::string rows = "1";
    for (const Expression& size : buffer.shape) rows += " * (" + size.text() + ")";
    BufferSpec all{.name = free_name(buffer.name + "_rows"),
                   .type = *type,
                   .shape = {Expression(rows), Expression(width())},
                   .fill = numbers_of(element)};
    const std::string name = all.name;
    file().buffers.push_back(std::move(all));
    return Expression(fmt::format("{} + {} * {} * i", name, type->size(), width()));
}

/// The name, or a longer one that no buffer and no scalar has.
std::string Proposal::free_name(std::string name) const {
    while (file().find_buffer(name) || find_scalar(name)) name += "_";
    return name;
}

/// An array without elements is one of which the host program does not say enough.
bool Proposal::is_empty(const Expression& elements) const {
    try {
        return whole(elements.value(numbers())) <= 0;
    } catch (const LaunchError&) {
        return false;  // the plan says why
    }
}

/// Returns the shape of a buffer: in rows where the kernel has rows of this many elements.
Proposal::Texts Proposal::shape_of(const Expression& elements) const {
    if (!two()) return {elements};
    const Names known = numbers();
    try {
        const std::int64_t count = whole(elements.value(known));
        if (find_scalar(width()) && find_scalar(height())) {
            const std::int64_t w = whole(Expression(width()).value(known));
            const std::int64_t h = whole(Expression(height()).value(known));
            if (w * h == count) return {Expression(height()), Expression(width())};
        }
        const auto root = std::int64_t(std::lround(std::sqrt(double(count))));
        if (root > 1 && root * root == count && elements.names().empty())
            return {Expression(std::to_string(root)), Expression(std::to_string(root))};
    } catch (const LaunchError&) {
        // The plan says why.
    }
    return {elements};
}

/// `known`: it is what the host program says.
Fill Proposal::fill_of(const std::string& text, const Type& type, bool& known) const {
    known = false;
    if (text.empty()) return Expression("0");
    for (const std::string_view random : {"rand", "random", "drand48", "distribution", "uniform"})
        if (text.find(random) != std::string::npos) {
            known = true;
            if (const auto range = after_remainder(text))
                if (const auto high = values_.number(*range))
                    return RandomFill{.first = 0, .second = real(*high)};
            const Type* const number = number_in(type);
            known = number && number->kind == Type::Kind::floating;  // else the range is a guess
            return numbers_of(type);
        }
    const Type* const number = number_in(type);
    if (text.starts_with("memset ( ")) {
        const auto byte = values_.number(std::string_view(text).substr(7));
        const bool has_size = !number || number->bytes > 0;
        if (!byte || (!has_size && real(*byte) != 0)) return Expression("0");
        known = true;
        if (!has_size) return Expression("0");
        // The numbers of a struct of several types are its bytes.
        static const Type one_byte{.kind = Type::Kind::unsigned_integer, .bytes = 1};
        return repeated_byte(std::int64_t(real(*byte)), number ? *number : one_byte);
    }
    const auto value = values_.expression(text);
    if (!value || !number) return Expression("0");
    known = true;
    return *value;
}

/// The window shows the last buffer that the kernel writes.
void Proposal::add_buffer(const std::string& name, const Type& type, const MemoryUse& use) {
    if (file().find_buffer(name)) return use_numbers(name, use);
    BufferSpec buffer{.name = name, .type = {}, .shape = guessed_shape(name)};
    unknown_[name].insert("the numbers of " + name);
    use_numbers(name, use);
    buffer.fill = guessed_numbers(buffer, type, use);
    if (use.writes) file().show = name;
    if (!type.target || type.target->bytes == 0) buffer.type = ElementType{};
    file().buffers.push_back(std::move(buffer));
}

}  // namespace warpscope::experiments
