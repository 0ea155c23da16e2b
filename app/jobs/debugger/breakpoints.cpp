#include "jobs/debugger/breakpoints.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "files/text.h"

namespace warpscope::jobs {

using emulator::Breakpoint;
using emulator::Kernel;
using emulator::Watchpoint;
using launches::LaneExpression;
using launches::LaunchError;
using At = WantedBreakpoint::At;

namespace {

/// The first line from `line` on with code of the kernel; nullopt: there is none.
std::optional<int> line_with_code(const Kernel& kernel, const std::string& file, int line) {
    std::vector<int> lines;  // a line before the first one is that of another kernel
    bool is_before = true;
    for (const emulator::InstructionInfo& info : kernel.lines) {
        const emulator::SourceLine& at = info.source;
        if (info.pseudo || at.file < 0 || kernel.module->files()[std::size_t(at.file)] != file)
            continue;
        if (at.line >= line) lines.push_back(at.line);
        is_before = is_before && at.line > line;
    }
    if (is_before) return {};
    std::ranges::sort(lines);
    for (const int one : lines)
        if (!line_starts(kernel, file, one).empty()) return one;
    return {};
}

int first_ptx_line(const Kernel& kernel) {
    for (const emulator::InstructionInfo& info : kernel.lines)
        if (!info.pseudo) return info.source.ptx_line;
    return 0;
}

}  // namespace

bool hits_hold(const std::string& condition, std::uint64_t pass) {
    const std::string_view text = files::trimmed(condition);
    if (text.empty()) return true;
    const bool is_count = std::isdigit(static_cast<unsigned char>(text[0])) != 0;
    const launches::Expression expression(
        fmt::format("pass {} {} {}", is_count ? ">=" : "", text, text[0] == '%' ? "== 0" : ""));
    return launches::real(expression.value({{"pass", std::int64_t(pass)}})) != 0;
}

void Breakpoints::resolve(SetBreakpoint& point) const {
    const WantedBreakpoint& wanted = point.wanted;
    point.line = wanted.line;
    point.why_not.clear();
    try {
        if (!wanted.condition.empty()) LaneExpression expression(wanted.condition);
        hits_hold(wanted.hits, 1);
    } catch (const LaunchError& error) {
        point.why_not = error.what();
        return;
    }
    if (!kernel_) {
        point.why_not = "No launch is open yet.";
    } else if (wanted.at == At::line) {
        point.file = context_.file(wanted.source);
        const auto line = line_with_code(*kernel_, point.file, wanted.line);
        if (point.file.empty())
            point.why_not = fmt::format("The kernel {} has no code from this file.", name_);
        else if (line)
            point.line = *line;
        else
            point.why_not = fmt::format("The kernel {} has no code from line {} on in this file.",
                                        name_, wanted.line);
    } else if (wanted.at == At::function) {
        point.line = first_ptx_line(*kernel_);
        if (wanted.function != name_ && wanted.function != kernel_->name)
            point.why_not = fmt::format("The launch is one of the kernel {}.", name_);
    } else if (wanted.at == At::instruction && line_starts(*kernel_, {}, wanted.line).empty()) {
        point.why_not = "No instruction is there.";
    }
}

std::vector<SetBreakpoint> Breakpoints::set(const std::string& group,
                                            std::vector<WantedBreakpoint> wanted) {
    std::erase_if(points_, [&](const auto& point) { return point->group == group; });
    std::vector<SetBreakpoint> made;
    for (WantedBreakpoint& one : wanted) {
        auto point = std::make_shared<Point>();
        point->group = group;
        point->set.id = ++newest_;
        point->set.wanted = std::move(one);
        resolve(point->set);
        points_.push_back(point);
        made.push_back(point->set);
    }
    return made;
}

std::vector<SetBreakpoint> Breakpoints::use(const Kernel* kernel, const std::string& name) {
    kernel_ = kernel;
    name_ = name;
    std::vector<SetBreakpoint> changed;
    for (const auto& point : points_) {
        const SetBreakpoint before = point->set;
        resolve(point->set);
        if (before.line != point->set.line || before.why_not != point->set.why_not)
            changed.push_back(point->set);
    }
    return changed;
}

void Breakpoints::restart() {
    for (const auto& point : points_) {
        point->passes = 0;
        point->at.reset();
    }
}

int Breakpoints::stopped_at(std::uint64_t position) const {
    for (const auto& point : points_)
        if (point->at == position && point->stops) return point->set.id;
    return 0;
}

/// "{" and "}" are around expressions.
std::string Breakpoints::log_line(const std::string& message, std::uint32_t warp,
                                  unsigned lane) const {
    std::string line;
    for (std::size_t at = 0; at < message.size();) {
        const std::size_t open = std::min(message.find('{', at), message.size());
        const std::size_t close = message.find('}', open);
        line += message.substr(at, open - at);
        if (open == message.size()) break;
        if (close == std::string::npos) return line + message.substr(open);
        line += context_.text(message.substr(open + 1, close - open - 1), warp, lane);
        at = close + 1;
    }
    return line;
}

/// A warp is at the point, and the condition holds in this lane, the first one.
bool Breakpoints::pass(Point& point, std::uint32_t warp, unsigned lane) const {
    if (!hits_hold(point.set.wanted.hits, ++point.passes)) return false;
    if (point.set.wanted.log.empty()) return true;
    context_.log(log_line(point.set.wanted.log, warp, lane));
    return false;
}

std::function<bool(std::uint32_t, unsigned)> Breakpoints::question(
    const std::shared_ptr<Point>& point, bool backwards) const {
    std::shared_ptr<LaneExpression> condition;
    if (!point->set.wanted.condition.empty())
        condition = std::make_shared<LaneExpression>(point->set.wanted.condition);
    return [this, point, condition, backwards](std::uint32_t warp, unsigned lane) {
        const std::uint64_t here = context_.position();
        if (point->at == here && !backwards) return point->stops;
        if (condition && !context_.holds(*condition, warp, lane)) return false;
        point->at = here;
        point->stops = backwards ? point->set.wanted.log.empty() : pass(*point, warp, lane);
        return point->stops;
    };
}

emulator::Breaks Breakpoints::breaks(bool backwards) {
    emulator::Breaks breaks;
    for (const auto& point : points_) {
        const WantedBreakpoint& wanted = point->set.wanted;
        if (!point->set.why_not.empty()) continue;
        if (wanted.at == At::read || wanted.at == At::write) {
            breaks.watches.push_back(
                {wanted.space, wanted.address,
                 wanted.at == At::read ? Watchpoint::On::read : Watchpoint::On::write});
            continue;
        }
        breaks.points.push_back({.file = wanted.at == At::line ? point->set.file : std::string(),
                                 .line = point->set.line,
                                 .asks = question(point, backwards)});
    }
    return breaks;
}

}  // namespace warpscope::jobs
