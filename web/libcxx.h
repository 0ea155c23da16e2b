// Included before every source: what the standard library of emscripten 3.1.69 (libc++ of LLVM 18) lacks of C++20.
#pragma once
#include <atomic>
#include <cerrno>
#include <charconv>
#include <cstdlib>
#include <string>
#include <version>

#ifndef __cpp_lib_atomic_ref
namespace std {
template <class T>
class atomic_ref {
  public:
    static constexpr bool is_always_lock_free = true;
    static constexpr std::size_t required_alignment = sizeof(T);
    explicit atomic_ref(T& object) : at_(&object) {}
    T load(memory_order order = memory_order_seq_cst) const {
        T value;
        __atomic_load(at_, &value, int(order));
        return value;
    }
    void store(T value, memory_order order = memory_order_seq_cst) const {
        __atomic_store(at_, &value, int(order));
    }
    T exchange(T value, memory_order order = memory_order_seq_cst) const {
        T old;
        __atomic_exchange(at_, &value, &old, int(order));
        return old;
    }
    bool compare_exchange_weak(T& expected, T desired,
                               memory_order order = memory_order_seq_cst) const {
        return __atomic_compare_exchange(at_, &expected, &desired, true, int(order),
                                         int(order == memory_order_acq_rel ? memory_order_acquire
                                             : order == memory_order_release
                                                 ? memory_order_relaxed
                                                 : order));
    }
    bool compare_exchange_strong(T& expected, T desired,
                                 memory_order order = memory_order_seq_cst) const {
        return compare_exchange_weak(expected, desired, order);
    }
    T fetch_add(T value, memory_order order = memory_order_seq_cst) const {
        return __atomic_fetch_add(at_, value, int(order));
    }
    T fetch_or(T value, memory_order order = memory_order_seq_cst) const {
        return __atomic_fetch_or(at_, value, int(order));
    }

  private:
    T* at_;
};
}  // namespace std
#endif

// libc++ 18 has from_chars() for integers only.
namespace std {
template <class T>
    requires(is_floating_point_v<T>)
from_chars_result from_chars(const char* first, const char* last, T& value,
                             chars_format = chars_format::general) {
    const string text(first, last);
    if (text.empty() || text[0] == ' ' || text[0] == '+') return {first, errc::invalid_argument};
    char* end = nullptr;
    errno = 0;
    const T read = sizeof(T) == 4 ? T(strtof(text.c_str(), &end)) : T(strtod(text.c_str(), &end));
    if (end == text.c_str()) return {first, errc::invalid_argument};
    if (errno == ERANGE) return {first + (end - text.c_str()), errc::result_out_of_range};
    value = read;
    return {first + (end - text.c_str()), errc()};
}
}  // namespace std
