#include "emulator/ptx/ptx_operands.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <charconv>
#include <cstring>
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

constexpr std::uint64_t most_variable_bytes = 1ull << 30;

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
    if (result.kind == Operand::symbol && lexer.accept("[")) {
        const std::int64_t element = lexer.expect_integer();
        if (element < 0 || std::uint64_t(element) > most_variable_bytes)
            lexer.fail(fmt::format("'{}' has no element {}", result.name, element));
        result.index = std::int32_t(element);
        lexer.expect("]");
    }
    if (result.kind == Operand::symbol && lexer.accept("+")) result.value = lexer.expect_integer();
    return result;
}

namespace {

struct VariableHead {
    std::uint32_t align = 0;
    std::uint32_t lanes = 1;
    Type type = Type::b8;
};

VariableHead variable_head(Lexer& lexer) {
    VariableHead head;
    while (lexer.peek().kind == Token::word && lexer.peek().text.starts_with('.')) {
        const Token word = lexer.next();
        if (word.is(".align"))
            head.align = std::max(head.align, parse_alignment(lexer));
        else if (word.is(".v2") || word.is(".v4"))
            head.lanes = word.is(".v2") ? 2 : 4;
        else if (word.is(".attribute")) {
            lexer.expect("(");
            const Token which = lexer.next();
            if (!which.is(".managed"))
                lexer.fail(fmt::format(".attribute({}) is not supported", which.text), word.line);
            // Its pages hold nothing else, so that accesses of the host to it can be watched.
            head.align = 4096;
            lexer.expect(")");
        } else if (const auto known = type_named(word.text.substr(1)))
            head.type = *known;
        else
            lexer.fail(fmt::format("unknown type '{}'", word.text), word.line);
    }
    return head;
}

// name or generic(name), either with "+ offset".
void initial_address(Lexer& lexer, Variable& variable, Type type) {
    Token word = lexer.next();
    if (word.is("generic") && lexer.accept("(")) {
        word = lexer.expect_word("a name");
        lexer.expect(")");
    }
    Variable::Address address{variable.initial.size(), std::string(word.text), 0};
    if (lexer.accept("+")) address.offset = lexer.expect_integer();
    if (bits_of(type) != 64)
        lexer.fail(
            fmt::format("'{}' holds an address, so it needs a type of 64 bits", variable.name),
            word.line);
    variable.initial.resize(variable.initial.size() + 8);
    if (variable.initial.size() > variable.bytes)
        lexer.fail(fmt::format("'{}' has more initial values than bytes", variable.name),
                   word.line);
    variable.addresses.push_back(std::move(address));
}

void initial_value(Lexer& lexer, Variable& variable, Type type) {
    const std::int32_t line = lexer.peek().line;
    if (lexer.peek().kind == Token::word) return initial_address(lexer, variable, type);
    const Operand value = parse_operand(lexer, Scopes());
    std::uint64_t bits = std::uint64_t(value.value);
    if (value.kind == Operand::float64 && type == Type::f32)
        bits = std::bit_cast<std::uint32_t>(float(std::bit_cast<double>(bits)));
    else if (value.kind != Operand::integer && value.kind != Operand::float32 &&
             value.kind != Operand::float64)
        lexer.fail(fmt::format("the initial value of '{}' is not a number", variable.name), line);
    std::byte bytes[8];
    std::memcpy(bytes, &bits, 8);
    variable.initial.insert(variable.initial.end(), bytes, bytes + bytes_of(type));
    if (variable.initial.size() > variable.bytes)
        lexer.fail(fmt::format("'{}' has more initial values than bytes", variable.name), line);
}

void initialiser(Lexer& lexer, Variable& variable, Type type) {
    if (!lexer.accept("{")) return initial_value(lexer, variable, type);
    if (lexer.accept("}")) return;
    do {
        if (lexer.peek().is("{"))
            initialiser(lexer, variable, type);
        else
            initial_value(lexer, variable, type);
    } while (lexer.accept(","));
    lexer.expect("}");
}

}  // namespace

std::uint32_t parse_alignment(Lexer& lexer) {
    const std::int64_t align = lexer.expect_integer();
    if (align < 1 || align > 4096 || (align & (align - 1)))
        lexer.fail(fmt::format("invalid alignment {}: a power of two up to 4096 is needed", align));
    return std::uint32_t(align);
}

void parse_variables(Lexer& lexer, Space space, bool external, std::vector<Variable>& into) {
    const VariableHead head = variable_head(lexer);
    do {
        Variable v;
        const Token name = lexer.expect_word("a variable name");
        v.name = name.text;
        v.space = space;
        v.bytes = bytes_of(head.type) * head.lanes;
        v.element_bytes = std::uint32_t(v.bytes);
        v.align = head.align ? head.align : std::uint32_t(v.bytes);
        while (lexer.accept("[")) {
            if (lexer.peek().is("]")) {
                v.dynamic = true;
                v.bytes = 0;
            } else {
                const auto count = std::uint64_t(lexer.expect_integer());
                if (count > most_variable_bytes || v.bytes * count > most_variable_bytes)
                    lexer.fail(fmt::format("'{}' is too large", v.name), name.line);
                v.bytes *= count;
            }
            lexer.expect("]");
        }
        if (external && !(space == Space::shared && v.dynamic))
            lexer.fail(fmt::format("'{}' is defined in another module", v.name), name.line);
        if (lexer.accept("=")) initialiser(lexer, v, head.type);
        into.push_back(std::move(v));
    } while (lexer.accept(","));
    lexer.expect(";");
}

}  // namespace warpscope::emulator
