#include "experiments/replicas/expected_words.h"

#include <algorithm>
#include <cstring>

#include "experiments/replicas/wrong_results.h"
#include "launches/arrays/out_of_tolerance.h"

namespace warpscope::experiments {

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
