#include "compiler/host/host_launches.h"

#include <algorithm>
#include <optional>

#include "compiler/host/declarations.h"

namespace warpscope::compiler {
namespace {

/// In tokens: of a launch or a value. And the most launches of a source.
constexpr std::size_t longest_launch = 1000, most_launches = 64;

class HostReader {
  public:
    explicit HostReader(std::string_view source) : text_(source) {}

    std::vector<HostLaunch> all() {
        std::vector<HostLaunch> found;
        for (std::size_t i = 0; i < text_.size(); ++i) {
            if (found.size() == most_launches) break;
            if (text_.is_directive(i))
                read_macro(text_.text(i));
            else if (is_launch(i))
                read_launch(i, found);
            else if (text_.is_word(i))
                read_value(i);
        }
        return found;
    }

  private:
    bool is_three(std::size_t i, const char* sign) const {
        return text_.is(i, sign) && text_.is(i + 1, sign) && text_.is(i + 2, sign) &&
               text_.token(i + 2).begin == text_.token(i).begin + 2;
    }
    bool is_launch(std::size_t i) const { return i > 0 && is_three(i, "<"); }

    /// #define NAME value
    void read_macro(std::string_view directive) {
        const auto tokens = tokens_of(directive.substr(1));
        const auto word = [&](std::size_t t) {
            return directive.substr(1 + tokens[t].begin, tokens[t].end - tokens[t].begin);
        };
        if (tokens.size() < 3 || word(0) != "define" || tokens[2].begin == tokens[1].end) return;
        std::string value;
        for (std::size_t t = 2; t < tokens.size(); ++t) value += std::string(word(t)) + " ";
        values_[std::string(word(1))] = value;
    }

    /// "dim3 b(32, 8)", "dim3 b = …", "int n = 4", and another value for a name.
    void read_value(std::size_t i) {
        const bool is_dim3 = i > 0 && text_.is(i - 1, "dim3");
        const bool begins = text_.is(i + 1, "=") && !text_.is(i + 2, "=");
        if (is_dim3 && (text_.is(i + 1, "(") || text_.is(i + 1, "{"))) {
            read_dimensions(i);
        } else if (begins) {
            std::size_t end = i + 2;
            for (; !text_.is(end, ";") && !text_.is(end, ","); ++end) {
                if (end >= text_.size() || end > i + longest_launch) return;
                if (text_.is(end, "(")) {
                    const auto after = text_.after_closing(end);
                    if (!after) return;
                    end = *after - 1;
                }
            }
            const std::string name(text_.text(i));
            if (is_dim3)
                dimensions_[name] = sizes(i + 2, end);
            else
                values_[name] = words(i + 2, end);
        }
    }

    /// "grid(8), block(32, 8)"
    void read_dimensions(std::size_t i) {
        while (text_.is_word(i) && (text_.is(i + 1, "(") || text_.is(i + 1, "{"))) {
            const auto end = text_.after_closing(i + 1);
            if (!end) return;
            dimensions_[std::string(text_.text(i))] = parts(i + 2, *end - 1);
            if (!text_.is(*end, ",")) return;
            i = *end + 1;
        }
    }

    std::string words(std::size_t begin, std::size_t end) const {
        std::string all;
        for (std::size_t i = begin; i < end; ++i)
            if (!text_.is_directive(i))
                all += (all.empty() ? "" : " ") + std::string(text_.text(i));
        return all;
    }

    /// What stands between the commas.
    std::vector<std::string> parts(std::size_t begin, std::size_t end) const {
        std::vector<std::string> found;
        for (std::size_t i = begin; i < end; ++i) {
            if (text_.is(i, "(")) i = std::min(text_.after_closing(i).value_or(end), end) - 1;
            if (!text_.is(i, ",")) continue;
            found.push_back(words(begin, i));
            begin = i + 1;
        }
        found.push_back(words(begin, end));
        return found;
    }

    /// Of a grid or a block: the name of a dim3, dim3(…), or a number.
    std::vector<std::string> sizes(std::size_t begin, std::size_t end) const {
        if (text_.is(begin, "dim3") && text_.is(begin + 1, "("))
            return parts(begin + 2, text_.after_closing(begin + 1).value_or(end) - 1);
        const std::string all = words(begin, end);
        const auto known = dimensions_.find(all);
        return known == dimensions_.end() ? std::vector{all} : known->second;
    }

    /// The word before the arguments of a template that end before `i`.
    std::optional<std::size_t> kernel_before(std::size_t i) const {
        if (!text_.is(i, ">")) return text_.is_word(i) ? std::optional(i) : std::nullopt;
        int depth = 0;
        for (std::size_t steps = 0; i > 0 && steps < longest_launch; ++steps) {
            if (text_.is(i, ">")) ++depth;
            if (text_.is(i, "<") && --depth == 0)
                return text_.is_word(i - 1) ? std::optional(i - 1) : std::nullopt;
            --i;
        }
        return std::nullopt;
    }

    void read_launch(std::size_t open, std::vector<HostLaunch>& found) const {
        const auto kernel = kernel_before(open - 1);
        if (!kernel) return;
        HostLaunch launch{.kernel = std::string(text_.text(*kernel)), .values = values_};
        std::size_t begin = open + 3, part = 0;
        const std::size_t last = std::min(text_.size(), open + longest_launch);
        for (std::size_t i = begin; i < last && !text_.is(i, ";"); ++i) {
            if (text_.is(i, "(")) {
                const auto after = text_.after_closing(i);
                if (!after) return;
                i = *after - 1;
                continue;
            }
            const bool ends = is_three(i, ">");
            if (!ends && !text_.is(i, ",")) continue;
            if (part == 0) launch.grid = sizes(begin, i);
            if (part == 1) launch.block = sizes(begin, i);
            if (part == 2) launch.shared = words(begin, i);
            ++part;
            begin = i + 1;
            if (!ends) continue;
            const auto after = text_.is(i + 3, "(") ? text_.after_closing(i + 3) : std::nullopt;
            if (after && *after > i + 5) launch.arguments = parts(i + 4, *after - 1);
            found.push_back(std::move(launch));
            return;
        }
    }

    TokenText text_;
    std::map<std::string, std::string, std::less<>> values_;
    std::map<std::string, std::vector<std::string>, std::less<>> dimensions_;
};

}  // namespace

std::vector<HostLaunch> host_launches(std::string_view source) {
    return HostReader(source).all();
}

}  // namespace warpscope::compiler
