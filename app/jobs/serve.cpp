#include "jobs/serve.h"

#include <fmt/format.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>

#include <cstdio>
#include <optional>

#include "compute/helper/helper_server.h"
#include "compute/pick_device.h"
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

namespace {

bool is_socket(int fd) {
    int type = 0;
    socklen_t size = sizeof(type);
    return ::getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &size) == 0 && type == SOCK_STREAM;
}

/// The process may crash: it writes no core file, and the kernel kills it first if memory is short.
void make_expendable() {
    const rlimit none{0, 0};
    ::setrlimit(RLIMIT_CORE, &none);
    if (std::FILE* score = std::fopen("/proc/self/oom_score_adj", "w")) {
        std::fputs("1000", score);
        std::fclose(score);
    }
}

}  // namespace

int run_helper(int fd) {
    if (!is_socket(fd))
        throw UsageError(
            fmt::format("--helper {}: only warpscope itself uses this option, with a socket", fd));
    ::prctl(PR_SET_NAME, "wscope-helper");
    make_expendable();
    return compute::serve_helper(fd, compute::pick_device);
}

}  // namespace warpscope::jobs
