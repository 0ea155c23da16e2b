#include "experiments/launch/launch_buffers.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>

#include "emulator/warp/splitmix64.h"
#include "launches/arrays/array_file.h"
#include "launches/files/textures.h"

namespace warpscope::experiments {

using namespace launches;
namespace {

/// Evaluates an expression for each number of an array. It looks up names once.
class IndexedExpression {
  public:
    IndexedExpression(const Expression& expression, const Names& scalars, const Array& array)
        : expression_(expression), array_(array) {
        static constexpr std::array<std::string_view, 5> indices{"i", "x", "y", "z", "lane"};
        Names known = scalars;
        for (const std::string_view index : indices) known.insert_or_assign(std::string(index), 0L);
        (void)expression.value(known);  // throws for a name that is not known
        for (const std::string& name : expression.names()) {
            const auto found = std::find(indices.begin(), indices.end(), name);
            if (found != indices.end())
                used_.push_back({values_.size(), std::size_t(found - indices.begin())});
            values_.push_back(known.at(name));
        }
    }

    Number at(std::size_t number) {
        const std::size_t i = number / array_.type.lanes;
        const auto extent = [&](std::size_t from_last) {
            const auto& shape = array_.shape;
            return from_last < shape.size() ? shape[shape.size() - 1 - from_last] : 1;
        };
        const std::size_t columns = extent(0), rows = extent(1), planes = extent(2);
        const std::array<std::size_t, 5> indices{i, i % columns, i / columns % rows,
                                                 i / columns / rows % planes,
                                                 number % array_.type.lanes};
        for (const Use& use : used_) values_[use.name] = std::int64_t(indices[use.index]);
        return expression_.value(values_);
    }

    bool is_constant() const { return used_.empty(); }

  private:
    struct Use {
        std::size_t name, index;
    };
    const Expression& expression_;
    const Array& array_;
    std::vector<Number> values_;
    std::vector<Use> used_;
};

void fill_with(const Expression& expression, const Names& scalars, Array& array) {
    IndexedExpression indexed(expression, scalars, array);
    const std::size_t count = array.numbers();
    if (!indexed.is_constant() || count == 0) {
        for (std::size_t i = 0; i < count; ++i) array.set(i, indexed.at(i));
        return;
    }
    const Number constant = indexed.at(0);
    if (real(constant) == 0) return;  // an array begins as zeros
    for (std::size_t i = 0; i < count; ++i) array.set(i, constant);
}

/// Returns a random number in [0, 1) with 53 bits.
double uniform(std::uint64_t seed, std::uint64_t index) {
    using emulator::splitmix64;
    return double(splitmix64(splitmix64(seed) ^ splitmix64(~index)) >> 11) * 0x1p-53;
}

void fill_with(const RandomFill& random, Array& array) {
    for (std::size_t i = 0; i < array.numbers(); ++i) {
        if (random.distribution == RandomFill::Distribution::uniform) {
            array.set(i, random.first + (random.second - random.first) * uniform(random.seed, i));
        } else {
            // 1 - u is never 0.
            const double radius = std::sqrt(-2 * std::log(1 - uniform(random.seed, 2 * i)));
            const double angle = 2 * std::numbers::pi * uniform(random.seed, 2 * i + 1);
            array.set(i, random.first + random.second * radius * std::cos(angle));
        }
    }
}

Array read(const std::filesystem::path& path, const ElementType& type,
           const std::optional<std::vector<std::size_t>>& shape) {
    Array array = read_array(path, type);
    // NumPy has no bfloat16.
    if (type.kind == ElementKind::bfloat && array.type.is_real()) array = converted(array, type);
    if (array.type != type) {
        const bool lanes_differ = array.type.kind == type.kind && array.type.bytes == type.bytes;
        if (!lanes_differ || array.bytes.size() % type.size() != 0)
            throw LaunchError(fmt::format("{} holds {}, but the buffer holds {}", path.string(),
                                          to_string(array.type), to_string(type)));
        array.shape = {array.bytes.size() / type.size()};
        array.type = type;
    }
    if (!shape || *shape == array.shape) return array;
    Array wanted;
    wanted.shape = *shape;
    if (wanted.elements() != array.elements())
        throw LaunchError(fmt::format("{} has {} elements, but the shape is {}", path.string(),
                                      shape_words(array.shape), shape_words(*shape)));
    array.shape = *shape;
    return array;
}

}  // namespace

std::vector<std::size_t> sizes(const std::vector<Expression>& shape, const Names& scalars,
                               std::size_t element_bytes, const std::string& field) {
    std::vector<std::size_t> found;
    std::size_t bytes = element_bytes;
    for (const Expression& expression : shape) {
        std::int64_t size = 0;
        try {
            size = whole(expression.value(scalars));
        } catch (const LaunchError& error) {
            throw LaunchError(fmt::format("{}: {}", field, error.what()));
        }
        if (size < 1)
            throw LaunchError(fmt::format("{}: \"{}\" is {}: a size is 1 or more", field,
                                          expression.text(), size));
        found.push_back(std::size_t(size));
        if (__builtin_mul_overflow(bytes, std::size_t(size), &bytes) || bytes > largest_buffer)
            throw LaunchError(fmt::format("{}: the buffer would have more than {} GiB", field,
                                          largest_buffer >> 30));
    }
    return found;
}

Array filled(const Fill& fill, const ElementType& type,
             const std::optional<std::vector<std::size_t>>& shape, const Names& scalars,
             const std::filesystem::path& folder, const std::string& field) {
    try {
        if (const auto* path = std::get_if<std::filesystem::path>(&fill))
            return read(folder / *path, type, shape);
        Array array(type, shape.value());
        if (const auto* expression = std::get_if<Expression>(&fill))
            fill_with(*expression, scalars, array);
        else
            fill_with(std::get<RandomFill>(fill), array);
        return array;
    } catch (const LaunchError& error) {
        throw LaunchError(fmt::format("{}: {}", field, error.what()));
    }
}

LaunchBuffers::LaunchBuffers(compute::Device& device, const LaunchPlan& plan, const Names& names)
    : device_(&device), plan_(&plan) {
    for (std::size_t i = 0; i < plan.file.buffers.size(); ++i) buffers_.push_back(made(i, names));
    for (std::size_t i = 0; i < buffers_.size(); ++i)
        if (is_kept(i)) check_kept(i);
    // Now all addresses are known.
    for (std::size_t i = 0; i < buffers_.size(); ++i)
        if (has_addresses(i)) set_start(buffers_[i], start_array(i, names));
    make_textures();
}

void LaunchBuffers::make_textures() {
    const auto edit = device_->edits().find(plan_->kernel_file);
    const bool by_index = edit != device_->edits().end() && reads_by_index(edit->second->ptx);
    std::vector<emulator::Texture> shapes;
    for (const TextureSpec& texture : plan_->file.textures) {
        const std::size_t buffer = plan_->file.index_of(texture.buffer);
        const One& memory = buffers_[buffer];
        shapes.push_back(texture_of(texture, plan_->types[buffer], memory.shape, memory.address));
        shapes.back().read_by_index = by_index;
    }
    for (const BoundLaunch& launch : plan_->launches)
        for (const TextureArgument& argument : textures_of(launch)) {
            if (textures_.contains(argument)) continue;
            const auto handle = device_->make_texture(shapes[argument.index], argument.is_surface);
            textures_[argument] = std::shared_ptr<const compute::TextureHandle>(
                new compute::TextureHandle(handle),
                [device = device_](const compute::TextureHandle* made) {
                    device->release_texture(*made);
                    delete made;
                });
        }
}

bool LaunchBuffers::has_addresses(std::size_t buffer) const {
    const auto* fill = std::get_if<Expression>(&plan_->file.buffers[buffer].fill);
    return fill && std::ranges::any_of(fill->names(), [this](const std::string& name) {
               return plan_->file.find_buffer(name) != nullptr;
           });
}

Array LaunchBuffers::start_array(std::size_t buffer, const Names& names) const {
    const BufferSpec& spec = plan_->file.buffers[buffer];
    const std::string field = "buffers." + spec.name;
    const ElementType type = plan_->types[buffer];
    std::optional<std::vector<std::size_t>> shape;
    const std::size_t row = plan_->rows[buffer];
    if (!spec.shape.empty())
        shape =
            sizes(spec.shape, names, type.size() * std::max<std::size_t>(row, 1), field + ".shape");
    if (shape && row > 0) shape->push_back(row);
    if (!has_addresses(buffer))
        return filled(spec.fill, type, shape, names, plan_->file.in_folder(""), field + ".fill");
    Names known = names;
    for (std::size_t i = 0; i < plan_->file.buffers.size(); ++i)
        known.try_emplace(plan_->file.buffers[i].name,
                          i < buffers_.size() ? std::int64_t(buffers_[i].address) : 0);
    return filled(spec.fill, type, shape, known, "", field + ".fill");
}

LaunchBuffers::One LaunchBuffers::made(std::size_t buffer, const Names& names) {
    const Array start = start_array(buffer, names);
    One one{start.shape, start.bytes.size(), {}, 0};
    if (plan_->variables[buffer].empty()) {
        one.memory = {*device_, one.bytes};
        one.address = one.memory.pointer().address;
    } else {
        const compute::DeviceVariable variable =
            device_->variable(plan_->kernel_file, plan_->variables[buffer]);
        const std::string& name = plan_->file.buffers[buffer].name;
        if (one.bytes > variable.bytes)
            throw LaunchError(fmt::format(
                "buffers.{}.shape: the buffer has {} bytes, but the variable {} of the source has "
                "{}",
                name, one.bytes, name, variable.bytes));
        one.address = variable.address;
    }
    set_start(one, start);
    return one;
}

void LaunchBuffers::check_kept(std::size_t buffer) const {
    const BufferSpec& spec = plan_->file.buffers[buffer];
    const std::size_t from = plan_->file.index_of(spec.keep);
    const auto words = [&](std::size_t index) {
        return fmt::format("{} is {}, {}", plan_->file.buffers[index].name,
                           to_string(plan_->types[index]), shape_words(buffers_[index].shape));
    };
    const bool equal = plan_->types[buffer] == plan_->types[from] &&
                       buffers_[buffer].shape == buffers_[from].shape;
    if (!equal)
        throw LaunchError(
            fmt::format("buffers.{}.keep: {} and {} need equal types and shapes: {}; {}", spec.name,
                        spec.name, spec.keep, words(buffer), words(from)));
}

bool LaunchBuffers::has_sizes_of(const LaunchBuffers& other) const {
    return std::ranges::equal(buffers_, other.buffers_, {}, &One::shape, &One::shape);
}

std::string LaunchBuffers::name_at(std::uint64_t address) const {
    const auto found = std::ranges::find(buffers_, address, &One::address);
    if (address == 0 || found == buffers_.end()) return "";
    return plan_->file.buffers[std::size_t(found - buffers_.begin())].name;
}

Array LaunchBuffers::download(std::size_t buffer) const {
    Array array;
    array.type = plan_->types[buffer];
    array.shape = buffers_[buffer].shape;
    array.bytes.resize(buffers_[buffer].bytes);
    device_->download(array.bytes.data(), buffers_[buffer].address, array.bytes.size());
    return array;
}

void LaunchBuffers::set_start(One& one, const Array& numbers) {
    const auto& bytes = numbers.bytes;
    if (std::ranges::all_of(bytes, [&](std::byte byte) { return byte == bytes[0]; })) {
        one.start = bytes.empty() ? std::uint8_t(0) : std::uint8_t(bytes[0]);
        return;
    }
    start_memory(one).upload(bytes);
}

void LaunchBuffers::set_start(One& one, std::uint64_t from) {
    device_->copy(start_memory(one).pointer().address, from, one.bytes);
}

LaunchBuffers::Memory& LaunchBuffers::start_memory(One& one) {
    if (!std::holds_alternative<Memory>(one.start)) one.start = Memory(*device_, one.bytes);
    return std::get<Memory>(one.start);
}

void LaunchBuffers::begin_frame(const Names& names) {
    for (std::size_t i = 0; i < buffers_.size(); ++i) {
        One& one = buffers_[i];
        const auto* fill = std::get_if<Expression>(&plan_->file.buffers[i].fill);
        if (fill && !is_kept(i) && depends_on_frame(plan_->file, *fill))
            set_start(one, start_array(i, names));
        if (const auto* byte = std::get_if<std::uint8_t>(&one.start))
            device_->fill(one.address, *byte, one.bytes);
        else
            device_->copy(one.address, start_memory(one).pointer().address, one.bytes);
    }
}

void LaunchBuffers::keep_frame() {
    for (std::size_t i = 0; i < buffers_.size(); ++i)
        if (is_kept(i))
            set_start(buffers_[i],
                      buffers_[plan_->file.index_of(plan_->file.buffers[i].keep)].address);
}

LaunchBuffers::Kept LaunchBuffers::kept() const {
    Kept kept;
    for (std::size_t i = 0; i < buffers_.size(); ++i) {
        if (!is_kept(i)) continue;
        const One& one = buffers_[i];
        Array start(plan_->types[i], one.shape);
        if (const auto* byte = std::get_if<std::uint8_t>(&one.start))
            std::ranges::fill(start.bytes, std::byte(*byte));
        else
            start.bytes = std::get<Memory>(one.start).download();
        kept[plan_->file.buffers[i].name] = std::move(start);
    }
    return kept;
}

void LaunchBuffers::set_kept(const Kept& kept) {
    for (std::size_t i = 0; i < buffers_.size(); ++i) {
        const auto found = kept.find(plan_->file.buffers[i].name);
        if (!is_kept(i) || found == kept.end()) continue;
        const Array& numbers = found->second;
        if (numbers.shape == buffers_[i].shape && numbers.type == plan_->types[i])
            set_start(buffers_[i], numbers);
    }
}

void LaunchBuffers::take_kept(LaunchBuffers& other) {
    for (std::size_t i = 0; i < buffers_.size(); ++i)
        if (is_kept(i)) buffers_[i].start = std::move(other.buffers_[i].start);
}

}  // namespace warpscope::experiments
