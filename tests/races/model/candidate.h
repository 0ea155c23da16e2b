#pragma once

#include <optional>
#include <vector>

#include "executions.h"
#include "relation.h"

namespace warpscope::tests::memory_model {

/// An execution that may be allowed: which write each read reads from, and the order of the
/// fence.sc operations.
class Candidate {
  public:
    static constexpr int initial = -1;  ///< the write before the program starts

    /// `reads_from`: by operation. `fences`: those of fence.sc, in Fence-SC order.
    Candidate(const Program& program, const std::vector<int>& reads_from,
              const std::vector<unsigned>& fences);

    /// Whether the axioms allow it.
    bool is_allowed();
    /// Of one that is allowed.
    std::set<Race> races() const;
    const std::vector<std::uint32_t>& registers() const { return registers_; }
    /// The values that a word may have in the end, by location.
    const std::vector<std::set<std::uint32_t>>& last_values() const { return last_values_; }

  private:
    /// What an operation does.
    struct Event {
        std::optional<bool> executed;              ///< empty: not known yet
        std::optional<std::uint32_t> read, write;  ///< values
        bool settled = false;                      ///< all that it does is known
    };
    /// The operations of a release or acquire pattern that count.
    struct Pattern {
        unsigned first = 0, last = 0;
    };

    bool settle_values();
    bool settle(unsigned a);
    std::optional<std::uint32_t> value_of(int reg, unsigned reader) const;
    bool read_from_writes() const;
    bool reads_what_is_awaited() const;
    bool executes(unsigned a) const { return *events_[a].executed; }
    bool writes(unsigned a) const { return executes(a) && events_[a].write.has_value(); }
    bool overlap(unsigned a, unsigned b) const;
    bool conflict(unsigned a, unsigned b) const {
        return a != b && overlap(a, b) && (writes(a) || writes(b));
    }
    bool in_program_order(unsigned a, unsigned b) const {
        return a < b && operations_[a].thread == operations_[b].thread && executes(a) &&
               executes(b);
    }
    bool includes(unsigned a, unsigned thread) const;
    bool are_morally_strong(unsigned a, unsigned b) const;

    std::vector<Pattern> release_patterns() const;
    std::vector<Pattern> acquire_patterns() const;
    Relation synchronizes() const;
    void order_by_causality();

    std::vector<unsigned> writes_of(unsigned location) const;
    std::optional<Relation> coherence(const std::vector<unsigned>& writes) const;
    Relation from_reads(const Relation& coherence, unsigned location) const;
    bool is_coherent(const Relation& coherence, unsigned location) const;
    bool has_coherence(unsigned location);

    const Program& program_;
    const std::vector<Operation>& operations_;
    const std::vector<int>& reads_from_;
    const std::vector<unsigned>& fences_;
    const std::size_t size_;
    std::vector<Event> events_;
    std::vector<std::uint32_t> registers_;
    std::vector<std::set<std::uint32_t>> last_values_;
    Relation observes_, base_, causes_;  ///< observation, base causality and causality order
};

}  // namespace warpscope::tests::memory_model
