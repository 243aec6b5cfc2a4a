#pragma once

// The question, in the toolbar: which methods, which workload, which hardware; and whether the answer is live.

#include "app/document/document.h"

#include <QToolButton>
#include <QWidget>

class QMenu;

namespace orrery::app {

class SizeFields;

/// A tool button whose menu is filled when it opens.
class Chooser : public QToolButton {
    Q_OBJECT
public:
    Chooser(const QString& id, const QString& name, const QString& meaning, QWidget* parent);
    /// `letters`: room for the value; where it is short, the caption gives way too.
    void setCaption(const QString& caption, const QString& value, int letters = 34);
    QMenu* choices() const { return menu_; }

signals:
    void filling(QMenu* menu);

private:
    QMenu* menu_;
};

class ScenarioBar : public QWidget {
    Q_OBJECT
public:
    explicit ScenarioBar(Document& document, QWidget* parent = nullptr);

    /// In the type of a projector a window narrower than this has no room for the whole question: a toolbar hides as a
    /// whole what does not fit.
    static double roomToPresent();

    Chooser* methods() const { return methods_; }
    Chooser* workloads() const { return workloads_; }
    Chooser* hardware() const { return hardware_; }
    Chooser* plan() const { return plan_; }
    Chooser* task() const { return task_; }

signals:
    void catalogueHardwareChosen(const QString& id);
    void builtinWorkloadChosen(const QString& id);
    void codeRequested();
    void openRequested();
    void methodsRequested();                  ///< the panel of methods is to be shown
    void knobRequested(const QString& path);  ///< a search is to turn it: `tp`, `batch`
    void refused(const orrery::Diagnostic& why);

protected:
    bool eventFilter(QObject* watched, QEvent* event) override;  ///< of the toolbar, whose width says the room

private:
    void refresh();
    void fitRoom();
    void fillWorkloads(QMenu* menu);
    void fillHardware(QMenu* menu);
    void fillPlan(QMenu* menu);
    void fillTask(QMenu* menu);
    void fillSoftware(QMenu* menu);
    void setSoftware(const QString& software);  ///< as parseSoftware() reads it
    void askForSoftware();
    QString softwareText(const Software& software) const;
    void addKnobs(QMenu* menu, const QStringList& paths);
    void choose(ScenarioRef scenario);
    void askForPlan();
    void setPlan(const Plan& plan);

    Document& document_;
    int letters_ = 34;    ///< of a value
    bool tight_ = false;  ///< task and methods stand in the menu of the plan
    SizeFields* sizes_;
    Chooser *methods_, *workloads_, *hardware_, *plan_, *task_;
};

/// `● Live`: a switch whose dot says what the live evaluation does.
class LiveButton : public QToolButton {
    Q_OBJECT
public:
    enum class State { Off, Idle, Busy, Failed };
    explicit LiveButton(QWidget* parent = nullptr);
    void setState(State state);
    State state() const { return state_; }
    void setCost(double seconds, int operators);

private:
    void refresh();

    State state_ = State::Idle;
    QString cost_;
};

}  // namespace orrery::app
