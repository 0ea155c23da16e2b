#pragma once

#include <bit>
#include <cstdint>
#include <vector>

namespace warpscope::tests::memory_model {

/// A relation of at most 32 operations, which are numbers from 0 on.
class Relation {
  public:
    explicit Relation(std::size_t size) : rows_(size) {}

    void add(unsigned a, unsigned b) { rows_[a] |= 1u << b; }
    bool has(unsigned a, unsigned b) const { return rows_[a] >> b & 1; }

    Relation& operator|=(const Relation& other) {
        for (std::size_t a = 0; a < rows_.size(); ++a) rows_[a] |= other.rows_[a];
        return *this;
    }
    /// Relates a with c where this one relates a with some b, and `next` relates b with c.
    Relation then(const Relation& next) const {
        Relation both(rows_.size());
        for (std::size_t a = 0; a < rows_.size(); ++a)
            for (std::uint32_t left = rows_[a]; left; left &= left - 1)
                both.rows_[a] |= next.rows_[std::size_t(std::countr_zero(left))];
        return both;
    }
    Relation transitive() const {
        Relation all = *this;
        for (std::size_t b = 0; b < rows_.size(); ++b)
            for (std::uint32_t& row : all.rows_)
                if (row >> b & 1) row |= all.rows_[b];
        return all;
    }
    bool is_acyclic() const {
        const Relation all = transitive();
        for (unsigned a = 0; a < rows_.size(); ++a)
            if (all.has(a, a)) return false;
        return true;
    }

  private:
    std::vector<std::uint32_t> rows_;
};

}  // namespace warpscope::tests::memory_model
