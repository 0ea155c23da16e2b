#pragma once

#include <memory>

namespace warpscope::emulator {

/// A large value that takes no time to move or to swap. A copy has a value of its own.
template <typename T>
class Boxed {
  public:
    Boxed() : value_(std::make_unique<T>()) {}
    Boxed(const Boxed& other) : value_(std::make_unique<T>(*other)) {}
    Boxed(Boxed&&) noexcept = default;
    Boxed& operator=(const Boxed& other) { return *this = Boxed(other); }
    Boxed& operator=(Boxed&&) noexcept = default;
    ~Boxed() = default;

    T& operator*() { return *value_; }
    const T& operator*() const { return *value_; }
    T* operator->() { return value_.get(); }
    const T* operator->() const { return value_.get(); }

  private:
    std::unique_ptr<T> value_;
};

}  // namespace warpscope::emulator
