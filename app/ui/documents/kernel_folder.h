#pragma once

#include <chrono>
#include <filesystem>
#include <functional>
#include <future>
#include <map>
#include <string>

#include "ui/documents/kernel_documents.h"

namespace warpscope::ui {

/// Watches kernel sources that a person edits with another editor: NAME.cu and gallery/NAME.cu in a
/// folder, and one file of any name that replaces a kernel file. A file that has changed is read
/// once it no longer changes, so that no file is read while it is being written or renamed.
class KernelFolder {
  public:
    using Time = std::chrono::steady_clock::time_point;
    using Clock = std::function<Time()>;
    /// The time between two looks. A file is read once two looks find it unchanged.
    static constexpr std::chrono::milliseconds pause{100};

    /// Either path may be empty. `source` replaces the kernel file `file`, and the folder's file of
    /// that name.
    KernelFolder(std::filesystem::path folder, std::filesystem::path source, std::string file,
                 Clock clock = std::chrono::steady_clock::now);

    bool watches() const { return !folder_.empty() || !source_.empty(); }
    /// Reads the files that have changed into their documents, at the first look all files; does
    /// nothing where the last look was less than `pause` ago. Returns sentences to show: a file
    /// that has no kernel's name or cannot be read, a folder that is gone. Each is returned once.
    std::string look(KernelDocuments& documents);
    /// look(), but the files are read on a thread of their own; a later call puts the texts into
    /// the documents. That thread calls `wake` where it has found something.
    std::string look_beside(KernelDocuments& documents, const std::function<void()>& wake);
    /// Whether look() returned the sentence of a problem.
    bool trouble() const { return trouble_; }
    /// The text that was read last for a kernel file; null: none was.
    const std::string* taken(const std::string& file) const;

  private:
    /// Differs where a file has changed.
    struct Stamp {
        std::filesystem::file_time_type time{};
        std::uintmax_t size = 0;
        bool operator==(const Stamp&) const = default;
    };
    struct Watched {
        std::filesystem::path path;
        Stamp seen, read;  ///< at the last look, and when the file was read
        bool was_seen = false, was_read = false;
        std::string complaint;
    };

    /// What a look has found.
    struct News {
        compute::Sources texts, paths;
        std::string said;
        bool trouble = false;
    };

    bool is_time();
    News read();
    std::string take(News news, KernelDocuments& documents);
    void look_into(const std::filesystem::path& folder, const std::string& prefix);
    void look_at(const std::string& file, const std::filesystem::path& path);
    void say(const std::string& sentence);

    std::filesystem::path folder_, source_;
    std::string source_file_;
    std::map<std::string, Watched> files_;              ///< by kernel file
    std::map<std::string, std::filesystem::path> now_;  ///< found by this look
    std::map<std::filesystem::path, bool> strangers_;   ///< without a kernel's name; already told
    bool folder_gone_ = false, looked_ = false;
    News news_;  ///< of the look that is under way
    // The members above belong to whoever reads, those below to the thread that asks.
    compute::Sources taken_;
    bool trouble_ = false;
    Clock clock_;
    Time next_{};
    std::future<News> reading_;  ///< the last member: its thread uses the others
};

}  // namespace warpscope::ui
