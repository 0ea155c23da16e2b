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
    const std::string words = json_.is_string() ? text() : to_string(number());
    try {
        return Expression(words);
    } catch (const LaunchError& error) {
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

namespace {

/// A number where the text is one.
LaunchJson expression_json(const Expression& expression) {
    const LaunchJson number = LaunchJson::parse(expression.text(), nullptr, false);
    return number.is_number() ? number : LaunchJson(expression.text());
}

LaunchJson fill_json(const Fill& fill) {
    if (const auto* expression = std::get_if<Expression>(&fill))
        return expression_json(*expression);
    if (const auto* file = std::get_if<std::filesystem::path>(&fill))
        return {{"file", file->string()}};
    const auto& random = std::get<RandomFill>(fill);
    const bool uniform = random.distribution == RandomFill::Distribution::uniform;
    return {{uniform ? "uniform" : "normal", {random.first, random.second}}, {"seed", random.seed}};
}

LaunchJson argument_json(const ArgumentSpec& argument) {
    if (!argument.elements.empty()) {
        LaunchJson json = LaunchJson::array();
        for (const ArgumentSpec& value : argument.elements) json.push_back(argument_json(value));
        return json;
    }
    if (argument.members.empty())
        return argument.text ? expression_json(Expression(*argument.text)) : LaunchJson(nullptr);
    LaunchJson json;
    for (const auto& [name, value] : argument.members) json[name] = argument_json(value);
    return json;
}

LaunchJson texts(const std::vector<Expression>& expressions) {
    if (expressions.size() == 1) return expression_json(expressions[0]);
    LaunchJson json = LaunchJson::array();
    for (const Expression& expression : expressions) json.push_back(expression_json(expression));
    return json;
}

}  // namespace

std::string pretty(const LaunchJson& json, int depth) {
    constexpr std::size_t most_columns = 90;
    const std::string plain = json.dump(-1, ' ', false);
    const bool nested =
        json.is_structured() &&
        std::ranges::any_of(json, [](const LaunchJson& inner) { return inner.is_object(); });
    if (!json.is_structured() || json.empty()) return plain;
    const std::string indent(std::size_t(4 * depth), ' ');
    const bool one_line = depth > 0 && !nested && plain.size() + indent.size() < most_columns;
    const std::string gap = one_line ? "" : "\n" + indent + "    ";
    std::string text;
    for (const auto& [key, value] : json.items()) {
        text += text.empty() ? "" : one_line ? ", " : ",";
        text += gap;
        if (json.is_object()) text += LaunchJson(key).dump() + ": ";
        text += pretty(value, depth + 1);
    }
    if (!one_line) text += "\n" + indent;
    return json.is_object() ? "{" + text + "}" : "[" + text + "]";
}

LaunchJson captured_json(const CapturedArgument& captured) {
    std::string digits;
    for (const std::byte byte : captured.bytes) digits += fmt::format("{:02x}", unsigned(byte));
    LaunchJson json{{"bytes", digits}};
    for (const auto& [at, address] : captured.addresses)
        json["addresses"].push_back(
            {{"at", at}, {"buffer", address.buffer}, {"plus", address.bytes}});
    return json;
}

LaunchJson launch_json(const LaunchSpec& launch) {
    LaunchJson json{
        {"kernel", launch.kernel}, {"grid", texts(launch.grid)}, {"block", texts(launch.block)}};
    if (launch.shared.text() != "0") json["shared"] = expression_json(launch.shared);
    if (launch.cooperative) json["cooperative"] = true;
    if (!launch.cluster.empty()) json["cluster"] = texts(launch.cluster);
    if (launch.repeat.text() != "1") json["repeat"] = expression_json(launch.repeat);
    for (const auto& [name, value] : launch.arguments)
        json["arguments"][name] = argument_json(value);
    for (const CapturedArgument& captured : launch.captured)
        json["captured"].push_back(captured_json(captured));
    return json;
}

LaunchJson buffer_json(const BufferSpec& buffer) {
    LaunchJson json = LaunchJson::object();
    if (buffer.type) json["type"] = to_string(*buffer.type);
    if (!buffer.shape.empty()) json["shape"] = texts(buffer.shape);
    json["fill"] = fill_json(buffer.fill);
    if (buffer.keep == buffer.name)
        json["keep"] = true;
    else if (!buffer.keep.empty())
        json["keep"] = buffer.keep;
    return json;
}

LaunchJson expectation_json(const Expectation& expected) {
    LaunchJson json{{"buffer", expected.buffer}};
    if (const auto* other = std::get_if<std::string>(&expected.equals))
        json["equals"]["buffer"] = *other;
    else
        json["equals"] = fill_json(std::get<Fill>(expected.equals));
    if (expected.absolute > 0) json["absolute"] = expected.absolute;
    if (expected.relative > 0) json["relative"] = expected.relative;
    return json;
}

}  // namespace warpscope::launches
