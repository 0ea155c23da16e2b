#include "experiments/proposals/propose_launch.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "emulator/program/error.h"
#include "emulator/ptx/effects.h"
#include "emulator/ptx/ptx_syntax.h"
#include "launches/arrays/expression.h"
#include "launches/files/element_types.h"

namespace warpscope::experiments {

using namespace launches;
namespace {

using compiler::ImageUse;
using compiler::Signature;
using emulator::KernelSyntax;
using emulator::ModuleSyntax;
using emulator::Operand;
using emulator::Statement;

/// How a statement that reads or writes a texture or a surface does so.
ImageUse image_use(const Statement& statement, bool is_texture) {
    struct Word {
        std::string_view modifier, number;
    };
    // A texture of integers without a sign is most often an image of bytes. A surface has bits.
    static constexpr Word of_textures[] = {
        {"f32", "float"}, {"u32", "unsigned char"}, {"s32", "int"}};
    static constexpr Word of_surfaces[] = {
        {"b8", "unsigned char"}, {"b16", "unsigned short"}, {"b32", "float"}};
    ImageUse use;
    if (!statement.has("level"))
        use.dimensions = statement.has("1d") ? 1 : statement.has("2d") ? 2 : 0;
    // The type of the elements stands before that of the coordinates.
    for (const std::string& modifier : statement.modifiers)
        for (const Word& word : is_texture ? of_textures : of_surfaces)
            if (use.number.empty() && modifier == word.modifier) use.number = word.number;
    if (!is_texture) use.lanes = statement.has("v4") ? 4 : statement.has("v2") ? 2 : 1;
    return use;
}

std::optional<ImageUse> image_use(const KernelSyntax& kernel, bool of_textures) {
    std::optional<ImageUse> found;
    for (const Statement& statement : kernel.statements) {
        const bool is_texture = statement.name == "tex";
        if (is_texture != of_textures ||
            (!is_texture && statement.name != "suld" && statement.name != "sust"))
            continue;
        const ImageUse use = image_use(statement, is_texture);
        if (use.dimensions == 0 || use.number.empty() || (found && *found != use)) return {};
        found = use;
    }
    return found;
}

/// Looks at the arrays in shared memory that a kernel names: those of fixed sizes together must fit
/// into a block, and that of a dynamic size has elements as large as its alignment.
void read_shared_arrays(const KernelSyntax& kernel, const ModuleSyntax& module,
                        Signature& signature) {
    std::set<std::string_view> named;
    for (const Statement& statement : kernel.statements)
        for (const Operand& operand : statement.operands)
            if (const Operand& base = emulator::base_of(operand); base.kind == Operand::symbol)
                named.insert(base.name);
    std::uint64_t fixed = 0;
    std::size_t dynamic = 0;
    for (const auto* variables : {&module.variables, &kernel.variables})
        for (const emulator::Variable& variable : *variables) {
            if (!named.contains(variable.name)) continue;
            if (variable.space == emulator::Space::shared) fixed += variable.bytes;
            if (variable.dynamic) dynamic = std::max<std::size_t>(dynamic, variable.align);
        }
    if (signature.traits.dynamic_shared == 0) signature.traits.dynamic_shared = dynamic;
    // CUDA C++ Programming Guide, "Technical Specifications per Compute Capability", 7.5.
    constexpr std::uint64_t most_shared = 65536;
    if (fixed > most_shared)
        throw LaunchError(
            fmt::format("source: the arrays of kernel {} in shared memory have {} bytes: a "
                        "block has at most {}",
                        signature.name, fixed, most_shared));
}

/// Whether it or a function of the module reads one of these special registers, "%ctaid".
bool reads(std::string_view name, const KernelSyntax& kernel, const ModuleSyntax& module) {
    const auto is_it = [&](const Operand& operand) {
        return operand.kind == Operand::special && operand.name.starts_with(name);
    };
    const auto reads_it = [&](const KernelSyntax& one) {
        return std::ranges::any_of(one.statements, [&](const Statement& statement) {
            return std::ranges::any_of(statement.operands, is_it);
        });
    };
    return reads_it(kernel) || std::ranges::any_of(module.functions, [&](const auto& function) {
               return reads_it(function.second);
           });
}

}  // namespace

void read_launch_traits(std::string_view ptx, std::span<Signature> signatures) {
    ModuleSyntax module;
    try {
        module = emulator::parse_ptx(ptx, "");
    } catch (const emulator::Error&) {
        return;  // the kernels do not run in the emulator, which then says why
    }
    for (Signature& signature : signatures) {
        const auto kernel = std::ranges::find(module.kernels, signature.entry, &KernelSyntax::name);
        if (kernel == module.kernels.end()) continue;
        read_shared_arrays(*kernel, module, signature);
        signature.traits.texture = image_use(*kernel, true);
        signature.traits.surface = image_use(*kernel, false);
        signature.traits.reads_block_index = reads("%ctaid", *kernel, module);
        signature.traits.synchronises_grid = reads("%envreg", *kernel, module);
    }
}

namespace {

using compiler::Type;
using Texts = std::vector<Expression>;

/// Elements of a buffer, in one dimension and in each of two.
constexpr std::int64_t line = 4096, side = 64;

bool is_integer(const Type& type) {
    return type.bytes > 1 && !is_image(type) &&
           (type.kind == Type::Kind::signed_integer || type.kind == Type::Kind::unsigned_integer);
}

/// Numbers as a buffer of this type may hold them.
Fill numbers_of(const Type* type) {
    if (!type) return Expression("i % 100");
    if (type->kind == Type::Kind::character) return Expression("97 + i % 26");  // letters
    const auto row = row_of(*type);
    if (row && row->number.is_real()) return RandomFill{};
    const bool is_number = element_type(*type) || (row && row->number.bytes > 1);
    return Expression(is_number ? "i % 100" : "0");
}

/// Makes one launch.
class Proposal {
  public:
    Proposal(LaunchFile file, const Signature& kernel)
        : kernel_(kernel), made_{std::move(file), {}} {
        for (const compiler::KernelParameter& parameter : kernel.parameters)
            add_sizes(parameter.name, *parameter.type);
        if (sizes_.empty()) sizes_.emplace_back("n");
    }

    ProposedLaunch made(std::span<const compiler::ModuleVariable> variables) {
        for (const compiler::ModuleVariable& variable : variables)
            if (variable.is_for_host) add_variable(variable);
        LaunchSpec spec{.kernel = kernel_.name, .grid = {}, .block = {}, .arguments = {}};
        if (kernel_.name.find('<') != std::string::npos)
            guess(files::sentence("the arguments of the template"));
        for (const bool integers : {true, false})  // buffers have their sizes
            for (const auto& [name, type] : kernel_.parameters) {
                if (is_integer(*type) != integers) continue;
                ArgumentSpec value = value_of(name, *type);
                if (value.text != name) spec.arguments.emplace_back(name, std::move(value));
            }
        set_shape(spec);
        file().launches.push_back(std::move(spec));
        return std::move(made_);
    }

  private:
    LaunchFile& file() { return made_.file; }

    void guess(const files::Sentence& what) {
        if (std::ranges::find(made_.guesses, what) == made_.guesses.end())
            made_.guesses.push_back(what);
    }

    /// The integers that are sizes of buffers: those whose names have no meaning in expressions.
    void add_sizes(const std::string& name, const Type& type) {
        constexpr std::string_view indices[]{"i", "x", "y", "z", "lane", "frame"};
        if (is_integer(type) && std::ranges::find(indices, name) == std::end(indices) &&
            scalar_name(name) == name)
            sizes_.push_back(name);
        if (type.kind == Type::Kind::structure && !is_union(type))
            for (const compiler::Member& member : type.members)
                add_sizes(name + "_" + member.name, *member.type);
    }

    /// The scalar of a number: one whose name has a meaning in expressions gets another.
    std::string scalar_name(const std::string& name) {
        try {
            check_scalar_name(name);
            if (!file().find_buffer(name)) return name;
        } catch (const LaunchError&) {
            // The value gets another name.
        }
        return "value_of_" + name;
    }

    bool has_scalar(const std::string& name) {
        return std::ranges::any_of(file().scalars,
                                   [&](const auto& scalar) { return scalar.first == name; });
    }

    void add_scalar(const std::string& name, Number value) {
        if (!has_scalar(name)) file().scalars.emplace_back(name, value);
    }

    std::string number(const std::string& name, const Type& type) {
        const bool is_known = name == "time" || name == "frame";  // which each launch file has
        const std::string own = is_known ? name : scalar_name(name);
        if (has_scalar(own)) return own;
        guess(own);
        const bool is_size = std::ranges::find(sizes_, own) != sizes_.end();
        if (!is_known)
            add_scalar(own, type.kind == Type::Kind::floating ? Number(1.0)
                            : is_size                         ? size()
                                                              : Number(std::int64_t(1)));
        return own;
    }

    ArgumentSpec value_of(const std::string& name, const Type& type) {
        if (is_image(type)) return texture(name, type);
        if (type.kind == Type::Kind::pointer) return pointer(name, type);
        // All elements of an array have one value.
        if (type.kind == Type::Kind::bit_field || (type.kind == Type::Kind::array && type.target))
            return value_of(name, *type.target);
        if (type.kind != Type::Kind::structure) return {.text = number(name, type)};
        ArgumentSpec value;
        for (const compiler::Member& member : type.members) {
            value.members.emplace_back(member.name,
                                       value_of(name + "_" + member.name, *member.type));
            if (is_union(type)) break;  // it gets one of its members
        }
        return value;
    }

    /// A kernel that gets numbers which it does not change computes its results from them, and one
    /// that does not changes numbers in place.
    bool has_input() const {
        return std::ranges::any_of(kernel_.parameters, [](const auto& parameter) {
            return parameter.type->kind == Type::Kind::pointer && parameter.type->target_is_const;
        });
    }

    ArgumentSpec pointer(const std::string& name, const Type& type) {
        if (is_function_pointer(type)) {
            guess(files::sentence("the function {}", name));
            return {};
        }
        if (file().find_buffer(name)) return {.text = name};
        const Type* const target = type.target.get();
        BufferSpec buffer{.name = free_name(name), .type = {}, .shape = shape()};
        guess(files::sentence("the size of {}", buffer.name));
        if (!target || target->bytes == 0) buffer.type = ElementType{};
        if (type.target_is_const || !has_input()) buffer.fill = numbers_of(target);
        if (fill_text(buffer.fill) != "0") guess(files::sentence("the numbers of {}", buffer.name));
        if (!type.target_is_const) file().show = buffer.name;
        const std::string own = buffer.name;
        file().buffers.push_back(std::move(buffer));
        return {.text = own};
    }

    ArgumentSpec texture(const std::string& name, const Type& type) {
        const auto& use = is_surface(type) ? kernel_.traits.surface : kernel_.traits.texture;
        if (!use || file().find_texture(name)) return {.text = name};
        guess(files::sentence("the texture {}", name));
        BufferSpec texels{.name = free_name(name + "_texels"),
                          .type = parse_element_type(use->number),
                          .shape = shape()};
        texels.type->lanes = use->lanes;
        if (use->dimensions == 1 && texels.shape.size() == 2)
            texels.shape.erase(texels.shape.begin());
        texels.fill = texels.type->is_real() ? Fill(RandomFill{}) : Expression("i % 100");
        file().textures.push_back({.name = name, .buffer = texels.name});
        file().buffers.push_back(std::move(texels));
        return {.text = name};
    }

    void add_variable(const compiler::ModuleVariable& variable) {
        BufferSpec buffer{.name = variable.name, .type = {}, .shape = {}};
        const Type* type = variable.type.get();
        for (; type && type->kind == Type::Kind::array; type = type->target.get())
            buffer.shape.emplace_back(std::to_string(type->count));
        const bool is_pointer = !type || type->kind == Type::Kind::pointer;
        if (is_pointer || buffer.shape.size() > 4 || file().find_buffer(variable.name)) return;
        if (buffer.shape.empty()) buffer.shape.emplace_back("1");
        buffer.fill = numbers_of(type);
        guess(files::sentence("the numbers of {}", variable.name));
        file().buffers.push_back(std::move(buffer));
    }

    /// The name, or a longer one that no buffer and no scalar has.
    std::string free_name(std::string name) {
        while (file().find_buffer(name) || has_scalar(name)) name += "_";
        return name;
    }

    /// An element for each column, or for each row and column.
    Texts shape() {
        add_scalar(width(), size());
        add_scalar(height(), size());
        return two() ? Texts{Expression(height()), Expression(width())}
                     : Texts{Expression(width())};
    }

    void set_shape(LaunchSpec& spec) {
        const bool squares = kernel_.traits.block_dimensions > 1;
        const std::int64_t threads = squares ? 16 : 256;
        const auto blocks = [&](const std::string& elements) {
            return Expression(fmt::format("({} + {}) / {}", elements, threads - 1, threads));
        };
        guess(files::sentence("the block"));
        guess(files::sentence("the grid"));
        spec.block.assign(squares ? 2 : 1, Expression(std::to_string(threads)));
        if (kernel_.traits.reads_block_index) (void)shape();
        if (!kernel_.traits.reads_block_index)
            spec.grid = {Expression("1")};
        else if (squares)
            spec.grid = {blocks(width()), blocks(height())};
        else if (kernel_.traits.grid_dimensions > 1)
            spec.grid = {blocks(width()), Expression(height())};
        else
            spec.grid = {blocks(two() ? width() + " * " + height() : width())};
        if (kernel_.traits.dynamic_shared == 0) return;
        guess(files::sentence("the shared memory"));
        spec.shared = Expression(fmt::format("256 * {}", kernel_.traits.dynamic_shared));
    }

    /// The buffers have rows.
    bool two() const {
        return sizes_.size() > 1 || kernel_.traits.block_dimensions > 1 ||
               kernel_.traits.grid_dimensions > 1;
    }
    Number size() const { return two() ? side : line; }
    const std::string& width() const { return sizes_[0]; }
    const std::string& height() const { return sizes_[sizes_.size() > 1 ? 1 : 0]; }

    const Signature& kernel_;
    ProposedLaunch made_;
    std::vector<std::string> sizes_;  ///< the scalars that give the shape of the buffers
};

}  // namespace

LaunchFile file_without_launches(const LaunchFile& file) {
    LaunchFile made;
    made.source = file.source;
    made.include = file.include;
    made.defines = file.defines;
    made.target = file.target;
    made.file = file.file;
    made.saved = false;
    made.built_in = file.built_in;
    return made;
}

ProposedLaunch propose_launch(LaunchFile file, const Signature& kernel,
                              std::span<const compiler::ModuleVariable> variables) {
    return Proposal(std::move(file), kernel).made(variables);
}

LaunchFile replace_launch(LaunchFile file, std::size_t index, const Signature& kernel,
                          std::span<const std::string> variables) {
    if (file.launches.size() > 1) {
        file = propose_launch(std::move(file), kernel).file;
        file.launches[index] = std::move(file.launches.back());
        file.launches.pop_back();
        return file;
    }
    LaunchFile anew = file_without_launches(file);
    for (BufferSpec& buffer : file.buffers)
        if (std::ranges::find(variables, buffer.name) != variables.end())
            anew.buffers.push_back(std::move(buffer));
    return propose_launch(std::move(anew), kernel).file;
}

}  // namespace warpscope::experiments
