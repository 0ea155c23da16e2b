#include <vector>

#include "fuzz.h"
#include "jobs/output/files_and_terminal.h"
#include "options.h"
#include "ui/microscope/microscope.h"

// Launch arguments, one a line. They are parsed, or refused with a UsageError.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace warpscope;
    std::vector<std::string> lines{"warpscope"};
    std::string_view rest = tests::text_of(data, size);
    while (!rest.empty() && lines.size() < 32) {
        const std::size_t end = std::min(rest.find('\n'), rest.size());
        lines.emplace_back(rest.substr(0, end));
        rest.remove_prefix(std::min(end + 1, rest.size()));
    }
    std::vector<const char*> arguments;
    for (const std::string& line : lines) arguments.push_back(line.c_str());
    try {
        const Options options = parse_options(int(arguments.size()), arguments.data());
        ui::read_place(options.microscope);
    } catch (const jobs::UsageError& error) {
        tests::require(*error.what() != '\0', "a refusal has a text");
    } catch (const Answer& answer) {
        tests::require(!answer.text.empty(), "an answer has a text");
    }
    return 0;
}
