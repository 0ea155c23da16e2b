#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "compiler/host/host_launches.h"
#include "experiments/arrays/expression.h"

namespace warpscope::experiments {

/// What the names at a launch in a host program mean for a launch file.
class HostValues {
  public:
    explicit HostValues(const compiler::HostLaunch& launch) : launch_(launch) {}

    /// The argument `index` of the launch is this scalar: so is the name that stands there.
    void is_scalar(std::size_t index, const std::string& scalar);
    /// As an expression of numbers and scalars. nullopt: it needs what only the host program knows.
    std::optional<Expression> expression(const std::string& text) const;
    /// nullopt: one of them can't be given, or there are none.
    std::optional<std::vector<Expression>> expressions(const std::vector<std::string>& texts) const;
    /// The value of the argument `index`, likewise.
    std::optional<Expression> argument(std::size_t index) const;

  private:
    bool append(std::string_view text, std::string& to, int depth) const;
    bool append_name(std::string_view name, std::string& to, int depth) const;

    const compiler::HostLaunch& launch_;
    std::map<std::string, std::string, std::less<>> scalars_;  ///< by the name in the host program
};

}  // namespace warpscope::experiments
