#include <fmt/format.h>

#include <string_view>

#include "bench/bench.h"
#include "jobs/output/files_and_terminal.h"
#include "option_values.h"

namespace warpscope::bench {
namespace {

constexpr std::string_view usage =
    "usage: ./run bench [SECTION,…] [--device NAME] [--json FILE]\n\n"
    "--device   a GPU or the emulator, as in warpscope --device\n"
    "--json     write the rows as JSON; -: standard output\n\n"
    "Without sections, all are measured but fast and window, which take minutes:\n";

}  // namespace

std::string help() {
    std::string text(usage);
    for (const auto& section : compute::words_of<BenchSection>)
        text += fmt::format("{:10} {}\n", section.name, section.label);
    return text;
}

Arguments read_arguments(const std::vector<std::string>& words) {
    Arguments arguments;
    for (std::size_t i = 0; i < words.size(); ++i) {
        const std::string& word = words[i];
        std::string* const value = word == "--device" ? &arguments.device
                                   : word == "--json" ? &arguments.json
                                                      : nullptr;
        if (value && i + 1 == words.size()) throw jobs::UsageError(word + ": a value is missing");
        if (word == "--help" || word == "-h")
            arguments.help = true;
        else if (value)
            *value = words[++i];
        else if (word.starts_with('-'))
            throw jobs::UsageError(word + ": unknown option; --help lists them");
        else
            for (const BenchSection section : parse_word_list<BenchSection>("./run bench", word))
                arguments.sections.insert(section);
    }
    if (arguments.sections.empty())
        for (const auto& section : compute::words_of<BenchSection>)
            if (section.value < BenchSection::fast) arguments.sections.insert(section.value);
    return arguments;
}

}  // namespace warpscope::bench
