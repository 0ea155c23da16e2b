#include "experiments/launch/launch_parameters.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "experiments/measure/kernel_figures.h"

namespace warpscope::experiments {

using namespace launches;
namespace {

constexpr std::int64_t most_integer = std::int64_t(1) << 53;
constexpr double most_real = 1e300;

std::vector<Choice::Word> buffer_words(const LaunchPlan& plan) {
    std::vector<Choice::Word> words;
    for (const BufferSpec& buffer : plan.file.buffers) words.push_back({buffer.name, buffer.name});
    if (words.empty()) words.push_back({"none", "none"});
    return words;
}

std::size_t first_buffer(const LaunchPlan& plan) {
    const auto& buffers = plan.file.buffers;
    const auto found = std::ranges::find(buffers, plan.file.show, &BufferSpec::name);
    if (found != buffers.end()) return std::size_t(found - buffers.begin());
    return buffers.empty() ? 0 : buffers.size() - 1;
}

std::vector<Choice::Word> launch_words(const LaunchPlan& plan) {
    std::vector<Choice::Word> words;
    for (std::size_t i = 0; i < plan.launches.size(); ++i)
        words.push_back({std::to_string(i), fmt::format("{}: {}", i, plan.launches[i].name)});
    if (words.empty()) words.push_back({"none", "none"});
    return words;
}

std::vector<Choice::Word> paint_words() {
    std::vector<Choice::Word> words{{"nothing", "nothing"}};
    for (const auto& word : compute::words_of<emulator::HeatFigure>)
        if (word.value < emulator::HeatFigure::conflicts)
            words.push_back({std::string(word.name), std::string(word.name)});
    return words;
}

}  // namespace

LaunchParameters::LaunchParameters(std::shared_ptr<const LaunchPlan> shared)
    : plan(std::move(shared)),
      buffer(*this, "buffer", "Buffer", "The buffer that is shown.", buffer_words(*plan),
             first_buffer(*plan)),
      view(*this, "view", "View",
           "How the buffer is shown. Automatic: two dimensions as a picture, one as a plot.",
           {{"automatic", "automatic"},
            {"colors", "colours (red, green, blue)"},
            {"grey", "grey"},
            {"map", "colour map"},
            {"plot", "plot"},
            {"histogram", "histogram"}},
           std::size_t(plan->file.view)),
      marks(*this, "marks", "Mark differences",
            "Paint the elements red that differ from what the launch file expects.",
            plan->file.marks),
      paint(*this, "paint", "Paint accesses",
            "Paint over the picture how many threads of the inspected launch read or write each "
            "element, or how many hazards its races have.",
            paint_words()),
      launch(*this, "launch", "Inspected launch",
             "The launch that the microscope and the race check look at.", launch_words(*plan),
             std::max<std::size_t>(plan->launches.size(), 1) - 1) {
    buffer.only_shows();
    view.only_shows();
    marks.only_shows();
    paint.only_shows();
    std::vector<Parameter*> numbers;
    for (const auto& [name, value] : plan->file.scalars) {
        const auto* number = std::get_if<Number>(&value);
        if (!number) continue;
        if (std::ranges::any_of(all(),
                                [&id = name](const Parameter* other) { return other->id() == id; }))
            throw LaunchError(
                fmt::format("scalars.{}: a parameter has this name; choose another one", name));
        const std::string help = fmt::format("The scalar {} of the launch file.", name);
        if (const auto* integer = std::get_if<std::int64_t>(number))
            scalars_.push_back(std::make_unique<Integer>(*this, name, name, help, *integer,
                                                         -most_integer, most_integer));
        else
            scalars_.push_back(std::make_unique<Real>(
                *this, name, name, help, std::get<double>(*number), -most_real, most_real));
        numbers.push_back(scalars_.back().get());
    }
    if (!numbers.empty()) group("Scalars", std::move(numbers));
    group("View", {&buffer, &view, &marks, &paint});
    group("Checks", {&launch});
}

/// Estimates the work as if each thread executed 100 instructions; the first frames show how many
/// it does execute. 0 where a size can't be computed, so that no launch can be made either.
double LaunchParameters::work() const {
    constexpr double instructions = 100;  // of a thread
    try {
        const Names known = names(0);
        const auto product = [&](const std::vector<Expression>& sizes) {
            double all = 1;
            for (const Expression& size : sizes) all *= real(size.value(known));
            return all;
        };
        double threads = 0;
        for (const LaunchSpec& one : plan->file.launches)
            threads += product(one.grid) * product(one.block) * real(one.repeat.value(known));
        return std::max(0.0, threads * instructions);
    } catch (const LaunchError&) {
        return 0;
    }
}

bool LaunchParameters::follows_mouse() const {
    return !at_mouse(0, 0, false).empty();
}

std::vector<Assignment> LaunchParameters::at_mouse(double x, double y, bool down) const {
    constexpr double farthest = 1 << 16;  // pixels
    const std::array<std::pair<std::string_view, double>, 3> followed{
        {{"mouse_x", std::clamp(x, -farthest, farthest)},
         {"mouse_y", std::clamp(y, -farthest, farthest)},
         {"mouse_z", down ? 1.0 : 0.0}}};
    std::vector<Assignment> values;
    for (const auto& scalar : scalars_)
        for (const auto& [name, value] : followed)
            if (scalar->id() == name)
                values.push_back(
                    {scalar->id(), dynamic_cast<const Integer*>(scalar.get())
                                       ? fmt::format("{}", std::int64_t(std::floor(value)))
                                       : fmt::format("{:.1f}", value)});
    return values;
}

Names LaunchParameters::names(std::uint64_t frame, std::uint64_t iteration) const {
    Names names{{"frame", std::int64_t(frame)},
                {"time", double(frame) / 60.0},
                {"iteration", std::int64_t(iteration)}};
    std::size_t next = 0;
    for (const auto& [name, value] : plan->file.scalars) {
        if (const auto* expression = std::get_if<Expression>(&value)) {
            try {
                names[name] = expression->value(names);
            } catch (const LaunchError& error) {
                throw LaunchError(fmt::format("scalars.{}: {}", name, error.what()));
            }
        } else if (const auto* integer = dynamic_cast<const Integer*>(scalars_[next].get())) {
            names[name] = std::int64_t(*integer);
            ++next;
        } else {
            names[name] = double(dynamic_cast<const Real&>(*scalars_[next]));
            ++next;
        }
    }
    return names;
}

}  // namespace warpscope::experiments
