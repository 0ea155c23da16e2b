#include "ui/widgets/edition.h"

namespace warpscope::ui {

bool offers(Command command) {
    return command != Command::copy_link;
}

bool offers_gpus() {
    return true;
}

std::string page_address() {
    return {};
}

}  // namespace warpscope::ui
