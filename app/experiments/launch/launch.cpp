#include "experiments/launch/launch.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <map>

#include "experiments/launch/array_picture.h"
#include "experiments/launch/fill.h"
#include "experiments/launch/open_launch.h"
#include "experiments/measure/launch_times.h"

namespace warpscope::experiments {
namespace {

constexpr std::int64_t most_repeats = 100'000;

std::int64_t value_in(const Expression& expression, const Names& names, std::int64_t low,
                      std::int64_t high, const std::string& field) {
    try {
        const std::int64_t value = whole(expression.value(names));
        if (value >= low && value <= high) return value;
        throw LaunchError(
            fmt::format("\"{}\" is {}: it must be {} to {}", expression.text(), value, low, high));
    } catch (const LaunchError& error) {
        throw LaunchError(fmt::format("{}: {}", field, error.what()));
    }
}

compute::Dim3 dimensions(const std::vector<Expression>& expressions, const Names& names,
                         const std::array<std::int64_t, 3>& most, const std::string& field) {
    std::array<unsigned, 3> sizes{1, 1, 1};
    for (std::size_t d = 0; d < expressions.size(); ++d)
        sizes[d] = unsigned(value_in(expressions[d], names, 1, most[d], field));
    return {sizes[0], sizes[1], sizes[2]};
}

/// Within the limits of compute capability 7.5 (CUDA C++ Programming Guide, "Technical
/// Specifications per Compute Capability").
compute::LaunchShape shape_of(const LaunchSpec& spec, const Names& names,
                              const compute::DeviceInfo& device, const std::string& field) {
    const auto most_threads = std::int64_t(device.max_block_threads);
    compute::LaunchShape shape;
    shape.grid = dimensions(spec.grid, names, {INT32_MAX, 65535, 65535}, field + ".grid");
    shape.block = dimensions(spec.block, names, {most_threads, most_threads, 64}, field + ".block");
    if (std::int64_t(shape.block.count()) > most_threads)
        throw LaunchError(fmt::format("{}.block: it has {} threads: a block has at most {}", field,
                                      shape.block.count(), most_threads));
    shape.dynamic_shared_bytes = unsigned(
        value_in(spec.shared, names, 0, std::int64_t(device.max_shared_bytes), field + ".shared"));
    return shape;
}

CompiledEntry compiled_entry(const OpenedLaunch& opened) {
    auto kernels = std::make_shared<compute::KernelEdit>(*opened.kernels);
    for (const compiler::LeftOut& part : opened.left_out)
        kernels->warnings.push_back({part.first_line, 0, compiler::Severity::note,
                                     fmt::format("{} is left out: it is host code", part.what)});
    return {launch_entry(opened.plan), std::move(kernels)};
}

}  // namespace

Launch::Launch(compute::Device& device, std::shared_ptr<const LaunchPlan> plan)
    : Experiment(device), chosen_(std::move(plan)), plan_(chosen_.plan), cleaner_(device) {
    if (!device.edits().contains(plan_->kernel_file)) return;
    for (const BoundLaunch& bound : plan_->launches) {
        std::vector<std::size_t> bytes;
        for (const BoundArgument& argument : bound.arguments) bytes.push_back(argument.bytes);
        launches_.push_back(
            {&bound, &device.kernel_of_sizes(plan_->kernel_file, bound.entry, bytes)});
    }
    memory_ = make_memory();
}

std::vector<Launch::Memory> Launch::make_memory() {
    std::vector<Memory> made;
    if (launches_.empty()) return made;
    const Names names = chosen_.names(0);
    for (std::size_t i = 0; i < plan_->types.size(); ++i) {
        const BufferSpec& spec = plan_->file.buffers[i];
        const std::string field = "buffers." + spec.name;
        const ElementType type = plan_->types[i];
        std::optional<std::vector<std::size_t>> shape;
        if (!spec.shape.empty()) shape = sizes(spec.shape, names, type.size(), field + ".shape");
        Array start =
            filled(spec.fill, type, shape, names, plan_->file.in_folder(""), field + ".fill");
        made.push_back(make_memory(i, std::move(start)));
    }
    return made;
}

Launch::Memory Launch::make_memory(std::size_t buffer, Array start) {
    Memory made{start.shape, {}, 0, std::move(start)};
    const std::size_t bytes = made.start.bytes.size();
    if (plan_->variables[buffer].empty()) {
        made.buffer = {device(), bytes};
        made.address = made.buffer.pointer().address;
        return made;
    }
    const compute::DeviceVariable variable =
        device().variable(plan_->kernel_file, plan_->variables[buffer]);
    const std::string& name = plan_->file.buffers[buffer].name;
    if (bytes > variable.bytes)
        throw LaunchError(fmt::format(
            "buffers.{}.shape: the buffer has {} bytes, but the variable {} of the source has {}",
            name, bytes, name, variable.bytes));
    made.address = variable.address;
    return made;
}

void Launch::changed(std::span<Parameter* const> which) {
    const bool only_views = std::ranges::all_of(which, [&](const Parameter* parameter) {
        return parameter->is_view() || parameter == &chosen_.launch;
    });
    if (only_views) return;
    const bool keeps = std::ranges::any_of(plan_->file.buffers, &BufferSpec::keep);
    std::vector<Memory> made = make_memory();
    const bool resized = !std::ranges::equal(made, memory_, {}, &Memory::shape, &Memory::shape);
    // What the frames before left in a buffer that is kept stays while its size does.
    for (std::size_t i = 0; keeps && !resized && i < made.size(); ++i)
        if (plan_->file.buffers[i].keep) made[i].start = std::move(memory_[i].start);
    memory_ = std::move(made);
    wanted_.clear();
    computed_ = false;
    if (resized) begin_at_frame_0();
}

bool Launch::leaves_trace(std::span<Parameter* const> which) const {
    if (which.size() == 1 && which[0] == &chosen_.launch) return false;
    return std::ranges::any_of(plan_->file.buffers, &BufferSpec::keep);
}

std::any Launch::save_state() {
    std::map<std::string, Array> kept;
    for (std::size_t i = 0; i < memory_.size(); ++i)
        if (plan_->file.buffers[i].keep) kept[plan_->file.buffers[i].name] = memory_[i].start;
    return kept;
}

void Launch::load_state(const std::any& state) {
    const auto& kept = std::any_cast<const std::map<std::string, Array>&>(state);
    for (std::size_t i = 0; i < memory_.size(); ++i) {
        const auto found = kept.find(plan_->file.buffers[i].name);
        if (!plan_->file.buffers[i].keep || found == kept.end()) continue;
        // Shape and type may have changed since the state was saved.
        const Array& saved = found->second;
        if (saved.shape == memory_[i].shape && saved.type == plan_->types[i])
            memory_[i].start = saved;
    }
    computed_ = false;
}

void Launch::do_step() {
    compute();
    for (std::size_t i = 0; i < memory_.size(); ++i)
        if (plan_->file.buffers[i].keep) memory_[i].start = downloaded(i);
    computed_ = false;
}

void Launch::do_reset() {
    memory_ = make_memory();
    wanted_.clear();
    computed_ = false;
}

void Launch::fill_buffers() {
    for (std::size_t i = 0; i < memory_.size(); ++i) {
        const BufferSpec& spec = plan_->file.buffers[i];
        const auto* fill = std::get_if<Expression>(&spec.fill);
        if (fill && !spec.keep && depends_on_frame(plan_->file, *fill))
            memory_[i].start =
                filled(spec.fill, plan_->types[i], memory_[i].shape, chosen_.names(frame()),
                       plan_->file.in_folder(""), "buffers." + spec.name + ".fill");
        const std::vector<std::byte>& bytes = memory_[i].start.bytes;
        device().upload(memory_[i].address, bytes.data(), bytes.size());
    }
}

std::vector<std::byte> Launch::argument_bytes(const BoundArgument& argument, const Names& names,
                                              const std::string& field) const {
    std::vector<std::byte> bytes(argument.bytes);
    for (const ArgumentPart& part : argument.parts) {
        const auto put = [&](const void* value, std::size_t size) {
            std::memcpy(&bytes[part.offset], value, size);
        };
        if (const auto* buffer = std::get_if<std::size_t>(&part.value)) {
            put(&memory_[*buffer].address, sizeof(std::uint64_t));
        } else if (const auto* expression = std::get_if<Expression>(&part.value)) {
            Array number(part.type, {1});
            number.set(0, at_field(field, [&] { return expression->value(names); }));
            put(number.bytes.data(), number.bytes.size());
        }
    }
    return bytes;
}

void Launch::run_once(const Ready& launch, const Names& names, const std::string& field) {
    std::vector<std::vector<std::byte>> values;
    std::vector<void*> pointers;
    for (const BoundArgument& argument : launch.bound->arguments)
        values.push_back(argument_bytes(argument, names, field + ".arguments"));
    for (std::vector<std::byte>& value : values) pointers.push_back(value.data());
    const compute::LaunchShape shape = shape_of(launch.bound->spec, names, device().info(), field);
    device().launch(*launch.kernel, shape, {}, pointers);
}

void Launch::run(std::size_t count) {
    device().begin_frame(frame());
    fill_buffers();
    for (std::size_t i = 0; i < count; ++i) {
        const std::string field = fmt::format("launches[{}]", i);
        // A kernel must not depend on what an earlier launch left in shared memory.
        if (i == 0) cleaner_.launch();
        const std::int64_t repeats =
            value_in(launches_[i].bound->spec.repeat, chosen_.names(frame()), 0, most_repeats,
                     field + ".repeat");
        try {
            for (std::int64_t iteration = 0; iteration < repeats; ++iteration)
                run_once(launches_[i], chosen_.names(frame(), std::uint64_t(iteration)), field);
        } catch (const compute::BlockError&) {
            // The microscope and the checks look at the launch that fails.
            chosen_.launch.parse(std::to_string(i));
            throw;
        }
    }
}

void Launch::launch_kernel() {
    computed_ = false;
    run(std::min(chosen_.launch.index() + 1, launches_.size()));
}

void Launch::compute() {
    if (computed_) return;
    run(launches_.size());
    computed_ = true;
}

std::size_t Launch::index_of(std::string_view buffer) const {
    const auto& buffers = plan_->file.buffers;
    const auto found = std::ranges::find(buffers, buffer, &BufferSpec::name);
    if (found == buffers.end()) throw LaunchError(fmt::format("there is no buffer {}", buffer));
    return std::size_t(found - buffers.begin());
}

Array Launch::downloaded(std::size_t index) {
    Array array;
    array.type = plan_->types[index];
    array.shape = memory_[index].shape;
    array.bytes.resize(memory_[index].start.bytes.size());
    device().download(array.bytes.data(), memory_[index].address, array.bytes.size());
    return array;
}

Array Launch::array(std::string_view buffer) {
    compute();
    return downloaded(index_of(buffer));
}

Size Launch::picture_size(Size view) const {
    if (memory_.empty()) return view;
    const std::size_t index = chosen_.buffer.index();
    BufferView how = chosen_.view;
    if (how == BufferView::automatic) {
        Array empty;
        empty.type = plan_->types[index];
        empty.shape = memory_[index].shape;
        how = automatic_view(empty);
    }
    return experiments::picture_size(memory_[index].shape, how, view);
}

void Launch::render_into(const PixelTarget& target) {
    compute();
    std::vector<Rgba> pixels(std::size_t(target.size.width) * std::size_t(target.size.height));
    if (!memory_.empty()) {
        const std::size_t index = chosen_.buffer.index();
        const Array shown = downloaded(index);
        std::vector<bool> marked;
        if (const auto number = chosen_.marks ? expectation_of(index) : std::nullopt)
            marked = compare(*number, shown, wanted(*number, shown)).elements;
        pixels = picture_of(shown, chosen_.view, target.size, marked);
    }
    device().upload(target.pixels.address, pixels.data(), pixels.size() * sizeof(Rgba));
}

SharedEntry launch_entry(std::shared_ptr<const LaunchPlan> plan) {
    const std::string name = plan->file.source.filename().string();
    Entry entry{
        "launch", name,
        fmt::format("The kernels of {}, with the buffers and expectations of its launch file.",
                    name),
        [plan]() -> std::unique_ptr<ParameterSet> {
            return std::make_unique<LaunchParameters>(plan);
        },
        [plan](compute::Device& device) -> std::unique_ptr<Experiment> {
            return std::make_unique<Launch>(device, plan);
        }};
    entry.for_editing = true;
    if (plan->file.saved) entry.launch_file = plan->file.file.string();
    entry.compile = [file = plan->file](compute::Helpers& helpers, const std::string& source,
                                        compute::Math math, const std::stop_token& stop) {
        return compiled_entry(compile_launch(helpers, file, source, math, stop));
    };
    return std::make_shared<const Entry>(std::move(entry));
}

}  // namespace warpscope::experiments
