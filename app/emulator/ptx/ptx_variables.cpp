#include "emulator/ptx/ptx_variables.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstring>

#include "emulator/ptx/ptx_operands.h"

namespace warpscope::emulator {

namespace {

constexpr std::uint64_t most_variable_bytes = 1ull << 30;

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
