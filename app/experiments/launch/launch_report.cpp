#include "experiments/launch/launch.h"

#include <fmt/format.h>

#include <algorithm>

#include "compute/device/quantity.h"
#include "experiments/launch/array_picture.h"
#include "experiments/launch/fill.h"
#include "launches/arrays/array_file.h"

namespace warpscope::experiments {

using namespace launches;

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
    Reading reading{"expect_" + std::to_string(number),
                    fmt::format("Numbers of {} that differ", expected.buffer),
                    double(differs.count),
                    "",
                    0.0,
                    differs.count == 0 ? Verdict::pass : Verdict::fail,
                    {}};
    if (found.bytes == wanted.bytes)
        reading.sentence = fmt::format("All {} numbers are as expected, bit for bit.",
                                       compute::grouped(double(found.numbers())));
    else if (differs.count == 0)
        reading.sentence =
            fmt::format("All {} numbers are as expected; the largest difference is {:.3g}.",
                        compute::grouped(double(found.numbers())), differs.largest);
    else
        reading.sentence = fmt::format(
            "{} of {} numbers differ. The first is {} = {}, expected {}; the largest difference "
            "is {:.3g}.",
            compute::grouped(double(differs.count)), compute::grouped(double(found.numbers())),
            place_words(expected.buffer, found, differs.first),
            launches::to_string(found.at(differs.first)),
            launches::to_string(wanted.at(differs.first)), differs.largest);
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
    const auto say = [&](const char* id, const std::string& label, double value,
                         std::string sentence) {
        report.push_back({id, label, value, "", {}, Verdict::none, std::move(sentence)});
    };
    const Array shown = buffers_.download(index);
    const std::string words =
        fmt::format("{} of type {}, {}.", compute::grouped(double(shown.elements())),
                    to_string(shown.type), shape_words(shown.shape));
    if (view() == BufferView::colors)
        return say("pixels", "Pixels of " + name, double(shown.elements()), words);
    const auto range = finite_range_of(shown);
    if (!range) return;
    say("smallest", "Smallest number of " + name, range->low, "");
    say("largest", "Largest number of " + name, range->high, "");
    say("mean", "Mean of " + name, range->mean, words);
}

/// Adds how many numbers of a buffer are infinite or no number (NaN), if some are.
void Launch::add_not_finite(Report& report, std::size_t index) const {
    constexpr std::size_t most_bytes = std::size_t(64) << 20;  // of one that is not shown
    const bool is_shown = index == chosen_.buffer.index();
    if (!plan_->types[index].is_real() || (!is_shown && buffers_.bytes(index) > most_bytes)) return;
    const std::string& name = plan_->file.buffers[index].name;
    const auto say = [&](const char* id, const std::string& label, std::size_t count) {
        if (count > 0)
            report.push_back(
                {id + ("_" + name), label + name, double(count), "", {}, Verdict::none, {}});
    };
    const NotFinite found = count_not_finite(buffers_.download(index));
    say("infinite", "Infinite numbers of ", found.infinite);
    say("nan", "NaN (not a number) in ", found.nan);
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
