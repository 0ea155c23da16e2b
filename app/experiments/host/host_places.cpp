#include <array>
#include <optional>

#include "compiler/host/declarations.h"
#include "experiments/host/host_values.h"

namespace warpscope::experiments {
namespace {

using compiler::SourceToken;
using compiler::TokenText;

constexpr int deepest_alias = 12;

/// Whether the program knows what the method of an object, or of one that a name stands for,
/// returns.
bool is_method(const HostProgram& program, std::string name) {
    for (int depth = 0; depth < deepest_alias; ++depth) {
        if (program.values.contains(name)) return true;
        const auto value = program.value_of(name);
        if (!value) break;
        name = *value;
    }
    return false;
}

/// Tokens of a pointer.
class Pointer {
  public:
    explicit Pointer(std::string_view text) : text_(text), end_(text_.size()) {
        while (strip()) {
        }
    }

    bool is_null() const {
        return end_ - begin_ == 1 &&
               (text_.is(begin_, "nullptr") || text_.is(begin_, "NULL") || text_.is(begin_, "0"));
    }
    /// Empty: the text names no array. `program`: of the values of methods, "object$method".
    std::string name(const HostProgram* program = nullptr) const {
        if (begin_ >= end_ || !text_.is_word(begin_) || text_.is(begin_, "new")) return "";
        std::string name(text_.text(begin_));
        const bool is_call = text_.is(begin_ + 1, "(") && text_.is(begin_ + 2, ")");
        if (is_call && program && is_method(*program, name)) return name;
        for (const std::string_view function : {"$data", "$begin", "$get"})
            if (name.ends_with(function) && is_call)
                return name.substr(0, name.size() - function.size());
        if (text_.is(begin_ + 1, "[") && !has_address_) return name + part(begin_ + 1, end_);
        return text_.is(begin_ + 1, "(") ? "" : name;
    }
    /// The pointer in "(pointer) + offset" and "static_cast<T*>(pointer) + offset". Empty: none.
    std::string inner() const {
        const std::size_t open = open_of_inner();
        if (open >= end_ || !text_.is(open, "(")) return "";
        const std::size_t after = text_.after_closing(open).value_or(end_);
        return text_.is(after, "+") && after < end_ ? part(open + 1, after - 1) : "";
    }
    std::string behind_inner() const {
        return part(text_.after_closing(open_of_inner()).value_or(end_) + 1, end_);
    }
    /// The type of the elements that the offset counts, where a cast says it: T of "(T*)p + 2".
    std::string unit() const {
        if (open_of_inner() > begin_) return type_in(begin_ + 2, open_of_inner() - 1);
        return unit_;
    }
    /// nullopt: what stands behind the name is no offset.
    std::optional<std::string> offset() const {
        std::size_t i = begin_ + 1;
        if (text_.is(i, "(") && text_.is(i + 1, ")")) i += 2;
        if (i >= end_) return "";
        if (text_.is(i, "[")) {
            const auto after = text_.after_closing(i);
            if (!after || *after != end_) return std::nullopt;
            return has_address_ ? part(i + 1, end_ - 1) : "";
        }
        if (text_.is(i, "+")) return part(i + 1, end_);
        if (text_.is(i, "-")) return "- ( " + part(i + 1, end_) + " )";
        return std::nullopt;
    }

  private:
    std::string part(std::size_t begin, std::size_t end) const {
        std::string all;
        for (std::size_t i = begin; i < end; ++i)
            all += (i > begin ? " " : "") + std::string(text_.text(i));
        return all;
    }

    /// The "(" of a text that begins with "(", or of "static_cast<T*>(".
    std::size_t open_of_inner() const {
        std::size_t open = begin_;
        if (begin_ < end_ && text_.is_word(begin_) && text_.text(begin_).ends_with("_cast"))
            while (open < end_ && !text_.is(open, "(")) ++open;
        return open;
    }

    /// The words of a type, without those that its pointers have.
    std::string type_in(std::size_t begin, std::size_t end) const {
        std::string all;
        for (std::size_t i = begin; i < end; ++i)
            if (text_.is_word(i) && !text_.is(i, "const"))
                all += (all.empty() ? "" : " ") + std::string(text_.text(i));
        return all;
    }

    /// The token after what a cast before it applies to: a name, "(…)", another cast with its.
    std::size_t after_operand(std::size_t i) const {
        while (text_.is(i, "&") || text_.is(i, "*")) ++i;
        if (text_.is(i, "(")) {
            const std::size_t after = text_.after_closing(i).value_or(end_);
            const bool is_cast = after < end_ && (text_.is_word(after) || text_.is(after, "("));
            return is_cast ? after_operand(after) : after;
        }
        for (++i; i < end_ && (text_.is(i, "(") || text_.is(i, "["));)
            i = text_.after_closing(i).value_or(end_);
        return i;
    }

    /// "(void**)" before something.
    bool is_cast(std::size_t after) const {
        for (std::size_t i = begin_ + 1; i + 1 < after; ++i)
            if (!text_.is_word(i) && !text_.is(i, "*") && !text_.is(i, "&") && !text_.is(i, ":"))
                return false;
        return after < end_ && (text_.is_word(after) || text_.is(after, "&") ||
                                text_.is(after, "(") || text_.is(after, "*"));
    }

    /// Removes what does not change the array: casts, "&", parentheses. False: there is no more.
    bool strip() {
        if (begin_ >= end_) return false;
        if (text_.is(begin_, "(")) {
            const std::size_t after = text_.after_closing(begin_).value_or(0);
            if (after == end_) {
                ++begin_;
                --end_;
                return true;
            }
            if (after == 0 || after > end_ || !is_cast(after)) return false;
            if (unit_.empty() && after_operand(after) < end_)
                unit_ = type_in(begin_ + 1, after - 1);
            begin_ = after;
            return true;
        }
        if (text_.is(begin_, "&") || text_.is(begin_, "*")) {
            has_address_ = has_address_ || text_.is(begin_, "&");
            ++begin_;
            return true;
        }
        if (text_.is_word(begin_) && text_.is(begin_ + 1, ":") && text_.is(begin_ + 2, ":")) {
            begin_ += 3;
            return true;
        }
        const std::size_t behind =
            text_.is(begin_ + 1, "(") ? text_.after_closing(begin_ + 1).value_or(0) : 0;
        const bool calls = behind == end_ || (behind > 0 && text_.is(behind, "+"));
        if (calls && (text_.is(begin_, "raw_pointer_cast") || text_.is(begin_, "data"))) {
            ++begin_;
            return true;
        }
        // A cast, or an object that owns the pointer: "static_cast<T*>(p)", "Pointer<T>(p)".
        if (text_.is_word(begin_) && text_.is(begin_ + 1, "<")) {
            std::size_t open = begin_ + 2;
            while (open < end_ && !text_.is(open, "(")) ++open;
            if (open == end_ || text_.after_closing(open) != end_) return false;
            begin_ = open;
            return true;
        }
        return false;
    }

    TokenText text_;
    std::size_t begin_ = 0, end_;
    bool has_address_ = false;
    std::string unit_;
};

/// The type of the elements that a variable points to. Empty: not known.
std::string element_of(const HostProgram& program, const std::string& name) {
    const auto variable = program.variables.find(name);
    if (variable == program.variables.end()) return "";
    const HostVariable& is = variable->second;
    return is.pointers + is.extents.size() == 1 && is.type != "auto" ? is.type : "";
}

}  // namespace

HostPlace place_of(const HostProgram& program, std::string_view text) {
    HostPlace place;
    std::array<std::string, deepest_alias> kept;
    for (int depth = 0; depth < deepest_alias; ++depth) {
        const Pointer pointer(text);
        if (pointer.is_null()) return depth == 0 ? HostPlace() : place;
        const std::string inner = pointer.inner(), name = pointer.name(&program);
        const auto offset = inner.empty() ? pointer.offset() : pointer.behind_inner();
        if ((inner.empty() && name.empty()) || !offset) break;
        if (!offset->empty()) {
            const std::string unit = pointer.unit().empty() && inner.empty()
                                         ? element_of(program, name)
                                         : pointer.unit();
            const bool known = !unit.empty() && (place.offset.empty() || !place.bytes.empty());
            const std::string bytes = "( " + *offset + " ) * sizeof ( " + unit + " )";
            place.bytes = !known ? "" : place.bytes.empty() ? bytes : bytes + " + " + place.bytes;
            place.offset =
                place.offset.empty() ? *offset : "( " + *offset + " ) + ( " + place.offset + " )";
        }
        if (!inner.empty()) {
            kept[std::size_t(depth)] = inner;
            text = kept[std::size_t(depth)];
            continue;
        }
        place.array = name;
        if (program.arrays.contains(name)) break;
        const auto value = program.value_of(name);
        if (!value) break;
        kept[std::size_t(depth)] = *value;
        text = kept[std::size_t(depth)];
    }
    return place;
}

std::optional<Expression> HostValues::offset(const HostPlace& place, std::size_t element) const {
    if (place.offset.empty()) return Expression("0");
    if (place.bytes.empty() || element == 0) return expression(place.offset);
    if (const auto bytes = number(place.bytes);
        bytes && std::int64_t(real(*bytes)) % std::int64_t(element) != 0)
        return std::nullopt;
    if (auto all = elements(place.bytes, element)) return all;
    return expression(place.bytes) ? std::nullopt : expression(place.offset);
}

std::string name_in(std::string_view text) {
    return Pointer(text).name();
}

bool is_member(std::string_view name) {
    const std::size_t sign = name.rfind('$');
    if (sign == std::string_view::npos || sign == 0 || sign + 1 == name.size()) return false;
    return name[sign + 1] < '0' || name[sign + 1] > '9';
}

const HostArray* find_array(const HostProgram& program, std::string_view name) {
    auto found = program.arrays.find(name);
    // All elements of an array of pointers are as the one that a loop allocates.
    if (const std::size_t index = name.find('[');
        found == program.arrays.end() && index != std::string_view::npos && index > 0)
        for (auto other = program.arrays.lower_bound(name.substr(0, index));
             other != program.arrays.end() && other->first.starts_with(name.substr(0, index));
             ++other)
            if (other->first.find('[') == index) return &other->second;
    return found == program.arrays.end() ? nullptr : &found->second;
}

}  // namespace warpscope::experiments
