#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "files/sentence.h"

namespace warpscope::experiments {

/// A word, number, literal or comment in a line of CUDA C++, or the start of a directive
/// ("#include"). Operators and spaces are in no token.
struct CudaToken {
    enum class Kind : std::uint8_t { word, number, literal, comment, directive };

    std::size_t begin = 0, end = 0;  ///< bytes of the line
    Kind kind = Kind::word;
};

/// `in_comment` says whether the line begins inside a /* comment */, and is set to whether the next
/// one does.
std::vector<CudaToken> cuda_tokens(std::string_view line, bool& in_comment);

/// The source with a space for each character of a comment or literal. Lines stay where they are.
std::string code_of(std::string_view source);

bool begins_word(char c);
/// The ends of the word and of the number that `at` is in.
std::size_t end_of_word(std::string_view line, std::size_t at);
std::size_t end_of_number(std::string_view line, std::size_t at);

/// Lines, counted from 1, of the calls of __syncthreads(), cluster.sync() and cluster_sync() in a
/// kernel source: all of them, or those in the body of `function`. Comments and literals do not
/// count. Empty if there are no calls or if the function does not exist.
std::vector<int> barrier_lines(std::string_view source, std::string_view function = {});

/// "ripple.cu:71", "dot.cu:30 and 38"; "dot.cu" if `lines` is empty.
files::Sentence place(std::string_view file, const std::vector<int>& lines);

/// The names of the parameters of a kernel (`__global__`) in a CUDA C++ source, in their order; a
/// parameter without a name has an empty one. Empty where the source has no such kernel.
std::vector<std::string> parameter_names(std::string_view source, std::string_view kernel);

}  // namespace warpscope::experiments
