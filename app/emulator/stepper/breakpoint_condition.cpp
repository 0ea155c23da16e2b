#include "emulator/stepper/breakpoint_condition.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <optional>

#include "emulator/program/error.h"

namespace warpscope::emulator {
namespace {

constexpr std::array<std::string_view, 6> comparisons{"==", "!=", "<=", ">=", "<", ">"};

std::string_view trimmed(std::string_view text) {
    const auto first = text.find_first_not_of(' ');
    if (first == std::string_view::npos) return {};
    return text.substr(first, text.find_last_not_of(' ') - first + 1);
}

/// Reads the whole text as a number; nothing for other text and for a number out of range.
template <class T, class... Format>
std::optional<T> number_in(std::string_view text, Format... format) {
    T value{};
    const char* end = text.data() + text.size();
    const auto [next, error] = std::from_chars(text.data(), end, value, format...);
    if (error != std::errc() || next != end || text.empty()) return {};
    return value;
}

std::int64_t sign_extended(std::uint64_t value, unsigned bits) {
    return std::int64_t(value << (64 - bits)) >> (64 - bits);
}

std::string kind_of(const RegisterInfo& reg) {
    if (reg.bits == 1) return "a predicate";
    return fmt::format("a {}-bit {}", reg.bits, reg.is_float ? "float" : "integer");
}

}  // namespace

BreakpointCondition::BreakpointCondition(const Kernel& kernel, std::string_view text) {
    const std::size_t at = text.find_first_of("=!<>");
    const auto found =
        std::find_if(comparisons.begin(), comparisons.end(), [&](std::string_view comparison) {
            return at != std::string_view::npos && text.substr(at).starts_with(comparison);
        });
    const std::string_view name = trimmed(text.substr(0, std::min(at, text.size())));
    const std::string_view constant =
        found == comparisons.end() ? "" : trimmed(text.substr(at + found->size()));
    if (name.empty() || constant.empty())
        throw Error(fmt::format("'{}' is no condition; write one like %r4 >= 16.", trimmed(text)));
    comparison_ = Comparison(found - comparisons.begin());
    const auto reg = std::find_if(kernel.registers.begin(), kernel.registers.end(),
                                  [&](const RegisterInfo& r) { return r.name == name; });
    if (reg == kernel.registers.end())
        throw Error(fmt::format("The kernel {} has no register {}.", kernel.name, name));
    reg_ = *reg;
    read_constant(constant);
}

void BreakpointCondition::read_constant(std::string_view text) {
    const auto bad = [&] {
        return Error(fmt::format("{} is {}, which can't be {}.", reg_.name, kind_of(reg_), text));
    };
    const bool hex = text.starts_with("0x") || text.starts_with("0X");
    if (hex) {
        const auto value = number_in<std::uint64_t>(text.substr(2), 16);
        if (!value || (reg_.bits < 64 && *value >> reg_.bits)) throw bad();
        reading_ = reg_.is_float ? Reading::as_float : Reading::as_unsigned;
        bits_ = *value;
    } else if (reg_.is_float) {
        const auto value = number_in<double>(text);
        if (!value) throw bad();
        reading_ = Reading::as_float;
        bits_ = reg_.bits == 64 ? std::bit_cast<std::uint64_t>(*value)
                                : std::bit_cast<std::uint32_t>(float(*value));
    } else if (reg_.bits == 1) {
        if (text != "0" && text != "1" && text != "false" && text != "true") throw bad();
        reading_ = Reading::as_unsigned;
        bits_ = text == "1" || text == "true";
    } else {
        const auto value = number_in<std::int64_t>(text);
        if (!value || sign_extended(std::uint64_t(*value), reg_.bits) != *value) throw bad();
        bits_ = std::uint64_t(*value);
    }
}

template <class T>
bool BreakpointCondition::compare(T value, T constant) const {
    switch (comparison_) {
        case Comparison::equal:
            return value == constant;
        case Comparison::unequal:
            return value != constant;
        case Comparison::less_equal:
            return value <= constant;
        case Comparison::greater_equal:
            return value >= constant;
        case Comparison::less:
            return value < constant;
        case Comparison::greater:
            return value > constant;
    }
    return false;
}

double BreakpointCondition::number(std::uint64_t bits) const {
    return reg_.bits == 64 ? std::bit_cast<double>(bits)
                           : double(std::bit_cast<float>(std::uint32_t(bits)));
}

bool BreakpointCondition::holds(std::uint64_t bits) const {
    switch (reading_) {
        case Reading::as_signed:
            return compare(sign_extended(bits, reg_.bits), std::int64_t(bits_));
        case Reading::as_unsigned:
            return compare(bits, bits_);
        case Reading::as_float:
            return compare(number(bits), number(bits_));
    }
    return false;
}

}  // namespace warpscope::emulator
