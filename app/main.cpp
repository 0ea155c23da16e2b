#include <fcntl.h>
#include <fmt/format.h>

#include <cstdio>

#include "compute/device.h"
#include "jobs/bench.h"
#include "jobs/headless.h"
#include "jobs/list.h"
#include "jobs/output.h"
#include "options.h"

namespace warpscope {
namespace {

std::unique_ptr<compute::Device> make_device(const Options& options) {
    try {
        auto device = compute::pick_device(options.device);
        device->set(options.run);
        return device;
    } catch (const std::invalid_argument& e) {
        throw jobs::UsageError(fmt::format("--device {}: {}", options.device, e.what()));
    }
}

jobs::HeadlessRequest headless_request(const Options& options) {
    jobs::HeadlessRequest request{.experiment = options.experiment,
                                  .assignments = options.sets_of(options.experiment),
                                  .frames = options.frames};
    if (options.size) request.size = *options.size;
    request.screenshot = options.screenshot;
    request.view_only = options.view_only;
    request.compare = options.compare;
    request.json = options.json;
    return request;
}

int run(const Options& options) {
    switch (options.mode) {
        case Mode::list:
            return jobs::run_list(*compute::pick_device("emulator"), options.json);
        case Mode::bench:
            return jobs::run_bench(*make_device(options), options.json);
        case Mode::headless:
            return jobs::run_headless(*make_device(options), headless_request(options), {});
        case Mode::window:
            break;
    }
    return 0;
}

/// A standard file that the caller closed must not become the next file that we open; what is
/// written to it still fails.
void reserve_standard_files() {
    for (int fd = 0; fd <= 2; ++fd) {
        if (::fcntl(fd, F_GETFD) < 0) ::open("/dev/null", O_RDONLY);
    }
}

/// One line on standard error, whatever the message holds.
int complain(std::string text, int code) {
    for (char& c : text) {
        if (c == '\n') c = ' ';
    }
    fmt::print(stderr, "warpscope: {}\n", text);
    return code;
}

int say(const std::string& text) {
    try {
        jobs::print(text);
        return 0;
    } catch (const std::exception& e) {
        return complain(e.what(), 1);
    }
}

}  // namespace
}  // namespace warpscope

int main(int argc, char** argv) {
    using namespace warpscope;
    reserve_standard_files();
    try {
        return run(parse_options(argc, argv));
    } catch (const Answer& answer) {
        return say(answer.text);
    } catch (const std::invalid_argument& e) {
        // Parameters, experiments and paths that can't be are all the caller's to put right.
        return complain(e.what(), 2);
    } catch (const std::exception& e) {
        return complain(e.what(), 1);
    }
}
