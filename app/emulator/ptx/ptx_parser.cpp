#include "emulator/ptx/ptx_parser.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstring>

namespace warpscope::emulator {

namespace {

constexpr std::uint64_t most_parameter_bytes = 32764;  // PTX ISA, "Kernel Function Parameters"
constexpr std::uint64_t most_variable_bytes = 1ull << 30;

}  // namespace

ModuleSyntax Parser::parse() {
    while (lexer_.peek().kind != Token::end) module_directive();
    return std::move(module_);
}

void Parser::skip_line_of_words() {
    const std::int32_t line = lexer_.peek().line;
    while (lexer_.peek().kind != Token::end && lexer_.peek().line == line) lexer_.next();
}

void Parser::skip_braces() {
    lexer_.expect("{");
    for (int depth = 1; depth > 0;) {
        if (lexer_.peek().kind == Token::end) lexer_.fail("this '{' is not closed");
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
    const std::int64_t index = lexer_.expect_integer();
    if (index < 0 || index > 100'000) lexer_.fail(fmt::format("there is no file {}", index));
    module_.files.resize(std::max(module_.files.size(), std::size_t(index) + 1));
    module_.files[std::size_t(index)] = std::string(lexer_.next().text);
    while (lexer_.accept(",")) lexer_.next();  // timestamp and size
}

void Parser::begin(KernelSyntax& kernel) {
    kernel_ = &kernel;
    kernel_file_ = -1;
    source_ = {};
    inlined_.clear();
    kernel.ptx_line = lexer_.peek().line;
}

// .func (results) name (parameters) { body }. Without a body it is a declaration.
void Parser::function() {
    KernelSyntax function;
    begin(function);
    if (lexer_.peek().is("(")) function.results = parameter_list();
    function.name = lexer_.expect_word("a function's name").text;
    if (lexer_.peek().is("(")) function.parameters = parameter_list();
    while (!lexer_.peek().is("{")) {  // attributes such as .noreturn
        if (lexer_.peek().kind == Token::end) lexer_.fail("this .func has no end");
        if (lexer_.next().is(";")) return;
    }
    body();
    const std::string name = function.name;
    if (!module_.functions.emplace(name, std::move(function)).second)
        lexer_.fail(fmt::format("function '{}' is defined twice", name));
}

std::vector<Parameter> Parser::parameter_list() {
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

void Parser::entry() {
    KernelSyntax& kernel = module_.kernels.emplace_back();
    begin(kernel);
    kernel.name = lexer_.expect_word("a kernel name").text;
    if (lexer_.peek().is("(")) kernel.parameters = parameter_list();
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
    if (lexer_.peek().is(".reg")) lexer_.fail("parameters in registers are not supported");
    lexer_.expect(".param");
    Parameter p;
    std::uint32_t align = 0;
    Type type = Type::b8;
    while (lexer_.peek().kind == Token::word && lexer_.peek().text.starts_with('.')) {
        const Token word = lexer_.next();
        if (word.is(".align")) {
            align = alignment();
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

std::uint32_t Parser::alignment() {
    const std::int64_t align = lexer_.expect_integer();
    if (align < 1 || align > 4096 || (align & (align - 1)))
        lexer_.fail(
            fmt::format("invalid alignment {}: a power of two up to 4096 is needed", align));
    return std::uint32_t(align);
}

Parser::VariableHead Parser::variable_head() {
    VariableHead head;
    while (lexer_.peek().kind == Token::word && lexer_.peek().text.starts_with('.')) {
        const Token word = lexer_.next();
        if (word.is(".align"))
            head.align = alignment();
        else if (word.is(".v2") || word.is(".v4"))
            head.lanes = word.is(".v2") ? 2 : 4;
        else if (word.is(".attribute")) {
            // Managed memory is as any other here: host and kernels never use it at the same time.
            lexer_.expect("(");
            const Token which = lexer_.next();
            if (!which.is(".managed"))
                lexer_.fail(fmt::format(".attribute({}) is not supported", which.text), word.line);
            lexer_.expect(")");
        } else if (const auto known = type_named(word.text.substr(1)))
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
        v.align = head.align ? head.align : std::uint32_t(v.bytes);
        while (lexer_.accept("[")) {
            if (lexer_.peek().is("]")) {
                v.dynamic = true;
                v.bytes = 0;
            } else {
                const auto count = std::uint64_t(lexer_.expect_integer());
                if (count > most_variable_bytes || v.bytes * count > most_variable_bytes)
                    lexer_.fail(fmt::format("'{}' is too large", v.name), name.line);
                v.bytes *= count;
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
    const std::int32_t line = lexer_.peek().line;
    if (lexer_.peek().kind == Token::word) return initial_address(variable, type);
    const Operand value = operand();
    std::uint64_t bits = std::uint64_t(value.value);
    if (value.kind == Operand::float64 && type == Type::f32)
        bits = std::bit_cast<std::uint32_t>(float(std::bit_cast<double>(bits)));
    else if (value.kind != Operand::integer && value.kind != Operand::float32 &&
             value.kind != Operand::float64)
        lexer_.fail(fmt::format("the initial value of '{}' is not a number", variable.name), line);
    std::byte bytes[8];
    std::memcpy(bytes, &bits, 8);
    variable.initial.insert(variable.initial.end(), bytes, bytes + bytes_of(type));
    if (variable.initial.size() > variable.bytes)
        lexer_.fail(fmt::format("'{}' has more initial values than bytes", variable.name), line);
}

// name or generic(name), either with "+ offset".
void Parser::initial_address(Variable& variable, Type type) {
    Token word = lexer_.next();
    if (word.is("generic") && lexer_.accept("(")) {
        word = lexer_.expect_word("a name");
        lexer_.expect(")");
    }
    Variable::Address address{variable.initial.size(), std::string(word.text), 0};
    if (lexer_.accept("+")) address.offset = lexer_.expect_integer();
    if (bits_of(type) != 64)
        lexer_.fail(
            fmt::format("'{}' holds an address, so it needs a type of 64 bits", variable.name),
            word.line);
    variable.initial.resize(variable.initial.size() + 8);
    if (variable.initial.size() > variable.bytes)
        lexer_.fail(fmt::format("'{}' has more initial values than bytes", variable.name),
                    word.line);
    variable.addresses.push_back(std::move(address));
}

ModuleSyntax parse_ptx(std::string_view text, const std::string& module_name) {
    return Parser(text, module_name).parse();
}

}  // namespace warpscope::emulator
