#include "emulator/ptx/ptx_operands.h"

#include <fmt/format.h>

#include <bit>
#include <charconv>
#include <ranges>

namespace warpscope::emulator {

void Scopes::add_register(std::string name, std::int32_t index) {
    scopes_.back().registers[std::move(name)] = index;
}

void Scopes::add_parameter(std::string name, std::string unique_name) {
    scopes_.back().parameters[std::move(name)] = std::move(unique_name);
}

std::optional<std::int32_t> Scopes::find_register(std::string_view name) const {
    for (const Scope& scope : std::views::reverse(scopes_))
        if (const auto found = scope.registers.find(name); found != scope.registers.end())
            return found->second;
    return std::nullopt;
}

std::string Scopes::unique_name(std::string_view name) const {
    for (const Scope& scope : std::views::reverse(scopes_))
        if (const auto found = scope.parameters.find(name); found != scope.parameters.end())
            return found->second;
    return std::string(name);
}

namespace {

Operand number_operand(Lexer& lexer, bool negative) {
    const Token token = lexer.next();
    const std::string_view text = token.text;
    Operand result;
    if (token.kind != Token::number) lexer.fail("expected a number", token.line);
    const bool hex_float = text.size() > 2 && text[0] == '0' &&
                           (text[1] == 'f' || text[1] == 'F' || text[1] == 'd' || text[1] == 'D');
    if (hex_float) {
        const bool is_double = text[1] == 'd' || text[1] == 'D';
        std::uint64_t bits = 0;
        const auto parsed = std::from_chars(text.data() + 2, text.data() + text.size(), bits, 16);
        if (parsed.ptr != text.data() + text.size() || text.size() != (is_double ? 18u : 10u))
            lexer.fail(fmt::format("'{}' is not a number", text), token.line);
        if (negative) bits ^= is_double ? 1ull << 63 : 1ull << 31;
        result.kind = is_double ? Operand::float64 : Operand::float32;
        result.value = std::int64_t(bits);
    } else if (text.find('.') != text.npos) {
        double value = 0;
        const auto parsed = std::from_chars(text.data(), text.data() + text.size(), value);
        if (parsed.ptr != text.data() + text.size() || parsed.ec != std::errc{})
            lexer.fail(fmt::format("'{}' is not a number", text), token.line);
        result.kind = Operand::float64;
        result.value = std::bit_cast<std::int64_t>(negative ? -value : value);
    } else {
        result.kind = Operand::integer;
        const std::uint64_t value = std::uint64_t(integer_value(text));
        result.value = std::int64_t(negative ? -value : value);
    }
    return result;
}

Operand address_operand(Lexer& lexer, const Scopes& scopes) {
    Operand result;
    result.kind = Operand::address;
    if (lexer.peek().kind == Token::number || lexer.peek().is("-")) {
        result.value = lexer.expect_integer();
    } else {
        Operand base = parse_word(lexer, scopes);
        if (lexer.accept("+")) result.value = lexer.expect_integer();
        if (lexer.peek().is("-")) result.value = lexer.expect_integer();
        result.elements.push_back(std::move(base));
        while (lexer.accept(","))
            result.elements.push_back(parse_operand(lexer, scopes));  // a texture has several
    }
    lexer.expect("]");
    return result;
}

}  // namespace

Operand parse_word(Lexer& lexer, const Scopes& scopes) {
    const Token word = lexer.expect_word("an operand");
    Operand result;
    result.name = word.text;
    if (word.is("_")) return result;
    if (word.is("WARP_SZ")) {
        result.kind = Operand::integer;
        result.value = 32;
        return result;
    }
    if (const auto found = scopes.find_register(word.text)) {
        result.kind = Operand::register_;
        result.index = *found;
    } else if (word.text.starts_with('%')) {
        result.kind = Operand::special;
    } else {
        result.kind = Operand::symbol;
        result.name = scopes.unique_name(word.text);
    }
    return result;
}

Operand parse_operand(Lexer& lexer, const Scopes& scopes) {
    Operand result;
    if (lexer.accept("[")) return address_operand(lexer, scopes);
    if (lexer.accept("{")) {
        result.kind = Operand::vector;
        do {
            if (lexer.peek().is("{")) lexer.fail("braces inside braces");
            result.elements.push_back(parse_operand(lexer, scopes));
        } while (lexer.accept(","));
        lexer.expect("}");
        return result;
    }
    if (lexer.accept("!")) {
        result = parse_word(lexer, scopes);
        result.negated = true;
        return result;
    }
    if (lexer.accept("-")) return number_operand(lexer, true);
    if (lexer.peek().kind == Token::number) return number_operand(lexer, false);
    result = parse_word(lexer, scopes);
    if (lexer.accept("|")) {
        Operand pair;
        pair.kind = Operand::pair;
        pair.elements = {result, parse_word(lexer, scopes)};
        return pair;
    }
    if (result.kind == Operand::symbol && lexer.accept("+")) result.value = lexer.expect_integer();
    return result;
}

}  // namespace warpscope::emulator
