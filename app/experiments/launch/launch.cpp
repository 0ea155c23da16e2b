#include "experiments/launch/launch.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>

#include "compute/device/number_text.h"
#include "experiments/launch/array_picture.h"
#include "experiments/launch/gallery.h"
#include "experiments/launch/launch_buffers.h"
#include "experiments/launch/open_launch.h"
#include "launches/arrays/array_file.h"

namespace warpscope::experiments {

using namespace launches;
namespace {

/// Makes `number`, the value of a bit-field, the bytes of the bit-field and its neighbours, which
/// are in `bytes`.
void add_bits(const ArgumentPart& part, const std::byte* bytes, std::vector<std::byte>& number) {
    std::uint64_t all = 0, value = 0;
    std::memcpy(&all, bytes, number.size());
    std::memcpy(&value, number.data(), number.size());
    const std::uint64_t mask = ~std::uint64_t(0) >> (64 - part.bits) << part.first_bit;
    all = (all & ~mask) | (value << part.first_bit & mask);
    std::memcpy(number.data(), &all, number.size());
}

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
compute::LaunchShape shape_of(const BoundLaunch& launch, const Names& names,
                              const compute::DeviceInfo& device, const std::string& field) {
    const LaunchSpec& spec = launch.spec;
    const auto most_threads = std::int64_t(device.max_block_threads);
    compute::LaunchShape shape{.cooperative = launch.cooperative};
    shape.grid = dimensions(spec.grid, names, {INT32_MAX, 65535, 65535}, field + ".grid");
    shape.block = dimensions(spec.block, names, {most_threads, most_threads, 64}, field + ".block");
    if (std::int64_t(shape.block.count()) > most_threads)
        throw LaunchError(fmt::format("{}.block: it has {} threads: a block has at most {}", field,
                                      shape.block.count(), most_threads));
    constexpr std::int64_t most_blocks = 16;
    shape.cluster = dimensions(spec.cluster, names, {most_blocks, most_blocks, most_blocks},
                               field + ".cluster");
    shape.dynamic_shared_bytes = unsigned(
        value_in(spec.shared, names, 0, std::int64_t(device.max_shared_bytes), field + ".shared"));
    return shape;
}

/// Whether the plan is for the kernels of the gallery as they are built in, not for an edit.
bool is_for_built_in_kernels(const LaunchPlan& plan) {
    return plan.file.built_in && equal(plan.signatures, gallery_signatures(plan.file));
}

/// The kernels of the gallery are built in: where nobody has compiled their source, they are
/// launched by the signatures that they have there.
std::shared_ptr<const LaunchPlan> with_entries(std::shared_ptr<const LaunchPlan> plan) {
    const bool is_compiled = std::ranges::none_of(
        plan->launches, [](const BoundLaunch& launch) { return launch.entry.empty(); });
    if (!is_for_built_in_kernels(*plan) || is_compiled) return plan;
    return std::make_shared<const LaunchPlan>(
        plan_launch(plan->file, gallery_signatures(plan->file)));
}

const GalleryKernel* gallery_kernel(const LaunchFile& file) {
    const auto found =
        std::ranges::find(gallery(), file.source.stem().string(), &GalleryKernel::name);
    return file.built_in && found != gallery().end() ? &*found : nullptr;
}

std::string title_of(const LaunchFile& file) {
    const GalleryKernel* const kernel = gallery_kernel(file);
    return kernel ? std::string(kernel->title) : file.source.filename().string();
}

files::Sentence summary_of(const LaunchFile& file) {
    if (const GalleryKernel* const kernel = gallery_kernel(file)) return std::string(kernel->shows);
    return files::sentence(
        "The kernels of {}, with the buffers and expectations of its launch file.", title_of(file));
}

/// Adds a note for each part of the source that is left out.
CompiledEntry noted(CompiledEntry compiled) {
    auto kernels = std::make_shared<compute::KernelEdit>(*compiled.kernels);
    for (const compiler::LeftOut& part : compiled.left_out)
        kernels->warnings.push_back({part.first_line, 0, compiler::Severity::note,
                                     fmt::format("{} is left out: it is host code", part.what)});
    compiled.kernels = std::move(kernels);
    return compiled;
}

}  // namespace

Launch::Launch(compute::Device& device, std::shared_ptr<const LaunchPlan> plan)
    : Experiment(device),
      chosen_(std::move(plan)),
      plan_(with_entries(chosen_.plan)),
      cleaner_(device),
      show_(device.shipped_kernel<Pixels, Pixels, unsigned>("show", "show")) {
    if (!is_for_built_in_kernels(*plan_) && !device.edits().contains(plan_->kernel_file)) return;
    for (const BoundLaunch& bound : plan_->launches) {
        std::vector<std::size_t> bytes;
        for (const BoundArgument& argument : bound.arguments) bytes.push_back(argument.bytes);
        launches_.push_back(
            {&bound, &device.kernel_of_sizes(plan_->kernel_file, bound.entry, bytes)});
    }
    if (launches_.empty()) return;
    device.reset_variables(plan_->kernel_file);
    buffers_ = LaunchBuffers(device, *plan_, chosen_.names(0));
}

bool Launch::change_buffers(std::span<Parameter* const> scalars) const {
    std::vector<std::string> names;
    for (const Parameter* scalar : scalars) names.push_back(scalar->id());
    const auto changes = [&](const Expression& expression) {
        return depends_on(plan_->file, expression, names);
    };
    return std::ranges::any_of(plan_->file.buffers, [&](const BufferSpec& buffer) {
        const auto* fill = std::get_if<Expression>(&buffer.fill);
        return (fill && changes(*fill)) || std::ranges::any_of(buffer.shape, changes);
    });
}

void Launch::changed(std::span<Parameter* const> which) {
    const bool only_views = std::ranges::all_of(which, [&](const Parameter* parameter) {
        return parameter->is_view() || parameter == &chosen_.launch;
    });
    if (only_views) return;
    const Names names = chosen_.names(0);  // throws where a scalar has no value
    if (change_buffers(which) && !launches_.empty()) {
        LaunchBuffers made(device(), *plan_, names);
        const bool resized = !made.has_sizes_of(buffers_);
        // What the frames before left in a buffer that is kept stays while its size does.
        if (!resized) made.take_kept(buffers_);
        buffers_ = std::move(made);
        if (resized) begin_at_frame_0();
    }
    wanted_.clear();
    computed_ = stepped_ = false;
}

bool Launch::leaves_trace(std::span<Parameter* const> which) const {
    if (which.size() == 1 && which[0] == &chosen_.launch) return false;
    return std::ranges::any_of(plan_->file.buffers,
                               [](const BufferSpec& buffer) { return !buffer.keep.empty(); });
}

std::any Launch::save_state() {
    return buffers_.kept();
}

void Launch::load_state(const std::any& state) {
    buffers_.set_kept(std::any_cast<const LaunchBuffers::Kept&>(state));
    computed_ = false;
}

// A step computes the frame that it leaves, and the picture behind it shows the next one. Where all
// frames are alike, it shows the frame that the step has computed, so that a step makes the
// launches once.
void Launch::do_step() {
    if (frames_differ(*plan_)) {
        compute();
        buffers_.keep_frame();
        computed_ = false;
        return;
    }
    if (stepped_) computed_ = false;
    compute();
    stepped_ = true;
}

void Launch::do_reset() {
    if (!launches_.empty()) buffers_ = LaunchBuffers(device(), *plan_, chosen_.names(0));
    wanted_.clear();
    computed_ = stepped_ = false;
}

void Launch::point(const Pointer& pointer) {
    set(chosen_.at_mouse(pointer.x, pointer.y, pointer.down));
}

std::vector<std::byte> Launch::argument_bytes(const BoundArgument& argument, const Names& names,
                                              const std::string& field) {
    std::vector<std::byte> bytes(argument.bytes);
    for (const ArgumentPart& part : argument.parts) {
        const auto put = [&](const void* value, std::size_t size) {
            std::memcpy(&bytes[part.offset], value, size);
        };
        if (const auto* buffer = std::get_if<std::size_t>(&part.value)) {
            const auto shift = whole(at_field(field, [&] { return part.shift.value(names); }));
            const std::uint64_t address =
                buffers_.address(*buffer) + std::uint64_t(shift) * part.shift_bytes;
            put(&address, sizeof address);
        } else if (const auto* function = std::get_if<std::string>(&part.value)) {
            std::uint64_t address = 0;
            device().download(&address, device().variable(plan_->kernel_file, *function).address,
                              sizeof address);
            put(&address, sizeof address);
        } else if (const auto* texture = std::get_if<TextureArgument>(&part.value)) {
            const std::uint64_t number = buffers_.texture(*texture).number;
            put(&number, sizeof number);
        } else if (const auto* expression = std::get_if<Expression>(&part.value)) {
            Array number(part.type, {1});
            number.set(0, at_field(field, [&] { return expression->value(names); }));
            if (part.bits > 0) add_bits(part, &bytes[part.offset], number.bytes);
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
    const compute::LaunchShape shape = shape_of(*launch.bound, names, device().info(), field);
    const std::vector<TextureArgument> textures = textures_of(*launch.bound);
    for (const TextureArgument& t : textures) device().load_texture(buffers_.texture(t));
    device().launch(*launch.kernel, shape, {}, pointers);
    for (const TextureArgument& t : textures)
        if (t.is_surface) device().store_surface(buffers_.texture(t));
}

void Launch::run(std::size_t count) {
    device().begin_frame(frame());
    device().reset_variables(plan_->kernel_file);
    buffers_.begin_frame(chosen_.names(frame()));
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
        } catch (const compute::BlockError& error) {
            // The microscope and the checks look at the launch that fails.
            chosen_.launch.parse(std::to_string(i));
            const std::string buffer = buffers_.name_at(error.memory);
            if (buffer.empty() || plan_->is_proposed()) throw;
            throw compute::BlockError(fmt::format("buffers.{}.shape: {}", buffer, error.what()),
                                      error.block, error.memory);
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

Array Launch::array(std::string_view buffer) {
    compute();
    return buffers_.download(plan_->file.index_of(buffer));
}

BufferView Launch::view() const {
    if (chosen_.view != BufferView::automatic) return chosen_.view;
    const std::size_t index = chosen_.buffer.index();
    return automatic_view(plan_->types[index], buffers_.shape(index));
}

Size Launch::picture_size(Size of_view) const {
    if (buffers_.empty()) return of_view;
    return experiments::picture_size(buffers_.shape(chosen_.buffer.index()), view(), of_view);
}

bool Launch::is_picture(const PixelTarget& target) const {
    const std::size_t index = chosen_.buffer.index();
    const std::vector<std::size_t>& shape = buffers_.shape(index);
    const ElementType& type = plan_->types[index];
    return view() == BufferView::colors && type.size() == 4 && !type.is_real() &&
           shape.size() == 2 && target.size == Size{int(shape[1]), int(shape[0])} &&
           !(chosen_.marks && expectation_of(index));
}

void Launch::render_into(const PixelTarget& target) {
    compute();
    const std::size_t count = std::size_t(target.size.width) * std::size_t(target.size.height);
    const std::size_t index = chosen_.buffer.index();
    if (!buffers_.empty() && is_picture(target)) {
        constexpr unsigned block = 256;
        device().launch(show_, {.grid = {unsigned(count + block - 1) / block}, .block = {block}},
                        {.bytes = 8.0 * double(count)}, Pixels{buffers_.address(index)},
                        target.pixels, unsigned(count));
        return;
    }
    std::vector<Rgba> pixels(count);
    if (!buffers_.empty()) {
        const Array shown = buffers_.download(index);
        std::vector<bool> marked;
        if (const auto number = chosen_.marks ? expectation_of(index) : std::nullopt)
            marked = compare(*number, shown, wanted(*number, shown)).elements;
        pixels = picture_of(shown, view(), target.size, marked);
    }
    device().upload(target.pixels.address, pixels.data(), pixels.size() * sizeof(Rgba));
}

SharedEntry launch_entry(std::shared_ptr<const LaunchPlan> plan) {
    Entry entry{"launch", title_of(plan->file), summary_of(plan->file),
                [plan]() -> std::unique_ptr<ParameterSet> {
                    return std::make_unique<LaunchParameters>(plan);
                },
                [plan](compute::Device& device) -> std::unique_ptr<Experiment> {
                    return std::make_unique<Launch>(device, plan);
                }};
    entry.built_in = plan->file.built_in;
    if (plan->file.saved)
        entry.launch_file = (entry.built_in ? plan->file.source.stem() : plan->file.file).string();
    if (entry.built_in && !is_for_built_in_kernels(*plan))
        entry.unedited = launch_entry(gallery_file(plan->file.source.stem().string()));
    entry.compile = [plan](compute::Helpers& helpers, const std::string& source, compute::Math math,
                           const std::stop_token& stop) {
        return noted(compile_launch(helpers, plan->file, source, math, stop, plan->signatures));
    };
    return std::make_shared<const Entry>(std::move(entry));
}

Array Launch::wanted(std::size_t expectation, const Array& found) {
    const Expectation& expected = plan_->file.expect[expectation];
    if (const auto* other = std::get_if<std::string>(&expected.equals)) return array(*other);
    const auto kept = wanted_.find(expectation);
    if (kept != wanted_.end()) return kept->second;
    Array numbers = at_field(fmt::format("expect[{}]", expectation), [&] {
        return filled(std::get<Fill>(expected.equals), found.type, found.shape,
                      chosen_.names(frame()), plan_->file.in_folder(""), "equals");
    });
    const auto* expression = std::get_if<Expression>(&std::get<Fill>(expected.equals));
    if (!expression || !depends_on_frame(plan_->file, *expression)) wanted_[expectation] = numbers;
    return numbers;
}

std::optional<std::size_t> Launch::expectation_of(std::size_t buffer) const {
    const auto& expect = plan_->file.expect;
    const auto found =
        std::ranges::find(expect, plan_->file.buffers[buffer].name, &Expectation::buffer);
    if (found == expect.end()) return std::nullopt;
    return std::size_t(found - expect.begin());
}

OutOfTolerance Launch::compare(std::size_t expectation, const Array& found,
                               const Array& wanted) const {
    const Expectation& expected = plan_->file.expect[expectation];
    return at_field(fmt::format("expect[{}]", expectation), [&] {
        return out_of_tolerance(found, wanted, expected.absolute, expected.relative);
    });
}

std::vector<KnownResult> Launch::known_results() {
    std::vector<KnownResult> known;
    if (buffers_.empty() || chosen_.launch.index() + 1 < launches_.size()) return known;
    for (std::size_t i = 0; i < plan_->file.expect.size(); ++i) {
        const Expectation& expected = plan_->file.expect[i];
        const std::size_t buffer = plan_->file.index_of(expected.buffer);
        known.push_back({.name = expected.buffer,
                         .address = buffers_.address(buffer),
                         .type = plan_->types[buffer],
                         .shape = buffers_.shape(buffer),
                         .absolute = expected.absolute,
                         .relative = expected.relative,
                         .right =
                             [this, i, buffer] {
                                 // The launch has run: the buffers hold the frame.
                                 computed_ = true;
                                 return wanted(i, buffers_.download(buffer));
                             },
                         .is_captured = plan_->file.of_program});
    }
    return known;
}

std::vector<KnownResult> Launch::results() {
    std::vector<KnownResult> all;
    for (std::size_t i = 0; !buffers_.empty() && i < plan_->file.buffers.size(); ++i)
        all.push_back({.name = plan_->file.buffers[i].name,
                       .address = buffers_.address(i),
                       .type = plan_->types[i],
                       .shape = buffers_.shape(i),
                       .right = {}});
    return all;
}

std::shared_ptr<const BufferContents> Launch::contents(std::size_t most_bytes) {
    compute();
    const std::size_t index = chosen_.buffer.index();
    if (buffers_.empty() || buffers_.bytes(index) > most_bytes) return nullptr;
    BufferContents contents{plan_->file.buffers[index].name, buffers_.download(index), {}, {}};
    if (const auto number = expectation_of(index)) {
        contents.expected = wanted(*number, contents.numbers);
        contents.differing = compare(*number, contents.numbers, contents.expected).elements;
    }
    return std::make_shared<const BufferContents>(std::move(contents));
}

Reading Launch::judge(std::size_t number) {
    const Expectation& expected = plan_->file.expect[number];
    const Array found = array(expected.buffer);
    const Array wanted = this->wanted(number, found);
    const OutOfTolerance differs = compare(number, found, wanted);
    const auto index = plan_->file.index_of(expected.buffer);
    const bool are_colours =
        index == chosen_.buffer.index() && view() == BufferView::colors && found.type.lanes == 1;
    Reading reading{"expect_" + std::to_string(number),
                    files::sentence(are_colours ? files::Form<1>("Pixels of {} that differ")
                                                : files::Form<1>("Numbers of {} that differ"),
                                    expected.buffer),
                    double(differs.count),
                    "",
                    0.0,
                    differs.count == 0 ? Verdict::pass : Verdict::fail,
                    {}};
    if (found.bytes == wanted.bytes)
        reading.sentence = files::sentence("All {} numbers are as expected, bit for bit.",
                                           compute::grouped(double(found.numbers())));
    else if (differs.count == 0)
        reading.sentence = files::sentence(
            "All {} numbers are as expected; the largest difference is {}.",
            compute::grouped(double(found.numbers())), fmt::format("{:.3g}", differs.largest));
    else if (are_colours)
        reading.sentence = files::sentence("{} of {} pixels differ. The first is {}.",
                                           compute::grouped(double(differs.count)),
                                           compute::grouped(double(found.numbers())),
                                           place_words(expected.buffer, found, differs.first));
    else
        reading.sentence =
            files::sentence("{} of {} numbers differ.", compute::grouped(double(differs.count)),
                            compute::grouped(double(found.numbers())))
                .add(files::sentence(
                    "The first is {} = {}, expected {}; the largest difference is {}.",
                    place_words(expected.buffer, found, differs.first),
                    launches::to_string(found.at(differs.first)),
                    launches::to_string(wanted.at(differs.first)),
                    fmt::format("{:.3g}", differs.largest)));
    return reading;
}

Report Launch::report() {
    compute();
    Report report;
    if (launches_.empty()) return report;
    for (std::size_t i = 0; i < plan_->file.expect.size(); ++i) report.push_back(judge(i));
    if (buffers_.empty()) return report;
    add_numbers(report, chosen_.buffer.index());
    for (std::size_t i = 0; i < plan_->file.buffers.size(); ++i) add_not_finite(report, i);
    return report;
}

/// Adds the smallest and the largest number of a buffer, and their mean. Pixels have colours
/// instead.
void Launch::add_numbers(Report& report, std::size_t index) {
    const std::string& name = plan_->file.buffers[index].name;
    const auto say = [&](const char* id, const files::Sentence& label, double value,
                         files::Sentence sentence) {
        report.push_back({id, label, value, "", {}, Verdict::none, std::move(sentence)});
    };
    const Array shown = buffers_.download(index);
    const files::Sentence words =
        files::sentence("{} of type {}, {}.", compute::grouped(double(shown.elements())),
                        to_string(shown.type), shape_words(shown.shape));
    if (view() == BufferView::colors)
        return say(
            "pixels",
            name == "pixels" ? files::sentence("Pixels") : files::sentence("Pixels of {}", name),
            double(shown.elements()), words);
    const auto range = finite_range_of(shown);
    if (!range) return;
    say("smallest", files::sentence("Smallest number of {}", name), range->low, {});
    say("largest", files::sentence("Largest number of {}", name), range->high, {});
    say("mean", files::sentence("Mean of {}", name), range->mean, words);
}

/// Adds how many numbers of a buffer are infinite or no number (NaN), if some are.
void Launch::add_not_finite(Report& report, std::size_t index) const {
    constexpr std::size_t most_bytes = std::size_t(64) << 20;  // of one that is not shown
    const bool is_shown = index == chosen_.buffer.index();
    if (!plan_->types[index].is_real() || (!is_shown && buffers_.bytes(index) > most_bytes)) return;
    const std::string& name = plan_->file.buffers[index].name;
    const auto say = [&](const char* id, const files::Sentence& label, std::size_t count) {
        if (count > 0)
            report.push_back({id + ("_" + name), label, double(count), "", {}, Verdict::none, {}});
    };
    const NotFinite found = count_not_finite(buffers_.download(index));
    say("infinite", files::sentence("Infinite numbers of {}", name), found.infinite);
    say("nan", files::sentence("NaN (not a number) in {}", name), found.nan);
}

std::vector<OutputFile> Launch::output_files() {
    std::vector<OutputFile> files;
    for (const auto& [buffer, file] : plan_->file.save) {
        const Array saved = array(buffer);
        files.push_back({plan_->file.in_folder(file),
                         file.extension() == ".csv" ? to_csv(saved) : to_npy(saved)});
    }
    return files;
}

}  // namespace warpscope::experiments
