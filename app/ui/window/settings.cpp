#include "ui/window/settings.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "compute/device/enum_words.h"
#include "files/regular_file.h"
#include "ui/documents/source_files.h"

namespace warpscope::ui {

// The first one stands for a word that is not known.
NLOHMANN_JSON_SERIALIZE_ENUM(ProgramAnswer, {{ProgramAnswer::kernels, "kernels"},
                                             {ProgramAnswer::confined, "confined"},
                                             {ProgramAnswer::run, "run"}})

namespace {

using Json = nlohmann::json;

constexpr std::size_t largest_file = std::size_t(1) << 20;

Json to_json(const Settings& s) {
    Json parameters = Json::object();
    for (const auto& [id, list] : s.parameters)
        for (const experiments::Assignment& one : list) parameters[id][one.id] = one.text;
    return {{"window", {s.window.width, s.window.height}},
            {"experiment", s.experiment},
            {"launch", s.launch},
            {"device", s.device},
            {"math", compute::name(s.run.math)},
            {"schedule", compute::name(s.run.schedule)},
            {"seed", s.run.seed},
            {"barriers", compute::name(s.run.barriers)},
            {"landing", compute::name(s.run.landing)},
            {"vsync", s.view.vsync},
            {"grid", s.view.grid},
            {"panels", {s.view.left, s.view.right, s.view.bottom}},
            {"dock", {s.view.dock, s.view.dock_open}},
            {"dock_folded", s.view.dock_folded},
            {"folds", s.view.folds},
            {"inspect", s.view.inspect},
            {"editor", {{"open", s.view.editor}, {"width", s.view.editor_width}}},
            {"kernel_path", s.view.kernel_path},
            {"recent_files", s.view.recent_files},
            {"program_answers", s.view.program_answers},
            {"hidden", {s.view.hide_controls, s.view.hide_results}},
            {"percent", s.view.percent},
            {"light", s.view.light},
            {"language", s.view.language},
            {"lessons_passed", s.view.lessons_passed},
            {"tour_offered", s.view.tour_offered},
            {"invited", int(s.view.invited)},
            {"parameters", parameters}};
}

/// Returns the entry, or the end of the range that it is beyond. Throws if it is not a number.
double number(const Json& entry, double low, double high) {
    return std::clamp(entry.get<double>(), low, high);
}

/// Returns the value that the entry names. Throws if it names none. Earlier versions of Warpscope
/// wrote the number of the enumerator instead of its name.
template <class Enum>
Enum choice(const Json& entry) {
    if (entry.is_string()) return compute::parse<Enum>(entry.get<std::string>());
    const auto value = Enum(int(number(entry, -1, UINT8_MAX)));
    compute::name(value);
    return value;
}

Settings from_json(const Json& json) {
    Settings s;
    const auto side = [&](std::size_t i) {
        return int(number(json.at("window").at(i), 320, 16384));
    };
    const auto panel = [&](std::size_t i) {
        return float(number(json.at("panels").at(i), 0, 1000));
    };
    s.window = {side(0), side(1)};
    s.experiment = json.at("experiment").get<std::string>();
    s.launch = json.value("launch", "");
    s.device = json.at("device").get<std::string>();
    s.run.math = choice<compute::Math>(json.at("math"));
    s.run.schedule = choice<compute::Schedule>(json.at("schedule"));
    if (!json.at("seed").is_number_unsigned())
        throw std::runtime_error("the seed is not a whole number");
    s.run.seed = json.at("seed").get<std::uint64_t>();
    // The first versions of Warpscope wrote no barrier policy.
    if (json.contains("barriers"))
        s.run.barriers = choice<compute::BarrierPolicy>(json.at("barriers"));
    if (json.contains("landing")) s.run.landing = choice<compute::Landing>(json.at("landing"));
    s.view.vsync = json.at("vsync").get<bool>();
    s.view.grid = json.at("grid").get<bool>();
    s.view.left = panel(0);
    s.view.right = panel(1);
    s.view.bottom = panel(2);
    if (json.contains("dock")) {
        s.view.dock = json.at("dock").at(0).get<std::string>();
        s.view.dock_open = json.at("dock").at(1).get<std::string>();
    }
    s.view.dock_folded = json.value("dock_folded", true);
    s.view.folds = json.value("folds", std::map<std::string, bool>());
    s.view.inspect = json.value("inspect", true);
    s.view.kernel_path = json.value("kernel_path", "");
    s.view.recent_files = json.value("recent_files", std::vector<std::string>());
    s.view.program_answers = json.value("program_answers", std::map<std::string, ProgramAnswer>());
    if (json.contains("hidden")) {
        s.view.hide_controls = json.at("hidden").at(0).get<bool>();
        s.view.hide_results = json.at("hidden").at(1).get<bool>();
    }
    s.view.percent = std::clamp(json.value("percent", 100), std::ranges::min(percents),
                                std::ranges::max(percents));
    s.view.light = json.value("light", false);
    s.view.language = json.value("language", "");
    s.view.lessons_passed = json.value("lessons_passed", std::vector<std::string>());
    s.view.tour_offered = json.value("tour_offered", false);
    s.view.invited = Invited(std::clamp(json.value("invited", 0), 0, int(Invited::to_all)));
    if (json.contains("editor")) {
        s.view.editor = json.at("editor").at("open").get<bool>();
        s.view.editor_width = float(number(json.at("editor").at("width"), 80, 2000));
    }
    for (const auto& [id, list] : json.at("parameters").items())
        for (const auto& [name, text] : list.items())
            s.parameters[id].push_back({name, text.get<std::string>()});
    return s;
}

}  // namespace

std::filesystem::path settings_file() {
    const char* config = std::getenv("XDG_CONFIG_HOME");
    if (config && *config) return std::filesystem::path(config) / "warpscope" / "settings.json";
    const char* home = std::getenv("HOME");
    if (!home || !*home) return {};
    return std::filesystem::path(home) / ".config" / "warpscope" / "settings.json";
}

LoadedSettings load_settings(const std::filesystem::path& file) {
    std::error_code error;
    if (!std::filesystem::exists(file, error)) return {};
    try {
        const std::string text = files::RegularFile(file).read(largest_file + 1);
        if (text.size() > largest_file) throw std::runtime_error("it is too large");
        return {from_json(Json::parse(text)), ""};
    } catch (const std::exception&) {
        return {{},
                fmt::format("The settings in {} can't be read; starting with the defaults.",
                            file.string())};
    }
}

void save_settings(const std::filesystem::path& file, const Settings& settings) {
    // Names of files need not be UTF-8.
    const auto handler = Json::error_handler_t::replace;
    write_whole(file, to_json(settings).dump(2, ' ', false, handler) + "\n");
}

}  // namespace warpscope::ui
