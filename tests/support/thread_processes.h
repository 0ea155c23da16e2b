#pragma once

#include <barrier>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "compute/ranks/processes.h"

namespace warpscope::tests {

/// Threads of this process in the place of processes that mpirun has started.
class ThreadProcesses : public compute::Processes {
  public:
    /// All of them; each is for one thread.
    static std::vector<std::shared_ptr<compute::Processes>> make(int count) {
        const auto shared = std::make_shared<Shared>(count);
        std::vector<std::shared_ptr<compute::Processes>> all;
        for (int i = 0; i < count; ++i)
            all.push_back(std::shared_ptr<compute::Processes>(new ThreadProcesses(shared, i)));
        return all;
    }

    int index() const override { return index_; }
    int count() const override { return int(shared_->bytes.size()); }
    int index_on_host() const override { return index_; }
    int count_on_host() const override { return count(); }
    std::string version() const override { return "threads"; }
    std::string name(int index) const override { return "rank " + std::to_string(index); }

    void broadcast(std::span<std::byte> bytes) override {
        shared_->bytes[std::size_t(index_)] = bytes.data();
        meet();
        if (index_ > 0 && !bytes.empty())
            std::memcpy(bytes.data(), shared_->bytes.front(), bytes.size());
        meet();
    }
    void meet() override { shared_->barrier.arrive_and_wait(); }
    void all_gather(std::byte* all, std::span<const std::size_t> bounds) override {
        shared_->bytes[std::size_t(index_)] = all;
        meet();
        for (std::size_t p = 0; p + 1 < bounds.size(); ++p)
            if (int(p) != index_)
                std::memcpy(all + bounds[p], shared_->bytes[p] + bounds[p],
                            bounds[p + 1] - bounds[p]);
        meet();
    }
    void sum(std::span<std::uint64_t> values) override {
        const std::vector<std::uint64_t> own(values.begin(), values.end());
        shared_->bytes[std::size_t(index_)] =
            reinterpret_cast<std::byte*>(const_cast<std::uint64_t*>(own.data()));
        meet();
        for (std::size_t i = 0; i < values.size(); ++i) {
            values[i] = 0;
            for (const std::byte* of : shared_->bytes)
                values[i] += reinterpret_cast<const std::uint64_t*>(of)[i];
        }
        meet();
    }
    void fail(const std::string&) noexcept override {}
    void end_all(int) noexcept override {}

  private:
    struct Shared {
        explicit Shared(int count) : barrier(count), bytes(std::size_t(count)) {}
        std::barrier<> barrier;
        std::vector<std::byte*> bytes;  ///< what each has for the others now
    };
    ThreadProcesses(std::shared_ptr<Shared> shared, int index)
        : shared_(std::move(shared)), index_(index) {}

    const std::shared_ptr<Shared> shared_;
    const int index_;
};

}  // namespace warpscope::tests
