#include "jobs/helper.h"

#include <fmt/format.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>

#include <cstdio>

#include "compute/helper/helper_server.h"
#include "compute/pick_device.h"
#include "jobs/output/files_and_terminal.h"

namespace warpscope::jobs {
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
