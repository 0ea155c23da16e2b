#pragma once

#include <compare>
#include <map>
#include <vector>

#include "emulator/program/source_line.h"
#include "emulator/ptx/ptx_lexer.h"

namespace warpscope::emulator {

/// The source lines of a kernel's or function's statements, as its .loc directives tell them.
class SourceLines {
  public:
    /// Reads a .loc directive.
    void read(Lexer& lexer);
    /// The line of the statements that follow. It has no PTX line.
    const SourceLine& here() const { return here_; }

  private:
    /// The position in a .loc. It tells a place where a function was inlined from others.
    struct Position {
        std::int32_t file = -1, line = 0, column = 0;
        auto operator<=>(const Position&) const = default;
    };
    /// Code of other files, inlined into a line of the kernel's file.
    struct Inlining {
        std::int32_t line = 0;        ///< of the kernel's file; 0 where it is not known
        std::vector<FileLine> lines;  ///< see SourceLine::inlined
    };

    static Position position(Lexer& lexer);
    Inlining inlining_at(const Position& caller) const;

    SourceLine here_;
    std::int32_t kernel_file_ = -1;         ///< the file of the first .loc
    std::map<Position, Inlining> inlined_;  ///< the newest .loc of each position, in other files
};

}  // namespace warpscope::emulator
