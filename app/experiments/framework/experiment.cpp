#include "experiments/framework/experiment.h"

#include <algorithm>

#include "compute/pick_device.h"

namespace warpscope::experiments {

void Experiment::set(std::span<const Assignment> assignments) {
    change(parameters().read(assignments));
}

void Experiment::change(std::span<const NewValue> values) {
    const std::vector<NewValue> before = parameters().replace(values);
    try {
        std::vector<Parameter*> which;
        for (const NewValue& old : before) {
            Parameter* const parameter = parameters().all()[old.place];
            if (parameter->get() != old.value && std::ranges::find(which, parameter) == which.end())
                which.push_back(parameter);
        }
        if (which.empty()) return;
        changed(which);
        std::erase_if(which, [](const Parameter* parameter) { return parameter->is_view(); });
        if (frame_ != 0 && !which.empty() && leaves_trace(which)) changed_since_reset_ = true;
    } catch (...) {
        parameters().replace(before);
        throw;
    }
}

bool Experiment::any_of(std::span<Parameter* const> which,
                        std::initializer_list<const Parameter*> parameters) {
    return std::ranges::find_first_of(which, parameters) != which.end();
}

void Experiment::step() {
    do_step();
    ++frame_;
}

void Experiment::reset() {
    do_reset();
    begin_at_frame_0();
}

void Experiment::begin_at_frame_0() {
    frame_ = 0;
    changed_since_reset_ = false;
}

Snapshot Experiment::snapshot() {
    return {parameters().assignments(true), frame_, changed_since_reset_, save_state()};
}

void Experiment::resume(const Snapshot& snapshot) {
    set(snapshot.parameters);
    reset();
    if (snapshot.state.has_value()) load_state(snapshot.state);
    frame_ = snapshot.frame;
    changed_since_reset_ = snapshot.changed_since_reset;
}

std::unique_ptr<compute::Device> pick_for(const Entry& entry, const std::string& wish,
                                          std::shared_ptr<compute::Processes> processes) {
    if (entry.has_ranks) return compute::pick_ranks(wish, std::move(processes));
    return compute::pick_first(wish);
}

bool edited(const compute::Device& device, std::string_view file) {
    return device.edits().contains(file);
}

Verdict judged(const compute::Device& device, std::string_view file, bool right) {
    if (right) return Verdict::pass;
    return edited(device, file) ? Verdict::finding : Verdict::fail;
}

SharedMemoryCleaner::SharedMemoryCleaner(compute::Device& device)
    : device_(device), kernel_(device.shipped_kernel<int>("clear", kernel_name)) {}

void SharedMemoryCleaner::launch() {
    // The largest multiprocessor so far has 228 KiB. 28 blocks fill it, each with 8 KiB and 1 KiB
    // that CUDA reserves. On the emulator every block of a virtual SM gets the same memory.
    constexpr unsigned bytes = 8 * 1024;
    const unsigned resident = device_.info().kind == compute::DeviceKind::emulator ? 1 : 28;
    const unsigned blocks = unsigned(std::max(device_.info().multiprocessors, 1)) * resident;
    device_.launch(kernel_, {.grid = {blocks}, .block = {64}, .dynamic_shared_bytes = bytes}, {},
                   int(bytes / 4));
}

}  // namespace warpscope::experiments
