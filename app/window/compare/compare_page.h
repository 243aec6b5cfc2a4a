#pragma once

// A against B: the project's scenarios in one table, held against a pinned baseline; where the time between two of them
// goes, what differs between their designs, and what would have to change for the other to win.

#include "app/document/background.h"
#include "app/window/compare/compare_run.h"
#include "app/window/page.h"
#include "store/project/scenario_baseline.h"

#include <QTimer>

class QComboBox;
class QMenu;
class QProgressBar;
class QPushButton;
class QScrollArea;
class QStackedLayout;
class QTabWidget;

namespace orrery::ui {
class BreakEvenPlot;
class CellsTable;
class EmptyPage;
class Label;
class Veil;
class WaterfallPlot;
}  // namespace orrery::ui

namespace orrery::app {

class ComparePage : public Page {
    Q_OBJECT
public:
    ComparePage(Studio& studio, QWidget* parent);
    ~ComparePage() override;

    PageCard card() const override;
    void join(Studio& studio) override;
    std::vector<ui::PaletteEntry> findable() override;
    bool showsAnswer() const override;
    Expected<QStringList> report(const QString& folder) override;

    bool isBusy() const override { return work_.isRunning() || changing_.isRunning() || evening_.isRunning(); }
    CompareViewPtr view() const { return view_; }  ///< newest that is shown; null: none
    int chosen() const { return chosen_; }         ///< case that stands below the table; −1: none
    void choose(int at);
    ui::CellsTable* table() const { return table_; }
    ui::WaterfallPlot* waterfall() const { return waterfall_; }
    ui::CellsTable* changes() const { return changes_; }
    ui::BreakEvenPlot* curve() const { return curve_; }
    const std::optional<Expected<BreakEven>>& even() const { return even_; }
    void keep();
    QString exportTo(const QString& file);  ///< what went wrong; empty if nothing

protected:
    void build() override;
    void showEvent(QShowEvent* event) override;

private:
    QWidget* buildHead(QWidget* parent);
    QWidget* buildDetails(QWidget* parent);
    QWidget* buildBreakEven(QWidget* parent);
    void follow();  ///< the document
    void ask();
    void take(Expected<CompareViewPtr> found);
    void showTable();
    void showHead();
    void showDetails();
    void showWaterfall();
    void chooseTerm(int row);
    void askChanges();
    void showChanges(const Expected<ChangeEffects>& effects);
    void fillAttributes();
    void askBreakEven();
    void showBreakEven();
    void keepBreakEvenAnswer();
    std::optional<KeptBreakEven> keptBreakEven() const;  ///< with the chosen case
    void fillAddMenu();
    void pin(int at);
    void removeChosen();
    void openChosen();
    void showHeat();
    void dropHeat();
    void exportAs();
    const CaseQuestion* caseAt(int at) const;
    bool isCurrent() const;  ///< what is shown answers the document as it is now

    Studio& studio_;
    CompareQuestion question_;
    CompareViewPtr view_;
    std::optional<Diagnostic> refusal_;
    std::optional<Expected<BreakEven>> even_;
    QString evenMover_, evenStill_;
    std::optional<KeptBreakEven> evenShown_;  ///< the kept one that the controls were last set to
    std::optional<ChangeEffects> effects_;    ///< of the chosen case
    int chosen_ = -1;
    bool stale_ = true, filling_ = false, heated_ = false;
    QTimer soon_;

    QStackedLayout* stack_ = nullptr;
    ui::EmptyPage* empty_ = nullptr;
    ui::Label *headline_ = nullptr, *sub_ = nullptr, *evenText_ = nullptr;
    QPushButton *keep_ = nullptr, *add_ = nullptr, *open_ = nullptr, *remove_ = nullptr, *heat_ = nullptr,
                *export_ = nullptr, *stop_ = nullptr, *evenKeep_ = nullptr;
    QMenu* addMenu_ = nullptr;
    QProgressBar* bar_ = nullptr;
    QTabWidget* tabs_ = nullptr;
    QComboBox *by_ = nullptr, *mover_ = nullptr, *attribute_ = nullptr, *quantity_ = nullptr;
    ui::CellsTable *table_ = nullptr, *changes_ = nullptr;
    ui::WaterfallPlot* waterfall_ = nullptr;
    ui::Veil* veil_ = nullptr;  ///< over what answers the question before
    ui::BreakEvenPlot* curve_ = nullptr;
    Background changing_, evening_, work_;  ///< last
};

}  // namespace orrery::app
