#include "experiments/framework/parameter_names.h"

#include <algorithm>

#include "experiments/framework/cuda_tokens.h"

namespace warpscope::experiments {
namespace {

constexpr std::string_view spaces = " \t\r\n";

/// The parenthesis behind the name of the kernel where it is declared; npos where it is not.
std::size_t parameters_at(const std::string& code, std::string_view kernel) {
    for (std::size_t at = code.find(kernel); at != std::string::npos;
         at = code.find(kernel, at + 1)) {
        const bool begins = at == 0 || end_of_word(code, at - 1) == at - 1;
        const std::size_t open = code.find_first_not_of(spaces, at + kernel.size());
        if (!begins || open == std::string::npos || code[open] != '(') continue;
        const std::size_t before = code.find_last_of(";{}", at);
        const std::size_t from = before == std::string::npos ? 0 : before;
        if (code.substr(from, at - from).find("__global__") != std::string::npos) return open;
    }
    return std::string::npos;
}

/// The last word of a declaration, before its default and its dimensions; empty where it has no
/// other word, which is then its type.
std::string name_in(std::string_view declaration) {
    declaration = declaration.substr(0, declaration.find_first_of("=["));
    std::string_view last;
    int words = 0;
    for (std::size_t at = 0; at < declaration.size();) {
        if (!begins_word(declaration[at])) {
            ++at;
            continue;
        }
        const std::size_t end = end_of_word(declaration, at);
        last = declaration.substr(at, end - at);
        at = end;
        ++words;
    }
    return words > 1 ? std::string(last) : std::string();
}

}  // namespace

std::vector<std::string> parameter_names(std::string_view source, std::string_view kernel) {
    const std::string code = code_of(source);
    const std::size_t open = kernel.empty() ? std::string::npos : parameters_at(code, kernel);
    std::vector<std::string> names;
    if (open == std::string::npos) return names;
    int depth = 0;
    std::size_t begin = open + 1;
    for (std::size_t at = open; at < code.size(); ++at) {
        const char c = code[at];
        if (c == '(' || c == '<' || c == '[') ++depth;
        if (c == ')' || c == '>' || c == ']') --depth;
        const bool ends = depth == 0;
        if (!ends && (c != ',' || depth > 1)) continue;
        const std::string_view declaration = std::string_view(code).substr(begin, at - begin);
        if (declaration.find_first_not_of(spaces) != std::string_view::npos)
            names.push_back(name_in(declaration));
        begin = at + 1;
        if (ends) break;
    }
    return names;
}

}  // namespace warpscope::experiments
