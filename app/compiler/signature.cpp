#include "compiler/signature.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <map>
#include <set>
#include <unordered_map>
#include <utility>

#include "compiler/debug_scopes.h"
#include "compiler/dwarf.h"
#include "compiler/type_reader.h"
#include "files/text.h"

namespace warpscope::compiler {
namespace {

/// Facts about a function that the text of the PTX states.
struct FunctionText {
    std::string name;
    std::size_t parameters = 0;
    /// The numbers of the files whose statements read threadIdx.y or .z, and of those that read
    /// blockIdx.y or .z.
    std::set<std::uint64_t> block_rows{}, grid_rows{};
    std::set<std::string> dynamic_shared{};  ///< arrays that its statements name
};

struct PtxText {
    std::vector<FunctionText> entries;
    /// Variables of the module; the value says whether one is constant and has no initial value.
    std::map<std::string, bool> variables;
    /// The files of .file directives, by number.
    std::unordered_map<std::uint64_t, std::string> files;
    std::set<std::string, std::less<>> dynamic_shared;  ///< arrays
};

constexpr std::string_view blanks = " \t\r";

/// Removes and returns the first word of a line.
std::string_view take_word(std::string_view& line) {
    line.remove_prefix(std::min(line.find_first_not_of(blanks), line.size()));
    const std::string_view word = line.substr(0, line.find_first_of(" \t\r(;"));
    line.remove_prefix(word.size());
    return word;
}

std::size_t parameters_of(std::string_view list) {
    constexpr std::string_view parameter = ".param";
    std::size_t count = 0;
    list = list.substr(0, list.find(')'));
    for (std::size_t at = 0; (at = list.find(parameter, at)) != std::string_view::npos;
         at += parameter.size())
        ++count;
    return count;
}

/// A line of the form: .file 1 "kernels/own.cu"
void read_file(std::string_view line, PtxText& to) {
    const std::string_view number = take_word(line);
    std::uint64_t value = 0;
    std::from_chars(number.data(), number.data() + number.size(), value);
    const std::size_t open = line.find('"'), close = line.rfind('"');
    if (open != close) to.files[value] = line.substr(open + 1, close - open - 1);
}

/// Returns "taps" for: .align 4 .b8 taps[20];
std::string_view variable_name(std::string_view declaration) {
    declaration = declaration.substr(0, declaration.find_first_of("[=;"));
    declaration = declaration.substr(0, declaration.find_last_not_of(blanks) + 1);
    return declaration.substr(declaration.find_last_of(blanks) + 1);
}

/// Adds the operands of a statement that may be names: not registers and not numbers.
void add_names(std::string_view operands, std::set<std::string_view>& to) {
    constexpr std::string_view around = " \t\r,;[](){}+=";
    while (!operands.empty()) {
        const std::size_t end = std::min(operands.find_first_of(around), operands.size());
        const std::string_view name = operands.substr(0, end);
        const bool is_number = !name.empty() && name.front() >= '0' && name.front() <= '9';
        if (!name.empty() && !is_number && name.front() != '%') to.insert(name);
        operands.remove_prefix(std::min(end + 1, operands.size()));
    }
}

/// Reads a line whose last operand may be an index or an array: mov.u32 %r1, %tid.x;
void read_move(std::string_view line, std::uint64_t file, const PtxText& text, FunctionText& to) {
    std::string_view source = line.substr(line.rfind(',') + 1);
    source.remove_prefix(std::min(source.find_first_not_of(blanks), source.size()));
    source = source.substr(0, source.find_first_of("; +\t"));
    if (source == "%tid.y" || source == "%tid.z") to.block_rows.insert(file);
    if (source == "%ctaid.y" || source == "%ctaid.z") to.grid_rows.insert(file);
    if (text.dynamic_shared.contains(source)) to.dynamic_shared.emplace(source);
}

PtxText read_text(std::string_view ptx) {
    PtxText text;
    bool in_entry = false;
    std::uint64_t file = 0;  // the file of the newest .loc
    while (!ptx.empty()) {
        const std::size_t end = std::min(ptx.find('\n'), ptx.size());
        std::string_view line = ptx.substr(0, end);
        std::string_view word = take_word(line);
        while (word == ".visible" || word == ".weak") word = take_word(line);
        if (word == ".file") read_file(line, text);
        if (word == ".loc") {
            const std::string_view number = take_word(line);
            std::from_chars(number.data(), number.data() + number.size(), file);
        }
        if (word == ".extern" && take_word(line) == ".shared")
            text.dynamic_shared.emplace(variable_name(line));
        if (word == ".func") in_entry = false;
        if (word.starts_with("mov.") && in_entry) read_move(line, file, text, text.entries.back());
        if (word == ".global" || word == ".const")
            text.variables[std::string(variable_name(line))] =
                word == ".const" && line.find('=') == std::string_view::npos;
        if (word == ".entry") {
            const std::string name(take_word(line));
            const auto list = std::size_t(line.data() - ptx.data());
            text.entries.push_back({name, parameters_of(ptx.substr(list))});
            in_entry = true;
        }
        ptx.remove_prefix(std::min(end + 1, ptx.size()));
    }
    return text;
}

class SignatureReader {
  public:
    explicit SignatureReader(std::string_view ptx) : text_(read_text(ptx)), info_(ptx) {
        for (const DebugEntry& entry : info_.entries()) {
            if (entry.tag != DebugTag::subprogram) continue;
            const DebugEntry& named = named_by(entry);
            // The definition comes after a declaration and replaces it here, because it has the
            // names of the parameters.
            functions_[ptx_name(named)] = {&entry, &named};
        }
    }

    std::vector<ModuleVariable> read_variables() {
        std::map<std::string, const DebugEntry*> found;  // indexed by the name in the PTX
        const auto add = [&](const DebugEntry& entry) {
            if (entry.tag != DebugTag::variable) return;
            const DebugEntry& named = named_by(entry);
            if (text_.variables.contains(ptx_name(named))) found[ptx_name(named)] = &named;
        };
        // A local variable can have the name of a variable of the module, but only that of the
        // module is a child of its unit or of a namespace.
        for (const DebugEntry& entry : info_.entries())
            if (entry.tag == DebugTag::compile_unit || entry.tag == DebugTag::name_space)
                for (const std::size_t child : entry.children) add(info_.entries()[child]);
        std::vector<ModuleVariable> variables;
        for (const auto& [name, entry] : found)
            variables.push_back(
                {unqualified(*entry), name, types_.read(entry->type), text_.variables.at(name)});
        return variables;
    }

    DebugScopes read_scopes() {
        DebugScopes found;
        for (const DebugEntry& entry : info_.entries()) {
            const bool is_outer =
                entry.tag == DebugTag::compile_unit || entry.tag == DebugTag::name_space;
            if (is_outer) add_variables(entry, {}, found);
            // What was inlined everywhere has no lines.
            if (entry.tag == DebugTag::subprogram)
                add_scope(entry,
                          {.low = std::max<std::uint64_t>(1, entry.low),
                           .high = std::max<std::uint64_t>(1, entry.high)},
                          found);
        }
        found.texts = info_.texts();
        return found;
    }

    std::vector<Signature> read() {
        using Place = std::pair<std::uint64_t, int>;
        std::vector<std::pair<Place, Signature>> found;
        for (const FunctionText& entry : text_.entries) {
            const auto function = functions_.find(entry.name);
            if (function == functions_.end())
                throw DebugInfoError(fmt::format("it has nothing about {}", entry.name));
            const DebugEntry& named = *function->second.named;
            found.push_back({{named.file, named.line}, signature(entry, function->second)});
        }
        std::stable_sort(found.begin(), found.end(),
                         [](const auto& a, const auto& b) { return a.first < b.first; });
        std::vector<Signature> signatures;
        for (auto& [place, signature] : found) signatures.push_back(std::move(signature));
        return signatures;
    }

  private:
    struct Function {
        const DebugEntry *definition, *named;
    };

    const DebugEntry& named_by(const DebugEntry& entry) const {
        return entry.declaration ? info_.at(*entry.declaration) : entry;
    }
    /// Returns "taps" for taps and for lib::taps, whose name NVRTC mangles.
    static std::string unqualified(const DebugEntry& variable) {
        const std::string nested = nested_name(variable.name);
        return nested.empty() ? variable.name : nested.substr(nested.rfind("::") + 2);
    }
    static const std::string& ptx_name(const DebugEntry& entry) {
        return entry.linkage_name.empty() ? entry.name : entry.linkage_name;
    }

    /// Adds the variables of a scope, behind those of the scopes in it. Parameters have their
    /// values where the body begins.
    void add_scope(const DebugEntry& scope, const DebugVariable& like, DebugScopes& to) {
        std::uint64_t body = like.low;
        for (const std::size_t child : scope.children) {
            const DebugEntry& inner = info_.entries()[child];
            const bool is_inlined = inner.tag == DebugTag::inlined_subroutine;
            if (!is_inlined && inner.tag != DebugTag::lexical_block) continue;
            DebugVariable of_inner = like;
            if (inner.high > inner.low) {
                of_inner.low = inner.low;
                of_inner.high = inner.high;
            }
            of_inner.inlined += is_inlined;
            add_scope(inner, of_inner, to);
            if (is_inlined)
                to.inlined.push_back(
                    {function_of(inner), of_inner.low, of_inner.high, int(inner.file), inner.line});
            else if (scope.tag == DebugTag::subprogram && body == like.low)
                body = of_inner.low;
        }
        add_variables(scope, {.low = body, .high = like.high, .inlined = like.inlined}, to);
    }

    void add_variables(const DebugEntry& scope, const DebugVariable& like, DebugScopes& to) {
        for (const std::size_t child : scope.children) {
            const DebugEntry& entry = info_.entries()[child];
            if (entry.tag != DebugTag::variable && entry.tag != DebugTag::formal_parameter)
                continue;
            const DebugEntry& named = named_by(entry);
            DebugVariable one = like;
            one.type = types_.read(named.type);
            if (!one.type || named.name.empty()) continue;
            one.name = unqualified(named);
            one.entry = ptx_name(named);
            one.line = named.line;
            one.places = entry.places;
            to.variables.push_back(std::move(one));
        }
    }

    std::string function_of(const DebugEntry& inlined) const {
        return readable_name(named_by(inlined).name);
    }

    static bool has_parameter(const Signature& kernel, const std::string& name) {
        return std::ranges::find(kernel.parameters, name, &KernelParameter::name) !=
               kernel.parameters.end();
    }

    Signature signature(const FunctionText& entry, const Function& function) {
        Signature made;
        made.entry = entry.name;
        made.name = name_of(entry.name, *function.named);
        made.traits = traits(entry);
        made.line = function.named->line;
        if (const auto file = text_.files.find(function.named->file); file != text_.files.end())
            made.file = file->second;
        for (const std::size_t child : function.definition->children) {
            const DebugEntry& parameter = info_.entries()[child];
            if (parameter.tag != DebugTag::formal_parameter) continue;
            // Those of a parameter pack all have the name of the pack.
            std::string name = parameter.name;
            for (int k = 2; !name.empty() && has_parameter(made, name); ++k)
                name = fmt::format("{}_{}", parameter.name, k);
            made.parameters.push_back({std::move(name), types_.read(parameter.type)});
            if (!made.parameters.back().type)
                throw DebugInfoError(fmt::format("a parameter of {} has no type", made.name));
        }
        if (made.parameters.size() != entry.parameters)
            throw DebugInfoError(fmt::format("it has {} parameters of {}, the PTX has {}",
                                             made.parameters.size(), made.name, entry.parameters));
        return made;
    }

    /// Reads in headers of the toolkit do not count: cooperative groups read all indices.
    bool has_rows(const std::set<std::uint64_t>& files) const {
        return std::ranges::any_of(files, [&](std::uint64_t file) {
            const auto known = text_.files.find(file);
            return known == text_.files.end() ||
                   !known->second.starts_with("cuda/");  // see portable_ptx()
        });
    }

    LaunchTraits traits(const FunctionText& entry) {
        LaunchTraits made{.block_dimensions = has_rows(entry.block_rows) ? 2 : 1,
                          .grid_dimensions = has_rows(entry.grid_rows) ? 2 : 1};
        for (const DebugEntry& variable : info_.entries()) {
            if (variable.tag != DebugTag::variable) continue;
            const std::string& name = ptx_name(named_by(variable));
            if (!entry.dynamic_shared.contains(name)) continue;
            const auto type = types_.read(named_by(variable).type);
            if (type && type->target)
                made.dynamic_shared = std::max(made.dynamic_shared, type->target->bytes);
        }
        return made;
    }

    /// Returns "lib::reduce<256, float>": the namespaces of the mangled name, and the name with the
    /// arguments of a template.
    static std::string name_of(std::string_view entry, const DebugEntry& function) {
        const std::string name = readable_name(function.name);
        const std::string nested = nested_name(entry);
        const std::size_t last = nested.rfind("::");
        return last == std::string::npos ? name : nested.substr(0, last + 2) + name;
    }

    PtxText text_;
    DebugInfo info_;
    TypeReader types_{info_};
    std::unordered_map<std::string, Function> functions_;
};

template <class Read>
auto from_debug_info(std::string_view ptx, Read read) {
    try {
        SignatureReader reader(ptx);
        return read(reader);
    } catch (const DebugInfoError& error) {
        throw DebugInfoError(
            fmt::format("the debug information of the PTX can't be read: {}", error.what()));
    }
}

}  // namespace

std::vector<Signature> read_signatures(std::string_view ptx) {
    return from_debug_info(ptx, [](SignatureReader& reader) { return reader.read(); });
}

DebugScopes read_scopes(std::string_view ptx) {
    return from_debug_info(ptx, [](SignatureReader& reader) { return reader.read_scopes(); });
}

std::vector<ModuleVariable> read_variables(std::string_view ptx) {
    return from_debug_info(ptx, [](SignatureReader& reader) { return reader.read_variables(); });
}

std::vector<std::string> changing_variables(std::string_view ptx) {
    std::set<std::string_view> declared, named;
    while (!ptx.empty()) {
        std::string_view rest = files::take_line(ptx);
        std::string_view word = take_word(rest);
        while (word == ".visible" || word == ".weak") word = take_word(rest);
        if (word == ".section") break;  // debug information names every variable
        if (word == ".global") {
            declared.insert(variable_name(rest));
            rest.remove_prefix(std::min(rest.find('='), rest.size()));
            add_names(rest, named);
        } else if (!word.starts_with('.') && !word.starts_with("//")) {
            add_names(rest, named);
        }
    }
    std::vector<std::string> both;
    for (const std::string_view name : declared)
        if (named.contains(name)) both.emplace_back(name);
    return both;
}

}  // namespace warpscope::compiler
