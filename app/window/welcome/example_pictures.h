#pragma once

// The pictures of the gallery: each example's real roofline, computed after the start, or its drawing; small.

#include "app/document/background.h"
#include "app/document/workload_cache.h"
#include "app/window/welcome/examples.h"
#include "methods/method.h"
#include "methods/system/cases/training_cases.h"
#include "serving/traffic/request_stream.h"
#include "workload/graph.h"

#include <QObject>
#include <QPixmap>

#include <map>
#include <memory>
#include <variant>
#include <vector>

namespace orrery::app {

/// What a small roofline shows; rates in FLOP/s, intensities in FLOP/B.
struct RooflineSketch {
    struct Point {
        double intensity = 0, rate = 0, share = 0;
        OperatorKind kind = OperatorKind::Other;
    };
    double peak = 0, bandwidth = 0;
    std::vector<Point> points;  ///< largest share of the time first, at most 80
};

/// Answers an example's question with the roofline; nothing if it cannot be read or answered.
std::optional<RooflineSketch> sketchOf(const std::string& projectFile, WorkloadCache& cache);
/// In the colours of the present theme.
QPixmap paintSketch(const RooflineSketch& sketch);

/// What arrives, over time and by length.
QPixmap paintTraffic(std::shared_ptr<const RequestStream> stream);

/// The numbers of another tool as bars, on a logarithmic scale.
QPixmap paintCases(const TrainingCases& cases);

/// All of the design as the canvas draws it.
QPixmap paintDrawing(const Hardware& design);

class ExamplePictures : public QObject {
    Q_OBJECT
public:
    explicit ExamplePictures(std::shared_ptr<WorkloadCache> cache, QObject* parent = nullptr);
    void start();                              ///< on another thread, one example after the other
    QPixmap picture(const QString& id) const;  ///< null until it is there

signals:
    void ready();

private:
    std::shared_ptr<WorkloadCache> cache_;
    bool started_ = false;
    using Found = std::map<QString, std::variant<RooflineSketch, HardwarePtr, std::shared_ptr<const RequestStream>,
                                                 std::shared_ptr<const TrainingCases>>>;
    Found sketches_;
    Background work_;
};

}  // namespace orrery::app
