#include <exception>

#include "bench/bench.h"
#include "compute/pick_device.h"
#include "jobs/output/files_and_terminal.h"

namespace warpscope::bench {
namespace {

int run(int argc, char** argv) {
    const Arguments arguments = read_arguments({argv + 1, argv + argc});
    if (arguments.help) {
        jobs::print(help());
        return 0;
    }
    compute::Helpers helpers(app());
    const auto device = compute::pick_first(arguments.device);
    run_bench(helpers, *device, arguments.sections, arguments.json);
    return 0;
}

}  // namespace
}  // namespace warpscope::bench

int main(int argc, char** argv) {
    using namespace warpscope;
    try {
        return bench::run(argc, argv);
    } catch (const std::exception& e) {
        return jobs::complain(e.what(), jobs::is_of_caller(e) ? 2 : 1);
    }
}
