#include "emulator/slice/parting.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <map>
#include <tuple>

#include "emulator/ptx/opcodes.h"
#include "emulator/slice/kernel_statements.h"
#include "emulator/witness/schedule_file.h"

namespace warpscope::emulator {

namespace {

using Kind = SliceSource::Kind;

/// An instruction by what it is in every run: its thread, its place and its number.
using Identity = std::tuple<std::uint32_t, std::uint32_t, std::uint32_t, std::uint32_t>;

Identity identity(const SliceNode& node) {
    return {node.warp, node.lane, node.pc, node.executions};
}

bool same(const SliceSource& a, const Slice& of_a, const SliceSource& b, const Slice& of_b) {
    if (a.kind != b.kind) return false;
    if (a.kind != Kind::instruction) return a.at == b.at;
    return identity(of_a.nodes[a.at]) == identity(of_b.nodes[b.at]);
}

/// Whether the source is memory, or what has written it.
bool is_memory(const Kernel& kernel, const Slice& slice, const SliceSource& source) {
    if (source.kind != Kind::instruction)
        return source.kind == Kind::shared || source.kind == Kind::global;
    const std::uint32_t pc = slice.nodes[source.at].pc;
    const MemoryAccess access = kernel.lines[pc].access;
    return access == MemoryAccess::store || access == MemoryAccess::atomic ||
           opcode_of(kernel.code[pc].operation).kind == OpcodeKind::asynchronous;
}

/// `kernel`: only sources in memory count; null: all do.
std::optional<SliceSource> first_only_in(const std::vector<SliceSource>& some, const Slice& of_some,
                                         const std::vector<SliceSource>& others,
                                         const Slice& of_others, const Kernel* kernel) {
    for (const SliceSource& source : some)
        if ((!kernel || is_memory(*kernel, of_some, source)) &&
            std::ranges::none_of(others, [&](const SliceSource& other) {
                return same(source, of_some, other, of_others);
            }))
            return source;
    return {};
}

std::optional<Parting> parting_at(std::optional<std::uint32_t> node, const Slice& slice,
                                  const std::vector<SliceSource>& sources, const Slice& right,
                                  const std::vector<SliceSource>& of_right, const Kernel* kernel) {
    Parting parting{node, first_only_in(sources, slice, of_right, right, kernel),
                    first_only_in(of_right, right, sources, slice, kernel)};
    if (!parting.source && !parting.right) return {};
    return parting;
}

/// A node of a run with the words for it.
struct Party {
    const Kernel& kernel;
    const SliceNode& node;
    const Dim3& block;

    std::string thread() const {
        return fmt::format("thread {}", thread_words(block, node.warp, node.lane));
    }
    std::string whole() const { return fmt::format("{} of warp {}", thread(), node.warp); }
    std::string place() const { return users_place(kernel, node.pc); }
    bool is_copy() const {
        return kernel.lines[node.pc].access == MemoryAccess::none && kernel.is_asynchronous;
    }
    /// Names the node's thread for a reader of its warp, else its warp.
    std::string seen_by(const SliceNode& reader) const {
        return reader.warp == node.warp ? thread() : fmt::format("warp {}", node.warp);
    }
    std::string wrote(const std::string& who) const {
        return is_copy() ? "the copy of " + who + " landed" : who + " wrote";
    }
    std::string wrote_it(const std::string& who) const {
        return is_copy() ? fmt::format("the copy that {} had started ({}) landed", who, place())
                         : fmt::format("{} wrote it ({})", who, place());
    }
};

/// Which memory a load reads: "shared memory", "byte 64 of shared memory".
std::string memory_words(const SlicedRun& run, const SliceNode& node) {
    for (const TracedAccess& access : run.trace.accesses(node.step))
        if (access.mask >> node.lane & 1)
            return access.space == Space::shared
                       ? fmt::format("word {} of shared memory", access.addresses[node.lane] / 4)
                       : "global memory";
    return "memory";
}

class Sentences {
  public:
    Sentences(const Parting& parting, const SlicedRun& run, const SlicedRun& right,
              const Dim3& block)
        : parting_(parting), run_(run), right_(right), block_(block) {}

    PartingWords words() const {
        if (!parting_.node) return last_store();
        const SliceNode& node = run_.slice.nodes[*parting_.node];
        const MemoryAccess access = run_.trace.kernel().lines[node.pc].access;
        const bool reads = access == MemoryAccess::load || access == MemoryAccess::atomic;
        const auto is_memory = [](const std::optional<SliceSource>& s) {
            return !s || s->kind == Kind::instruction || s->kind == Kind::shared ||
                   s->kind == Kind::global;
        };
        if (reads && is_memory(parting_.source) && is_memory(parting_.right))
            return memory(node, access == MemoryAccess::atomic ? "updated" : "read");
        return other_way(node);
    }

  private:
    Party of_run(const SliceNode& node) const { return {run_.trace.kernel(), node, block_}; }
    const SliceNode* wrong_source() const {
        return parting_.source && parting_.source->kind == Kind::instruction
                   ? &run_.slice.nodes[parting_.source->at]
                   : nullptr;
    }
    const SliceNode* right_source() const {
        return parting_.right && parting_.right->kind == Kind::instruction
                   ? &right_.slice.nodes[parting_.right->at]
                   : nullptr;
    }

    PartingWords last_store() const {
        const SliceNode *mine = wrong_source(), *other = right_source();
        const std::string who = mine ? of_run(*mine).thread() : "nobody";
        const std::string instead = other ? of_run(*other).thread() : "nobody";
        if (mine && other && who == instead) {
            const std::string brief =
                fmt::format("{} stored it last at {}, in the right run at {}", who,
                            of_run(*mine).place(), of_run(*other).place());
            return {brief, capital(brief) + "."};
        }
        PartingWords words{fmt::format("{} stored it last, not {}", who, instead), {}};
        words.whole = capital(words.brief);
        if (mine) words.whole += fmt::format(" ({})", of_run(*mine).place());
        words.whole += ".";
        return words;
    }

    PartingWords memory(const SliceNode& reader, const char* did) const {
        const Party by = of_run(reader);
        const SliceNode *mine = wrong_source(), *other = right_source();
        PartingWords words;
        std::string when;
        if (other && comes_later(*other, reader)) {
            const Party writer = of_run(*other);
            words.brief = fmt::format("{} {} before {}", by.thread(), did,
                                      writer.wrote(writer.seen_by(reader)));
            when = "before " + writer.wrote_it(writer.whole());
        } else if (mine) {
            const Party writer = of_run(*mine);
            words.brief = fmt::format("{} {} after {}", by.thread(), did,
                                      writer.wrote(writer.seen_by(reader)));
            when = "after " + writer.wrote_it(writer.whole());
        } else if (other) {
            const Party writer = of_run(*other);
            words.brief =
                fmt::format("{} {} what {} never wrote", by.thread(), did, writer.seen_by(reader));
            when = fmt::format("although {} never wrote it in this order ({})", writer.whole(),
                               writer.place());
        }
        words.whole = fmt::format("{} {} {} at {} {}.", capital(by.whole()), did,
                                  memory_words(run_, reader), by.place(), when);
        if (parting_.source && !mine) words.whole += " It got what was there before this block.";
        if (mine && other) {
            const Party got = of_run(*mine);
            words.whole +=
                fmt::format(" It got what {} had written ({}).", got.whole(), got.place());
        }
        return words;
    }

    /// Whether this run executes the instruction after the reader.
    bool comes_later(const SliceNode& writer, const SliceNode& reader) const {
        const auto step =
            run_.trace.step_of(writer.warp, writer.lane, writer.pc, writer.executions);
        if (!step) return false;
        if (*step > reader.step) return true;
        // A copy that was started before may have landed later.
        return of_run(writer).is_copy();
    }

    PartingWords other_way(const SliceNode& node) const {
        const Party by = of_run(node);
        return {fmt::format("{} took another way to {}", by.thread(), by.place()),
                fmt::format("{} executes {} with operands that come from other instructions than "
                            "in the right run.",
                            capital(by.whole()), by.place())};
    }

    const Parting& parting_;
    const SlicedRun &run_, &right_;
    const Dim3& block_;
};

}  // namespace

std::optional<Parting> where_they_part(const Kernel& kernel, const Slice& slice,
                                       const Slice& right) {
    std::map<Identity, const SliceNode*> of_right;
    for (const SliceNode& node : right.nodes) of_right[identity(node)] = &node;
    for (const Kernel* only_memory : {&kernel, static_cast<const Kernel*>(nullptr)}) {
        // The latest nodes come first.
        for (std::size_t k = slice.nodes.size(); k-- > 0;) {
            const auto other = of_right.find(identity(slice.nodes[k]));
            if (other == of_right.end()) continue;
            if (const auto found = parting_at(std::uint32_t(k), slice, slice.nodes[k].sources,
                                              right, other->second->sources, only_memory))
                return found;
        }
        if (const auto found = parting_at({}, slice, slice.bytes, right, right.bytes, only_memory))
            return found;
    }
    return {};
}

PartingWords words_of(const Parting& parting, const SlicedRun& run, const SlicedRun& right,
                      const Dim3& block) {
    return Sentences(parting, run, right, block).words();
}

std::optional<PartingWriter> writer_of(const Parting& parting, const SlicedRun& run,
                                       const SlicedRun& right) {
    const auto of = [&](const std::optional<SliceSource>& source,
                        const Slice& in) -> std::optional<PartingWriter> {
        if (!source || source->kind != Kind::instruction) return {};
        const SliceNode& node = in.nodes[source->at];
        return PartingWriter{node.warp, node.lane, node.pc,
                             run.trace.step_of(node.warp, node.lane, node.pc, node.executions)};
    };
    if (const auto writer = of(parting.right, right.slice)) return writer;
    return of(parting.source, run.slice);
}

std::string capital(std::string text) {
    if (!text.empty() && text[0] >= 'a' && text[0] <= 'z') text[0] = char(text[0] - 'a' + 'A');
    return text;
}

std::string thread_words(const Dim3& block, std::uint32_t warp, std::uint32_t lane) {
    const Dim3 at = index_in(block, warp * 32 + lane);
    if (block.z > 1) return fmt::format("({},{},{})", at.x, at.y, at.z);
    if (block.y > 1) return fmt::format("({},{})", at.x, at.y);
    return fmt::format("{}", at.x);
}

std::string value_words(const Kernel& kernel, const SliceNode& node) {
    const RegisterInfo* reg = KernelStatements(kernel).shown_register(node.pc);
    if (!reg) return {};
    if (reg->is_float && reg->bits == 64)
        return fmt::format("{:.6g}", std::bit_cast<double>(node.value));
    if (reg->is_float)
        return fmt::format("{:.6g}", std::bit_cast<float>(std::uint32_t(node.value)));
    // Most integers of 64 bits are addresses, which say nothing.
    if (reg->bits == 64) return {};
    return fmt::format(
        "{}", reg->bits == 32 ? std::int32_t(node.value) : std::int32_t(node.value & 0xFFFF));
}

std::string node_words(const Kernel& kernel, const SliceNode& node) {
    std::string text = kernel.lines[node.pc].text;
    for (char& c : text)
        if (c == '\t' || c == '\n') c = ' ';
    const auto twice = [](char a, char b) { return a == ' ' && b == ' '; };
    text.erase(std::unique(text.begin(), text.end(), twice), text.end());
    const std::string value = value_words(kernel, node);
    return fmt::format("warp {} lane {}  {}  {}{}", node.warp, node.lane,
                       users_place(kernel, node.pc), text, value.empty() ? "" : " = " + value);
}

std::string source_words(const Kernel& kernel, const SliceSource& source) {
    switch (source.kind) {
        case Kind::parameter:
            for (std::size_t k = 0; k < kernel.parameters.size(); ++k)
                if (kernel.parameters[k].offset == source.at)
                    return fmt::format("argument {} of the kernel", k + 1);
            return "an argument of the kernel";
        case Kind::special:
            return std::string(special_name(Special(source.at)));
        case Kind::global:
            return "global memory from before the block";
        case Kind::shared:
            return fmt::format("word {} of shared memory, which the block had not written",
                               source.at / 4);
        case Kind::local:
            return "local memory that the thread had not written";
        case Kind::image:
            return "a texture";
        case Kind::threads:
            return "what other threads have done";
        case Kind::undefined:
            return "a register that nothing has written";
        case Kind::instruction:
            break;
    }
    return {};
}

}  // namespace warpscope::emulator
