#include "jobs/serve.h"

#include <fmt/format.h>

#include <optional>

#include "jobs/output/files_and_terminal.h"
#include "jobs/output/json.h"

namespace warpscope::jobs {
namespace {

std::optional<std::vector<std::string>> arguments_of(const std::string& line) {
    try {
        return Json::parse(line).get<std::vector<std::string>>();
    } catch (const Json::exception&) {
        return {};
    }
}

}  // namespace

void serve(std::istream& requests, const Answering& answer) {
    for (std::string line; std::getline(requests, line);) {
        const auto arguments = arguments_of(line);
        if (!arguments)
            print_error(
                "warpscope: --serve: a request is a line such as [\"--check\", \"race\", "
                "\"--launch\", \"mine.launch.json\", \"--json\", \"-\"]\n");
        print(fmt::format("exit {}\n", arguments ? answer(*arguments) : 2));
    }
}

}  // namespace warpscope::jobs
