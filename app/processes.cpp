#include "processes.h"

#include <stdexcept>
#include <string>
#include <utility>

#include "compute/pick_device.h"
#include "compute/ranks/processes.h"
#include "experiments/nbody/nbody_order.h"
#include "jobs/headless/frame_loop.h"
#include "jobs/output/files_and_terminal.h"

namespace warpscope {
namespace {

/// Does the work of a process that process 0 leads. An error ends all processes.
int work_for_others(const Options& options, const SharedProcesses& processes) {
    // mpirun can start each process with options of its own. A --device among them holds for the
    // first device that process 0 opens.
    std::string own = options.device_given ? options.device : "";
    const auto open = [&](const std::string& told, std::uint32_t exchange) {
        const std::string first = std::exchange(own, "");
        return compute::open_told_ranks(first.empty() ? told : first, processes, exchange);
    };
    try {
        compute::receive_calls(*processes, open, experiments::make_nbody_follower);
        return 0;
    } catch (const std::exception& e) {
        processes->fail(e.what());
        return 1;
    }
}

/// Calls `work` and then ends the other processes of mpirun, if there are any.
int lead(const SharedProcesses& processes, const std::function<int()>& work) {
    if (!processes) return work();
    const auto end_others = [&] { compute::tell(*processes, {compute::Call::Task::end}); };
    try {
        const int code = work();
        end_others();
        return code;
    } catch (const compute::DeviceError& e) {
        // The error is printed first: the other processes may be waiting for something else.
        jobs::complain(e.what(), 1);
        processes->end_all(1);
        return 1;
    } catch (const std::exception& e) {
        // The error is printed while `processes` exist, because mpirun can lose what is written
        // right before a process ends.
        jobs::complain(e.what(), 1);
        end_others();
        return jobs::is_of_caller(e) ? 2 : 1;
    } catch (const jobs::Interrupted&) {
        end_others();
        throw;
    }
}

}  // namespace

void check_processes(const Options& options) {
    const bool headless = options.mode == Mode::headless && !options.headless.checks.has_checks() &&
                          !options.headless.counters && options.kernel_source.empty() &&
                          options.kernels.empty();
    const bool shared = headless || options.mode == Mode::window;
    if (shared || compute::place_of_process().count == 1) return;
    throw jobs::UsageError(
        "mpirun has started several processes, which share the bodies of the n-body in the window "
        "or with --headless: leave out the other options, or start one process");
}

int run_with_processes(const Options& options,
                       const std::function<int(const SharedProcesses&)>& work) {
    const auto say_fault = [](const std::string& fault) { jobs::complain(fault, 1); };
    const SharedProcesses processes = compute::join_processes(say_fault);
    if (processes && processes->index() > 0) return work_for_others(options, processes);
    return lead(processes, [&] { return work(processes); });
}

}  // namespace warpscope
