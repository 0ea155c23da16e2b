#include "experiments/framework/experiment.h"

#include <algorithm>

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

}  // namespace warpscope::experiments
