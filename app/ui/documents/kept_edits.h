#pragma once

#include <chrono>
#include <filesystem>
#include <map>
#include <string>
#include <utility>

#include "ui/documents/kernel_folder.h"

namespace warpscope::ui {

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

}  // namespace warpscope::ui
