#pragma once

// The one window: its frame, menus and settings, and how long everything lives. Pages and docks are made from lists and
// speak to each other through the studio.

#include "app/window/pages.h"
#include "app/window/result_docks.h"
#include "app/window/settings.h"
#include "app/window/studio.h"

#include <QMainWindow>
#include <QPointer>

#include <memory>

namespace orrery::ui {
class CommandPalette;
}

namespace orrery::app {

class AboutDialog;
class HandbookWindow;
class Headline;
class ProjectNote;
class Jobs;
class LessonRun;
class Lessons;
class PreferencesDialog;
class ShortcutsDialog;

class MainWindow : public QMainWindow {
    Q_OBJECT
public:
    explicit MainWindow(QWidget* parent = nullptr, const PageList& pages = builtinPages());
    ~MainWindow() override;

    Studio& studio() { return *studio_; }
    Document& document() { return studio_->document; }
    LiveController& live() { return studio_->live; }
    RunController& runs() { return studio_->runs; }
    Actions& actions() { return studio_->actions; }
    DockSet& docks() { return studio_->docks; }
    SnapshotFeeder& feeder() { return studio_->feeder; }
    ui::Selection& selection() { return studio_->selection; }
    ui::ComponentSelection& components() { return studio_->components; }
    /// The page of that type; it must be there.
    template <class P>
    P& page() {
        return *studio_->router.page<P>();
    }
    /// A result view by id, made if it is not there yet; null for an unknown id.
    ui::ResultView* resultView(const QString& id) { return results_->view(id); }
    static const QStringList& resultViewIds() { return ResultDocks::ids(); }

    /// Opens by kind: a project replaces the open one (after asking), everything else is added to it by its page.
    void openFile(const QString& path) { studio_->router.open(path); }
    void openExample(const QString& id) { studio_->files.openExample(id); }
    LessonRun& lessons();
    /// An empty project with an empty design, opened on the canvas (after asking about the open one).
    void drawYourOwn() { studio_->actions.find(QStringLiteral("fileNew"))->trigger(); }
    bool isReady() const { return ready_; }
    Diagnostics currentProblems() const { return studio_->problems.current(); }  ///< as the Problems panel lists them
    /// Offers what crashed studios left behind.
    void offerRecovery() { studio_->files.offerRecovery(); }
    void setLayoutMode(Layout layout, bool asShipped = false) { studio_->layouts.choose(layout, asShipped); }
    void setTheme(bool dark);
    void applyPreferences(const Preferences& preferences);
    /// Writes the report folder from what is shown now.
    Expected<QStringList> exportReport(const QString& folder);
    /// Every result view that shows something, as pictures and data.
    Expected<QStringList> exportPictures(const QString& folder);
    /// Writes the report of a run beside its database and shows it; the file, or empty if there is nothing to show.
    QString openRun(int run);

signals:
    void ready();                                      ///< catalogues and gallery are filled, a file can be opened
    void fileOpened(const QString& path, bool added);  ///< by a page, when it has read it

protected:
    void closeEvent(QCloseEvent* event) override;
    void dragEnterEvent(QDragEnterEvent* event) override;
    void dropEvent(QDropEvent* event) override;

private:
    void buildCentre(const PageList& pages);
    void buildActions();
    void addUndoActions();
    void addHelpActions();
    void buildDocks();
    void finishStart();
    void openPalette();
    void openHandbook(const QString& place);
    void refreshTitle();

    std::unique_ptr<Studio> studio_;
    std::unique_ptr<ResultDocks> results_;
    std::unique_ptr<Jobs> jobs_;
    std::unique_ptr<Lessons> lessons_;
    Preferences preferences_;
    Headline* headline_ = nullptr;
    ProjectNote* note_ = nullptr;
    ui::CommandPalette* palette_ = nullptr;
    QPointer<PreferencesDialog> preferencesDialog_;
    QPointer<ShortcutsDialog> shortcutsDialog_;
    QPointer<AboutDialog> aboutDialog_;
    QPointer<HandbookWindow> handbook_;
    bool ready_ = false;
};

}  // namespace orrery::app
