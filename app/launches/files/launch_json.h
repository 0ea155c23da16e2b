#pragma once

#include <functional>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "launches/arrays/expression.h"
#include "launches/files/launch_file.h"

namespace warpscope::launches {

/// A value in a launch file and its place, which every error names: "launches[0].grid".
class JsonField {
  public:
    using Json = nlohmann::ordered_json;
    JsonField(const Json& json, std::string place) : json_(json), place_(std::move(place)) {}

    const Json& json() const { return json_; }
    const std::string& place() const { return place_; }
    [[noreturn]] void fail(std::string_view reason) const;

    /// Throws LaunchError if this is no object, or has a key that is not among `keys`. An empty
    /// list allows any key.
    void expect_object(const std::vector<std::string_view>& keys) const;
    bool has(const char* key) const { return json_.is_object() && json_.contains(key); }
    /// Throws LaunchError if there is no `key`.
    JsonField at(const char* key) const;
    void each_member(const std::function<void(const std::string& name, JsonField)>& call) const;
    void each_element(const std::function<void(JsonField)>& call) const;  ///< of an array

    std::string text() const;  ///< not empty
    Number number() const;     ///< an integer stays one
    bool truth() const;
    Expression expression() const;  ///< a number or a text
    /// One expression, or an array of at most `most`.
    std::vector<Expression> expressions(std::size_t most) const;

  private:
    const Json& json_;
    std::string place_;
};

using LaunchJson = JsonField::Json;

/// The parts of a launch file as JSON, and JSON as a person writes it.
LaunchJson launch_json(const LaunchSpec& launch);
LaunchJson buffer_json(const BufferSpec& buffer);
LaunchJson expectation_json(const Expectation& expected);
/// An object or an array is in one line where it holds no objects and the line has room.
std::string pretty(const LaunchJson& json, int depth);

}  // namespace warpscope::launches
