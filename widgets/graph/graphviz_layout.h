#pragma once

// Graphviz as a library, in a process of its own (`orrery-layout` beside the studio), because its code can be neither
// stopped nor trusted with any input: cancelling kills it. The result arrives through the event loop.

#include "widgets/graph/layered_layout.h"

#include <QObject>
#include <QString>

#include <memory>

class QProcess;

namespace orrery::ui {

class GraphvizLayout : public QObject {
    Q_OBJECT
public:
    enum class Engine { Dot, Neato, Sfdp, Circo };

    explicit GraphvizLayout(QObject* parent = nullptr);
    ~GraphvizLayout() override;  ///< cancels
    static bool isAvailable();   ///< the helper program was found

    /// Starts; a layout under way is cancelled first.
    void start(const LayoutGraph& graph, Engine engine);
    void cancel();
    bool isRunning() const;

signals:
    void finished(const orrery::ui::LayoutResult& result);
    void failed(const QString& why);
    void progress(double share, const QString& stage);  ///< share < 0: unknown

private:
    struct State;
    std::unique_ptr<State> state_;
};

}  // namespace orrery::ui
