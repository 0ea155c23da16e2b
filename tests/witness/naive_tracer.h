#pragma once

#include <array>
#include <bitset>
#include <map>
#include <regex>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "all_orders.h"

namespace warpscope::tests {

/// Follows values forwards, with a set of all instructions behind each register and each byte. It
/// reads the text of the PTX itself and knows nothing of slices, and of few opcodes.
class NaiveTracer {
  public:
    static constexpr std::uint64_t most_steps = 600;
    /// A bit for each lane of each step.
    using Origins = std::bitset<most_steps * 32>;
    static std::size_t bit_of(std::uint64_t step, unsigned lane) { return step * 32 + lane; }

    explicit NaiveTracer(emulator::Stepper& stepper) : stepper_(stepper) {
        const auto all = stepper.history().size();
        stepper.seek(0);
        find_branches();
        for (std::uint64_t step = 0; step < all; ++step) {
            const emulator::Step taken = stepper.history()[step];
            const auto [words, is_new] = words_.try_emplace(taken.pc);
            if (is_new) words->second = words_in(stepper.kernel().lines[taken.pc].text);
            execute(step, taken, words->second);
            stepper.seek(step + 1);
        }
    }
    /// Behind 4 bytes of global memory.
    Origins of_global(std::uint64_t address) const { return of_bytes('g', 0, address, 4); }
    /// The opcodes that it does not know; empty: all were known.
    const std::set<std::string>& unknown() const { return unknown_; }

  private:
    struct Words {
        std::string guard, opcode;
        std::vector<std::string> operands;
    };
    static Words words_in(std::string text) {
        Words words;
        std::smatch match;
        static const std::regex guard(R"(^\s*@!?(%\w+)\s+)"), opcode(R"(^\s*([\w.:]+)\s*)");
        if (std::regex_search(text, match, guard)) {
            words.guard = match[1];
            text = match.suffix();
        }
        if (std::regex_search(text, match, opcode)) {
            words.opcode = match[1];
            text = match.suffix();
        }
        int depth = 0;
        std::string operand;
        for (const char c : text + ",") {
            depth += (c == '{' || c == '[') - (c == '}' || c == ']');
            if ((c == ',' && depth == 0) || c == ';') {
                if (!operand.empty()) words.operands.push_back(operand);
                operand.clear();
            } else if (c != ' ' && c != '\t') {
                operand += c;
            }
        }
        return words;
    }
    static std::vector<std::string> registers_in(const std::string& operand) {
        static const std::regex name(R"(%[a-z]\w*(?![\w.]))");
        std::vector<std::string> found;
        for (std::sregex_iterator at(operand.begin(), operand.end(), name), end; at != end; ++at)
            found.push_back(at->str());
        return found;
    }
    std::uint64_t value(const std::string& name, std::uint32_t warp, unsigned lane) const {
        for (const auto& reg : stepper_.kernel().registers)
            if (reg.name == name) return stepper_.value(reg, warp, lane);
        return 0;
    }
    std::uint64_t address(const std::string& operand, std::uint32_t warp, unsigned lane) const {
        std::uint64_t sum = 0;
        for (const std::string& name : registers_in(operand)) sum += value(name, warp, lane);
        for (const auto& variable : stepper_.kernel().shared_variables)
            if (operand.find(variable.name) != operand.npos) sum += variable.offset;
        static const std::regex offset(R"(\+(-?\d+)\])");
        std::smatch match;
        if (std::regex_search(operand, match, offset)) sum += std::stoll(match[1]);
        return sum;
    }
    /// A generic address may be one of shared memory.
    static char make_plain(char space, std::uint64_t& address) {
        constexpr std::uint64_t generic_shared = 0xE000'0000'0000'0000;
        if (space != 'g' || address < generic_shared) return space;
        address -= generic_shared;
        return 's';
    }
    using Byte = std::tuple<char, std::uint32_t, std::uint64_t>;
    Origins of_bytes(char space, std::uint32_t thread, std::uint64_t from,
                     std::uint64_t count) const {
        Origins all;
        for (std::uint64_t k = 0; k < count; ++k)
            if (const auto found = bytes_.find({space, thread, from + k}); found != bytes_.end())
                all |= found->second;
        return all;
    }
    Origins& reg(std::uint32_t warp, unsigned lane, const std::string& name) {
        return registers_[{warp * 32 + lane, name}];
    }
    static std::uint64_t width(const std::string& opcode) {
        const std::size_t dot = opcode.rfind('.');
        return std::stoul(opcode.substr(dot + 2)) / 8;
    }

    void execute(std::uint64_t step, const emulator::Step& taken, const Words& words) {
        static const std::regex nothing(R"((bar|membar|fence|ret|exit)\b.*)");
        static const std::regex plain(
            R"((mov|add|sub|mul|mad|fma|shl|shr|and|or|xor|not|cvt|cvta|rem|div|setp|selp|min|max|addc)\b.*)");
        const auto starts = [&](const char* name) { return words.opcode.starts_with(name); };
        if (std::regex_match(words.opcode, nothing)) return;
        const auto lanes = [&](auto f) {
            for (unsigned lane = 0; lane < 32; ++lane)
                if (taken.mask >> lane & 1) f(lane);
        };
        const auto sources = [&](unsigned lane, unsigned of, std::size_t from, std::size_t to) {
            Origins all = decision(taken, lane);
            all.set(bit_of(step, lane));
            for (std::size_t k = from; k < std::min(to, words.operands.size()); ++k)
                for (const std::string& name : registers_in(words.operands[k])) {
                    const Origins& more = reg(taken.warp, of, name);
                    all |= more;
                }
            if (!words.guard.empty()) {
                const Origins& more = reg(taken.warp, lane, words.guard);
                all |= more;
            }
            return all;
        };
        const char space = words.opcode.find("shared") != words.opcode.npos  ? 's'
                           : words.opcode.find("local") != words.opcode.npos ? 'l'
                                                                             : 'g';
        if (starts("bra")) {
            if (!words.guard.empty())
                lanes([&](unsigned lane) {
                    branches_[{taken.warp * 32 + lane, taken.pc}] = {step,
                                                                     sources(lane, lane, 9, 9)};
                });
        } else if (starts("ld.param")) {
            lanes([&](unsigned lane) {
                for (const std::string& name : registers_in(words.operands[0]))
                    reg(taken.warp, lane, name) = sources(lane, lane, 9, 9);
            });
        } else if (starts("ld.")) {
            lanes([&](unsigned lane) {
                const auto names = registers_in(words.operands[0]);
                const std::uint64_t bytes = width(words.opcode);
                std::uint64_t from = address(words.operands[1], taken.warp, lane);
                const char in = make_plain(space, from);
                std::vector<Origins> results;
                for (std::size_t e = 0; e < names.size(); ++e) {
                    results.push_back(sources(lane, lane, 1, 2));
                    const Origins more = of_bytes(in, in == 'l' ? taken.warp * 32 + lane : 0,
                                                  from + e * bytes, bytes);
                    results.back() |= more;
                }
                for (std::size_t e = 0; e < names.size(); ++e)
                    reg(taken.warp, lane, names[e]) = results[e];
            });
        } else if (starts("st.")) {
            lanes([&](unsigned lane) {
                const auto names = elements_in(words.operands[1]);
                const std::uint64_t bytes = width(words.opcode);
                std::uint64_t to = address(words.operands[0], taken.warp, lane);
                const char in = make_plain(space, to);
                for (std::size_t e = 0; e < names.size(); ++e) {
                    Origins all = sources(lane, lane, 0, 1);
                    if (names[e][0] == '%') {
                        const Origins& more = reg(taken.warp, lane, names[e]);
                        all |= more;
                    }
                    for (std::uint64_t k = 0; k < bytes; ++k)
                        bytes_[{in, in == 'l' ? taken.warp * 32 + lane : 0, to + e * bytes + k}] =
                            all;
                }
            });
        } else if (starts("atom.") || starts("red.")) {
            const bool has_result = starts("atom.");
            lanes([&](unsigned lane) {
                std::uint64_t to = address(words.operands[has_result], taken.warp, lane);
                const char in = make_plain(space, to);
                Origins all = sources(lane, lane, has_result, 9);
                const Origins more = of_bytes(in, 0, to, width(words.opcode));
                all |= more;
                for (std::uint64_t k = 0; k < width(words.opcode); ++k)
                    bytes_[{in, 0, to + k}] = all;
                if (has_result && words.operands[0][0] == '%')
                    reg(taken.warp, lane, words.operands[0]) = all;
            });
        } else if (starts("shfl.sync.")) {
            std::array<Origins, 32> results;
            const auto names = registers_in(words.operands[0]);
            lanes(
                [&](unsigned lane) { results[lane] = shuffled(taken.warp, lane, words, sources); });
            lanes([&](unsigned lane) {
                for (const std::string& name : names) reg(taken.warp, lane, name) = results[lane];
            });
        } else if (std::regex_match(words.opcode, plain)) {
            lanes([&](unsigned lane) {
                const Origins all = sources(lane, lane, 1, 9);
                for (const std::string& name : registers_in(words.operands[0]))
                    reg(taken.warp, lane, name) = all;
            });
        } else {
            unknown_.insert(words.opcode);
        }
    }
    /// Shuffles of whole warps with all lanes in one segment.
    template <class Sources>
    Origins shuffled(std::uint32_t warp, unsigned lane, const Words& words,
                     const Sources& sources) {
        const auto& by = words.operands[2];
        const unsigned b = unsigned(by[0] == '%' ? value(by, warp, lane) : std::stoul(by));
        unsigned from = lane ^ b;
        if (words.opcode.find(".down.") != words.opcode.npos) from = lane + b;
        if (words.opcode.find(".up.") != words.opcode.npos) from = lane - b;
        if (words.opcode.find(".idx.") != words.opcode.npos) from = b;
        if (from > 31) from = lane;
        Origins all = sources(lane, from, 1, 2);
        const Origins more = sources(lane, lane, 2, 9);
        all |= more;
        return all;
    }
    static std::vector<std::string> elements_in(std::string operand) {
        std::vector<std::string> found;
        std::string element;
        for (const char c : operand + ",") {
            if (c == '{' || c == '}') continue;
            if (c != ',') {
                element += c;
                continue;
            }
            found.push_back(element);
            element.clear();
        }
        return found;
    }

    /// Of all branches that decide whether this instruction is executed, the newest one.
    Origins decision(const emulator::Step& taken, unsigned lane) const {
        const std::pair<std::uint64_t, Origins>* newest = nullptr;
        for (const std::uint32_t branch : deciders_.at(taken.pc)) {
            const auto found = branches_.find({taken.warp * 32 + lane, branch});
            if (found != branches_.end() && (!newest || found->second.first > newest->first))
                newest = &found->second;
        }
        return newest ? newest->second : Origins();
    }
    /// By the definition: an instruction depends on a branch if all paths to the end lead through
    /// it from one of the instructions behind the branch, and not from the branch.
    void find_branches() {
        const emulator::Kernel& kernel = stepper_.kernel();
        std::vector<std::uint32_t> pcs;
        for (std::uint32_t pc = 0; pc < kernel.lines.size(); ++pc)
            if (!kernel.lines[pc].pseudo && !kernel.lines[pc].text.empty()) pcs.push_back(pc);
        const auto ends = std::uint32_t(pcs.size());
        std::vector<std::vector<std::uint32_t>> next(ends);
        for (std::uint32_t k = 0; k < ends; ++k) {
            const Words words = words_in(kernel.lines[pcs[k]].text);
            const bool leaves = words.opcode == "ret" || words.opcode == "exit";
            const bool jumps = words.opcode.starts_with("bra");
            if (jumps) next[k].push_back(index_behind(words.operands[0], pcs));
            if (!words.guard.empty() || !(leaves || jumps)) next[k].push_back(k + 1);
            if (next[k].empty()) next[k].push_back(ends);
        }
        // Whether the end can be reached from an instruction without another one.
        const auto avoids = [&](std::uint32_t from, std::uint32_t without) {
            std::vector<bool> seen(ends + 1);
            std::vector<std::uint32_t> work;
            if (from != without) work.push_back(from);
            while (!work.empty()) {
                const std::uint32_t at = work.back();
                work.pop_back();
                if (at == ends) return true;
                if (seen[at]) continue;
                seen[at] = true;
                for (const std::uint32_t to : next[at])
                    if (to != without) work.push_back(to);
            }
            return false;
        };
        for (std::uint32_t k = 0; k < ends; ++k) {
            auto& deciders = deciders_[pcs[k]];
            for (std::uint32_t b = 0; b < ends; ++b) {
                if (next[b].size() < 2) continue;
                const bool one = !avoids(next[b][0], k), other = !avoids(next[b][1], k);
                if ((one || other) && !(one && other)) deciders.insert(pcs[b]);
            }
        }
    }
    /// The first instruction behind a label of the kernel.
    std::uint32_t index_behind(const std::string& label, const std::vector<std::uint32_t>& pcs) {
        const emulator::Kernel& kernel = stepper_.kernel();
        const std::string text = kernel.module->text();
        const std::size_t begin = text.find("entry " + kernel.name);
        const std::size_t at = text.find("\n" + label + ":", begin);
        const auto line = 2 + std::count(text.begin(), text.begin() + std::ptrdiff_t(at), '\n');
        for (std::uint32_t k = 0; k < pcs.size(); ++k)
            if (kernel.lines[pcs[k]].source.ptx_line >= line) return k;
        return std::uint32_t(pcs.size());
    }

    emulator::Stepper& stepper_;
    std::map<std::uint32_t, std::set<std::uint32_t>> deciders_;  ///< by pc: branches
    /// By thread and branch: the newest step of it, and what is behind that.
    std::map<std::pair<std::uint32_t, std::uint32_t>, std::pair<std::uint64_t, Origins>> branches_;
    std::map<std::pair<std::uint32_t, std::string>, Origins> registers_;
    std::map<Byte, Origins> bytes_;
    std::set<std::string> unknown_;
    std::map<std::uint32_t, Words> words_;  ///< by pc
};

}  // namespace warpscope::tests
