#include "app/document/workload_cache.h"

#include <QDateTime>
#include <QFileInfo>

#include <algorithm>

namespace orrery::app {

namespace {

std::string stampOf(const WorkloadRecipe& recipe) {
    const QFileInfo file(QString::fromStdString(recipe.source));
    if (!file.isFile()) return {};
    return std::to_string(file.size()) + "@" + std::to_string(file.lastModified().toMSecsSinceEpoch());
}

}  // namespace

WorkloadCache::Entry* WorkloadCache::find(const WorkloadRecipe& recipe, const std::string& stamp) {
    const auto at = std::ranges::find_if(
        entries_, [&](const Entry& entry) { return entry.stamp == stamp && entry.recipe == recipe; });
    if (at == entries_.end()) return nullptr;
    entries_.splice(entries_.begin(), entries_, at);
    return &entries_.front();
}

WorkloadPtr WorkloadCache::peek(const WorkloadRecipe& recipe) {
    const std::string stamp = stampOf(recipe);
    const QMutexLocker lock(&mutex_);
    const Entry* entry = find(recipe, stamp);
    return entry && entry->workload ? *entry->workload : nullptr;
}

Expected<WorkloadPtr> WorkloadCache::get(const WorkloadRecipe& recipe) {
    const std::string stamp = stampOf(recipe);
    {
        const QMutexLocker lock(&mutex_);
        if (const Entry* entry = find(recipe, stamp)) return entry->workload;
    }
    Expected<WorkloadPtr> built = loadWorkload(recipe);
    const QMutexLocker lock(&mutex_);
    if (find(recipe, stamp) == nullptr) {
        entries_.push_front({recipe, stamp, built});
        if (entries_.size() > capacity_) entries_.pop_back();
    }
    return built;
}

}  // namespace orrery::app
