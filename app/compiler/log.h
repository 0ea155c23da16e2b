#pragma once

#include <string_view>
#include <vector>

#include "compiler/nvrtc.h"

namespace warpscope::compiler {

/// What NVRTC's log says about the text: messages in the log's order, each with what it says on
/// further lines ("argument types are: …"). Columns count bytes, as the log does. Bytes that are no
/// UTF-8 are replaced, and what is very long or very much is cut.
std::vector<Diagnostic> read_log(std::string_view log, const Request& request);

/// A sentence of the compiler or of a person as messages can hold it: one line, UTF-8, not too
/// long.
std::string clean(std::string_view text);

/// "kernels/ripple.cu:3: identifier \"b\" is undefined"
std::string place_and_text(const Request& request, const Diagnostic& diagnostic);

/// The same text wherever it was compiled: `.file` says "kernels/ripple.cu" for the request's file,
/// "kernels/NAME.cu" for others that #line names and "cuda/NAME" for the toolkit's headers.
std::string portable_ptx(std::string_view ptx, const Request& request);

}  // namespace warpscope::compiler
