#pragma once

// From a workload and what is unfolded of it to a drawing: the slow part, made in a thread of its own.

#include "widgets/graph/graph_scene.h"

#include <QObject>

#include <functional>
#include <memory>
#include <optional>
#include <stop_token>

namespace orrery::ui {

struct GraphRequest {
    WorkloadPtr workload;
    std::shared_ptr<const GraphHierarchy> hierarchy;  ///< null: to be found
    std::optional<std::vector<bool>> open;            ///< by group of `hierarchy`
    std::optional<std::vector<std::string>> scopes;   ///< else: unfolded groups by scope; nothing: as at first
    bool leftToRight = false;
    TextWidths widths;
};

/// A finished drawing with all that it was made of. Immutable once delivered.
struct GraphPicture {
    WorkloadPtr workload;
    std::shared_ptr<const GraphHierarchy> hierarchy;
    std::vector<bool> open;
    VisibleGraph visible;
    GraphParts parts;
    GraphScene scene;
};
using GraphPicturePtr = std::shared_ptr<const GraphPicture>;

/// Null once asked to stop.
GraphPicturePtr makePicture(const GraphRequest& request, const std::stop_token& stop);

/// Makes drawings in its own thread. The newest request wins: an older one is told to stop and never arrives.
class GraphWorker : public QObject {
    Q_OBJECT
public:
    explicit GraphWorker(QObject* parent = nullptr);
    ~GraphWorker() override;
    void start(GraphRequest request);
    bool isBusy() const;  ///< a request has not arrived yet

signals:
    void made(const orrery::ui::GraphPicturePtr& picture);

private:
    struct State;
    std::unique_ptr<State> state_;
};

}  // namespace orrery::ui
