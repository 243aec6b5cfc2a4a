#pragma once

// The training document: a step of a plan on the drawn cluster. The plan's numbers are controls, and every edit is
// answered at once: how long a step takes and where the time goes, what every stage holds, who works with whom. A plan
// can be pinned and compared with.

#include "app/window/page.h"
#include "app/window/training/step_answer.h"
#include "app/window/training/training_question.h"

#include <QTimer>

#include <optional>

class QComboBox;
class QPushButton;
class QSlider;
class QStackedLayout;
class QTabWidget;

namespace orrery::ui {
class CellsTable;
class ClusterMap;
class Label;
class StageMemoryPlot;
class StepCards;
class StepTimeline;
class TimeSplit;
class Veil;
enum class EditPhase;
}  // namespace orrery::ui

namespace orrery::app {

class CasesView;
class ExchangePlayer;
class PlanFinder;
class PlanForm;
class QuickAnswers;
class TrainingStartPage;
struct TrainingStart;

class TrainingPage : public Page {
    Q_OBJECT
public:
    TrainingPage(Studio& studio, QWidget* parent);
    ~TrainingPage() override;

    PageCard card() const override;
    void join(Studio& studio) override;
    std::vector<MenuPart> menus() override;
    std::vector<ui::PaletteEntry> findable() override;
    bool accepts(const OpenFile& file) const override;
    void open(const QString& path) override;
    void feed(const ui::SnapshotPtr& snapshot) override;
    bool goTo(const Place& place) override;
    void saveView(QSettings& settings) const override;
    void restoreView(const QSettings& settings) override;

    const TrainingQuestion& question() const { return question_; }
    const std::optional<StepAnswer>& answer() const { return answer_; }  ///< of the run; nothing: none yet
    const std::optional<StepAnswer>& quick() const { return quick_; }    ///< of the closed form; nothing: none
    bool isBusy() const override { return isMade() && !isUpToDate(); }
    bool isUpToDate() const;                  ///< what is shown answers the document as it is
    bool isStarting() const;                  ///< the first question is shown instead of the views
    PlanForm* form() const { return form_; }  ///< this and the other views: null until the page was seen
    CasesView* cases() const { return cases_; }
    bool showsCases() const;  ///< runs of a file, instead of the project's step
    PlanFinder* finder() const { return finder_; }
    TrainingStartPage* startPage() const { return start_; }
    QTabWidget* tabs() const { return tabs_; }
    ui::StepCards* cards() const { return cards_; }
    ui::StepTimeline* timeline() const { return timeline_; }
    ui::StageMemoryPlot* memory() const { return memory_; }
    ui::ClusterMap* map() const { return map_; }

    void pin(bool pinned);  ///< the present plan, to compare with
    bool isPinned() const { return pinned_.has_value(); }

protected:
    void build() override;
    void showEvent(QShowEvent* event) override;

private:
    struct Pinned {
        QString plan;
        StepAnswer answer;
        std::optional<StepAnswer> quick;
    };
    QWidget* buildHead(QWidget* parent);
    QWidget* buildViews(QWidget* parent);
    QWidget* buildMap(QWidget* parent);
    void follow();  ///< the document
    void showQuestion();
    void showAnswer();
    void readRun();
    void showTimeline();
    void showMemory();
    void showFigures();
    void askQuick();
    std::string kernelMethod() const;  ///< that the closed form is asked with
    /// What is shown: the run once it answers the plan as it is, until then the closed form; null: nothing.
    const StepAnswer* shown() const;
    void showMap();
    void showColours();
    void chooseColours();
    void showHeadline();
    void exportFront();  ///< the view in front, the figures or the timeline, as a file
    void applyPlan(const Plan& plan, ui::EditPhase phase);
    void applyStep(const Plan& plan, const TrainingStep& step, int gesture = 0);
    void start(const TrainingStart& start);
    QString planText() const;

    Studio& studio_;
    TrainingQuestion question_;
    ui::SnapshotPtr snapshot_;             ///< newest
    std::shared_ptr<const Estimate> run_;  ///< of it, if it is of a training step
    std::optional<StepAnswer> answer_, quick_;
    bool casesOpen_ = false;
    bool current_ = false;               ///< the run answers the question as it is
    std::optional<Diagnostic> refusal_;  ///< why there is none
    std::optional<Pinned> pinned_;
    bool stale_ = true;  ///< the document has changed since the page was shown
    int gesture_ = 0;    ///< of a drag under way
    bool fills_ = true;
    int tab_ = 0;  ///< to be shown once the views are made
    QTimer soon_;

    QStackedLayout* stack_ = nullptr;
    TrainingStartPage* start_ = nullptr;
    CasesView* cases_ = nullptr;
    PlanForm* form_ = nullptr;
    ui::Label *headline_ = nullptr, *sub_ = nullptr;
    QPushButton* pin_ = nullptr;
    ui::StepCards* cards_ = nullptr;
    ui::TimeSplit* split_ = nullptr;
    QTabWidget* tabs_ = nullptr;
    ui::StepTimeline* timeline_ = nullptr;
    ui::StageMemoryPlot* memory_ = nullptr;
    ui::ClusterMap* map_ = nullptr;
    QComboBox* colours_ = nullptr;
    ExchangePlayer* player_ = nullptr;
    QSlider* moment_ = nullptr;  ///< of link use; −1: the mean
    ui::Label* momentText_ = nullptr;
    ui::CellsTable* figures_ = nullptr;
    PlanFinder* finder_ = nullptr;
    QuickAnswers* quickly_ = nullptr;
    ui::Veil* veil_ = nullptr;  ///< over a run of the question before
};

}  // namespace orrery::app
