#include "emulator/slice/wrong_word.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <map>
#include <optional>
#include <tuple>

#include "emulator/program/error.h"
#include "emulator/ptx/opcodes.h"
#include "emulator/slice/kernel_statements.h"
#include "emulator/witness/schedule_file.h"

namespace warpscope::emulator {
namespace {

using Kind = SliceSource::Kind;

std::string thread_words(const Dim3& block, std::uint32_t warp, std::uint32_t lane) {
    return index_words(block, warp * 32 + lane);
}

/// The value of a register as a number: "75.3"; empty: it says nothing.
std::string value_words(const RegisterInfo& reg, std::uint64_t value) {
    if (reg.is_float && reg.bits == 64) return fmt::format("{:.6g}", std::bit_cast<double>(value));
    if (reg.is_float) return fmt::format("{:.6g}", std::bit_cast<float>(std::uint32_t(value)));
    // Most integers of 64 bits are addresses.
    if (reg.bits == 64) return {};
    return fmt::format("{}", reg.bits == 32 ? std::int32_t(value) : std::int32_t(value & 0xFFFF));
}

std::string value_words(const Kernel& kernel, const SliceNode& node) {
    const RegisterInfo* reg = KernelStatements(kernel).shown_register(node.pc);
    return reg ? value_words(*reg, node.value) : "";
}

/// The memory that is read although the block has not written it.
files::Sentence unwritten_place(const SliceSource& source) {
    return files::sentence("word {} of shared memory, which the block had not written",
                           source.at / 4);
}

/// An instruction by what it is in every run: its thread, its place and its number.
using Identity = std::tuple<std::uint32_t, std::uint32_t, std::uint32_t, std::uint32_t>;

Identity identity(const SliceNode& node) {
    return {node.warp, node.lane, node.pc, node.executions};
}

bool same(const SliceSource& a, const Slice& of_a, const SliceSource& b, const Slice& of_b) {
    if (a.kind != b.kind) return false;
    if (a.kind != Kind::instruction) return a.at == b.at;
    return identity(of_a.nodes[a.at]) == identity(of_b.nodes[b.at]);
}

/// Whether the source is memory, or what has written it.
bool is_memory(const Kernel& kernel, const Slice& slice, const SliceSource& source) {
    if (source.kind != Kind::instruction)
        return source.kind == Kind::shared || source.kind == Kind::global;
    const std::uint32_t pc = slice.nodes[source.at].pc;
    const MemoryAccess access = kernel.lines[pc].access;
    return access == MemoryAccess::store || access == MemoryAccess::atomic ||
           opcode_of(kernel.code[pc].operation).kind == OpcodeKind::asynchronous;
}

/// `kernel`: only sources in memory count; null: all do.
std::optional<SliceSource> first_only_in(const std::vector<SliceSource>& some, const Slice& of_some,
                                         const std::vector<SliceSource>& others,
                                         const Slice& of_others, const Kernel* kernel) {
    for (const SliceSource& source : some)
        if ((!kernel || is_memory(*kernel, of_some, source)) &&
            std::ranges::none_of(others, [&](const SliceSource& other) {
                return same(source, of_some, other, of_others);
            }))
            return source;
    return {};
}

std::optional<Parting> parting_at(std::optional<std::uint32_t> node, const Slice& slice,
                                  const std::vector<SliceSource>& sources, const Slice& right,
                                  const std::vector<SliceSource>& of_right, const Kernel* kernel) {
    Parting parting{node, first_only_in(sources, slice, of_right, right, kernel),
                    first_only_in(of_right, right, sources, slice, kernel)};
    if (!parting.source && !parting.right) return {};
    return parting;
}

/// A node of a run with the words for it.
struct NodeWords {
    const Kernel& kernel;
    const SliceNode& node;
    const Dim3& block;

    std::string thread() const { return thread_words(block, node.warp, node.lane); }
    std::string place() const { return users_place(kernel, node.pc); }
    bool is_copy() const {
        return kernel.lines[node.pc].access == MemoryAccess::none && kernel.is_asynchronous;
    }
    /// Names the node's thread for a reader of its warp, else its warp.
    files::Sentence seen_by(const SliceNode& reader) const {
        return reader.warp == node.warp ? files::sentence("thread {}", thread())
                                        : files::sentence("warp {}", node.warp);
    }
};

/// Which memory a load reads: "global memory", "word 16 of shared memory".
files::Sentence memory_words(const SlicedRun& run, const SliceNode& node) {
    for (const TracedAccess& access : run.trace.accesses(node.step))
        if (access.mask >> node.lane & 1)
            return access.space == Space::shared ? files::sentence("word {} of shared memory",
                                                                   access.addresses[node.lane] / 4)
                                                 : files::sentence("global memory");
    return files::sentence("memory");
}

/// How a thread is told that read at the wrong time, or changed an atomic. `brief` names the two
/// threads, `whole` also the warps, the memory and the places.
struct ReadForms {
    files::Form<2> brief;
    files::Form<7> whole;
};
/// When it did so: before the other one wrote, or its copy landed; after that; or it never wrote.
enum class When : std::uint8_t { before, before_copy, after, after_copy, never };
constexpr ReadForms read_forms[] = {
    {"thread {} read before {} wrote",
     "Thread {} of warp {} read {} at {} before thread {} of warp {} wrote it ({})."},
    {"thread {} read before the copy of {} landed",
     "Thread {} of warp {} read {} at {} before the copy that thread {} of warp {} had started "
     "({}) landed."},
    {"thread {} read after {} wrote",
     "Thread {} of warp {} read {} at {} after thread {} of warp {} wrote it ({})."},
    {"thread {} read after the copy of {} landed",
     "Thread {} of warp {} read {} at {} after the copy that thread {} of warp {} had started ({}) "
     "landed."},
    {"thread {} read what {} never wrote",
     "Thread {} of warp {} read {} at {} although thread {} of warp {} never wrote it in this "
     "order ({})."}};
constexpr ReadForms update_forms[] = {
    {"thread {} updated before {} wrote",
     "Thread {} of warp {} updated {} at {} before thread {} of warp {} wrote it ({})."},
    {"thread {} updated before the copy of {} landed",
     "Thread {} of warp {} updated {} at {} before the copy that thread {} of warp {} had started "
     "({}) landed."},
    {"thread {} updated after {} wrote",
     "Thread {} of warp {} updated {} at {} after thread {} of warp {} wrote it ({})."},
    {"thread {} updated after the copy of {} landed",
     "Thread {} of warp {} updated {} at {} after the copy that thread {} of warp {} had started "
     "({}) landed."},
    {"thread {} updated what {} never wrote",
     "Thread {} of warp {} updated {} at {} although thread {} of warp {} never wrote it in this "
     "order ({})."}};

class Sentences {
  public:
    Sentences(const Parting& parting, const SlicedRun& run, const SlicedRun& right,
              const Dim3& block)
        : parting_(parting), run_(run), right_(right), block_(block) {}

    PartingWords words() const {
        if (!parting_.node) return last_store();
        const SliceNode& node = run_.slice.nodes[*parting_.node];
        const MemoryAccess access = run_.trace.kernel().lines[node.pc].access;
        const bool reads = access == MemoryAccess::load || access == MemoryAccess::atomic;
        const auto is_memory = [](const std::optional<SliceSource>& s) {
            return !s || s->kind == Kind::instruction || s->kind == Kind::shared ||
                   s->kind == Kind::global;
        };
        if (reads && is_memory(parting_.source) && is_memory(parting_.right))
            return memory(node, access == MemoryAccess::atomic ? update_forms : read_forms);
        return other_way(node);
    }

  private:
    NodeWords of_run(const SliceNode& node) const { return {run_.trace.kernel(), node, block_}; }
    const SliceNode* wrong_source() const {
        return parting_.source && parting_.source->kind == Kind::instruction
                   ? &run_.slice.nodes[parting_.source->at]
                   : nullptr;
    }
    const SliceNode* right_source() const {
        return parting_.right && parting_.right->kind == Kind::instruction
                   ? &right_.slice.nodes[parting_.right->at]
                   : nullptr;
    }

    PartingWords last_store() const {
        const SliceNode *mine = wrong_source(), *other = right_source();
        const files::Sentence instead = other
                                            ? files::sentence("thread {}", of_run(*other).thread())
                                            : files::sentence("nobody");
        if (!mine)
            return {files::sentence("nobody stored it last, not {}", instead),
                    files::sentence("Nobody stored it last, not {}.", instead)};
        const std::string who = of_run(*mine).thread(), at = of_run(*mine).place();
        if (other && who == of_run(*other).thread()) {
            const std::string right = of_run(*other).place();
            return {files::sentence("thread {} stored it last at {}, in the right run at {}", who,
                                    at, right),
                    files::sentence("Thread {} stored it last at {}, in the right run at {}.", who,
                                    at, right)};
        }
        return {files::sentence("thread {} stored it last, not {}", who, instead),
                other ? files::sentence("Thread {} stored it last, not thread {} ({}).", who,
                                        of_run(*other).thread(), at)
                      : files::sentence("Thread {} stored it last, not nobody ({}).", who, at)};
    }

    PartingWords memory(const SliceNode& reader, const ReadForms (&forms)[5]) const {
        const NodeWords by = of_run(reader);
        const SliceNode *mine = wrong_source(), *other = right_source();
        PartingWords words;
        const auto say = [&](const SliceNode& node, When when, When of_copy) {
            const NodeWords writer = of_run(node);
            const ReadForms& form = forms[std::size_t(writer.is_copy() ? of_copy : when)];
            words.brief = files::sentence(form.brief, by.thread(), writer.seen_by(reader));
            words.whole =
                files::sentence(form.whole, by.thread(), reader.warp, memory_words(run_, reader),
                                by.place(), writer.thread(), node.warp, writer.place());
        };
        if (other && comes_later(*other, reader))
            say(*other, When::before, When::before_copy);
        else if (mine)
            say(*mine, When::after, When::after_copy);
        else if (other)
            say(*other, When::never, When::never);
        if (parting_.source && !mine)
            words.whole.add(files::sentence("It got what was there before this block."));
        if (mine && other) {
            const NodeWords got = of_run(*mine);
            words.whole.add(files::sentence("It got what thread {} of warp {} had written ({}).",
                                            got.thread(), mine->warp, got.place()));
        }
        return words;
    }

    /// Whether this run executes the instruction after the reader.
    bool comes_later(const SliceNode& writer, const SliceNode& reader) const {
        const auto step =
            run_.trace.step_of(writer.warp, writer.lane, writer.pc, writer.executions);
        if (!step) return false;
        if (*step > reader.step) return true;
        // A copy that was started before may have landed later.
        return of_run(writer).is_copy();
    }

    PartingWords other_way(const SliceNode& node) const {
        const NodeWords by = of_run(node);
        return {files::sentence("thread {} took another way to {}", by.thread(), by.place()),
                files::sentence("Thread {} of warp {} executes {} with operands that come from "
                                "other instructions than in the right run.",
                                by.thread(), node.warp, by.place())};
    }

    const Parting& parting_;
    const SlicedRun &run_, &right_;
    const Dim3& block_;
};

/// Instructions of both runs are the same if one thread executes them for the same time. What a
/// read finds in memory comes before other sources, as a loop that polls differs in any two runs.
/// nullopt: all of them have the same sources.
std::optional<Parting> where_they_part(const Kernel& kernel, const Slice& slice,
                                       const Slice& right) {
    std::map<Identity, const SliceNode*> of_right;
    for (const SliceNode& node : right.nodes) of_right[identity(node)] = &node;
    for (const Kernel* only_memory : {&kernel, static_cast<const Kernel*>(nullptr)}) {
        // The latest nodes come first.
        for (std::size_t k = slice.nodes.size(); k-- > 0;) {
            const auto other = of_right.find(identity(slice.nodes[k]));
            if (other == of_right.end()) continue;
            if (const auto found = parting_at(std::uint32_t(k), slice, slice.nodes[k].sources,
                                              right, other->second->sources, only_memory))
                return found;
        }
        if (const auto found = parting_at({}, slice, slice.bytes, right, right.bytes, only_memory))
            return found;
    }
    return {};
}

PartingWords words_of(const Parting& parting, const SlicedRun& run, const SlicedRun& right,
                      const Dim3& block) {
    return Sentences(parting, run, right, block).words();
}

std::optional<PartingWriter> writer_of(const Parting& parting, const SlicedRun& run,
                                       const SlicedRun& right) {
    const auto of = [&](const std::optional<SliceSource>& source,
                        const Slice& in) -> std::optional<PartingWriter> {
        if (!source || source->kind != Kind::instruction) return {};
        const SliceNode& node = in.nodes[source->at];
        return PartingWriter{node.warp, node.lane, node.pc,
                             run.trace.step_of(node.warp, node.lane, node.pc, node.executions)};
    };
    if (const auto writer = of(parting.right, right.slice)) return writer;
    return of(parting.source, run.slice);
}

}  // namespace

std::string index_words(const Dim3& size, std::uint32_t linear) {
    const Dim3 at = index_in(size, linear);
    if (size.z > 1) return fmt::format("({},{},{})", at.x, at.y, at.z);
    if (size.y > 1) return fmt::format("({},{})", at.x, at.y);
    return fmt::format("{}", at.x);
}

files::Sentence node_words(const Kernel& kernel, const SliceNode& node) {
    std::string text = kernel.lines[node.pc].text;
    for (char& c : text)
        if (c == '\t' || c == '\n') c = ' ';
    const auto twice = [](char a, char b) { return a == ' ' && b == ' '; };
    text.erase(std::unique(text.begin(), text.end(), twice), text.end());
    const std::string value = value_words(kernel, node);
    return files::sentence("warp {} lane {}  {}", node.warp, node.lane,
                           fmt::format("{}  {}{}", users_place(kernel, node.pc), text,
                                       value.empty() ? "" : " = " + value));
}

files::Sentence old_read_words(const Stepper& stepper) {
    if (stepper.position() == 0) return {};
    const Step& step = stepper.history()[stepper.position() - 1];
    if (!step.reads_old || !step.mask) return {};
    const Kernel& kernel = stepper.kernel();
    const RegisterInfo* const reg = KernelStatements(kernel).shown_register(step.pc);
    const auto global = stepper.global_access(step.warp), shared = stepper.shared_access(step.warp);
    const auto newest = [&](unsigned lane) -> std::optional<std::uint32_t> {
        if (global && global->step + 1 == stepper.position())
            return stepper.global_word(global->addresses[lane]);
        std::uint32_t word = 0;
        if (!shared || shared->step + 1 != stepper.position()) return {};
        std::memcpy(&word, stepper.shared_memory().data() + shared->addresses[lane], sizeof word);
        return word;
    };
    files::Sentence words;
    for_each_lane(step.mask, [&](unsigned lane) {
        if (!words.empty() || !reg || reg->bits != 32) return;
        const std::uint64_t read = stepper.value(*reg, step.warp, lane);
        const auto written = newest(lane);
        if (!written || *written == read) return;
        const Dim3 thread = index_in(stepper.launch().launch.block, step.warp * 32u + lane);
        words = files::sentence(
            "thread {} reads {}, as it may: nothing orders the write of {} before it",
            name_of(thread), value_words(*reg, read), value_words(*reg, *written));
    });
    return words.empty() ? files::sentence(
                               "warp {} reads older values, as it may: nothing orders "
                               "the newest writes before it",
                               step.warp)
                         : words;
}

namespace {

/// More steps are not traced.
constexpr std::uint64_t most_steps = 400'000;

/// An order that may give the right value where the one of the launch does not.
struct OtherOrder {
    Schedule schedule = Schedule::run_to_barrier;
    std::uint64_t seed = 1;
    bool in_step = false;
    files::Sentence words() const {
        if (in_step) return files::sentence("all warps advance together, access by access");
        if (schedule == Schedule::run_to_barrier)
            return files::sentence("each warp runs until it waits or ends, the lowest first");
        if (schedule == Schedule::reverse)
            return files::sentence("each warp runs until it waits or ends, the highest first");
        return files::sentence("the turns are random, with seed {}", seed);
    }
};
constexpr OtherOrder other_orders[] = {{.in_step = true},
                                       {},
                                       {.schedule = Schedule::reverse},
                                       {.schedule = Schedule::random, .seed = 1},
                                       {.schedule = Schedule::random, .seed = 2},
                                       {.schedule = Schedule::random, .seed = 3}};

/// Each warp in turn runs until it is before an access, as if a barrier stood behind each access.
void run_in_step(Stepper& stepper, const std::stop_token& stop) {
    const auto is_before_access = [&](std::uint32_t warp) {
        return stepper.kernel().lines[*stepper.next_pc(warp)].access != MemoryAccess::none;
    };
    for (std::uint32_t warp = 0;
         stepper.end() == Stepper::End::open && stepper.position() < most_steps;
         warp = (warp + 1) % stepper.warps()) {
        if (stop.stop_requested()) throw Stopped("the run was stopped");
        const std::uint32_t passed = stepper.epoch();
        for (bool first = true;
             stepper.next_pc(warp) && stepper.epoch() == passed && stepper.position() < most_steps;
             first = false) {
            if (!first && is_before_access(warp)) break;
            stepper.step(warp);
        }
    }
}

std::optional<SlicedRun> right_run(Machine& machine, FrozenLaunch launch, std::uint32_t block,
                                   GlobalBytes bytes, const OtherOrder& order,
                                   const std::function<bool(const Stepper&)>& is_right) {
    const std::stop_token stop = launch.settings.stop;
    launch.settings.schedule = order.schedule;
    launch.settings.seed = order.seed;
    launch.settings.turns.clear();
    launch.settings.landing = Landing::at_once;
    launch.settings.held.clear();
    Stepper stepper(machine, launch, block);
    if (order.in_step)
        run_in_step(stepper, stop);
    else
        stepper.run(most_steps);
    if (stepper.end() != Stepper::End::finished || !is_right(stepper)) return {};
    BlockTrace trace(stepper, stop);
    Slice slice = backward_slice(trace, bytes, &stepper);
    return SlicedRun{std::move(trace), std::move(slice)};
}

using RacePlaces = std::pair<std::string, std::string>;

/// The places of the worst race of a block; nullopt: none was found.
std::optional<RacePlaces> race_of(const Stepper& stepper) {
    for (const Finding& finding : stepper.findings())
        if (finding.kind == FindingKind::race && finding.severity != Severity::note)
            return std::pair(finding.first.where(), finding.second->where());
    return {};
}

/// What a run of the launch's order has shown beside its slice.
struct Noticed {
    PartingWords end;  ///< why the run explains nothing; empty: it does
    std::optional<RacePlaces> race;
};

SlicedRun run_of_launch(Machine& machine, const FrozenLaunch& launch, std::uint32_t block,
                        GlobalBytes bytes, Noticed& noticed,
                        const std::function<bool(const Stepper&)>& is_right) {
    Stepper stepper(machine, launch, block);
    stepper.run(most_steps);
    noticed.race = race_of(stepper);
    if (stepper.end() == Stepper::End::open)
        noticed.end = {files::sentence("the block takes more than {} steps", most_steps),
                       files::sentence("The block takes more than {} steps.", most_steps)};
    if (is_right && stepper.end() == Stepper::End::finished && is_right(stepper))
        noticed.end = {
            files::sentence("the block itself leaves the right value: another block has changed "
                            "it"),
            files::sentence("The block itself leaves the right value: another block has "
                            "changed it.")};
    BlockTrace trace(stepper, launch.settings.stop);
    Slice slice = backward_slice(trace, bytes, &stepper);
    return {std::move(trace), std::move(slice)};
}

/// The first read of shared memory that the block has not written before.
std::optional<Parting> unwritten_read(const Slice& slice) {
    for (std::size_t k = slice.nodes.size(); k-- > 0;)
        for (const SliceSource& source : slice.nodes[k].sources)
            if (source.kind == SliceSource::Kind::shared)
                return Parting{std::uint32_t(k), source, {}};
    return {};
}

PartingWords unwritten_words(const SlicedRun& run, const Parting& parting, const Dim3& block,
                             const std::optional<RacePlaces>& race) {
    const SliceNode& node = run.slice.nodes[*parting.node];
    const Kernel& kernel = run.trace.kernel();
    const std::string thread = thread_words(block, node.warp, node.lane);
    return {files::sentence("thread {} read what the block had not written", thread),
            files::sentence("Thread {} of warp {} read {} at {}.", thread, node.warp,
                            unwritten_place(*parting.source), users_place(kernel, node.pc))
                .add(race ? files::sentence("The block has a race between {} and {}.", race->first,
                                            race->second)
                          : files::sentence("No race was found in the block."))};
}

/// A race may spoil the value in an order that was not tried.
PartingWords untold_words(std::size_t tried, const std::optional<RacePlaces>& race) {
    if (!race)
        return {files::sentence("none of {} other orders of the warps gives the right value, and "
                                "no race was found in the block",
                                tried),
                files::sentence("None of {} other orders of the warps gives the right value, and "
                                "no race was found in the block.",
                                tried)};
    const auto& [one, other] = *race;
    return {files::sentence("none of {} other orders of the warps gives the right value, but the "
                            "block has a race between {} and {}",
                            tried, one, other),
            files::sentence("None of {} other orders of the warps gives the right value, but the "
                            "block has a race between {} and {}.",
                            tried, one, other)};
}

}  // namespace

std::optional<WrongWord::Place> WrongWord::place() const {
    const auto of = [](const SliceNode& node) { return Place{node.step, node.warp, node.lane}; };
    if (parting && parting->node) return of(run.slice.nodes[*parting->node]);
    for (const SliceSource& source : run.slice.bytes)
        if (source.kind == SliceSource::Kind::instruction) return of(run.slice.nodes[source.at]);
    return {};
}

WrongWord explain(Machine& machine, const FrozenLaunch& launch, std::uint32_t block,
                  GlobalBytes bytes, const std::function<bool(const Stepper&)>& is_right) {
    Noticed noticed;
    WrongWord word{.run = run_of_launch(machine, launch, block, bytes, noticed, is_right),
                   .right = {},
                   .order = {}};
    if (!is_right && noticed.end.brief.empty())
        noticed.end = {files::sentence("no right value is known"),
                       files::sentence("No right value is known.")};
    if (!noticed.end.brief.empty()) {
        word.words = noticed.end;
        return word;
    }
    std::size_t tried = 0;
    for (const OtherOrder& order : other_orders) {
        if (order.in_step && launch.kernel->is_asynchronous) continue;
        ++tried;
        word.right = right_run(machine, launch, block, bytes, order, is_right);
        if (!word.right) continue;
        word.order = order.words();
        break;
    }
    if (!word.right) {
        word.parting = unwritten_read(word.run.slice);
        word.words = word.parting ? unwritten_words(word.run, *word.parting, launch.launch.block,
                                                    noticed.race)
                                  : untold_words(tried, noticed.race);
        return word;
    }
    word.parting = where_they_part(*launch.kernel, word.run.slice, word.right->slice);
    if (!word.parting) {
        word.words = {files::sentence("the same instructions compute it in the right run, from "
                                      "values that differ"),
                      files::sentence("The same instructions compute it in the right run, from "
                                      "values that differ.")};
        return word;
    }
    word.words = words_of(*word.parting, word.run, *word.right, launch.launch.block);
    word.writer = writer_of(*word.parting, word.run, *word.right);
    return word;
}

}  // namespace warpscope::emulator
