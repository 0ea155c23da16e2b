#pragma once

#include <initializer_list>
#include <string>
#include <vector>

#include "experiments/framework/experiment.h"
#include "experiments/launch/gallery.h"
#include "experiments/launch/open_launch.h"

namespace warpscope::tests {

/// The experiment of this id, or that of the gallery's kernel of this name.
inline experiments::SharedEntry entry_of(std::string_view id) {
    if (experiments::in_gallery(id))
        return experiments::launch_entry(experiments::gallery_file(id));
    return experiments::unowned(experiments::find_experiment(id));
}

/// set(experiment, {{"sync", "off"}, {"size", "64"}})
inline void set(experiments::Experiment& experiment,
                std::initializer_list<experiments::Assignment> assignments) {
    experiment.set(std::vector<experiments::Assignment>(assignments));
}

inline const experiments::Reading& reading(const experiments::Report& report,
                                           std::string_view name) {
    const experiments::Reading* found = experiments::find(report, name);
    if (!found) throw std::runtime_error("no reading " + std::string(name));
    return *found;
}

/// PTX of kernels/`file`.cu with every line that holds `instruction` left out: a mutation.
std::string ptx_without(std::string_view file, std::string_view instruction);

/// Line `number`, from 1, of kernels/`file`.
std::string source_line(const std::string& file, int number);

}  // namespace warpscope::tests
