#include "jobs/debugger/dap.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <condition_variable>
#include <csignal>
#include <cstring>
#include <deque>
#include <mutex>
#include <system_error>
#include <thread>
#include <vector>

#include "compute/confinement/descriptor.h"
#include "compute/helper/helpers.h"
#include "compute/helper/termination_signal.h"
#include "jobs/debugger/adapter.h"
#include "jobs/debugger/frames.h"
#include "jobs/output/files_and_terminal.h"

namespace warpscope::jobs {
namespace {

using compute::Descriptor;

/// The messages of a client that wait for their answers. A message stops the work that it is to
/// end, or any work that can go on behind it.
class Inbox {
  public:
    void put(Json message) {
        const std::string command =
            message.is_object() && message.value("command", Json()).is_string()
                ? message["command"].get<std::string>()
                : std::string();
        const bool ends = command == "disconnect" || command == "terminate" || command == "pause";
        const std::lock_guard lock(mutex_);
        messages_.push_back(std::move(message));
        if (ends || any_stops_) stop_.request_stop();
        changed_.notify_all();
    }
    void close() {
        const std::lock_guard lock(mutex_);
        is_closed_ = true;
        stop_.request_stop();
        changed_.notify_all();
    }
    bool is_empty() {
        const std::lock_guard lock(mutex_);
        return messages_.empty() && !is_closed_;
    }
    /// nullopt: there will be none.
    std::optional<Json> take() {
        std::unique_lock lock(mutex_);
        changed_.wait(lock, [&] { return is_closed_ || !messages_.empty(); });
        if (is_closed_) return {};
        Json message = std::move(messages_.front());
        messages_.pop_front();
        return message;
    }
    /// For the work that begins. `any`: each message stops it.
    std::stop_token work(bool any) {
        const std::lock_guard lock(mutex_);
        any_stops_ = any;
        stop_ = {};
        if (is_closed_ || (any && !messages_.empty())) stop_.request_stop();
        return stop_.get_token();
    }

  private:
    std::mutex mutex_;
    std::condition_variable changed_;
    std::deque<Json> messages_;
    std::stop_source stop_;
    bool any_stops_ = false, is_closed_ = false;
};

/// Waits until there is something to read; false: one of the others says that it ends.
bool wait_to_read(int from, std::initializer_list<int> ends) {
    std::vector<pollfd> files{{from, POLLIN, 0}};
    for (const int end : ends) files.push_back({end, POLLIN, 0});
    while (::poll(files.data(), files.size(), -1) < 0)
        if (errno != EINTR) return false;
    return std::none_of(files.begin() + 1, files.end(), [](const pollfd& f) { return f.revents; });
}

/// Puts messages into the inbox until the client or one of `ends` ends it.
void read_messages(int from, std::initializer_list<int> ends, Inbox& inbox) {
    FrameReader frames;
    std::string bytes(1 << 16, '\0');
    try {
        while (wait_to_read(from, ends)) {
            const ssize_t got = ::read(from, bytes.data(), bytes.size());
            if (got < 0 && errno == EINTR) continue;
            if (got <= 0) break;
            frames.add(std::string_view(bytes).substr(0, std::size_t(got)));
            while (const auto message = frames.next())
                inbox.put(Json::parse(*message, nullptr, false));
        }
    } catch (const FrameError& error) {
        print_error(fmt::format("warpscope: --dap: {}\n", error.what()));
    }
    inbox.close();
}

/// A pipe: what is written to it can be read from then on.
struct Pipe {
    Pipe() {
        int files[2];
        if (::pipe2(files, O_CLOEXEC) != 0)
            throw std::system_error(errno, std::generic_category(), "pipe");
        read = Descriptor(files[0]);
        write = Descriptor(files[1]);
    }
    void end() const { (void)!::write(write.get(), "", 1); }
    Descriptor read, write;
};

/// Numbers and writes messages, from any thread.
class Outbox {
  public:
    explicit Outbox(int to) : to_(to) {}
    void write(Json message) {
        const std::lock_guard lock(mutex_);
        message["seq"] = ++newest_;
        const std::string bytes =
            framed(message.dump(-1, ' ', false, Json::error_handler_t::replace));
        for (std::size_t done = 0; done < bytes.size();) {
            const ssize_t wrote = ::write(to_, bytes.data() + done, bytes.size() - done);
            if (wrote < 0 && errno == EINTR) continue;
            if (wrote <= 0) return;  // nobody reads it: the input ends, too
            done += std::size_t(wrote);
        }
    }

  private:
    const int to_;
    std::mutex mutex_;
    int newest_ = 0;
};

/// `end` ends the session.
void serve_client(compute::Helpers& helpers, int from, int to, const Pipe& end) {
    Inbox inbox;
    Outbox outbox(to);
    const Pipe finish;
    std::thread reader([&] { read_messages(from, {end.read.get(), finish.read.get()}, inbox); });
    {
        DebugAdapter adapter(helpers, [&](Json message) { outbox.write(std::move(message)); });
        while (!adapter.has_ended()) {
            if (adapter.moves() && inbox.is_empty()) {
                adapter.move(inbox.work(adapter.is_resumable()));
                continue;
            }
            const auto message = inbox.take();
            if (!message) break;
            adapter.handle(*message, inbox.work(false));
        }
    }
    finish.end();
    reader.join();
}

Descriptor listen_at(unsigned port) {
    Descriptor listening(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(std::uint16_t(port));
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    const int on = 1;
    ::setsockopt(listening.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    socklen_t size = sizeof address;
    auto* const general = reinterpret_cast<sockaddr*>(&address);
    if (::bind(listening.get(), general, size) != 0 || ::listen(listening.get(), 1) != 0 ||
        ::getsockname(listening.get(), general, &size) != 0)
        throw UsageError(fmt::format("--dap={}: {}", port, std::strerror(errno)));
    print_error(fmt::format("warpscope: --dap: port {}\n", ntohs(address.sin_port)));
    return listening;
}

}  // namespace

int run_debugger(std::optional<unsigned> port) {
    compute::Helpers helpers("/proc/self/exe");
    std::signal(SIGPIPE, SIG_IGN);
    const compute::TerminationSignal signal;
    const Pipe end;
    const std::jthread waiter([&](const std::stop_token& stop) {
        signal.wait(stop);
        end.end();
    });
    if (port) {
        const Descriptor listening = listen_at(*port);
        while (wait_to_read(listening.get(), {end.read.get()})) {
            const Descriptor client(::accept4(listening.get(), nullptr, nullptr, SOCK_CLOEXEC));
            if (client.get() >= 0) serve_client(helpers, client.get(), client.get(), end);
        }
        return 0;
    }
    // What else prints must not come between the messages, and nobody else may read them.
    const Descriptor from(::fcntl(0, F_DUPFD_CLOEXEC, 3)), to(::fcntl(1, F_DUPFD_CLOEXEC, 3));
    const Descriptor null(::open("/dev/null", O_RDONLY | O_CLOEXEC));
    ::dup2(null.get(), 0);
    ::dup2(2, 1);
    serve_client(helpers, from.get(), to.get(), end);
    return 0;
}

}  // namespace warpscope::jobs
