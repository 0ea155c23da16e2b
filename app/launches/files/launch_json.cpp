#include "launches/files/launch_json.h"

#include <fmt/format.h>

#include <algorithm>

namespace warpscope::launches {

void JsonField::fail(std::string_view reason) const {
    throw LaunchError(place_.empty() ? std::string(reason) : fmt::format("{}: {}", place_, reason));
}

void JsonField::expect_object(const std::vector<std::string_view>& keys) const {
    if (!json_.is_object()) fail("write an object, {…}");
    for (const auto& [key, value] : json_.items())
        if (!keys.empty() && std::ranges::find(keys, key) == keys.end())
            fail(fmt::format("\"{}\" is not known; known are: {}", key, fmt::join(keys, ", ")));
}

JsonField JsonField::at(const char* key) const {
    if (!has(key)) fail(fmt::format("\"{}\" is missing", key));
    return {json_.at(key), place_.empty() ? key : fmt::format("{}.{}", place_, key)};
}

void JsonField::each_member(const std::function<void(const std::string&, JsonField)>& call) const {
    expect_object({});
    for (const auto& [key, value] : json_.items())
        call(key, {value, place_.empty() ? key : fmt::format("{}.{}", place_, key)});
}

void JsonField::each_element(const std::function<void(JsonField)>& call) const {
    if (!json_.is_array()) fail("write an array, […]");
    for (std::size_t i = 0; i < json_.size(); ++i)
        call({json_[i], fmt::format("{}[{}]", place_, i)});
}

std::string JsonField::text() const {
    if (!json_.is_string() || json_.get_ref<const std::string&>().empty()) fail("write a text");
    return json_.get<std::string>();
}

Number JsonField::number() const {
    if (json_.is_number_unsigned() && json_.get<std::uint64_t>() > std::uint64_t(INT64_MAX))
        fail("the number does not fit into 64 bits with a sign");
    if (json_.is_number_integer()) return json_.get<std::int64_t>();
    if (!json_.is_number()) fail("write a number");
    return json_.get<double>();
}

bool JsonField::truth() const {
    if (!json_.is_boolean()) fail("write true or false");
    return json_.get<bool>();
}

Expression JsonField::expression() const {
    try {
        if (!json_.is_string()) return Expression(to_string(number()));
        return Expression(text());
    } catch (const LaunchError& error) {
        if (std::string_view(error.what()).starts_with(place_)) throw;
        fail(error.what());
    }
}

std::vector<Expression> JsonField::expressions(std::size_t most) const {
    std::vector<Expression> found;
    if (json_.is_array())
        each_element([&](const JsonField& element) { found.push_back(element.expression()); });
    else
        found.push_back(expression());
    if (found.empty() || found.size() > most)
        fail(fmt::format("write one to {} numbers or expressions", most));
    return found;
}

}  // namespace warpscope::launches
