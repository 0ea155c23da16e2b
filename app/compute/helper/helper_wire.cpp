#include "compute/helper/helper_wire.h"

#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

namespace warpscope::compute {
namespace {

using Clock = std::chrono::steady_clock;

/// Waits for a socket until the time is over or a stop is requested.
class Waiter {
  public:
    explicit Waiter(const Patience& patience)
        : limited_(patience.time.count() > 0),
          deadline_(Clock::now() + patience.time),
          grace_(patience.grace),
          stop_(patience.stop) {
        if (!stop_.stop_possible()) return;
        wake_ = ::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
        callback_.emplace(stop_, Wake{wake_});
    }
    Waiter(const Waiter&) = delete;
    Waiter& operator=(const Waiter&) = delete;
    ~Waiter() {
        callback_.reset();
        if (wake_ >= 0) ::close(wake_);
    }

    /// Throws HelperLost if the time ends or a stop comes before the events. A closed socket counts
    /// as every event.
    void wait_for(int fd, short events) {
        for (;;) {
            if (stop_.stop_requested() && !stopped_) begin_grace();
            pollfd waited[2]{{fd, events, 0}, {wake_, POLLIN, 0}};
            const bool wakes = wake_ >= 0 && !stopped_;
            const int ready = ::poll(waited, wakes ? 2 : 1, milliseconds_left());
            if (waited[0].revents) return;
            if (ready == 0 && stopped_) throw HelperLost(HelperEnd::stopped, "it was stopped");
            if (ready == 0) throw HelperLost(HelperEnd::timed_out, "it did not answer in time");
            if (ready < 0 && errno != EINTR)
                throw HelperLost(HelperEnd::closed, "it closed its socket");
        }
    }

  private:
    struct Wake {
        int fd;
        void operator()() const {
            const std::uint64_t one = 1;
            [[maybe_unused]] const auto written = ::write(fd, &one, sizeof(one));
        }
    };

    void begin_grace() {
        const auto end = Clock::now() + grace_;
        deadline_ = limited_ ? std::min(deadline_, end) : end;
        limited_ = stopped_ = true;
    }

    int milliseconds_left() const {
        if (!limited_) return -1;
        const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline_ - Clock::now());
        return int(std::clamp<std::int64_t>(left.count(), 0, 1'000'000));
    }

    bool limited_;
    Clock::time_point deadline_;
    std::chrono::milliseconds grace_;
    std::stop_token stop_;
    bool stopped_ = false;
    int wake_ = -1;
    std::optional<std::stop_callback<Wake>> callback_;
};

bool try_later() {
    return errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR;
}

void read_all(int fd, char* to, std::size_t bytes, Waiter& waiter) {
    while (bytes) {
        waiter.wait_for(fd, POLLIN);
        const ssize_t got = ::recv(fd, to, bytes, MSG_DONTWAIT);
        if (got == 0 || (got < 0 && !try_later()))
            throw HelperLost(HelperEnd::closed, "it closed its socket");
        if (got < 0) continue;
        to += got;
        bytes -= std::size_t(got);
    }
}

}  // namespace

WireWriter& WireWriter::number(std::uint32_t number) {
    bytes_.append(reinterpret_cast<const char*>(&number), sizeof(number));
    return *this;
}

WireWriter& WireWriter::text(std::string_view text) {
    if (text.size() > frame_limit) throw WireError("a text is too long for a frame");
    number(std::uint32_t(text.size()));
    bytes_.append(text);
    return *this;
}

std::string_view WireWriter::frame() {
    const std::size_t follows = bytes_.size() - sizeof(std::uint32_t);
    if (follows > frame_limit) throw WireError("a frame is too long");
    const auto length = std::uint32_t(follows);
    std::memcpy(bytes_.data(), &length, sizeof(length));
    return bytes_;
}

WireReader::WireReader(std::string frame) : frame_(std::move(frame)) {
    word_ = number();
}

const char* WireReader::take(std::size_t bytes) {
    if (bytes > frame_.size() - at_) throw WireError("a frame ends too early");
    at_ += bytes;
    return frame_.data() + at_ - bytes;
}

std::uint32_t WireReader::number() {
    std::uint32_t number = 0;
    std::memcpy(&number, take(sizeof(number)), sizeof(number));
    return number;
}

std::string_view WireReader::text() {
    const std::size_t bytes = number();
    return {take(bytes), bytes};
}

void WireReader::end() const {
    if (at_ != frame_.size()) throw WireError("a frame has too many bytes");
}

void send_frame(int fd, WireWriter& frame, const Patience& patience) {
    std::string_view left = frame.frame();
    Waiter waiter(patience);
    while (!left.empty()) {
        waiter.wait_for(fd, POLLOUT);
        const ssize_t sent = ::send(fd, left.data(), left.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
        if (sent < 0 && !try_later()) throw HelperLost(HelperEnd::closed, "it closed its socket");
        if (sent > 0) left.remove_prefix(std::size_t(sent));
    }
}

WireReader receive_frame(int fd, const Patience& patience) {
    Waiter waiter(patience);
    std::uint32_t length = 0;
    read_all(fd, reinterpret_cast<char*>(&length), sizeof(length), waiter);
    if (length < sizeof(std::uint32_t) || length > frame_limit)
        throw WireError("a frame has an invalid length");
    // Memory grows with the bytes that arrive, not with the length that is announced.
    constexpr std::size_t piece = std::size_t(1) << 20;
    std::string frame;
    while (frame.size() < length) {
        const std::size_t at = frame.size();
        frame.resize(std::min<std::size_t>(length, at + piece));
        read_all(fd, frame.data() + at, frame.size() - at, waiter);
    }
    return WireReader(std::move(frame));
}

bool frame_waits(int fd) {
    pollfd waited{fd, POLLIN, 0};
    return ::poll(&waited, 1, 0) != 0;
}

}  // namespace warpscope::compute
