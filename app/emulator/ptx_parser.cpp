#include <fmt/format.h>

#include <bit>
#include <charconv>
#include <cstring>
#include <optional>

#include "emulator/error.h"
#include "emulator/ptx_lexer.h"
#include "emulator/ptx_syntax.h"

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

class Parser {
  public:
    Parser(std::string_view text, const std::string& name) : lexer_(text, name) {
        module_.name = name;
    }
    ModuleSyntax parse();

  private:
    struct Scope {
        std::map<std::string, int32_t, std::less<>> registers;
    };
    struct VariableHead {
        uint32_t align = 0;
        uint32_t lanes = 1;
        Type type = Type::b8;
    };

    void module_directive();
    void skip_line_of_words();
    void skip_braces();
    void file_directive();
    void loc_directive();
    void function();
    void entry();
    Parameter parameter();
    void variables(Space space, bool external, std::vector<Variable>& into);
    VariableHead variable_head();
    void initialiser(Variable& variable, Type type);
    void initial_value(Variable& variable, Type type);
    void body();
    void registers();
    void statement();
    Operand operand();
    Operand address_operand();
    Operand word_operand();
    Operand number_operand(bool negative);
    std::optional<int32_t> find_register(std::string_view name) const;

    Lexer lexer_;
    ModuleSyntax module_;
    KernelSyntax* kernel_ = nullptr;
    std::vector<Scope> scopes_;
    SourceLine source_;
    int32_t kernel_file_ = -1;
};

ModuleSyntax Parser::parse() {
    while (lexer_.peek().kind != Token::end) module_directive();
    return std::move(module_);
}

void Parser::skip_line_of_words() {
    const int32_t line = lexer_.peek().line;
    while (lexer_.peek().kind != Token::end && lexer_.peek().line == line) lexer_.next();
}

void Parser::skip_braces() {
    lexer_.expect("{");
    for (int depth = 1; depth > 0;) {
        if (lexer_.peek().kind == Token::end) lexer_.fail("a '{' is not closed");
        const Token token = lexer_.next();
        depth += token.is("{") - token.is("}");
    }
}

void Parser::module_directive() {
    const Token token = lexer_.peek();
    bool external = false;
    while (lexer_.peek().is(".visible") || lexer_.peek().is(".extern") ||
           lexer_.peek().is(".weak") || lexer_.peek().is(".common"))
        external |= lexer_.next().is(".extern");
    if (lexer_.peek().is(".version") || lexer_.peek().is(".target") ||
        lexer_.peek().is(".address_size"))
        return skip_line_of_words();
    if (lexer_.peek().is(".file")) return file_directive();
    if (lexer_.peek().is(".loc")) return loc_directive();
    if (lexer_.accept(".entry")) return entry();
    if (lexer_.accept(".func")) return function();
    if (lexer_.accept(".global")) return variables(Space::global, external, module_.variables);
    if (lexer_.accept(".const")) return variables(Space::constant, external, module_.variables);
    if (lexer_.accept(".shared")) return variables(Space::shared, external, module_.variables);
    if (lexer_.accept(".section")) {
        lexer_.expect_word("a section name");
        return skip_braces();
    }
    if (lexer_.accept(".pragma")) {
        lexer_.next();
        return lexer_.expect(";");
    }
    lexer_.fail(fmt::format("unknown directive '{}'", lexer_.peek().text), token.line);
}

void Parser::file_directive() {
    lexer_.next();
    const int index = int(lexer_.expect_integer());
    module_.files[index] = std::string(lexer_.next().text);
    while (lexer_.accept(",")) lexer_.next();  // timestamp and size
}

// Code inlined from another file, such as a CUDA header, is shown at the line that it was inlined
// into; if that is in another file too, the line before stays.
void Parser::loc_directive() {
    const int32_t ptx_line = lexer_.peek().line;
    lexer_.next();
    SourceLine found{int32_t(lexer_.expect_integer()), int32_t(lexer_.expect_integer()), ptx_line};
    lexer_.expect_integer();  // column
    if (kernel_file_ < 0) kernel_file_ = found.file;
    while (lexer_.accept(",")) {
        const Token word = lexer_.next();
        if (word.is("function_name")) {
            lexer_.next();
            if (lexer_.accept("+")) lexer_.expect_integer();
        } else if (word.is("inlined_at")) {
            SourceLine at{int32_t(lexer_.expect_integer()), int32_t(lexer_.expect_integer()),
                          ptx_line};
            lexer_.expect_integer();
            if (found.file != kernel_file_) found = at;
        } else {
            lexer_.fail(fmt::format("unknown .loc attribute '{}'", word.text), word.line);
        }
    }
    // Line 0 is the compiler's word for "no line of its own".
    if (found.file == kernel_file_ && found.line > 0) source_ = found;
}

// Device functions that were not inlined are skipped; a call of one is an error in the decoder.
void Parser::function() {
    while (!lexer_.peek().is("{")) {
        if (lexer_.peek().kind == Token::end) lexer_.fail("a .func does not end");
        if (lexer_.next().is(";")) return;
    }
    skip_braces();
}

void Parser::entry() {
    KernelSyntax& kernel = module_.kernels.emplace_back();
    kernel_ = &kernel;
    kernel_file_ = -1;
    source_ = {};
    kernel.ptx_line = lexer_.peek().line;
    kernel.name = lexer_.expect_word("a kernel name").text;
    if (lexer_.accept("(") && !lexer_.accept(")")) {
        uint32_t offset = 0;
        do {
            Parameter p = parameter();
            offset = (offset + p.align - 1) / p.align * p.align;
            p.offset = offset;
            offset += p.size;
            kernel.parameters.push_back(std::move(p));
        } while (lexer_.accept(","));
        lexer_.expect(")");
    }
    while (!lexer_.peek().is("{")) {
        const Token hint = lexer_.next();
        static constexpr std::string_view hints[] = {".maxntid", ".reqntid",      ".minnctapersm",
                                                     ".maxnreg", ".maxnctapersm", ".pragma"};
        bool known = false;
        for (std::string_view h : hints) known |= hint.is(h);
        if (!known) lexer_.fail(fmt::format("unknown directive '{}'", hint.text), hint.line);
        while (lexer_.peek().kind == Token::number || lexer_.peek().kind == Token::string ||
               lexer_.peek().is(",") || lexer_.peek().is(";"))
            lexer_.next();
    }
    body();
}

Parameter Parser::parameter() {
    lexer_.expect(".param");
    Parameter p;
    uint32_t align = 0;
    Type type = Type::b8;
    while (lexer_.peek().kind == Token::word && lexer_.peek().text.starts_with('.')) {
        const Token word = lexer_.next();
        if (word.is(".align")) {
            align = uint32_t(lexer_.expect_integer());
        } else if (word.is(".ptr")) {
            while (lexer_.peek().is(".global") || lexer_.peek().is(".shared") ||
                   lexer_.peek().is(".const") || lexer_.peek().is(".local"))
                lexer_.next();
            if (lexer_.accept(".align")) lexer_.expect_integer();  // of what it points to
        } else if (const auto known = type_named(word.text.substr(1))) {
            type = *known;
        } else {
            lexer_.fail(fmt::format("unknown parameter attribute '{}'", word.text), word.line);
        }
    }
    p.name = lexer_.expect_word("a parameter name").text;
    p.size = bytes_of(type);
    if (lexer_.accept("[")) {
        p.size *= uint32_t(lexer_.expect_integer());
        lexer_.expect("]");
    }
    p.align = align ? align : bytes_of(type);
    return p;
}

Parser::VariableHead Parser::variable_head() {
    VariableHead head;
    while (lexer_.peek().kind == Token::word && lexer_.peek().text.starts_with('.')) {
        const Token word = lexer_.next();
        if (word.is(".align"))
            head.align = uint32_t(lexer_.expect_integer());
        else if (word.is(".v2") || word.is(".v4"))
            head.lanes = word.is(".v2") ? 2 : 4;
        else if (word.is(".attribute"))
            lexer_.fail(".attribute is not supported", word.line);
        else if (const auto known = type_named(word.text.substr(1)))
            head.type = *known;
        else
            lexer_.fail(fmt::format("unknown type '{}'", word.text), word.line);
    }
    return head;
}

void Parser::variables(Space space, bool external, std::vector<Variable>& into) {
    const VariableHead head = variable_head();
    do {
        Variable v;
        const Token name = lexer_.expect_word("a variable name");
        v.name = name.text;
        v.space = space;
        v.bytes = bytes_of(head.type) * head.lanes;
        v.align = head.align ? head.align : uint32_t(v.bytes);
        while (lexer_.accept("[")) {
            if (lexer_.peek().is("]")) {
                v.dynamic = true;
                v.bytes = 0;
            } else {
                v.bytes *= uint64_t(lexer_.expect_integer());
            }
            lexer_.expect("]");
        }
        if (external && !(space == Space::shared && v.dynamic))
            lexer_.fail(fmt::format("'{}' is defined in another module", v.name), name.line);
        if (lexer_.accept("=")) initialiser(v, head.type);
        into.push_back(std::move(v));
    } while (lexer_.accept(","));
    lexer_.expect(";");
}

void Parser::initialiser(Variable& variable, Type type) {
    if (!lexer_.accept("{")) return initial_value(variable, type);
    if (lexer_.accept("}")) return;
    do {
        if (lexer_.peek().is("{"))
            initialiser(variable, type);
        else
            initial_value(variable, type);
    } while (lexer_.accept(","));
    lexer_.expect("}");
}

void Parser::initial_value(Variable& variable, Type type) {
    const int32_t line = lexer_.peek().line;
    const Operand value = operand();
    uint64_t bits = uint64_t(value.value);
    if (value.kind == Operand::float64 && type == Type::f32)
        bits = std::bit_cast<uint32_t>(float(std::bit_cast<double>(bits)));
    else if (value.kind != Operand::integer && value.kind != Operand::float32 &&
             value.kind != Operand::float64)
        lexer_.fail(fmt::format("'{}' is initialised with an address", variable.name), line);
    std::byte bytes[8];
    std::memcpy(bytes, &bits, 8);
    variable.initial.insert(variable.initial.end(), bytes, bytes + bytes_of(type));
    if (variable.initial.size() > variable.bytes)
        lexer_.fail(fmt::format("'{}' has more initial values than bytes", variable.name), line);
}

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

}  // namespace

ModuleSyntax parse_ptx(std::string_view text, const std::string& module_name) {
    return Parser(text, module_name).parse();
}

}  // namespace warpscope::emulator
