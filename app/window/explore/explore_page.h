#pragma once

// Which of many designs: knobs around the present question, their front with intervals, and what each knob does alone.
// A point that was found becomes the project's design in one undo step.

#include "app/document/background.h"
#include "app/window/explore/explore_run.h"
#include "app/window/page.h"
#include "store/export/search_exports.h"

#include <QTimer>

class QProgressBar;
class QPushButton;
class QStackedLayout;
class QTabWidget;

namespace orrery::ui {
class CellsTable;
class EffectBars;
class EmptyPage;
class Label;
class SearchPlot;
}  // namespace orrery::ui

namespace orrery::app {

class ExploreCommand;
class ExploreForm;

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
    Expected<QStringList> report(const QString& folder) override;
    void saveView(QSettings& settings) const override;
    void restoreView(const QSettings& settings) override;

    bool isBusy() const { return work_.isRunning(); }
    std::shared_ptr<const ExploreView> view() const { return view_; }  ///< newest that is shown; null: none
    ui::SearchPlot* plot() const { return plot_; }
    ui::CellsTable* table() const { return table_; }
    ui::EffectBars* effects() const { return effects_; }
    ExploreForm* form() const { return form_; }
    void choose(int point);  ///< row of the view; −1: none
    /// Makes a number of the drawing a knob, around its value, and comes to the front.
    void turn(const ComponentPath& path, const QString& attribute);
    void start();

protected:
    void showEvent(QShowEvent* event) override;

private:
    void build();
    QWidget* buildHead(QWidget* parent);
    QWidget* buildViews(QWidget* parent);
    void follow();  ///< the document
    QString searchFolder() const;  ///< of a search that another program runs
    void showState();
    void showFindings();
    void showTable();
    void showEffects();
    void useChosen();
    void exportAs();
    QString written(const QString& file) const;  ///< what went wrong; empty if nothing
    QString pointText(int point) const;
    SearchOutcome outcome() const;

    Studio& studio_;
    ExploreQuestion question_;
    std::vector<KnobOffer> offers_;
    QStringList figures_;
    std::uint64_t points_ = 0;
    std::shared_ptr<ExploreRun> run_;
    std::shared_ptr<const SearchProblem> problem_;  ///< of what is shown
    std::shared_ptr<const ExploreView> view_;
    BaseAnswer drawn_;
    std::vector<int> rows_;  ///< of the table: rows of the view
    int chosen_ = -1;
    bool stale_ = true;
    QTimer soon_;

    QStackedLayout* stack_ = nullptr;
    ui::EmptyPage* empty_ = nullptr;
    ExploreForm* form_ = nullptr;
    ExploreCommand* command_ = nullptr;
    QString lastCommand_;  ///< before the page is built
    ui::Label *headline_ = nullptr, *sub_ = nullptr, *chosenText_ = nullptr;
    QPushButton *go_ = nullptr, *use_ = nullptr, *export_ = nullptr;
    QProgressBar* bar_ = nullptr;
    QTabWidget* tabs_ = nullptr;
    ui::SearchPlot* plot_ = nullptr;
    ui::CellsTable* table_ = nullptr;
    ui::EffectBars* effects_ = nullptr;
    Background work_;  ///< last
};

}  // namespace orrery::app
