#pragma once

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <unordered_set>
#include <vector>

#include "programs/checks/host_findings.h"
#include "programs/gpu/graphs.h"
#include "programs/memory/device_memory.h"

namespace warpscope::programs {

/// The number of a piece of work, from 1; 0: none.
using WorkId = std::uint64_t;

/// Work to do once all of some other work is done.
struct Work {
    WorkId id = 0;
    std::vector<WorkId> after;
    GraphSteps steps;
};

/// CUstream, cudaStream_t.
struct Stream {
    bool blocking = true;  ///< it is ordered with the legacy default stream
    int priority = 0;
    unsigned flags = 0;
    std::map<int, std::array<std::byte, 64>> attributes;  ///< CUstreamAttrValue, without effect
    std::deque<Work> waiting;                             ///< in its order
    WorkId last = 0;                                      ///< its newest work
    std::vector<WorkId> waits;               ///< for its next work: cudaStreamWaitEvent()
    std::shared_ptr<Graph> capture;          ///< what it is captured to; null: it runs
    std::vector<GraphNode*> captured_after;  ///< for the next node of the capture
    CallSite made_at = 0;                    ///< 0: not by the program
    int device = current_device;
    bool is_default = false;  ///< of a thread
};

/// CUevent, cudaEvent_t.
struct Event {
    bool has_time = true;
    bool is_shared = false;  ///< with other processes: what it records is done at once
    WorkId work = 0;         ///< the newest recording; 0: never recorded
    std::chrono::steady_clock::time_point time;
    std::shared_ptr<Graph> capture;  ///< it was recorded in a stream that is captured to this
    std::vector<GraphNode*> captured_after;  ///< the nodes that it waits for there
    CallSite made_at = 0;
    int device = current_device;
};

/// The streams of a program. Work runs when the host waits for it, and no earlier, so that a result
/// that the host reads too early is not there yet. It then runs in one of the orders that the CUDA
/// Programming Guide allows ("Streams", "Default Stream"), which the seed chooses: equal programs
/// run equally.
///
/// A function of the program in a stream is called although the host does not wait, and work that
/// comes before it there runs before other work. So the order is the same, whether the host waits
/// at once or a thread of its own has run that work before.
class Streams {
  public:
    struct Hooks {
        std::function<CallSite()> here;  ///< the place of the running call
        std::function<void(const Stream&, const Work&)> on_add;
        std::function<void(WorkId)> on_wait;  ///< of the host; 0: for all work
        std::function<void(WorkId)> before_work;
        /// Has another thread call a function of the program; empty: it is called at once. The
        /// others say whether it has returned, and wait for that.
        std::function<void(WorkId, GraphStep)> start_host_call;
        std::function<bool(WorkId)> has_returned;
        std::function<void(WorkId)> wait_for_return;
    };
    explicit Streams(std::uint64_t seed, Hooks hooks = {});

    Stream* create(unsigned flags, int priority);
    void destroy(Stream* stream);  ///< its work still runs
    bool has(const Stream* stream) const;
    Stream& legacy() { return *legacy_; }
    Stream& of_thread();  ///< the calling thread's default stream

    /// Adds work to the end of a stream, or to its capture.
    WorkId add(Stream& stream, GraphStep step, NodeKind kind = NodeKind::empty) {
        return add(stream, GraphSteps{std::move(step)}, kind);
    }
    WorkId add(Stream& stream, GraphSteps steps, NodeKind kind);
    bool is_done(WorkId id) const { return !pending_.contains(id); }
    bool is_idle() const { return pending_.empty(); }
    /// Whether f(its number) is true for a piece of work that has not run.
    template <class F>
    bool any_waits(F&& f) const {
        return std::any_of(pending_.begin(), pending_.end(), f);
    }

    void run_until(WorkId id);  ///< runs work until this piece is done
    void run_until_idle();      ///< runs all work
    bool run_one();             ///< runs one piece; false if there is none
    /// Whether a function of the program waits to be called.
    bool has_host_calls() const { return !host_calls_.empty(); }
    /// Runs one piece that such a function waits for; false if none can run now.
    bool run_one_for_host_call();
    Reach reach();                ///< of the work that waits
    void finish(Stream& stream);  ///< runs work until the stream has none
    /// Throws CallError with Status::not_ready if the work is not done, and runs one piece, so that
    /// a program that asks again and again gets on.
    void query(WorkId id);

    Event* create_event(bool has_time, bool is_shared = false);
    void destroy(Event* event);
    Event& checked(Event* event) const;  ///< throws CallError for one that does not exist
    void record(Event* event, Stream& stream);
    GraphStep time_of(Event* event);  ///< the step that notes the time of a recording
    /// All later work of the stream comes after what the event has recorded.
    void wait(Stream& stream, Event* event);
    void finish(Event* event);
    float milliseconds(Event* start, Event* stop) const;

    /// Captures to a new graph, or adds to `graph` what comes after some of its nodes.
    void begin_capture(Stream& stream, Graph* graph = nullptr,
                       std::span<GraphNode* const> after = {});
    Graph* end_capture(Stream& stream);
    /// The work that `calls` adds to its stream.
    static GraphSteps captured(const std::function<void(Stream&)>& calls);

    Graph* create_graph();
    Graph* copy_of(Graph* graph);
    /// Gives a body to a node: a copy of `graph`, or a new graph.
    Graph* add_body(GraphNode& node, const Graph* graph);
    Graph& checked(Graph* graph) const;
    void launch(Graph* graph, Stream& stream);
    void destroy(Graph* graph);

    /// Destroys the streams and events of a device, and all graphs. No work may wait.
    void reset(int device);
    /// The streams and events that the program has made and not destroyed.
    std::vector<MadeObject> left() const;

  private:
    std::vector<Stream*> all();
    std::size_t choose(std::size_t count);
    bool is_ready(const Work& work) const;
    Stream* next();  ///< whose work is to run; null: none
    /// The stream whose work has to run next so that this work can; null: none can run now.
    Stream* way_to(WorkId id);
    Stream* way_to_host_call();
    void run_next_of(Stream& stream);
    /// The oldest function that was called counts as done: it has returned, or returns now.
    bool end_host_call(bool waits);

    /// The CUDA driver makes the host wait, too, where it is too far ahead.
    static constexpr std::size_t most_pending = 1024;

    Hooks hooks_;
    std::uint64_t seed_, choices_ = 0;
    WorkId newest_ = 0;
    std::unique_ptr<Stream> legacy_;
    std::vector<std::unique_ptr<Stream>> streams_;
    std::vector<std::unique_ptr<Stream>> ending_;  ///< destroyed, with work
    std::vector<std::unique_ptr<Event>> events_;
    std::vector<std::shared_ptr<Graph>> graphs_;
    std::unordered_set<WorkId> pending_;
    std::deque<WorkId> host_calls_;  ///< functions of the program that wait to be called
    std::deque<WorkId> called_;      ///< that may not have returned
};

}  // namespace warpscope::programs
