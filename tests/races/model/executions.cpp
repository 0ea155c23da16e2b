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

namespace {

/// Executes the operations one after the other, and finds which write each read reads from.
class Interpreter {
  public:
    explicit Interpreter(const Program& program)
        : program_(program),
          reads_from_(program.operations.size(), Candidate::initial),
          newest_(program.locations.size(), Candidate::initial),
          words_(program.locations.size()),
          registers_(program.registers),
          next_(program.blocks.size()) {
        for (unsigned thread = 0; thread < next_.size(); ++thread) go_to_executed(thread);
    }

    void step(unsigned thread) {
        const unsigned a = next_.at(thread)++;
        const Operation& o = program_.operations.at(a);
        if (o.order == Order::sc) fences_.push_back(a);
        if (!o.is_fence()) access(a, o);
        go_to_executed(thread);
    }
    const std::vector<int>& reads_from() const { return reads_from_; }
    const std::vector<unsigned>& fences() const { return fences_; }

  private:
    void access(unsigned a, const Operation& o) {
        std::uint32_t& word = words_[o.location];
        const std::uint32_t read = word;
        if (o.reads()) reads_from_[a] = newest_[o.location];
        const bool writes = o.may_write() && (o.kind != Kind::compare || read == o.compared);
        const std::uint32_t value = o.stored < 0 ? o.value : registers_[std::size_t(o.stored)];
        const bool adds = o.kind == Kind::add || o.kind == Kind::reduce;
        if (writes) {
            word = adds ? read + value : value;
            newest_[o.location] = int(a);
        }
        if (o.result >= 0) registers_[std::size_t(o.result)] = read;
    }
    void go_to_executed(unsigned thread) {
        unsigned& next = next_[thread];
        const auto is_next = [&](const Operation& o) {
            return o.thread == thread &&
                   (!o.condition ||
                    registers_[std::size_t(o.condition->register_)] == o.condition->value);
        };
        while (next < program_.operations.size() && !is_next(program_.operations[next])) ++next;
    }

    const Program& program_;
    std::vector<int> reads_from_, newest_;
    std::vector<unsigned> fences_;
    std::vector<std::uint32_t> words_, registers_;
    std::vector<unsigned> next_;
};

}  // namespace

Replayed replay(const Program& program, const std::vector<unsigned>& threads) {
    Interpreter interpreter(program);
    for (const unsigned thread : threads) interpreter.step(thread);
    Candidate candidate(program, interpreter.reads_from(), interpreter.fences());
    if (!candidate.is_allowed()) return {};
    return {true, candidate.races(), candidate.registers()};
}

}  // namespace warpscope::tests::memory_model
