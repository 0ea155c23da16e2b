#include "ui/stage/engine_thread.h"

#include <exception>
#include <utility>

namespace warpscope::ui {

EngineThread::EngineThread(const Engine::Start& start, Hooks hooks) : hooks_(std::move(hooks)) {
    thread_ = std::jthread([this, &start](const std::stop_token& stop) { work(start, stop); });
    const auto since = std::chrono::steady_clock::now();
    std::unique_lock lock(mutex_);
    const auto over = [&] { return started_ || failure_; };
    while (!changed_.wait_for(lock, std::chrono::milliseconds(50), over)) {
        lock.unlock();
        hooks_.waits({since, Activity::start, 0, progress_->now()});
        lock.lock();
    }
    if (failure_) std::rethrow_exception(failure_);
}

EngineThread::~EngineThread() {
    thread_.request_stop();
    cancel();  // after the request, so that no other work can begin
}

void EngineThread::send(Command command) {
    const std::lock_guard lock(mutex_);
    commands_.push_back(std::move(command));
    // A report can wait, a person cannot.
    if (busy_since_ && engine_->activity() == Activity::report) stop_.request_stop();
}

void EngineThread::ask_for_frame(experiments::Size view) {
    const std::lock_guard lock(mutex_);
    asked_ = view;
    changed_.notify_all();
}

std::shared_ptr<const Shown> EngineThread::take() {
    const std::lock_guard lock(mutex_);
    if (failure_) std::rethrow_exception(failure_);
    return std::exchange(result_, nullptr);
}

bool EngineThread::has_result() const {
    const std::lock_guard lock(mutex_);
    return result_ != nullptr;
}

std::optional<Work> EngineThread::work_now() const {
    const std::lock_guard lock(mutex_);
    if (!busy_since_) return {};
    return Work{*busy_since_, engine_->activity(), engine_->next_frame(), progress_->now()};
}

void EngineThread::cancel() {
    const std::lock_guard lock(mutex_);
    if (busy_since_) stop_.request_stop();
}

void EngineThread::work(const Engine::Start& start, const std::stop_token& stop) {
    hooks_.enter();
    try {
        Engine::Start reporting = start;
        reporting.progress = progress_;
        std::optional<Engine> engine(reporting);
        {
            const std::lock_guard lock(mutex_);
            result_ = std::make_shared<const Shown>(engine->shown());
            started_ = true;
            changed_.notify_all();
        }
        run(*engine, stop);
    } catch (...) {
        const std::lock_guard lock(mutex_);
        failure_ = std::current_exception();
        busy_since_.reset();
        changed_.notify_all();
    }
    hooks_.leave();
}

void EngineThread::run(Engine& engine, const std::stop_token& stop) {
    std::uint64_t carried_out = 0;
    while (true) {
        std::vector<Command> commands;
        experiments::Size view;
        std::stop_token token;
        {
            std::unique_lock lock(mutex_);
            busy_since_.reset();
            changed_.wait(lock, stop, [&] { return asked_.has_value(); });
            if (stop.stop_requested()) return;
            commands = std::exchange(commands_, {});
            view = *std::exchange(asked_, std::nullopt);
            busy_since_ = std::chrono::steady_clock::now();
            engine_ = &engine;
            stop_ = std::stop_source();
            token = stop_.get_token();
        }
        engine.begin_work(token, progress_);
        for (const Command& command : commands) command(engine);
        if (!commands.empty()) engine.retry_report();
        carried_out += commands.size();
        const bool changed = engine.advance(view);
        if (changed || !commands.empty()) publish(engine, carried_out);
        // A report may take much longer than its frame.
        if (!engine.report_due() || stop.stop_requested()) continue;
        engine.read_report();
        publish(engine, carried_out);
    }
}

void EngineThread::publish(Engine& engine, std::uint64_t carried_out) {
    auto result = std::make_shared<Shown>(engine.shown());
    result->commands = carried_out;
    {
        const std::lock_guard lock(mutex_);
        result_ = std::move(result);
    }
    hooks_.published();
}

}  // namespace warpscope::ui
