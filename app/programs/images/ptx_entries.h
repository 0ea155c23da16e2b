#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace warpscope::programs {

/// A kernel in a PTX text: the characters from ".visible" or ".entry" to its closing brace.
struct PtxEntry {
    std::string name;
    std::size_t begin = 0, end = 0;
};

/// Returns the kernels of a PTX text, in their order. Text that is no PTX has none.
std::vector<PtxEntry> entries_of(std::string_view ptx);

/// Returns the text without some of its entries; all other lines keep their numbers.
std::string without(std::string_view ptx, const std::vector<PtxEntry>& entries);

/// Returns the text with "cuda/NAME" for the headers of a CUDA Toolkit in its .file directives, as
/// emulator::HeaderLine wants them; lines keep their numbers.
std::string with_names_of_toolkit(std::string_view ptx);

/// Returns the compute capability that a text is for: 75 for ".target sm_75"; 0 if it names none.
unsigned target_of(std::string_view ptx);

}  // namespace warpscope::programs
