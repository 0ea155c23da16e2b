#include "compiler/nvrtc_output.h"
#include "files/text.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>
#include <utility>

namespace warpscope::compiler {
namespace {

constexpr std::size_t longest_text = 400;
constexpr std::size_t most_diagnostics = 500;
/// The log shows a line of the source indented by this many columns, and a caret below it.
constexpr std::size_t margin = 2;

constexpr std::array<std::pair<std::string_view, Severity>, 8> words{
    {{"catastrophic error", Severity::error},
     {"fatal error", Severity::error},
     {"internal error", Severity::error},
     {"command-line error", Severity::error},
     {"error", Severity::error},
     {"warning", Severity::warning},
     {"note", Severity::note},
     {"remark", Severity::note}}};

std::vector<std::string_view> lines_of(std::string_view text) {
    std::vector<std::string_view> lines;
    while (!text.empty()) {
        std::string_view line = files::take_line(text);
        if (line.ends_with('\r')) line.remove_suffix(1);
        lines.push_back(line);
    }
    return lines;
}

/// "kernels/ripple.cu(3): error #20-D: identifier …", "At end of source: error: …".
struct Heading {
    std::string_view place;  ///< "kernels/ripple.cu(3)"; empty if the line names no place
    Severity severity;
    std::string text;  ///< "#20-D: identifier …"
};

std::optional<Heading> heading_of(std::string_view line) {
    const auto read = [](std::string_view place, std::string_view rest) -> std::optional<Heading> {
        for (const auto& [word, severity] : words) {
            if (!rest.starts_with(word)) continue;
            const std::string_view text = rest.substr(word.size());
            if (text.starts_with(": "))
                return Heading{place, severity, std::string(text.substr(2))};
            if (text.starts_with(" #"))
                return Heading{place, severity, std::string(text.substr(1))};
        }
        return {};
    };
    if (line.empty() || line.front() == ' ') return {};
    if (auto heading = read("", line)) return heading;
    for (const std::string_view word : {": undefined reference to ", ": multiple definition of "})
        if (const std::size_t at = line.find(word); at != std::string_view::npos)
            return Heading{line.front() == '(' ? "" : line.substr(0, at), Severity::error,
                           std::string(line.substr(at + 2))};
    const std::size_t colon = line.find(": ");
    if (colon == std::string_view::npos) return {};
    return read(line.substr(0, colon), line.substr(colon + 2));
}

struct LineAndColumn {
    int line = 0, column = 0;  ///< 0: unknown
};

/// The place in this file: "FILE(3)" of NVIDIA's compilers, "FILE:3:14" of g++, "FILE:3" and
/// "FILE:3:(.text+0x1c)" of the linker. Without a line if it is in another file.
LineAndColumn place_in(std::string_view place, std::string_view file) {
    LineAndColumn found;
    if (file.empty() || !place.starts_with(file)) return found;
    place.remove_prefix(file.size());
    const bool is_gnu = place.starts_with(':');
    if (!is_gnu && !(place.starts_with('(') && place.ends_with(')'))) return found;
    const char* const end = place.data() + place.size();
    const auto line = std::from_chars(place.data() + 1, end, found.line);
    const bool ends = is_gnu ? line.ptr == end || *line.ptr == ':' : line.ptr == end - 1;
    if (line.ec != std::errc() || !ends || found.line < 1) return {};
    if (is_gnu && line.ptr != end) std::from_chars(line.ptr + 1, end, found.column);
    return found;
}

/// A line of the source that g++ quotes, or one below it: "    3 | #include", "      |  ^~".
bool is_quoted(std::string_view line) {
    const std::size_t bar = line.find_first_not_of(" 0123456789");
    return bar != std::string_view::npos && bar > 0 && line.substr(bar).starts_with("|");
}

/// The column of the caret in bytes, from 1; 0 if the line has no caret.
int caret_of(std::string_view line) {
    const std::size_t at = line.find_first_not_of(" \t");
    if (at == std::string_view::npos || at < margin || line.substr(at) != "^") return 0;
    return int(at - margin) + 1;
}

class Reader {
  public:
    explicit Reader(const Request& request)
        : file_(request.file), end_(int(lines_of(request.source).size())) {}

    std::vector<Diagnostic> read(std::string_view log) {
        const auto lines = lines_of(log);
        bool open = false;
        for (std::size_t i = 0; i < lines.size(); ++i) {
            if (auto heading = heading_of(lines[i])) {
                begin(std::move(*heading));
                open = true;
            } else if (lines[i].empty() || lines[i].front() != ' ') {
                open = false;
            } else if (open && !is_quoted(lines[i])) {
                const int caret = i + 1 < lines.size() ? caret_of(lines[i + 1]) : 0;
                if (caret)
                    set_column(caret);
                else
                    append(lines[i]);
            }
        }
        for (Diagnostic& diagnostic : found_) diagnostic.text = clean(diagnostic.text);
        // A header of the toolkit defines a macro that ours has defined, too.
        std::erase_if(found_, [](const Diagnostic& diagnostic) {
            return diagnostic.severity == Severity::warning &&
                   diagnostic.text.find(fmt::format("of {})", implied_header)) != std::string::npos;
        });
        if (more_) found_.push_back({0, 0, Severity::note, fmt::format("{} more messages", more_)});
        return std::move(found_);
    }

  private:
    void begin(Heading heading) {
        if (found_.size() == most_diagnostics) {
            ++more_;
            return;
        }
        // The linker has said before why it fails.
        if (heading.place == "collect2" && !found_.empty()) return;
        const bool at_end = heading.place == "At end of source";
        const LineAndColumn at = at_end ? LineAndColumn{end_, 0} : place_in(heading.place, file_);
        if (!at.line && !heading.place.empty())
            heading.text = fmt::format("{}: {}", heading.place, heading.text);
        found_.push_back({at.line, at.column, heading.severity, std::move(heading.text)});
    }

    void set_column(int caret) {
        Diagnostic& last = found_.back();
        if (!more_ && last.line && !last.column) last.column = caret;
    }

    void append(std::string_view line) {
        std::string& text = found_.back().text;
        line.remove_prefix(std::min(line.find_first_not_of(" \t"), line.size()));
        if (more_ || line.empty() || line == "^" || text.size() > longest_text) return;
        text += fmt::format("{}{}", text.ends_with(':') ? " " : "; ", line);
    }

    std::string_view file_;
    int end_;
    std::vector<Diagnostic> found_;
    std::size_t more_ = 0;
};

std::string_view name_of(std::string_view path) {
    return path.substr(path.rfind('/') + 1);
}

std::string portable_path(std::string_view path, const Request& request, std::string_view folder) {
    const std::string& file = request.file;
    const bool own = path.ends_with(file) &&
                     (path.size() == file.size() || path[path.size() - file.size() - 1] == '/');
    if (own) return file;
    for (const Header& header : request.headers)
        if (path == header.name || path == fmt::format("{}/{}", folder, header.name))
            return header_in_ptx(header.name);
    return fmt::format("{}/{}", path.ends_with(".cu") ? "kernels" : "cuda", name_of(path));
}

}  // namespace

std::vector<Diagnostic> read_log(std::string_view log, const Request& request) {
    return Reader(request).read(log);
}

std::size_t character_bytes(std::string_view text) {
    const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
    const unsigned char first = byte(0);
    if (first < 0x80) return 1;
    const std::size_t bytes = first < 0xC2 ? 0 : first < 0xE0 ? 2 : first < 0xF0 ? 3 : 4;
    if (bytes == 0 || first > 0xF4 || text.size() < bytes) return 0;
    for (std::size_t i = 1; i < bytes; ++i)
        if ((byte(i) & 0xC0) != 0x80) return 0;
    // Overlong encodings, halves of surrogate pairs and values above U+10FFFF are invalid.
    const bool invalid = (first == 0xE0 && byte(1) < 0xA0) || (first == 0xED && byte(1) > 0x9F) ||
                         (first == 0xF0 && byte(1) < 0x90) || (first == 0xF4 && byte(1) > 0x8F);
    return invalid ? 0 : bytes;
}

bool is_control(std::string_view character) {
    const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(character[i]); };
    if (character.size() == 1) return byte(0) < ' ' || byte(0) == 0x7F;
    return byte(0) == 0xC2 && byte(1) < 0xA0;
}

std::string clean(std::string_view text) {
    std::string cleaned;
    while (!text.empty() && cleaned.size() < longest_text) {
        const std::size_t bytes = character_bytes(text);
        if (bytes == 0)
            cleaned += "\uFFFD";
        else if (is_control(text.substr(0, bytes)))
            cleaned += ' ';
        else
            cleaned += text.substr(0, bytes);
        text.remove_prefix(std::max<std::size_t>(bytes, 1));
    }
    return text.empty() ? cleaned : cleaned + "…";
}

std::string place_and_text(const Request& request, const Diagnostic& diagnostic) {
    if (!diagnostic.line) return fmt::format("{}: {}", request.file, diagnostic.text);
    return fmt::format("{}:{}: {}", request.file, diagnostic.line, diagnostic.text);
}

std::string portable_ptx(std::string_view ptx, const Request& request, std::string_view folder) {
    std::string portable;
    portable.reserve(ptx.size());
    while (!ptx.empty()) {
        const std::size_t end = std::min(ptx.find('\n'), ptx.size());
        const std::string_view line = ptx.substr(0, end);
        const std::size_t word = std::min(line.find_first_not_of(" \t"), line.size());
        const std::size_t open = line.find('"'), close = line.rfind('"');
        if (line.substr(word).starts_with(".file") && open != close)
            portable += fmt::format(
                "{}\"{}\"", line.substr(0, open),
                portable_path(line.substr(open + 1, close - open - 1), request, folder));
        else
            portable += line;
        if (end < ptx.size()) portable += '\n';
        ptx.remove_prefix(std::min(end + 1, ptx.size()));
    }
    return portable;
}

}  // namespace warpscope::compiler
