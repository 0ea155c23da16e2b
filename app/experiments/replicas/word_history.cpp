#include "experiments/replicas/word_history.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <fstream>
#include <map>
#include <set>
#include <utility>

#include "emulator/slice/wrong_word.h"
#include "emulator/witness/schedule_file.h"
#include "experiments/launch/launch_plan.h"
#include "experiments/launch/open_launch.h"
#include "experiments/measure/user_paths.h"
#include "launches/arrays/array_comparison.h"
#include "launches/files/program_capture.h"

namespace warpscope::experiments {

namespace {

namespace fs = std::filesystem;

// The answer is for a person: no more is looked for.
constexpr unsigned most_depth = 8;
constexpr std::size_t most_links = 40, most_groups = 6;
constexpr std::uint64_t most_history_steps = 400'000;

/// A number that a launch finds or leaves in memory, and who has written it last.
struct HistoryNumber {
    std::size_t buffer = 0, index = 0;  ///< in the plan of that launch
    /// Stands for the buffer in all launches: its address, or the hash of a variable's name, as
    /// launch files do not have the addresses of variables.
    std::uint64_t region = 0;
    std::uint64_t offset = 0;
    launches::ElementType type{};
    std::string name{}, value{};
    std::size_t behind = 0;  ///< the earliest launch, by index, that is known to have found `found`
    std::optional<std::string> found{};  ///< its bytes there
    files::Sentence writer{};  ///< the line of a launch, or all that is known; empty: nothing
    bool is_of_launch = false;
    std::size_t launch = 0;  ///< by index
    std::uint32_t block = 0, thread = 0, pc = 0;

    void set_value(const void* bytes) {
        launches::Array one(type, {1});
        std::memcpy(one.bytes.data(), bytes, one.bytes.size());
        value = launches::to_string(one.at(0));
    }
};
using HistoryNumbers = std::vector<HistoryNumber*>;

std::uint64_t region_of(const launches::BufferSpec& buffer) {
    return buffer.address ? buffer.address
                          : std::hash<std::string>{}(buffer.name) | std::uint64_t(1) << 63;
}

/// Notes who has stored last to each of some numbers, by their addresses in ascending order.
class NumberWriters : public emulator::Observer {
  public:
    using Watched = std::vector<std::pair<std::uint64_t, HistoryNumber*>>;
    /// `before`: only stores of the blocks before this one count. It finds the values.
    NumberWriters(const Watched& watched, std::optional<std::uint32_t> before)
        : watched_(watched), before_(before) {}

    bool wants_instructions(const emulator::Kernel&) const override { return false; }
    bool wants_global_loads() const override { return false; }
    bool wants_shared_accesses() const override { return false; }
    bool wants_barriers() const override { return false; }
    void on_block_begin(const emulator::Kernel&, std::uint32_t block) override {
        if (block == before_)
            for (const auto& [at, number] : watched_)
                number->set_value(reinterpret_cast<const void*>(at));
    }
    void on_global_access(const emulator::Access& access) override {
        if (access.kind == emulator::MemoryAccess::load || (before_ && access.block >= *before_))
            return;
        const auto end_of = [](const auto& one) { return one.first + one.second->type.bytes; };
        for (std::uint32_t lanes = access.mask; lanes; lanes &= lanes - 1) {
            const auto lane = unsigned(std::countr_zero(lanes));
            const std::uint64_t begin = access.address(lane);
            for (auto at = std::ranges::upper_bound(watched_, begin, {}, end_of);
                 at != watched_.end() && at->first < begin + access.bytes; ++at) {
                at->second->is_of_launch = true;
                at->second->block = access.block;
                at->second->thread = access.warp * emulator::lanes_per_warp + lane;
                at->second->pc = access.pc;
            }
        }
    }

  private:
    const Watched& watched_;
    const std::optional<std::uint32_t> before_;
};

class WordHistory {
  public:
    WordHistory(const std::shared_ptr<const LaunchState>& launch, compute::Helpers& helpers,
                const std::stop_token& stop)
        : helpers_(helpers), settings_(launch->settings), stop_(stop) {
        settings_.turns = nullptr;  // they are of one launch
        const fs::path file = launch->entry.launch_file;
        list_ = launches::read_capture(file.parent_path()).value().launches;
        states_.resize(list_.size());
        for (std::size_t k = 0; k < list_.size(); ++k) {
            files_.push_back(launches::read_launch_file(list_[k].file));
            if (list_[k].file.filename() != file.filename()) continue;
            asked_ = k;
            states_[k] = launch;
        }
    }

    std::vector<WordLink> of(const std::string& buffer, std::size_t element) {
        std::vector<HistoryNumber> numbers;
        {
            const Replay replay(*this, asked_);
            const auto at = std::ranges::find(replay.results, buffer, &KnownResult::name);
            for (unsigned lane = 0; lane < at->type.lanes; ++lane)
                numbers.push_back(replay.number(std::size_t(at - replay.results.begin()),
                                                element * at->type.lanes + lane));
        }
        add(asked_, {}, numbers, 0);
        return std::move(links_);
    }

  private:
    /// A launch of the capture, before it runs.
    struct Replay {
        Replay(WordHistory& history, std::size_t launch)
            : state(history.state(launch)),
              specimen(state, compute::usual_emulator_memory(), history.stop_),
              results(specimen.experiment().results()),
              buffers(specimen.experiment().plan()->file.buffers) {}
        /// Where a number is in this run; nullopt: the launch does not have it.
        std::optional<std::uint64_t> address(const HistoryNumber& number) const {
            const auto buffer = std::ranges::find(buffers, number.region, region_of);
            if (buffer == buffers.end()) return {};
            return results[std::size_t(buffer - buffers.begin())].address + number.offset;
        }
        HistoryNumber number(std::size_t buffer, std::size_t index) const {
            const auto& [kind, bytes, lanes] = results[buffer].type;
            std::string name = launches::element_words(results[buffer].name, false,
                                                       results[buffer].shape, index / lanes);
            if (lanes > 1) name += fmt::format(".{}", "xyzw"[index % lanes]);
            return {.buffer = buffer,
                    .index = index,
                    .region = region_of(buffers[buffer]),
                    .offset = index * bytes,
                    .type = {kind, bytes, 1},
                    .name = std::move(name)};
        }
        const LaunchState& state;
        Specimen specimen;
        std::vector<KnownResult> results;
        std::vector<launches::BufferSpec> buffers;
    };

    const LaunchState& state(std::size_t launch) {
        if (!states_[launch])
            states_[launch] = open_captured(helpers_, files_[launch], settings_, stop_);
        return *states_[launch];
    }
    std::optional<std::string> bytes_of(std::size_t launch, const HistoryNumber& number,
                                        bool after);
    void find_writers(HistoryNumbers numbers, std::size_t launch,
                      std::optional<std::uint32_t> before);
    void run_again(std::size_t launch, const HistoryNumbers& numbers,
                   std::optional<std::uint32_t> before);
    std::vector<HistoryNumber> inputs_of(const HistoryNumber& number);
    WordLink link_of(const HistoryNumbers& group, unsigned depth) const;
    void add(std::size_t launch, std::optional<std::uint32_t> before,
             std::vector<HistoryNumber>& numbers, unsigned depth);

    compute::Helpers& helpers_;
    compute::RunSettings settings_;
    const std::stop_token stop_;
    std::vector<launches::CapturedLaunch> list_;
    std::vector<launches::LaunchFile> files_;
    std::vector<std::shared_ptr<const LaunchState>> states_;
    std::size_t asked_ = 0;
    std::map<fs::path, std::ifstream> memory_;  ///< files that are open
    std::vector<WordLink> links_;
    std::set<std::tuple<std::size_t, std::uint32_t, std::uint64_t, std::uint64_t>> followed_;
};

/// The bytes of a number before or after a launch of the program; nullopt: it does not have them.
std::optional<std::string> WordHistory::bytes_of(std::size_t launch, const HistoryNumber& number,
                                                 bool after) {
    const launches::LaunchFile& file = files_[launch];
    const auto buffer = std::ranges::find(file.buffers, number.region, region_of);
    if (buffer == file.buffers.end()) return {};
    const launches::Fill* fill = &buffer->fill;
    const auto left = std::ranges::find(file.expect, buffer->name, &launches::Expectation::buffer);
    if (after && left != file.expect.end()) fill = std::get_if<launches::Fill>(&left->equals);
    const auto* const path = fill ? std::get_if<fs::path>(fill) : nullptr;
    if (!path) return {};
    std::ifstream& from = memory_[*path];
    if (!from.is_open()) from.open(file.in_folder(*path), std::ios::binary);
    std::string bytes(number.type.bytes, '\0');
    from.seekg(std::streamoff(number.offset));
    if (!from.read(bytes.data(), std::streamsize(bytes.size()))) return {};
    return bytes;
}

/// Goes back from the end of a launch, or from the beginning of one of its blocks.
void WordHistory::find_writers(HistoryNumbers numbers, std::size_t launch,
                               std::optional<std::uint32_t> before) {
    for (HistoryNumber* number : numbers) {
        number->behind = launch;
        const auto bytes = bytes_of(launch, *number, !before);
        if (bytes) number->set_value(bytes->data());
        if (before) number->found = bytes;
    }
    if (before && *before > 0) run_again(launch, numbers, before);
    for (std::size_t j = before ? launch : launch + 1; j-- > 0;) {
        memory_.clear();
        HistoryNumbers here;
        for (HistoryNumber* number : numbers) {
            const auto left = bytes_of(j, *number, true);
            if (!left || !number->writer.empty()) continue;
            const auto &first = list_[j], &next = list_[number->behind];
            if (!number->found || *number->found == *left)
                here.push_back(number);
            else
                number->writer = files::sentence(
                    next.number - first.number == number->behind - j
                        ? files::Form<2>("the host, between launch {} and launch {}")
                        : files::Form<2>("the host or a launch that was not captured, between "
                                         "launch {} and launch {}"),
                    first.number, next.number);
        }
        if (!here.empty()) run_again(j, here, {});
        for (HistoryNumber* number : here) {
            number->found = bytes_of(j, *number, false);
            number->behind = j;
            if (number->writer.empty() && number->found != bytes_of(j, *number, true))
                number->writer =
                    files::sentence("launch {}, {}, which changed it, but not when it ran again",
                                    list_[j].number, list_[j].kernel);
        }
    }
    for (HistoryNumber* number : numbers)
        if (number->writer.empty())
            number->writer = files::sentence(
                number->behind
                    ? files::Form<1>("no captured launch; it was there before launch "
                                     "{}, the first that got this memory")
                    : files::Form<1>("no captured launch; it was there before launch {}"),
                list_[number->behind].number);
}

void WordHistory::run_again(std::size_t launch, const HistoryNumbers& numbers,
                            std::optional<std::uint32_t> before) {
    try {
        Replay replay(*this, launch);
        NumberWriters::Watched watched;
        for (HistoryNumber* number : numbers)
            if (const auto address = replay.address(*number))
                watched.emplace_back(*address, number);
        std::ranges::sort(watched);
        NumberWriters writers(watched, before);
        replay.specimen.machine().run(replay.specimen.launch(), &writers);
        for (const auto& [address, number] : watched) {
            if (!number->is_of_launch) continue;
            number->launch = launch;
            number->writer =
                as_shown(emulator::users_place(*replay.specimen.launch().kernel, number->pc),
                         replay.state.edits);
        }
    } catch (const std::exception& error) {
        if (stop_.stop_requested()) throw;
        for (HistoryNumber* number : numbers) {
            number->is_of_launch = false;
            number->writer =
                files::sentence("not known: launch {}, {}, cannot be run again: {}",
                                list_[launch].number, list_[launch].kernel, files::words_of(error));
        }
    }
}

/// The numbers in memory from before its block from which a launch has computed a number.
std::vector<HistoryNumber> WordHistory::inputs_of(const HistoryNumber& number) {
    Replay replay(*this, number.launch);
    emulator::Stepper stepper(replay.specimen.machine(), replay.specimen.launch(), number.block);
    stepper.run(most_history_steps);
    if (stepper.end() == emulator::Stepper::End::open)
        links_.push_back(
            {.depth = links_.back().depth + 1,
             .numbers = files::sentence("… its block takes more steps than are followed")});
    const emulator::BlockTrace trace(stepper, stop_);
    const emulator::Slice slice =
        emulator::backward_slice(trace, {replay.address(number).value(), number.type.bytes});
    std::set<std::pair<std::size_t, std::size_t>> found;
    const auto add_bytes = [&](std::uint64_t begin, std::uint64_t end) {
        for (std::size_t k = 0; k < replay.results.size(); ++k) {
            const KnownResult& result = replay.results[k];
            std::size_t bytes = result.type.size();
            for (const std::size_t size : result.shape) bytes *= size;
            for (std::uint64_t at = std::max(begin, result.address);
                 at < std::min(end, result.address + bytes); ++at)
                found.emplace(k, (at - result.address) / result.type.bytes);
        }
    };
    // The slice has words; a lane may have read a part of one.
    const auto add_word = [&](const emulator::SliceNode& node, std::uint64_t word) {
        for (const emulator::TracedAccess& access : trace.accesses(node.step)) {
            const std::uint64_t at = access.addresses[node.lane], begin = std::max(word, at),
                                end = std::min(word + 4, at + access.bytes);
            if (access.space == emulator::Space::global && (access.mask >> node.lane & 1) &&
                begin < end)
                return add_bytes(begin, end);
        }
        add_bytes(word, word + 4);
    };
    for (const emulator::SliceNode& node : slice.nodes)
        for (const emulator::SliceSource& source : node.sources)
            if (source.kind == emulator::SliceSource::Kind::global) add_word(node, source.at);
    std::vector<HistoryNumber> inputs;
    for (const auto& [buffer, index] : found) inputs.push_back(replay.number(buffer, index));
    return inputs;
}

WordLink WordHistory::link_of(const HistoryNumbers& group, unsigned depth) const {
    const HistoryNumber &first = *group.front(), &last = *group.back();
    WordLink link{.depth = depth, .numbers = {}, .writer = first.writer};
    std::string numbers = first.name;
    if (group.size() > 1) numbers += " to " + last.name;
    if (last.index - first.index >= group.size())
        numbers += fmt::format(" ({} numbers)", group.size());
    link.numbers = numbers;
    for (std::size_t k = 0; k < std::min<std::size_t>(group.size(), 3); ++k)
        link.values += (k ? ", " : "") + group[k]->value;
    if (group.size() > 3) link.values += ", …";
    if (!first.is_of_launch) return link;
    const launches::CapturedLaunch& launch = list_[first.launch];
    link.launch = launch.number;
    link.kernel = launch.kernel;
    link.place = first.writer.english();
    link.block = emulator::index_in(launch.grid, first.block);
    link.thread = emulator::index_in(launch.block, first.thread);
    std::set<std::pair<std::uint32_t, std::uint32_t>> threads;
    for (const HistoryNumber* number : group) threads.emplace(number->block, number->thread);
    const auto say = [&](auto form, const auto&... more) {
        return files::sentence(form, launch.number, launch.kernel, link.place,
                               emulator::index_words(launch.grid, first.block),
                               emulator::index_words(launch.block, first.thread), more...);
    };
    link.writer = threads.size() > 1
                      ? say(files::Form<6>("launch {}, {}, {}, block {}, thread {} and {} more"),
                            threads.size() - 1)
                      : say(files::Form<5>("launch {}, {}, {}, block {}, thread {}"));
    return link;
}

/// Adds a link for each group of these numbers of a launch that one line has written.
void WordHistory::add(std::size_t launch, std::optional<std::uint32_t> before,
                      std::vector<HistoryNumber>& numbers, unsigned depth) {
    HistoryNumbers all;
    for (HistoryNumber& number : numbers) all.push_back(&number);
    find_writers(all, launch, before);
    std::vector<HistoryNumbers> groups;
    std::map<std::tuple<std::size_t, std::size_t, std::string>, std::size_t> group_of;
    for (HistoryNumber* number : all) {
        const auto [at, is_new] = group_of.try_emplace(
            {number->buffer, number->launch, number->writer.english()}, groups.size());
        if (is_new) groups.emplace_back();
        groups[at->second].push_back(number);
    }
    for (std::size_t k = 0; k < groups.size(); ++k) {
        if (k == most_groups || links_.size() >= most_links)
            return links_.push_back({.depth = depth, .numbers = files::sentence("… and more")});
        links_.push_back(link_of(groups[k], depth));
        const HistoryNumber& first = *groups[k].front();
        if (!first.is_of_launch ||
            !followed_.emplace(first.launch, first.block, first.region, first.offset).second)
            continue;
        if (depth + 1 == most_depth) {
            links_.push_back({.depth = most_depth,
                              .numbers = files::sentence("… ask launch {} to go on",
                                                         list_[first.launch].number)});
            continue;
        }
        std::vector<HistoryNumber> inputs = inputs_of(first);
        add(first.launch, first.block, inputs, depth + 1);
    }
}

}  // namespace

files::Sentence words_of(const WordLink& link) {
    files::Sentence words = std::string(std::size_t(2) * link.depth, ' ');
    words.add(link.numbers, "");
    if (!link.values.empty()) words.add(link.values, " = ");
    if (!link.writer.empty()) words.add(link.writer, ": ");
    return words;
}

std::shared_ptr<const LaunchState> open_captured(compute::Helpers& helpers,
                                                 const launches::LaunchFile& file,
                                                 compute::RunSettings settings,
                                                 const std::stop_token& stop) {
    const CompiledEntry opened = open_launch(helpers, file, settings.math, stop);
    const auto device =
        compute::make_emulated_device({.reason = "for a captured launch",
                                       .settings = settings,
                                       .edits = {{opened.kernels->file, opened.kernels}}});
    const std::unique_ptr<Experiment> experiment = opened.entry->make(*device);
    return std::make_shared<const LaunchState>(*opened.entry, *experiment, settings);
}

std::optional<launches::CapturedLaunch> captured_launch(const fs::path& file) {
    const auto capture = launches::read_capture(file.parent_path());
    if (capture)
        for (const launches::CapturedLaunch& launch : capture->launches)
            if (launch.file.filename() == file.filename()) return launch;
    return {};
}

std::vector<WordLink> word_history(const std::shared_ptr<const LaunchState>& launch,
                                   const std::string& buffer, std::size_t element,
                                   compute::Helpers& helpers, const std::stop_token& stop) {
    return WordHistory(launch, helpers, stop).of(buffer, element);
}

}  // namespace warpscope::experiments
