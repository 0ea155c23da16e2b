#include "experiments/launch/fill.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>

#include "emulator/warp/splitmix64.h"
#include "launches/arrays/array_file.h"

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

}  // namespace warpscope::experiments
