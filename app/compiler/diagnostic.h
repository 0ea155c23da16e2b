#pragma once

#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace warpscope::compiler {

enum class Severity { note, warning, error };

/// "note", "warning", "error".
inline std::string_view to_string(Severity severity) {
    switch (severity) {
        case Severity::note:
            return "note";
        case Severity::warning:
            return "warning";
        case Severity::error:
            break;
    }
    return "error";
}

/// A message of the compiler about a place in a kernel source.
struct Diagnostic {
    int line = 0;    ///< from 1; 0: about the whole source
    int column = 0;  ///< from 1; 0: unknown
    Severity severity = Severity::error;
    std::string text;  ///< "identifier \"tile\" is undefined"
    bool operator==(const Diagnostic&) const = default;
};

/// A kernel source can't be compiled. what() is the first error with its place, in one line.
struct CompileError : std::runtime_error {
    CompileError(const std::string& what, std::vector<Diagnostic> all)
        : std::runtime_error(what), diagnostics(std::move(all)) {}
    std::vector<Diagnostic> diagnostics;  ///< errors, warnings and notes, in the compiler's order
};

/// No compiler was found. what() says what to install.
struct NoCompiler : std::runtime_error {
    using std::runtime_error::runtime_error;
};

}  // namespace warpscope::compiler
