#pragma once

#include <initializer_list>
#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "experiments/host/host_functions.h"

namespace warpscope::experiments {

/// Reads the statements of the host functions of a source.
class HostReader : public HostFunctions {
  public:
    HostReader(std::string_view source, int own) : HostFunctions(source, own) {}

    HostProgram read();

  private:
    /// Statements of all: a program may call itself.
    static constexpr std::size_t most_steps = 50'000;
    /// Statements within each other.
    static constexpr int deepest_statement = 200;

    /// The function, or the class, around a launch that main() does not reach.
    void read_around(std::size_t launch);
    void walk(std::size_t begin, std::size_t end) override;
    /// Reads what begins at a token; returns the token to go on from.
    std::size_t step(std::size_t i, std::size_t end);
    void read_label(std::size_t i);
    /// The token after the statement that begins here.
    std::size_t statement_end(std::size_t i, std::size_t end) const;
    /// The launches between these tokens are not made, but for those that have been read. False:
    /// there are none.
    bool skip(std::size_t begin, std::size_t end);
    /// A lambda that begins here, and has no name: "[&](int n) {…}".
    void note_lambda(std::size_t i);

    // Loops
    struct Loop;
    std::size_t pass_loop(std::size_t i, std::size_t end);
    std::size_t pass_do(std::size_t i, std::size_t end);
    void pass_elements(TokenRange head, TokenRange body);
    void repeat(const Loop& loop);
    bool unroll(const Loop& loop);
    void note_further_passes(const HostLaunch& launch, const Loop& loop);
    bool chooses(std::string_view word, TokenRange range, int depth) const;
    std::size_t counter_of(const Loop& loop) const;
    /// "n++", "--n", "n += 1", "n = n + 1"
    bool counts(std::size_t i) const;

    // Conditions
    /// Reads statements that the program may skip: behind them, what they free is perhaps freed. It
    /// is not, where they end the function or the program.
    void walk_perhaps(std::size_t begin, std::size_t end);
    bool is_one_of(std::size_t t, std::initializer_list<std::string_view> words) const;
    /// One of the statements leaves the block that they are in.
    bool leaves_in(std::size_t begin, std::size_t end) const;
    bool leaves_program(std::size_t t) const;
    /// What a condition says. nullopt: it is not known. A pointer to memory is true.
    std::optional<bool> condition(std::size_t begin, std::size_t end) const;
    void choose_branch(TokenRange head, TokenRange yes, TokenRange no);
    std::size_t choose(std::size_t i, std::size_t end);
    /// Reads statements that the program may skip, and notes what is assumed.
    void assume(const std::string& what, std::size_t begin, std::size_t end);
    std::size_t choose_case(std::size_t i, std::size_t end);

    std::set<std::size_t> read_;  ///< launches
    bool leaves_ = false;         ///< the statements end the program
    std::size_t steps_ = 0;
    int nested_ = 0;
};

}  // namespace warpscope::experiments
