#include "emulator/observe/finding_log.h"

#include <algorithm>
#include <functional>

namespace warpscope::emulator {

std::size_t FindingLog::KeyHash::operator()(const Key& key) const {
    const std::uint64_t pcs = std::uint64_t(key.first_pc) << 32 | key.second_pc;
    const std::uint64_t rest = std::uint64_t(key.kind) << 16 | std::uint64_t(key.severity) << 8 |
                               std::uint64_t(key.hazard);
    return std::hash<std::uint64_t>()(pcs * 0x9E3779B97F4A7C15 ^ std::uint64_t(key.kernel) ^
                                      rest << 48);
}

// Returns the entry of a finding. Several instructions of one source line have one entry.
std::size_t FindingLog::index_of(Finding finding) {
    const Lines lines{
        finding.kernel, finding.first.where(), finding.second ? finding.second->where() : "",
        finding.kind,   finding.severity,      finding.hazard};
    const auto [found, is_new] = by_lines_.emplace(lines, entries_.size());
    if (is_new) entries_.push_back({std::move(finding), now_, ++examples_, {}});
    return found->second;
}

void FindingLog::set_example(Entry& entry, Finding finding) {
    finding.count = entry.finding.count;
    entry.finding = std::move(finding);
    entry.at = now_;
    entry.example_order = ++examples_;
}

void FindingLog::begin_launch() {
    ++now_.launch;
    for (Entry& entry : entries_) entry.blocks.clear();
}

FindingLog FindingLog::fork() const {
    FindingLog log;
    log.now_ = now_;
    return log;
}

void FindingLog::join(const FindingLog& fork) {
    for (const Entry& theirs : fork.entries_) {
        const std::size_t known = entries_.size();
        Entry& mine = entries_[index_of(theirs.finding)];
        if (entries_.size() > known) {
            mine = theirs;
            continue;
        }
        const std::uint64_t count = mine.finding.count + theirs.finding.count;
        if (theirs.at < mine.at) {
            mine.finding = theirs.finding;
            mine.at = theirs.at;
            mine.example_order = theirs.example_order;
        }
        mine.finding.count = count;
        mine.blocks.insert(mine.blocks.end(), theirs.blocks.begin(), theirs.blocks.end());
    }
}

void FindingLog::forget_after(std::uint32_t block) {
    for (Entry& entry : entries_) {
        for (const Entry::BlockCount& share : entry.blocks)
            if (share.block > block) entry.finding.count -= share.count;
        std::erase_if(entry.blocks, [&](const Entry::BlockCount& s) { return s.block > block; });
        // A finding that has lost its last access takes the next access as its example.
        if (entry.finding.count == 0) entry.at = {~0ull, ~0u};
    }
}

std::vector<Finding> FindingLog::findings() const {
    std::vector<Entry> entries = entries_;
    std::sort(entries.begin(), entries.end(), [](const Entry& a, const Entry& b) {
        return std::tie(a.at, a.example_order) < std::tie(b.at, b.example_order);
    });
    std::vector<Finding> findings;
    for (Entry& entry : entries)
        if (entry.finding.count > 0) findings.push_back(std::move(entry.finding));
    return merged({findings});
}

void ObservedLaunch::begin(const Kernel& kernel, const LaunchShape& launch) {
    kernel_ = &kernel;
    shape_ = launch;
}

ThreadAtLine ObservedLaunch::at(std::uint32_t pc, std::uint32_t thread, std::uint32_t block) const {
    const SourceLine& source = kernel_->lines[pc].source;
    const auto& files = kernel_->module->files();
    ThreadAtLine at;
    if (source.file >= 0 && std::size_t(source.file) < files.size())
        at.file = files[std::size_t(source.file)];
    at.line = at.file.empty() ? source.ptx_line : source.line;
    at.inlined = header_lines(source, files);
    at.thread = index_in(shape_.block, thread);
    at.block = index_in(shape_.grid, block);
    return at;
}

}  // namespace warpscope::emulator
