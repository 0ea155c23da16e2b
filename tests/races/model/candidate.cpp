#include "candidate.h"

#include <algorithm>

namespace warpscope::tests::memory_model {

Candidate::Candidate(const Program& program, const std::vector<int>& reads_from,
                     const std::vector<unsigned>& fences)
    : program_(program),
      operations_(program.operations),
      reads_from_(reads_from),
      fences_(fences),
      size_(operations_.size()),
      events_(size_),
      registers_(program.registers),
      last_values_(program.locations.size()),
      observes_(size_),
      base_(size_),
      causes_(size_) {}

bool Candidate::is_allowed() {
    if (!settle_values() || !read_from_writes() || !reads_what_is_awaited()) return false;
    order_by_causality();
    // Causality is an order. Fence-SC (8.10.2) follows, as fences synchronize in Fence-SC order.
    if (!base_.is_acyclic() || !causes_.is_acyclic()) return false;
    for (unsigned location = 0; location < program_.locations.size(); ++location)
        if (!has_coherence(location)) return false;
    return true;
}

// No Thin Air (8.10.4): each value, and whether an operation is executed, follows from values that
// are known before. In a cycle nothing is known first.
bool Candidate::settle_values() {
    for (bool goes_on = true; std::exchange(goes_on, false);)
        for (unsigned a = 0; a < size_; ++a) goes_on |= !events_[a].settled && settle(a);
    return std::ranges::all_of(events_, &Event::settled);
}

// The value of a register before an operation of its thread.
std::optional<std::uint32_t> Candidate::value_of(int reg, unsigned reader) const {
    for (unsigned a = reader; a-- > 0;) {
        if (operations_[a].result != reg || operations_[a].thread != operations_[reader].thread)
            continue;
        if (!events_[a].settled) return {};
        if (executes(a)) return events_[a].read;
    }
    return 0;
}

// Returns false while something is not known.
bool Candidate::settle(unsigned a) {
    const Operation& o = operations_[a];
    Event& event = events_[a];
    event.executed = true;
    if (o.condition) {
        const auto tested = value_of(o.condition->register_, a);
        if (!tested) return false;
        event.executed = *tested == o.condition->value;
    }
    if (*event.executed && o.reads()) {
        const int source = reads_from_[a];
        if (source != initial && !events_[unsigned(source)].settled) return false;
        event.read = source == initial ? 0 : events_[unsigned(source)].write.value_or(0);
        if (o.result >= 0) registers_[std::size_t(o.result)] = *event.read;
    }
    if (*event.executed && o.may_write()) {
        const auto value = o.stored < 0 ? o.value : value_of(o.stored, a);
        if (!value) return false;
        event.write = o.written(event.read.value_or(0), *value);
    }
    return event.settled = true;
}

bool Candidate::read_from_writes() const {
    for (unsigned a = 0; a < size_; ++a) {
        if (!operations_[a].reads() || reads_from_[a] == initial) continue;
        if (!executes(a) || !writes(unsigned(reads_from_[a]))) return false;
    }
    return true;
}

// Of a read that is repeated, only the last one counts.
bool Candidate::reads_what_is_awaited() const {
    for (unsigned a = 0; a < size_; ++a)
        if (operations_[a].awaited && executes(a) && events_[a].read != operations_[a].awaited)
            return false;
    return true;
}

// 8.2.1. All words are apart.
bool Candidate::overlap(unsigned a, unsigned b) const {
    const Operation &one = operations_[a], &other = operations_[b];
    return executes(a) && executes(b) && !one.is_fence() && !other.is_fence() &&
           one.location == other.location;
}

// 8.5: whether the scope of the operation includes the thread.
bool Candidate::includes(unsigned a, unsigned thread) const {
    return operations_[a].scope != Scope::cta ||
           program_.blocks[operations_[a].thread] == program_.blocks[thread];
}

// 8.7
bool Candidate::are_morally_strong(unsigned a, unsigned b) const {
    const Operation &one = operations_[a], &other = operations_[b];
    if (!one.is_fence() && !other.is_fence() && one.location != other.location) return false;
    if (one.thread == other.thread) return true;
    return one.is_strong() && other.is_strong() && includes(a, other.thread) &&
           includes(b, one.thread);
}

// 8.8: the first operation, and a write.
std::vector<Candidate::Pattern> Candidate::release_patterns() const {
    std::vector<Pattern> patterns;
    for (unsigned w = 0; w < size_; ++w) {
        if (!writes(w) || !operations_[w].is_strong()) continue;
        for (unsigned first = 0; first <= w; ++first) {
            const bool of_word = operations_[first].is_fence() || overlap(first, w);
            if (operations_[first].releases() && of_word &&
                (first == w || in_program_order(first, w)))
                patterns.push_back({first, w});
        }
    }
    return patterns;
}

// 8.8: a read, and the last operation.
std::vector<Candidate::Pattern> Candidate::acquire_patterns() const {
    std::vector<Pattern> patterns;
    for (unsigned r = 0; r < size_; ++r) {
        const Operation& read = operations_[r];
        // Reductions do not form acquire patterns.
        if (!executes(r) || !read.reads() || !read.is_strong() || read.kind == Kind::reduce)
            continue;
        for (unsigned last = r; last < size_; ++last) {
            const bool of_word = operations_[last].is_fence() || overlap(r, last);
            if (operations_[last].acquires() && of_word && (last == r || in_program_order(r, last)))
                patterns.push_back({r, last});
        }
    }
    return patterns;
}

// 8.9.4
Relation Candidate::synchronizes() const {
    Relation synchronizes(size_);
    const auto add = [&](unsigned a, unsigned b) {
        if (operations_[a].thread != operations_[b].thread && are_morally_strong(a, b))
            synchronizes.add(a, b);
    };
    const std::vector<Pattern> acquires = acquire_patterns();
    for (const Pattern& release : release_patterns())
        for (const Pattern& acquire : acquires)
            if (observes_.has(release.last, acquire.first)) add(release.first, acquire.last);
    for (std::size_t k = 0; k < fences_.size(); ++k)
        for (std::size_t later = k + 1; later < fences_.size(); ++later)
            if (executes(fences_[k]) && executes(fences_[later])) add(fences_[k], fences_[later]);
    return synchronizes;
}

// 8.9.2 and 8.9.5
void Candidate::order_by_causality() {
    for (unsigned r = 0; r < size_; ++r)
        if (const int w = reads_from_[r];
            operations_[r].reads() && w != initial && are_morally_strong(unsigned(w), r))
            observes_.add(unsigned(w), r);
    observes_ = observes_.transitive();  // only atomic operations are both
    base_ = synchronizes();
    for (unsigned a = 0; a < size_; ++a)
        for (unsigned b = 0; b < size_; ++b)
            if (in_program_order(a, b)) base_.add(a, b);
    base_ = base_.transitive();
    Relation of_word(size_);  // proxy-preserved base causality order
    for (unsigned a = 0; a < size_; ++a)
        for (unsigned b = 0; b < size_; ++b)
            if (base_.has(a, b) && overlap(a, b)) of_word.add(a, b);
    causes_ = observes_.then(of_word);
    causes_ |= of_word;
}

std::vector<unsigned> Candidate::writes_of(unsigned location) const {
    std::vector<unsigned> found;
    for (unsigned w = 0; w < size_; ++w)
        if (writes(w) && operations_[w].location == location) found.push_back(w);
    return found;
}

// 8.9.6: two writes are related where they are morally strong, or related in causality order.
// Returns none where the writes in this order contradict causality (8.10.1).
std::optional<Relation> Candidate::coherence(const std::vector<unsigned>& writes) const {
    Relation order(size_);
    for (std::size_t k = 0; k < writes.size(); ++k)
        for (std::size_t later = k + 1; later < writes.size(); ++later) {
            const unsigned a = writes[k], b = writes[later];
            if (causes_.has(b, a)) return {};
            if (causes_.has(a, b) || are_morally_strong(a, b)) order.add(a, b);
        }
    return order.transitive();
}

// 8.9.7: a read precedes the writes that follow in coherence order the one that it reads from.
Relation Candidate::from_reads(const Relation& coherence, unsigned location) const {
    Relation before(size_);
    for (unsigned r = 0; r < size_; ++r) {
        if (!executes(r) || !operations_[r].reads() || operations_[r].location != location)
            continue;
        for (const unsigned w : writes_of(location))
            if (w != r && (reads_from_[r] == initial || coherence.has(unsigned(reads_from_[r]), w)))
                before.add(r, w);
    }
    return before;
}

// The axioms of one word: 8.10.3, 8.10.5 and 8.10.6.
bool Candidate::is_coherent(const Relation& coherence, unsigned location) const {
    const Relation before = from_reads(coherence, location);
    Relation per_location(size_);
    for (unsigned a = 0; a < size_; ++a)
        for (unsigned b = 0; b < size_; ++b) {
            if (!overlap(a, b) || operations_[a].location != location || a == b) continue;
            const bool reads = operations_[b].reads() && reads_from_[b] == int(a);
            if ((reads || before.has(a, b)) && causes_.has(b, a)) return false;
            const bool strong = are_morally_strong(a, b);
            if (strong && before.has(a, b) && coherence.has(b, a)) return false;
            if (in_program_order(a, b) ||
                (strong && (reads || before.has(a, b) || coherence.has(a, b))))
                per_location.add(a, b);
        }
    return per_location.is_acyclic();
}

// Whether the word has some coherence order; and what it may hold in the end.
bool Candidate::has_coherence(unsigned location) {
    std::vector<unsigned> order = writes_of(location);
    bool found = false;
    const std::vector<unsigned> writes = order;
    do {
        const std::optional<Relation> coherent = coherence(order);
        if (!coherent || !is_coherent(*coherent, location)) continue;
        found = true;
        const auto is_last = [&](unsigned w) {
            return std::ranges::none_of(writes, [&](unsigned v) { return coherent->has(w, v); });
        };
        for (const unsigned w : writes)
            if (is_last(w)) last_values_[location].insert(*events_[w].write);
    } while (std::ranges::next_permutation(order).found);
    if (writes.empty()) last_values_[location].insert(0);
    return found;
}

// 8.7.1
std::set<Race> Candidate::races() const {
    std::set<Race> found;
    for (unsigned a = 0; a < size_; ++a)
        for (unsigned b = a + 1; b < size_; ++b)
            if (conflict(a, b) && !are_morally_strong(a, b) && !causes_.has(a, b) &&
                !causes_.has(b, a))
                found.insert({a, b});
    return found;
}

}  // namespace warpscope::tests::memory_model
