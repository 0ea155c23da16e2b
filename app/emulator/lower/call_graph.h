#pragma once

#include <map>
#include <set>
#include <string>

#include "emulator/ptx/ptx_syntax.h"

namespace warpscope::emulator {

/// Which functions of a module call which others. An indirect call may call every function whose
/// address is taken.
class CallGraph {
  public:
    explicit CallGraph(const ModuleSyntax& module);

    /// Functions whose address is taken.
    const std::set<std::string>& pointed() const { return pointed_; }
    /// Whether each of the two functions calls the other, directly or through other functions.
    bool call_each_other(const std::string& a, const std::string& b) const;
    bool is_recursive(const std::string& function) const {
        return call_each_other(function, function);
    }

  private:
    using Edges = std::map<std::string, std::set<std::string>>;

    void find_pointed(const ModuleSyntax& module);
    Edges calls_of(const ModuleSyntax& module) const;
    void find_cycles(const Edges& called);

    std::set<std::string> pointed_;
    std::map<std::string, unsigned> cycles_;  // the number of the cycle that a function is in
};

}  // namespace warpscope::emulator
