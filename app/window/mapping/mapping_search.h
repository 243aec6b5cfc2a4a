#pragma once

// One search for a mapping in the background. What it finds is told on the GUI thread, at most thirty times a second.

#include "app/document/background.h"
#include "base/diagnostic.h"
#include "mapping/mappers/mapper.h"

#include <QObject>

#include <memory>
#include <vector>

namespace orrery::app {

class MappingSearch : public QObject {
    Q_OBJECT
public:
    explicit MappingSearch(QObject* parent = nullptr);

    /// The newest question wins: a search under way is stopped and its best so far forgotten.
    void start(std::shared_ptr<const Mapspace> space, const MapperOptions& options);
    void cancel() { work_.cancel(); }  ///< the best so far becomes the result
    bool isRunning() const { return work_.isRunning(); }
    const std::vector<MapperPoint>& curve() const { return curve_; }
    std::uint64_t examined() const { return progress_ ? progress_->examined() : 0; }
    double lowerBound() const { return progress_ ? progress_->lowerBound() : 0; }  ///< of the objective; 0: none
    std::uint64_t valid() const { return progress_ ? progress_->valid() : 0; }

signals:
    void advanced();
    void found(orrery::MapperResultPtr result);
    void refused(const orrery::Diagnostic& why);

private:
    void take(const Expected<MapperResultPtr>& result);

    std::shared_ptr<MapperProgress> progress_;  ///< of the newest search
    std::shared_ptr<MappingCache> cache_;
    std::vector<MapperPoint> curve_;
    Background work_;
};

}  // namespace orrery::app
