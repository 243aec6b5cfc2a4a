#include "widgets/graph/graph_build.h"

#include <condition_variable>
#include <mutex>
#include <thread>
#include <unordered_set>
#include <utility>

namespace orrery::ui {

GraphPicturePtr makePicture(const GraphRequest& request, const std::stop_token& stop) {
    auto picture = std::make_shared<GraphPicture>();
    picture->workload = request.workload;
    const Graph& graph = request.workload->graph;
    picture->hierarchy =
        request.hierarchy ? request.hierarchy : std::make_shared<const GraphHierarchy>(hierarchyOf(graph));
    if (stop.stop_requested()) return nullptr;
    if (request.open) {
        picture->open = *request.open;
    } else if (request.scopes) {
        const std::unordered_set<std::string> scopes(request.scopes->begin(), request.scopes->end());
        for (const GraphGroup& group : picture->hierarchy->groups)
            picture->open.push_back(scopes.contains(group.scope));
    } else {
        picture->open = openAtFirst(graph, *picture->hierarchy);
    }
    picture->open.resize(picture->hierarchy->groups.size(), false);
    picture->visible = visibleGraph(graph, *picture->hierarchy, picture->open);
    if (stop.stop_requested()) return nullptr;
    picture->parts =
        partsOf(*request.workload, *picture->hierarchy, picture->visible, request.widths, request.leftToRight);
    const LayoutResult layout = layeredLayout(picture->parts.layout, stop);
    if (stop.stop_requested()) return nullptr;
    picture->scene = placed(picture->parts, layout, true);
    return stop.stop_requested() ? nullptr : picture;
}

struct GraphWorker::State {
    std::mutex mutex;
    std::condition_variable_any wake;
    std::optional<GraphRequest> next;
    std::stop_source running;
    std::uint64_t wanted = 0;  ///< number of the newest request
    std::uint64_t arrived = 0;
    std::jthread thread;  ///< last: joined before the rest goes
};

GraphWorker::GraphWorker(QObject* parent) : QObject(parent), state_(std::make_unique<State>()) {
    state_->thread = std::jthread([this, state = state_.get()](const std::stop_token& end) {
        for (;;) {
            std::unique_lock lock(state->mutex);
            if (!state->wake.wait(lock, end, [&] { return state->next.has_value(); })) return;
            const GraphRequest request = *std::exchange(state->next, std::nullopt);
            const std::uint64_t number = state->wanted;
            state->running = std::stop_source();
            const std::stop_token stop = state->running.get_token();
            lock.unlock();
            GraphPicturePtr picture = makePicture(request, stop);
            if (!picture) continue;
            QMetaObject::invokeMethod(
                this,
                [this, number, picture = std::move(picture)] {
                    if (number != state_->wanted) return;
                    state_->arrived = number;
                    Q_EMIT made(picture);
                },
                Qt::QueuedConnection);
        }
    });
}

GraphWorker::~GraphWorker() {
    state_->thread.request_stop();
    {
        const std::lock_guard lock(state_->mutex);
        state_->running.request_stop();
    }
    state_->thread.join();
}

void GraphWorker::start(GraphRequest request) {
    {
        const std::lock_guard lock(state_->mutex);
        ++state_->wanted;
        state_->next = std::move(request);
        state_->running.request_stop();
    }
    state_->wake.notify_one();
}

bool GraphWorker::isBusy() const {
    return state_->arrived != state_->wanted;
}

}  // namespace orrery::ui
