#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "jobs/debugger/session.h"
#include "jobs/output/json.h"

namespace warpscope::jobs {

/// The files of the kernel that is debugged, as a client names them: by path, or by a reference
/// where they are no files: the PTX, and sources that are built in.
class SessionSources {
  public:
    static constexpr int ptx_reference = 1;

    explicit SessionSources(const Session& session) : session_(session) {}

    /// The client's folders, in which the sources of a capture are looked for.
    void search_in(std::vector<std::filesystem::path> folders) { folders_ = std::move(folders); }
    Json source(std::int32_t file) const;  ///< negative: the PTX
    Json all() const;
    /// How breakpoints name the source that a client names: the key of a group.
    std::string key(const Json& source) const;
    static bool is_ptx(const std::string& key) { return key == "PTX"; }
    /// The module's name of the file with this key; empty: it has none.
    std::string file_of(const std::string& key) const;
    /// Throws UsageError for an unknown reference.
    std::string text(int reference) const;

  private:
    std::filesystem::path path_of(const std::string& file) const;
    const std::vector<std::string>& files() const;

    const Session& session_;
    std::vector<std::filesystem::path> folders_;
};

}  // namespace warpscope::jobs
