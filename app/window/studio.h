#pragma once

// What the pages, docks and commands of one window share: the document and all that follows it, and the few services
// through which they speak to each other. No page is named here. The window owns it.

#include "app/document/document.h"
#include "app/document/live_controller.h"
#include "app/document/run_controller.h"
#include "app/document/workload_cache.h"
#include "app/window/actions.h"
#include "app/window/dock_set.h"
#include "app/window/inspection.h"
#include "app/window/layouts.h"
#include "app/window/link_use.h"
#include "app/window/messages.h"
#include "app/window/problems.h"
#include "app/window/project_files.h"
#include "app/window/router.h"
#include "app/window/snapshot_feeder.h"
#include "widgets/canvas/component_selection.h"
#include "widgets/common/result_view.h"

#include <memory>

class QMainWindow;

namespace orrery::app {

class Studio : public QObject {
    Q_OBJECT
public:
    explicit Studio(QMainWindow* window);
    ~Studio() override;

    QMainWindow* const window;
    Document document;
    std::shared_ptr<WorkloadCache> cache;
    ui::Selection selection;            ///< operators: one for all views
    LinkMoment linkMoment;              ///< one for the canvas and the training page
    ui::ComponentSelection components;  ///< of the current design: one for canvas, tree and inspector
    LiveController live;
    RunController runs;
    Actions& actions;  ///< these two belong to the window
    DockSet& docks;
    SnapshotFeeder feeder;
    Messages messages;
    ProjectFiles files;
    Layouts layouts;
    Router router;
    Inspection inspection;
    Problems problems;

    /// Makes the edit; says why if it is refused. True if it was made.
    bool apply(Expected<Edit> edit, int gesture = 0);

signals:
    void ready();  ///< the window is shown: what is not needed for the first paint
};

}  // namespace orrery::app
