#include "experiments/replicas/wrong_results.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <charconv>
#include <cstring>
#include <stdexcept>

#include "emulator/witness/schedule_file.h"
#include "experiments/launch/launch_plan.h"
#include "experiments/measure/user_paths.h"
#include "launches/arrays/array_comparison.h"

namespace warpscope::experiments {

namespace {

constexpr std::uint32_t nobody = ~0u;

/// Notes which block has stored last to each element.
class LastWriters : public emulator::Observer {
  public:
    struct Watched {
        std::uint64_t address;
        std::size_t element_bytes;
        std::vector<std::uint32_t>* writers;
    };
    explicit LastWriters(std::vector<Watched> watched) : watched_(std::move(watched)) {}

    bool wants_instructions(const emulator::Kernel&) const override { return false; }
    bool wants_shared_accesses() const override { return false; }
    void on_global_access(const emulator::Access& access) override {
        if (access.kind == emulator::MemoryAccess::load) return;
        for (std::uint32_t lanes = access.mask; lanes; lanes &= lanes - 1) {
            const std::uint64_t begin = access.address(unsigned(std::countr_zero(lanes)));
            for (const Watched& w : watched_) {
                const std::uint64_t end = w.address + w.writers->size() * w.element_bytes;
                const std::uint64_t last = std::min(begin + access.bytes, end);
                for (std::uint64_t at = std::max(begin, w.address); at < last; ++at)
                    (*w.writers)[(at - w.address) / w.element_bytes] = access.block;
            }
        }
    }

  private:
    std::vector<Watched> watched_;
};

/// The first number of an element that is wrong.
std::size_t wrong_number(const KnownResult& known, const launches::Array& found,
                         const launches::Array& right, std::size_t element) {
    const unsigned lanes = known.type.lanes;
    for (std::size_t k = element * lanes; k < (element + 1) * lanes; ++k) {
        launches::Array a({known.type.kind, known.type.bytes, 1}, {1}), b = a;
        a.set(0, found.at(k));
        b.set(0, right.at(k));
        if (launches::out_of_tolerance(a, b, known.absolute, known.relative).count > 0) return k;
    }
    return element * lanes;
}

/// The bytes of memory at an address, as numbers of an array with one element.
launches::Array read_numbers(const emulator::Stepper& stepper, std::uint64_t address,
                             launches::ElementType type) {
    launches::Array numbers(type, {1});
    for (std::size_t k = 0; k < numbers.bytes.size(); ++k) {
        const std::uint64_t at = address + k;
        const std::uint32_t word = stepper.global_word(at & ~3ull).value_or(0);
        numbers.bytes[k] = std::byte(word >> (at % 4 * 8));
    }
    return numbers;
}

/// The part of a wrong element that is explained: an element of at most 4 bytes as a whole, and one
/// number of a larger element.
struct Explained {
    std::uint64_t address;
    launches::Array right;  ///< one element
};

Explained explained(const KnownResult& known, const launches::Array& right, std::size_t element,
                    std::size_t number) {
    const bool is_whole = known.type.size() <= 4;
    const launches::ElementType one{known.type.kind, known.type.bytes, 1};
    const std::size_t offset = is_whole ? element * known.type.size() : number * known.type.bytes;
    Explained wrong{known.address + offset, launches::Array(is_whole ? known.type : one, {1})};
    std::memcpy(wrong.right.bytes.data(), right.bytes.data() + offset, wrong.right.bytes.size());
    return wrong;
}

/// Memory with a kernel that a reason speaks of.
struct KeptWord {
    Specimen specimen;
    std::optional<emulator::WrongWord> word;
};

/// Of a launch of a program all buffers: who has written their numbers can be asked.
std::vector<KnownResult> asked_results(Experiment& experiment) {
    std::vector<KnownResult> known = experiment.known_results();
    const auto plan = experiment.plan();
    if (!plan || !plan->file.of_program) return known;
    for (KnownResult& other : experiment.results()) {
        if (std::ranges::find(known, other.name, &KnownResult::name) != known.end()) continue;
        other.is_captured = true;
        known.push_back(std::move(other));
    }
    return known;
}

std::vector<std::size_t> numbers_in(std::string_view text) {
    std::vector<std::size_t> found;
    for (const char *at = text.data(), *const end = at + text.size(); at < end;) {
        std::size_t number = 0;
        const auto [next, error] = std::from_chars(at, end, number);
        if (error == std::errc()) found.push_back(number);
        at = error == std::errc() ? next : at + 1;
    }
    return found;
}

}  // namespace

WrongResults::WrongResults(std::shared_ptr<const LaunchState> launch, const std::stop_token& stop)
    : launch_(std::move(launch)) {
    Specimen specimen(*launch_, compute::usual_emulator_memory(), stop);
    const std::vector<KnownResult> known = asked_results(specimen.experiment());
    results_.resize(known.size());
    std::vector<LastWriters::Watched> watched;
    for (std::size_t k = 0; k < known.size(); ++k) {
        results_[k].name = known[k].name;
        results_[k].is_picture = known[k].is_picture;
        results_[k].found = launches::Array(known[k].type, known[k].shape);
        results_[k].writers.resize(results_[k].found.elements(), nobody);
        watched.push_back({known[k].address, known[k].type.size(), &results_[k].writers});
    }
    if (known.empty()) return;
    LastWriters writers(std::move(watched));
    specimen.machine().run(specimen.launch(), &writers);
    compute::Device& device = specimen.experiment().device();
    for (std::size_t k = 0; k < known.size(); ++k) {
        Result& result = results_[k];
        device.download(result.found.bytes.data(), known[k].address, result.found.bytes.size());
        result.is_captured = known[k].is_captured;
        result.right = known[k].right ? known[k].right() : result.found;
        result.wrong = launches::out_of_tolerance(result.found, result.right, known[k].absolute,
                                                  known[k].relative)
                           .elements;
    }
}

bool WrongResults::is_wrong(const ElementPlace& place) const {
    return place.result < results_.size() && place.element < results_[place.result].wrong.size() &&
           results_[place.result].wrong[place.element];
}

std::optional<ElementPlace> WrongResults::first_wrong() const {
    for (std::size_t k = 0; k < results_.size(); ++k) {
        const auto& wrong = results_[k].wrong;
        const auto found = std::ranges::find(wrong, true);
        if (found != wrong.end()) return ElementPlace{k, std::size_t(found - wrong.begin())};
    }
    return {};
}

ElementPlace WrongResults::find(std::string_view words) const {
    if (words == "first") {
        if (const auto first = first_wrong()) return *first;
        throw std::invalid_argument("no element is wrong");
    }
    std::string known;
    for (std::size_t k = 0; k < results_.size(); ++k) {
        const Result& result = results_[k];
        known += fmt::format("{}{}", known.empty() ? "" : ", ",
                             result.is_picture ? "X,Y of the picture" : result.name + "[INDEX]");
        const bool is_named =
            words.starts_with(result.name) && words.substr(result.name.size()).starts_with("[");
        if (!is_named && !result.is_picture) continue;
        std::vector<std::size_t> index =
            numbers_in(is_named ? words.substr(result.name.size()) : words);
        const auto& shape = result.found.shape;
        if (index.size() != shape.size()) continue;
        if (result.is_picture && !is_named) std::ranges::reverse(index);
        std::size_t element = 0;
        bool inside = true;
        for (std::size_t d = 0; d < shape.size(); ++d) {
            inside = inside && index[d] < shape[d];
            element = element * shape[d] + index[d];
        }
        if (inside) return {k, element};
    }
    throw std::invalid_argument(
        fmt::format("'{}' is no element of a result; name one of: {}, first", words,
                    known.empty() ? "nothing, since no result of this launch is known" : known));
}

WrongReason WrongResults::why(const ElementPlace& place, const std::stop_token& stop) const {
    const Result& result = results_[place.result];
    WrongReason reason{.launch = launch_,
                       .place = place,
                       .element = launches::element_words(result.name, result.is_picture,
                                                          result.found.shape, place.element),
                       .found = {},
                       .expected = {},
                       .brief = {},
                       .whole = {}};
    const auto kept = std::make_shared<KeptWord>(
        KeptWord{Specimen(*launch_, compute::usual_emulator_memory(), stop), {}});
    const KnownResult known = asked_results(kept->specimen.experiment())[place.result];
    const std::size_t number = wrong_number(known, result.found, result.right, place.element);
    if (result.is_picture) {
        std::tie(reason.found, reason.expected) =
            launches::colour_words(result.found, result.right, place.element);
    } else {
        reason.found = launches::to_string(result.found.at(number));
        reason.expected = launches::to_string(result.right.at(number));
    }
    reason.is_captured = known.is_captured;
    const auto with_values = [&](const files::Sentence& why) {
        return known.is_captured
                   ? files::sentence("{}, the program's launch left {}: {}", reason.found,
                                     reason.expected, why)
                   : files::sentence("{}, expected {}: {}", reason.found, reason.expected, why);
    };
    const bool is_unknown = known.is_captured && !is_wrong(place);
    if (is_unknown) {
        reason.brief = files::sentence("{}: no right value is known", reason.found);
        reason.whole = files::sentence("{} is {}, as the program's launch left it.", reason.element,
                                       reason.found)
                           .add(files::sentence("No right value is known."));
    } else if (!is_wrong(place)) {
        reason.brief = reason.whole =
            files::sentence("{} is right: {}", reason.element, reason.found);
        return reason;
    }
    const std::uint32_t block = result.writers[place.element];
    if (block == nobody && is_unknown) return reason;
    if (block == nobody) {
        reason.brief = with_values(files::sentence("no thread of this launch has written it"));
        reason.whole = files::sentence("No thread of this launch has written {}.", reason.element);
        return reason;
    }
    const emulator::FrozenLaunch& launch = kept->specimen.launch();
    const Explained wrong = explained(known, result.right, place.element, number);
    std::function<bool(const emulator::Stepper&)> is_right;
    if (!is_unknown)
        is_right = [&](const emulator::Stepper& stepper) {
            const launches::Array numbers = read_numbers(stepper, wrong.address, wrong.right.type);
            return launches::out_of_tolerance(numbers, wrong.right, known.absolute, known.relative)
                       .count == 0;
        };
    kept->word =
        emulator::explain(kept->specimen.machine(), launch, block,
                          {wrong.address, std::uint32_t(wrong.right.type.size())}, is_right);
    reason.block = emulator::index_in(launch.launch.grid, block);
    reason.word = {kept, &*kept->word};
    reason.kernel = launch.kernel;
    if (is_unknown) return reason;
    reason.brief = with_values(as_shown(reason.word->words.brief, launch_->edits));
    reason.whole = as_shown(reason.word->words.whole, launch_->edits);
    if (known.is_captured)
        reason.whole.add(
            files::sentence("The capture does not say which of the two is right: the program's "
                            "launch had an order of its own."));
    return reason;
}

std::vector<files::Sentence> slice_lines(const WrongReason& reason, bool right, std::size_t most) {
    std::vector<files::Sentence> lines;
    if (!reason.word || (right && !reason.word->right)) return lines;
    const emulator::Slice& slice = right ? reason.word->right->slice : reason.word->run.slice;
    for (std::size_t k = 0; k < std::min(most, slice.nodes.size()); ++k)
        lines.push_back(
            as_shown(emulator::node_words(*reason.kernel, slice.nodes[k]), reason.launch->edits));
    if (slice.nodes.size() > most)
        lines.push_back(files::sentence("… and {} more, back to the inputs of the kernel",
                                        slice.nodes.size() - most));
    return lines;
}

}  // namespace warpscope::experiments
