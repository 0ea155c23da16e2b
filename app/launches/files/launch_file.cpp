#include "launches/files/launch_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstring>
#include <optional>

#include "compiler/nvrtc.h"
#include "compiler/source_file.h"
#include "files/text.h"
#include "launches/files/launch_json.h"
#include "launches/files/textures.h"

namespace warpscope::launches {
namespace {

using Json = JsonField::Json;

constexpr std::array<std::string_view, 6> view_words{"automatic", "colors", "grey",
                                                     "map",       "plot",   "histogram"};

/// `check`, with the field before the message of a LaunchError.
void check_name(const JsonField& field, const std::string& name, void (*check)(std::string_view)) {
    try {
        check(name);
    } catch (const LaunchError& error) {
        field.fail(error.what());
    }
}

RandomFill random_fill(const JsonField& field, RandomFill::Distribution distribution,
                       const char* key) {
    RandomFill fill{.distribution = distribution};
    const auto numbers = field.at(key).expressions(2);
    if (numbers.size() != 2) field.at(key).fail("write two numbers");
    fill.first = real(numbers[0].value(Names()));
    fill.second = real(numbers[1].value(Names()));
    if (field.has("seed")) fill.seed = std::uint64_t(whole(field.at("seed").number()));
    return fill;
}

Fill parse_fill(const JsonField& field) {
    if (!field.json().is_object()) return field.expression();
    field.expect_object({"uniform", "normal", "seed", "file"});
    if (field.has("uniform"))
        return random_fill(field, RandomFill::Distribution::uniform, "uniform");
    if (field.has("normal")) return random_fill(field, RandomFill::Distribution::normal, "normal");
    return std::filesystem::path(field.at("file").text());
}

std::string parse_keep(const std::string& buffer, const JsonField& field) {
    if (field.json().is_string()) return field.text();
    if (!field.json().is_boolean()) field.fail("write true, false or the name of a buffer");
    return field.truth() ? buffer : "";
}

BufferSpec parse_buffer(const std::string& name, const JsonField& field) {
    check_name(field, name, check_buffer_name);
    field.expect_object({"type", "shape", "fill", "keep"});
    BufferSpec buffer{.name = name, .type = {}, .shape = {}};
    if (field.has("type")) {
        try {
            buffer.type = parse_element_type(field.at("type").text());
        } catch (const LaunchError& error) {
            field.at("type").fail(error.what());
        }
    }
    if (field.has("shape")) buffer.shape = field.at("shape").expressions(4);
    if (field.has("fill")) buffer.fill = parse_fill(field.at("fill"));
    if (field.has("keep")) buffer.keep = parse_keep(name, field.at("keep"));
    if (buffer.shape.empty() && !std::holds_alternative<std::filesystem::path>(buffer.fill))
        field.fail("\"shape\" is missing: only a file that fills the buffer can give it");
    return buffer;
}

ArgumentSpec parse_argument(const JsonField& field) {
    if (field.json().is_null()) return {};
    if (field.json().is_array()) {
        ArgumentSpec argument;
        field.each_element([&](const JsonField& element) {
            argument.elements.push_back(parse_argument(element));
        });
        if (argument.elements.empty()) field.fail("write at least one element of the array");
        return argument;
    }
    if (field.json().is_object()) {
        ArgumentSpec argument;
        field.each_member([&](const std::string& name, const JsonField& member) {
            argument.members.emplace_back(name, parse_argument(member));
        });
        if (argument.members.empty()) field.fail("name at least one member of the struct");
        return argument;
    }
    return {.text = field.expression().text()};
}

CapturedArgument parse_captured(const JsonField& field) {
    field.expect_object({"bytes", "addresses"});
    CapturedArgument captured;
    const std::string digits = field.at("bytes").text();
    for (std::size_t i = 0; i < digits.size(); i += 2) {
        unsigned value = 0;
        const char* const end = digits.data() + std::min(i + 2, digits.size());
        if (std::from_chars(digits.data() + i, end, value, 16).ptr != end || digits.size() % 2)
            field.at("bytes").fail("write two hexadecimal digits for each byte");
        captured.bytes.push_back(std::byte(value));
    }
    if (field.has("addresses"))
        field.at("addresses").each_element([&](const JsonField& address) {
            address.expect_object({"at", "buffer", "plus"});
            const auto number = [&](const char* key) {
                const std::int64_t value = whole(address.at(key).number());
                if (value < 0) address.at(key).fail("write a number that is not negative");
                return std::size_t(value);
            };
            captured.addresses[number("at")] = {address.at("buffer").text(), number("plus")};
        });
    return captured;
}

LaunchSpec parse_launch(const JsonField& field) {
    field.expect_object({"kernel", "grid", "block", "shared", "cooperative", "cluster", "repeat",
                         "arguments", "captured"});
    LaunchSpec launch{.kernel = field.at("kernel").text(),
                      .grid = field.at("grid").expressions(3),
                      .block = field.at("block").expressions(3),
                      .arguments = {}};
    if (field.has("shared")) launch.shared = field.at("shared").expression();
    if (field.has("cooperative")) launch.cooperative = field.at("cooperative").truth();
    if (field.has("cluster")) launch.cluster = field.at("cluster").expressions(3);
    if (field.has("repeat")) launch.repeat = field.at("repeat").expression();
    if (field.has("arguments"))
        field.at("arguments").each_member([&](const std::string& name, const JsonField& value) {
            launch.arguments.emplace_back(name, parse_argument(value));
        });
    if (field.has("captured"))
        field.at("captured").each_element([&](const JsonField& argument) {
            launch.captured.push_back(parse_captured(argument));
        });
    return launch;
}

double tolerance(const JsonField& field, const char* key) {
    if (!field.has(key)) return 0;
    const double value = real(field.at(key).number());
    if (!(value >= 0)) field.at(key).fail("write a number that is not negative");
    return value;
}

Expectation parse_expectation(const JsonField& field) {
    field.expect_object({"buffer", "equals", "absolute", "relative"});
    Expectation expected{.buffer = field.at("buffer").text(), .equals = Fill(Expression("0"))};
    const JsonField equals = field.at("equals");
    if (equals.has("buffer")) {
        equals.expect_object({"buffer"});
        expected.equals = equals.at("buffer").text();
    } else {
        expected.equals = parse_fill(equals);
    }
    expected.absolute = tolerance(field, "absolute");
    expected.relative = tolerance(field, "relative");
    return expected;
}

/// Throws LaunchError if `name` is no buffer.
void check_buffer(const LaunchFile& launch, const std::string& name, const JsonField& field) {
    if (launch.find_buffer(name)) return;
    std::vector<std::string_view> known;
    for (const BufferSpec& buffer : launch.buffers) known.push_back(buffer.name);
    field.fail(
        fmt::format("\"{}\" is no buffer; the buffers are: {}", name, fmt::join(known, ", ")));
}

void parse_buffers(LaunchFile& launch, const JsonField& field) {
    field.each_member([&](const std::string& name, const JsonField& buffer) {
        launch.buffers.push_back(parse_buffer(name, buffer));
    });
    for (const BufferSpec& buffer : launch.buffers)
        if (!buffer.keep.empty())
            check_buffer(launch, buffer.keep, field.at(buffer.name.c_str()).at("keep"));
}

void parse_textures(LaunchFile& launch, const JsonField& field) {
    field.each_member([&](const std::string& name, const JsonField& texture) {
        check_name(texture, name, check_buffer_name);
        launch.textures.push_back(parse_texture(name, texture));
        check_buffer(launch, launch.textures.back().buffer, texture.at("buffer"));
    });
}

void parse_show(LaunchFile& launch, const JsonField& field) {
    field.expect_object({"buffer", "as", "marks"});
    launch.show = field.at("buffer").text();
    check_buffer(launch, launch.show, field.at("buffer"));
    if (field.has("marks")) launch.marks = field.at("marks").truth();
    if (!field.has("as")) return;
    try {
        launch.view = parse_buffer_view(field.at("as").text());
    } catch (const LaunchError& error) {
        field.at("as").fail(error.what());
    }
}

void parse_defines(LaunchFile& launch, const JsonField& field) {
    field.each_member([&](const std::string& name, const JsonField& value) {
        check_name(value, name, check_buffer_name);
        const Json& json = value.json();
        if (!json.is_string() && !json.is_number() && !json.is_boolean())
            value.fail("write a text, a number, true or false");
        launch.defines.emplace_back(name, json.is_string() ? json.get<std::string>() : json.dump());
        if (launch.defines.back().second.find('\n') != std::string::npos)
            value.fail("write it in one line");
    });
}

unsigned parse_target(const JsonField& field) {
    const std::int64_t target = whole(field.number());
    if (std::ranges::find(compiler::targets, target) == compiler::targets.end())
        field.fail(fmt::format("write one of {}", fmt::join(compiler::targets, ", ")));
    return unsigned(target);
}

void parse_scalars(LaunchFile& launch, const JsonField& field) {
    field.each_member([&](const std::string& name, const JsonField& value) {
        check_name(value, name, check_scalar_name);
        if (value.json().is_string())
            launch.scalars.emplace_back(name, value.expression());
        else
            launch.scalars.emplace_back(name, value.number());
    });
}

}  // namespace

const BufferSpec* LaunchFile::find_buffer(std::string_view name) const {
    const auto found = std::ranges::find(buffers, name, &BufferSpec::name);
    return found == buffers.end() ? nullptr : &*found;
}

const TextureSpec* LaunchFile::find_texture(std::string_view name) const {
    const auto found = std::ranges::find(textures, name, &TextureSpec::name);
    return found == textures.end() ? nullptr : &*found;
}

std::size_t LaunchFile::index_of(std::string_view buffer) const {
    const BufferSpec* const found = find_buffer(buffer);
    if (!found) throw LaunchError(fmt::format("there is no buffer {}", buffer));
    return std::size_t(found - buffers.data());
}

void check_buffer_name(std::string_view name) {
    const auto letter = [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
    };
    const bool good = !name.empty() && letter(name[0]) && std::ranges::all_of(name, [&](char c) {
        return letter(c) || (c >= '0' && c <= '9');
    });
    if (!good) throw LaunchError("a name has letters, digits and _ only, and begins with no digit");
}

void check_scalar_name(std::string_view name) {
    check_buffer_name(name);
    constexpr std::array<std::string_view, 3> taken{"frame", "time", "iteration"};
    if (std::ranges::find(taken, name) != taken.end())
        throw LaunchError("the name has a meaning in expressions already; choose another one");
}

BufferView parse_buffer_view(std::string_view word) {
    const auto found = std::ranges::find(view_words, word);
    if (found == view_words.end())
        throw LaunchError(fmt::format("write one of: {}", fmt::join(view_words, ", ")));
    return BufferView(found - view_words.begin());
}

bool depends_on(const LaunchFile& file, const Expression& expression,
                std::span<const std::string> names) {
    return std::ranges::any_of(expression.names(), [&](const std::string& name) {
        if (std::ranges::find(names, name) != names.end()) return true;
        // A scalar uses scalars before it only, so this ends.
        for (const auto& [scalar, value] : file.scalars)
            if (const auto* inner = std::get_if<Expression>(&value); inner && scalar == name)
                return depends_on(file, *inner, names);
        return false;
    });
}

bool depends_on_frame(const LaunchFile& file, const Expression& expression) {
    static const std::array<std::string, 2> names{"frame", "time"};
    return depends_on(file, expression, names);
}

namespace {

/// The bytes of captured arguments say where buffers were in the program.
void note_addresses(LaunchFile& launch) {
    for (const LaunchSpec& one : launch.launches)
        for (const CapturedArgument& argument : one.captured)
            for (const auto& [at, to] : argument.addresses) {
                std::uint64_t address = 0;
                if (at + sizeof address > argument.bytes.size()) continue;
                std::memcpy(&address, &argument.bytes[at], sizeof address);
                launch.buffers[launch.index_of(to.buffer)].address = address - to.bytes;
            }
}

}  // namespace

LaunchFile parse_launch_file(std::string_view text) {
    const Json json = Json::parse(text, nullptr, false, true);
    if (json.is_discarded()) throw LaunchError("it is not valid JSON");
    const JsonField root(json, "");
    root.expect_object({"$schema", "source", "ptx", "include", "defines", "target", "schedule",
                        "scalars", "buffers", "textures", "launches", "expect", "show", "save"});
    LaunchFile launch;
    launch.source = root.at("source").text();
    if (root.has("ptx")) launch.ptx = root.at("ptx").text();
    if (root.has("include"))
        root.at("include").each_element(
            [&](const JsonField& folder) { launch.include.emplace_back(folder.text()); });
    if (root.has("defines")) parse_defines(launch, root.at("defines"));
    if (root.has("target")) launch.target = parse_target(root.at("target"));
    if (root.has("schedule")) launch.schedule = root.at("schedule").text();
    if (root.has("scalars")) parse_scalars(launch, root.at("scalars"));
    if (root.has("buffers")) parse_buffers(launch, root.at("buffers"));
    if (root.has("textures")) parse_textures(launch, root.at("textures"));
    root.at("launches").each_element([&](const JsonField& field) {
        launch.launches.push_back(parse_launch(field));
    });
    if (launch.launches.empty()) root.at("launches").fail("write at least one launch");
    note_addresses(launch);
    if (root.has("expect"))
        root.at("expect").each_element([&](const JsonField& field) {
            launch.expect.push_back(parse_expectation(field));
            const Expectation& expected = launch.expect.back();
            check_buffer(launch, expected.buffer, field.at("buffer"));
            if (const auto* other = std::get_if<std::string>(&expected.equals))
                check_buffer(launch, *other, field.at("equals"));
        });
    if (root.has("show")) parse_show(launch, root.at("show"));
    if (root.has("save"))
        root.at("save").each_member([&](const std::string& name, const JsonField& field) {
            check_buffer(launch, name, field);
            launch.save.emplace_back(name, field.text());
            const std::filesystem::path end = launch.save.back().second.extension();
            if (end != ".npy" && end != ".csv") field.fail("name a file that ends in .npy or .csv");
        });
    return launch;
}

LaunchFile read_launch_file(const std::filesystem::path& file) {
    try {
        LaunchFile launch = parse_launch_file(compiler::read_source_file(file));
        launch.file = file;
        return launch;
    } catch (const std::exception& error) {
        throw LaunchError(fmt::format("{}: {}", file.string(), error.what()));
    }
}

std::string to_json_text(const LaunchFile& launch) {
    Json json{{"source", launch.source.string()}};
    if (!launch.ptx.empty()) json["ptx"] = launch.ptx.string();
    for (const std::filesystem::path& folder : launch.include)
        json["include"].push_back(folder.string());
    for (const auto& [name, value] : launch.defines) json["defines"][name] = value;
    if (launch.target) json["target"] = launch.target;
    if (!launch.schedule.empty()) json["schedule"] = launch.schedule.string();
    for (const auto& [name, value] : launch.scalars) {
        if (const auto* number = std::get_if<Number>(&value))
            std::visit([&to = json["scalars"][name]](auto plain) { to = plain; }, *number);
        else
            json["scalars"][name] = std::get<Expression>(value).text();
    }
    for (const BufferSpec& buffer : launch.buffers)
        json["buffers"][buffer.name] = buffer_json(buffer);
    for (const TextureSpec& texture : launch.textures)
        json["textures"][texture.name] = texture_json(texture);
    for (const LaunchSpec& one : launch.launches) json["launches"].push_back(launch_json(one));
    for (const Expectation& expected : launch.expect)
        json["expect"].push_back(expectation_json(expected));
    if (!launch.show.empty())
        json["show"] = {{"buffer", launch.show},
                        {"as", std::string(view_words[std::size_t(launch.view)])}};
    if (!launch.show.empty() && !launch.marks) json["show"]["marks"] = false;
    for (const auto& [name, file] : launch.save) json["save"][name] = file.string();
    return pretty(json, 0) + "\n";
}

namespace {

/// What stands between the parentheses of "NAME(…)".
std::optional<std::string_view> arguments_of(std::string_view text, std::string_view name) {
    if (!text.starts_with(name) || !text.ends_with(')')) return {};
    text.remove_prefix(name.size());
    text = files::trimmed(text);
    if (!text.starts_with('(')) return {};
    return text.substr(1, text.size() - 2);
}

double number(std::string_view text) {
    return real(Expression(files::trimmed(text)).value(Names()));
}

RandomFill random_fill(RandomFill::Distribution distribution, std::string_view arguments) {
    RandomFill fill{.distribution = distribution};
    const std::size_t comma = arguments.find(',');
    if (comma == std::string_view::npos)
        throw LaunchError("write two numbers, as in uniform(0, 1) or normal(0, 1, seed 2)");
    const std::string_view rest = arguments.substr(comma + 1);
    const std::size_t second = rest.find(',');
    fill.first = number(arguments.substr(0, comma));
    fill.second = number(rest.substr(0, second));
    if (second == std::string_view::npos) return fill;
    const std::string_view seed = files::trimmed(rest.substr(second + 1));
    if (!seed.starts_with("seed ")) throw LaunchError("write the seed as in uniform(0, 1, seed 2)");
    fill.seed = std::uint64_t(whole(Expression(seed.substr(5)).value(Names())));
    return fill;
}

}  // namespace

std::string fill_text(const Fill& fill) {
    if (const auto* expression = std::get_if<Expression>(&fill)) return expression->text();
    if (const auto* file = std::get_if<std::filesystem::path>(&fill))
        return fmt::format("file({})", file->string());
    const auto& random = std::get<RandomFill>(fill);
    const bool uniform = random.distribution == RandomFill::Distribution::uniform;
    const std::string seed = random.seed == 1 ? "" : fmt::format(", seed {}", random.seed);
    return fmt::format("{}({}, {}{})", uniform ? "uniform" : "normal", random.first, random.second,
                       seed);
}

Fill parse_fill_text(std::string_view text) {
    text = files::trimmed(text);
    if (const auto path = arguments_of(text, "file"))
        return std::filesystem::path(files::trimmed(*path));
    if (const auto range = arguments_of(text, "uniform"))
        return random_fill(RandomFill::Distribution::uniform, *range);
    if (const auto range = arguments_of(text, "normal"))
        return random_fill(RandomFill::Distribution::normal, *range);
    return Expression(text);
}

}  // namespace warpscope::launches
