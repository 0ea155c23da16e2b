#pragma once

#include <chrono>
#include <filesystem>
#include <functional>
#include <future>
#include <map>
#include <string>
#include <utility>

#include "ui/documents/kernel_documents.h"
#include "ui/stage/stage.h"

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

/// Keeps edits in files from one session to the next, so that what a person has typed is never
/// lost. The next session offers them; it never runs them unasked. Edits of a source that is not
/// built in are offered once its file is open. The text of a watched file is not kept, since its
/// own file has it.
class KeptEdits {
  public:
    using Clock = KernelFolder::Clock;
    /// The time without a change after which edits are written.
    static constexpr std::chrono::seconds left_alone{2};

    /// `folder` is where the files are; empty: nothing is kept.
    explicit KeptEdits(std::filesystem::path folder, Clock clock = std::chrono::steady_clock::now);

    /// The edits of the last session that were neither taken nor declined yet.
    const compute::Sources& offered() const { return offered_; }
    /// Offers what was kept of files that have been opened.
    void follow(const KernelDocuments& documents);
    /// The offered edits are in the documents now.
    void taken() { kept_.merge(std::exchange(offered_, {})); }
    /// The offered edits are not wanted: their files are renamed to NAME.cu~.
    void decline();

    /// Writes the edits that have changed since the last call that wrote, after left_alone without
    /// a change, or at once with `now`. A file of the last session that is in the way is renamed to
    /// NAME.cu~. Throws std::runtime_error that names the file.
    void keep(KernelDocuments& documents, const KernelFolder& watched, bool now = false);

  private:
    std::filesystem::path file(const std::string& name) const;

    void put_aside(const std::string& name) const;

    std::filesystem::path folder_;
    compute::Sources offered_, kept_;
    compute::Sources of_files_;                 ///< kept in the last session, by the file's path
    std::map<std::string, std::string> paths_;  ///< by name: of sources that are not built in
    std::uint64_t written_ = 0, seen_ = 0;      ///< KernelDocuments::version()
    Clock clock_;
    KernelFolder::Time changed_{};
};

/// The files of a stage's edits: those that are watched, and those that keep edits for the next
/// session.
class EditFiles {
  public:
    /// `wake` has look() called soon; any thread may call it.
    EditFiles(Stage& stage, KernelFolder watched, const std::filesystem::path& kept,
              std::function<void()> wake);

    bool watches() const { return watched_.watches(); }
    /// Has watched files that have changed read, and keeps what was typed. For every frame, and for
    /// a window that draws none.
    void look();
    /// Keeps what was typed at once, before the app ends.
    void keep_now() { keep(true); }

    /// There are edits of the last session.
    bool offers() const { return !kept_.offered().empty(); }
    /// "ripple.cu, gallery/life.cu"
    std::string offered() const;
    void take_offer();
    /// Renames their files to NAME.cu~, which are not offered again.
    void decline_offer();

  private:
    void keep(bool now);
    void say(std::string words);

    Stage& stage_;
    KernelFolder watched_;
    KeptEdits kept_;
    std::function<void()> wake_;
    bool complained_ = false;
};

/// The folder for kept edits, beside the settings file; empty where there is no such file.
std::filesystem::path kept_edits_folder(const std::filesystem::path& settings);

}  // namespace warpscope::ui
