#include "emulator/ptx/ptx_body.h"

#include <fmt/format.h>

#include <map>
#include <utility>

#include "emulator/ptx/ptx_location.h"
#include "emulator/ptx/ptx_operands.h"
#include "emulator/ptx/ptx_variables.h"

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

// Brings a statement's text into one line, since nvcc writes calls in several.
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

class BodyParser {
  public:
    BodyParser(Lexer& lexer, KernelSyntax& kernel) : lexer_(lexer), kernel_(kernel) {}
    void parse();

  private:
    void open();
    void close();
    void registers(const Token& type_word);  ///< such as .b32
    void call_parameters();
    void label(const Token& name);
    void statement();
    void call_operands(Statement& s);
    Operand operand() { return parse_operand(lexer_, scopes_); }

    Lexer& lexer_;
    KernelSyntax& kernel_;
    Scopes scopes_;
    SourceLines lines_;
    /// A scope: its first statement, and its labels with the statements behind them.
    struct LabelScope {
        std::size_t first = 0;
        std::map<std::string, std::size_t> labels;
    };
    std::vector<LabelScope> label_scopes_;
    std::size_t scopes_with_labels_ = 0;
};

void BodyParser::parse() {
    lexer_.expect("{");
    open();
    while (!scopes_.is_empty()) {
        const Token token = lexer_.peek();
        if (token.kind == Token::end) lexer_.fail("this kernel or function has no end");
        if (lexer_.accept("{"))
            open();
        else if (lexer_.accept("}"))
            close();
        else if (token.is(".loc"))
            lines_.read(lexer_);
        else if (lexer_.accept(".reg"))
            registers(lexer_.expect_word("a register type"));
        else if (token.text.starts_with(
                     ".reg."))  // one word, as in the inline PTX of cuda_fp16.hpp
            registers({Token::word, lexer_.next().text.substr(4), token.line});
        else if (lexer_.accept(".shared"))
            parse_variables(lexer_, Space::shared, false, kernel_.variables);
        else if (lexer_.accept(".local"))
            parse_variables(lexer_, Space::local, false, kernel_.variables);
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

void BodyParser::open() {
    scopes_.open();
    label_scopes_.push_back({kernel_.statements.size(), {}});
}

// A label is known in its scope and in the scopes within. Labels of inner scopes, such as those of
// inline PTX, get names of their own in the kernel.
void BodyParser::close() {
    scopes_.close();
    const LabelScope scope = std::move(label_scopes_.back());
    label_scopes_.pop_back();
    if (scope.labels.empty()) return;
    const bool inner = !label_scopes_.empty();
    const std::string suffix = inner ? fmt::format("#{}", ++scopes_with_labels_) : "";
    for (const auto& [name, statement] : scope.labels)
        kernel_.labels.emplace(name + suffix, statement);
    if (!inner) return;
    for (std::size_t k = scope.first; k < kernel_.statements.size(); ++k) {
        Statement& s = kernel_.statements[k];
        if (s.opcode->kind != OpcodeKind::branches) continue;
        for (Operand& o : s.operands)
            if (o.kind == Operand::symbol && scope.labels.contains(o.name)) o.name += suffix;
    }
}

void BodyParser::registers(const Token& type_word) {
    const auto type = type_named(type_word.text.substr(1));
    if (!type)
        lexer_.fail(fmt::format("unknown register type '{}'", type_word.text), type_word.line);
    const auto declare = [&](std::string name) {
        scopes_.add_register(name, std::int32_t(kernel_.registers.size()));
        kernel_.registers.push_back({std::move(name), *type});
    };
    do {
        const std::string name(lexer_.expect_word("a register name").text);
        if (lexer_.accept("<")) {
            const std::int64_t count = lexer_.expect_integer();
            if (count < 0 || std::uint64_t(count) + kernel_.registers.size() > most_registers)
                lexer_.fail(fmt::format("more than {} registers", most_registers));
            for (std::int64_t i = 0; i < count; ++i) declare(name + std::to_string(i));
            lexer_.expect(">");
        } else {
            declare(name);
        }
    } while (lexer_.accept(","));
    lexer_.expect(";");
}

void BodyParser::statement() {
    const Token first = lexer_.peek();
    if (first.kind == Token::word) {
        const Token word = lexer_.next();
        if (lexer_.accept(":")) return label(word);
        Statement& s = kernel_.statements.emplace_back();
        s.modifiers = split_at_dots(word.text);
    } else if (lexer_.accept("@")) {
        Statement& s = kernel_.statements.emplace_back();
        s.guard_negated = lexer_.accept("!");
        const Token name = lexer_.expect_word("a predicate");
        const auto guard = scopes_.find_register(name.text);
        if (!guard || kernel_.registers[std::size_t(*guard)].type != Type::pred)
            lexer_.fail(fmt::format("unknown predicate '{}'", name.text), name.line);
        s.guard = *guard;
        s.modifiers = split_at_dots(lexer_.expect_word("an opcode").text);
    } else {
        lexer_.fail(fmt::format("unexpected '{}'", first.text));
    }
    Statement& s = kernel_.statements.back();
    s.name = s.modifiers.front();
    s.modifiers.erase(s.modifiers.begin());
    s.source = lines_.here();
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

// Parses what follows "name:".
void BodyParser::label(const Token& name) {
    if (lexer_.accept(".callprototype")) {  // the callee's parameters tell the same
        while (!lexer_.accept(";"))
            if (lexer_.next().kind == Token::end) lexer_.fail("this .callprototype has no end");
        return;
    }
    if (lexer_.accept(".branchtargets")) {
        std::vector<std::string>& list = kernel_.branch_targets[std::string(name.text)];
        do list.emplace_back(lexer_.expect_word("a label").text);
        while (lexer_.accept(","));
        return lexer_.expect(";");
    }
    if (!label_scopes_.back().labels.emplace(name.text, kernel_.statements.size()).second)
        lexer_.fail(fmt::format("label '{}' is defined twice", name.text), name.line);
}

// call{.uni} {(results),} callee {, (arguments)} {, prototype or targets};
void BodyParser::call_operands(Statement& s) {
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
    s.operands.push_back(parse_word(lexer_, scopes_));
    if (lexer_.accept(",") && !lexer_.peek().is("(")) {
        lexer_.expect_word("a prototype");
        s.operands.push_back(Operand{});
        s.operands.back().kind = Operand::vector;
        return;
    }
    s.operands.push_back(list());
    if (lexer_.accept(",")) lexer_.expect_word("a prototype");
}

// Declares the .param variables of a call. Their names are local to a scope, so each gets a unique
// name.
void BodyParser::call_parameters() {
    const std::size_t first = kernel_.variables.size();
    parse_variables(lexer_, Space::param, false, kernel_.variables);
    for (std::size_t k = first; k < kernel_.variables.size(); ++k) {
        Variable& v = kernel_.variables[k];
        std::string own = fmt::format("{}#{}", v.name, k);
        scopes_.add_parameter(v.name, own);
        v.name = std::move(own);
    }
}

}  // namespace

void parse_body(Lexer& lexer, KernelSyntax& kernel) {
    BodyParser(lexer, kernel).parse();
}

}  // namespace warpscope::emulator
