#include "emulator/ptx/ptx_location.h"

#include <fmt/format.h>

#include <optional>
#include <utility>

namespace warpscope::emulator {

SourceLines::Position SourceLines::position(Lexer& lexer) {
    return {std::int32_t(lexer.expect_integer()), std::int32_t(lexer.expect_integer()),
            std::int32_t(lexer.expect_integer())};
}

// Finds the line to which code belongs that was inlined at this position of its caller.
SourceLines::Inlining SourceLines::inlining_at(const Position& caller) const {
    if (caller.file == kernel_file_) return {caller.line, {}};
    if (const auto found = inlined_.find(caller); found != inlined_.end()) return found->second;
    return {0, {{caller.file, caller.line}}};
}

// PTX ISA, "Debugging Directives: .loc": `inlined_at` is the position of the call. Where the caller
// was inlined, too, a .loc before this one has the caller's position and says where. The kernel's
// file is that of its first .loc; code that the compiler inlined from other files gets the line of
// the kernel's file that leads to it. Where that is not known, the statement keeps the line of the
// statement before it.
void SourceLines::read(Lexer& lexer) {
    const std::int32_t ptx_line = lexer.peek().line;
    lexer.next();
    const Position found = position(lexer);
    if (kernel_file_ < 0) kernel_file_ = found.file;
    std::optional<Position> caller;
    while (lexer.accept(",")) {
        const Token word = lexer.next();
        if (word.is("function_name")) {
            lexer.next();
            if (lexer.accept("+")) lexer.expect_integer();
        } else if (word.is("inlined_at")) {
            caller = position(lexer);
        } else {
            lexer.fail(fmt::format("unknown .loc attribute '{}'", word.text), word.line);
        }
    }
    // The compiler writes line 0 for code without a line.
    if (found.file == kernel_file_) {
        if (found.line > 0) here_ = {found.file, found.line, ptx_line};
        return;
    }
    if (found.line <= 0 && !caller) return;
    Inlining inlining = caller ? inlining_at(*caller) : Inlining{};
    if (found.line > 0) inlining.lines.insert(inlining.lines.begin(), {found.file, found.line});
    if (inlining.lines.size() > most_inlined) inlining.lines.resize(most_inlined);
    if (inlining.line > 0) here_ = {kernel_file_, inlining.line, ptx_line};
    here_.inlined = std::make_shared<const std::vector<FileLine>>(inlining.lines);
    inlined_[found] = std::move(inlining);
}

}  // namespace warpscope::emulator
