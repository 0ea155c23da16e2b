#pragma once

#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace warpscope::compiler {

enum class Severity { note, warning, error };

/// What the compiler says about a place in a source text, in its own words.
struct Diagnostic {
    int line = 0;    ///< from 1; 0: of the text as a whole
    int column = 0;  ///< from 1; 0: not known
    Severity severity = Severity::error;
    std::string text;  ///< "identifier \"tile\" is undefined"
    bool operator==(const Diagnostic&) const = default;
};

/// A text that can't be compiled. what() is the first error with its line, one line.
struct CompileError : std::runtime_error {
    CompileError(const std::string& what, std::vector<Diagnostic> all)
        : std::runtime_error(what), diagnostics(std::move(all)) {}
    std::vector<Diagnostic> diagnostics;  ///< errors, warnings and notes, in the compiler's order
};

/// There is no compiler here; what() says what to install.
struct NoCompiler : std::runtime_error {
    using std::runtime_error::runtime_error;
};

}  // namespace warpscope::compiler
