#include "emulator/happens_before/observed_writes.h"

namespace warpscope::emulator {

void ObservedWrites::write(std::uint64_t address, bool updates, std::uint32_t writer) {
    Word& word = words_[address];
    if (!updates || word.newest.empty()) {
        word.newest = {newest_, newest_};
        return;
    }
    const auto own = word.readings.find(writer);
    const bool has_read_all = own != word.readings.end() && own->second.back().chain == word.newest;
    word.newest.last = newest_;
    if (has_read_all) own->second.back().chain = word.newest;
}

bool ObservedWrites::read(std::uint64_t address, std::uint32_t reader, std::uint32_t time) {
    const auto word = words_.find(address);
    if (word == words_.end() || word->second.newest.empty()) return false;
    const Chain& chain = word->second.newest;
    std::vector<Reading>& readings = word->second.readings[reader];
    if (!readings.empty()) {
        Reading& last = readings.back();
        if (last.chain == chain) return false;
        if (last.time == time && last.chain.first == chain.first) {
            last.chain = chain;
            return true;
        }
    }
    readings.push_back({time, chain});
    return true;
}

// Where the writer has observed all earlier writes, what comes after this one comes after them, and
// what does not races with this one: the other readers need not be known any more.
void ObservedWrites::overwrite(std::uint64_t address, std::uint32_t bytes, std::uint32_t reader,
                               std::uint32_t time) {
    for (std::uint64_t byte = address; byte < address + bytes; ++byte) {
        const auto found = words_.find(byte);
        if (found == words_.end()) continue;
        Word& word = found->second;
        const auto own = word.readings.find(reader);
        if (own != word.readings.end() && !word.newest.empty() &&
            own->second.back().chain == word.newest) {
            const Chain all{1, word.newest.last};
            word.readings.clear();
            word.readings[reader] = {{time, all}};
        }
        word.newest = {};
    }
}

}  // namespace warpscope::emulator
