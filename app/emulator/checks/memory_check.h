#pragma once

#include <map>
#include <vector>

#include "emulator/checks/findings.h"
#include "emulator/machine/observer.h"

namespace warpscope::emulator {

// Finds reads of global memory that nothing has written since it was allocated, and notes the wild
// access that ends a launch. Knows the allocations that it has been told of; other memory counts as
// written.
class MemoryCheck : public Observer {
  public:
    std::vector<Finding> findings() const { return log_.findings(); }

    void on_launch(const Kernel& kernel, const Launch& launch) override {
        places_.begin(kernel, launch);
        log_.begin_launch();
    }
    void on_block_begin(const Kernel&, uint32_t block) override { log_.begin_block(block); }
    bool wants_instructions() const override { return false; }
    void on_global_access(const Access& access) override;
    void on_error(uint32_t block, const Error& error) override;
    void on_allocate(uint64_t address, size_t bytes) override;
    void on_free(uint64_t address) override;
    void on_host_write(uint64_t address, size_t bytes) override;

  private:
    struct Region {
        uint64_t begin = 1, end = 0;
        std::vector<uint8_t> written;  // by 4-byte word, a bit for each byte
    };

    Region* find(uint64_t address, size_t bytes);
    // The bytes' bits, word after word: f(mask of the word, bits of these bytes).
    template <typename F>
    static void for_words(Region& region, uint64_t address, size_t bytes, F&& f);
    void report(const Access& access, unsigned lane, const Region& region);

    FindingLog log_;
    Places places_;
    std::map<uint64_t, Region> regions_;  // by begin
    Region* newest_ = nullptr;            // the one found last
};

}  // namespace warpscope::emulator
