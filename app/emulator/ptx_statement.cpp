#include <fmt/format.h>

#include <bit>
#include <charconv>

#include "emulator/ptx_parser.h"

namespace warpscope::emulator {

namespace {

std::vector<std::string> split_at_dots(std::string_view word) {
    std::vector<std::string> parts;
    while (true) {
        const size_t dot = word.find('.');
        parts.emplace_back(word.substr(0, dot));
        if (dot == word.npos) return parts;
        word.remove_prefix(dot + 1);
    }
}

}  // namespace

void Parser::body() {
    lexer_.expect("{");
    scopes_.assign(1, {});
    while (!scopes_.empty()) {
        const Token token = lexer_.peek();
        if (token.kind == Token::end) lexer_.fail("a kernel does not end");
        if (lexer_.accept("{"))
            scopes_.emplace_back();
        else if (lexer_.accept("}"))
            scopes_.pop_back();
        else if (token.is(".loc"))
            loc_directive();
        else if (lexer_.accept(".reg"))
            registers();
        else if (lexer_.accept(".shared"))
            variables(Space::shared, false, kernel_->variables);
        else if (lexer_.accept(".local"))
            variables(Space::local, false, kernel_->variables);
        else if (lexer_.accept(".pragma")) {
            lexer_.next();
            lexer_.expect(";");
        } else if (token.is(".param"))  // how a call begins
            lexer_.fail("calls of functions are not supported: inline them");
        else if (token.kind == Token::word && token.text.starts_with('.'))
            lexer_.fail(fmt::format("unknown directive '{}'", token.text));
        else
            statement();
    }
}

void Parser::registers() {
    const Token type_word = lexer_.expect_word("a register type");
    const auto type = type_named(type_word.text.substr(1));
    if (!type)
        lexer_.fail(fmt::format("unknown register type '{}'", type_word.text), type_word.line);
    const auto declare = [&](std::string name) {
        kernel_->registers.push_back({name, *type});
        scopes_.back().registers[std::move(name)] = int32_t(kernel_->registers.size()) - 1;
    };
    do {
        const std::string name(lexer_.expect_word("a register name").text);
        if (lexer_.accept("<")) {
            const int64_t count = lexer_.expect_integer();
            if (count < 0 || count > 1'000'000) lexer_.fail("too many registers");
            for (int64_t i = 0; i < count; ++i) declare(name + std::to_string(i));
            lexer_.expect(">");
        } else {
            declare(name);
        }
    } while (lexer_.accept(","));
    lexer_.expect(";");
}

void Parser::statement() {
    const Token first = lexer_.peek();
    if (first.kind == Token::word) {
        const Token word = lexer_.next();
        if (lexer_.accept(":")) {
            if (!kernel_->labels.emplace(word.text, kernel_->statements.size()).second)
                lexer_.fail(fmt::format("label '{}' stands twice", word.text), word.line);
            if (lexer_.peek().is(".branchtargets") || lexer_.peek().is(".callprototype"))
                lexer_.fail(fmt::format("{} is not supported", lexer_.peek().text));
            return;
        }
        Statement& s = kernel_->statements.emplace_back();
        s.modifiers = split_at_dots(word.text);
    } else if (lexer_.accept("@")) {
        Statement& s = kernel_->statements.emplace_back();
        s.guard_negated = lexer_.accept("!");
        const Token name = lexer_.expect_word("a predicate");
        const auto guard = find_register(name.text);
        if (!guard) lexer_.fail(fmt::format("unknown predicate '{}'", name.text), name.line);
        s.guard = *guard;
        s.modifiers = split_at_dots(lexer_.expect_word("an opcode").text);
    } else {
        lexer_.fail(fmt::format("unexpected '{}'", first.text));
    }
    Statement& s = kernel_->statements.back();
    s.opcode = s.modifiers.front();
    s.modifiers.erase(s.modifiers.begin());
    s.source = source_;
    s.source.ptx_line = first.line;
    if (s.opcode == "call")
        lexer_.fail("calls of functions are not supported: inline them", first.line);
    if (!lexer_.peek().is(";")) {
        do s.operands.push_back(operand());
        while (lexer_.accept(","));
    }
    s.text = std::string(lexer_.since(first));
    lexer_.expect(";");
}

std::optional<int32_t> Parser::find_register(std::string_view name) const {
    for (size_t i = scopes_.size(); i-- > 0;) {
        const auto found = scopes_[i].registers.find(name);
        if (found != scopes_[i].registers.end()) return found->second;
    }
    return std::nullopt;
}

Operand Parser::operand() {
    Operand result;
    if (lexer_.accept("[")) return address_operand();
    if (lexer_.accept("{")) {
        result.kind = Operand::vector;
        do result.elements.push_back(operand());
        while (lexer_.accept(","));
        lexer_.expect("}");
        return result;
    }
    if (lexer_.accept("!")) {
        result = operand();
        result.negated = true;
        return result;
    }
    if (lexer_.accept("-")) return number_operand(true);
    if (lexer_.peek().kind == Token::number) return number_operand(false);
    result = word_operand();
    if (lexer_.accept("|")) {
        Operand pair;
        pair.kind = Operand::pair;
        pair.elements = {result, word_operand()};
        return pair;
    }
    if (result.kind == Operand::symbol && lexer_.accept("+"))
        result.value = lexer_.expect_integer();
    return result;
}

Operand Parser::address_operand() {
    Operand result;
    result.kind = Operand::address;
    if (lexer_.peek().kind == Token::number || lexer_.peek().is("-")) {
        result.value = lexer_.expect_integer();
    } else {
        Operand base = word_operand();
        if (lexer_.accept("+")) result.value = lexer_.expect_integer();
        if (lexer_.peek().is("-")) result.value = lexer_.expect_integer();
        result.elements.push_back(std::move(base));
    }
    lexer_.expect("]");
    return result;
}

Operand Parser::word_operand() {
    const Token word = lexer_.expect_word("an operand");
    Operand result;
    result.name = word.text;
    if (word.is("_")) return result;
    if (word.is("WARP_SZ")) {
        result.kind = Operand::integer;
        result.value = 32;
        return result;
    }
    if (const auto found = find_register(word.text)) {
        result.kind = Operand::register_;
        result.index = *found;
    } else if (word.text.starts_with('%')) {
        result.kind = Operand::special;
    } else {
        result.kind = Operand::symbol;
    }
    return result;
}

Operand Parser::number_operand(bool negative) {
    const Token token = lexer_.next();
    const std::string_view text = token.text;
    Operand result;
    if (token.kind != Token::number) lexer_.fail("expected a number", token.line);
    const bool hex_float = text.size() > 2 && text[0] == '0' &&
                           (text[1] == 'f' || text[1] == 'F' || text[1] == 'd' || text[1] == 'D');
    if (hex_float) {
        const bool is_double = text[1] == 'd' || text[1] == 'D';
        uint64_t bits = 0;
        const auto parsed = std::from_chars(text.data() + 2, text.data() + text.size(), bits, 16);
        if (parsed.ptr != text.data() + text.size() || text.size() != (is_double ? 18u : 10u))
            lexer_.fail(fmt::format("'{}' is not a number", text), token.line);
        if (negative) bits ^= is_double ? 1ull << 63 : 1ull << 31;
        result.kind = is_double ? Operand::float64 : Operand::float32;
        result.value = int64_t(bits);
    } else if (text.find('.') != text.npos) {
        const double value = std::stod(std::string(text));
        result.kind = Operand::float64;
        result.value = std::bit_cast<int64_t>(negative ? -value : value);
    } else {
        result.kind = Operand::integer;
        const uint64_t value = uint64_t(integer_value(text));
        result.value = int64_t(negative ? -value : value);
    }
    return result;
}

}  // namespace warpscope::emulator
