#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

#include "emulator/ptx/ptx_lexer.h"
#include "emulator/ptx/ptx_operands.h"
#include "emulator/ptx/ptx_syntax.h"

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

constexpr std::size_t most_named_registers = 200'000;

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
    static void access_elements(Statement& s);
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
            if (count < 0 || std::uint64_t(count) + kernel_.registers.size() > most_named_registers)
                lexer_.fail(fmt::format("more than {} registers", most_named_registers));
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
        if (s.name != "mov") access_elements(s);
    }
    s.text = one_line(lexer_.since(first));
    lexer_.expect(";");
}

// An element of an array is a value in mov, its address; in others it stands for an address in
// brackets (PTX ISA, "Arrays as Operands").
void BodyParser::access_elements(Statement& s) {
    for (Operand& o : s.operands)
        if (o.kind == Operand::symbol && o.index >= 0) {
            Operand element = std::move(o);
            o = {.kind = Operand::address, .value = std::exchange(element.value, 0)};
            o.elements.push_back(std::move(element));
        }
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

/// Parses the body of a kernel or function, braces included.
void parse_body(Lexer& lexer, KernelSyntax& kernel) {
    BodyParser(lexer, kernel).parse();
}

constexpr std::uint64_t most_parameter_bytes = 32764;  // PTX ISA, "Kernel Function Parameters"

/// A recursive-descent parser of the module level of PTX.
class ModuleParser {
  public:
    ModuleParser(std::string_view text, const std::string& name) : lexer_(text, name) {
        module_.name = name;
    }
    ModuleSyntax parse();

  private:
    void directive();
    void skip_line_of_words();
    void skip_braces();
    void file();
    void function();
    void entry();
    std::vector<Parameter> parameter_list();
    Dim3 extents();
    Parameter parameter();

    Lexer lexer_;
    ModuleSyntax module_;
};

ModuleSyntax ModuleParser::parse() {
    while (lexer_.peek().kind != Token::end) directive();
    return std::move(module_);
}

void ModuleParser::skip_line_of_words() {
    const std::int32_t line = lexer_.peek().line;
    while (lexer_.peek().kind != Token::end && lexer_.peek().line == line) lexer_.next();
}

void ModuleParser::skip_braces() {
    lexer_.expect("{");
    for (int depth = 1; depth > 0;) {
        if (lexer_.peek().kind == Token::end) lexer_.fail("this '{' is not closed");
        const Token token = lexer_.next();
        depth += token.is("{") - token.is("}");
    }
}

void ModuleParser::directive() {
    const Token token = lexer_.peek();
    bool external = false;
    while (lexer_.peek().is(".visible") || lexer_.peek().is(".extern") ||
           lexer_.peek().is(".weak") || lexer_.peek().is(".common"))
        external |= lexer_.next().is(".extern");
    if (lexer_.peek().is(".version") || lexer_.peek().is(".target") ||
        lexer_.peek().is(".address_size"))
        return skip_line_of_words();
    if (lexer_.peek().is(".file")) return file();
    if (lexer_.peek().is(".loc")) return SourceLines().read(lexer_);
    if (lexer_.accept(".entry")) return entry();
    if (lexer_.accept(".func")) return function();
    if (lexer_.accept(".global"))
        return parse_variables(lexer_, Space::global, external, module_.variables);
    if (lexer_.accept(".const"))
        return parse_variables(lexer_, Space::constant, external, module_.variables);
    if (lexer_.accept(".shared"))
        return parse_variables(lexer_, Space::shared, external, module_.variables);
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

void ModuleParser::file() {
    lexer_.next();
    const std::int64_t index = lexer_.expect_integer();
    if (index < 0 || index > 100'000) lexer_.fail(fmt::format("there is no file {}", index));
    module_.files.resize(std::max(module_.files.size(), std::size_t(index) + 1));
    module_.files[std::size_t(index)] = std::string(lexer_.next().text);
    while (lexer_.accept(",")) lexer_.next();  // timestamp and size
}

// .func (results) name (parameters) { body }. Without a body it is a declaration.
void ModuleParser::function() {
    KernelSyntax function;
    function.ptx_line = lexer_.peek().line;
    if (lexer_.peek().is("(")) function.results = parameter_list();
    function.name = lexer_.expect_word("a function's name").text;
    if (lexer_.peek().is("(")) function.parameters = parameter_list();
    while (!lexer_.peek().is("{")) {  // attributes such as .noreturn
        if (lexer_.peek().kind == Token::end) lexer_.fail("this .func has no end");
        if (lexer_.next().is(";")) return;
    }
    parse_body(lexer_, function);
    const std::string name = function.name;
    if (!module_.functions.emplace(name, std::move(function)).second)
        lexer_.fail(fmt::format("function '{}' is defined twice", name));
}

std::vector<Parameter> ModuleParser::parameter_list() {
    std::vector<Parameter> list;
    lexer_.expect("(");
    if (lexer_.accept(")")) return list;
    std::uint64_t offset = 0;
    do {
        Parameter p = parameter();
        offset = (offset + p.align - 1) / p.align * p.align;
        p.offset = std::uint32_t(offset);
        offset += p.size;
        if (offset > most_parameter_bytes)
            lexer_.fail(fmt::format("more than {} bytes of parameters", most_parameter_bytes));
        list.push_back(std::move(p));
    } while (lexer_.accept(","));
    lexer_.expect(")");
    return list;
}

void ModuleParser::entry() {
    KernelSyntax& kernel = module_.kernels.emplace_back();
    kernel.ptx_line = lexer_.peek().line;
    kernel.name = lexer_.expect_word("a kernel name").text;
    if (lexer_.peek().is("(")) kernel.parameters = parameter_list();
    while (!lexer_.peek().is("{")) {
        const Token hint = lexer_.next();
        if (hint.is(".reqnctapercluster")) {
            kernel.cluster = extents();
            continue;
        }
        if (hint.is(".maxntid") || hint.is(".reqntid")) {
            const std::uint64_t threads = extents().count();
            kernel.most_threads =
                std::uint32_t(std::min<std::uint64_t>(kernel.most_threads, threads));
            continue;
        }
        static constexpr std::string_view hints[] = {".minnctapersm",    ".maxnreg",
                                                     ".maxnctapersm",    ".pragma",
                                                     ".explicitcluster", ".maxclusterrank"};
        bool known = false;
        for (std::string_view h : hints) known |= hint.is(h);
        if (!known) lexer_.fail(fmt::format("unknown directive '{}'", hint.text), hint.line);
        while (lexer_.peek().kind == Token::number || lexer_.peek().kind == Token::string ||
               lexer_.peek().is(",") || lexer_.peek().is(";"))
            lexer_.next();
    }
    parse_body(lexer_, kernel);
}

// x{, y{, z}}
Dim3 ModuleParser::extents() {
    Dim3 size;
    for (std::uint32_t* extent : {&size.x, &size.y, &size.z}) {
        *extent = std::uint32_t(lexer_.expect_integer());
        if (!lexer_.accept(",")) break;
    }
    return size;
}

Parameter ModuleParser::parameter() {
    if (lexer_.peek().is(".reg")) lexer_.fail("parameters in registers are not supported");
    lexer_.expect(".param");
    Parameter p;
    std::uint32_t align = 0;
    Type type = Type::b8;
    while (lexer_.peek().kind == Token::word && lexer_.peek().text.starts_with('.')) {
        const Token word = lexer_.next();
        if (word.is(".align")) {
            align = parse_alignment(lexer_);
        } else if (word.is(".ptr")) {
            while (lexer_.peek().is(".global") || lexer_.peek().is(".shared") ||
                   lexer_.peek().is(".const") || lexer_.peek().is(".local"))
                lexer_.next();
            if (lexer_.accept(".align"))
                lexer_.expect_integer();  // alignment of the pointed-to object
        } else if (const auto known = type_named(word.text.substr(1))) {
            type = *known;
        } else {
            lexer_.fail(fmt::format("unknown parameter attribute '{}'", word.text), word.line);
        }
    }
    p.name = lexer_.expect_word("a parameter name").text;
    p.size = bytes_of(type);
    if (lexer_.accept("[")) {
        const std::uint64_t count =
            lexer_.peek().is("]") ? 0 : std::uint64_t(lexer_.expect_integer());
        if (count > most_parameter_bytes)
            lexer_.fail(fmt::format("parameter '{}' is too large", p.name));
        p.size *= std::uint32_t(count);
        lexer_.expect("]");
    }
    p.align = align ? align : bytes_of(type);
    return p;
}

}  // namespace

ModuleSyntax parse_ptx(std::string_view text, const std::string& module_name) {
    return ModuleParser(text, module_name).parse();
}

}  // namespace warpscope::emulator
