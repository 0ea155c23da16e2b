#include "experiments/launch/array_picture.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace warpscope::experiments {

using namespace launches;
namespace {

constexpr int most_pixels = 4096;  ///< of a side
constexpr Rgba background{24, 26, 31, 255}, curve{94, 190, 235, 255}, not_finite{255, 0, 255, 255},
    mark{235, 70, 60, 255};

/// Columns of the picture of an array. One with a single dimension continues in the next row, so
/// that the picture is about as high as wide.
std::size_t columns_of(const std::vector<std::size_t>& shape) {
    if (shape.size() > 1) return shape.back();
    std::size_t columns = 16;
    while (columns * columns < shape.back()) columns *= 2;
    return std::min(columns, shape.back());
}

std::size_t rows_of(const std::vector<std::size_t>& shape) {
    std::size_t elements = 1;
    for (const std::size_t size : shape) elements *= size;
    const std::size_t columns = std::max<std::size_t>(1, columns_of(shape));
    return (elements + columns - 1) / columns;
}

std::uint8_t byte(double fraction) {
    return std::uint8_t(std::lround(255 * std::clamp(fraction, 0.0, 1.0)));
}

/// Returns a colour from dark blue through green to yellow, brighter with each step, so that it
/// reads in grey too.
Rgba mapped(double fraction) {
    static constexpr std::array<std::array<double, 3>, 5> stops{{{0.25, 0.05, 0.35},
                                                                 {0.22, 0.32, 0.55},
                                                                 {0.13, 0.57, 0.55},
                                                                 {0.37, 0.79, 0.38},
                                                                 {0.99, 0.91, 0.15}}};
    const double at = std::clamp(fraction, 0.0, 1.0) * double(stops.size() - 1);
    const auto below = std::min(std::size_t(at), stops.size() - 2);
    const double part = at - double(below);
    const auto channel = [&](std::size_t c) {
        return byte(stops[below][c] + part * (stops[below + 1][c] - stops[below][c]));
    };
    return {channel(0), channel(1), channel(2), 255};
}

/// Returns the colour of one element: four bytes, or floating numbers from 0 to 1.
Rgba color_of(const Array& array, std::size_t element) {
    const ElementType& type = array.type;
    if (type.size() == 4 && !type.is_real()) {
        const auto* bytes = reinterpret_cast<const std::uint8_t*>(&array.bytes[4 * element]);
        return {bytes[0], bytes[1], bytes[2], 255};
    }
    const bool floating = type.is_real();
    const auto channel = [&](unsigned lane) {
        const std::size_t number = element * type.lanes + std::min(lane, type.lanes - 1);
        const double value = real(array.at(number));
        return byte(floating ? value : value / 255);
    };
    return {channel(0), channel(1), channel(2), 255};
}

Rgba scaled_color(double value, const FiniteRange& range, BufferView view) {
    if (!std::isfinite(value)) return not_finite;
    const double span = range.high - range.low;
    const double fraction = span > 0 ? (value - range.low) / span : 0.5;
    if (view == BufferView::map) return mapped(fraction);
    const std::uint8_t grey = byte(fraction);
    return {grey, grey, grey, 255};
}

std::vector<Rgba> pixels_of(const Array& array, BufferView view, Size size,
                            const std::vector<bool>& marked) {
    std::vector<Rgba> pixels(std::size_t(size.width) * std::size_t(size.height));
    const FiniteRange range = finite_range_of(array).value_or(FiniteRange{0, 0, 0});
    for (int y = 0; y < size.height; ++y) {
        for (int x = 0; x < size.width; ++x) {
            const auto element = element_at(array.shape, size, x, y);
            Rgba& pixel = pixels[std::size_t(y) * std::size_t(size.width) + std::size_t(x)];
            if (!element)
                pixel = background;
            else if (!marked.empty() && marked[*element])
                pixel = mark;
            else if (view == BufferView::colors)
                pixel = color_of(array, *element);
            else
                pixel = scaled_color(real(array.at(*element * array.type.lanes)), range, view);
        }
    }
    return pixels;
}

/// A bar for each column of the picture, from one height to another, as fractions of its height.
class Bars {
  public:
    explicit Bars(Size size)
        : size_(size), pixels(std::size_t(size.width) * std::size_t(size.height), background) {}

    void bar(int x, double from, double to, Rgba color) {
        const auto row = [&](double fraction) {
            const double inside = std::clamp(fraction, 0.0, 1.0);
            return int(std::lround((1 - inside) * (size_.height - 1)));
        };
        for (int y = row(std::max(from, to)); y <= row(std::min(from, to)); ++y)
            pixels[std::size_t(y) * std::size_t(size_.width) + std::size_t(x)] = color;
    }

  private:
    Size size_;

  public:
    std::vector<Rgba> pixels;
};

std::vector<Rgba> plot_of(const Array& array, Size size, const std::vector<bool>& marked) {
    Bars bars(size);
    const FiniteRange range = finite_range_of(array).value_or(FiniteRange{0, 0, 0});
    // A margin above and below.
    const double span = range.high > range.low ? 1.1 * (range.high - range.low) : 1;
    const double middle = (range.high + range.low) / 2;
    const std::size_t count = array.elements(), lanes = array.type.lanes;
    double before = std::nan("");
    for (int x = 0; x < size.width; ++x) {
        const std::size_t first = std::size_t(x) * count / std::size_t(size.width);
        const std::size_t end =
            std::max(first + 1, std::size_t(x + 1) * count / std::size_t(size.width));
        double low = before, high = before;
        bool is_marked = false;
        for (std::size_t i = first; i < end; ++i) {
            const double value = real(array.at(i * lanes));
            is_marked = is_marked || (!marked.empty() && marked[i]);
            if (!std::isfinite(value)) continue;
            low = std::fmin(low, value);
            high = std::fmax(high, value);
            before = value;
        }
        if (!std::isfinite(low)) continue;
        bars.bar(x, 0.5 + (low - middle) / span, 0.5 + (high - middle) / span,
                 is_marked ? mark : curve);
    }
    return std::move(bars.pixels);
}

std::vector<Rgba> histogram_of(const Array& array, Size size) {
    constexpr std::size_t most_bins = 128;
    Bars bars(size);
    const auto range = finite_range_of(array);
    if (!range) return std::move(bars.pixels);
    const std::size_t bins = std::min(most_bins, std::size_t(size.width));
    std::vector<std::size_t> counts(bins);
    const double span = range->high - range->low;
    for (std::size_t i = 0; i < array.numbers(); ++i) {
        const double value = real(array.at(i));
        if (!std::isfinite(value)) continue;
        const double fraction = span > 0 ? (value - range->low) / span : 0.5;
        ++counts[std::min(bins - 1, std::size_t(fraction * double(bins)))];
    }
    const double most = double(*std::ranges::max_element(counts));
    const int gap = size.width / int(bins) > 3 ? 1 : 0;
    for (int x = 0; x < size.width; ++x) {
        const std::size_t bin = std::size_t(x) * bins / std::size_t(size.width);
        const bool at_edge = std::size_t(x + gap) * bins / std::size_t(size.width) != bin;
        if (counts[bin] > 0 && !at_edge) bars.bar(x, 0, 0.95 * double(counts[bin]) / most, curve);
    }
    return std::move(bars.pixels);
}

}  // namespace

BufferView automatic_view(const ElementType& type, const std::vector<std::size_t>& shape) {
    std::size_t rows = 1;
    for (std::size_t d = 0; d + 1 < shape.size(); ++d) rows *= shape[d];
    if (rows == 1) return BufferView::plot;
    const bool is_color = (type.size() == 4 && type.bytes == 1) || type.lanes > 2;
    return is_color ? BufferView::colors : BufferView::map;
}

Size picture_size(const std::vector<std::size_t>& shape, BufferView view, Size of_view) {
    if (view == BufferView::plot || view == BufferView::histogram) return of_view;
    const auto side = [](std::size_t size) {
        return int(std::min(size, std::size_t(most_pixels)));
    };
    return {side(columns_of(shape)), side(rows_of(shape))};
}

std::optional<std::size_t> element_at(const std::vector<std::size_t>& shape, Size size, int x,
                                      int y) {
    const std::size_t columns = columns_of(shape);
    const std::size_t row = std::size_t(y) * rows_of(shape) / std::size_t(size.height);
    const std::size_t element = row * columns + std::size_t(x) * columns / std::size_t(size.width);
    std::size_t elements = 1;
    for (const std::size_t n : shape) elements *= n;
    return element < elements ? std::optional(element) : std::nullopt;
}

std::vector<Rgba> picture_of(const Array& array, BufferView view, Size size,
                             const std::vector<bool>& marked) {
    if (view == BufferView::automatic) view = automatic_view(array.type, array.shape);
    if (view == BufferView::plot) return plot_of(array, size, marked);
    if (view == BufferView::histogram) return histogram_of(array, size);
    return pixels_of(array, view, size, marked);
}

NotFinite count_not_finite(const Array& array) {
    NotFinite found;
    if (!array.type.is_real()) return found;
    for (std::size_t i = 0; i < array.numbers(); ++i) {
        const double value = real(array.at(i));
        if (std::isinf(value)) ++found.infinite;
        if (std::isnan(value)) ++found.nan;
    }
    return found;
}

std::optional<FiniteRange> finite_range_of(const Array& array) {
    double low = 0, high = 0, sum = 0;
    std::size_t count = 0;
    for (std::size_t i = 0; i < array.numbers(); ++i) {
        const double value = real(array.at(i));
        if (!std::isfinite(value)) continue;
        low = count ? std::min(low, value) : value;
        high = count ? std::max(high, value) : value;
        sum += value;
        ++count;
    }
    if (count == 0) return std::nullopt;
    return FiniteRange{low, high, sum / double(count)};
}

}  // namespace warpscope::experiments
