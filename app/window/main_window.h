#pragma once

// The one window. It owns the document and its controllers, arranges pages and docks, and passes signals between them;
// what things look like is the views' business, what edits mean is the document's.

#include "app/document/document.h"
#include "app/document/live_controller.h"
#include "app/window/dock_set.h"
#include "app/window/settings.h"
#include "widgets/canvas/canvas_view.h"
#include "widgets/common/edit_phase.h"
#include "widgets/common/result_view.h"

#include <QMainWindow>
#include <QPointer>

#include <functional>
#include <map>
#include <memory>

class QTabWidget;

namespace orrery::ui {
class CommandPalette;
class ComponentPalette;
class Inspector;
class JobsPanel;
class LibraryPanel;
class LogPanel;
class NotificationBar;
class ProblemsPanel;
class WelcomePage;
}  // namespace orrery::ui

namespace orrery::app {

class AboutDialog;
class Actions;
class AutoArrange;
class Autosave;
class CanvasPane;
class DiskWatch;
class DocumentCanvasEditor;
class ExamplePictures;
class HardwarePage;
class Headline;
class LiveButton;
class PreferencesDialog;
class RunController;
class ScenarioBar;
class ShortcutsDialog;
class SnapshotFeeder;
class EvidencePage;
class ServingPage;
class MappingPage;
class WorkloadPage;

class MainWindow : public QMainWindow {
    Q_OBJECT
public:
    explicit MainWindow(QWidget* parent = nullptr);
    ~MainWindow() override;

    Document& document() { return *document_; }
    LiveController& live() { return *live_; }
    RunController& runs() { return *runs_; }
    Actions& actions() { return *actions_; }
    DockSet& docks() { return *docks_; }
    SnapshotFeeder& feeder() { return *feeder_; }
    ui::Selection& selection() { return selection_; }
    ui::ComponentSelection& components() { return components_; }
    HardwarePage& hardwarePage() { return *hardwarePage_; }
    /// A result view by id, made if it is not there yet; null for an unknown id.
    ui::ResultView* resultView(const QString& id);
    static const QStringList& resultViewIds();

    /// Opens by kind: a project replaces the open one (after asking), hardware and models are added to it.
    void openFile(const QString& path);
    void openExample(const QString& id);
    /// As openFile for a model; the reading happens in the background.
    void openModel(const QString& path);
    void openServing(const QString& path);
    /// An empty project with an empty design, opened on the canvas (after asking about the open one).
    void drawYourOwn();
    bool isReady() const { return ready_; }
    Diagnostics currentProblems() const;  ///< as the Problems panel lists them
    /// Offers what crashed studios left behind.
    void offerRecovery();
    void setLayoutMode(Layout layout, bool asShipped = false);
    void setTheme(bool dark);
    void applyPreferences(const Preferences& preferences);
    /// Writes the report folder from what is shown now.
    Expected<QStringList> exportReport(const QString& folder);
    /// Writes the report of a run beside its database and shows it; the file, or empty if there is nothing to show.
    QString openRun(int run);

signals:
    void ready();                                       ///< catalogues and gallery are filled, a file can be opened
    void modelOpened(const QString& path, bool added);  ///< after openModel

protected:
    void closeEvent(QCloseEvent* event) override;
    void dragEnterEvent(QDragEnterEvent* event) override;
    void dropEvent(QDropEvent* event) override;
    bool eventFilter(QObject* watched, QEvent* event) override;

private:
    // main_window.cpp
    void buildDocks();
    void buildCentre();
    void buildToolbar();
    void finishStart();
    void fillEmptyView();  ///< the button of an empty view
    void showDocuments(bool shown);
    void fitCentre();
    void showProject();  ///< leaves the welcome page for the layout
    // main_window_actions.cpp
    void buildActions();
    void buildMenus();
    void buildRecentMenu(QMenu* menu);
    void openPalette();
    // main_window_files.cpp
    bool maybeSave();
    void openProject(const QString& path);
    void openHardware(const QString& path);
    void addWorkload(ProjectWorkload workload);
    void addHardware(Hardware design);
    void addCatalogueHardware(const QString& id);
    void addBuiltinWorkload(const QString& id);
    void makeAnswerable();  ///< gives a project without a device or methods the usual ones
    static std::vector<std::string> usualMethods();
    void chooseFile();
    bool save();
    bool saveAs();
    void reloadFromDisk();
    void fillWelcome();
    void recover(const QString& copy, const QString& original);
    // main_window_wiring.cpp
    void wireDocument();
    void wireLive();
    void wireWorkloadPage();
    void wireServing();
    void showStoredRun(std::int64_t run);  ///< main_window_workload.cpp; 0: none
    void wireRuns();
    void wireInspector(ui::Inspector* inspector);
    void wireLibrary(ui::LibraryPanel* library);
    /// One method of the set asked in another way; an empty `before` adds `after`.
    void changeMethod(const QString& before, const QString& after);
    void wireJobs(ui::JobsPanel* jobs);
    // main_window_canvas_actions.cpp
    void buildCanvasActions();
    void buildInsertActions();
    void fillInsertMenu(QMenu* menu);
    void forCanvases(const std::function<void(ui::CanvasView&)>& run);
    CanvasPane* activePane() const;
    // main_window_canvas.cpp
    void wireHardwarePage();
    void wireCanvas(ui::CanvasView* canvas);
    void wireTree();
    void wirePalette(ui::ComponentPalette* palette);
    void fillCanvasMenu(QMenu* menu);
    void showTool();
    int childrenOf(const ComponentPath& parent) const;
    void moveInTree(const ComponentPaths& paths, bool down);
    bool selectMade(Expected<ComponentPaths> made);
    void applyFix(const Diagnostic& problem, int fix, const QString& title);
    void insertComponent(Component component);
    void addDevice(ui::CanvasView& canvas, const QString& id, const ComponentPath& parent,
                   std::optional<QPointF> where);
    void arrangeByGraphviz();
    bool selectLimited(const ComponentPath& component);  ///< false if it limits nothing
    void showLoads();
    void showLimiters();
    // main_window_designs.cpp
    void buildDesignActions();
    void beginDrawing();
    void addEmptyDesign();
    void deriveDesign(bool compare);
    void derivePreset(const QString& id);  ///< the preset into the project, and a copy of it to change
    void fillPresetMenu(QMenu* menu);
    void showDesign(int index);
    void renameDesign(int index);
    void exportDrawing();
    void exportDesign();
    // main_window_wiring.cpp
    void inspectComponent(const ComponentPath& path);
    void inspectWorkload();
    void inspectSelection();
    void refreshInspector();
    void refreshProblems();
    void refreshTitle();
    void jumpTo(const Place& place);
    void editComponents(const ComponentPaths& paths, const QString& attribute, const QString& text,
                        ui::EditPhase phase);
    int gestureOf(ui::EditPhase phase);
    // main_window_export.cpp
    void exportView(ui::ResultView* view);
    void exportAll();
    void exportReportInteractive();

    /// The edit's refusal, if any, as a notification. True if it was made.
    bool report(Expected<void> done);
    void say(Severity severity, const QString& text, const QString& detail = {}, const QString& key = {});
    void complain(const Diagnostic& why);  ///< notification, Problems entry and log line
    void log(Severity severity, const QString& text);

    Document* document_;
    std::shared_ptr<WorkloadCache> cache_;
    ui::Selection selection_;
    ui::ComponentSelection components_;  ///< of the current design: one for canvas, tree and inspector
    LiveController* live_;
    RunController* runs_;
    Autosave* autosave_;
    DiskWatch* diskWatch_;
    Actions* actions_;
    DockSet* docks_;
    SnapshotFeeder* feeder_;
    ExamplePictures* pictures_;
    AutoArrange* arranger_ = nullptr;
    std::unique_ptr<DocumentCanvasEditor> editor_;  ///< of the current design
    std::string presetName_;                        ///< design whose catalogue entry the inspector compares with
    Preferences preferences_;

    QTabWidget* documents_ = nullptr;
    ui::WelcomePage* welcome_ = nullptr;
    HardwarePage* hardwarePage_ = nullptr;
    WorkloadPage* workloadPage_ = nullptr;
    MappingPage* mappingPage_ = nullptr;
    ServingPage* servingPage_ = nullptr;
    EvidencePage* evidencePage_ = nullptr;
    ui::NotificationBar* notifications_ = nullptr;
    Headline* headline_ = nullptr;
    ScenarioBar* scenarioBar_ = nullptr;
    LiveButton* liveButton_ = nullptr;
    ui::CommandPalette* palette_ = nullptr;
    ui::Inspector* inspector_ = nullptr;  ///< null until its dock is seen; so are those below
    ui::LibraryPanel* library_ = nullptr;
    ui::ProblemsPanel* problems_ = nullptr;
    ui::JobsPanel* jobs_ = nullptr;
    ui::LogPanel* logPanel_ = nullptr;
    QPointer<PreferencesDialog> preferencesDialog_;
    QPointer<ShortcutsDialog> shortcutsDialog_;
    QPointer<AboutDialog> aboutDialog_;

    enum class Inspected { Nothing, Component, Workload, Operator };
    Inspected inspected_ = Inspected::Nothing;
    bool freshDesign_ = false;  ///< another design is shown: its main memory is inspected first
    int gesture_ = 0;
    Diagnostics fileProblems_;  ///< of files that could not be opened, until the next that can
    std::optional<Diagnostic> liveProblem_;
    std::map<int, int> jobOfRun_, runOfJob_;
    struct LogLine {
        Severity severity;
        QString text;
        QDateTime when;
    };
    std::vector<LogLine> unlogged_;  ///< until the log panel is there
    bool ready_ = false;
};

}  // namespace orrery::app
