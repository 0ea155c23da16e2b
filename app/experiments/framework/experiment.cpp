#include "experiments/framework/experiment.h"

#include <algorithm>

namespace warpscope::experiments {

void Experiment::set(std::span<const Assignment> assignments) {
    struct Before {
        Parameter* parameter;
        std::string text;
    };
    std::vector<Before> before;
    for (const Assignment& assignment : assignments) {
        Parameter& parameter = parameters().find(assignment.id);
        before.push_back({&parameter, parameter.text()});
    }
    try {
        for (std::size_t i = 0; i < assignments.size(); ++i)
            before[i].parameter->parse(assignments[i].text);
        std::vector<Parameter*> which;
        for (const Before& old : before)
            if (old.parameter->text() != old.text &&
                std::find(which.begin(), which.end(), old.parameter) == which.end())
                which.push_back(old.parameter);
        if (which.empty()) return;
        changed(which);
        std::erase_if(which, [](const Parameter* parameter) { return parameter->is_view(); });
        if (frame_ != 0 && !which.empty() && leaves_trace(which)) changed_since_reset_ = true;
    } catch (...) {
        for (const Before& old : before) old.parameter->parse(old.text);
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
    Snapshot taken{{}, frame_, changed_since_reset_, save_state()};
    for (const Parameter* parameter : parameters().all())
        taken.parameters.push_back({parameter->id(), parameter->text()});
    return taken;
}

void Experiment::resume(const Snapshot& snapshot) {
    set(snapshot.parameters);
    reset();
    if (snapshot.state.has_value()) load_state(snapshot.state);
    frame_ = snapshot.frame;
    changed_since_reset_ = snapshot.changed_since_reset;
}

}  // namespace warpscope::experiments
