#include "emulator/stepper/breakpoints.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <optional>
#include <span>

namespace warpscope::emulator {
namespace {

/// For each instruction: whether a later branch (`back`), or any branch, leads to it or to the
/// inserted instructions before it.
struct BranchTargets {
    explicit BranchTargets(const Kernel& kernel)
        : any(kernel.code.size()), back(kernel.code.size()), ends(kernel.code.size()) {
        for (std::uint32_t pc = 0; pc < kernel.code.size(); ++pc) {
            const Instruction& code = kernel.code[pc];
            ends[pc] = is_branch(code.role) || code.role == Role::exit;
            if (!is_branch(code.role)) continue;
            auto to = std::uint32_t(std::int64_t(pc) + std::int32_t(code.target));
            while (to + 1 < kernel.lines.size() && kernel.lines[to].pseudo) ++to;
            any[to] = true;
            if (to <= pc) back[to] = true;
        }
    }
    std::vector<bool> any, back;
    std::vector<bool> ends;  ///< the instruction ends its basic block
};

/// Returns whether the instruction has the line; nothing if it has no line at all.
std::optional<bool> has_line(const Kernel& kernel, std::uint32_t pc, std::string_view file,
                             int line) {
    const SourceLine& source = kernel.lines[pc].source;
    if (file.empty()) return source.ptx_line == line;
    if (source.file < 0 || source.line <= 0) return {};
    return source.line == line && kernel.module->files()[std::size_t(source.file)] == file;
}

/// The breaks of a kernel, looked up for its stepper. They must outlive it.
class BreakFinder {
  public:
    BreakFinder(const Stepper& stepper, const Breaks& breaks)
        : stepper_(stepper), points_at_(stepper.kernel().lines.size()) {
        for (const Breakpoint& point : breaks.points) add(point);
        for (const Watchpoint& watch : breaks.watches)
            if (watch.enabled) watches_.push_back({watch});
    }

    /// Call it when the stepper has moved: earlier values of the words don't count.
    void begin() {
        for (Watch& watch : watches_) watch.value = word(watch.point);
    }
    /// Must be called after each step. Watches compare with the position of the previous call.
    std::optional<Stop> after_step() {
        std::optional<Stop> stop = reached();
        if (stepper_.end() == Stepper::End::failed) return {};
        for (Watch& watch : watches_) {
            const auto before = watch.value;
            watch.value = word(watch.point);
            std::optional<Stop> seen = accessed(watch.point, before != watch.value);
            if (seen && stop) stop->why.add(seen->why);
            if (seen && !stop) stop = std::move(seen);
        }
        return stop;
    }
    /// Returns the stop if the next step reaches a breakpoint.
    std::optional<Stop> reached() const {
        const std::uint64_t here = stepper_.position();
        const auto history = stepper_.history();
        const auto warp = here < history.size() ? std::optional<std::uint32_t>(history[here].warp)
                                                : stepper_.next_warp();
        const auto pc = warp ? stepper_.next_pc(*warp) : std::nullopt;
        if (!pc) return {};
        for (const Breakpoint* point : points_at_[*pc])
            if (auto stop = reached(*point, *warp, *pc)) return stop;
        return {};
    }

  private:
    struct Watch {
        Watchpoint point;
        std::optional<std::uint32_t> value{};  ///< the value at the newest position
    };

    void add(const Breakpoint& point) {
        if (!point.enabled) return;
        for (const std::uint32_t pc : line_starts(stepper_.kernel(), point.file, point.line))
            points_at_[pc].push_back(&point);
    }

    std::optional<Stop> reached(const Breakpoint& point, std::uint32_t warp,
                                std::uint32_t pc) const {
        if (point.warp && *point.warp != warp) return {};
        std::uint32_t lanes = 0;
        for (const SplitView& split : stepper_.warp(warp).splits)
            if (split.state == SplitView::State::running && split.pc == pc) {
                lanes = split.mask;
                break;
            }
        if (point.lane) lanes &= 1U << *point.lane;
        for (std::uint32_t m = point.asks ? lanes : 0; m; m &= m - 1) {
            const auto lane = unsigned(std::countr_zero(m));
            if (!point.asks(warp, lane)) lanes &= ~(1U << lane);
        }
        if (!lanes) return {};
        const auto lane = unsigned(std::countr_zero(lanes));
        const std::string at = where(point, pc);
        return Stop{Stop::At::stop, warp, lane,
                    !point.condition.empty()
                        ? files::sentence("Warp {}, lane {}, reaches {} with {}.", warp, lane, at,
                                          point.condition)
                    : point.lane ? files::sentence("Warp {}, lane {}, reaches {}.", warp, lane, at)
                                 : files::sentence("Warp {} reaches {}.", warp, at)};
    }
    std::string where(const Breakpoint& point, std::uint32_t pc) const {
        return point.file.empty() ? fmt::format("PTX line {}", point.line)
                                  : stepper_.kernel().where(pc);
    }

    std::optional<std::uint32_t> word(const Watchpoint& watch) const {
        if (watch.space == Space::global) return stepper_.global_word(watch.address);
        const auto shared = stepper_.shared_memory();
        if (watch.address >= shared.size()) return {};
        std::uint32_t bits = 0;
        std::memcpy(&bits, shared.data() + watch.address,
                    std::min<std::size_t>(4, shared.size() - watch.address));
        return bits;
    }

    /// Returns the stop if the newest step did what the watchpoint waits for.
    std::optional<Stop> accessed(const Watchpoint& watch, bool changed) const {
        const std::uint32_t warp = stepper_.history()[stepper_.position() - 1].warp;
        const bool global = watch.space == Space::global;
        const auto access = global ? stepper_.global_access(warp) : stepper_.shared_access(warp);
        if (!access || access->step + 1 != stepper_.position()) return {};
        const bool reads = access->kind != MemoryAccess::store;
        const bool writes = access->kind != MemoryAccess::load;
        if (!(watch.on == Watchpoint::On::read ? reads : writes)) return {};
        if (watch.on == Watchpoint::On::change && !changed) return {};
        for (std::uint32_t m = access->mask; m; m &= m - 1) {
            const auto lane = unsigned(std::countr_zero(m));
            const std::uint64_t begin = access->addresses[lane];
            if (begin >= watch.address + 4 || watch.address >= begin + access->bytes) continue;
            const files::Form<3> form =
                watch.on == Watchpoint::On::read    ? files::Form<3>("Warp {} reads {}, {}.")
                : watch.on == Watchpoint::On::write ? files::Form<3>("Warp {} writes {}, {}.")
                                                    : files::Form<3>("Warp {} changes {}, {}.");
            return Stop{
                Stop::At::stop, warp, lane,
                files::sentence(
                    form, warp,
                    global ? files::sentence("global word {}", fmt::format("{:#x}", watch.address))
                           : files::sentence("word {}", watch.address / 4),
                    stepper_.kernel().where(access->pc))};
        }
        return {};
    }

    const Stepper& stepper_;
    std::vector<std::vector<const Breakpoint*>> points_at_;  ///< indexed by instruction
    std::vector<Watch> watches_;
};

}  // namespace

bool Breaks::any_enabled() const {
    const auto enabled = [](const auto& one) { return one.enabled; };
    return asks || std::any_of(points.begin(), points.end(), enabled) ||
           std::any_of(watches.begin(), watches.end(), enabled);
}

std::vector<std::uint32_t> line_starts(const Kernel& kernel, std::string_view file, int line) {
    std::vector<std::uint32_t> starts;
    const BranchTargets targets(kernel);
    bool in_block = false;  // the basic block has had an instruction of the line
    bool before = false;    // the previous instruction has the line
    for (std::uint32_t pc = 0; pc < kernel.lines.size(); ++pc) {
        if (targets.any[pc]) in_block = false;
        if (!kernel.lines[pc].pseudo) {
            const bool here = has_line(kernel, pc, file, line).value_or(before);
            if (here && !in_block && (!before || targets.back[pc])) starts.push_back(pc);
            in_block = in_block || here;
            before = here;
        }
        if (targets.ends[pc]) in_block = false;
    }
    return starts;
}

Stop run_to(Stepper& stepper, const Breaks& breaks, std::uint64_t most) {
    BreakFinder finder(stepper, breaks);
    finder.begin();
    std::optional<Stop> stop;
    const bool whole = stepper.run_until(most, [&] {
        if (!(stop = finder.after_step()) && breaks.asks) stop = breaks.asks();
        return stop.has_value();
    });
    if (stop) return *stop;
    return {whole ? Stop::At::end : Stop::At::interrupted};
}

Stop run_back_to(Stepper& stepper, const Breaks& breaks) {
    const std::uint64_t from = stepper.position();
    if (from == 0) return {Stop::At::start};
    BreakFinder finder(stepper, breaks);
    // Runs between each two saved positions, the latest ones first.
    std::optional<Stop> stop;
    std::uint64_t found = 0, last = from - 1;
    while (last > 0 && !stop) {
        const std::uint64_t first = stepper.saved_before(last);
        stepper.seek(first);
        finder.begin();
        const bool whole = stepper.run_until(last, [&] {
            if (auto one = finder.after_step()) {
                stop = std::move(one);
                found = stepper.position();
            }
            return false;
        });
        if (!whole) {
            stepper.seek(from);
            return {Stop::At::interrupted};
        }
        last = first;
    }
    stepper.seek(found);
    if (!stop) stop = finder.reached();
    return stop.value_or(Stop{Stop::At::start});
}

}  // namespace warpscope::emulator
