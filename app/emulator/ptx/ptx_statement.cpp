#include <fmt/format.h>

#include <bit>
#include <charconv>

#include "emulator/ptx/ptx_parser.h"

namespace warpscope::emulator {

namespace {

std::vector<std::string> split_at_dots(std::string_view word) {
    std::vector<std::string> parts;
    while (true) {
        const std::size_t dot = word.find('.');
        parts.emplace_back(word.substr(0, dot));
        if (dot == word.npos) return parts;
        word.remove_prefix(dot + 1);
    }
}

constexpr std::size_t most_registers = 200'000;

// A statement's text in one line: nvcc writes calls in several.
std::string one_line(std::string_view text) {
    if (text.find('\n') == text.npos) return std::string(text);
    std::string line;
    for (const char c : text) {
        const bool space = c == '\n' || c == '\r' || c == '\t' || c == ' ';
        if (!space)
            line += c;
        else if (line.back() != ' ')
            line += ' ';
    }
    return line;
}

}  // namespace

void Parser::body() {
    lexer_.expect("{");
    scopes_.assign(1, {});
    while (!scopes_.empty()) {
        const Token token = lexer_.peek();
        if (token.kind == Token::end) lexer_.fail("this kernel or function has no end");
        if (lexer_.accept("{"))
            scopes_.emplace_back();
        else if (lexer_.accept("}"))
            scopes_.pop_back();
        else if (token.is(".loc"))
            loc_directive();
        else if (lexer_.accept(".reg"))
            registers(lexer_.expect_word("a register type"));
        else if (token.text.starts_with(
                     ".reg."))  // one word, as in the inline PTX of cuda_fp16.hpp
            registers({Token::word, lexer_.next().text.substr(4), token.line});
        else if (lexer_.accept(".shared"))
            variables(Space::shared, false, kernel_->variables);
        else if (lexer_.accept(".local"))
            variables(Space::local, false, kernel_->variables);
        else if (lexer_.accept(".pragma")) {
            lexer_.next();
            lexer_.expect(";");
        } else if (lexer_.accept(".param"))
            call_parameters();
        else if (token.kind == Token::word && token.text.starts_with('.'))
            lexer_.fail(fmt::format("unknown directive '{}'", token.text));
        else
            statement();
    }
}

void Parser::registers(const Token& type_word) {
    const auto type = type_named(type_word.text.substr(1));
    if (!type)
        lexer_.fail(fmt::format("unknown register type '{}'", type_word.text), type_word.line);
    const auto declare = [&](std::string name) {
        kernel_->registers.push_back({name, *type});
        scopes_.back().registers[std::move(name)] = std::int32_t(kernel_->registers.size()) - 1;
    };
    do {
        const std::string name(lexer_.expect_word("a register name").text);
        if (lexer_.accept("<")) {
            const std::int64_t count = lexer_.expect_integer();
            if (count < 0 || std::uint64_t(count) + kernel_->registers.size() > most_registers)
                lexer_.fail(fmt::format("more than {} registers", most_registers));
            for (std::int64_t i = 0; i < count; ++i) declare(name + std::to_string(i));
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
        if (lexer_.accept(":")) return label(word);
        Statement& s = kernel_->statements.emplace_back();
        s.modifiers = split_at_dots(word.text);
    } else if (lexer_.accept("@")) {
        Statement& s = kernel_->statements.emplace_back();
        s.guard_negated = lexer_.accept("!");
        const Token name = lexer_.expect_word("a predicate");
        const auto guard = find_register(name.text);
        if (!guard || kernel_->registers[std::size_t(*guard)].type != Type::pred)
            lexer_.fail(fmt::format("unknown predicate '{}'", name.text), name.line);
        s.guard = *guard;
        s.modifiers = split_at_dots(lexer_.expect_word("an opcode").text);
    } else {
        lexer_.fail(fmt::format("unexpected '{}'", first.text));
    }
    Statement& s = kernel_->statements.back();
    s.name = s.modifiers.front();
    s.modifiers.erase(s.modifiers.begin());
    s.source = source_;
    s.source.ptx_line = first.line;
    // .param::entry and .param::func are .param: the name tells which one it is.
    for (std::string& m : s.modifiers)
        if (m.starts_with("param::")) m = "param";
    s.opcode = &find_opcode(s.name, s.modifiers);
    if (s.opcode->kind == OpcodeKind::calls) {
        call_operands(s);
    } else if (!lexer_.peek().is(";")) {
        do s.operands.push_back(operand());
        while (lexer_.accept(","));
    }
    s.text = one_line(lexer_.since(first));
    lexer_.expect(";");
}

// The rest behind "name:".
void Parser::label(const Token& name) {
    if (lexer_.accept(".callprototype")) {  // the callee's parameters tell the same
        while (!lexer_.accept(";"))
            if (lexer_.next().kind == Token::end) lexer_.fail("this .callprototype has no end");
        return;
    }
    if (lexer_.accept(".branchtargets")) {
        std::vector<std::string>& list = kernel_->branch_targets[std::string(name.text)];
        do list.emplace_back(lexer_.expect_word("a label").text);
        while (lexer_.accept(","));
        return lexer_.expect(";");
    }
    if (!kernel_->labels.emplace(name.text, kernel_->statements.size()).second)
        lexer_.fail(fmt::format("label '{}' is defined twice", name.text), name.line);
}

// call{.uni} {(results),} callee {, (arguments)} {, prototype or targets};
void Parser::call_operands(Statement& s) {
    const auto list = [&] {
        Operand o;
        o.kind = Operand::vector;
        if (lexer_.accept("(") && !lexer_.accept(")")) {
            do o.elements.push_back(operand());
            while (lexer_.accept(","));
            lexer_.expect(")");
        }
        return o;
    };
    const bool has_results = lexer_.peek().is("(");
    s.operands.push_back(list());
    if (has_results) lexer_.expect(",");
    s.operands.push_back(word_operand());
    if (lexer_.accept(",") && !lexer_.peek().is("(")) {
        lexer_.expect_word("a prototype");
        s.operands.push_back(Operand{});
        s.operands.back().kind = Operand::vector;
        return;
    }
    s.operands.push_back(list());
    if (lexer_.accept(",")) lexer_.expect_word("a prototype");
}

// The .param variables of a call. Their names are local to a scope, so each gets a unique name.
void Parser::call_parameters() {
    const std::size_t first = kernel_->variables.size();
    variables(Space::param, false, kernel_->variables);
    for (std::size_t k = first; k < kernel_->variables.size(); ++k) {
        Variable& v = kernel_->variables[k];
        std::string own = fmt::format("{}#{}", v.name, k);
        scopes_.back().parameters[v.name] = own;
        v.name = std::move(own);
    }
}

std::optional<std::int32_t> Parser::find_register(std::string_view name) const {
    for (std::size_t i = scopes_.size(); i-- > 0;) {
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
        do {
            if (lexer_.peek().is("{")) lexer_.fail("braces inside braces");
            result.elements.push_back(operand());
        } while (lexer_.accept(","));
        lexer_.expect("}");
        return result;
    }
    if (lexer_.accept("!")) {
        result = word_operand();
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
        while (lexer_.accept(",")) result.elements.push_back(operand());  // a texture has several
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
        for (std::size_t i = scopes_.size(); i-- > 0;) {
            const auto own = scopes_[i].parameters.find(word.text);
            if (own == scopes_[i].parameters.end()) continue;
            result.name = own->second;
            break;
        }
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
        std::uint64_t bits = 0;
        const auto parsed = std::from_chars(text.data() + 2, text.data() + text.size(), bits, 16);
        if (parsed.ptr != text.data() + text.size() || text.size() != (is_double ? 18u : 10u))
            lexer_.fail(fmt::format("'{}' is not a number", text), token.line);
        if (negative) bits ^= is_double ? 1ull << 63 : 1ull << 31;
        result.kind = is_double ? Operand::float64 : Operand::float32;
        result.value = std::int64_t(bits);
    } else if (text.find('.') != text.npos) {
        double value = 0;
        const auto parsed = std::from_chars(text.data(), text.data() + text.size(), value);
        if (parsed.ptr != text.data() + text.size() || parsed.ec != std::errc{})
            lexer_.fail(fmt::format("'{}' is not a number", text), token.line);
        result.kind = Operand::float64;
        result.value = std::bit_cast<std::int64_t>(negative ? -value : value);
    } else {
        result.kind = Operand::integer;
        const std::uint64_t value = std::uint64_t(integer_value(text));
        result.value = std::int64_t(negative ? -value : value);
    }
    return result;
}

}  // namespace warpscope::emulator
