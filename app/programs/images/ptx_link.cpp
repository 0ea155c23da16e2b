// Source: PTX ISA, "Linking Directives", "Debugging Directives".

#include "programs/images/ptx_link.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <map>
#include <set>
#include <string_view>

#include "emulator/ptx/ptx_lexer.h"
#include "programs/images/ptx_entries.h"
#include "programs/images/status.h"

namespace warpscope::programs {
namespace {

using emulator::is_of_name;
using Tokens = std::vector<std::string_view>;

bool is_blank(std::string_view token) {
    return std::isspace(static_cast<unsigned char>(token[0])) || token.starts_with("//") ||
           token.starts_with("/*");
}

/// Where the token at the beginning of the text ends. Its parts are the whole text again: white
/// space and comments are tokens too.
std::size_t token_end(std::string_view text) {
    const auto behind = [&](std::string_view end, std::size_t from) {
        const std::size_t found = text.find(end, from);
        return found == text.npos ? text.size() : found + end.size();
    };
    if (text.starts_with("//")) return std::min(text.find('\n'), text.size());
    if (text.starts_with("/*")) return behind("*/", 2);
    if (text[0] == '"') return behind("\"", 1);
    std::size_t end = 1;
    if (is_of_name(text[0]) || text[0] == '.')
        while (end < text.size() && is_of_name(text[end])) ++end;
    return end;
}

/// A directive, variable or function at the top of a text.
struct Statement {
    Tokens tokens;
    std::string_view name;  ///< empty for a directive

    bool has(std::string_view word) const {
        return std::ranges::find(tokens, word) != tokens.end();
    }
    bool is_directive() const { return name.empty(); }
    bool is_declaration() const {
        return has(".extern") || (is_function() && tokens.back() == ";");
    }
    bool is_function() const { return has(".func") || has(".entry"); }
    bool is_local() const { return !has(".visible") && !has(".weak") && !has(".common"); }
};

bool ends_with_line(std::string_view word) {
    return word == ".version" || word == ".target" || word == ".address_size" || word == ".file";
}

/// The name of a function follows .func, the parentheses of its result, and .noreturn; that of a
/// variable stands before its size, value or end.
std::string_view name_of(const Statement& statement) {
    std::string_view name;
    int depth = 0;
    bool behind_kind = !statement.is_function();
    for (const std::string_view token : statement.tokens) {
        if (token == ".func" || token == ".entry") behind_kind = true;
        if (token == "(") ++depth;
        if (token == ")") --depth;
        if (depth == 0 && behind_kind && is_of_name(token[0])) {
            name = token;
            if (statement.is_function()) break;
        }
        if (token == "[" || token == "=") break;
    }
    return name;
}

std::vector<Statement> statements_of(std::string_view text) {
    std::vector<Statement> statements;
    Statement now;
    std::string_view first;  // the first word of `now`
    int depth = 0;
    while (!text.empty()) {
        const std::string_view token = text.substr(0, token_end(text));
        text.remove_prefix(token.size());
        now.tokens.push_back(token);
        if (first.empty() && !is_blank(token)) first = token;
        if (token == "{") ++depth;
        if (token == "}") --depth;
        const bool of_line = ends_with_line(first);
        const bool ends = depth == 0 && (of_line        ? token == "\n"
                                         : token == ";" ? true
                                         : token == "}" ? now.is_function() || now.has(".section")
                                                        : false);
        if (!ends && !text.empty()) continue;
        if (!of_line && !now.has(".section") && !first.empty()) now.name = name_of(now);
        statements.push_back(std::move(now));
        now = {};
        first = {};
    }
    return statements;
}

/// Writes a statement with other names and with file numbers that are `files` greater.
void write(const Statement& statement, const std::map<std::string_view, std::string>& names,
           unsigned files, std::string& to) {
    bool is_file_number = false;
    for (const std::string_view token : statement.tokens) {
        unsigned number = 0;
        const auto renamed = names.find(token);
        if (is_file_number && !is_blank(token) &&
            std::from_chars(token.data(), token.data() + token.size(), number).ec == std::errc())
            to += std::to_string(number + files);
        else
            to += renamed == names.end() ? token : std::string_view(renamed->second);
        if (!is_blank(token)) is_file_number = token == ".loc" || token == ".file";
    }
}

}  // namespace

std::string link_ptx(const std::vector<std::string>& texts) {
    if (texts.size() == 1) return texts[0];
    std::vector<std::vector<Statement>> all;
    std::set<std::string_view> defined;  // for all texts
    for (const std::string& text : texts)
        for (const Statement& s : all.emplace_back(statements_of(text)))
            if (!s.is_directive() && !s.is_declaration() && !s.is_local()) defined.insert(s.name);

    std::string linked;
    std::set<std::string_view> written;
    std::map<std::string_view, std::size_t> local;  // and the first text that has the name
    unsigned files = 0;
    for (std::size_t i = 0; i < all.size(); ++i) {
        std::map<std::string_view, std::string> names;
        unsigned files_here = 0;
        for (const Statement& s : all[i]) {
            if (s.has(".file")) ++files_here;
            if (s.is_directive() || s.has(".extern") || !s.is_local()) continue;
            if (defined.contains(s.name) || local.try_emplace(s.name, i).first->second != i)
                names[s.name] = std::string(s.name) + "_text" + std::to_string(i);
        }
        for (const Statement& s : all[i]) {
            const bool heads = s.has(".version") || s.has(".target") || s.has(".address_size");
            if (heads && i > 0) continue;
            if (s.has(".extern") && !s.has(".shared") &&
                (defined.contains(s.name) || !written.insert(s.name).second))
                continue;
            if (!s.is_directive() && !s.is_declaration() && !s.is_local() &&
                !written.insert(s.name).second) {
                if (s.has(".weak") || s.has(".common")) continue;
                throw CallError(Status::invalid_ptx,
                                std::string(s.name) + " is defined in two PTX texts");
            }
            write(s, names, files, linked);
        }
        files += files_here;
        linked += '\n';
    }
    return linked;
}

namespace {

struct DeviceFunction {
    std::string_view name;
    bool uses_heap;
    std::string_view text;
};

// Source: CUDA C++ Programming Guide, "Dynamic Global Memory Allocation"; CUDA Runtime API,
// "cudaGraphSetConditional". A piece of the heap begins with 16 bytes that hold its size. Numba
// calls the functions of Cooperative Groups; nvcc writes what grid.sync() does into a kernel.
constexpr DeviceFunction functions[] = {
    {"malloc", true, R"(
.func (.param .b64 result) malloc(.param .b64 bytes)
{
    .reg .pred %p<2>;
    .reg .b64 %rd<9>;
    ld.param.u64 %rd1, [bytes];
    ld.global.u64 %rd2, [$warpscope_heap];
    add.s64 %rd3, %rd1, 31;
    and.b64 %rd3, %rd3, -16;
    mov.u64 %rd8, 0;
    atom.global.add.u64 %rd4, [%rd2+8], %rd3;
    add.s64 %rd4, %rd4, %rd3;
    ld.global.u64 %rd5, [%rd2+16];
    setp.gt.u64 %p1, %rd4, %rd5;
    @%p1 bra full;
    atom.global.add.u64 %rd6, [%rd2], %rd3;
    st.global.u64 [%rd6], %rd3;
    add.s64 %rd8, %rd6, 16;
    bra done;
full:
    neg.s64 %rd7, %rd3;
    atom.global.add.u64 %rd4, [%rd2+8], %rd7;
done:
    st.param.b64 [result], %rd8;
    ret;
}
)"},
    {"free", true, R"(
.func free(.param .b64 pointer)
{
    .reg .pred %p<2>;
    .reg .b64 %rd<5>;
    ld.param.u64 %rd1, [pointer];
    setp.eq.u64 %p1, %rd1, 0;
    @%p1 bra done;
    ld.global.u64 %rd2, [$warpscope_heap];
    ld.global.u64 %rd3, [%rd1+-16];
    neg.s64 %rd3, %rd3;
    atom.global.add.u64 %rd4, [%rd2+8], %rd3;
done:
    ret;
}
)"},
    {"cudaGraphSetConditional", false, R"(
.func cudaGraphSetConditional(.param .b64 handle, .param .b32 value)
{
    .reg .b32 %r<2>;
    .reg .b64 %rd<2>;
    ld.param.u64 %rd1, [handle];
    ld.param.u32 %r1, [value];
    st.global.u32 [%rd1], %r1;
    ret;
}
)"},
    {"cudaCGGetIntrinsicHandle", false, R"(
.func (.param .b64 result) cudaCGGetIntrinsicHandle(.param .b32 scope)
{
    .reg .b32 %r<3>;
    .reg .b64 %rd<2>;
    mov.u32 %r1, %envreg2;
    mov.u32 %r2, %envreg1;
    mov.b64 %rd1, {%r1, %r2};
    st.param.b64 [result], %rd1;
    ret;
}
)"},
    {"cudaCGSynchronize", false, R"(
.func (.param .b32 result) cudaCGSynchronize(.param .b64 handle, .param .b32 flags)
{
    .reg .pred %p<4>;
    .reg .b32 %r<13>;
    .reg .b64 %rd<2>;
    ld.param.u64 %rd1, [handle];
    barrier.sync 0;
    mov.u32 %r1, %tid.x;
    mov.u32 %r2, %tid.y;
    mov.u32 %r3, %tid.z;
    or.b32 %r1, %r1, %r2;
    or.b32 %r1, %r1, %r3;
    setp.ne.u32 %p1, %r1, 0;
    @%p1 bra done;
    mov.u32 %r4, %nctaid.x;
    mov.u32 %r5, %nctaid.y;
    mov.u32 %r6, %nctaid.z;
    mul.lo.u32 %r4, %r4, %r5;
    mul.lo.u32 %r4, %r4, %r6;
    mov.u32 %r7, %ctaid.x;
    mov.u32 %r8, %ctaid.y;
    mov.u32 %r9, %ctaid.z;
    or.b32 %r7, %r7, %r8;
    or.b32 %r7, %r7, %r9;
    setp.eq.u32 %p2, %r7, 0;
    sub.u32 %r10, -2147483647, %r4;
    selp.b32 %r10, %r10, 1, %p2;
    atom.add.release.gpu.u32 %r11, [%rd1+4], %r10;
again:
    ld.acquire.gpu.u32 %r12, [%rd1+4];
    xor.b32 %r12, %r12, %r11;
    setp.ge.s32 %p3, %r12, 0;
    @%p3 bra again;
done:
    barrier.sync 0;
    st.param.b32 [result], 0;
    ret;
}
)"},
};

/// Whether a text declares a function that another module has.
bool declares(std::string_view ptx, std::string_view name) {
    constexpr std::string_view declaration = ".extern .func";
    for (std::size_t at = ptx.find(declaration); at != ptx.npos;
         at = ptx.find(declaration, at + declaration.size())) {
        const std::string_view head = ptx.substr(at, ptx.find(';', at) - at);
        for (std::size_t found = head.find(name); found != head.npos;
             found = head.find(name, found + 1)) {
            const std::size_t end = found + name.size();
            if (!is_of_name(head[found - 1]) && (end == head.size() || !is_of_name(head[end])))
                return true;
        }
    }
    return false;
}

}  // namespace

std::string with_device_functions(std::string ptx) {
    std::string more;
    bool uses_heap = false;
    for (const DeviceFunction& function : functions)
        if (declares(ptx, function.name)) {
            more += function.text;
            uses_heap |= function.uses_heap;
        }
    if (uses_heap) ptx.append("\n.global .align 8 .u64 ").append(heap_variable).append(";\n");
    return ptx + more;
}

}  // namespace warpscope::programs
