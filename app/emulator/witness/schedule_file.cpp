#include "emulator/witness/schedule_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <optional>
#include <utility>

#include "emulator/machine/together/launch_together.h"
#include "emulator/program/error.h"

namespace warpscope::emulator {

namespace {

constexpr std::string_view between = " \t\r";
constexpr std::string_view late = "late", end_of_turn = "at the end of its turn";
constexpr std::string_view with_old_values = "with old values";
constexpr std::pair<std::string_view, Landing> landing_words[] = {
    {"random", Landing::random}, {"at-once", Landing::at_once}, {"late", Landing::late}};

/// Reads the lines of a schedule file.
class ScheduleReader {
  public:
    explicit ScheduleReader(std::string name) { file_.name = std::move(name); }

    void read(std::string_view line) {
        ++line_;
        rest_ = line.substr(0, line.find('#'));
        const std::string_view word = next_word();
        if (word.empty()) return;
        if (word == "kernel")
            file_.kernel = std::string(next_word());
        else if (word == "together")
            read_together();
        else if (word == "block")
            file_.block = {number("x"), number("y"), number("z")};
        else if (word == "epoch")
            epoch_ = number("the number of an epoch");
        else if (word == "warp")
            read_turn();
        else if (word == "landing")
            read_landing();
        else if (word == "copy")
            read_copy();
        else
            fail(fmt::format(
                "'{}' is none of kernel, together, block, landing, copy, epoch and warp", word));
        if (!next_word().empty()) fail("there is more on this line than belongs there");
    }
    ScheduleFile take() {
        if (file_.kernel.empty()) fail("the line 'kernel NAME' is missing");
        for (const ScheduleFile::Turn& turn : file_.turns) {
            line_ = turn.line;
            if (file_.together && turn.epoch > 0)
                fail("blocks that run together have no common epochs: leave the line 'epoch' out");
        }
        return std::move(file_);
    }

  private:
    [[noreturn]] void fail(const std::string& what) const {
        throw Error(fmt::format("{}:{}: {}", file_.name, line_, what));
    }
    std::string_view next_word() {
        rest_.remove_prefix(std::min(rest_.find_first_not_of(between), rest_.size()));
        const std::string_view word = rest_.substr(0, rest_.find_first_of(between));
        rest_.remove_prefix(word.size());
        return word;
    }
    std::uint32_t number_in(std::string_view word, const char* what) const {
        std::uint32_t number = 0;
        const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), number);
        if (error != std::errc() || end != word.data() + word.size())
            fail(fmt::format("'{}' should be {}", word, what));
        return number;
    }
    std::uint32_t number(const char* what) { return number_in(next_word(), what); }
    /// Removes ", NAME N" from the end of `place` and returns N; 1 if it is not there.
    unsigned take_suffix(std::string_view& place, std::string_view name) const {
        const std::size_t at = place.rfind(name);
        if (at == place.npos) return 1;
        const unsigned value = number_in(place.substr(at + name.size()), "a number from 1");
        if (value == 0) fail("numbers of accesses and passes begin with 1");
        place = place.substr(0, at);
        return value;
    }
    /// Reads nothing, or "X Y Z and X Y Z …".
    void read_together() {
        file_.together = true;
        file_.blocks_line = line_;
        if (rest_.find_first_not_of(between) == rest_.npos) return;
        for (std::string_view word = "and"; word == "and"; word = next_word())
            file_.blocks.push_back({number("x"), number("y"), number("z")});
    }
    void read_landing() {
        const std::string_view word = next_word();
        for (const auto& [name, landing] : landing_words)
            if (name == word) file_.landing = landing;
        if (!file_.landing) fail(fmt::format("'{}' is none of random, at-once and late", word));
    }
    /// Reads "copy N of warp W late", or "… at the end of its turn".
    void read_copy() {
        ScheduleFile::Held held{.number = number("the number of a copy")};
        const bool named = next_word() == "of" && next_word() == "warp";
        if (named) held.warp = number("the number of a warp");
        std::string_view moment = rest_;
        rest_ = {};
        moment.remove_prefix(std::min(moment.find_first_not_of(between), moment.size()));
        moment = moment.substr(0, moment.find_last_not_of(between) + 1);
        held.late = moment == late;
        if (!named || (!held.late && moment != end_of_turn))
            fail("a copy is written 'copy N of warp W late', or '… at the end of its turn'");
        held.block = file_.block;
        held.line = line_;
        file_.held.push_back(held);
    }
    void read_turn() {
        ScheduleFile::Turn turn{.epoch = epoch_, .warp = number("the number of a warp")};
        turn.line = line_;
        turn.block = file_.block;
        rest_.remove_prefix(std::min(rest_.find_first_not_of(between), rest_.size()));
        turn.reads_old = rest_.starts_with(with_old_values);
        if (turn.reads_old) rest_.remove_prefix(with_old_values.size());
        const std::string_view until = next_word();
        if (!until.empty()) {
            if (until != "until")
                fail("a warp is followed by 'with old values', by 'until PLACE' or by nothing");
            std::string_view place = rest_;
            rest_ = {};
            place.remove_prefix(std::min(place.find_first_not_of(between), place.size()));
            place = place.substr(0, place.find_last_not_of(between) + 1);
            turn.pass = take_suffix(place, ", pass ");
            turn.access = take_suffix(place, ", access ");
            if (place.empty()) fail("'until' is followed by a place, as in mine.cu:12");
            turn.until = std::string(place);
        }
        file_.turns.push_back(std::move(turn));
    }

    ScheduleFile file_;
    std::string_view rest_;
    std::uint32_t epoch_ = 0;
    int line_ = 0;
};

/// The accesses of the kernel at a place, in the order of the code.
std::vector<std::uint32_t> accesses_at(const Kernel& kernel, const std::string& place) {
    std::vector<std::uint32_t> found;
    for (std::uint32_t pc = 0; pc < kernel.lines.size(); ++pc)
        if (kernel.lines[pc].access != MemoryAccess::none && users_place(kernel, pc) == place)
            found.push_back(pc);
    return found;
}

bool has_block(const LaunchShape& launch, const Dim3& block) {
    const Dim3 grid = launch.grid;
    return block.x < grid.x && block.y < grid.y && block.z < grid.z;
}

/// The first prefix of an instruction, or the instruction itself.
std::uint32_t first_prefix(const Kernel& kernel, std::uint32_t pc) {
    while (pc > 0 && is_prefix(kernel.code[pc - 1].role)) --pc;
    return pc;
}

}  // namespace

std::string users_place(const Kernel& kernel, std::uint32_t pc) {
    return users_place(kernel.own_line(pc),
                       header_lines(kernel.lines[pc].source, kernel.module->files()));
}

ScheduleFile ScheduleFile::parse(std::string_view text, std::string name) {
    ScheduleReader reader(std::move(name));
    while (!text.empty()) {
        const std::string_view line = text.substr(0, text.find('\n'));
        reader.read(line);
        text.remove_prefix(std::min(line.size() + 1, text.size()));
    }
    return reader.take();
}

ScheduleFile ScheduleFile::of_units(const Kernel& kernel, const BlockGroup& group,
                                    const std::vector<std::vector<ListedTurn>>& turns) {
    ScheduleFile file = of(kernel, index_in(group.launch.grid, group.blocks[0]), turns);
    file.together = true;
    for (const std::uint32_t block : group.blocks)
        if (!group.is_whole()) file.blocks.push_back(index_in(group.launch.grid, block));
    for (Turn& turn : file.turns) {
        turn.block = group.block_of(turn.warp);
        turn.warp = group.warp_of(turn.warp);
    }
    return file;
}

ScheduleFile ScheduleFile::of(const Kernel& kernel, Dim3 block,
                              const std::vector<std::vector<ListedTurn>>& turns) {
    ScheduleFile file{.kernel = kernel.name, .block = block, .turns = {}, .name = {}};
    for (std::uint32_t epoch = 0; epoch < turns.size(); ++epoch)
        for (const ListedTurn& listed : turns[epoch]) {
            Turn turn{.epoch = epoch, .warp = listed.warp, .reads_old = listed.reads_old};
            if (listed.until != ListedTurn::nowhere) {
                std::uint32_t pc = listed.until;
                while (is_prefix(kernel.code[pc].role)) ++pc;
                turn.until = users_place(kernel, pc);
                const auto all = accesses_at(kernel, turn.until);
                turn.access = unsigned(std::find(all.begin(), all.end(), pc) - all.begin()) + 1;
                turn.pass = listed.after + 1;
            }
            file.turns.push_back(std::move(turn));
        }
    return file;
}

std::string ScheduleFile::text() const {
    const auto index_words = [](const Dim3& b) { return fmt::format("{} {} {}", b.x, b.y, b.z); };
    const auto line_of = [&](const Dim3& b) { return "block " + index_words(b) + "\n"; };
    std::string text =
        !together ? "# The order of the warps of one block. After the turns of an epoch the next "
                    "warps run in\n"
        : blocks.empty()
            ? "# The order of the warps of all blocks. After these turns the next warps run in\n"
            : "# The order of the warps of some blocks. After these turns the next warps run in\n";
    std::string of_blocks;
    for (const Dim3& one : blocks)
        of_blocks += (of_blocks.empty() ? " " : " and ") + index_words(one);
    text += fmt::format(
        "# their order, each until it waits or ends. Replay it with --schedule FILE.\nkernel "
        "{}\n{}",
        kernel, together ? "together" + of_blocks + "\n" : line_of(block));
    for (const auto& [word, moment] : landing_words)
        if (landing == moment) text += fmt::format("landing {}\n", word);
    std::uint32_t epoch = 0;
    std::optional<Dim3> of_block;
    for (const Held& copy : held) {
        if (together && of_block != copy.block) text += line_of(*(of_block = copy.block));
        text += fmt::format("copy {} of warp {} {}\n", copy.number, copy.warp,
                            copy.late ? late : end_of_turn);
    }
    for (const Turn& turn : turns) {
        if (together && of_block != turn.block) text += line_of(*(of_block = turn.block));
        if (turn.epoch != epoch) text += fmt::format("epoch {}\n", epoch = turn.epoch);
        text += fmt::format("warp {}", turn.warp);
        if (turn.reads_old) text += fmt::format(" {}", with_old_values);
        if (!turn.until.empty()) text += " until " + turn.until;
        if (turn.access != 1) text += fmt::format(", access {}", turn.access);
        if (turn.pass != 1) text += fmt::format(", pass {}", turn.pass);
        text += "\n";
    }
    return text;
}

std::vector<std::vector<ListedTurn>> ScheduleFile::turns_in(const Kernel& in) const {
    std::vector<std::vector<ListedTurn>> listed;
    for (const Turn& turn : turns) {
        constexpr std::uint32_t most_epochs = 1 << 24;
        if (turn.epoch >= most_epochs)
            throw Error(fmt::format("{}:{}: epoch {} is too large", name, turn.line, turn.epoch));
        if (listed.size() <= turn.epoch) listed.resize(turn.epoch + 1);
        ListedTurn& added = listed[turn.epoch].emplace_back(
            ListedTurn{.warp = turn.warp, .reads_old = turn.reads_old});
        if (turn.until.empty()) continue;
        const auto all = accesses_at(in, turn.until);
        if (all.size() < turn.access)
            throw Error(fmt::format("{}:{}: kernel {} has {} accesses at {}, not {}", name,
                                    turn.line, in.name, all.size(), turn.until, turn.access));
        added.until = first_prefix(in, all[turn.access - 1]);
        added.after = turn.pass - 1;
    }
    return listed;
}

void ScheduleFile::apply(const Kernel& to, const LaunchShape& launch,
                         LaunchSettings& settings) const {
    settings.schedule = Schedule::run_to_barrier;
    if (to.name != kernel) return;
    const Dim3 grid = launch.grid;
    if (!has_block(launch, block))
        throw Error(
            fmt::format("{}: there is no block {} {} {}: the grid of kernel {} has {}x{}x{} blocks",
                        name, block.x, block.y, block.z, kernel, grid.x, grid.y, grid.z));
    settings.schedule = Schedule::manual;
    settings.turns = turns_in(to);
    settings.keeps_old_values = std::ranges::any_of(turns, &Turn::reads_old);
    settings.turns_of_block = std::uint32_t(linear_in(grid, block));
    if (landing) settings.landing = *landing;
    settings.held.clear();
    for (const Held& copy : held) {
        if (settings.landing != Landing::at_once)
            throw Error(fmt::format(
                "{}:{}: a copy lands later only where the others land at once: add the line "
                "'landing at-once'",
                name, copy.line));
        settings.held.push_back(
            {.block = index_of(together ? copy.block : block, copy.warp, launch, copy.line),
             .warp = copy.warp,
             .number = copy.number,
             .late = copy.late});
    }
    settings.together.clear();
    if (together) list_units(to, launch, settings);
}

std::uint32_t ScheduleFile::index_of(const Dim3& of, std::uint32_t warp, const LaunchShape& launch,
                                     int line) const {
    if (!has_block(launch, of))
        throw Error(fmt::format("{}:{}: there is no block {} {} {}", name, line, of.x, of.y, of.z));
    if (warp >= warps_of_block(launch))
        throw Error(fmt::format("{}:{}: a block has no warp {}", name, line, warp));
    return std::uint32_t(linear_in(launch.grid, of));
}

void ScheduleFile::list_units(const Kernel& to, const LaunchShape& launch,
                              LaunchSettings& settings) const {
    const std::uint64_t count = blocks.empty() ? launch.grid.count() : blocks.size();
    BlockGroup group{launch, {}};
    // As Machine::freeze() has it, which comes later.
    if (launch.cluster.count() == 1) group.launch.cluster = to.cluster;
    group.launch.cooperative |= to.synchronises_grid;
    for (std::uint32_t k = 0; k < std::min<std::uint64_t>(count, BlockGroup::most_units + 1); ++k)
        group.blocks.push_back(blocks.empty() ? k : index_of(blocks[k], 0, launch, blocks_line));
    std::ranges::sort(group.blocks);
    group.blocks.erase(std::ranges::unique(group.blocks).begin(), group.blocks.end());
    if (const files::Sentence why = why_not_listed(to, group); !why.empty())
        throw Error(fmt::format("{}: kernel {}: {}", name, kernel, why));
    for (std::size_t k = 0; k < turns.size(); ++k) {
        const Turn& turn = turns[k];
        const std::size_t place =
            group.place_of(index_of(turn.block, turn.warp, launch, turn.line));
        if (place == group.blocks.size())
            throw Error(fmt::format("{}:{}: block {} {} {} is none of those that run together",
                                    name, turn.line, turn.block.x, turn.block.y, turn.block.z));
        settings.turns[0][k].warp = std::uint32_t(place) * group.warps() + turn.warp;
    }
    settings.together = std::move(group.blocks);
}

}  // namespace warpscope::emulator
