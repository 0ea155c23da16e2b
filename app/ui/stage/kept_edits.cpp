#include "ui/stage/kept_edits.h"

#include <fstream>
#include <iterator>
#include <system_error>
#include <utility>

#include "ui/widgets/text_file.h"

namespace warpscope::ui {

namespace fs = std::filesystem;

namespace {

constexpr std::chrono::seconds left_alone{2};

}  // namespace

KeptEdits::KeptEdits(fs::path folder) : folder_(std::move(folder)) {
    if (folder_.empty()) return;
    std::error_code error;
    for (fs::recursive_directory_iterator it(folder_, error), end; !error && it != end;
         it.increment(error)) {
        if (it->path().extension() != ".cu") continue;
        std::string name = it->path().lexically_relative(folder_).replace_extension().string();
        const std::string_view shipped = KernelTexts::shipped(name);
        std::ifstream in(it->path(), std::ios::binary);
        std::string text((std::istreambuf_iterator<char>(in)), std::istreambuf_iterator<char>());
        if (!shipped.empty() && in.is_open() && text != shipped)
            offered_[std::move(name)] = std::move(text);
    }
}

fs::path KeptEdits::file(const std::string& name) const {
    return folder_ / (name + ".cu");
}

void KeptEdits::decline() {
    for (const auto& [name, text] : std::exchange(offered_, {})) put_aside(name);
}

void KeptEdits::put_aside(const std::string& name) const {
    std::error_code ignored;
    fs::rename(file(name), folder_ / (name + ".cu~"), ignored);
}

void KeptEdits::keep(KernelTexts& texts, const KernelFolder& watched, bool now) {
    if (folder_.empty()) return;
    if (std::exchange(seen_, texts.version()) != texts.version()) changed_ = Clock::now();
    if (version_ == seen_ || (!now && Clock::now() < changed_ + left_alone)) return;
    version_ = seen_;
    compute::Sources fresh = texts.edited_sources();
    std::erase_if(fresh, [&](const auto& item) {
        const std::string* text = watched.taken(item.first);
        return text && *text == item.second;
    });
    std::error_code ignored;
    for (const auto& [name, text] : fresh) {
        const auto old = offered_.find(name);
        if (old != offered_.end()) {
            if (old->second != text) put_aside(name);
            offered_.erase(old);
        }
        const auto known = kept_.find(name);
        if (known == kept_.end() || known->second != text) write_whole(file(name), text);
    }
    for (const auto& [name, text] : kept_)
        if (!fresh.contains(name) && !offered_.contains(name)) fs::remove(file(name), ignored);
    kept_ = std::move(fresh);
}

}  // namespace warpscope::ui
