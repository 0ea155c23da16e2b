#include "ui/widgets/widget_map.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "files/regular_file.h"

namespace warpscope::ui {

const Widget* WidgetMap::find(std::string_view id) const {
    const auto it = std::find_if(now_.begin(), now_.end(), [&](auto& w) { return w.id == id; });
    return it == now_.end() ? nullptr : &*it;
}

std::string WidgetMap::json() const {
    auto list = nlohmann::json::array();
    for (const Widget& w : now_)
        list.push_back({{"id", w.id},
                        {"x", w.x},
                        {"y", w.y},
                        {"w", w.w},
                        {"h", w.h},
                        {"value", w.value},
                        {"enabled", w.enabled},
                        {"visible", w.visible}});
    using Json = nlohmann::json;
    return list.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
}

void WidgetMap::write_if_changed(const std::filesystem::path& file) {
    if (ever_written_ && now_ == written_) return;
    files::write_whole_file(file, json());
    written_ = now_;
    ever_written_ = true;
}

}  // namespace warpscope::ui
