#pragma once

#include <chrono>
#include <filesystem>
#include <map>
#include <string>

#include "ui/stage/kernel_texts.h"

namespace warpscope::ui {

/// Kernel files that a person edits elsewhere: NAME.cu and gallery/NAME.cu of a folder, and one
/// file of any name that stands in for a kernel file. Each text is set when it has changed on disk,
/// and again stands still: what an editor has half written, or is about to rename, is waited for.
class KernelFolder {
  public:
    using Clock = std::chrono::steady_clock;
    /// Between two looks; a text is taken once it is the same in two of them.
    static constexpr std::chrono::milliseconds pause{100};

    /// Either may be empty. `source` stands in for the kernel file `file`, before the folder's.
    KernelFolder(std::filesystem::path folder, std::filesystem::path source, std::string file);

    bool watches() const { return !folder_.empty() || !source_.empty(); }
    /// At most once a pause: sets texts that have changed. The first time all that are there. Gives
    /// what there is to say: files that stand for no kernel, or can't be read, and a folder that is
    /// gone, each once; empty: nothing.
    std::string look(KernelTexts& texts);
    /// Whether what look() gave is anything but good news.
    bool trouble() const { return trouble_; }
    /// The newest text that was taken for a kernel file; null: none was.
    const std::string* taken(const std::string& file) const;

  private:
    /// What tells one state of a file from another without reading it.
    struct Stamp {
        std::filesystem::file_time_type time{};
        std::uintmax_t size = 0;
        bool operator==(const Stamp&) const = default;
    };
    struct Watched {
        std::filesystem::path path;
        Stamp seen, read;  ///< at the last look, and when the text was read
        bool was_seen = false, was_read = false;
        std::string text;
        std::string complaint;
    };

    void look_into(const std::filesystem::path& folder, const std::string& prefix);
    void look_at(const std::string& file, const std::filesystem::path& path, KernelTexts& texts);
    void say(const std::string& sentence);

    std::filesystem::path folder_, source_;
    std::string source_file_;
    std::map<std::string, Watched> files_;              // by kernel file
    std::map<std::string, std::filesystem::path> now_;  // there at this look
    std::map<std::filesystem::path, bool> strangers_;   // stand for no kernel; said
    bool folder_gone_ = false, looked_ = false, trouble_ = false;
    Clock::time_point next_{};
    std::string said_;
};

}  // namespace warpscope::ui
