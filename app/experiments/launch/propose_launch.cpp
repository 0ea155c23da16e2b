#include "experiments/launch/propose_launch.h"

#include <fmt/format.h>

#include <algorithm>

namespace warpscope::experiments {
namespace {

using compiler::KernelParameter;
using compiler::Type;

/// Elements of a buffer, in one dimension and in each of two.
constexpr std::int64_t line = 4096, side = 64;

bool is_integer(const Type& type) {
    return type.bytes > 1 &&
           (type.kind == Type::Kind::signed_integer || type.kind == Type::Kind::unsigned_integer);
}

std::vector<Expression> expressions(std::initializer_list<std::string> texts) {
    std::vector<Expression> made;
    for (const std::string& text : texts) made.emplace_back(text);
    return made;
}

class Proposal {
  public:
    Proposal(LaunchFile file, const compiler::Signature& kernel)
        : file_(std::move(file)), kernel_(kernel) {}

    LaunchFile made() {
        name_sizes();
        for (const KernelParameter& parameter : kernel_.parameters)
            add(parameter.name, *parameter.type);
        for (const KernelParameter& parameter : kernel_.parameters)
            if (parameter.type->kind == Type::Kind::structure)
                arguments_.emplace_back(parameter.name, members(parameter.name, *parameter.type));
        file_.launches.push_back(
            {.kernel = kernel_.name,
             .grid = grid(),
             .block = expressions(two() ? std::initializer_list<std::string>{"16", "16"}
                                        : std::initializer_list<std::string>{"256"}),
             .arguments = arguments_});
        return std::move(file_);
    }

    void add_variable(const compiler::ModuleVariable& variable) {
        if (file_.find_buffer(variable.name)) return;
        BufferSpec buffer{.name = variable.name, .type = {}, .shape = {}};
        const Type* type = variable.type.get();
        for (; type && type->kind == Type::Kind::array; type = type->target.get())
            buffer.shape.push_back(Expression(std::to_string(type->count)));
        if (!type || buffer.shape.size() > 4) return;
        if (buffer.shape.empty()) buffer.shape = expressions({"1"});
        buffer.fill = numbers_of(*type);
        file_.buffers.push_back(std::move(buffer));
    }

  private:
    static Fill numbers_of(const Type& type) {
        if (type.kind == Type::Kind::floating) return RandomFill{};
        return Expression("i % 100");
    }

    bool two() const { return sizes_.size() >= 2; }

    void name_sizes() {
        for (const KernelParameter& parameter : kernel_.parameters)
            if (is_integer(*parameter.type) && parameter.name != "frame")
                sizes_.push_back(own_name(parameter.name));
        if (sizes_.empty()) sizes_.push_back("n");
        for (const std::string& name : sizes_) add_scalar(name, two() ? side : line);
    }

    /// The scalar of a number: one whose name has a meaning in expressions gets another.
    std::string own_name(const std::string& name) {
        if (name == "time" || name == "frame") return name;
        try {
            check_scalar_name(name);
            return name;
        } catch (const LaunchError&) {
            const std::string own = "value_of_" + name;
            arguments_.emplace_back(name, ArgumentSpec{.text = own});
            return own;
        }
    }

    /// Leaves out a name that has a value already, such as `time`.
    void add_scalar(const std::string& name, const Number& value) {
        const bool known = name == "time" || name == "frame" || file_.find_buffer(name) ||
                           std::ranges::any_of(file_.scalars, [&](const auto& scalar) {
                               return scalar.first == name;
                           });
        if (!known) file_.scalars.emplace_back(name, value);
    }

    std::vector<Expression> grid() const {
        if (!two()) return expressions({fmt::format("({} + 255) / 256", sizes_[0])});
        return expressions(
            {fmt::format("({} + 15) / 16", sizes_[0]), fmt::format("({} + 15) / 16", sizes_[1])});
    }

    void add(const std::string& name, const Type& type) {
        if (type.kind == Type::Kind::pointer) return add_buffer(name, type);
        if (type.kind == Type::Kind::structure || is_integer(type)) return;
        if (type.kind == Type::Kind::floating)
            add_scalar(own_name(name), 1.0);
        else
            add_scalar(own_name(name), std::int64_t(1));
    }

    /// Pointers to const are read, so they get numbers; the last of the others is shown.
    void add_buffer(const std::string& name, const Type& type) {
        if (file_.find_buffer(name)) return;
        BufferSpec buffer{.name = name, .type = {}, .shape = {}};
        buffer.shape = two() ? expressions({sizes_[1], sizes_[0]}) : expressions({sizes_[0]});
        buffer.fill = type.target ? numbers_of(*type.target) : numbers_of({});
        if (!type.target_is_const) {
            buffer.fill = Expression("0");
            file_.show = name;
        }
        if (!type.target || type.target->bytes == 0) buffer.type = ElementType{};
        file_.buffers.push_back(std::move(buffer));
    }

    ArgumentSpec members(const std::string& name, const Type& type) {
        ArgumentSpec argument;
        for (const compiler::Member& member : type.members) {
            const std::string own = name + "_" + member.name;
            if (member.type->kind == Type::Kind::structure) {
                argument.members.emplace_back(member.name, members(own, *member.type));
                continue;
            }
            if (is_integer(*member.type))
                add_scalar(own, two() ? side : line);
            else
                add(own, *member.type);
            argument.members.emplace_back(member.name, ArgumentSpec{.text = own});
        }
        return argument;
    }

    LaunchFile file_;
    const compiler::Signature& kernel_;
    std::vector<std::string> sizes_;  ///< the scalars that give the shape of the buffers
    std::vector<std::pair<std::string, ArgumentSpec>> arguments_;
};

}  // namespace

LaunchFile propose_launch(LaunchFile file, const compiler::Signature& kernel,
                          const std::vector<compiler::ModuleVariable>& variables) {
    Proposal proposal(std::move(file), kernel);
    for (const compiler::ModuleVariable& variable : variables)
        if (variable.is_for_host) proposal.add_variable(variable);
    return proposal.made();
}

}  // namespace warpscope::experiments
