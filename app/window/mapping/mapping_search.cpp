#include "app/window/mapping/mapping_search.h"

#include "base/executor.h"

namespace orrery::app {

MappingSearch::MappingSearch(QObject* parent) : QObject(parent), cache_(std::make_shared<MappingCache>()) {
    connect(&work_, &Background::advanced, this, [this] {
        curve_ = progress_->curve();
        emit advanced();
    });
}

void MappingSearch::start(std::shared_ptr<const Mapspace> space, const MapperOptions& options) {
    progress_ = std::make_shared<MapperProgress>();
    curve_.clear();
    work_.ask(
        [space = std::move(space), options, progress = progress_, cache = cache_](std::stop_token stop, Progress&) {
            const auto executor = makeDefaultExecutor();
            SearchContext context{*executor, stop, progress.get(), cache.get(), {}};
            return searchMappings(*space, options, context);
        },
        [this](const Expected<MapperResultPtr>& result) { take(result); });
}

void MappingSearch::take(const Expected<MapperResultPtr>& result) {
    if (!result) return emit refused(result.error());
    curve_ = (*result)->curve;
    emit advanced();
    emit found(*result);
}

}  // namespace orrery::app
