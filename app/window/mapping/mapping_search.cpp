#include "app/window/mapping/mapping_search.h"

#include "base/executor.h"

#include <atomic>

namespace orrery::app {

struct MappingSearch::Outcome {
    std::atomic<bool> done{false};
    std::optional<Expected<MapperResultPtr>> result;  ///< written before `done`
};

MappingSearch::MappingSearch(QObject* parent) : QObject(parent), cache_(std::make_shared<MappingCache>()) {
    due_.setInterval(33);
    connect(&due_, &QTimer::timeout, this, &MappingSearch::drain);
}

MappingSearch::~MappingSearch() = default;

void MappingSearch::start(std::shared_ptr<const Mapspace> space, const MapperOptions& options) {
    if (worker_.joinable()) {
        worker_.request_stop();
        worker_.join();
    }
    progress_ = std::make_shared<MapperProgress>();
    outcome_ = std::make_shared<Outcome>();
    curve_.clear();
    worker_ = std::jthread([space = std::move(space), options, progress = progress_, outcome = outcome_,
                            cache = cache_](std::stop_token stop) {
        const auto executor = makeDefaultExecutor();
        SearchContext context{*executor, stop, progress.get(), cache.get(), {}};
        outcome->result = searchMappings(*space, options, context);
        outcome->done.store(true, std::memory_order_release);
    });
    due_.start();
    emit advanced();
}

void MappingSearch::cancel() {
    worker_.request_stop();
}

void MappingSearch::drain() {
    if (!outcome_) return due_.stop();
    const bool done = outcome_->done.load(std::memory_order_acquire);
    curve_ = progress_->curve();
    if (!done) return emit advanced();
    due_.stop();
    worker_.join();
    const Expected<MapperResultPtr> result = std::move(*std::exchange(outcome_, nullptr)->result);
    if (!result) return emit refused(result.error());
    curve_ = (*result)->curve;
    emit advanced();
    emit found(*result);
}

}  // namespace orrery::app
