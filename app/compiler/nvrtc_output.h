#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

#include "compiler/nvrtc.h"

namespace warpscope::compiler {

/// The messages of a log of NVRTC, or of nvcc with g++ and the linker, in order. Continuation lines
/// ("argument types are: …") belong to the message before. Columns count bytes, as in the log.
/// Invalid UTF-8 is replaced, long texts are cut, and the number of messages is limited.
std::vector<Diagnostic> read_log(std::string_view log, const Request& request);

/// The bytes of the UTF-8 character at the start of a text that is not empty; 0 if it is invalid.
std::size_t character_bytes(std::string_view text);

/// Whether a UTF-8 character is a control character: U+0000 to U+001F or U+007F to U+009F.
bool is_control(std::string_view character);

/// Makes a text fit for a message: one line of valid UTF-8 with a limited length.
std::string clean(std::string_view text);

/// Returns a message with its place: "kernels/ripple.cu:3: identifier \"b\" is undefined".
std::string place_and_text(const Request& request, const Diagnostic& diagnostic);

/// Makes a PTX text independent of the machine's paths: a `.file` directive names
/// "kernels/ripple.cu" for the file of the request, header_in_ptx() for its headers,
/// "kernels/NAME.cu" for other files named by #line, and "cuda/NAME" for headers of the toolkit.
/// `folder` is the working directory of the compiler.
std::string portable_ptx(std::string_view ptx, const Request& request, std::string_view folder);

}  // namespace warpscope::compiler
