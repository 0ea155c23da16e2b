#include "experiments/replicas/word_names.h"

#include <fmt/format.h>

#include <cmath>
#include <cstring>

#include "launches/arrays/element_words.h"
#include "launches/arrays/out_of_tolerance.h"

namespace warpscope::experiments {

namespace {

/// The numbers in a word.
launches::Array numbers_in(std::uint32_t word, const launches::ElementType& type) {
    launches::Array numbers({type.kind, type.bytes, 1}, {sizeof word / type.bytes});
    std::memcpy(numbers.bytes.data(), &word, sizeof word);
    return numbers;
}

/// With no more digits than a float has.
std::string number_words(const launches::Array& numbers, std::size_t k) {
    const double value = launches::real(numbers.at(k));
    const bool is_float = numbers.type.is_real() && value != std::round(value);
    return is_float ? fmt::format("{}", float(value)) : launches::to_string(numbers.at(k));
}

emulator::NamedWord named(const KnownResult& result, std::uint64_t offset, std::uint32_t value,
                          std::uint32_t expected) {
    const launches::Array found = numbers_in(value, result.type),
                          right = numbers_in(expected, result.type);
    if (result.is_picture) {
        const auto [now, wanted] = launches::colour_words(found, right, 0);
        return {launches::element_words(result.name, true, result.shape, offset / sizeof value),
                now, wanted};
    }
    std::size_t first = 0;
    while (first + 1 < found.numbers() && found.at(first) == right.at(first)) ++first;
    launches::Array indexed;
    indexed.type = result.type;
    indexed.shape = result.shape;
    return {launches::place_words(result.name, indexed, offset / result.type.bytes + first),
            number_words(found, first), number_words(right, first)};
}

}  // namespace

emulator::NameWord word_names(Experiment& experiment) {
    return [results = experiment.results()](std::uint64_t address, std::uint32_t value,
                                            std::uint32_t expected) {
        std::optional<emulator::NamedWord> found;
        for (const KnownResult& result : results) {
            std::uint64_t bytes = result.type.size();
            for (const std::size_t side : result.shape) bytes *= side;
            const bool is_here = address >= result.address && address - result.address < bytes;
            // A word is a part of a number of 8 bytes.
            if (is_here && result.type.bytes <= sizeof value)
                found = named(result, address - result.address, value, expected);
        }
        return found;
    };
}

}  // namespace warpscope::experiments
