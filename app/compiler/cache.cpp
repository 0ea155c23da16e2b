#include "compiler/cache.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <stdexcept>
#include <system_error>
#include <vector>

#include "files/regular_file.h"

namespace warpscope::compiler {
namespace {

namespace fs = std::filesystem;

/// An entry is a list of texts without nesting: the parts of its key, and then of its result.
using Texts = std::vector<std::string>;

/// Returns the source with the lines joined that end with a backslash.
std::string joined_lines(std::string_view source) {
    std::string joined;
    while (!source.empty()) {
        const std::string_view rest = source.substr(1);
        const bool splice =
            source[0] == '\\' && (rest.starts_with('\n') || rest.starts_with("\r\n"));
        if (!splice) joined += source[0];
        source.remove_prefix(!splice ? 1 : rest[0] == '\r' ? 3 : 2);
    }
    return joined;
}

/// Whether a text begins with the name of a header in quotes.
bool names_header(std::string_view text, const std::vector<Header>& headers) {
    return std::any_of(headers.begin(), headers.end(), [&](const Header& header) {
        return text.starts_with(fmt::format("\"{}\"", header.name));
    });
}

/// False if the text may include a file of the user that is not one of the headers, because the
/// key does not show changes of that file. #include <name> is a header of the toolkit and is
/// allowed.
bool stands_alone(std::string_view text, const std::vector<Header>& headers) {
    constexpr std::string_view word = "include", blanks = " \t\v\f";
    const std::string joined = joined_lines(text);
    const std::string_view source = joined;
    for (std::size_t at = 0; (at = source.find(word, at)) != std::string_view::npos;) {
        const std::size_t before = source.substr(0, at).find_last_not_of(blanks);
        at += word.size();
        // A slash can be the end of a comment, as in #/**/include.
        const bool directive =
            before != std::string_view::npos &&
            std::string_view("#:_/\n\r").find(source[before]) != std::string_view::npos;
        const std::size_t after = source.find_first_not_of(blanks, at);
        if (!directive || after == std::string_view::npos) continue;
        const bool toolkit = source[after] == '<' && after + 1 < source.size() &&
                             source[after + 1] != '/' && source[after + 1] != '.';
        if (!toolkit && !names_header(source.substr(after), headers)) return false;
    }
    return true;
}

bool stands_alone(const Request& request) {
    return stands_alone(request.source, request.headers) &&
           std::all_of(request.headers.begin(), request.headers.end(), [&](const Header& header) {
               return stands_alone(header.text, request.headers);
           });
}

/// Everything that the PTX depends on.
Texts key_of(const Request& request, std::string_view version) {
    Texts key{"warpscope kernel 5", std::string(version),
              fmt::format("{}", fmt::join(options_of(request), " ")), request.file, request.source};
    key.push_back(std::to_string(request.names.size()));
    key.insert(key.end(), request.names.begin(), request.names.end());
    for (const Header& header : request.headers) key.insert(key.end(), {header.name, header.text});
    return key;
}

/// Writes each text after its length: "3:abc".
std::string bytes_of(const Texts& texts) {
    std::string bytes;
    for (const std::string& text : texts) bytes += fmt::format("{}:{}", text.size(), text);
    return bytes;
}

/// Throws if the text does not begin with a number and then `end`. Removes both.
template <class Number>
Number take_number(std::string_view& text, std::string_view end) {
    Number number{};
    const auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    text.remove_prefix(std::size_t(stop - text.data()));
    if (error != std::errc() || !text.starts_with(end)) throw std::runtime_error("no number");
    text.remove_prefix(end.size());
    return number;
}

Texts texts_of(std::string_view bytes) {
    Texts texts;
    while (!bytes.empty()) {
        const auto size = take_number<std::size_t>(bytes, ":");
        if (size > bytes.size()) throw std::runtime_error("a text ends too early");
        texts.emplace_back(bytes.substr(0, size));
        bytes.remove_prefix(size);
    }
    return texts;
}

fs::path name_of(const Texts& key) {
    return fmt::format("{:016x}.kernel", content_hash(bytes_of(key)));
}

/// The PTX, and then each warning: "3 7 1 text" for line, column, severity and text.
Texts to_texts(const Compiled& compiled) {
    Texts texts{compiled.ptx};
    for (const Diagnostic& d : compiled.warnings)
        texts.push_back(fmt::format("{} {} {} {}", d.line, d.column, int(d.severity), d.text));
    return texts;
}

Diagnostic warning_of(std::string_view text) {
    Diagnostic d;
    d.line = take_number<int>(text, " ");
    d.column = take_number<int>(text, " ");
    d.severity = Severity(std::clamp(take_number<int>(text, " "), 0, int(Severity::error)));
    d.text = text;
    return d;
}

/// `texts` are those of an entry with this key.
std::optional<Compiled> compiled_of(const Texts& key, const Texts& texts) {
    if (texts.size() < key.size() + 1 || !std::equal(key.begin(), key.end(), texts.begin()))
        return {};
    auto next = texts.begin() + std::ptrdiff_t(key.size());
    Compiled compiled{*next++, {}};
    for (; next != texts.end(); ++next) compiled.warnings.push_back(warning_of(*next));
    return compiled;
}

/// Puts a checksum in front, so that a damaged file is detected.
std::string sealed(const Texts& texts) {
    const std::string bytes = bytes_of(texts);
    return fmt::format("{:016x}", content_hash(bytes)) + bytes;
}

/// Throws if the file is damaged, is larger than `most` bytes or is not a regular file.
Texts unsealed(const fs::path& file, std::uintmax_t most) {
    const std::string whole =
        files::RegularFile(file, files::RegularFile::Links::refused).read(std::size_t(most) + 1);
    if (whole.size() > most) throw std::runtime_error("it is too large");
    const std::string_view sum = std::string_view(whole).substr(0, 16);
    const std::string_view bytes = std::string_view(whole).substr(sum.size());
    if (sum != fmt::format("{:016x}", content_hash(bytes)))
        throw std::runtime_error("it is damaged");
    return texts_of(bytes);
}

/// Removes the least recently used files, including temporary files of processes that were killed.
void shrink(const fs::path& folder, std::uintmax_t limit) {
    struct File {
        fs::path path;
        std::uintmax_t bytes;
        fs::file_time_type used;
    };
    std::vector<File> files;
    std::uintmax_t bytes = 0;
    std::error_code error;
    for (const auto& entry : fs::directory_iterator(folder, error)) {
        const std::string extension = entry.path().extension().string();
        if (extension != ".kernel" && extension != ".part") continue;
        std::error_code no_type, no_size, no_time;
        if (!fs::is_regular_file(entry.symlink_status(no_type))) continue;
        const File file{entry.path(), entry.file_size(no_size), entry.last_write_time(no_time)};
        if (no_size || no_time) continue;
        files.push_back(file);
        bytes += file.bytes;
    }
    std::sort(files.begin(), files.end(),
              [](const File& a, const File& b) { return a.used < b.used; });
    for (const File& file : files) {
        if (bytes <= limit) return;
        if (fs::remove(file.path, error)) bytes -= file.bytes;
    }
}

}  // namespace

void make_private(const fs::path& folder) {
    std::error_code error;
    fs::create_directories(folder, error);
    if (::chmod(folder.c_str(), 0700) != 0)
        throw std::runtime_error("the folder belongs to another user");
}

Cache::Cache(fs::path folder, std::uintmax_t limit) : folder_(std::move(folder)), limit_(limit) {}

fs::path Cache::default_folder() {
    const auto absolute = [](const char* name) -> fs::path {
        const char* const value = std::getenv(name);
        return value && *value == '/' ? value : "";
    };
    if (const fs::path cache = absolute("XDG_CACHE_HOME"); !cache.empty())
        return cache / "warpscope/kernels";
    const fs::path home = absolute("HOME");
    return home.empty() ? home : home / ".cache/warpscope/kernels";
}

std::optional<Compiled> Cache::find(const Request& request,
                                    std::string_view version) const noexcept {
    try {
        if (folder_.empty() || !stands_alone(request)) return {};
        const Texts key = key_of(request, version);
        const fs::path file = folder_ / name_of(key);
        std::optional<Compiled> compiled = compiled_of(key, unsealed(file, limit_));
        std::error_code ignored;
        if (compiled) fs::last_write_time(file, fs::file_time_type::clock::now(), ignored);
        return compiled;
    } catch (...) {
        return {};
    }
}

void Cache::keep(const Request& request, std::string_view version,
                 const Compiled& compiled) const noexcept {
    try {
        if (folder_.empty() || !stands_alone(request)) return;
        const Texts key = key_of(request, version);
        Texts texts = key;
        for (std::string& text : to_texts(compiled)) texts.push_back(std::move(text));
        const std::string bytes = sealed(texts);
        if (bytes.size() > limit_) return;
        make_private(folder_);
        const fs::path file = folder_ / name_of(key);
        if (fs::is_symlink(file)) fs::remove(file);
        files::write_whole_file(file, bytes);
        shrink(folder_, limit_);
    } catch (...) {
        return;  // The source will be compiled again.
    }
}

}  // namespace warpscope::compiler
