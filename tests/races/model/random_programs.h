#pragma once

#include <random>
#include <string>
#include <vector>

namespace warpscope::tests::memory_model {

/// Makes programs of two or three threads, as program_of() reads them: messages, locks and counters
/// with and without what makes them correct, and any operations on two flags and two other words.
class RandomPrograms {
  public:
    explicit RandomPrograms(unsigned seed) : random_(seed) {}

    std::string next();

  private:
    unsigned below(unsigned n) { return unsigned(random_() % n); }
    std::string one_of(const std::vector<std::string>& words) {
        return words[below(unsigned(words.size()))];
    }
    std::string new_register() { return "r" + std::to_string(registers_++); }
    std::string new_value() { return std::to_string(values_++); }

    std::string scope();
    std::string fence();
    std::string release(const std::string& word, const std::string& value, const std::string& when);
    std::string acquire(const std::string& word, const std::string& value, const std::string& reg);
    std::string data();
    std::string flag();

    std::string message();
    std::string lock();
    std::string counter();
    std::string anything();

    std::mt19937 random_;
    unsigned registers_ = 0, values_ = 0;
};

}  // namespace warpscope::tests::memory_model
