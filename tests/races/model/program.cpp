#include "program.h"

#include <algorithm>
#include <array>
#include <sstream>
#include <stdexcept>
#include <utility>

namespace warpscope::tests::memory_model {
namespace {

template <typename Value>
using Words = std::vector<std::pair<std::string_view, Value>>;

const Words<Order> orders{{"weak", Order::weak},
                          {"volatile", Order::volatile_},
                          {"relaxed", Order::relaxed},
                          {"acquire", Order::acquire},
                          {"release", Order::release},
                          {"acq_rel", Order::acq_rel},
                          {"sc", Order::sc}};
const Words<Scope> scopes{{"cta", Scope::cta}, {"gpu", Scope::gpu}, {"sys", Scope::sys}};
const Words<Kind> kinds{{"ld", Kind::load},   {"st", Kind::store},      {"fence", Kind::fence},
                        {"add", Kind::add},   {"exch", Kind::exchange}, {"cas", Kind::compare},
                        {"red", Kind::reduce}};

std::vector<std::string> parts_of(std::string_view text, char separator) {
    std::vector<std::string> parts;
    std::istringstream in{std::string(text)};
    for (std::string part; std::getline(in, part, separator);) parts.push_back(part);
    return parts;
}

/// Sets what the modifier says; false for one that says nothing here.
template <typename Value>
bool set(Value& value, const Words<Value>& words, std::string_view word) {
    for (const auto& [name, of_name] : words)
        if (name == word) return value = of_name, true;
    return false;
}

/// Reads one operation, word by word.
class Reader {
  public:
    Reader(Program& program, unsigned thread, const std::string& text)
        : program_(program), in_(text) {
        operation_.thread = thread;
    }

    void read() {
        std::string word = next();
        if (word == "if") {
            const int tested = register_of(next());
            next();  // ==
            operation_.condition = {{tested, number(next())}};
            word = next();
        }
        if (word == "until") {
            operation_.awaited = number(next());
            word = next();
        }
        if (word[0] == 'r' && word != "red" && word.find('.') == std::string::npos) {
            operation_.result = register_of(word);
            next();  // =
            word = next();
        }
        std::string ptx = read_opcode(word);
        if (!operation_.is_fence()) ptx += read_operands();
        program_.operations.push_back(operation_);
        program_.text.push_back(ptx + ";");
    }

  private:
    std::string next() {
        std::string word;
        if (!(in_ >> word)) throw std::invalid_argument("an operand is missing: " + in_.str());
        return word;
    }
    static std::uint32_t number(const std::string& word) { return std::uint32_t(std::stoul(word)); }
    int register_of(const std::string& word) {
        const auto index = unsigned(std::stoul(word.substr(1)));
        program_.registers = std::max(program_.registers, index + 1);
        return int(index);
    }

    std::string read_opcode(const std::string& word) {
        std::string ptx;
        bool has_order = false;
        for (const std::string& part : parts_of(word, '.')) {
            const bool is_order = set(operation_.order, orders, part);
            has_order |= is_order;
            // Volatile operations have the scope of the system.
            if (part == "volatile") operation_.scope = Scope::sys;
            if (!is_order && !set(operation_.scope, scopes, part)) {
                const bool is_kind =
                    operation_.kind != Kind::reduce && set(operation_.kind, kinds, part);
                if (!is_kind && part != "atom" && part != "add")
                    throw std::invalid_argument("unknown: " + word);
            }
            const bool is_last = part == "add" || part == "exch" || part == "cas";
            if (is_last) ptx += program_.space;
            ptx += (ptx.empty() ? "" : ".") + part;
        }
        if (operation_.is_atomic() && !has_order) operation_.order = Order::relaxed;
        const bool is_bits = operation_.kind == Kind::exchange || operation_.kind == Kind::compare;
        if (operation_.is_fence()) return ptx;
        return ptx + (operation_.is_atomic() ? "" : program_.space) + (is_bits ? ".b32 " : ".u32 ");
    }

    std::string read_operands() {
        const std::string name = next();
        auto& names = program_.locations;
        auto found = std::find(names.begin(), names.end(), name);
        if (found == names.end()) found = names.insert(found, name);
        operation_.location = unsigned(found - names.begin());
        std::string ptx = "[%words+" + std::to_string(4 * operation_.location) + "]";
        if (operation_.result >= 0)
            ptx = "%r" + std::to_string(operation_.result) + ", " + ptx;
        else if (operation_.is_atomic() && operation_.kind != Kind::reduce)
            ptx = "%unused, " + ptx;
        if (operation_.kind == Kind::load) return ptx;
        if (operation_.kind == Kind::compare) {
            operation_.compared = number(next());
            ptx += ", " + std::to_string(operation_.compared);
        }
        const std::string value = next();
        if (value[0] != 'r')
            operation_.value = number(value);
        else
            operation_.stored = register_of(value);
        return ptx + ", " + (value[0] == 'r' ? "%" : "") + value;
    }

    Program& program_;
    std::istringstream in_;
    Operation operation_;
};

}  // namespace

Program program_of(std::string_view text, std::vector<unsigned> blocks, std::string space) {
    Program program;
    program.space = std::move(space);
    const std::vector<std::string> threads = parts_of(text, '|');
    for (unsigned thread = 0; thread < threads.size(); ++thread) {
        for (const std::string& operation : parts_of(threads[thread], ';'))
            Reader(program, thread, operation).read();
        program.blocks.push_back(thread < blocks.size() ? blocks[thread] : thread);
    }
    return program;
}

}  // namespace warpscope::tests::memory_model
