#include "programs/gpu/streams.h"

#include <algorithm>
#include <utility>

#include "emulator/warp/splitmix64.h"
#include "programs/images/status.h"

namespace warpscope::programs {

namespace {

constexpr unsigned non_blocking_flag = 1;  // cudaStreamNonBlocking

/// Returns the object of a handle in a list of objects; throws CallError if there is none.
template <class List, class T>
T& checked_in(const List& list, const T* handle, const char* problem) {
    const auto found =
        std::ranges::find_if(list, [&](const auto& object) { return object.get() == handle; });
    demand(found != list.end(), Status::invalid_handle, problem);
    return **found;
}

std::shared_ptr<Graph> shared_in(const std::vector<std::shared_ptr<Graph>>& graphs,
                                 const Graph* graph) {
    const auto found =
        std::ranges::find_if(graphs, [&](const auto& g) { return g.get() == graph; });
    demand(found != graphs.end(), Status::invalid_value, "the graph does not exist");
    return *found;
}

template <class List, class T>
void erase_from(List& list, const T* handle) {
    std::erase_if(list, [&](const auto& object) { return object.get() == handle; });
}

}  // namespace

Streams::Streams(std::uint64_t seed, Hooks hooks)
    : hooks_(std::move(hooks)), seed_(seed), legacy_(std::make_unique<Stream>()) {}

Stream* Streams::create(unsigned flags, int priority) {
    auto& stream = streams_.emplace_back(std::make_unique<Stream>());
    stream->flags = flags;
    stream->priority = priority;
    stream->blocking = !(flags & non_blocking_flag);
    if (hooks_.here) stream->made_at = hooks_.here();
    return stream.get();
}

void Streams::destroy(Stream* stream) {
    const auto found =
        std::ranges::find_if(streams_, [&](const auto& s) { return s.get() == stream; });
    if (found == streams_.end()) return;
    if (!stream->waiting.empty()) ending_.push_back(std::move(*found));
    streams_.erase(found);
}

bool Streams::has(const Stream* stream) const {
    return stream == legacy_.get() ||
           std::ranges::any_of(streams_, [&](const auto& s) { return s.get() == stream; });
}

Stream& Streams::of_thread() {
    thread_local Stream* mine = nullptr;
    if (!mine) {
        mine = create(0, 0);
        mine->made_at = 0;
        mine->is_default = true;
    }
    return *mine;
}

std::vector<Stream*> Streams::all() {
    std::vector<Stream*> streams{legacy_.get()};
    for (const auto& stream : streams_) streams.push_back(stream.get());
    for (const auto& stream : ending_) streams.push_back(stream.get());
    return streams;
}

WorkId Streams::add(Stream& stream, GraphSteps steps, NodeKind kind) {
    if (stream.capture) {
        GraphNode* const node = stream.capture->add(kind, stream.captured_after);
        node->steps = std::move(steps);
        stream.captured_after = {node};
        return 0;
    }
    Work work{.id = ++newest_, .after = std::exchange(stream.waits, {}), .steps = std::move(steps)};
    if (&stream == legacy_.get()) {
        for (const Stream* other : all())
            if (other->blocking && other != &stream) work.after.push_back(other->last);
    } else if (stream.blocking) {
        work.after.push_back(legacy_->last);
    }
    // A function of the program may not have returned when the next work of its stream comes first.
    if (!is_done(stream.last)) work.after.push_back(stream.last);
    if (hooks_.on_add) hooks_.on_add(stream, work);
    stream.last = work.id;
    pending_.insert(work.id);
    if (hooks_.start_host_call && work.steps.size() == 1 && work.steps[0].calls_host)
        host_calls_.push_back(work.id);
    stream.waiting.push_back(std::move(work));
    while (pending_.size() > most_pending && (run_one() || end_host_call(true))) {
    }
    return stream.last;
}

std::size_t Streams::choose(std::size_t count) {
    return emulator::splitmix64(seed_ ^ ++choices_) % count;
}

bool Streams::is_ready(const Work& work) const {
    return std::ranges::all_of(work.after, [&](WorkId id) { return is_done(id); });
}

Stream* Streams::way_to(WorkId id) {
    for (Stream* stream : all()) {
        if (std::ranges::find(stream->waiting, id, &Work::id) == stream->waiting.end()) continue;
        for (const WorkId before : stream->waiting.front().after)
            if (!is_done(before)) return way_to(before);
        return stream;
    }
    return nullptr;
}

Stream* Streams::way_to_host_call() {
    for (const WorkId id : host_calls_)
        if (Stream* const stream = way_to(id)) return stream;
    return nullptr;
}

Stream* Streams::next() {
    if (Stream* const stream = way_to_host_call()) return stream;
    std::vector<Stream*> ready;
    for (Stream* stream : all())
        if (!stream->waiting.empty() && is_ready(stream->waiting.front())) ready.push_back(stream);
    return ready.empty() ? nullptr : ready[choose(ready.size())];
}

void Streams::run_next_of(Stream& stream) {
    Work work = std::move(stream.waiting.front());
    stream.waiting.pop_front();
    std::erase_if(ending_, [](const auto& ended) { return ended->waiting.empty(); });
    if (std::erase(host_calls_, work.id)) {
        called_.push_back(work.id);
        return hooks_.start_host_call(work.id, std::move(work.steps[0]));
    }
    if (hooks_.before_work) hooks_.before_work(work.id);
    for (const GraphStep& step : work.steps) step();
    pending_.erase(work.id);
}

bool Streams::run_one() {
    Stream* const stream = next();
    if (stream) run_next_of(*stream);
    return stream != nullptr;
}

bool Streams::run_one_for_host_call() {
    Stream* const stream = way_to_host_call();
    if (stream) run_next_of(*stream);
    return stream || (has_host_calls() && end_host_call(false));
}

bool Streams::end_host_call(bool waits) {
    if (called_.empty()) return false;
    const WorkId id = called_.front();
    if (waits) hooks_.wait_for_return(id);
    if (!hooks_.has_returned(id)) return false;
    pending_.erase(id);
    std::erase(called_, id);
    return true;
}

Reach Streams::reach() {
    Reach all_reached;
    for (const Stream* stream : all())
        for (const Work& work : stream->waiting) add_reach(work.steps, all_reached);
    return all_reached;
}

void Streams::run_until(WorkId id) {
    while (!is_done(id) && (run_one() || end_host_call(true))) {
    }
    if (hooks_.on_wait && id) hooks_.on_wait(id);
}

void Streams::run_until_idle() {
    while (run_one() || end_host_call(true)) {
    }
    if (hooks_.on_wait) hooks_.on_wait(0);
}

void Streams::finish(Stream& stream) {
    run_until(stream.last);
}

void Streams::query(WorkId id) {
    if (is_done(id)) {
        if (hooks_.on_wait && id) hooks_.on_wait(id);
        return;
    }
    if (!run_one()) end_host_call(false);
    throw CallError(Status::not_ready, "the work is not done");
}

Event* Streams::create_event(bool has_time, bool is_shared) {
    const Event made{.has_time = has_time, .is_shared = is_shared};
    auto& event = events_.emplace_back(std::make_unique<Event>(made));
    if (hooks_.here) event->made_at = hooks_.here();
    return event.get();
}

void Streams::destroy(Event* event) {
    run_until(checked(event).work);
    erase_from(events_, event);
}

Event& Streams::checked(Event* event) const {
    return checked_in(events_, event, "the event does not exist");
}

void Streams::record(Event* event, Stream& stream) {
    Event& e = checked(event);
    e.capture = stream.capture;
    e.captured_after = stream.captured_after;
    if (stream.capture) return;
    e.work = add(stream, time_of(event));
    if (e.is_shared) run_until(e.work);
}

GraphStep Streams::time_of(Event* event) {
    return [this, event] {
        // A graph may outlive the events that it records.
        for (const auto& kept : events_)
            if (kept.get() == event) event->time = std::chrono::steady_clock::now();
    };
}

void Streams::wait(Stream& stream, Event* event) {
    const Event& e = checked(event);
    if (e.capture) {  // the capture has a branch more
        demand(!stream.capture || stream.capture == e.capture, Status::illegal_state,
               "the event belongs to another capture");
        stream.capture = e.capture;
        for (GraphNode* node : e.captured_after)
            if (std::ranges::find(stream.captured_after, node) == stream.captured_after.end())
                stream.captured_after.push_back(node);
    } else if (e.work) {
        stream.waits.push_back(e.work);
    }
}

void Streams::finish(Event* event) {
    run_until(checked(event).work);
}

float Streams::milliseconds(Event* start, Event* stop) const {
    const Event &a = checked(start), &b = checked(stop);
    demand(a.work && b.work && a.has_time && b.has_time, Status::invalid_handle,
           "an event was never recorded, or has no time");
    demand(is_done(a.work) && is_done(b.work), Status::not_ready,
           "an event has not happened yet: call cudaEventSynchronize() first");
    return std::chrono::duration<float, std::milli>(b.time - a.time).count();
}

void Streams::begin_capture(Stream& stream, Graph* graph, std::span<GraphNode* const> after) {
    demand(&stream != legacy_.get(), Status::stream_capture_unsupported,
           "the legacy default stream cannot be captured");
    demand(!stream.capture, Status::illegal_state, "the stream is being captured already");
    stream.capture = shared_in(graphs_, graph ? graph : create_graph());
    stream.captured_after.assign(after.begin(), after.end());
}

Graph* Streams::end_capture(Stream& stream) {
    demand(stream.capture != nullptr, Status::illegal_state, "the stream is not being captured");
    const auto captured = stream.capture;
    for (Stream* each : all())
        if (each->capture == captured) {
            each->capture = nullptr;
            each->captured_after.clear();
        }
    for (const auto& event : events_)
        if (event->capture == captured) event->capture = nullptr;
    return captured.get();
}

GraphSteps Streams::captured(const std::function<void(Stream&)>& calls) {
    Stream stream;
    stream.capture = std::make_shared<Graph>();
    calls(stream);
    GraphSteps steps;
    for (const auto& node : stream.capture->nodes())
        steps.insert(steps.end(), node->steps.begin(), node->steps.end());
    return steps;
}

Graph* Streams::create_graph() {
    return graphs_.emplace_back(std::make_shared<Graph>()).get();
}

Graph* Streams::copy_of(Graph* graph) {
    return graphs_.emplace_back(std::make_shared<Graph>(checked(graph))).get();
}

Graph* Streams::add_body(GraphNode& node, const Graph* graph) {
    auto body = graph ? std::make_shared<Graph>(*graph) : std::make_shared<Graph>();
    node.bodies.push_back(body);
    return graphs_.emplace_back(std::move(body)).get();
}

Graph& Streams::checked(Graph* graph) const {
    return *shared_in(graphs_, graph);
}

void Streams::launch(Graph* graph, Stream& stream) {
    checked(graph).allocate();
    GraphSteps steps = graph->steps([this](std::size_t count) { return choose(count); });
    const auto events_of = [&](NodeKind kind, auto use) {
        for (const auto& node : graph->nodes())
            if (node->kind == kind && node->is_enabled) use(checked(node->event));
    };
    events_of(NodeKind::wait_event, [&](Event& e) { wait(stream, &e); });
    if (stream.capture) {
        add(stream, std::move(steps), NodeKind::graph);
    } else {  // functions of the program are work of their own
        GraphSteps part;
        const auto add_part = [&] { add(stream, std::exchange(part, {}), NodeKind::graph); };
        for (GraphStep& step : steps) {
            if (!part.empty() && (step.calls_host || part.back().calls_host)) add_part();
            part.push_back(std::move(step));
        }
        add_part();
    }
    const WorkId id = stream.capture ? 0 : stream.last;
    events_of(NodeKind::record_event, [&](Event& e) { e.work = id; });
}

void Streams::destroy(Graph* graph) {
    const std::shared_ptr<Graph> destroyed = shared_in(graphs_, graph);
    for (const auto& node : destroyed->nodes())
        for (const auto& body : node->bodies) erase_from(graphs_, body.get());
    erase_from(graphs_, graph);
}

void Streams::reset(int device) {
    std::erase_if(streams_, [&](const auto& s) { return s->device == device && !s->is_default; });
    std::erase_if(events_, [&](const auto& e) { return e->device == device; });
    for (const auto& stream : streams_) stream->capture = nullptr;
    graphs_.clear();
}

std::vector<MadeObject> Streams::left() const {
    std::vector<MadeObject> left;
    for (const auto& stream : streams_)
        if (stream->made_at) left.push_back({"stream", stream->made_at});
    for (const auto& event : events_)
        if (event->made_at) left.push_back({"event", event->made_at});
    return left;
}

}  // namespace warpscope::programs
