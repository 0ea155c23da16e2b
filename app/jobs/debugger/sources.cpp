#include "jobs/debugger/sources.h"

#include <fmt/format.h>

#include <algorithm>

#include "experiments/measure/user_paths.h"
#include "jobs/output/files_and_terminal.h"

namespace warpscope::jobs {

namespace fs = std::filesystem;

const std::vector<std::string>& SessionSources::files() const {
    return session_.stepper().kernel().module->files();
}

/// The file of the user; empty: there is none.
fs::path SessionSources::path_of(const std::string& file) const {
    std::error_code ignored;
    const fs::path copy = experiments::as_named(file, session_.launch().state->edits);
    const fs::path name = session_.as_named(file);
    if (copy != name)  // it lies in a capture
        for (const fs::path& folder : folders_)
            for (const fs::path& path : {folder / name, folder / name.filename()})
                if (fs::exists(path, ignored)) return fs::absolute(path);
    const bool is_of_user = copy != file || copy.is_absolute();  // others are built in
    return is_of_user && fs::is_regular_file(copy, ignored) ? fs::absolute(copy) : fs::path();
}

Json SessionSources::source(std::int32_t file) const {
    if (file < 0 || std::size_t(file) >= files().size())
        return {{"name", session_.kernel_name() + ".ptx"}, {"sourceReference", ptx_reference}};
    const std::string& name = files()[std::size_t(file)];
    const fs::path path = path_of(name);
    if (!path.empty())
        return {{"name", path.filename().string()}, {"path", path.lexically_normal().string()}};
    return {{"name", name}, {"sourceReference", ptx_reference + 1 + file}};
}

Json SessionSources::all() const {
    Json list = Json::array({source(-1)});
    for (std::size_t i = 0; i < files().size(); ++i)
        if (!files()[i].empty()) list.push_back(source(std::int32_t(i)));
    return list;
}

std::string SessionSources::key(const Json& source) const {
    const int reference = source.value("sourceReference", 0);
    if (reference == ptx_reference) return "PTX";
    const auto index = std::size_t(reference - ptx_reference - 1);
    if (reference > 0 && session_.is_open() && index < files().size()) return files()[index];
    const std::string path = source.value("path", "");
    return path.empty() ? source.value("name", "") : path;
}

std::string SessionSources::file_of(const std::string& key) const {
    std::error_code ignored;
    const fs::path wanted = fs::weakly_canonical(key, ignored);
    for (const std::string& file : files()) {
        const fs::path path = path_of(file);
        if (key == file || key.ends_with("/" + file) ||
            (!path.empty() && fs::weakly_canonical(path, ignored) == wanted))
            return file;
    }
    return {};
}

std::string SessionSources::text(int reference) const {
    if (reference == ptx_reference) return session_.stepper().kernel().module->text();
    const auto index = std::size_t(reference - ptx_reference - 1);
    if (reference > 0 && index < files().size())
        if (const auto text = session_.source(files()[index]); !text.empty())
            return std::string(text);
    throw UsageError(fmt::format("there is no source with the reference {}", reference));
}

}  // namespace warpscope::jobs
