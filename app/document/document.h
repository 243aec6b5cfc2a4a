#pragma once

// The open project: its state, its undo list, its problems, its file. Everything that changes it goes through apply().

#include "app/document/background.h"
#include "app/document/commands/edit.h"
#include "app/document/project_state.h"

#include <QDateTime>
#include <QObject>
#include <QString>
#include <QUndoStack>

namespace orrery::app {

class Document : public QObject {
    Q_OBJECT
public:
    explicit Document(QObject* parent = nullptr);

    const ProjectStatePtr& state() const { return state_; }
    quint64 revision() const { return revision_; }  ///< grows with every change
    HardwarePtr hardware() const;                   ///< of the current scenario; null if none
    ui::PlacementsPtr placements() const;           ///< of the current design; never null
    const ProjectWorkload* workload() const;        ///< of the current scenario; null if none
    int hardwareIndex() const { return state_->currentHardware(); }
    int workloadIndex() const { return state_->currentWorkload(); }
    const Diagnostics& problems() const { return problems_; }
    /// A large design is checked in the background: problems() is still of an earlier one. problemsChanged() follows if
    /// it differs.
    bool isChecking() const { return wanted_ != nullptr; }
    QUndoStack* undoStack() { return &undo_; }

    /// Makes the edit one undo entry. A failed edit changes nothing and its diagnostic is returned. An edit without
    /// effect makes no entry. Edits with the same gesture (> 0) merge, see newGesture().
    Expected<void> apply(Expected<Edit> edit, int gesture = 0);
    int newGesture() { return ++gestures_; }

    /// Puts another project in place of this one and forgets the undo list. `modified`: it counts as not saved.
    void reset(Project project, const QString& file = {}, bool modified = false);
    /// Reads a project. On failure the open project is untouched. Returns the file's warnings.
    Expected<Diagnostics> load(const QString& file);
    Expected<void> save();
    Expected<void> saveAs(const QString& file);

    const QString& file() const { return file_; }  ///< empty: never saved
    QString title() const;                         ///< the project's name, else the file's
    bool isModified() const { return forced_ || !undo_.isClean(); }
    /// Nothing in it and nothing done to it: may be replaced without asking.
    bool isBlank() const;
    std::string yaml() const;
    /// The text that load or save last saw on disk, for telling our own writes from another program's.
    const std::string& savedText() const { return savedText_; }

signals:
    void projectChanged();   ///< anything at all
    void hardwareChanged();  ///< the current design is another snapshot
    void layoutChanged();    ///< placements of some design; hardwareChanged() follows if the design did too
    void workloadChanged();  ///< the current workload's recipe or name
    void methodsChanged();
    void servingChanged();   ///< the question about serving
    void pricesChanged();    ///< of devices' hours
    void searchChanged();    ///< which designs are to be tried
    void scenarioChanged();  ///< the current pair is another pair
    void problemsChanged();
    void modifiedChanged(bool modified);
    void fileChanged(const QString& file);
    void replaced();  ///< reset or load: views forget what belonged to the project of before

private:
    friend class ProjectCommand;
    void show(ProjectStatePtr state);
    void validate();
    void setProblems(Diagnostics found);
    void startCheck();
    void checked(Diagnostics found);
    void tellModified();

    ProjectStatePtr state_;
    QUndoStack undo_;
    Diagnostics problems_;
    HardwarePtr wanted_, running_;  ///< to be checked in the background, being checked there; null: none
    QString file_;
    std::string savedText_;
    quint64 revision_ = 0;
    int gestures_ = 0;
    bool forced_ = false;
    bool toldModified_ = false;
    Background checker_;
};

}  // namespace orrery::app
