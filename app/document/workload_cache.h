#pragma once

#include "workload/workload.h"

#include <QMutex>

#include <list>
#include <string>

namespace orrery::app {

/// The last few workloads that were built, by recipe: going back to a batch size, or undoing, does not import a file
/// again. A file counts as another source once its size or time changes. Safe to use from several threads; a build
/// that another thread is making too is made twice rather than waited for.
class WorkloadCache {
public:
    explicit WorkloadCache(std::size_t capacity = 12) : capacity_(capacity) {}
    Expected<WorkloadPtr> get(const WorkloadRecipe& recipe);
    /// Without building: null if it is not there.
    WorkloadPtr peek(const WorkloadRecipe& recipe);

private:
    struct Entry {
        WorkloadRecipe recipe;
        std::string stamp;
        Expected<WorkloadPtr> workload;
    };
    Entry* find(const WorkloadRecipe& recipe, const std::string& stamp);

    std::size_t capacity_;
    QMutex mutex_;
    std::list<Entry> entries_;  ///< most recently used first
};

}  // namespace orrery::app
