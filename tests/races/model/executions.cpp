#include "executions.h"

#include <algorithm>
#include <map>
#include <sstream>

#include "candidate.h"

namespace warpscope::tests::memory_model {
namespace {

/// The writes that an operation may read from.
std::vector<int> sources_of(const Program& program, unsigned reader) {
    std::vector<int> sources{Candidate::initial};
    const Operation& r = program.operations[reader];
    for (unsigned w = 0; r.reads() && w < program.operations.size(); ++w) {
        const Operation& write = program.operations[w];
        if (w != reader && write.may_write() && write.location == r.location)
            sources.push_back(int(w));
    }
    return sources;
}

std::vector<unsigned> sc_fences_of(const Program& program) {
    std::vector<unsigned> fences;
    for (unsigned a = 0; a < program.operations.size(); ++a)
        if (program.operations[a].order == Order::sc) fences.push_back(a);
    return fences;
}

/// Calls f(allowed candidate) until it returns true.
template <typename F>
void find_allowed(const Program& program, F&& f) {
    std::vector<std::vector<int>> sources;
    for (unsigned a = 0; a < program.operations.size(); ++a)
        sources.push_back(sources_of(program, a));
    std::vector<std::size_t> chosen(sources.size());
    std::vector<int> reads_from(sources.size());
    for (std::size_t changed = 0; changed < chosen.size();) {
        for (std::size_t a = 0; a < chosen.size(); ++a) reads_from[a] = sources[a][chosen[a]];
        std::vector<unsigned> fences = sc_fences_of(program);
        do {
            Candidate candidate(program, reads_from, fences);
            if (candidate.is_allowed() && f(candidate)) return;
        } while (std::ranges::next_permutation(fences).found);
        for (changed = 0; changed < chosen.size() && ++chosen[changed] == sources[changed].size();)
            chosen[changed++] = 0;
    }
}

}  // namespace

std::set<Race> races_of(const Program& program) {
    std::set<Race> all;
    find_allowed(program, [&](const Candidate& candidate) {
        all.merge(candidate.races());
        return false;
    });
    return all;
}

bool is_allowed(const Program& program, const std::string& outcome) {
    std::map<unsigned, std::uint32_t> registers, words;
    std::istringstream parts(outcome);
    for (std::string part; parts >> part;) {
        const std::size_t equals = part.find('=');
        const std::string name = part.substr(0, equals);
        const auto value = std::uint32_t(std::stoul(part.substr(equals + 1)));
        const auto word = std::ranges::find(program.locations, name);
        if (word == program.locations.end())
            registers[unsigned(std::stoul(name.substr(1)))] = value;
        else
            words[unsigned(word - program.locations.begin())] = value;
    }
    bool found = false;
    find_allowed(program, [&](const Candidate& candidate) {
        found = std::ranges::all_of(
                    registers,
                    [&](const auto& r) { return candidate.registers().at(r.first) == r.second; }) &&
                std::ranges::all_of(words, [&](const auto& w) {
                    return candidate.last_values()[w.first].contains(w.second);
                });
        return found;
    });
    return found;
}

Replayed replay(const Program& program, const std::vector<unsigned>& operations) {
    std::vector<int> reads_from(program.operations.size(), Candidate::initial);
    std::vector<int> newest(program.locations.size(), Candidate::initial);  // write, by location
    std::vector<std::uint32_t> words(program.locations.size()), registers(program.registers);
    std::vector<unsigned> fences;
    for (const unsigned a : operations) {
        const Operation& o = program.operations.at(a);
        if (o.order == Order::sc) fences.push_back(a);
        if (o.is_fence()) continue;
        const std::uint32_t read = words[o.location];
        const std::uint32_t value = o.stored < 0 ? o.value : registers[std::size_t(o.stored)];
        if (o.reads()) reads_from[a] = newest[o.location];
        if (o.result >= 0) registers[std::size_t(o.result)] = read;
        if (const auto written = o.written(read, value)) {
            words[o.location] = *written;
            newest[o.location] = int(a);
        }
    }
    Candidate candidate(program, reads_from, fences);
    if (!candidate.is_allowed()) return {};
    return {true, candidate.races(), candidate.registers()};
}

}  // namespace warpscope::tests::memory_model
