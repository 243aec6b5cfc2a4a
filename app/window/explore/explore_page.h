#pragma once

// Which of many designs: knobs around the present question, their front with intervals, and what each knob does alone.
// A point that was found becomes the project's design in one undo step.

#include "app/document/background.h"
#include "app/window/explore/explore_form.h"
#include "app/window/explore/explore_run.h"
#include "app/window/page.h"
#include "store/export/search_exports.h"

#include <QTimer>

#include <array>

class QMenu;
class QProgressBar;
class QPushButton;
class QStackedLayout;
class QTabWidget;

namespace orrery::ui {
class CellsTable;
class EffectBars;
class EmptyPage;
class HistoryPlot;
class Label;
class ParallelPlot;
class SearchPlot;
class Veil;
}  // namespace orrery::ui

namespace orrery::app {

class ExploreCommand;
class LearnPoints;

class ExplorePage : public Page {
    Q_OBJECT
public:
    ExplorePage(Studio& studio, QWidget* parent);
    ~ExplorePage() override;

    PageCard card() const override;
    void join(Studio& studio) override;
    std::vector<ui::PaletteEntry> findable() override;
    bool accepts(const OpenFile& file) const override;
    void open(const QString& path) override;
    void feed(const ui::SnapshotPtr& snapshot) override;
    bool showsAnswer() const override;
    Expected<QStringList> report(const QString& folder) override;
    void saveView(QSettings& settings) const override;
    void restoreView(const QSettings& settings) override;

    bool isBusy() const override { return work_.isRunning(); }
    std::shared_ptr<const SearchProblem> problem() const { return problem_; }  ///< of what is shown; null: none
    std::shared_ptr<const ExploreView> view() const { return view_; }          ///< newest that is shown; null: none
    ui::SearchPlot* plot() const { return plot_; }
    ui::CellsTable* table() const { return table_; }
    ui::EffectBars* effects() const { return effects_; }
    ui::ParallelPlot* parallel() const { return parallel_; }
    ui::HistoryPlot* history() const { return history_; }
    ui::CellsTable* refused() const { return refused_; }
    ExploreForm* form() const { return form_; }
    LearnPoints* learner() const { return learn_; }
    void choose(int point);  ///< row of the view; −1: none
    /// Makes a number of the drawing a knob, around its value, and comes to the front.
    void turn(const ComponentPath& path, const QString& attribute);
    /// The same of anything that a question has: `tp`, `batch`, `serving.rate`, `method.launch`.
    void turnPath(const QString& path);
    enum Tab { FrontTab, ParallelTab, EffectsTab, HistoryTab, RefusedTab };
    void start();
    /// Writes a view by its tab, −1: all points; the ending says as what. What went wrong; empty if nothing.
    QString written(const QString& file, int tab) const;

protected:
    void build() override;
    void showEvent(QShowEvent* event) override;

private:
    QWidget* buildHead(QWidget* parent);
    QWidget* buildViews(QWidget* parent);
    void follow();                 ///< the document
    QString searchFolder() const;  ///< of a search that another program runs
    void showLimits();
    void showState();
    bool answers(const ExploreQuestion& question) const;  ///< the search that is shown, this question
    /// Or one that differs from its question in what the knobs turn alone. Copies the design: asked once per edit.
    bool holds(const ExploreQuestion& question) const;
    void showFindings();
    void showTab(int tab);  ///< what is new of it
    void showOtherTabs();
    void showTable();
    void showEffects();
    void showHistory();
    void showRefused();
    void turnSetting(Expected<KnobSetting> knob);
    void useChosen();
    void fillExports(QMenu* menu);
    void exportAs(const QString& title, const QString& name, const QString& filter, int tab);
    std::string tableOfView(int tab) const;
    QString pointText(int point) const;
    QString pointTip(int point) const;
    QString againstDrawn(std::size_t objective, double value) const;
    void showBeside(int point);  ///< what else is known of it, when that is computed
    SearchOutcome outcome() const;

    Studio& studio_;
    ExploreQuestion question_;
    ExploreForm::Offers offers_;
    ui::SnapshotPtr snapshot_;  ///< newest, of which limits of constraints are offered
    std::uint64_t points_ = 0;
    std::shared_ptr<ExploreRun> run_;
    std::shared_ptr<const SearchProblem> problem_;  ///< of what is shown
    std::shared_ptr<const ExploreView> view_;
    BaseAnswer drawn_;
    std::vector<int> rows_, refusedRows_;  ///< of the tables: rows of the view
    int chosen_ = -1;
    std::array<bool, 5> dirty_{};  ///< by tab: something new is not shown yet
    bool stale_ = true;
    bool held_ = false;  ///< holds(question_)
    QTimer soon_;

    QStackedLayout* stack_ = nullptr;
    ui::EmptyPage* empty_ = nullptr;
    ExploreForm* form_ = nullptr;
    ExploreCommand* command_ = nullptr;
    QString lastCommand_;  ///< before the page is built
    ui::Label *headline_ = nullptr, *sub_ = nullptr, *chosenText_ = nullptr;
    QPushButton *go_ = nullptr, *use_ = nullptr, *export_ = nullptr;
    LearnPoints* learn_ = nullptr;
    ui::Veil* veil_ = nullptr;  ///< over a search of an earlier question
    QProgressBar* bar_ = nullptr;
    QTabWidget* tabs_ = nullptr;
    ui::SearchPlot* plot_ = nullptr;
    ui::CellsTable* table_ = nullptr;
    ui::EffectBars* effects_ = nullptr;
    ui::ParallelPlot* parallel_ = nullptr;
    ui::HistoryPlot* history_ = nullptr;
    ui::CellsTable* refused_ = nullptr;
    Background work_, beside_;  ///< last
};

}  // namespace orrery::app
