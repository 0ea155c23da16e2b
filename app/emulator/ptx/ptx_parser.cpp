#include <fmt/format.h>

#include <algorithm>

#include "emulator/ptx/ptx_body.h"
#include "emulator/ptx/ptx_location.h"
#include "emulator/ptx/ptx_variables.h"

namespace warpscope::emulator {

namespace {

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
