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
    }
    return *mine;
}

std::vector<Stream*> Streams::all() {
    std::vector<Stream*> streams{legacy_.get()};
    for (const auto& stream : streams_) streams.push_back(stream.get());
    for (const auto& stream : ending_) streams.push_back(stream.get());
    return streams;
}

WorkId Streams::add(Stream& stream, std::function<void()> run) {
    if (stream.capture) {
        stream.capture->steps.push_back(std::move(run));
        return 0;
    }
    Work work{.id = ++newest_, .after = std::exchange(stream.waits, {}), .run = std::move(run)};
    if (&stream == legacy_.get()) {
        for (const Stream* other : all())
            if (other->blocking && other != &stream) work.after.push_back(other->last);
    } else if (stream.blocking) {
        work.after.push_back(legacy_->last);
    }
    if (hooks_.on_add) hooks_.on_add(stream, work);
    stream.last = work.id;
    pending_.insert(work.id);
    stream.waiting.push_back(std::move(work));
    while (pending_.size() > most_pending) run_one();
    return stream.last;
}

bool Streams::is_ready(const Work& work) const {
    return std::ranges::all_of(work.after, [&](WorkId id) { return is_done(id); });
}

bool Streams::run_one() {
    std::vector<Stream*> ready;
    for (Stream* stream : all())
        if (!stream->waiting.empty() && is_ready(stream->waiting.front())) ready.push_back(stream);
    if (ready.empty()) return false;
    Stream& stream = *ready[emulator::splitmix64(seed_ ^ ++choices_) % ready.size()];
    const Work work = std::move(stream.waiting.front());
    stream.waiting.pop_front();
    if (hooks_.before_work) hooks_.before_work(work.id);
    work.run();
    pending_.erase(work.id);
    std::erase_if(ending_, [](const auto& ended) { return ended->waiting.empty(); });
    return true;
}

void Streams::run_until(WorkId id) {
    while (!is_done(id) && run_one()) {
    }
    if (hooks_.on_wait && id) hooks_.on_wait(id);
}

void Streams::run_until_idle() {
    while (run_one()) {
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
    run_one();
    throw CallError(Status::not_ready, "the work is not done");
}

Event* Streams::create_event(bool has_time) {
    auto& event = events_.emplace_back(std::make_unique<Event>(Event{.has_time = has_time}));
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
    e.work = add(stream, [this, event] {
        // A graph may outlive the events that it has recorded.
        for (const auto& kept : events_)
            if (kept.get() == event) event->time = std::chrono::steady_clock::now();
    });
}

void Streams::wait(Stream& stream, Event* event) {
    const Event& e = checked(event);
    if (e.capture) stream.capture = e.capture;  // the capture has a branch more
    if (e.work) stream.waits.push_back(e.work);
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

void Streams::begin_capture(Stream& stream) {
    demand(&stream != legacy_.get(), Status::stream_capture_unsupported,
           "the legacy default stream cannot be captured");
    demand(!stream.capture, Status::illegal_state, "the stream is being captured already");
    stream.capture = std::make_shared<Graph>();
}

Graph* Streams::end_capture(Stream& stream) {
    demand(stream.capture != nullptr, Status::illegal_state, "the stream is not being captured");
    const auto captured = stream.capture;
    for (Stream* each : all())
        if (each->capture == captured) each->capture = nullptr;
    return graphs_.emplace_back(std::make_unique<Graph>(*captured)).get();
}

Graph* Streams::copy_of(Graph* graph) {
    return graphs_.emplace_back(std::make_unique<Graph>(checked(graph))).get();
}

Graph& Streams::checked(Graph* graph) const {
    return checked_in(graphs_, graph, "the graph does not exist");
}

void Streams::launch(Graph* graph, Stream& stream) {
    add(stream, [steps = checked(graph).steps] {
        for (const auto& step : steps) step();
    });
}

void Streams::destroy(Graph* graph) {
    checked(graph);
    erase_from(graphs_, graph);
}

}  // namespace warpscope::programs
