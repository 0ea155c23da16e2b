// In place of files of app/ that start processes, which a page can't, or need libraries that it
// lacks.
#include "compiler/programs/run_command.h"
#include "compute/helper/helpers.h"
#include "files/uncompressed.h"
#include "ui/edits/program_opener.h"
#include "ui/window/screenshot.h"

/// Servers compress the page as a whole.
std::string_view warpscope::files::uncompressed(std::string_view built_in) {
    return built_in;
}

namespace warpscope::compiler {

Ended run_command(std::vector<std::string>, const std::stop_token&,
                  const std::function<void(std::string_view)>&) {
    throw std::runtime_error("a page starts no programs");
}

}  // namespace warpscope::compiler

namespace warpscope::ui {

ProgramOpener::~ProgramOpener() = default;
void ProgramOpener::open(const std::string&) {
    stage_.say("A page runs no programs.", Tone::error);
}
void ProgramOpener::draw(Ui&) {}
void ProgramOpener::advance() {}
std::string ProgramOpener::work_words() const {
    return {};
}
void ProgramOpener::cancel() {}

std::filesystem::path screenshot_folder() {
    return "/";
}

}  // namespace warpscope::ui
