#include <algorithm>
#include <vector>

#include "compiler/host/host_code.h"
#include "fuzz.h"

// A source and a header, with a NUL between them. What is left out becomes blanks, and every byte
// keeps its place. Templates have a list of arguments.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace warpscope;
    const std::string_view input = tests::text_of(data, size);
    std::vector<std::string> texts{std::string(input.substr(0, input.find('\0')))};
    if (texts[0].size() < input.size()) texts.emplace_back(input.substr(texts[0].size() + 1));
    const std::vector<compiler::DeviceCode> codes = compiler::device_code(texts);
    tests::require(codes.size() == texts.size(), "every text has its device code");
    for (std::size_t t = 0; t < texts.size(); ++t) {
        const std::string &before = texts[t], &after = codes[t].source;
        tests::require(after.size() == before.size(), "a text keeps its size");
        for (std::size_t i = 0; i < before.size(); ++i)
            tests::require(after[i] == before[i] || (after[i] == ' ' && before[i] != '\n'),
                           "a byte stays or becomes a blank");
        const auto lines = 1 + std::count(before.begin(), before.end(), '\n');
        for (const compiler::LeftOut& one : codes[t].left_out)
            tests::require(
                one.first_line >= 1 && one.last_line >= one.first_line && one.last_line <= lines,
                "what is left out has its lines");
    }
    for (const std::string& name : compiler::template_kernels(texts[0]))
        tests::require(name.ends_with('>') && !compiler::template_name(name).empty(),
                       "a template has its arguments");
    return 0;
}
