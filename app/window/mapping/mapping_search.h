#pragma once

// One search for a mapping, on threads of its own. What it finds is told on the GUI thread, at most thirty times a
// second.

#include "base/diagnostic.h"
#include "mapping/mappers/mapper.h"

#include <QObject>
#include <QTimer>

#include <memory>
#include <stop_token>
#include <thread>
#include <vector>

namespace orrery::app {

class MappingSearch : public QObject {
    Q_OBJECT
public:
    explicit MappingSearch(QObject* parent = nullptr);
    ~MappingSearch() override;

    /// Ends a search under way first: the newest question wins.
    void start(std::shared_ptr<const Mapspace> space, const MapperOptions& options);
    void cancel();  ///< the best so far becomes the result
    bool isRunning() const { return worker_.joinable(); }
    const std::vector<MapperPoint>& curve() const { return curve_; }
    std::uint64_t examined() const { return progress_ ? progress_->examined() : 0; }
    std::uint64_t valid() const { return progress_ ? progress_->valid() : 0; }

signals:
    void advanced();
    void found(orrery::MapperResultPtr result);
    void refused(const orrery::Diagnostic& why);

private:
    void drain();

    struct Outcome;
    std::shared_ptr<MapperProgress> progress_;
    std::shared_ptr<Outcome> outcome_;  ///< of the newest search
    std::shared_ptr<MappingCache> cache_;
    std::vector<MapperPoint> curve_;
    QTimer due_;
    std::jthread worker_;  ///< last: ends before what it writes to goes
};

}  // namespace orrery::app
