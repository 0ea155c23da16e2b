#include <cmath>
#include <sstream>

#include "experiments/framework/experiment.h"
#include "fuzz.h"
#include "ui/window/layout.h"
#include "ui/window/settings.h"

// A file of settings. What loads can be laid out and saved, and loads again as it was saved.
namespace {

using namespace warpscope;

std::string content(const std::filesystem::path& file) {
    std::stringstream text;
    text << std::ifstream(file).rdbuf();
    return text.str();
}

void parse_parameters(const ui::Settings& settings) {
    for (const auto& [id, assignments] : settings.parameters) {
        for (const experiments::Assignment& one : assignments) {
            try {
                experiments::find_experiment(id).make_parameters()->parse({&one, 1});
            } catch (const experiments::ParameterError&) {
                continue;  // the window keeps the default
            }
        }
    }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    static const tests::FuzzFolder folder;
    const auto file = folder.write("settings.json", tests::text_of(data, size));
    const ui::LoadedSettings loaded = ui::load_settings(file);
    if (!loaded.complaint.empty()) return 0;
    const ui::Settings& settings = loaded.settings;
    for (const bool microscope : {false, true}) {
        const ui::Layout layout =
            ui::lay_out(float(settings.window.width), float(settings.window.height), 1,
                        settings.view, microscope);
        // A narrow window shows the microscope's source and warps alone, or the editor's source.
        const ui::Box& source = microscope ? layout.source : layout.editor;
        const ui::Box& place = layout.canvas.width > 0 ? layout.canvas : source;
        tests::require(place.width >= 1 && place.height >= 1 && std::isfinite(place.width) &&
                           std::isfinite(place.height),
                       "the picture or the source has a place");
    }
    parse_parameters(settings);
    ui::save_settings(file, settings);
    const std::string saved = content(file);
    const ui::LoadedSettings again = ui::load_settings(file);
    tests::require(again.complaint.empty(), "saved settings load");
    ui::save_settings(file, again.settings);
    tests::require(content(file) == saved, "settings are saved as they were loaded");
    return 0;
}
