#include "emulator/ptx_parser.h"

#include <fmt/format.h>

#include <bit>
#include <cstring>

namespace warpscope::emulator {

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

ModuleSyntax parse_ptx(std::string_view text, const std::string& module_name) {
    return Parser(text, module_name).parse();
}

}  // namespace warpscope::emulator
