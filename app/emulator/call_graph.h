#pragma once

#include <map>
#include <set>
#include <string>

#include "emulator/ptx_syntax.h"

namespace warpscope::emulator {

// Which functions of a module call which. A call by a pointer may lead to every function whose
// address is taken.
class CallGraph {
  public:
    explicit CallGraph(const ModuleSyntax& module);

    const std::set<std::string>& pointed() const { return pointed_; }  // whose address is taken
    bool reaches(const std::string& from, const std::string& to) const;
    bool is_recursive(const std::string& function) const { return reaches(function, function); }

  private:
    std::set<std::string> pointed_;
    std::map<std::string, std::set<std::string>> reached_;  // by function, through any calls
};

}  // namespace warpscope::emulator
