#include "emulator/checks/findings.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>

namespace warpscope::emulator {

std::string Party::where() const {
    return file.empty() ? fmt::format("PTX line {}", line) : fmt::format("{}:{}", file, line);
}

std::string_view to_string(FindingKind kind) {
    static constexpr std::string_view names[] = {"race", "uninitialized", "barrier", "memory"};
    return names[size_t(kind)];
}

std::string_view to_string(Severity severity) {
    return severity == Severity::error ? "error" : "warning";
}

std::string_view to_string(Hazard hazard) {
    static constexpr std::string_view names[] = {"", "RAW", "WAR", "WAW"};
    return names[size_t(hazard)];
}

std::string name_of(const Dim3& thread) {
    return fmt::format("({},{},{})", thread.x, thread.y, thread.z);
}

bool has_errors(const std::vector<Finding>& findings) {
    return std::any_of(findings.begin(), findings.end(),
                       [](const Finding& f) { return f.severity == Severity::error; });
}

size_t FindingLog::KeyHash::operator()(const Key& key) const {
    const uint64_t pcs = uint64_t(key.first_pc) << 32 | key.second_pc;
    const uint64_t rest =
        uint64_t(key.kind) << 16 | uint64_t(key.severity) << 8 | uint64_t(key.hazard);
    return std::hash<uint64_t>()(pcs * 0x9E3779B97F4A7C15 ^ uint64_t(key.kernel) ^ rest << 48);
}

std::vector<Finding> merged(const std::vector<std::vector<Finding>>& lists) {
    std::vector<Finding> all;
    for (const auto& list : lists) all.insert(all.end(), list.begin(), list.end());
    std::stable_sort(all.begin(), all.end(), [](const Finding& a, const Finding& b) {
        return std::make_tuple(a.severity != Severity::error, a.kind) <
               std::make_tuple(b.severity != Severity::error, b.kind);
    });
    return all;
}

// Several instructions of one line are one finding.
size_t FindingLog::index_of(Finding finding) {
    const Lines lines{
        finding.kernel, finding.first.where(), finding.second ? finding.second->where() : "",
        finding.kind,   finding.severity,      finding.hazard};
    const auto [found, is_new] = by_lines_.emplace(lines, entries_.size());
    if (is_new) entries_.push_back({std::move(finding), at_, ++serial_, {}});
    return found->second;
}

void FindingLog::set_example(Entry& entry, Finding finding) {
    finding.count = entry.finding.count;
    entry.finding = std::move(finding);
    entry.at = at_;
    entry.serial = ++serial_;
}

void FindingLog::begin_launch() {
    ++at_.launch;
    for (Entry& entry : entries_) entry.blocks.clear();
}

FindingLog FindingLog::fork() const {
    FindingLog log;
    log.at_ = at_;
    return log;
}

void FindingLog::join(const FindingLog& fork) {
    for (const Entry& theirs : fork.entries_) {
        const size_t known = entries_.size();
        Entry& mine = entries_[index_of(theirs.finding)];
        if (entries_.size() > known) {
            mine = theirs;
            continue;
        }
        const uint64_t count = mine.finding.count + theirs.finding.count;
        if (theirs.at < mine.at) {
            mine.finding = theirs.finding;
            mine.at = theirs.at;
            mine.serial = theirs.serial;
        }
        mine.finding.count = count;
        mine.blocks.insert(mine.blocks.end(), theirs.blocks.begin(), theirs.blocks.end());
    }
}

void FindingLog::forget_after(uint32_t block) {
    for (Entry& entry : entries_) {
        for (const Entry::Share& share : entry.blocks)
            if (share.block > block) entry.finding.count -= share.count;
        std::erase_if(entry.blocks, [&](const Entry::Share& s) { return s.block > block; });
        // Of one that is left without any, the next is the example.
        if (entry.finding.count == 0) entry.at = {~0ull, ~0u};
    }
}

std::vector<Finding> FindingLog::findings() const {
    std::vector<Entry> entries = entries_;
    std::sort(entries.begin(), entries.end(), [](const Entry& a, const Entry& b) {
        return std::tie(a.at, a.serial) < std::tie(b.at, b.serial);
    });
    std::vector<Finding> findings;
    for (Entry& entry : entries)
        if (entry.finding.count > 0) findings.push_back(std::move(entry.finding));
    return merged({findings});
}

void Places::begin(const Kernel& kernel, const Launch& launch) {
    kernel_ = &kernel;
    grid_ = launch.grid;
    block_ = launch.block;
}

Party Places::party(uint32_t pc, uint32_t thread, uint32_t block) const {
    const auto split = [](uint32_t i, const Dim3& d) {
        return Dim3{i % d.x, i / d.x % d.y, i / d.x / d.y};
    };
    Party party;
    const SourceLine& at = kernel_->lines[pc].source;
    const auto& files = kernel_->module->files();
    if (at.file >= 0 && size_t(at.file) < files.size()) party.file = files[size_t(at.file)];
    party.line = party.file.empty() ? at.ptx_line : at.line;
    party.thread = split(thread, block_);
    party.block = split(block, grid_);
    return party;
}

}  // namespace warpscope::emulator
