#include "jobs/helper.h"

#include <fmt/format.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>

#include <cstdio>

#include "compute/helper/helper_server.h"
#include "jobs/output/output.h"

namespace warpscope::jobs {
namespace {

bool is_socket(int fd) {
    int type = 0;
    socklen_t size = sizeof(type);
    return ::getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &size) == 0 && type == SOCK_STREAM;
}

/// The process is there to be lost: it leaves no core, and is the first to go when memory ends.
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
            fmt::format("--helper {}: warpscope itself starts this, over a socket", fd));
    ::prctl(PR_SET_NAME, "wscope-helper");
    make_expendable();
    return compute::serve_helper(fd);
}

}  // namespace warpscope::jobs
