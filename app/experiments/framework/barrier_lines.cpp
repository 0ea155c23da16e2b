#include "experiments/framework/barrier_lines.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <utility>

#include "experiments/framework/cuda_tokens.h"

namespace warpscope::experiments {
namespace {

/// First character of the body and one past its last; {0, 0} if there is no body.
std::pair<std::size_t, std::size_t> body_of(const std::string& code, std::string_view function) {
    const std::string name = fmt::format(" {}(", function);
    for (std::size_t at = code.find(name); at != std::string::npos; at = code.find(name, at + 1)) {
        const std::size_t begin = code.find_first_of("{;", at);
        if (begin == std::string::npos || code[begin] == ';') continue;  // a call
        int depth = 0;
        for (std::size_t i = begin; i < code.size(); ++i) {
            depth += code[i] == '{' ? 1 : code[i] == '}' ? -1 : 0;
            if (depth == 0) return {begin, i};
        }
        return {begin, code.size()};
    }
    return {0, 0};
}

}  // namespace

std::vector<int> barrier_lines(std::string_view source, std::string_view function) {
    const std::string code = code_of(source);
    const auto [begin, end] =
        function.empty() ? std::pair{std::size_t(0), code.size()} : body_of(code, function);
    std::vector<int> lines;
    for (const std::string_view barrier : {"__syncthreads", "cluster.sync", "cluster_sync();"})
        for (std::size_t at = code.find(barrier, begin); at < end; at = code.find(barrier, at + 1))
            lines.push_back(1 +
                            int(std::count(code.begin(), code.begin() + std::ptrdiff_t(at), '\n')));
    return lines;
}

std::string place(std::string_view file, const std::vector<int>& lines) {
    if (lines.empty()) return fmt::format("{}.cu", file);
    return fmt::format("{}.cu:{}", file, fmt::join(lines, " and "));
}

}  // namespace warpscope::experiments
