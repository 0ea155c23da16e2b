#include "ui/window/unfinished_run.h"

#include <fstream>
#include <system_error>
#include <utility>

namespace warpscope::ui {

UnfinishedRun::UnfinishedRun(const std::filesystem::path& settings) {
    if (settings.empty()) return;
    file_ = settings.parent_path() / "first-frame-unfinished";
    std::error_code error;
    before_ = std::filesystem::exists(file_, error);
    std::filesystem::create_directories(file_.parent_path(), error);
    std::ofstream out(file_);  // if this fails, nothing is remembered
}

void UnfinishedRun::finish() {
    if (std::exchange(finished_, true) || file_.empty()) return;
    std::error_code error;
    std::filesystem::remove(file_, error);
}

}  // namespace warpscope::ui
