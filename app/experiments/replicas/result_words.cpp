#include "experiments/replicas/result_words.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>

#include "experiments/replicas/wrong_results.h"
#include "launches/arrays/array_comparison.h"

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

namespace {

/// Compares the numbers that lie in the word at `offset` of a buffer with the right ones.
emulator::WordVerdict verdict(const KnownResult& known, const launches::Array& right,
                              std::uint64_t offset) {
    const std::uint64_t bytes = known.type.bytes, first = offset / bytes;
    const std::uint64_t end =
        std::min<std::uint64_t>((offset + 4 + bytes - 1) / bytes, right.numbers());
    if (first >= end) return emulator::WordVerdict::unknown;
    const std::uint64_t begin = first * bytes, count = (end - first) * bytes;
    if (std::memcmp(reinterpret_cast<const void*>(known.address + begin),
                    right.bytes.data() + begin, count) == 0)
        return emulator::WordVerdict::right;
    if (!known.type.is_real() && known.absolute == 0 && known.relative == 0)
        return emulator::WordVerdict::wrong;
    const launches::ElementType one{known.type.kind, known.type.bytes, 1};
    launches::Array found(one, {std::size_t(end - first)}), wanted = found;
    std::memcpy(found.bytes.data(), reinterpret_cast<const void*>(known.address + first * bytes),
                found.bytes.size());
    std::memcpy(wanted.bytes.data(), right.bytes.data() + first * bytes, wanted.bytes.size());
    const bool is_right =
        launches::out_of_tolerance(found, wanted, known.absolute, known.relative).count == 0;
    return is_right ? emulator::WordVerdict::right : emulator::WordVerdict::wrong;
}

}  // namespace

emulator::JudgeWord expected_words(Specimen& specimen, const LaunchState& state,
                                   const std::stop_token& stop) {
    const auto known =
        std::make_shared<const std::vector<KnownResult>>(specimen.experiment().known_results());
    if (std::ranges::all_of(*known, &KnownResult::is_captured)) return {};
    // The file may expect numbers that another one of its kernels computes.
    const auto results =
        std::make_shared<const WrongResults>(std::make_shared<const LaunchState>(state), stop);
    return [known, results](std::uint64_t address) {
        for (std::size_t k = 0; k < known->size(); ++k) {
            const launches::Array& right = results->results()[k].right;
            const std::uint64_t offset = address - (*known)[k].address;
            if (address >= (*known)[k].address && offset < right.bytes.size())
                return verdict((*known)[k], right, offset);
        }
        return emulator::WordVerdict::unknown;
    };
}

}  // namespace warpscope::experiments
